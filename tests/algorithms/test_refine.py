# SPDX-License-Identifier: Apache-2.0
"""The steps of KMeans one by one: how much to believe, where to clip, whom to join."""

import numpy as np
import pytest

from cloister.algorithms import Lengths, choose_radius, gain, join_closest, mean_square, quantile

EDGES = 2.0 ** (np.arange(-9, 4) / 3)


def lengths_at(distance, n_rows=1000.0):
    counts = np.zeros(len(EDGES) + 1)
    counts[np.searchsorted(EDGES, distance, side="right")] = n_rows
    return Lengths(EDGES, counts, 1.0)


def test_noise_alone_is_not_believed(generator):
    variances = generator.uniform(0.5, 2.0, size=200)
    offsets = generator.normal(size=(200, 10)) * np.sqrt(variances)[:, None]
    assert gain(offsets, variances).mean() < 0.1


def test_offsets_far_above_the_noise_are_believed(generator):
    part = gain(100 * generator.normal(size=(20, 5)), np.full(20, 0.01))
    assert part.min() > 0.99
    assert part.max() <= 1


def test_one_centre_that_moves_is_believed_among_many_that_do_not(generator):
    offsets = 0.1 * generator.normal(size=(50, 8))
    offsets[7] += 5.0
    part = gain(offsets, np.full(50, 0.01))
    assert part[7] > 0.99


def test_shrinking_beats_believing(generator):
    truth = 0.3 * generator.normal(size=(300, 12))
    seen = truth + generator.normal(size=truth.shape)
    shrunk = gain(seen, np.ones(300))[:, None] * seen
    assert np.sum((shrunk - truth) ** 2) < 0.3 * np.sum((seen - truth) ** 2)


@pytest.mark.parametrize("n_features", [1, 4, 64])
def test_the_radius_shrinks_as_the_noise_grows(n_features):
    counts = np.append(np.full(len(EDGES), 50.0), 0.0)
    radii = [
        choose_radius(Lengths(EDGES, counts, 1.0), n_rows=650, noise=noise, n_features=n_features)[0]
        for noise in (1e-6, 0.01, 0.1, 1.0, 10.0)
    ]
    assert radii == sorted(radii, reverse=True)
    assert radii[0] == EDGES[-1]


def test_clipping_is_made_good():
    radius, phi = choose_radius(lengths_at(0.9), n_rows=1000, noise=10.0, n_features=50)
    assert 0 < phi <= 1
    middle = lengths_at(0.9).middle[np.searchsorted(EDGES, 0.9, side="right")]
    assert phi == pytest.approx(1.0 if radius >= middle else (1 - 1 / 50) * radius / middle)


def test_phi_is_the_derivative_of_the_clipped_mean(generator):
    offsets = generator.normal(size=(400_000, 3))
    radius, shift = 1.2, np.array([0.05, 0.0, 0.0])
    moved = offsets + shift
    norms = np.linalg.norm(moved, axis=1)
    clipped = moved * np.minimum(1, radius / norms)[:, None]
    edges = np.linspace(0.05, 5, 100)
    counts = np.bincount(np.searchsorted(edges, np.linalg.norm(offsets, axis=1)), minlength=101).astype(float)
    lengths = Lengths(edges, counts, 1.0)
    inside = lengths.middle <= radius
    phi = lengths.parts(400_000)[inside].sum()
    phi += (lengths.parts(400_000)[~inside] * radius / lengths.middle[~inside]).sum() * (1 - 1 / 3)
    assert clipped.mean(axis=0)[0] / 0.05 == pytest.approx(phi, abs=0.1)


def test_moments_of_a_histogram():
    told = lengths_at(0.5)
    middle = told.middle[np.searchsorted(EDGES, 0.5, side="right")]
    assert mean_square(told, n_rows=1000, longest=2.0).value == pytest.approx(middle**2)
    assert mean_square(told, n_rows=1000, longest=0.1).value == pytest.approx(0.01)
    assert 0.5 <= quantile(told, n_rows=1000, part=0.5) <= 0.5 * 2 ** (1 / 3) * 1.001


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


@pytest.mark.parametrize("n_left", [1, 4, 11, 12])
def test_joins_as_ward_does(n_left, generator):
    points, weights = generator.normal(size=(12, 3)), generator.exponential(size=12) + 0.01
    joined, expected = join_closest(points, weights, n_left), naive_ward(points, weights, n_left)
    np.testing.assert_allclose(np.sort(joined, axis=0), np.sort(expected, axis=0))


def test_a_point_without_weight_leaves_no_trace(generator):
    points = generator.normal(size=(6, 2))
    joined = join_closest(points, np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0]), 3)
    np.testing.assert_allclose(np.sort(joined, axis=0), np.sort(points[:3], axis=0), atol=1e-6)
