# SPDX-License-Identifier: Apache-2.0
"""All that a fit of KMeans spends, added up from first principles, is its budget: never more, and at most 0.1 % less.

What is asked before its own plan, of missing values and of bounds, is in ``test_spending_first.py``.
"""

import math
from typing import Any

import numpy as np
import pytest

from cloister import GDP, ZCDP, ApproxDP, Ball, KMeans, Ledger, PureDP
from cloister.exceptions import ParameterError
from cloister.privacy import Event, Guarantee
from cloister.questions import NearestSums, Question, SecondMoments

from .conftest import Paid
from .test_spending import DIMENSIONS, LEAST, spent_epsilon


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


def share_spent(ratios: list[float], guarantee: Guarantee) -> float:
    if isinstance(guarantee, PureDP):
        return math.fsum(ratios) / guarantee.epsilon
    if isinstance(guarantee, ApproxDP):
        return spent_epsilon(ratios, guarantee.delta) / guarantee.epsilon
    squares = math.fsum(ratio**2 for ratio in ratios)
    return squares / 2 / guarantee.rho if isinstance(guarantee, ZCDP) else math.sqrt(squares) / guarantee.mu


def check(paid: Paid, guarantee: Guarantee, n_features: int, *, n_clusters: int = 3, size: int = 30, **options: Any) -> KMeans:
    paid.clear()
    rows = np.random.default_rng(n_features).uniform(-1, 1, (size, n_features)) / math.sqrt(n_features)
    ledger = Ledger(guarantee, neighbours=options.get("neighbours", "add-remove"))
    given = {"bounds": Ball(1.0), "missing": "middle", "guarantee": guarantee, "ledger": ledger, "n_init": 1, "n_jobs": 1}
    model = KMeans(n_clusters, **given, **options).fit(rows)
    assert [event.question_name for _, event in paid] == [event.question_name for event in ledger.events]
    assert tuple(ledger.events) == model.privacy_receipt_.events
    kind = "discrete_laplace" if isinstance(guarantee, PureDP) else "rounded_gaussian"
    assert {(event.mechanism, event.relation) for _, event in paid} == {(kind, ledger.neighbours)}
    assert LEAST <= share_spent([true_ratio(*one, n_features) for one in paid], guarantee) <= 1 + 1e-12
    return model


@pytest.mark.slow
@pytest.mark.parametrize("n_features", DIMENSIONS)
@pytest.mark.parametrize("guarantee", [ApproxDP(1.0, 1e-6), ZCDP(0.2), GDP(0.4), PureDP(2.0)], ids=lambda one: one.kind)
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("n_rows", [30, None])
def test_a_fit_spends_its_budget(
    n_features: int, guarantee: Guarantee, neighbours: str, n_rows: int | None, paid: Paid
) -> None:
    model = check(paid, guarantee, n_features, neighbours=neighbours, n_rows=n_rows)
    names = [event.question_name for event in model.privacy_receipt_.events]
    assert names.count("row_count") == (n_rows is None)
    assert 1 <= names.count("nearest_sums") - model.n_iter_ <= len(model.plan_.scales)
    assert names.count("second_moments") <= 1


@pytest.mark.fast("0.0-0-7", "0.0-*-1", "1e-09-50000-20")
@pytest.mark.parametrize("n_clusters", [1, 7, 20])
@pytest.mark.parametrize("n_rows", [0, 1, 50_000, 10**9])
@pytest.mark.parametrize("delta", [0.0, 1e-9])
def test_clusters_and_rows_move_the_shares_and_not_the_sum(n_clusters: int, n_rows: int, delta: float, paid: Paid) -> None:
    guarantee = ApproxDP(0.5, delta) if delta else PureDP(0.5)
    check(paid, guarantee, 5, n_clusters=n_clusters, n_rows=n_rows)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 5.0, 100.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-2])
def test_small_and_large_budgets_are_spent_as_they_are(epsilon: float, delta: float, paid: Paid) -> None:
    # Fault 14: a noise search with a fixed bracket that fails at epsilon = 0.01.
    check(paid, ApproxDP(epsilon, delta), 33)


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_every_number_has_a_draw(neighbours: str, paid: Paid) -> None:
    # Faults 4 and 5: one draw shared by all coordinates, and cells left out because they were empty.
    check(paid, ApproxDP(1.0, 1e-6), 50, n_clusters=4, size=0, neighbours=neighbours)
    for question, event in paid:
        assert event.size == int(np.prod(question.shape))
        if isinstance(question, NearestSums):
            assert question.shape == (len(question.points), 50)


@pytest.mark.parametrize("n_features", [4, 40])
def test_replacing_needs_more_noise_than_adding(n_features: int, paid: Paid) -> None:
    # Fault 6: sensitivity 1 and r where a neighbour replaces a row. The same shares, so that only sensitivities differ.
    seen: dict[str, list[float]] = {}
    for neighbours in ("add-remove", "replace"):
        check(paid, GDP(0.5), n_features, n_rows=10**6, neighbours=neighbours)
        widths = [
            event.scale / (question.radius / question.unit if isinstance(question, NearestSums) else 1.0)
            for question, event in paid
        ]
        seen[neighbours] = widths
    ratios = [after / before for before, after in zip(seen["add-remove"], seen["replace"], strict=True)]
    wanted = [2.0 if isinstance(question, NearestSums) else math.sqrt(2) for question, _ in paid]
    assert ratios == pytest.approx(wanted, rel=1e-6)


def test_a_budget_too_small_to_draw_noise_for_is_refused_before_anything_is_spent(paid: Paid) -> None:
    ledger = Ledger(ApproxDP(1e-6, 1e-9))
    with pytest.raises(
        ParameterError, match=r"KMeans\.epsilon: expected a budget whose noise can be drawn, got .* Spend more\."
    ):
        KMeans(3, epsilon=1e-6, delta=1e-9, bounds=(-1, 1), ledger=ledger).fit(np.zeros((9, 2)))
    assert not ledger.events
    assert not paid


@pytest.mark.fast("False-16", "True-784")
@pytest.mark.parametrize("n_features", [1, 16, 784])
@pytest.mark.parametrize("pure", [False, True])
def test_a_budget_that_is_not_refused_can_be_spent(n_features: int, pure: bool, paid: Paid) -> None:
    """Down to the smallest budget that is accepted, no question of the fit is too noisy to be drawn."""
    words = [refusal(paid, (PureDP if pure else GDP)(10.0**exponent), n_features) for exponent in range(-12, -1)]
    assert all(one.startswith("KMeans.epsilon") for one in words if one)
    assert words.count("") >= 2


def refusal(paid: Paid, guarantee: Guarantee, n_features: int) -> str:
    """Return what a fit says that is refused; nothing if it spends its budget."""
    try:
        check(paid, guarantee, n_features, n_rows=5, neighbours="replace")
    except ParameterError as refused:
        assert not paid
        return str(refused)
    return ""
