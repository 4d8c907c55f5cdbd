# SPDX-License-Identifier: Apache-2.0
"""Exact probabilities of the noise, and a goodness-of-fit test."""

from collections.abc import Callable, Sequence

import mpmath
import numpy as np
from scipy import stats

from cloister.columns import FloatArray, IntArray

Law = Callable[[IntArray], FloatArray]
LEAST = 10  # times that an outcome is expected; rarer ones are taken together


def rounded_gaussian_law(sigma: float) -> Law:
    """P(round(N(0, sigma^2)) = y), taken from the upper tail, where no digits are lost."""

    def probability(values: IntArray) -> FloatArray:
        size = np.abs(values).astype(float)
        return np.asarray(stats.norm.sf((size - 0.5) / sigma) - stats.norm.sf((size + 0.5) / sigma))

    return probability


def discrete_laplace_law(scale: float) -> Law:
    """P(y) = tanh(1 / (2 scale)) exp(-|y| / scale)."""
    return lambda values: np.asarray(np.tanh(0.5 / scale) * np.exp(-np.abs(values) / scale))


def choice_law(costs: Sequence[int] | IntArray, scale: float) -> list[mpmath.mpf]:
    """Return the exact probabilities of a choice, in 60 digits."""
    with mpmath.workdps(60):
        weights = [mpmath.exp(-mpmath.mpf(int(cost) - int(min(costs))) / mpmath.mpf(scale)) for cost in costs]
        total = mpmath.fsum(weights)
        return [weight / total for weight in weights]


def fit_of(draws: IntArray, law: Law) -> float:
    """Return the p-value of draws of whole numbers, value by value."""
    reach = int(np.abs(draws).max()) + 1
    return chi_square(np.bincount(draws + reach, minlength=2 * reach + 1), law(np.arange(-reach, reach + 1)))


def chi_square(observed: IntArray, chances: FloatArray) -> float:
    """Return the p-value of counts of outcomes; rare ones, and those that are not listed, are one outcome."""
    expected = chances * observed.sum()
    often = expected >= LEAST
    rest, rare = float(observed.sum() - expected[often].sum()), int(observed[~often].sum())
    found, wanted = observed[often].astype(float), expected[often]
    if rest >= LEAST:
        found, wanted, unusual = np.append(found, rare), np.append(wanted, rest), 1.0
    else:  # too rare for the approximation
        unusual = float(stats.poisson.sf(rare - 1, max(rest, 1e-12 * observed.sum())))
    if len(wanted) < 2:
        return unusual
    return min(unusual, float(stats.chi2.sf(np.sum((found - wanted) ** 2 / wanted), max(1, len(wanted) - (rest >= LEAST)))))
