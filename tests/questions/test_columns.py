# SPDX-License-Identifier: Apache-2.0
"""Histograms of single columns, and counts of missing cells: what they mean, by a plain reading of their definitions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloister import Box
from cloister.columns import Category, Flag, Number, Table
from cloister.questions import CellStates, ColumnIntervals, ColumnMagnitudes, NearestMissing

ANY = st.one_of(
    st.floats(),
    st.floats(-4, 4),
    st.integers(-80, 130).map(lambda power: 2.0**power),
    st.sampled_from([math.nan, -0.0, 5e-324, -5e-324, 1.7e308, -math.inf]),
)


def the_bin(question, value):
    """Return the one bin in which a question counts a value."""
    (places,) = question.exact(np.array([[value]]))
    assert places.sum() == 1
    return int(places.argmax())


# -- what is missing or outside ------------------------------------------------------------------------------------------


@given(ANY, st.floats(-10, 10), st.floats(1e-3, 10))
def test_a_cell_is_inside_missing_or_outside(value, low, width):
    found = the_bin(CellStates(low=np.array([low]), high=np.array([low + width])), value)
    expected = CellStates.MISSING if not math.isfinite(value) else 0 if low <= value <= low + width else CellStates.OUTSIDE
    assert found == expected


def test_states_are_counted_column_by_column():
    rows = np.array([[0.5, np.nan, -1.0], [2.0, 0.5, np.inf], [1.0, 0.0, 2.0], [-0.0, -5e-324, 1.0]])
    states = CellStates(low=np.zeros(3), high=np.array([1.0, 1.0, 2.0])).exact(rows)
    assert states.tolist() == [[3, 0, 1], [2, 1, 1], [2, 1, 1]]


@pytest.mark.fast("nan-*", "1.5-3-C")
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n_columns", [1, 3, 1500])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1.5, -1e300, 1.0])
def test_states_do_not_depend_on_the_other_cells_of_a_block(order, n_columns, value, generator):
    rows = np.asarray(generator.uniform(0, 1, size=(700, n_columns)), order=order)
    rows[generator.integers(700, size=3), n_columns // 2] = value
    question = CellStates(low=np.zeros(n_columns), high=np.ones(n_columns))
    assert np.array_equal(question.exact(rows), sum(question.exact(row[None]) for row in rows))
    wide = CellStates(low=np.full(n_columns, -math.inf), high=np.full(n_columns, math.inf))
    missing = np.count_nonzero(~np.isfinite(rows), axis=0)
    assert np.array_equal(wide.exact(rows), np.stack([700 - missing, missing, 0 * missing], axis=1))


# -- magnitudes ----------------------------------------------------------------------------------------------------------

MAGNITUDES = ColumnMagnitudes(columns=(0,))
ABSENT = 2 * ColumnMagnitudes.N_OCTAVES + 1


@given(ANY)
def test_a_value_lies_between_the_edges_of_its_power_of_two(value):
    place = the_bin(MAGNITUDES, value)
    if not math.isfinite(value):
        assert place == ABSENT
    elif abs(value) < 2.0**-64:
        assert place == ColumnMagnitudes.ZERO
    elif abs(value) >= 2.0**128:
        assert place == (2 * ColumnMagnitudes.N_OCTAVES if value > 0 else 0)
    else:
        low, high = ColumnMagnitudes.edges(place, place)
        assert low <= value <= high
        assert high - low == 2.0 ** math.floor(math.log2(min(abs(low), abs(high))))
        assert value not in (high if value > 0 else low,)  # the larger end belongs to the next power


def test_edges_of_several_powers_hold_them_all():
    zero = ColumnMagnitudes.ZERO
    assert ColumnMagnitudes.edges(zero, zero) == (0.0, 0.0)
    assert ColumnMagnitudes.edges(zero - 1, zero + 1) == (-(2.0**-63), 2.0**-63)
    assert ColumnMagnitudes.edges(zero + 65, zero + 67) == (1.0, 8.0)
    assert ColumnMagnitudes.edges(zero - 67, zero - 65) == (-8.0, -1.0)
    assert ColumnMagnitudes.edges(0, 2 * zero) == (-(2.0**128), 2.0**128)


# -- intervals -----------------------------------------------------------------------------------------------------------


@given(ANY, st.integers(-50, 50), st.integers(1, 50), st.integers(1, 9))
def test_a_value_lies_in_the_interval_that_exact_arithmetic_says(value, low, width, n_intervals):
    question = ColumnIntervals(
        columns=(0,), low=np.array([float(low)]), high=np.array([float(low + width)]), n_intervals=n_intervals
    )
    place = the_bin(question, value)
    if not math.isfinite(value):
        assert place == n_intervals + 2
    elif value < low:
        assert place == 0
    elif value > low + width:
        assert place == n_intervals + 1
    else:
        part = (Fraction(value) - low) / width * n_intervals  # a border may be rounded to either side
        assert place in {min(1 + math.floor(part + step), n_intervals) for step in (Fraction(-1, 10**9), 0, Fraction(1, 10**9))}


def test_columns_are_looked_up_by_position_each_between_its_own_ends():
    rows = np.array([[0.0, 10.0, 7.0], [1.0, 20.0, 7.0], [5.0, 15.0, np.nan]])
    question = ColumnIntervals(columns=(2, 0), low=np.array([6.0, 0.0]), high=np.array([8.0, 2.0]), n_intervals=2)
    assert question.exact(rows).tolist() == [[0, 0, 2, 0, 1], [0, 1, 1, 1, 0]]
    assert ColumnMagnitudes(columns=(1,)).exact(rows).sum() == 3


# -- missing cells by nearest point ----------------------------------------------------------------------------------------


def test_missing_cells_are_counted_at_the_nearest_point_of_their_row():
    frame = Box([0, 0], [10, 10]).frame(missing=np.array([9.0, 1.0]))
    points = frame.to_unit([[1.0, 1.0], [9.0, 9.0]])
    rows = np.array([[1.0, np.nan], [9.0, np.inf], [np.nan, 8.0], [np.nan, np.nan], [2.0, 2.0], [-1.0, 30.0]])
    question = NearestMissing(points=points, frame=frame, columns=(0, 1), lowest=np.full(2, -np.inf))
    # A missing value is placed before the nearest point is looked for: the last but two rows lie at (9, 1), between both.
    nearest = [0, int(np.argmin(np.linalg.norm(points - frame.to_unit([[9.0, 1.0]]), axis=1))), 1]
    expected = np.zeros((2, 2), dtype=int)
    for point, cells in zip((0, nearest[1], 1, nearest[1]), ([0, 1], [0, 1], [1, 0], [1, 1]), strict=True):
        expected[point] += cells
    assert question.exact(rows).tolist() == expected.tolist()


def test_a_word_that_is_no_level_is_missing_where_it_is_said_so():
    frame = Table((Category(["a", "b"]), Flag(), Number(-5, 5))).frame()
    points = np.zeros((1, frame.n_features))
    rows = np.array([[-1.0, -1.0, -1.0], [0.0, 1.0, np.nan], [np.nan, np.nan, 3.0]])
    lowest = np.array([0.0, 0.0, -np.inf])
    assert NearestMissing(points=points, frame=frame, columns=(0, 1, 2), lowest=lowest).exact(rows).tolist() == [[2, 2, 1]]
    assert NearestMissing(points=points, frame=frame, columns=(2,), lowest=lowest[2:]).exact(rows).tolist() == [[1]]
