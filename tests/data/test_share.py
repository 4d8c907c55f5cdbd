# SPDX-License-Identifier: Apache-2.0
"""What workers make of parts of a sample: each part is in it once, and a part that failed makes the whole fail."""

import numpy as np
import pytest

from cloister.data._share import Failure, Sampled, draw_part, failure_of, join_parts
from cloister.privacy import Coins, Entropy


@pytest.fixture
def coins(seed):
    return Coins.draw(Entropy(seed), 0.4)


@pytest.fixture
def tables(generator):
    return [generator.normal(size=(count, 2)) for count in (50, 0, 7, 200)]


def test_parts_of_a_sample_are_joined_once_each(tables, coins):
    parts = [draw_part("test", table, coins, number) for number, table in enumerate(tables)]
    joined = join_parts(parts[2:] + parts[:2])
    assert len(joined.rows) == sum(len(part.rows) for part in parts) == sum(joined.lengths.values())
    assert np.array_equal(np.sort(joined.rows, axis=0), np.sort(np.concatenate([part.rows for part in parts]), axis=0))
    assert joined.lengths == {number: len(part.rows) for number, part in enumerate(parts)}


def test_how_parts_were_joined_does_not_change_a_sample_of_them(tables, coins, seed):
    again = Coins.draw(Entropy(seed + 1), 0.5)
    parts = [draw_part("test", table, coins, number) for number, table in enumerate(tables)]
    first = join_parts([part.draw(again) for part in parts])
    for order in ([0, 1, 2, 3], [3, 1, 0, 2]):
        other = draw_part("test", join_parts([parts[index] for index in order]), again, 0)
        assert np.array_equal(np.sort(other.rows, axis=0), np.sort(first.rows, axis=0))


def test_a_part_that_failed_makes_the_sample_fail(tables, coins):
    failure = Failure("test: gone.")
    assert draw_part("test", failure, coins, 0) is failure
    assert join_parts([draw_part("test", tables[0], coins, 0), failure]) is failure
    assert failure_of([1, failure, Failure("other")]) is failure
    assert failure_of([]) is None


def test_a_part_that_cannot_be_read_is_told_without_a_value(coins):
    class Broken:
        iloc = None

        def __len__(self):
            raise RuntimeError("row 77.123456789")

    found = draw_part("test", Broken(), coins, 0)
    assert found == Failure("test: a part of the rows cannot be read (RuntimeError). Check that all parts are alike.")


def test_a_part_of_a_sample_does_not_print_its_rows(tables, coins):
    part = draw_part("test", tables[0], coins, 0)
    assert isinstance(part, Sampled)
    assert "rows=" not in repr(part)
