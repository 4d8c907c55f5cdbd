# SPDX-License-Identifier: Apache-2.0
"""No tail is cut off: noise reaches as far as its law says, however rarely. Each test has a false-alarm rate of 1e-6 or less.

A tail that is missing makes some answers possible for one table only, which no delta that was paid covers. Draws at random show
a Gaussian up to five deviations or so. Beyond, the words that decide the whole part of a deviate are chosen here instead of
drawn, so that every draw lands in the tail; all that follows is left to chance and tested against the law of the tail.
"""

import math

import mpmath
import numpy as np
import pytest
from scipy import stats

from cloister.columns import FloatArray, IntArray
from cloister.privacy import Entropy, Scale, _samplers, discrete_laplace, rounded_gaussian

FALSE_ALARM = 1e-6
GAUSSIAN, LAPLACE = 2, 1  # whole parts k have the weight exp(-k**power / power)


def word_of_whole(power: int, whole: int) -> int:
    """Return a 64-bit word in the middle of those that stand for this whole part: computed here, not read from a table."""
    with mpmath.workdps(60):
        weights = [mpmath.exp(-(mpmath.mpf(k) ** power) / power) for k in range(300)]
        below, here, total = mpmath.fsum(weights[:whole]), weights[whole], mpmath.fsum(weights)
        first, last = (int(mpmath.floor(edge / total * 2**64)) for edge in (below, below + here))
    assert last - first > 2, "no word stands for so large a whole part: more words would have to be chosen"
    return (first + last) // 2


class Loaded(Entropy):
    """Words of a seed, except that the first ones, which decide the whole parts, are all the same chosen word."""

    def __init__(self, seed: int, word: int) -> None:
        super().__init__(seed)
        self._word: int | None = word

    def words(self, count: int) -> np.ndarray:
        word, self._word = self._word, None
        return super().words(count) if word is None else np.full(count, word, dtype=np.uint64)


def beyond(draws: IntArray, scale: Scale, whole: int) -> FloatArray:
    """Return how far the draws lie behind `whole` deviations, of those that do, up to the next."""
    size = np.abs(draws) / float(scale) - whole
    return size[(size >= 0) & (size < 1)]


@pytest.mark.parametrize("value", [100.0, 1e6, 2.0**44])
@pytest.mark.parametrize("whole", [4, 5, 6, 8])
def test_the_gaussian_goes_on_by_its_law(whole: int, value: float, seed: int) -> None:
    scale = Scale.at_least(value)
    draws = rounded_gaussian(Loaded(seed, word_of_whole(GAUSSIAN, whole)), scale, 4_000)
    tail = beyond(draws, scale, whole)
    assert len(tail) > 300  # about one proposal in k + 1 is kept
    law = stats.truncnorm(whole, whole + 1)
    jitter = np.random.default_rng(seed).uniform(-0.5, 0.5, len(tail)) / float(scale)  # undoes rounding
    assert stats.kstest(tail + jitter, lambda x: law.cdf(x + whole)).pvalue > FALSE_ALARM
    signs = int(np.count_nonzero(draws[np.abs(draws) >= whole * float(scale)] > 0))
    assert stats.binomtest(signs, int(np.count_nonzero(np.abs(draws) >= whole * float(scale)))).pvalue > FALSE_ALARM


@pytest.mark.parametrize("value", [100.0, 1e6, 2.0**44])
@pytest.mark.parametrize("whole", [8, 15, 16, 17, 31, 32, 41])
def test_the_laplace_goes_on_by_its_law(whole: int, value: float, seed: int) -> None:
    scale = Scale.at_least(value)
    draws = discrete_laplace(Loaded(seed, word_of_whole(LAPLACE, whole)), scale, 4_000)
    tail = beyond(draws, scale, whole)
    assert len(tail) > 1_000  # about two proposals in three are kept
    law = stats.truncexpon(1.0)
    jitter = np.random.default_rng(seed).uniform(0.0, 1.0, len(tail)) / float(scale)  # undoes the floor
    assert stats.kstest(tail + jitter, law.cdf).pvalue > FALSE_ALARM
    assert stats.binomtest(int(np.count_nonzero(draws > 0)), np.count_nonzero(draws)).pvalue > FALSE_ALARM


@pytest.mark.parametrize("power", [GAUSSIAN, LAPLACE])
def test_beyond_the_last_word_more_words_are_drawn(power: int, seed: int) -> None:
    # The largest word leaves the whole part open. Two more like it mean a number for which 64 bits have no room.
    class Highest(Entropy):
        given = 0

        def words(self, count: int) -> np.ndarray:
            self.given += 1
            return np.full(count, 2**64 - 1, dtype=np.uint64) if self.given <= 3 else super().words(count)

    (whole,) = _samplers._wholes(_samplers._Draws(Highest(seed)), 1, power)
    rarity = 3 * 64 * math.log(2.0)  # k**power / power where so many digits end
    assert (power * rarity) ** (1 / power) - 1 < whole < (power * (rarity + 20)) ** (1 / power)


@pytest.mark.slow
@pytest.mark.parametrize("sigma", [3.0, 1e5])
def test_the_gaussian_has_as_many_far_draws_as_it_should(sigma: float, seed: int) -> None:
    draws, scale = rounded_gaussian(Entropy(seed), Scale.at_least(sigma), 2_000_000), float(Scale.at_least(sigma))
    for reach in (3.0, 4.0, 4.5):  # at 4.5 some 14 are expected: none at all has a probability of 1e-6
        edge = math.ceil(reach * scale)
        expected = len(draws) * 2 * stats.norm.sf((edge - 0.5) / scale)
        found = int(np.count_nonzero(np.abs(draws) >= edge))
        assert min(stats.poisson.cdf(found, expected), stats.poisson.sf(found - 1, expected)) > FALSE_ALARM / 10


@pytest.mark.parametrize("scale", [1, 4, 300_000])
@pytest.mark.parametrize("whole", [1, 15, 16, 30, 42])
def test_a_choice_may_fall_on_a_cost_far_above_the_lowest(whole: int, scale: int, seed: int) -> None:
    # The word says: at least `whole` scales are reached, and not one more.
    word, exact = word_of_whole(LAPLACE, whole), Scale.at_least(scale)
    for steps, kept in ((whole, True), (whole + 1, False)):
        draws = _samplers._Draws(Loaded(seed, word))
        assert _samplers._keep(draws, np.full(50, steps * scale), exact).tolist() == [kept] * 50
