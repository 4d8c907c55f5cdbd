# SPDX-License-Identifier: Apache-2.0
"""How every method of the table is attacked: its variants, the guarantees, the domains, and a short fit."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from cloister import methods
from cloister.audit._guarantees import GUARANTEES
from cloister.audit._tables import PersonTable
from cloister.columns import Ball, Box, Domain, FloatArray, Relation
from cloister.privacy import Guarantee

__all__ = ["DOMAINS", "METHODS", "Method", "make_fit", "targets"]

DOMAINS: dict[str, Callable[[int], Domain]] = {
    "box": lambda width: Box(-1.0, 1.0).spread(width),
    "ball": lambda width: Ball(1.0).spread(width),
    "far box": lambda width: Box(1e9 - 0.06, 1e9 + 0.07).spread(width),
    "far ball": lambda width: Ball(0.11, 1e9 + 0.1).spread(width),
    "tiny": lambda width: Ball(1e-90, 1e-91).spread(width),
    "uneven box": lambda width: Box(np.zeros(width), 10.0 ** np.arange(-3, width - 3)),
}
N_TARGETS = 12
DIMENSIONS, PROJECTED = (1, 2, 12), (40,)  # columns of the tables; those of a variant that projects are many


@dataclass(frozen=True)
class Method:
    """An estimator and the options it is attacked with."""

    estimator: str
    options: Mapping[str, Any] = field(default_factory=dict)
    dimensions: tuple[int, ...] = DIMENSIONS
    wide: Mapping[str, Any] = field(default_factory=dict)  # options from three columns on
    kinds: tuple[str, ...] = tuple(GUARANTEES)
    domains: tuple[str, ...] = tuple(DOMAINS)
    has_target: bool = False  # whether the method also takes a public table


def _attacked(method: methods.Method, options: Mapping[str, Any]) -> Method:
    return Method(
        method.name,
        {**method.short, **options},
        PROJECTED if "projection" in options else DIMENSIONS,
        method.wide,
        method.guarantees,
        tuple(name for name in DOMAINS if "ball" in method.domains or "box" in name),
        method.kind == "source-target",
    )


METHODS: dict[str, Method] = {
    f"{one.name}, {variant}" if variant else one.name: _attacked(one, options)
    for one in methods.METHODS.values()
    for variant, options in {"": {}, **one.variants}.items()
}


def make_fit(
    method: Method, guarantee: Guarantee, *, relation: Relation, domain: Domain, n_features: int, seed: int, **options: Any
) -> Callable[[Any], Any]:
    """Return a function that fits a fresh estimator to a table."""
    given = {**method.options, **(method.wide if n_features > 2 else {}), **options}
    given |= {"guarantee": guarantee, "bounds": domain, "neighbours": relation.value, "random_state": seed, "n_jobs": 1}
    if method.has_target:
        given.pop("scaling", None)
        return partial(_fit_beside, method, given, targets(domain, n_features))
    return partial(_fit, method, given)


def targets(domain: Domain, n_features: int) -> FloatArray:
    """Return public points of the domain, regularly spread over it."""
    ticks = np.linspace(-0.9, 0.9, N_TARGETS)[:, None] * np.cos(np.arange(n_features))
    return domain.frame().from_unit(ticks / n_features**0.5)


def _fit(method: Method, given: dict[str, Any], table: Any) -> Any:
    rows, ids = _parts(table)
    return methods.METHODS[method.estimator].estimator(**{"n_clusters": 2, **given}).fit(rows, **ids)


def _fit_beside(method: Method, given: dict[str, Any], public: FloatArray, table: Any) -> Any:
    rows, ids = _parts(table)
    return methods.METHODS[method.estimator].estimator(**{"n_clusters": 2, **given}).fit(public, source=rows, **ids)


def _parts(table: Any) -> tuple[Any, dict[str, Any]]:
    return (table.rows, {"privacy_unit": table.ids}) if isinstance(table, PersonTable) else (table, {})
