# SPDX-License-Identifier: Apache-2.0
"""Analysts who let each answer decide what they ask next, and with which noise: together their fits stay within the budget.

The strongest analyst is found by dynamic programming. Under the first of two neighbouring tables the privacy loss L of all
answers has a distribution, and delta is the mean of max(0, 1 - exp(epsilon - L)). A Gaussian fit adds N(mu^2 / 2, mu^2) to
L; a pure one, at worst randomised response, adds plus or minus its epsilon. At every point the analyst takes what makes the
mean largest among what the rule under attack still allows.

Adding the epsilon of the Gaussian fits so far to those of the pure ones is a rule that this analyst breaks; it is kept here
to show that the attack finds what it is meant to find.
"""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import ndtr

from cloister.columns import FloatArray
from cloister.privacy import GDP, ApproxDP, Composition, Cost, PureDP, Tally

Rule = Callable[[Tally], bool]  # whether so much may be spent
BUDGETS = [ApproxDP(1.0, 1e-6), ApproxDP(1.0, 0.01), ApproxDP(0.25, 1e-9), ApproxDP(4.0, 1e-3)]
SET_ASIDE = [0.0, 0.1, 0.5, 0.9]  # of epsilon, for pure fits
STEPS = 4001  # of the loss, where it is put on a grid


def rule_of(budget: ApproxDP, set_aside: float) -> Rule:
    composition = Composition(pure_epsilon=set_aside * budget.epsilon)
    return lambda tally: tally.fits(budget, composition=composition)


def false_rule(budget: ApproxDP) -> Rule:
    def fits(tally: Tally) -> bool:
        gaussian = Tally(tally.mu_squared).epsilon_at(budget.delta) if tally.mu_squared else 0.0
        return gaussian + tally.epsilon_sum <= budget.epsilon

    return fits


def largest(rule: Rule, spent: Tally, kind: type[Cost], high: float) -> float:
    """Return the largest further cost that the rule allows; `high` is more than it can."""
    low = 0.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if rule(spent + Tally.of([kind(middle)])) else (low, middle)
    return low


def stop(loss: FloatArray, epsilon: float) -> FloatArray:
    """What an analyst has gained who asks nothing more."""
    return np.maximum(0.0, -np.expm1(np.minimum(epsilon - loss, 0.0)))


def ask_pure(loss: FloatArray, epsilon: float, cost: float) -> FloatArray:
    """What one more pure fit gains, on average."""
    likely = 1 / (1 + math.exp(-cost))
    return likely * stop(loss + cost, epsilon) + (1 - likely) * stop(loss - cost, epsilon)


def ask_gaussian(loss: FloatArray, epsilon: float, mu: float) -> FloatArray:
    """What one more Gaussian fit gains, on average: its exact profile, at what is left of epsilon."""
    rest = epsilon - loss
    if mu == 0.0:
        return stop(loss, epsilon)
    return np.maximum(0.0, ndtr(-rest / mu + mu / 2) - np.exp(rest) * ndtr(-rest / mu - mu / 2))


def best_last_fit(loss: FloatArray, budget: ApproxDP, rule: Rule, spent: Tally) -> FloatArray:
    """What the better of a Gaussian and a pure fit gains that each take all the rule still allows."""
    high = budget.gaussian_budget().mu * 1.01
    gains = [ask_gaussian(loss, budget.epsilon, largest(rule, spent, GDP, high))]
    gains.append(ask_pure(loss, budget.epsilon, largest(rule, spent, PureDP, 1.01 * budget.epsilon)))
    return np.maximum.reduce(gains)


def delta_of_two(budget: ApproxDP, rule: Rule) -> float:
    """The largest delta over analysts of two fits: the first of either kind and of many sizes, the second by its answer."""
    most = largest(rule, Tally(), GDP, budget.gaussian_budget().mu * 1.01)
    found = [0.0]
    for part in np.linspace(0.05, 0.999, 20):
        mu = part * most
        noise = np.linspace(-9, 9, STEPS)  # beyond, the density is below 1e-17
        loss = mu * noise + mu**2 / 2
        gain = best_last_fit(loss, budget, rule, Tally.of([GDP(mu)]))
        found.append(float(np.sum(gain * np.exp(-(noise**2) / 2)) / math.sqrt(2 * math.pi) * (noise[1] - noise[0])))
        pure = part * largest(rule, Tally(), PureDP, 1.01 * budget.epsilon)
        likely = 1 / (1 + math.exp(-pure))
        gain = best_last_fit(np.array([pure, -pure]), budget, rule, Tally.of([PureDP(pure)]))
        found.append(float(likely * gain[0] + (1 - likely) * gain[1]))
    return max(found)


def delta_of_many(budget: ApproxDP, rule: Rule, n_fits: int) -> float:
    """The delta of an analyst who asks up to `n_fits - 1` equal Gaussian fits, and at any point turns to a last pure one."""
    most = largest(rule, Tally(), GDP, budget.gaussian_budget().mu * 1.01)
    mu = most * (1 - 1e-9) / math.sqrt(n_fits - 1)
    step = mu / 8
    reach = 9 * most + most**2
    loss = np.arange(-math.ceil(reach / step), math.ceil(reach / step) + 1) * step
    jump = np.arange(-80, 81) * step  # ten deviations
    weights = np.exp(-((jump - mu**2 / 2) ** 2) / (2 * mu**2))
    weights /= weights.sum()
    value = stop(loss, budget.epsilon)
    for done in reversed(range(n_fits)):
        spent = Tally(done * mu**2)
        pure = largest(rule, spent, PureDP, 1.01 * budget.epsilon)
        now = np.maximum(stop(loss, budget.epsilon), ask_pure(loss, budget.epsilon, pure))
        if done < n_fits - 1:  # outside the grid the loss hardly ever is; above it, it gains 1 at most
            padded = np.concatenate([np.zeros(80), value, np.ones(80)])
            now = np.maximum(now, np.correlate(padded, weights, mode="valid"))
        value = now
    return float(value[len(value) // 2])


@pytest.mark.fast("epsilon = 1, delta = 1e-06-*", "epsilon = 4, delta = 0.001-0.9")
@pytest.mark.parametrize("set_aside", SET_ASIDE)
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_two_fits_of_which_one_chooses_the_other_keep_the_promise(budget: ApproxDP, set_aside: float) -> None:
    assert delta_of_two(budget, rule_of(budget, set_aside)) <= budget.delta * (1 + 1e-6)


@pytest.mark.fast("epsilon = 1, delta = 1e-06-*", "epsilon = 4, delta = 0.001-0.9")
@pytest.mark.parametrize("set_aside", SET_ASIDE)
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_fifty_one_fits_keep_the_promise(budget: ApproxDP, set_aside: float) -> None:
    # The sum over a grid of an eighth of a deviation of a smooth integrand is good to far more than one part in a thousand.
    assert delta_of_many(budget, rule_of(budget, set_aside), 51) <= budget.delta * (1 + 1e-3)


@pytest.mark.parametrize(("budget", "two", "many"), [(ApproxDP(1.0, 0.01), 1.3, 1.9), (ApproxDP(1.0, 1e-6), 1.5, 5.0)], ids=str)
def test_the_attack_breaks_the_rule_that_adds_epsilons(budget: ApproxDP, two: float, many: float) -> None:
    assert delta_of_two(budget, false_rule(budget)) > two * budget.delta
    assert delta_of_many(budget, false_rule(budget), 51) > many * budget.delta


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_the_attack_finds_all_of_a_budget_that_is_spent_without_choosing(budget: ApproxDP) -> None:
    assert delta_of_many(budget, rule_of(budget, 0.0), 51) >= budget.delta * (1 - 1e-2)
