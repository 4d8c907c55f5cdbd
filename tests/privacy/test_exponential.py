# SPDX-License-Identifier: Apache-2.0
"""The exponential mechanism: drawn by its exact law, priced by what neighbours can do, booked like any pure event.

Goodness of fit is tested by chi-square with a false-alarm rate of 1e-6 each.
"""

import math
from functools import partial

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.vaults import open_vault

from cloister.columns import IntArray, Relation
from cloister.exceptions import LedgerError
from cloister.privacy import (
    GDP,
    ZCDP,
    ApproxDP,
    Cost,
    Entropy,
    Event,
    Guarantee,
    PureDP,
    Scale,
    Tally,
    _samplers,
    exponential_choice,
    price,
)
from cloister.privacy._calibrate import pure_mu
from cloister.questions import NearestCounts
from cloister.rivals import SetCosts, SwapCosts

from ._laws import chi_square, choice_law
from ._paid import event as paid

FALSE_ALARM = 1e-6
COSTS = [
    np.array([5]),
    np.array([0, 0, 0]),
    np.array([3, 1, 0, 1, 10]),
    np.array([-7, 100, -8, -8, 5, 10**6, 2**60]),
    np.arange(40)[::-1] * 3 + 10**12,
]
SCALES = [0.11, 0.9, 4.0, 33.3, 1e6, 2.0**47]


def fit(draws: IntArray, costs: IntArray, scale: Scale) -> float:
    """The p-value of a chi-square test of the indices that were drawn."""
    return chi_square(np.bincount(draws, minlength=len(costs)), np.array(choice_law(costs, float(scale)), dtype=float))


def drawn(entropy: Entropy, scale: Scale, costs: IntArray, count: int) -> IntArray:
    return np.array([exponential_choice(entropy, scale, costs) for _ in range(count)])


# -- the law of one choice --


@pytest.mark.slow
@pytest.mark.parametrize("costs", COSTS, ids=len)
@pytest.mark.parametrize("scale", SCALES)
def test_an_index_is_drawn_by_its_exact_probability(costs, scale, entropy) -> None:
    exact = Scale.at_least(scale)
    assert fit(drawn(entropy, exact, costs, 1_500), costs, exact) > FALSE_ALARM


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("quotients", [0, 0.4, 1.0, 2.7, 11.0])
def test_a_gap_is_kept_with_its_exact_probability(scale, quotients, entropy) -> None:
    exact = Scale.at_least(scale)
    gap = round(quotients * scale)
    kept = _samplers._keep(_samplers._Draws(entropy), np.full(50_000, gap), exact)
    probability = float(mpmath.exp(-mpmath.mpf(gap) / mpmath.mpf(float(exact))))
    assert stats.binomtest(int(kept.sum()), len(kept), probability).pvalue > FALSE_ALARM


RARE_WAYS = {
    "words of one bit": {"_Draws": partial(_samplers._Draws, bits=1), "FEWEST_PROPOSALS": 8},
    "words of a byte": {"_Draws": partial(_samplers._Draws, bits=8), "FEWEST_PROPOSALS": 8},
    "gaps too large for a word": {"LARGEST_QUOTIENT": 0},  # every gap above one scale now takes the long way
}


@pytest.mark.parametrize("way", RARE_WAYS)
def test_rare_ways_do_not_change_the_law(way, entropy, monkeypatch) -> None:
    for name, value in RARE_WAYS[way].items():
        monkeypatch.setattr(_samplers, name, value)
    for scale in (0.6, 2.5):
        exact = Scale.at_least(scale)
        assert fit(drawn(entropy, exact, COSTS[2], 1_000), COSTS[2], exact) > FALSE_ALARM


def test_what_all_costs_share_changes_nothing(seed) -> None:
    first, second = (drawn(Entropy(seed), Scale.at_least(2.0), COSTS[2] + shift, 50) for shift in (0, -(10**15)))
    assert np.array_equal(first, second)


# -- what it costs --


@st.composite
def neighbouring_costs(draw):
    """Costs of two tables that differ by moves of a stated span."""
    costs = draw(st.lists(st.integers(-50, 50), min_size=1, max_size=8))
    span = draw(st.integers(1, 30))
    base = draw(st.integers(-40, 40))
    moves = draw(st.lists(st.integers(0, span), min_size=len(costs), max_size=len(costs)))
    return costs, [cost + base + move for cost, move in zip(costs, moves, strict=True)], span


def choice(cost: Cost, span: float = 1.0, *, relation: Relation = Relation.ADD_REMOVE, size: int = 4) -> Event:
    return price(cost, question_name="swaps", size=size, span=span, unit=0.5, relation=relation, seeded=False)


@given(pair=neighbouring_costs(), epsilon=st.floats(0.01, 10.0))
def test_no_neighbour_changes_a_probability_by_more_than_was_paid(pair, epsilon) -> None:
    left, right, span = pair
    event = choice(PureDP(epsilon), span, size=len(left))
    for here, there in zip(choice_law(left, event.scale), choice_law(right, event.scale), strict=True):
        assert abs(mpmath.log(here) - mpmath.log(there)) <= event.cost.epsilon * (1 + 1e-12)


def test_the_price_is_attained() -> None:
    # One cost moves by the span, the others stay, and are so many that they decide the sum.
    event = choice(PureDP(1.0), 10.0)
    left, right = [0] * 2_000, [10] + [0] * 1_999
    ratio = mpmath.log(choice_law(left, event.scale)[0] / choice_law(right, event.scale)[0])
    assert 0.999 * event.cost.epsilon < ratio <= event.cost.epsilon


@pytest.mark.parametrize("epsilon", [1e-3, 0.3, 1.0, 50.0])
@pytest.mark.parametrize("span", [1.0, 3.0, 2.0**22])
def test_a_choice_spends_what_it_is_given_and_no_more(epsilon, span) -> None:
    event = choice(PureDP(epsilon), span)
    assert isinstance(event.cost, PureDP)
    assert epsilon * (1 - 1e-6) <= event.cost.epsilon <= epsilon
    assert event.sensitivity == span
    assert 0.999 * epsilon < Tally.of([choice(GDP(epsilon), span).cost]).all_mu <= epsilon  # of a Gaussian budget the pure part


@pytest.mark.parametrize("guarantee", [PureDP(0.7), ApproxDP(0.7, 1e-6), ApproxDP(0.7, 0.0), ZCDP(0.2), GDP(1.3), GDP(0.01)])
def test_the_pure_budget_implies_the_guarantee_and_hardly_more(guarantee: Guarantee) -> None:
    most = guarantee.pure_budget()
    assert Tally.of([most]).fits(guarantee)
    # Without delta, which a pure mechanism cannot use by itself.
    without = PureDP(guarantee.epsilon) if isinstance(guarantee, ApproxDP) else guarantee
    assert not Tally.of([PureDP(most.epsilon * 1.001)]).fits(without)


@pytest.mark.parametrize("mu", np.geomspace(1e-6, 1e3, 30))
def test_the_largest_pure_epsilon_is_the_inverse_of_the_smallest_mu(mu) -> None:
    epsilon = GDP(mu).pure_budget().epsilon
    assert pure_mu(epsilon) <= mu < pure_mu(epsilon * (1 + 1e-6))


def test_the_deviation_is_that_of_the_gumbel_noise_behind_a_choice() -> None:
    event = choice(PureDP(0.5), 3.0)
    assert event.standard_deviation == pytest.approx(stats.gumbel_r.std() * event.scale * 0.5)


# -- the books --


noise = partial(paid, size=4, seeded=False)


def test_noise_and_choices_are_not_mistaken_for_each_other(entropy) -> None:
    with pytest.raises(LedgerError, match=r"Event\.draw: a choice adds no noise"):
        choice(PureDP(1.0)).draw(entropy)
    for cost in (PureDP(1.0), GDP(1.0)):
        with pytest.raises(LedgerError, match=r"Event\.choose: this event was paid for noise"):
            noise(cost).choose(entropy, COSTS[2])
    with pytest.raises(LedgerError, match=r"Event.quantile: a choice adds no noise to numbers"):
        choice(PureDP(1.0)).quantile(0.9)


def test_choices_add_their_epsilons_to_those_of_other_events() -> None:
    pure = Tally.of([choice(PureDP(0.3)).cost, noise(PureDP(0.2)).cost])
    assert pure.epsilon_sum == pytest.approx(0.5, rel=1e-6)
    gaussian = GDP(0.2)
    mixed = pure + Tally.of([gaussian])
    whole = GDP(math.sqrt(0.2**2 + sum(pure_mu(one) ** 2 for one in (0.3, 0.2))))
    assert mixed.epsilon_at(1e-6) == pytest.approx(Tally.of([whole]).epsilon_at(1e-6), rel=1e-6)
    assert not mixed.fits(PureDP(100.0))


# -- the vault --

NEAR, FAR = np.array([[0.5, 0.0], [0.0, 0.5]]), np.array([[-0.5, 0.0], [0.0, -0.5]])


def test_the_vault_tells_where_a_low_cost_stands_and_nothing_else(generator) -> None:
    rows = NEAR[generator.integers(2, size=400)] + 0.01 * generator.normal(size=(400, 2))
    vault, ledger = open_vault(rows, budget=PureDP(200.0))
    answer = vault.ask(SetCosts(sets=np.stack([FAR, NEAR]), cap=0.5), PureDP(100.0))
    assert answer.value.shape == (1,)
    assert answer.index == (1,)
    swaps = SwapCosts(centers=np.vstack([NEAR[:1], FAR[:1]]), candidates=np.vstack([NEAR, FAR]), cap=0.5)
    assert vault.ask(swaps, PureDP(100.0)).index == (1, 1)
    assert [(event.mechanism, event.question_name, event.size) for event in ledger.events] == [
        ("exponential", "set_costs", 2),
        ("exponential", "swap_costs", 8),
    ]


def test_choices_and_counts_may_be_asked_in_one_pass(generator) -> None:
    rows = NEAR[generator.integers(2, size=400)]
    vault, ledger = open_vault(rows, budget=PureDP(150.0))
    questions = [SetCosts(sets=np.stack([FAR, NEAR]), cap=0.5), NearestCounts(points=NEAR)]
    chosen, counts = vault.ask(questions, [PureDP(100.0), PureDP(50.0)])
    assert chosen.index == (1,)
    assert counts.value.sum() == pytest.approx(400, abs=5)
    assert [event.mechanism for event in ledger.events] == ["exponential", "discrete_laplace"]


@pytest.mark.parametrize(("relation", "factor"), [(Relation.ADD_REMOVE, 1.0), (Relation.REPLACE, 2.0)])
def test_the_relation_decides_the_span(relation, factor) -> None:
    vault, ledger = open_vault(NEAR, budget=PureDP(1.0), relation=relation)
    question = SetCosts(sets=NEAR[None], cap=0.25)
    vault.ask(question, PureDP(1.0))
    assert ledger.events[0].sensitivity * ledger.events[0].unit == pytest.approx(0.25 * factor)
