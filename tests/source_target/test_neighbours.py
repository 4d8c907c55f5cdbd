# SPDX-License-Identifier: Apache-2.0
"""NeighbourMeans against a plain transcription; its sensitivity is reached. The contract of questions has the other laws."""

import functools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

from cloister.columns import Ball, Relation, grid_step
from cloister.exceptions import ParameterError
from cloister.questions import NeighbourDistance, NeighbourMeans

WIDTH = 2
FRAME = Ball(1.0, [0.0] * WIDTH).frame()
TICKS = [-1.0, -0.5, 0.0, 0.5, 1.0]


def answer(question, *blocks):
    return question.finish(functools.reduce(question.merge, (question.exact(block) for block in blocks)))


def plainly(question, rows):
    """The same answer, a row and a point at a time, in Python's integers."""
    step, answers = grid_step(WIDTH), []
    for point in question.points:
        offsets = [[round(float(value) / step) for value in row - point] for row in rows]
        nearest = sorted((sum(value * value for value in offset), *offset) for offset in offsets)[: question.n_neighbors]
        answers.append([sum(one[axis + 1] for one in nearest) for axis in range(WIDTH)])
    return np.array(answers).reshape(len(question.points), WIDTH)


VALUE = st.one_of(st.sampled_from(TICKS), st.floats(-1.2, 1.2))
ROW = st.lists(VALUE, min_size=WIDTH, max_size=WIDTH)


@st.composite
def questions(draw):
    points = draw(st.lists(st.lists(st.one_of(st.sampled_from([*TICKS, -2.0, 2.0]), st.floats(-2, 2)), min_size=2, max_size=2),
                           min_size=1, max_size=4))  # fmt: skip
    return NeighbourMeans(points=points, n_neighbors=draw(st.integers(1, 5)))


@examples(120)
@given(question=questions(), table=st.lists(ROW, max_size=9), repeat=st.integers(1, 3), cut=st.integers(0, 9))
def test_it_says_what_its_transcription_says_however_the_rows_come(question, table, repeat, cut):
    rows = FRAME.clean(np.array(table * repeat).reshape(-1, WIDTH))
    expected = plainly(question, rows)
    assert np.array_equal(answer(question, rows), expected)
    assert np.array_equal(answer(question, rows[:cut], rows[cut:]), expected)
    assert np.array_equal(answer(question, rows[cut:][::-1], rows[:0], rows[:cut]), expected)


@pytest.mark.parametrize("n_points", [1, 9])
@pytest.mark.parametrize("kind", [NeighbourMeans, NeighbourDistance])
@pytest.mark.parametrize("relation", Relation)
def test_the_bound_is_nearly_attained_and_never_passed(kind, n_points, relation):
    """All points on one side, all rows on the other but one, which goes there."""
    weights = {"weights": np.arange(1, n_points + 1)} if kind is NeighbourDistance else {}
    question = kind(points=[[1.0, 0.0]] * n_points, n_neighbors=1, **weights)
    far, near = FRAME.clean([[-1.0, 0.0]]), FRAME.clean([[1.0, 0.0]])
    left, right = answer(question, far), answer(question, near if relation is Relation.REPLACE else np.vstack([far, near]))
    assert 1 - 1e-3 <= np.linalg.norm((left - right).astype(float)) / question.l2_sensitivity(relation) <= 1


def test_missing_neighbours_lie_at_the_point():
    question = NeighbourMeans(points=[[0.5, 0.0]], n_neighbors=4)
    assert answer(question, FRAME.clean([[0.0, 0.0]]))[0] * question.unit == pytest.approx([-0.125, 0.0])
    assert not answer(question, np.empty((0, 2))).any()


def test_many_rows_in_small_blocks(generator, monkeypatch):
    rows = FRAME.clean(generator.choice(TICKS, size=(400, 2)))
    question = NeighbourMeans(points=generator.choice(TICKS, size=(30, 2)), n_neighbors=37)
    expected = plainly(question, rows)
    monkeypatch.setattr("cloister.questions._neighbours.BLOCK_NUMBERS", 1000)
    assert np.array_equal(answer(question, rows), expected)
    assert np.array_equal(answer(question, *np.array_split(rows, 9)), expected)


def test_the_distance_is_that_of_its_transcription(generator):
    rows, points = FRAME.clean(generator.uniform(-1, 1, (60, 2))), generator.uniform(-0.7, 0.7, (7, 2))
    question = NeighbourDistance(points=points, n_neighbors=9, weights=np.arange(7))
    nearest = np.sort(np.linalg.norm(points[:, None] - rows, axis=2), axis=1)[:, :9].mean(axis=1)
    expected = np.average(nearest, weights=np.arange(7))
    found = question.farthest - answer(question, rows[:20], rows[20:])[0] * question.unit
    assert found == pytest.approx(expected, abs=2.0**-12)


def test_missing_rows_are_as_far_as_a_row_can_be():
    question = NeighbourDistance(points=[[0.5, 0.0]], n_neighbors=4, weights=[3])
    assert question.farthest == pytest.approx(1.5, abs=1e-3)
    assert answer(question, np.empty((0, 2)))[0] == 0
    assert answer(question, FRAME.clean([[0.5, 0.0]]))[0] * question.unit == pytest.approx(1.5 / 4, abs=1e-3)


@pytest.mark.parametrize("weights", [[0.5, 1], [-1, 1], [0, 0], [2**24 + 1, 1], [1, 1, 1]])
def test_weights_are_whole_numbers(weights):
    with pytest.raises(ParameterError, match=r"NeighbourDistance\.weights: expected"):
        NeighbourDistance(points=[[0.0, 0.0], [0.5, 0.0]], n_neighbors=1, weights=weights)
