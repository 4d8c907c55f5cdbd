# SPDX-License-Identifier: Apache-2.0
"""Fault 1: all that a fit spends, added up by an independent sum, is its budget: never more, and at most 0.1 % less."""

import math
from typing import Any

import mpmath
import numpy as np
import pytest

from cloister import GDP, ZCDP, ApproxDP, Ball, Ledger, PEMeans, PureDP
from cloister.privacy import Event, Guarantee

LEAST = 1 - 1e-3
DIMENSIONS = [1, 2, 16, 20, 33, 64, 784]


def true_sensitivity(event: Event, n_features: int) -> float:
    """How far the answer can move, from first principles, in steps of the event's own unit.

    Counts: a row adds 1 to one cell; replacing it also takes 1 from another. Sums: a row of norm at most 1 is added to one
    cell; replacing it by its opposite moves that cell by 2. The number of rows is booked as one count under both relations.
    """
    gaussian, replaced = event.mechanism == "rounded_gaussian", event.relation == "replace"
    if event.question_name == "row_count":
        return 1.0
    if event.question_name == "nearest_counts":
        l2, l1 = (math.sqrt(2), 2.0) if replaced else (1.0, 1.0)
        return l2 if gaussian else l1
    assert event.question_name == "nearest_sums"
    reach = (2.0 if replaced else 1.0) / event.unit
    return reach if gaussian else reach * math.sqrt(n_features)


def spent_epsilon(ratios: list[float], delta: float) -> float:
    """The epsilon at which Gaussian events together have this delta, by 40-digit bisection."""
    with mpmath.workdps(40):
        mu = mpmath.sqrt(sum(mpmath.mpf(ratio) ** 2 for ratio in ratios))

        def excess(epsilon: mpmath.mpf) -> mpmath.mpf:
            far = mpmath.exp(epsilon) * mpmath.ncdf(-epsilon / mu - mu / 2)
            return mpmath.ncdf(-epsilon / mu + mu / 2) - far - delta

        low, high = mpmath.mpf(0), mpmath.mpf(1e4)
        for _ in range(70):
            middle = (low + high) / 2
            low, high = (middle, high) if excess(middle) > 0 else (low, middle)
        return float(high)


def share_spent(events: tuple[Event, ...], guarantee: Guarantee, n_features: int) -> float:
    """What part of the guarantee the events use, as a ratio of epsilons, rhos or mus."""
    ratios = [true_sensitivity(one, n_features) / one.scale for one in events]
    if isinstance(guarantee, PureDP):
        assert all(one.mechanism == "discrete_laplace" for one in events)
        return math.fsum(ratios) / guarantee.epsilon
    assert all(one.mechanism == "rounded_gaussian" for one in events)
    if isinstance(guarantee, ApproxDP):
        return spent_epsilon(ratios, guarantee.delta) / guarantee.epsilon
    squares = math.fsum(ratio**2 for ratio in ratios)
    return squares / 2 / guarantee.rho if isinstance(guarantee, ZCDP) else math.sqrt(squares) / guarantee.mu


def check(guarantee: Guarantee, n_features: int, *, n_clusters: int = 3, **options: Any) -> PEMeans:
    """Fit on thirty rows and compare the events, the receipt and the ledger with the budget."""
    rows = np.random.default_rng(n_features).uniform(-1, 1, (30, n_features)) / math.sqrt(n_features)
    ledger = Ledger(guarantee, neighbours=options.get("neighbours", "add-remove"))
    model = PEMeans(
        n_clusters=n_clusters,
        bounds=Ball(1.0),
        missing="middle",
        guarantee=guarantee,
        ledger=ledger,
        n_variations=2,
        n_init=1,
        n_jobs=1,
        **options,
    ).fit(rows)
    events = tuple(ledger.events)
    assert events == model.privacy_receipt_.events
    assert LEAST <= share_spent(events, guarantee, n_features) <= 1 + 1e-12
    for one in events:
        assert one.relation == ledger.neighbours
    return model


@pytest.mark.slow
@pytest.mark.parametrize("n_features", DIMENSIONS)
@pytest.mark.parametrize("guarantee", [ApproxDP(1.0, 1e-6), ZCDP(0.2), GDP(0.4), PureDP(2.0)], ids=lambda one: one.kind)
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_a_fit_spends_its_budget(n_features: int, guarantee: Guarantee, neighbours: str) -> None:
    check(guarantee, n_features, neighbours=neighbours, n_rows=30, n_rounds=3)
    check(guarantee, n_features, neighbours=neighbours, n_rows=None, n_rounds=2)


@pytest.mark.fast("2-5-7", "40-1-1", "40-40-7")
@pytest.mark.parametrize("n_clusters", [1, 7])
@pytest.mark.parametrize("n_rounds", [1, 5, 40])
@pytest.mark.parametrize("n_features", [2, 40])
def test_clusters_and_rounds_do_not_change_the_sum(n_clusters: int, n_rounds: int, n_features: int) -> None:
    check(ApproxDP(0.5, 1e-9), n_features, n_clusters=n_clusters, n_rounds=n_rounds)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 5.0, 100.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-2])
def test_small_and_large_budgets_are_spent_as_they_are(epsilon: float, delta: float) -> None:
    # Fault 14: a noise search with a fixed bracket that fails at epsilon = 0.01.
    check(ApproxDP(epsilon, delta), 33, n_rounds=2)


@pytest.mark.parametrize("n_features", [1, 20, 784])
def test_the_automatic_plan_spends_its_budget(n_features: int) -> None:
    model = check(ApproxDP(1.0, 1e-6), n_features, projection=8 if n_features > 32 else "auto")
    names = [one.question_name for one in model.privacy_receipt_.events]
    assert names.count("row_count") == 1
    assert names.count("nearest_sums") == (1 if n_features > 32 else 0)


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_sums_and_counts_have_a_draw_for_every_number(neighbours: str) -> None:
    # Faults 4 and 5: one draw shared by all coordinates, and cells left out because they were empty.
    model = check(ApproxDP(1.0, 1e-6), 50, n_clusters=4, neighbours=neighbours, n_rounds=2, projection=8)
    *_, counts, sums = model.privacy_receipt_.events
    assert (counts.question_name, counts.size) == ("nearest_counts", 4)
    assert (sums.question_name, sums.size) == ("nearest_sums", 4 * 50)


def test_replacing_needs_more_noise_than_adding() -> None:
    # Fault 6: sensitivity 1 and r where a neighbour replaces a row.
    adding, replacing = (
        check(GDP(0.5), 40, n_rounds=2, n_rows=30, neighbours=neighbours, projection=8).privacy_receipt_.events
        for neighbours in ("add-remove", "replace")
    )
    ratios = [after.scale / before.scale for before, after in zip(adding, replacing, strict=True)]
    assert ratios == pytest.approx([math.sqrt(2)] * 3 + [2.0], rel=1e-6)
