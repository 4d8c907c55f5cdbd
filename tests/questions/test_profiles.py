# SPDX-License-Identifier: Apache-2.0
"""Histograms by cluster: every cell in one bin of its column, at the nearest point of its row, whatever it holds."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloister.columns import Box, Category, Flag, Number, Relation, Table
from cloister.nearest import nearest_center
from cloister.questions import ColumnBins, NearestHistograms

ANY = st.one_of(st.floats(allow_nan=True, allow_infinity=True), st.integers(-60, 60).map(float))


@given(ANY, st.integers(-50, 50), st.integers(1, 50), st.integers(1, 9))
def test_a_value_lies_in_the_bin_that_exact_arithmetic_says(value, low, width, n_bins):
    bins = ColumnBins(low=float(low), high=float(low + width), n_bins=n_bins)
    with np.errstate(all="ignore"):
        place = int(bins.find(np.array([value]))[0])
    if not math.isfinite(value):
        assert place == n_bins == bins.size - 1
        return
    part = (Fraction(value) - low) / width * n_bins  # a border may be rounded to either side
    near = {math.floor(part + step) for step in (Fraction(-1, 10**9), 0, Fraction(1, 10**9))}
    assert place in {min(max(one, 0), n_bins - 1) for one in near}


def test_levels_have_a_bin_each_and_others_and_missing_ones_their_own():
    cells = np.array([0.0, 1.0, 2.0, -1.0, 3.0, 7.0, np.nan, np.inf, -np.inf, 1e300, -0.0])
    assert ColumnBins.of_levels(3).find(cells).tolist() == [0, 1, 2, 3, 3, 3, 4, 4, 4, 3, 0]
    assert ColumnBins.of_levels(3).size == 5


def test_every_cell_is_in_one_bin_of_its_column_at_the_nearest_point_of_its_row(generator):
    domain = Table((Number(0, 10), Category(["a", "b", "c"]), Flag()))
    frame = domain.frame()
    rows = np.column_stack([generator.uniform(-2, 12, 400), generator.integers(-1, 3, 400), generator.integers(-1, 2, 400)])
    rows[generator.random(rows.shape) < 0.1] = np.nan
    behind = generator.uniform(0, 1, 400)
    centers = np.array([[1.0, 1.0, 0.0, 0.0, 0.0], [5.0, 0.0, 1.0, 0.0, 1.0], [9.0, 0.2, 0.3, 0.5, 0.5]])
    bins = (ColumnBins(low=0, high=10, n_bins=5), ColumnBins.of_levels(3), ColumnBins(low=0, high=1, n_bins=4))
    question = NearestHistograms(points=frame.to_unit(centers), frame=frame, columns=(0, 1, 3), bins=bins)
    found = question.exact(np.column_stack([rows, behind]))
    labels = nearest_center(frame, centers, rows)
    expected = np.zeros((3, 6 + 5 + 5), dtype=int)
    for label, (number, level, _), other in zip(labels, rows, behind, strict=True):
        expected[label, 5 if math.isnan(number) else min(max(int(number // 2), 0), 4)] += 1
        expected[label, 6 + (4 if math.isnan(level) else 3 if level < 0 else int(level))] += 1
        expected[label, 11 + int(other * 4)] += 1
    assert found.tolist() == expected.tolist()
    assert found.sum() == 3 * len(rows)


def test_the_sensitivity_does_not_depend_on_the_bins():
    for n_bins in (1, 24):
        given_ = {"points": np.zeros((2, 3)), "frame": Box(0, 1).spread(3).frame(), "columns": (0, 1, 2)}
        question = NearestHistograms(**given_, bins=(ColumnBins(low=0, high=1, n_bins=n_bins),) * 3)
        assert question.l1_sensitivity(Relation.ADD_REMOVE) == 3
        assert question.l2_sensitivity(Relation.REPLACE) == pytest.approx(6**0.5)
