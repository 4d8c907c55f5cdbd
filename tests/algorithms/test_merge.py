# SPDX-License-Identifier: Apache-2.0
"""Joining centres: the same unions as Ward's method done naively, in any dimension and with any weights."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloister.algorithms._merge import join_closest


def naive_ward(points, weights, n_left):
    points, weights = [*points], [*weights]
    while len(points) > n_left:
        pairs = [(i, j) for i in range(len(points)) for j in range(i)]
        costs = [weights[i] * weights[j] / (weights[i] + weights[j]) * np.sum((points[i] - points[j]) ** 2) for i, j in pairs]
        i, j = pairs[int(np.argmin(costs))]
        total = weights[i] + weights[j]
        union = (weights[i] * points[i] + weights[j] * points[j]) / total
        for index in sorted((i, j), reverse=True):
            del points[index], weights[index]
        points.append(union)
        weights.append(total)
    return np.array(points)


@given(seed=st.integers(0, 2**31), n_points=st.integers(1, 20), n_features=st.integers(1, 5), lightness=st.floats(0, 6))
def test_any_points_and_weights_are_joined_as_ward_does(seed, n_points, n_features, lightness):
    generator = np.random.default_rng(seed)
    points, weights = generator.normal(size=(n_points, n_features)), 10.0 ** -generator.uniform(0, lightness, size=n_points)
    n_left = int(generator.integers(1, n_points + 1))
    joined, expected = join_closest(points, weights, n_left), naive_ward(points, weights, n_left)
    assert joined.shape == (n_left, n_features)
    np.testing.assert_allclose(np.sort(joined, axis=0), np.sort(expected, axis=0), atol=1e-9)


def test_the_weighted_mean_stays_where_it_is_and_nothing_is_changed_in_place(generator):
    points, weights = generator.normal(size=(30, 4)), generator.exponential(size=30)
    before = points.copy(), weights.copy()
    assert np.allclose(join_closest(points, weights, 1)[0], np.average(points, axis=0, weights=weights))
    assert np.array_equal(points, before[0])
    assert np.array_equal(weights, before[1])


@pytest.mark.parametrize("weights", [np.zeros(9), np.ones(9)])
def test_points_on_top_of_each_other_and_without_weight_do_no_harm(weights):
    joined = join_closest(np.repeat([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], 3, axis=0), weights, 3)
    assert sorted(joined.round(6).tolist()) == [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
