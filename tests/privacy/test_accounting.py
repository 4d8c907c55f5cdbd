# SPDX-License-Identifier: Apache-2.0
"""Events cost what the theorem says, costs add up as the theorems say, and what is left is what still fits."""

import itertools
import json
import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution
from hypothesis import given
from hypothesis import strategies as st

from cloister.columns import Relation
from cloister.exceptions import LedgerError, ParameterError
from cloister.privacy import GDP, ZCDP, ApproxDP, Composition, Cost, Guarantee, PureDP, Tally, event_from_line, left_of, price

from ._paid import event

PLANNED = Composition(planned=True)
BUDGETS = [PureDP(1.0), ApproxDP(1.0, 0.0), ApproxDP(1.0, 1e-6), ZCDP(0.1), GDP(0.5)]
gaussians = st.builds(GDP, st.floats(1e-4, 10.0))
pures = st.builds(PureDP, st.floats(1e-4, 10.0))
costs = gaussians | pures


ask_for = partial(event, l1=2.0, l2=math.sqrt(2), size=3, relation=Relation.REPLACE)


# -- events --


@given(costs, st.floats(1.0, 1e6), st.floats(1.0, 1e6))  # answers are integers: they move by at least 1
def test_an_event_costs_no_more_than_was_offered_and_wastes_nothing(cost: Cost, l1: float, l2: float) -> None:
    paid = ask_for(cost, l1=l1, l2=l2).cost
    assert type(paid) is type(cost)
    assert cost.strength * (1 - 1e-6) <= paid.strength <= cost.strength * (1 + 1e-15)


def test_a_gaussian_answers_to_l2_and_a_laplace_to_l1() -> None:
    assert ask_for(GDP(0.5), l1=7.0, l2=3.0).scale == pytest.approx(6.0)
    assert ask_for(PureDP(0.5), l1=7.0, l2=3.0).scale == pytest.approx(14.0)
    assert ask_for(GDP(0.5), l1=7.0, l2=3.0).sensitivity == 3.0
    assert ask_for(PureDP(0.5), l1=7.0, l2=3.0).sensitivity == 7.0


@pytest.mark.parametrize("sensitivity", [0.0, -1.0, math.nan])
def test_no_event_is_free(sensitivity: float) -> None:
    with pytest.raises(ParameterError, match=r"noise.scale: expected a finite number above 0"):
        ask_for(GDP(1.0), l2=sensitivity)


def test_the_deviation_is_in_the_questions_own_unit() -> None:
    paid = event(PureDP(1.0), l1=3.0, unit=0.25)
    places = np.arange(-400, 401)
    chances = np.exp(-np.abs(places) / 3)
    assert paid.standard_deviation == pytest.approx(0.25 * math.sqrt(np.sum(places**2 * chances) / np.sum(chances)))


@given(costs)
def test_an_event_survives_its_line(cost: Cost) -> None:
    about = {"question_name": "swaps", "size": 4, "unit": 0.5, "relation": Relation.REPLACE, "seeded": False}
    for paid in (replace(ask_for(cost), when="2026-01-31"), price(cost, span=3.0, **about)):
        line = json.loads(json.dumps(paid.to_line()))
        later = {**line, "colour": "blue"}  # a later version may have more fields
        assert event_from_line(line) == paid == event_from_line(later)


@pytest.mark.parametrize("change", [{"event": "staircase"}, {"v": 2}, {"event": None}, {"scale": None}, {"scale": 0}, {}])
def test_an_event_that_cannot_be_read_is_refused(change: dict[str, object]) -> None:
    line = {**ask_for(GDP(1.0)).to_line(), **change}
    if not change:
        del line["scale"]
    with pytest.raises(
        LedgerError, match=r"cannot read an event .* Upgrade cloister|no usable 'scale'|lacks some of its fields"
    ):
        event_from_line(line)


def test_an_event_nobody_can_price_is_not_made() -> None:
    with pytest.raises(LedgerError, match="expected one of rounded_gaussian, discrete_laplace, exponential, got 'uniform'"):
        replace(ask_for(GDP(1.0)), mechanism="uniform")


# -- composition --


@given(st.integers(1, 300), st.floats(1e-3, 1.0))
def test_n_asks_cost_the_n_fold_event(times: int, size: float) -> None:
    gaussian, pure = Tally.of([GDP(size)] * times), Tally.of([PureDP(size)] * times)
    assert gaussian.all_mu == pytest.approx(size * math.sqrt(times))
    assert gaussian.rho == pytest.approx(times * size**2 / 2)
    assert pure.epsilon_sum == pytest.approx(times * size)
    assert pure.rho == pytest.approx(times * size**2 / 2)
    assert pure.all_mu >= pure.epsilon_sum / math.sqrt(times)


@given(st.lists(costs, max_size=12), st.randoms(use_true_random=False), st.integers(0, 12))
def test_order_and_grouping_do_not_matter(spent: list[Cost], random, cut: int) -> None:
    mixed = spent.copy()
    random.shuffle(mixed)
    whole, parts = Tally.of(spent), Tally.of(mixed[:cut]) + Tally.of(mixed[cut:])
    assert whole.pure == parts.pure
    assert whole.rho == pytest.approx(parts.rho)
    assert whole.all_mu == pytest.approx(parts.all_mu)


@pytest.mark.parametrize("budget", [PureDP(3.0), ApproxDP(3.0, 1e-5), ZCDP(1.0), GDP(1.5)])
@given(spent=st.lists(gaussians, max_size=5), more=gaussians)
def test_once_it_does_not_fit_more_never_fits(budget: Guarantee, spent: list[Cost], more: Cost) -> None:
    assert Tally.of(spent).fits(budget) or not Tally.of([*spent, more]).fits(budget)


@pytest.mark.parametrize("more", [PureDP(0.05), GDP(0.05)])
def test_mixed_costs_are_monotone(more: Cost) -> None:
    spent, deltas = [PureDP(0.3), GDP(0.2)], []
    for _ in range(4):
        spent = [*spent, more]
        deltas.append(Tally.of(spent).delta_at(1.0))
    assert deltas == sorted(deltas)


def exact_mixed_delta(mu: float, pure: list[float], epsilon: float) -> float:
    """The hockey-stick divergence of randomised responses times a Gaussian, by summing over all their answers."""
    total = 0.0
    for signs in itertools.product([1, -1], repeat=len(pure)):
        loss = sum(sign * one for sign, one in zip(signs, pure, strict=True))
        weight = math.prod(1 / (1 + math.exp(-sign * one)) for sign, one in zip(signs, pure, strict=True))
        total += weight * GDP(mu).delta_at(epsilon - loss)
    return total


@pytest.mark.fast("0.5-0.3-pure0", "1.0-0.01-pure3", "4.0-3.0-pure4")
@pytest.mark.parametrize(
    ("mu", "pure"), [(0.3, [0.2]), (0.2, [0.1, 0.1, 0.1]), (1.0, [0.5, 0.05]), (0.01, [0.31, 0.7]), (3.0, [2.0, 5.0])]
)
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_a_mixed_ledger_costs_what_it_costs_and_never_less(mu: float, pure: list[float], epsilon: float) -> None:
    tally = Tally.of([GDP(mu), *map(PureDP, pure)])
    exact, claimed = exact_mixed_delta(mu, pure, epsilon), tally.delta_at(epsilon, composition=PLANNED)
    assert claimed >= exact * (1 - 1e-9) - 1e-14
    assert tally.delta_at(epsilon) >= exact * (1 - 1e-9) - 1e-14  # costs chosen on the way can only be dearer
    wider = exact_mixed_delta(mu, pure, epsilon - 2e-3)  # losses are rounded up to a grid, by less than this in all
    assert claimed <= wider * (1 + 1e-6) + 1e-13


@pytest.mark.slow
@pytest.mark.parametrize("mu", [0.1, 0.5, 2.0])
def test_the_composition_is_never_below_the_exact_gaussian(mu: float) -> None:
    direct = privacy_loss_distribution.from_gaussian_mechanism(1 / mu, value_discretization_interval=1e-4)
    with_crumb = Tally.of([GDP(mu), PureDP(1e-6)])
    for epsilon in (0.1, 1.0, 3.0):
        exact = Tally.of([GDP(mu)]).delta_at(epsilon)
        assert exact <= direct.get_delta_for_epsilon(epsilon) * (1 + 1e-9) + 1e-14
        assert exact <= with_crumb.delta_at(epsilon) * (1 + 1e-9) + 1e-14
        assert exact <= with_crumb.delta_at(epsilon, composition=PLANNED) * (1 + 1e-9) + 1e-14


def test_many_pure_events_cost_less_than_their_sum_where_delta_allows() -> None:
    tally = Tally.of([PureDP(0.02)] * 100)
    assert tally.epsilon_at(0.0) == pytest.approx(2.0)
    assert tally.epsilon_at(1e-6) == pytest.approx(Tally.of([GDP(tally.all_mu)]).epsilon_at(1e-6))
    assert tally.epsilon_at(1e-6, composition=PLANNED) < tally.epsilon_at(1e-6) < 1.1
    assert tally.fits(ApproxDP(1.1, 1e-6), composition=PLANNED)
    assert tally.fits(ApproxDP(1.1, 1e-6))
    assert not tally.fits(ApproxDP(1.1, 0.0), composition=PLANNED)
    assert not tally.fits(PureDP(1.1))


@pytest.mark.parametrize("delta", [1e-9, 1e-3])
def test_pure_events_never_cost_more_than_their_sum(delta: float) -> None:
    assert Tally.of([PureDP(0.1), PureDP(0.33333)]).epsilon_at(delta) <= 0.43333 * (1 + 1e-12)


def test_a_part_that_is_set_aside_adds_its_epsilons() -> None:
    tally, split = Tally.of([GDP(0.3), GDP(0.4), PureDP(0.2), PureDP(0.3)]), Composition(pure_epsilon=0.5)
    assert tally.epsilon_at(1e-6, composition=split) == pytest.approx(Tally.of([GDP(0.5)]).epsilon_at(1e-6) + 0.5)


def test_gaussian_events_never_fit_a_pure_budget() -> None:
    assert not Tally.of([GDP(1e-12)]).fits(PureDP(1e3))
    assert not Tally.of([GDP(1e-12)]).fits(ApproxDP(1e3, 0.0))


def test_nothing_fits_everything() -> None:
    assert Tally().empty
    assert all(Tally().fits(budget) for budget in BUDGETS)
    assert not Tally.of([PureDP(1.0)]).empty
    assert not Tally.of([GDP(1e-3)]).empty


@pytest.mark.parametrize("cost", [ApproxDP(1.0, 1e-6), ZCDP(0.1), 1.0, None])
def test_a_cost_is_gaussian_or_pure(cost: object) -> None:
    with pytest.raises(ParameterError, match="cost: expected GDP or PureDP, got"):
        Tally.of([cost])


@pytest.mark.parametrize("budget", [GDP(0.7), ZCDP(0.3), ApproxDP(2.0, 1e-7), PureDP(1.3)])
@pytest.mark.parametrize("rounds", [1, 3, 7, 100, 999])
def test_equal_shares_of_a_budget_fit_it(budget: Guarantee, rounds: int) -> None:
    whole = budget.noise_budget()
    events = [ask_for(whole.share(1 / rounds)) for _ in range(rounds)]
    assert Tally.of(event.cost for event in events).fits(budget)
    assert not Tally.of(event.cost for event in [*events, ask_for(whole.share(1e-3))]).fits(budget)


# -- what is left --


def with_fit(spent: Tally, budget: Guarantee, amount: float) -> Tally:
    """Return what is spent after one more fit, that asks for `amount` in the budget's currency."""
    return spent + Tally.of([budget.with_strength(amount).noise_budget()])


@pytest.mark.parametrize("budget", [*BUDGETS, ApproxDP(0.01, 1e-9), ApproxDP(50.0, 1e-3), ZCDP(30.0)])
@pytest.mark.parametrize("part", [None, 0.1, 0.5, 0.9])
def test_what_is_left_fits_and_one_percent_more_does_not(budget: Guarantee, part: float | None) -> None:
    spent = Tally() if part is None else with_fit(Tally(), budget, part * budget.strength)
    left = left_of(budget, spent)
    assert 0 < left <= budget.strength * (1 + 1e-8)
    assert with_fit(spent, budget, left).fits(budget)
    assert not with_fit(spent, budget, left * 1.01).fits(budget)


def test_what_is_left_beside_pure_events() -> None:
    budget, spent = ApproxDP(1.0, 1e-6), Tally.of([PureDP(0.1), GDP(0.05)])
    left = left_of(budget, spent)
    assert 0.1 < left < 0.9
    assert with_fit(spent, budget, left).fits(budget)
    assert not with_fit(spent, budget, left * 1.02).fits(budget)


def test_a_large_mixed_budget_is_composed_in_reasonable_time() -> None:
    # A grid of fixed step over losses in the hundreds would take minutes, while the ledger is locked.
    tally = Tally.of([PureDP(20.0), PureDP(10.0), GDP(6.0)])
    assert 30 < tally.epsilon_at(1e-6, composition=PLANNED) < 100
