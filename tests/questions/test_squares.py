# SPDX-License-Identifier: Apache-2.0
"""Sums of squared offsets: what they mean, that no row adds more than the squared radius, and that the bounds are reached."""

from fractions import Fraction

import numpy as np
import pytest

from cloister.columns import BLOCK_NUMBERS, Relation, grid_step, snap
from cloister.questions import NearestSquares
from cloister.questions._squares import STEPS

from ._clipped import RADII, answer_in_any_blocks, clean_rows, near_the_radius, parts_of_the_bounds, points_of


def plain_reading(rows, labels, anchors, radius):
    """Return, for each anchor and column, the sum of squares of clipped offsets, row by row."""
    expected = np.zeros(anchors.shape)
    for row, label in zip(rows, labels, strict=True):
        offset = row - anchors[label]
        expected[label] += (offset * min(1.0, radius / max(float(np.linalg.norm(offset)), 1e-300))) ** 2
    return expected


def steps_lost(question, rows):
    """Return how far rounding may take a sum: a step for each row, and what a step of the grid is worth in a clipped offset."""
    return len(rows) * (question.unit + 3 * question.radius * grid_step(rows.shape[1]))


@pytest.mark.parametrize("n_features", [1, 2, 7, 40])
@pytest.mark.parametrize("radius", [0.2, 4.0])
def test_squares_are_those_of_clipped_offsets(n_features, radius, generator):
    rows, points = clean_rows(generator, 200, n_features), points_of(generator, 6, n_features)
    question = NearestSquares(points=points, radius=radius)
    expected = plain_reading(rows, question.labels(rows), points, question.radius)
    assert np.abs(question.exact(rows) * question.unit - expected).max() <= steps_lost(question, rows)


@pytest.mark.parametrize("anchored", [False, True])
def test_under_a_projection_offsets_are_those_in_the_full_space(anchored, generator):
    rows, points = clean_rows(generator, 200, 4), points_of(generator, 5, 2)
    anchors = points_of(generator, 5, 4) if anchored else np.zeros((5, 4))
    given_anchors = {"anchors": anchors} if anchored else {}
    question = NearestSquares(points=points, radius=0.4, projection=generator.normal(size=(4, 2)) / 2, **given_anchors)
    expected = plain_reading(rows, question.labels(rows), anchors, question.radius)
    assert question.shape == (5, 4)
    assert np.count_nonzero(expected.any(axis=1)) > 1
    assert np.abs(question.exact(rows) * question.unit - expected).max() <= steps_lost(question, rows)


def test_a_square_is_rounded_down_and_by_less_than_a_step(generator):
    rows, points = clean_rows(generator, 300, 3), points_of(generator, 4, 3)
    question = NearestSquares(points=points, radius=4.0)
    whole = int(question.radius / grid_step(3)) ** 2
    slack = Fraction(1, 2**52)
    for row in rows:
        label = int(question.labels(row[None])[0])
        found = question.exact(row[None])[label].tolist()
        for number, offset in zip(found, row - points[label], strict=True):
            exact = Fraction(int(offset / grid_step(3)) ** 2 * STEPS, whole)
            assert exact * (1 - slack) - 1 < number <= exact * (1 + slack)


@pytest.mark.parametrize(
    ("n_features", "count", "n_points"), [(1, BLOCK_NUMBERS + 3, 3), (2, 200, 7), (512, 1100, 4), (300, 1100, 950)]
)
def test_sums_are_exact_in_blocks_of_any_size(n_features, count, n_points, generator):
    rows = clean_rows(generator, count, n_features)
    question = NearestSquares(points=points_of(generator, n_points, n_features), radius=0.9)
    whole = answer_in_any_blocks(question, rows)
    labels = question.labels(rows)
    added = np.zeros(question.shape, dtype=np.int64)
    np.add.at(added, labels, question._squares(rows, labels).astype(np.int64))  # integers, one row at a time
    assert np.array_equal(whole, added)


@pytest.mark.fast("1", "8", "128")
@pytest.mark.parametrize("n_features", [1, 2, 3, 8, 33, 128, 512])
def test_no_row_adds_more_than_the_squared_radius(n_features, generator):
    rows, points = clean_rows(generator, 300, n_features), points_of(generator, 1, n_features)
    for radius in RADII:
        question = NearestSquares(points=points, radius=radius)
        axes = points + question.radius * np.eye(n_features)
        placed = np.vstack([near_the_radius(generator, rows, points, radius), axes])
        placed = placed[(np.abs(placed) <= 2).all(axis=1)]
        squares = question._squares(placed, np.zeros(len(placed), dtype=np.int64))
        assert (squares >= 0).all()
        for row in squares:
            assert sum(int(square) for square in row) <= STEPS
        assert np.array_equal(question.exact(points), np.zeros((1, n_features)))


@pytest.mark.parametrize("radius", RADII[:-1])
def test_a_row_at_the_radius_adds_all_of_it(radius):
    question = NearestSquares(points=[[0.0, 0.0]], radius=radius)
    assert question.exact(np.array([[0.0, -question.radius]])).tolist() == [[0, STEPS]]
    assert STEPS * question.unit == question.radius**2
    assert STEPS * 10**12 < 2**63


# -- sensitivity ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_features", [1, 2, 3, 16, 512])
def test_the_bounds_of_one_row_more_are_reached(n_features):
    question = NearestSquares(points=np.zeros((1, n_features)), radius=0.5)
    axis = 0.5 * np.eye(n_features)[:1]
    assert parts_of_the_bounds(question, axis, axis[:0], Relation.ADD_REMOVE) == (1, 1)
    diagonal = snap(np.full((1, n_features), 0.5 / n_features**0.5))
    assert parts_of_the_bounds(question, diagonal, axis[:0], Relation.ADD_REMOVE)[0] > 0.999


@pytest.mark.parametrize("n_features", [2, 3, 16, 512])
def test_the_bounds_of_a_replaced_row_are_reached_at_one_point(n_features):
    question = NearestSquares(points=np.zeros((1, n_features)), radius=0.5)
    axes = 0.5 * np.eye(n_features)
    l1, l2 = parts_of_the_bounds(question, axes[:1], axes[1:2], Relation.REPLACE)
    assert l1 == 1
    assert l2 == pytest.approx(1, rel=1e-12)
    assert parts_of_the_bounds(question, axes[:1], -axes[:1], Relation.REPLACE) == (0, 0)  # opposite rows have equal squares


@pytest.mark.parametrize("n_features", [1, 2, 16])
def test_the_bounds_of_a_replaced_row_are_reached_at_two_points(n_features):
    ends = 0.5 * np.eye(n_features)[:1]
    question = NearestSquares(points=np.vstack([ends, -ends]), radius=0.25)
    l1, l2 = parts_of_the_bounds(question, 1.5 * ends, -1.5 * ends, Relation.REPLACE)
    assert l1 == 1
    assert l2 == pytest.approx(1, rel=1e-12)
