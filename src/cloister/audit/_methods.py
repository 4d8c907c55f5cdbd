# SPDX-License-Identifier: Apache-2.0
"""Every public method with options that make a fit short, and the domains it is given."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

import cloister
from cloister.audit._guarantees import GUARANTEES
from cloister.domain import Ball, Box, Domain, FloatArray, Relation
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


@dataclass(frozen=True)
class Method:
    """An estimator and the options it is attacked with."""

    estimator: str
    options: Mapping[str, Any] = field(default_factory=dict)
    dimensions: tuple[int, ...] = (1, 2, 12)
    wide: Mapping[str, Any] = field(default_factory=dict)  # options from three columns on
    kinds: tuple[str, ...] = tuple(GUARANTEES)
    domains: tuple[str, ...] = tuple(DOMAINS)

    @property
    def has_target(self) -> bool:
        """Whether the method also takes a public table."""
        return self.estimator == "SourceTargetKMedoids"


BOXES = ("box", "far box", "uneven box")
# A grid divides a box. In many columns one of two cells an axis is as large as is worth the time.
METHODS: dict[str, Method] = {
    "KMeans": Method("KMeans", {"n_init": 1}),
    "PEMeans": Method("PEMeans", {"n_init": 1, "n_rounds": 2, "n_variations": 3}),
    "PEMeans, projected": Method("PEMeans", {"n_init": 1, "n_rounds": 2, "n_variations": 3}, (40,)),
    "GridKMeans": Method("GridKMeans", {"n_init": 1}, wide={"rule": 2}, domains=BOXES),
    "GridSynopsis": Method("GridSynopsis", {}, wide={"rule": 2}, domains=BOXES),
    "LloydKMeans": Method("LloydKMeans", {"n_rounds": 2}),
    "FastLloyd": Method("FastLloyd", {"n_rounds": 2}),
    "CoresetKMeans": Method("CoresetKMeans", {"n_init": 1, "max_depth": 4}),
    "TreeKMeans": Method("TreeKMeans", {"n_init": 1, "n_swaps": 2, "max_candidates": 16}),
    "SourceTargetKMedoids, nna": Method("SourceTargetKMedoids", {"method": "nna", "n_init": 1}),
    "SourceTargetKMedoids, nna as in the paper": Method(
        "SourceTargetKMedoids", {"method": "nna", "calibration": "paper", "n_init": 1}
    ),
    "SourceTargetKMedoids, nas": Method("SourceTargetKMedoids", {"method": "nas", "n_init": 1, "n_neighbors": 5}),
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
    return getattr(cloister, method.estimator)(2, **given).fit(table)


def _fit_beside(method: Method, given: dict[str, Any], public: FloatArray, table: Any) -> Any:
    return getattr(cloister, method.estimator)(2, **given).fit(public, source=table)
