# SPDX-License-Identifier: Apache-2.0
"""Coverage of every number with a ±: tables are what their columns say, truth is counted as the fit reads it."""

import numpy as np
import pytest

from benchmarks import intervals
from cloister.data import open_rows


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == "mixed" else pytest.mark.slow) for name in intervals.FAMILIES]
)
def test_a_table_is_the_same_for_the_same_seed_and_read_as_the_fit_reads_it(name):
    table, again = intervals.make(name, 1), intervals.make(name, 1)
    assert table.frame.equals(again.frame)
    assert not table.frame.equals(intervals.make(name, 2).frame)
    assert list(table.columns) == list(table.frame.columns)
    blocks = np.concatenate([np.asarray(getattr(one, "rows", one)) for one in open_rows(table.frame, table.columns).blocks()])
    assert np.array_equal(blocks, intervals._coded(table), equal_nan=True)


def test_what_lies_within_its_interval_is_covered():
    assert intervals._figures([np.array([0.1, 1.0, 1.9]), np.array([[2.0]])]) == (0.75, pytest.approx(0.6745 / 1.45))


@pytest.mark.slow
def test_a_line_for_each_table_and_epsilon(capsys):
    intervals.main(["mixed", "missing", "--fits", "2", "--epsilons", "1", "4"])
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith(("| mixed", "| missing"))]
    assert len(lines) == 4
