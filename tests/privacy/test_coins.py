# SPDX-License-Identifier: Apache-2.0
"""Coins are independent, secret, of the right rate, and belong to positions alone.

Statistical bounds are six standard deviations of a normal law, or a p-value of 1e-9: a seed fails one of them by chance about
once in ten million runs.
"""

import math
import pickle
from decimal import Context, Decimal

import numpy as np
import pytest
from scipy.stats import chi2

from cloister.exceptions import ParameterError
from cloister.privacy import Coins, Entropy, _coins

SHARES = [0.003, 0.1, 0.5, 0.97]
N = 200_000


def faces(coins, partition=0, count=N):
    """Return the coins of a partition one by one: 1 for heads."""
    shown = np.zeros(count)
    shown[coins.partition(partition).take(count)] = 1
    return shown


def sixfold(share, count):
    return 6 * math.sqrt(count * share * (1 - share)) + 1


# -- the law ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", SHARES)
def test_coins_of_different_positions_are_independent(share, seed):
    shown = faces(Coins.draw(Entropy(seed), share))
    for distance in (1, 2, 3, 64, 1000):
        both = float(np.sum(shown[distance:] * shown[:-distance]))
        # Products of coins have variance p^2 (1 - p^2); neighbouring ones share a coin, which at most triples it.
        assert abs(both - share**2 * (N - distance)) < math.sqrt(3) * sixfold(share**2, N), distance


@pytest.mark.parametrize("share", SHARES)
def test_coins_of_different_partitions_and_keys_are_independent(share, seed):
    entropy = Entropy(seed)
    first, second = Coins.draw(entropy, share), Coins.draw(entropy, share)
    for other in (faces(first, 1), faces(first, 2**32), faces(second, 0)):
        both = float(np.sum(faces(first) * other))
        assert abs(both - share**2 * N) < sixfold(share**2, N)


def test_every_position_has_the_same_probability(seed):
    coins, count = Coins.draw(Entropy(seed), 0.3), 3000
    heads = np.concatenate([coins.partition(number).take(201) for number in range(count)])
    assert np.abs(np.bincount(heads, minlength=201) - 0.3 * count).max() < sixfold(0.3, count)


@pytest.mark.parametrize("share", SHARES)
def test_gaps_are_geometric(share, seed):
    heads = Coins.draw(Entropy(seed), share).partition(0).take(int(40_000 / share))
    gaps = np.diff(heads) - 1
    cuts = np.unique(np.rint(np.linspace(0, 6 / share, 30)).astype(int))
    seen = np.histogram(gaps, bins=[*cuts, np.inf])[0]
    tails = (1 - share) ** np.append(cuts, np.inf)
    wanted = len(gaps) * -np.diff(tails)
    enough = wanted > 20
    statistic = float(np.sum((seen - wanted)[enough] ** 2 / wanted[enough]))
    assert chi2.sf(statistic, int(enough.sum())) > 1e-9


# -- exactness -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [2.0**-30, 1e-4, 0.01, 0.3, 0.5, 0.9, 1 - 2.0**-20])
def test_coins_do_not_depend_on_how_they_are_taken(share, seed, generator):
    coins = Coins.draw(Entropy(seed), share)
    whole = coins.partition(3).take(20_000)
    stream, first, parts = coins.partition(3), 0, []
    while first < 20_000:
        count = min(int(generator.integers(0, 900)), 20_000 - first)
        parts.append(first + stream.take(count))
        first += count
    assert np.array_equal(np.concatenate(parts), whole)
    assert np.array_equal(pickle.loads(pickle.dumps(coins)).partition(3).take(20_000), whole)
    assert np.array_equal(np.unique(whole), whole)


def test_coins_of_a_key_stay_what_they_are():
    """A lost partition is drawn again, perhaps by another machine and another version."""
    coins = Coins(bytes(range(32)), 0.1)
    assert coins.partition(0).take(100).tolist() == [3, 22, 23, 43, 54, 58, 67, 69, 97, 99]
    assert coins.partition(7).take(10**6)[-3:].tolist() == [999972, 999973, 999995]


@pytest.mark.parametrize("share", [0.001, 0.05, 0.8])
def test_gaps_decided_by_decimals_are_those_decided_in_double_precision(share, seed, monkeypatch):
    coins = Coins.draw(Entropy(seed), share)
    fast = coins.partition(0).take(int(1500 / share))
    monkeypatch.setattr(_coins, "UNSURE", 1.0 / share)
    assert np.array_equal(coins.partition(0).take(int(1500 / share)), fast)


def exact_product(scale, digits, bits):
    """Return ``-scale * log(digits / 2**bits)`` to many digits."""
    context = Context(prec=80)
    return context.multiply(Decimal(-scale), context.ln(context.divide(Decimal(digits), Decimal(1 << bits))))


@pytest.mark.parametrize("scale", [0.03, 1.0, 99.5, 2.0**30])
def test_what_double_precision_leaves_open_is_bounded(scale, generator):
    bound = Decimal(scale * _coins.UNSURE / 2)
    some = generator.integers(_coins.SMALLEST_WORD, 2**64, size=300, dtype=np.uint64)
    small = generator.integers(_coins.SMALLEST_WORD, 2 * _coins.SMALLEST_WORD, size=300, dtype=np.uint64)
    ends = np.array([_coins.SMALLEST_WORD, 2**64 - 1, 2**64 - 2, 2**63, 2**63 - 1], dtype=np.uint64)
    for words in (some, small, ends):
        for word, product in zip(words, _coins._products(words, scale), strict=True):
            for end in (int(word), int(word) + 1):
                assert abs(exact_product(scale, end, 64) - Decimal(float(product))) < bound


class Words:
    """A source with given words, and zeros after them."""

    def __init__(self, *words):
        self.words = list(words)

    def take(self, count):
        taken, self.words = [*self.words[:count], *[0] * (count - len(self.words))], self.words[count:]
        return np.array(taken, dtype=np.uint64)


def edge_of(scale, gap):
    """Return the word at the edge between two gaps; double precision takes those on both sides of it for one number."""
    context = Context(prec=80)
    return int(context.multiply(context.exp(Decimal(-gap) / Decimal(scale)), Decimal(1 << 64)))


def test_words_that_double_precision_cannot_decide_are_decided_exactly(monkeypatch):
    scale = 1e6
    words = [edge_of(scale, gap) + side for gap in range(1, 200) for side in (-1, 1)]
    words += [1, 2**46 - 1, 2**64 - 1]

    wanted = [math.floor(exact_product(scale, (word << 64) + 1, 128)) for word in words]
    assert _coins._gaps(Words(*words), scale, len(words)).tolist() == wanted
    assert np.floor(_coins._products(np.array(words, dtype=np.uint64), scale)).tolist() != wanted


@pytest.mark.parametrize("scale", [0.7, 40.0, 1e6])
def test_further_digits_are_drawn_until_they_decide(scale):
    for gap in (1, 3, 17):
        for second in (0, 2**63, 2**64 - 1):
            source = Words(second, 5)
            found = _coins._exact_gap(source, scale, edge_of(scale, gap))
            assert len(source.words) < 2, "64 digits do not decide it"
            assert found == math.floor(exact_product(scale, (edge_of(scale, gap) << 64) + second, 128))
    source = Words(0, 0, 12345 << 45)
    assert _coins._exact_gap(source, scale, 0) == math.floor(exact_product(scale, 12345 << 45, 256))


# -- the key ---------------------------------------------------------------------------------------------------------------


def test_the_key_has_256_bits_of_the_source_of_noise(seed):
    entropy = Entropy(seed)
    coins = Coins.draw(entropy, 0.5)
    assert coins.key == Entropy(seed).words(4).astype("<u8").tobytes()
    assert len(coins.key) == 32
    assert Coins.draw(entropy, 0.5).key != coins.key


def test_coins_do_not_print_their_key(seed):
    coins = Coins.draw(Entropy(seed), 0.25)
    assert repr(coins) == str(coins) == f"{coins}" == "<Coins that keep 0.25 of the rows>"


@pytest.mark.parametrize("share", [0.0, 1.0, 2.0, -0.5, float("nan"), 2.0**-31, True, "0.5", None])
def test_what_is_no_part_of_the_rows_is_refused(share):
    with pytest.raises(ParameterError, match=r"row_share: expected .*\. Pass the part of the rows"):
        Coins.draw(Entropy(0), share)
