# SPDX-License-Identifier: Apache-2.0
"""The words of a seed, and the noise against a second source, OpenDP; every test has a false-alarm rate of 1e-6."""

from typing import Any

import numpy as np
import pytest
from scipy import stats
from tests.optional import Lazy

from cloister.columns import IntArray
from cloister.privacy import Entropy, Scale, discrete_laplace, rounded_gaussian

pytestmark = pytest.mark.slow

dp = Lazy("opendp.prelude")
FALSE_ALARM = 1e-6
MANY = 4_000_000


@pytest.mark.parametrize("words", [2, 3])
def test_the_words_of_a_seed_are_uniform_and_independent(words: int, seed: int) -> None:
    bits = 16 // words
    stream = Entropy(seed).words(MANY - MANY % words).reshape(-1, words) >> np.uint64(64 - bits)
    joint = np.zeros(len(stream), dtype=np.int64)
    for column in stream.T:
        joint = (joint << bits) | column.astype(np.int64)
    assert stats.chisquare(np.bincount(joint, minlength=1 << (bits * words))).pvalue > FALSE_ALARM


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


@pytest.mark.parametrize("scale", [0.5, 40.0])
def test_opendp_draws_the_same_laplace(scale: float, opendp_space, seed: int) -> None:
    size = 100_000
    theirs = np.array(dp.m.make_laplace(opendp_space[0], dp.l1_distance(T=int), scale)([0] * size))
    ours = discrete_laplace(Entropy(seed), Scale.at_least(scale), size)
    assert same_law(ours, theirs) > FALSE_ALARM


def test_opendp_draws_the_same_gaussian_where_the_two_agree(opendp_space, seed: int) -> None:
    # OpenDP draws the discrete Gaussian, we a rounded one: their variances differ by 1/12 in sigma^2 = 400, which so
    # many draws cannot see (a fifth of a standard error).
    size, sigma = 100_000, 20.0
    theirs = np.array(dp.m.make_gaussian(opendp_space[0], dp.l2_distance(T=float), sigma)([0] * size))
    ours = rounded_gaussian(Entropy(seed), Scale.at_least(sigma), size)
    assert same_law(ours, theirs) > FALSE_ALARM


def test_the_comparison_sees_a_difference(seed: int) -> None:
    ours = rounded_gaussian(Entropy(seed), Scale.at_least(20.0), 100_000)
    wider = rounded_gaussian(Entropy(seed + 1), Scale.at_least(21.0), 100_000)
    assert same_law(ours, wider) < FALSE_ALARM
