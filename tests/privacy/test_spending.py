# SPDX-License-Identifier: Apache-2.0
"""Fault 1: all that a fit spends, added up from first principles, is its budget: never more, and at most 0.1 % less.

The sensitivities are stated here once more, beside those of the questions. What is asked before a method's own plan, of missing
values and of bounds, is in ``test_spending_first.py``; other methods are in ``tests/common/test_budgets.py``.
"""

import math
from typing import Any

import mpmath
import numpy as np
import pytest

from cloister import GDP, ZCDP, ApproxDP, Ball, KMeans, Ledger, PEMeans, PureDP
from cloister.exceptions import ParameterError
from cloister.privacy import Event, Guarantee
from cloister.questions import NearestSums, Question, SecondMoments

from .conftest import Paid

LEAST = 1 - 1e-3
DIMENSIONS = [1, 20, 784]
GUARANTEES = [ApproxDP(1.0, 1e-6), ZCDP(0.2), GDP(0.4), PureDP(2.0)]
FEW_STEPS: dict[type, dict[str, Any]] = {KMeans: {}, PEMeans: {"n_variations": 2, "n_rounds": 3}}


def true_ratio(question: Question, event: Event, n_features: int) -> float:
    """How far the answer can move over how wide the noise is, both in steps of the answer.

    Counts and histograms: a row adds 1 to one bin; replacing it also takes 1 from another. Sums: a row adds an offset of norm
    at most r to one sum; replacing it by one with the opposite offset moves that sum by 2 r. The number of rows is one count.
    Second moments: a row q adds 5 q_i^2 and 7 q_i q_j, |q| being at most 2^12.
    """
    gaussian, replaced = event.mechanism == "rounded_gaussian", event.relation == "replace"
    if isinstance(question, SecondMoments):
        return moments_moved(n_features, gaussian=gaussian, replaced=replaced) / event.scale
    if isinstance(question, NearestSums):
        reach = question.radius / question.unit * (2.0 if replaced else 1.0)
        return reach * (1.0 if gaussian else math.sqrt(n_features)) / event.scale
    if event.question_name == "row_count" or not replaced:
        return 1.0 / event.scale
    return (math.sqrt(2) if gaussian else 2.0) / event.scale


def moments_moved(n_features: int, *, gaussian: bool, replaced: bool) -> float:
    """How far the weighted products of a row of length 2^12 move, in l2 or in l1, by adding or replacing it."""
    square, products = 5 * 2.0**24, n_features * (n_features - 1) / 2
    if gaussian:
        return square * (math.sqrt(2) if replaced and products else 1.0)
    if replaced and products:
        return 2.0**24 * math.sqrt(2 * (25 * n_features + 24.5 * products))
    return square + 7 * 2.0**24 * (n_features - 1) / 2


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


def share_spent(ratios: list[float], guarantee: Guarantee) -> float:
    """What part of the guarantee the events use, as a ratio of epsilons, rhos or mus."""
    if isinstance(guarantee, PureDP):
        return math.fsum(ratios) / guarantee.epsilon
    if isinstance(guarantee, ApproxDP):
        return spent_epsilon(ratios, guarantee.delta) / guarantee.epsilon
    squares = math.fsum(ratio**2 for ratio in ratios)
    return squares / 2 / guarantee.rho if isinstance(guarantee, ZCDP) else math.sqrt(squares) / guarantee.mu


def check(
    paid: Paid,
    guarantee: Guarantee,
    n_features: int,
    *,
    kind: Any = KMeans,
    n_clusters: int = 3,
    size: int = 30,
    **options: Any,
) -> Any:
    """Fit to a few rows and compare the questions, the events, the receipt and the ledger with the budget."""
    paid.clear()
    rows = np.random.default_rng(n_features).uniform(-1, 1, (size, n_features)) / math.sqrt(n_features)
    ledger = Ledger(guarantee, neighbours=options.get("neighbours", "add-remove"))
    given = {"bounds": Ball(1.0), "missing": "middle", "guarantee": guarantee, "ledger": ledger, "n_init": 1, "n_jobs": 1}
    model = kind(n_clusters, **{**given, **FEW_STEPS[kind], **options}).fit(rows)
    assert tuple(event for _, event in paid) == tuple(ledger.events) == model.privacy_receipt_.events
    mechanism = "discrete_laplace" if isinstance(guarantee, PureDP) else "rounded_gaussian"
    assert {(event.mechanism, event.relation) for _, event in paid} == {(mechanism, ledger.neighbours)}
    assert LEAST <= share_spent([true_ratio(*one, n_features) for one in paid], guarantee) <= 1 + 1e-12
    return model


@pytest.mark.slow
@pytest.mark.parametrize("n_features", DIMENSIONS)
@pytest.mark.parametrize("guarantee", GUARANTEES, ids=lambda one: one.kind)
@pytest.mark.parametrize("kind", [KMeans, PEMeans])
@pytest.mark.parametrize(("neighbours", "n_rows"), [("add-remove", None), ("replace", 30)])
def test_a_fit_spends_its_budget(
    kind: Any, n_features: int, guarantee: Guarantee, neighbours: str, n_rows: int | None, paid: Paid
) -> None:
    model = check(paid, guarantee, n_features, kind=kind, neighbours=neighbours, n_rows=n_rows)
    names = [event.question_name for event in model.privacy_receipt_.events]
    assert names.count("row_count") == (n_rows is None)
    if kind is KMeans:
        assert 1 <= names.count("nearest_sums") - model.n_iter_ <= len(model.plan_.scales)
        assert names.count("second_moments") <= 1


@pytest.mark.fast("0.0-0-7", "0.0-*-1", "1e-09-50000-20")
@pytest.mark.parametrize("n_clusters", [1, 7, 20])
@pytest.mark.parametrize("n_rows", [0, 1, 50_000, 10**9])
@pytest.mark.parametrize("delta", [0.0, 1e-9])
def test_clusters_and_rows_move_the_shares_and_not_the_sum(n_clusters: int, n_rows: int, delta: float, paid: Paid) -> None:
    guarantee = ApproxDP(0.5, delta) if delta else PureDP(0.5)
    check(paid, guarantee, 5, n_clusters=n_clusters, n_rows=n_rows)


@pytest.mark.parametrize(("n_features", "n_rounds", "n_clusters"), [(2, 5, 7), (40, 1, 1), (40, 40, 7)])
def test_rounds_do_not_change_the_sum(n_features: int, n_rounds: int, n_clusters: int, paid: Paid) -> None:
    check(paid, ApproxDP(0.5, 1e-9), n_features, kind=PEMeans, n_clusters=n_clusters, n_rounds=n_rounds)


@pytest.mark.parametrize("kind", [KMeans, PEMeans])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.01, 1e-12), (0.01, 1e-2), (100.0, 1e-12), (100.0, 1e-2)])
def test_small_and_large_budgets_are_spent_as_they_are(kind: Any, epsilon: float, delta: float, paid: Paid) -> None:
    # Fault 14: a noise search with a fixed bracket that fails at epsilon = 0.01.
    check(paid, ApproxDP(epsilon, delta), 33, kind=kind)


@pytest.mark.parametrize("n_features", [1, 20, 784])
def test_the_automatic_plan_spends_its_budget(n_features: int, paid: Paid) -> None:
    projection = 8 if n_features > 32 else "auto"
    model = check(paid, ApproxDP(1.0, 1e-6), n_features, kind=PEMeans, n_rounds="auto", projection=projection)
    names = [one.question_name for one in model.privacy_receipt_.events]
    assert names.count("row_count") == 1
    assert names.count("nearest_sums") == (1 if n_features > 32 else 0)


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize(("kind", "options"), [(KMeans, {}), (PEMeans, {"projection": 8})])
def test_every_number_has_a_draw(kind: Any, options: dict[str, Any], neighbours: str, paid: Paid) -> None:
    # Faults 4, 5 and 6: one draw shared by all coordinates, cells left out because they were empty, and the sensitivities of
    # adding a row where a neighbour replaces one.
    check(paid, ApproxDP(1.0, 1e-6), 50, kind=kind, n_clusters=4, size=0, neighbours=neighbours, **options)
    for question, event in paid:
        assert event.size == int(np.prod(question.shape))
        if isinstance(question, NearestSums):
            assert question.shape == (len(question.points), 50)


@pytest.mark.fast("False-16", "True-784")
@pytest.mark.parametrize("n_features", [1, 16, 784])
@pytest.mark.parametrize("pure", [False, True])
def test_a_budget_is_spent_or_refused_before_anything_is(n_features: int, pure: bool, paid: Paid) -> None:
    """Down to the smallest budget that is accepted, no question of the fit is too noisy to be drawn."""
    words = [refusal(paid, (PureDP if pure else GDP)(10.0**exponent), n_features) for exponent in range(-12, -1)]
    expected = "KMeans.epsilon: expected a budget whose noise can be drawn, got "
    assert all(one.startswith(expected) and one.endswith(" Spend more.") for one in words if one)
    assert words[0]
    assert words.count("") >= 2


def refusal(paid: Paid, guarantee: Guarantee, n_features: int) -> str:
    """Return what a fit says that is refused; nothing if it spends its budget."""
    try:
        check(paid, guarantee, n_features, n_rows=5, neighbours="replace")
    except ParameterError as refused:
        assert not paid
        return str(refused)
    return ""
