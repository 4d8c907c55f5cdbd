# SPDX-License-Identifier: Apache-2.0
"""GridCounts: what every cell holds, on borders and away from them. The contract of all questions is in tests/contracts."""

import numpy as np
import pytest

from cloister.columns import Box
from cloister.exceptions import ParameterError
from cloister.questions import GridCounts

BOXES = {
    "cube": (Box([0, 0], [1, 1]), (4, 4), "none"),
    "long": (Box([0, -5], [120, 5]), (24, 3), "none"),
    "scaled": (Box([0, 10], [120, 60]), (7, 11), "bounds"),
    "line": (Box([-3], [3]), (10,), "none"),
    "five": (Box([0] * 5, [1] * 5), (2, 3, 1, 2, 4), "none"),
}


def ask(name):
    box, cells, scaling = BOXES[name]
    frame = box.frame(scaling=scaling)
    return GridCounts(half_widths=frame.half_widths, cells=cells), frame, box


@pytest.mark.parametrize("name", BOXES)
def test_away_from_borders_it_is_the_histogram(name, generator):
    question, frame, box = ask(name)
    rows = generator.uniform(box.low, box.high, size=(3000, len(box.low)))
    edges = [np.linspace(low, high, count + 1) for low, high, count in zip(box.low, box.high, question.cells, strict=True)]
    distance = [np.min(np.abs(rows[:, axis, None] - ends), axis=1) / np.ptp(ends) for axis, ends in enumerate(edges)]
    rows = rows[np.min(distance, axis=0) > 1e-5]
    assert len(rows) > 2900
    assert np.array_equal(question.exact(frame.clean(rows)), np.histogramdd(rows, bins=edges)[0])


@pytest.mark.parametrize(("low", "high", "cells"), [(0, 120, 24), (0, 7, 7), (-3, 12, 5), (0, 1000, 100), (18, 99, 27)])
def test_whole_numbers_on_borders_belong_to_the_upper_cell(low, high, cells):
    box = Box([low, low], [high, high])
    frame = box.frame()
    values = np.arange(low, high + 1)
    rows = np.stack([values, np.full(len(values), (low + high) / 2)], axis=1)
    counted = GridCounts(half_widths=frame.half_widths, cells=(cells, 1)).exact(frame.clean(rows))[:, 0]
    width = (high - low) // cells
    expected = np.bincount(np.minimum((values - low) // width, cells - 1), minlength=cells)
    assert counted.tolist() == expected.tolist()


@pytest.mark.parametrize("width", [1e-9, 1e-20, 1e-30, 1e-90])
def test_an_axis_narrower_than_a_step_counts_every_row_and_warns_of_none(width):
    # Warnings are errors here: one would tell a table with a row from a table without.
    frame = Box([0, 0], [1, width]).frame()
    question = GridCounts(half_widths=frame.half_widths, cells=(2, 3))
    for rows in ([], [[0.2, 0.0]], [[0.2, 0.0], [0.7, width]]):
        assert question.exact(frame.clean(np.reshape(rows, (-1, 2)))).sum(axis=1).tolist() == [len(rows) > 0, len(rows) > 1]


@pytest.mark.parametrize(
    ("cells", "match"),
    [
        ((3,), r"GridCounts\.cells: expected one number for each of 2 columns, got 1"),
        ((3, 0), r"GridCounts\.cells: expected an integer from 1 to 16777216, got 0"),
        ((31_623, 31_623), r"at most 16,777,216 cells, each of which must be noised, got '31623 x 31623 = 1,000,014,129'"),
    ],
)
def test_refusals(cells, match):
    with pytest.raises(ParameterError, match=match):
        GridCounts(half_widths=np.ones(2) / 2, cells=cells)
