# SPDX-License-Identifier: Apache-2.0
"""Coins are independent, secret, of the right rate, and belong to positions alone."""

import pickle

import numpy as np
import pytest

from cloister.exceptions import ParameterError
from cloister.privacy import Coins, Entropy, _coins


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


def test_gaps_decided_by_decimals_are_those_decided_in_double_precision(seed, monkeypatch):
    coins = Coins.draw(Entropy(seed), 0.05)
    fast = coins.partition(0).take(30_000)
    monkeypatch.setattr(_coins, "UNSURE", 1.0)
    assert np.array_equal(coins.partition(0).take(30_000), fast)


@pytest.mark.parametrize("share", [0.0, 1.0, 2.0, -0.5, float("nan"), 2.0**-31, True, "0.5"])
def test_what_is_no_part_of_the_rows_is_refused(share):
    with pytest.raises(ParameterError, match=r"row_share: expected .*\. Pass the part of the rows"):
        Coins.draw(Entropy(0), share)


def test_coins_do_not_print_their_key(seed):
    coins = Coins.draw(Entropy(seed), 0.25)
    assert repr(coins) == "<Coins that keep 0.25 of the rows>"
