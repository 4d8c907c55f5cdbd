# SPDX-License-Identifier: Apache-2.0
"""How every method of the table is attacked: its variants, the guarantees, the declared columns, and a short fit."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cloister import PrivateScaler, methods
from cloister.audit._tables import DOMAINS, PersonTable
from cloister.columns import Category, Cyclic, Date, Flag, Number, Relation, Table
from cloister.privacy import GDP, ZCDP, ApproxDP, Guarantee, PureDP

GUARANTEES: dict[str, Guarantee] = {
    "approx": ApproxDP(3.0, 1e-6),
    "pure": PureDP(4.0),
    "gdp": GDP(1.2),
    "zcdp": ZCDP(0.4),
}


@dataclass(frozen=True)
class Variant:
    """A method, and options that change what it asks."""

    method: methods.Method
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def dimensions(self) -> tuple[int, ...]:
        """Columns of the tables; those of a variant that projects are many."""
        return (40,) if "projection" in self.options else (1, 2, 12)

    @property
    def domains(self) -> tuple[str, ...]:
        """Names of the domains it takes."""
        return tuple(name for name in DOMAINS if "ball" in self.method.domains or "box" in name)


METHODS: dict[str, Variant] = {
    f"{one.name}, {name}" if name else one.name: Variant(one, options)
    for one in methods.METHODS.values()
    for name, options in {"": {}, **one.variants}.items()
}

INTERVALS: dict[str, Any] = {
    "age": (0, 120),
    "income": "private",
    "smoker": Flag(),
    "admitted": Date("2020-01-01", "2026-12-31"),
}
PEOPLE: dict[str, Any] = {
    **INTERVALS,
    "glucose": Number(40, 400, missing="own"),
    "sex": Category(["f", "m"]),
    "ward": Category(["north", "south", "3"], missing="own", weight=2),
    "hour": Cyclic(24),
    "dose": Number(1, 10_000, scale="log", missing="own"),
}
CLUSTERED = ("age", "income", "glucose", "sex")
DESCRIBED: dict[str, Any] = {
    "bounds": {name: PEOPLE[name] for name in CLUSTERED},
    "describe": 0.3,
    "describe_columns": {name: one for name, one in PEOPLE.items() if name not in CLUSTERED},
}
SEARCH: dict[str, Any] = {"bounds_share": 0.2}  # by default, tables so small are not searched
DECLARED: dict[str, Mapping[str, Any]] = {  # the options with which estimators are fitted to declared columns
    "KMeans": {"bounds": PEOPLE, "n_init": 2, **SEARCH},
    "KMeans, spread": {"bounds": PEOPLE, "scaling": "spread", "n_init": 2, **SEARCH},
    "KMeans, described": {**DESCRIBED, "n_init": 2, **SEARCH},
    "LloydKMeans": {"bounds": PEOPLE, "n_rounds": 2, **SEARCH},
    "TreeKMeans": {"bounds": PEOPLE, **methods.METHODS["TreeKMeans"].short, **SEARCH},
    "GridSynopsis": {"bounds": INTERVALS, "rule": 2, **SEARCH},
    "PrivateScaler": {"bounds": PEOPLE},
}


def make_fit(
    name: str,
    guarantee: Guarantee,
    *,
    relation: Relation,
    seed: int,
    domain: Table | None = None,
    n_features: int = 2,
    **options: Any,
) -> Callable[[Any], Any]:
    """Return a function that fits a fresh estimator to a table of numbers in a domain, or without one of declared columns."""
    method = methods.METHODS.get(name.split(",")[0])  # none: a PrivateScaler
    beside = method is not None and method.kind == "source-target"
    given = {**options, "guarantee": guarantee, "neighbours": relation.value, "random_state": seed, "n_jobs": 1}
    if method is not None:
        given.setdefault("n_clusters", 2)
    if domain is None:
        given = {**DECLARED[name], **given}
    elif method is not None:
        given = {**method.short, **METHODS[name].options, **(method.wide if n_features > 2 else {}), **given, "bounds": domain}
    else:
        given |= {"bounds": domain, "scaling": "spread"}
    public = None
    if beside:
        assert domain is not None
        given.pop("scaling", None)
        ticks = np.linspace(-0.9, 0.9, 12)[:, None] * np.cos(np.arange(n_features))  # regularly spread over the domain
        public = domain.frame().from_unit(ticks / n_features**0.5)

    def fit(table: Any) -> Any:
        rows, ids = (table.rows, {"privacy_unit": table.ids}) if isinstance(table, PersonTable) else (table, {})
        estimator = PrivateScaler(**given) if method is None else method.estimator(**given)
        estimator._refuse_unseen = _go_on  # type: ignore[method-assign]
        return estimator.fit(public, source=rows, **ids) if beside else estimator.fit(rows, **ids)

    return fit


def _go_on(names: Sequence[str]) -> None:
    """Do not refuse a fit whose bounds are not found: on small tables, too, all that it may ask is watched."""
