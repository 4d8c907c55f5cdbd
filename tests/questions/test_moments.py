# SPDX-License-Identifier: Apache-2.0
"""Second moments: what they mean, that no row is longer than the radius in steps, and that the bounds hold and are reached."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

from cloister.columns import Relation, snap
from cloister.questions import SecondMoments, spectral_edge, symmetric
from cloister.questions._moments import PRODUCT_WEIGHT, RESOLUTION, SQUARE_WEIGHT

from ._clipped import RADII, answer_in_any_blocks, clean_rows, near_the_radius, pairs, parts_of_the_bounds, points_of


def center_of(generator, n_features):
    return points_of(generator, 1, n_features)[0]


@pytest.mark.parametrize("n_features", [1, 2, 7, 40])
def test_moments_are_those_of_clipped_offsets(n_features, generator):
    rows, center = clean_rows(generator, 200, n_features), center_of(generator, n_features)
    question = SecondMoments(center=center, radius=0.6)
    offsets = rows - center
    offsets *= np.minimum(1, question.radius / np.maximum(np.linalg.norm(offsets, axis=1, keepdims=True), 1e-300))
    found = symmetric(question.exact(rows) * question.unit, n_features)
    step = question.radius / RESOLUTION
    assert np.abs(found - offsets.T @ offsets).max() <= len(rows) * 2 * step * question.radius
    assert np.array_equal(found, found.T)


def test_the_triangle_is_in_row_major_order_and_products_have_their_weight():
    question = SecondMoments(center=np.zeros(3), radius=1.0)
    one, two, three = (0.5, 0.25, 0.125)
    found = question.exact(np.array([[one, two, three]])) * (question.unit * SQUARE_WEIGHT)
    expected = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
    row = (one, two, three)
    assert found.tolist() == [row[i] * row[j] * (SQUARE_WEIGHT if i == j else PRODUCT_WEIGHT) for i, j in expected]


@pytest.mark.slow
@pytest.mark.parametrize(("n_features", "count"), [(1, (1 << 18) + 3), (2, 200), (512, 1100)])
def test_sums_are_exact_in_blocks_of_any_size(n_features, count, generator):
    rows = clean_rows(generator, count, n_features)
    question = SecondMoments(center=center_of(generator, n_features), radius=0.9)
    whole = answer_in_any_blocks(question, rows)
    steps = question._steps(rows).astype(np.int64)
    matrix = steps.T @ steps  # integers, without BLAS
    row, column = np.triu_indices(n_features)
    assert np.array_equal(whole, np.where(row == column, SQUARE_WEIGHT, PRODUCT_WEIGHT) * matrix[row, column])


@pytest.mark.parametrize("n_features", [1, 2, 3, 8, 33, 128, 512])
def test_no_row_is_longer_than_the_radius_in_steps(n_features, generator):
    rows, center = clean_rows(generator, 300, n_features), center_of(generator, n_features)
    for radius in RADII:
        question = SecondMoments(center=center, radius=radius)
        for row in question._steps(near_the_radius(generator, rows, center, radius)):
            assert sum(int(step) ** 2 for step in row) <= RESOLUTION**2
        assert np.array_equal(question._steps(center[None]), np.zeros((1, n_features)))


# -- sensitivity ---------------------------------------------------------------------------------------------------------


@examples(300)
@given(pair=pairs(), radius=st.sampled_from(RADII))
def test_neighbours_stay_within_both_bounds(pair, radius):
    question = SecondMoments(center=np.zeros(pair.shape[1]), radius=radius)
    parts_of_the_bounds(question, pair[:1], pair[:0], Relation.ADD_REMOVE)
    parts_of_the_bounds(question, pair[:1], pair[1:], Relation.REPLACE)


@pytest.mark.parametrize("n_features", [1, 2, 3, 4, 16, 64, 512])
def test_the_bounds_of_one_row_more_are_reached(n_features):
    question = SecondMoments(center=np.zeros(n_features), radius=0.5)
    axis = 0.5 * np.eye(n_features)[:1]
    diagonal = snap(np.full((1, n_features), 0.5 / n_features**0.5))
    assert parts_of_the_bounds(question, axis, axis[:0], Relation.ADD_REMOVE)[1] == 1
    assert parts_of_the_bounds(question, diagonal, axis[:0], Relation.ADD_REMOVE)[0] > 0.98


@pytest.mark.parametrize("n_features", [2, 4, 16, 64, 512])
def test_the_bounds_of_a_replaced_row_are_reached(n_features):
    question = SecondMoments(center=np.zeros(n_features), radius=0.5)
    axes = 0.5 * np.eye(n_features)
    assert parts_of_the_bounds(question, axes[:1], axes[1:2], Relation.REPLACE)[1] == pytest.approx(1, rel=1e-12)
    # At right angles, and turned so that all entries of the move are of one size.
    cosine, sine, half = math.cos(math.pi / 8), math.sin(math.pi / 8), n_features // 2
    one, two = (np.repeat(pair, half)[None] * 0.5 / half**0.5 for pair in ([cosine, sine], [-sine, cosine]))
    assert parts_of_the_bounds(question, snap(one), snap(two), Relation.REPLACE)[0] > 0.96


def test_in_one_dimension_replacing_a_row_moves_no_more_than_adding_one():
    question = SecondMoments(center=[0.0], radius=0.5)
    rows = np.array([[-0.5], [0.5], [0.0]])
    assert parts_of_the_bounds(question, rows[:1], rows[1:2], Relation.REPLACE) == (0, 0)
    assert parts_of_the_bounds(question, rows[:1], rows[2:], Relation.REPLACE) == (1, 1)
    for bound in (question.l1_sensitivity, question.l2_sensitivity):
        assert bound(Relation.REPLACE) == bound(Relation.ADD_REMOVE)


# -- beside the question -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_features", [30, 100])
def test_the_spectrum_of_noise_ends_at_the_edge(n_features, generator):
    largest = [
        np.abs(np.linalg.eigvalsh(symmetric(generator.normal(size=n_features * (n_features + 1) // 2), n_features))).max()
        for _ in range(20)
    ]
    assert np.mean(largest) == pytest.approx(spectral_edge(1.0, n_features), rel=0.1)
