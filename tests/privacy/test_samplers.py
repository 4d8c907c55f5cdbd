# SPDX-License-Identifier: Apache-2.0
"""The noise that is drawn follows the stated distribution exactly: chi-square tests, each with a false-alarm rate of 1e-6."""

import copy
import math
import os
import pickle
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from cloister.columns import IntArray
from cloister.exceptions import ParameterError
from cloister.privacy import Entropy, Scale, _samplers, discrete_laplace, rounded_gaussian

from ._laws import discrete_laplace_law, fit_of, rounded_gaussian_law

FALSE_ALARM = 1e-6
LAWS = {rounded_gaussian: rounded_gaussian_law, discrete_laplace: discrete_laplace_law}
SAMPLERS = list(LAWS)
SIZES = pytest.mark.parametrize("size", [100_000, pytest.param(2_000_000, marks=pytest.mark.slow)])

Sampler = Callable[[Entropy, Scale, int], IntArray]


# -- the law of one draw --


@SIZES
@pytest.mark.parametrize("value", [0.1, 0.3, 1.0, 2.7, 50.0])
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_noise_follows_its_exact_probabilities(sampler: Sampler, value: float, size: int, entropy) -> None:
    # Fault 7: cut towards zero, or with both signs of it, zero would have about twice its mass.
    scale = Scale.at_least(value)
    assert fit_of(sampler(entropy, scale, size), LAWS[sampler](float(scale))) > FALSE_ALARM


@pytest.mark.parametrize(("sampler", "law"), [(rounded_gaussian, "norm"), (discrete_laplace, "laplace")])
@pytest.mark.parametrize("scale", [1e3, 1e9, 2.0**48])
def test_wide_noise_follows_the_continuous_law(sampler: Sampler, law: str, scale: float, entropy) -> None:
    assert stats.kstest(sampler(entropy, Scale.at_least(scale), 50_000) / scale, law).pvalue > FALSE_ALARM


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_the_low_digits_of_wide_noise_are_uniform(sampler: Sampler, entropy) -> None:
    # Fault 12: floating-point noise of this size would have no odd values, or gaps.
    draws = sampler(entropy, Scale.at_least(2.0**45), 60_000)
    assert stats.chisquare(np.bincount(draws & 63, minlength=64)).pvalue > FALSE_ALARM


# -- ties: with short words every path for undecided digits is taken all the time --


@pytest.fixture(params=[1, 3, 5, 8])
def short_words(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(_samplers, "_Draws", partial(_samplers._Draws, bits=request.param))
    return int(request.param)


@pytest.mark.fast("1-0.2-*", "3-1.0-*", "8-50.0-*")
@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("value", [0.2, 1.0, 50.0])
def test_short_words_do_not_change_the_law(value: float, sampler: Sampler, short_words: int, entropy) -> None:
    scale = Scale.at_least(value)
    assert fit_of(sampler(entropy, scale, 3_000), LAWS[sampler](float(scale))) > FALSE_ALARM


@pytest.mark.fast("1", "8")
def test_short_words_reach_the_full_width_of_wide_noise(short_words, entropy) -> None:
    draws = rounded_gaussian(entropy, Scale.at_least(2.0**45), 2_000)
    assert stats.kstest(draws / 2.0**45, "norm").pvalue > FALSE_ALARM
    assert stats.chisquare(np.bincount(draws & 7, minlength=8)).pvalue > FALSE_ALARM


def test_ties_are_really_exercised(short_words, entropy, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []
    decide = _samplers._exact_floor

    def counted(*args: object, **options: object) -> int:
        looked.append(1)
        return decide(*args, **options)

    monkeypatch.setattr(_samplers, "_exact_floor", counted)
    rounded_gaussian(entropy, Scale.at_least(50.0), 500)
    assert len(looked) > 50 / 2**short_words


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("bits", [3, 8, 64, 128])
def test_the_table_of_whole_parts_is_exact(power: int, bits: int) -> None:
    with mpmath.workdps(120):
        total = mpmath.nsum(lambda k: mpmath.exp(-(k**power) / power), [0, mpmath.inf])
        below, exact = mpmath.mpf(0), []
        for k in range(200):
            below += mpmath.exp(-mpmath.mpf(k**power) / power)
            exact.append(int(mpmath.floor(below / total * 2**bits)))
            if exact[-1] == 2**bits - 1:
                break
    assert _samplers._whole_thresholds(power, bits) == exact


def test_a_remainder_is_redrawn_and_not_folded() -> None:
    class Given:
        def __init__(self, *words: list[int]) -> None:
            self.given = iter(words)

        def words(self, count: int) -> np.ndarray:
            return np.array(next(self.given), dtype=np.uint64)

    for bound in (3, 5, 6, 7, 10, 12, 2**33 + 1):
        last = 2**64 - 2**64 % bound - 1  # the largest word that is kept
        for bounds in (bound, np.full(2, bound, dtype=np.uint64)):
            kept = _samplers._Draws(Given([last, last + 1], [4])).below(bounds, 2)
            assert kept.tolist() == [bound - 1, 4 % bound]
    different = np.array([3, 8, 7, 1], dtype=np.uint64)  # 2**64 is 1 more than a multiple of 3 and 2 more than one of 7
    kept = _samplers._Draws(Given([2**64 - 1] * 4, [7, 7])).below(different, 4)
    assert kept.tolist() == [7 % 3, (2**64 - 1) % 8, 7 % 7, 0]


# -- scales --


@given(st.floats(1e-9, 2.0**48, exclude_min=True))
def test_a_scale_never_rounds_down(value: float) -> None:
    scale = Scale.at_least(value)
    exact = Fraction(scale.factor) * Fraction(2) ** scale.exponent
    assert exact >= Fraction(value)
    assert exact - Fraction(value) <= max(Fraction(value) / 2**26, Fraction(2) ** -33)
    assert float(scale) == exact
    assert scale.factor < 1 << 28


@pytest.mark.parametrize("value", [0.1, 1e-5, 1.0, 2.0**-33, 2.0**-6, 2.0**27, 2.0**28, 2.0**48, 1e9 / 7])
def test_scales_are_ordered_and_stay_what_they_are(value: float) -> None:
    around = [math.nextafter(value, 0.0), value, min(math.nextafter(value, math.inf), 2.0**48)]
    scales = [Scale.at_least(one) for one in around]
    assert scales == sorted(scales, key=float)
    assert [Scale.at_least(float(scale)) for scale in scales] == scales
    if math.frexp(value)[0] == 0.5:  # a power of two
        assert float(scales[0]) == float(scales[1]) == value


@pytest.mark.parametrize(
    ("value", "rule"),
    [
        *((value, "a finite number above 0") for value in (0.0, -1.0, math.nan, math.inf)),
        *((value, r".* at most 2.81475e\+14, got .* Spend more on this question") for value in (2.0**48 + 1, 1e300)),
    ],
)
def test_a_scale_that_cannot_be_drawn_is_refused(value: float, rule: str) -> None:
    with pytest.raises(ParameterError, match=rf"noise.scale: expected {rule}"):
        Scale.at_least(value)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_vanishing_scale_draws_zeros(sampler: Sampler, entropy) -> None:
    assert not sampler(entropy, Scale.at_least(1e-5), 10_000).any()


# -- independence --


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("lag", [1, 2, 7, 1000])
def test_successive_draws_are_independent(sampler: Sampler, lag: int, entropy) -> None:
    # Fault 4: one draw for every number. Values and sizes are both tested, as ranks of quarters.
    draws = sampler(entropy, Scale.at_least(100.0), 40_000)
    for values in (draws, np.abs(draws)):
        quarter = np.searchsorted(np.quantile(values, [0.25, 0.5, 0.75]), values)
        table = np.zeros((4, 4))
        np.add.at(table, (quarter[:-lag], quarter[lag:]), 1)
        assert stats.chi2_contingency(table).pvalue > FALSE_ALARM


# -- entropy --


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_seed_repeats_and_another_does_not(sampler: Sampler, seed: int) -> None:
    def draw(number: int) -> list[int]:
        return sampler(Entropy(number), Scale.at_least(1e6), 50).tolist()

    assert draw(seed) == draw(seed)
    assert not set(draw(seed)) & set(draw(seed + 1))


@pytest.mark.os_entropy
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_the_operating_system_never_repeats(sampler: Sampler) -> None:
    first, second = (sampler(Entropy(), Scale.at_least(1e12), 50).tolist() for _ in range(2))
    assert not set(first) & set(second)


def test_one_seed_gives_two_streams_that_have_nothing_in_common(seed: int) -> None:
    # Fault 3: noise and public choices from one stream, so that one can be subtracted from the other.
    entropy = Entropy(seed)
    noise, public = entropy.words(2_000), entropy.public_generator().integers(0, 2**64, 2_000, dtype=np.uint64)
    assert not set(noise.tolist()) & set(public.tolist())
    assert stats.chisquare(np.bincount(((noise ^ public) & np.uint64(15)).astype(int), minlength=16)).pvalue > FALSE_ALARM


def test_a_stream_does_not_depend_on_how_it_is_cut(seed: int) -> None:
    whole = Entropy(seed).words(1_000)
    parts = Entropy(seed)
    assert np.concatenate([parts.words(count) for count in (1, 0, 499, 500)]).tolist() == whole.tolist()


def test_a_long_stream_does_not_repeat_itself(seed: int) -> None:
    words = np.concatenate([(stream := Entropy(seed)).words(70_000), stream.words(200_000)])
    assert len(np.unique(words)) == len(words)


@pytest.mark.os_entropy
def test_public_choices_are_repeated_by_the_seed_alone(seed: int) -> None:
    used = Entropy(seed)
    used.words(10)
    assert used.public_generator().integers(2**60) == Entropy(seed).public_generator().integers(2**60)
    assert Entropy().public_generator().integers(2**60) != Entropy().public_generator().integers(2**60)


@pytest.mark.os_entropy
def test_who_is_seeded(seed: int) -> None:
    assert Entropy(seed).seeded
    assert Entropy(np.int64(3)).seeded
    assert Entropy(np.random.RandomState(seed % 2**32)).seeded
    assert not Entropy().seeded


@pytest.mark.parametrize("value", [-1, 2**64, 1.5, "7", True, np.random.default_rng(0)])
def test_a_seed_is_a_whole_number(value: object) -> None:
    with pytest.raises(ParameterError, match=r"KMeans.random_state: expected an integer from 0"):
        Entropy(value, where="KMeans.random_state")


@pytest.mark.parametrize("random_state", [None, 3])
def test_a_source_of_noise_is_not_copied(random_state: int | None) -> None:
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="a source of noise is not copied or pickled"):
            attempt(Entropy(random_state))


@pytest.mark.os_entropy
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_child_does_not_repeat_its_parents_noise() -> None:
    entropy = Entropy()
    rounded_gaussian(entropy, Scale.at_least(1e12), 10)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, rounded_gaussian(entropy, Scale.at_least(1e12), 20).tobytes())
        os._exit(0)
    mine = rounded_gaussian(entropy, Scale.at_least(1e12), 20)
    os.waitpid(child, 0)
    theirs = np.frombuffer(os.read(reading, 160), dtype=np.int64)
    os.close(reading)
    os.close(writing)
    assert len(theirs) == 20
    assert not set(mine.tolist()) & set(theirs.tolist())


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("size", [0, 1, 2, 63, 64, 65])
def test_as_many_numbers_as_asked_for(sampler: Sampler, size: int, entropy) -> None:
    draws = sampler(entropy, Scale.at_least(1.0), size)
    assert draws.shape == (size,)
    assert draws.dtype == np.int64


def test_a_digit_once_drawn_stays_with_its_number(entropy) -> None:
    draws = _samplers._Draws(entropy)
    deviates = _samplers._Deviates(np.arange(4), draws.words(4))
    drawn = [deviates.digit(draws, index, 3) for index in (3, 1)]
    assert [deviates.take(np.array([1, 2, 3])).digit(draws, index, 3) for index in (2, 0)] == drawn
