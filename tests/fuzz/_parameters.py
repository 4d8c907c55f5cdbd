# SPDX-License-Identifier: Apache-2.0
"""Hostile parameters: an error that names the parameter and the remedy, before anything is spent, or a valid result."""

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from hypothesis import strategies as st
from tests.fuzz._law import Outcome, attempt
from tests.fuzz._run import Target
from tests.fuzz._values import build, values

import cloister
from cloister import GDP, ZCDP, ApproxDP, Ball, Box, GridSynopsis, Ledger, PointSynopsis, PureDP, Synopsis, grids
from cloister.exceptions import BoundsError, BudgetExceeded
from cloister.methods import METHODS, Method

ROWS = np.random.default_rng(0).uniform(size=(12, 2))
LARGE = 6  # the most of what costs time: restarts, rounds, clusters and the like
EFFORT = {  # what costs time, and from which number on it is refused
    "n_clusters": 2**20,
    **dict.fromkeys(("n_init", "n_rounds", "n_variations", "max_candidates", "n_trees", "depth", "max_depth"), math.inf),
    **dict.fromkeys(("n_swaps", "max_representatives", "n_jobs", "repeats", "n_samples"), math.inf),
}
SHARED = {"bounds": (0.0, 1.0), "n_jobs": 1, "epsilon": 2.0}
USUAL: dict[str, list[Any]] = {  # so that enough calls end well
    "n_clusters": [1, 2, 5, 30],
    "epsilon": [1e-3, 0.5, 4.0, 1e-12, 1e6],
    "delta": [0, 1e-9, 1e-3, 1e-100],
    "guarantee": [{"call": "PureDP", "with": [0.5]}, {"call": "ZCDP", "with": [0.1]}, {"call": "GDP", "with": [0.3]}],
    "bounds": [
        "private",
        [{"tuple": [0, 1]}, {"tuple": [-5, 9]}],
        {"tuple": [[-1, 0], [1, 1e90]]},
        {"call": "Ball", "with": [1e-90]},
        {"call": "Box", "with": [1e9, 1e9 + 1]},
    ],
    "scaling": ["bounds", "spread", "auto"],
    "missing": ["middle"],
    "bounds_share": [1e-6, 0.5],
    "describe": [0.2, 0.9],
    "neighbours": ["replace"],
    "n_rows": [0, 1, 12, 10**6],
    "random_state": [0, 2**64],
    "n_jobs": [-1, 2],
    "n_rounds": ["auto", 3],
    "projection": [None, 1],
    "rule": ["rugnik", "eugkm", "adaptive", 1, [2, 3]],
    "counts": ["clip", "none"],
    "representatives": ["slope"],
    "method": ["nas"],
    "metric": ["manhattan", "cosine", "jaccard"],
    "solver": ["exact"],
}


SEARCH = {"row_count", "rows_per_unit", "column_magnitudes", "column_intervals"}  # what may be asked before bounds are found


@dataclass(frozen=True)
class Owner:
    """Something public that takes parameters: how to call it, parameters that work, and what holds of its result."""

    call: Callable[..., Any]
    works: dict[str, Any]
    holds: Callable[[Any], bool]
    also: tuple[str, ...] = field(default=())  # names under which messages may speak of a parameter


def cases() -> st.SearchStrategy[Any]:
    """Draw an owner, and up to three of its parameters with a hostile value."""
    return st.sampled_from(sorted(_owners())).flatmap(_case_of)


def law(case: dict[str, Any]) -> str:
    """Return how the call ended; it ends with an error before anything is spent, or with a valid result."""
    owner, given = _owners()[case["owner"]], case["given"]
    made = attempt(lambda: {name: build(value) for name, value in given.items()})
    if made.error is not None:  # a guarantee or a domain that cannot be made
        return f"{case['owner']}: refused when it was made"
    ledger = Ledger(epsilon=5.0, delta=1e-3)
    given = {**owner.works, **({"ledger": ledger} if "ledger" in owner.works else {}), **made.value}
    found = attempt(lambda: owner.call(**given))
    if found.error is None:
        assert owner.holds(found.value), "the result is not valid"
        return f"{case['owner']}: valid"
    if isinstance(found.error, BoundsError):  # noisy answers say so, and they were paid for
        assert {event.question_name for event in ledger.events} <= SEARCH, "more than the search was spent"
        return f"{case['owner']}: {found.label}"
    assert ledger.spent.empty, f"refused after something was spent: {found.error}"
    assert len(ledger.lines) == 1, f"refused after something was reserved: {found.error}"
    if len(made.value) == 1 and not isinstance(found.error, BudgetExceeded):
        assert _is_named(next(iter(made.value)), found, owner), f"the parameter is not named: {found.error}"
    return f"{case['owner']}: {found.label}"


@cache
def _case_of(owner: str) -> st.SearchStrategy[Any]:
    one = st.sampled_from(list(_owners()[owner].works)).flatmap(_parameter)
    several = st.lists(one, min_size=1, max_size=3, unique_by=lambda pair: pair[0])
    return several.map(lambda pairs: {"owner": owner, "given": dict(pairs)})


@cache
def _parameter(name: str) -> st.SearchStrategy[tuple[str, Any]]:
    hostile = values().map(_modest(name)).map(lambda value: (name, value))
    usual = [(name, value) for value in USUAL.get(name, ())]
    return st.one_of(hostile, hostile, st.sampled_from(usual)) if usual else hostile


def _modest(name: str) -> Callable[[Any], Any]:
    """Return what makes small an effort that is allowed but would take for ever."""
    most = EFFORT.get(name, 0)

    def is_large(value: Any) -> bool:
        if isinstance(value, dict):
            return value.get("scalar", 0) > LARGE or (most == math.inf and str(value.get("is")).startswith(("huge", "many")))
        return isinstance(value, int | float) and LARGE < value <= most

    def modest(value: Any) -> Any:
        if not most or not is_large(value):
            return value
        return {**value, "scalar": LARGE} if isinstance(value, dict) and "scalar" in value else LARGE

    return modest


def _is_named(parameter: str, found: Outcome, owner: Owner) -> bool:
    also = {"bounds": ("Box", "Ball"), "low": ("Box",), "high": ("Box",), "center": ("Ball",), "delta": ("Gaussian", "pure")}
    text = str(found.error)
    return any(word in text for word in (parameter, *also.get(parameter, ()), *owner.also))


@cache
def _owners() -> dict[str, Owner]:
    owners = {name: _estimator(method) for name, method in METHODS.items()}
    owners |= {kind.__name__: _guarantee(kind) for kind in (PureDP, ApproxDP, ZCDP, GDP)}
    sizes = {"n_rows": 100, "n_features": 2, "n_clusters": 3}
    source = {"columns": None, "engine": None, "scheduler": None, "n_jobs": 1}
    chance, promise = (
        {"n_cells": 9, "epsilon": 1.0, "chance": 0.05},
        {"guarantee": PureDP(1.0), "target": ApproxDP, "delta": 1e-6},
    )
    owners |= {
        "Box": Owner(Box, {"low": 0.0, "high": 1.0}, _is_a_domain),
        "Ball": Owner(Ball, {"radius": 1.0, "center": 0.0}, _is_a_domain),
        "Ledger": Owner(_make_ledger, {**_defaults(Ledger), "epsilon": 1.0}, lambda left: math.isfinite(left) and left > 0),
        "plan": Owner(cloister.plan, {**_defaults(cloister.plan), **sizes}, lambda told: bool(str(told))),
        "convert": Owner(cloister.convert, promise, lambda value: bool(str(value)), ("convert",)),
        "cells_per_axis": Owner(grids.cells_per_axis, {"rule": "rugnik", **sizes, "epsilon": 1.0}, lambda count: count >= 1),
        "cell_bounds": Owner(grids.cell_bounds, {**sizes, "epsilon": 1.0}, _numbers),
        "count_deviation": Owner(grids.count_deviation, chance, lambda rows: 0 <= rows < math.inf),
        "grid_bound": Owner(grids.grid_bound, {"cells": 3, **sizes, "epsilon": 1.0}, lambda bound: 0 < bound.total <= math.inf),
        "epsilon_range": Owner(grids.epsilon_range, sizes, _numbers),
        "open_rows": Owner(lambda **given: cloister.open_rows(ROWS, **given), source, lambda rows: rows.n_features == 2),
    }
    owners |= {f"Synopsis.{name}": one for name, one in _synopsis_methods().items()}
    return owners


def _estimator(method: Method) -> Owner:
    kind = method.estimator

    def fit(**given: Any) -> Any:
        model = kind(**given)
        return model.fit(ROWS, source=ROWS) if method.kind == "source-target" else model.fit(ROWS)

    rule = {"rule": 3} if "rule" in method.parameters else {}
    return Owner(fit, {**_defaults(kind), **SHARED, **method.short, **rule, "n_clusters": 2}, _is_a_fit)


def _guarantee(kind: type[Any]) -> Owner:
    works = {"epsilon": 1.0, "delta": 1e-6, "rho": 1.0, "mu": 1.0}
    names = list(inspect.signature(kind).parameters)
    return Owner(kind, {name: works[name] for name in names}, lambda made: 0 <= made.delta_at(1.0) <= 1)


@cache
def _synopsis() -> Synopsis:
    return GridSynopsis(2, rule=3, epsilon=2.0, bounds=(0, 1), random_state=0, n_jobs=1).fit(ROWS).synopsis_


def _synopsis_methods() -> dict[str, Owner]:
    given: dict[str, tuple[dict[str, Any], Callable[[Any], bool]]] = {
        "cut": ({**_defaults(Synopsis.cut), "n_clusters": 2}, _is_a_release),
        "choose_k": ({"n_clusters": [1, 2], "random_state": 0}, lambda found: found.best >= 1),
        "density_clusters": (_defaults(Synopsis.density_clusters), lambda found: found.cell_labels.shape == (3, 3)),
        "count": ({"box": (0.0, 1.0)}, lambda count: math.isfinite(count.value)),
        "marginal": ({"columns": [0]}, lambda found: found.n_features >= 1),
    }

    def owner(name: str, works: dict[str, Any], holds: Callable[[Any], bool]) -> Owner:
        return Owner(lambda **given: getattr(_synopsis(), name)(**given), works, holds, ("Box",) if name == "count" else ())

    return {name: owner(name, *rest) for name, rest in given.items()}


def _defaults(thing: Callable[..., Any]) -> dict[str, Any]:
    parameters = inspect.signature(thing).parameters.values()
    return {one.name: None if one.default is one.empty else one.default for one in parameters if one.name != "self"}


def _make_ledger(**given: Any) -> float:
    with Ledger(**given) as made:
        return made.left


def _is_a_fit(model: Any) -> bool:
    spent = model.privacy_receipt_.spent.fits(model.privacy_receipt_.guarantee)
    if isinstance(model, GridSynopsis | PointSynopsis):
        return spent and bool(np.isfinite(model.synopsis_.noisy_counts).all())
    return spent and _is_a_release(model.release_) and len(model.cluster_centers_) == model.n_clusters


def _is_a_release(release: Any) -> bool:
    numbers = (release.cluster_centers, release.center_errors, release.cluster_counts, release.count_errors)
    inside = np.allclose(release.domain.clip(release.cluster_centers), release.cluster_centers)
    return inside and all(np.isfinite(part).all() for part in numbers) and bool(release.to_json())


def _is_a_domain(domain: Any) -> bool:
    domain = domain.spread(np.broadcast(*vars(domain).values()).size)
    frame = domain.frame()
    clean = frame.clean(np.outer([0.0, -1e308, 1e308, np.nan, 1e-300], np.ones(frame.n_features)))
    return bool(np.isfinite(clean).all() and (np.linalg.norm(clean, axis=1) <= 1 + 1e-6).all())


def _numbers(found: Any) -> bool:
    return all(value >= 0 for value in vars(found).values())


TARGET = Target("parameters", cases, law, share=0.25)
