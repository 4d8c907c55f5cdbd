# SPDX-License-Identifier: Apache-2.0
"""Large samples of the noise against exact probabilities and against OpenDP; every test has a false-alarm rate of 1e-6."""

import math
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy import stats
from tests.optional import Lazy

from cloister.columns import IntArray
from cloister.privacy import Entropy, Scale, _samplers, discrete_laplace, rounded_gaussian

pytestmark = pytest.mark.slow

dp = Lazy("opendp.prelude")
FALSE_ALARM = 1e-6
MANY = 4_000_000


def tail_cut(draws: IntArray, reach: int) -> np.ndarray:
    """Count the values from -reach to reach; what lies beyond joins the outermost."""
    return np.bincount(np.clip(draws, -reach, reach) + reach, minlength=2 * reach + 1).astype(float)


@pytest.mark.parametrize(("sigma", "reach"), [(0.1, 1), (0.3, 1), (1.0, 4), (2.7, 11), (50.0, 200), (1000.0, 4000)])
def test_the_gaussian_value_by_value(sigma: float, reach: int, seed: int) -> None:
    edges = (np.arange(-reach, reach + 2) - 0.5) / float(Scale.at_least(sigma))
    below = stats.norm.cdf(edges)
    below[0], below[-1] = 0.0, 1.0
    expected = np.diff(below)
    expected[reach + 1 :] = expected[:reach][::-1]  # the upper half from the lower: no digits lost
    counts = tail_cut(rounded_gaussian(Entropy(seed), Scale.at_least(sigma), MANY), reach)
    rare = expected * MANY < 10
    if rare.any():  # sigma = 0.1: about one draw in two million is not zero
        assert stats.binomtest(int(counts[rare].sum()), MANY, float(expected[rare].sum())).pvalue > FALSE_ALARM
        return
    assert stats.chisquare(counts, expected / expected.sum() * MANY).pvalue > FALSE_ALARM


@pytest.mark.parametrize(("scale", "reach"), [(0.2, 2), (1.0, 11), (3.3, 35), (40.0, 350)])
def test_the_laplace_value_by_value(scale: float, reach: int, seed: int) -> None:
    exact = float(Scale.at_least(scale))
    expected = math.tanh(0.5 / exact) * np.exp(-np.abs(np.arange(-reach, reach + 1)) / exact)
    expected[[0, -1]] /= -math.expm1(-1 / exact)  # with all that lies beyond
    counts = tail_cut(discrete_laplace(Entropy(seed), Scale.at_least(scale), MANY), reach)
    assert stats.chisquare(counts, expected / expected.sum() * MANY).pvalue > FALSE_ALARM


@pytest.mark.parametrize("sigma", [1e3, 1e9, 2.0**45])
def test_the_tails_of_a_wide_gaussian(sigma: float, seed: int) -> None:
    sizes = np.abs(rounded_gaussian(Entropy(seed), Scale.at_least(sigma), MANY)) / sigma
    for reach in (2.0, 3.0, 4.0):
        beyond = int(np.count_nonzero(sizes > reach))
        assert stats.binomtest(beyond, MANY, 2 * stats.norm.sf(reach + (0.5 / sigma))).pvalue > FALSE_ALARM


@pytest.mark.parametrize("words", [2, 3])
def test_the_words_of_a_seed_are_uniform_and_independent(words: int, seed: int) -> None:
    bits = 16 // words
    stream = Entropy(seed).words(MANY - MANY % words).reshape(-1, words) >> np.uint64(64 - bits)
    joint = np.zeros(len(stream), dtype=np.int64)
    for column in stream.T:
        joint = (joint << bits) | column.astype(np.int64)
    assert stats.chisquare(np.bincount(joint, minlength=1 << (bits * words))).pvalue > FALSE_ALARM


@pytest.mark.parametrize("sigma", [1.0, 20.0])
def test_words_of_one_bit_do_not_change_the_gaussian(sigma: float, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # Every comparison is a tie half of the time, so all digits but the first come from the paths that 64 bits hardly ever take.
    monkeypatch.setattr(_samplers, "_Draws", partial(_samplers._Draws, bits=1))
    size, reach = 120_000, int(3 * sigma)
    edges = (np.arange(-reach, reach + 2) - 0.5) / sigma
    expected = np.diff(np.concatenate([[0.0], stats.norm.cdf(edges[1:-1]), [1.0]]))
    counts = tail_cut(rounded_gaussian(Entropy(seed), Scale.at_least(sigma), size), reach)
    assert stats.chisquare(counts, expected * size).pvalue > FALSE_ALARM


# -- a second source --


@pytest.fixture(scope="module")
def opendp_space() -> tuple[Any, type]:
    dp.enable_features("contrib")
    return dp.vector_domain(dp.atom_domain(T=int)), int


def same_law(ours: IntArray, theirs: IntArray) -> float:
    """Return the p-value of a two-sample chi-square test in bins of equal mass."""
    edges = np.unique(np.quantile(np.concatenate([ours, theirs]), np.linspace(0, 1, 60)).astype(int))[1:-1]
    table = [np.bincount(np.searchsorted(edges, one), minlength=len(edges) + 1) for one in (ours, theirs)]
    return float(stats.chi2_contingency(np.array(table)).pvalue)


@pytest.mark.parametrize("scale", [0.5, 3.3, 40.0])
def test_opendp_draws_the_same_laplace(scale: float, opendp_space, seed: int) -> None:
    size = 100_000
    theirs = np.array(dp.m.make_laplace(opendp_space[0], dp.l1_distance(T=int), scale)([0] * size))
    ours = discrete_laplace(Entropy(seed), Scale.at_least(scale), size)
    assert same_law(ours, theirs) > FALSE_ALARM


@pytest.mark.parametrize("sigma", [20.0, 1e4])
def test_opendp_draws_the_same_gaussian_where_the_two_agree(sigma: float, opendp_space, seed: int) -> None:
    # OpenDP draws the discrete Gaussian, we a rounded one: their variances differ by 1/12 in sigma^2 = 400, which so
    # many draws cannot see (a fifth of a standard error).
    size = 100_000
    theirs = np.array(dp.m.make_gaussian(opendp_space[0], dp.l2_distance(T=float), sigma)([0] * size))
    ours = rounded_gaussian(Entropy(seed), Scale.at_least(sigma), size)
    assert same_law(ours, theirs) > FALSE_ALARM


def test_the_comparison_sees_a_difference(seed: int) -> None:
    ours = rounded_gaussian(Entropy(seed), Scale.at_least(20.0), 100_000)
    wider = rounded_gaussian(Entropy(seed + 1), Scale.at_least(21.0), 100_000)
    assert same_law(ours, wider) < FALSE_ALARM
