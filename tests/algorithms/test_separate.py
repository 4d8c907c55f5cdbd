# SPDX-License-Identifier: Apache-2.0
"""Clusters with no gap between them are one, whatever shape they have together."""

import numpy as np
import pytest
from sklearn.cluster import KMeans as Exact

from cloister.algorithms import NoisyPoints
from cloister.algorithms._separate import count_separate

ONE = {
    "box": lambda generator, size: generator.uniform(size=size),
    "triangle": lambda generator, size: generator.dirichlet(np.ones(size[1] + 1), size[0])[:, :-1],
    "normal": lambda generator, size: generator.standard_normal(size),
    "exponential": lambda generator, size: generator.exponential(size=size),
    "arcsine": lambda generator, size: generator.beta(0.5, 0.5, size),
    "ring": lambda generator, size: ring(generator, size),
}


def ring(generator, size):
    rows = generator.standard_normal(size)
    return rows / np.linalg.norm(rows, axis=1)[:, None]


def summarise(rows, n_points=48, *, sigma=3.0, errors=0.0):
    """Return the points that k-means finds in rows, as a synopsis holds them."""
    model = Exact(n_points, n_init=1, random_state=0).fit(rows)
    return NoisyPoints(
        points=model.cluster_centers_.astype(np.float64),
        errors=np.full(n_points, errors),
        counts=np.bincount(model.labels_, minlength=n_points).astype(np.float64),
        count_errors=np.full(n_points, sigma),
        variances=np.array([rows[model.labels_ == one].var(axis=0) for one in range(n_points)]),
        n_rows=float(len(rows)),
    )


@pytest.mark.parametrize("draw", ONE.values(), ids=ONE)
def test_a_shape_without_gaps_is_one_cluster_however_it_is_cut(draw, generator):
    points = summarise(draw(generator, (9000, 3)))
    assert {count_separate(points, k, generator=generator) for k in (2, 6, 12, 20)} == {1}


@pytest.mark.parametrize("n_features", [2, 3, 8])
def test_long_clusters_are_found_whole_when_they_are_cut_to_pieces(n_features, generator):
    stretch = np.array([5.0, *np.ones(n_features - 1)])
    rows = generator.standard_normal((9000, n_features)) * stretch
    rows[:, 1] += 8.0 * generator.integers(3, size=9000)
    points = summarise(rows)
    assert [count_separate(points, k, generator=generator) for k in (9, 15)] == [3, 3]


def test_sparse_surroundings_are_no_cluster_and_link_none(generator):
    rows = 10.0 * generator.integers(2, size=(9000, 2)) + generator.standard_normal((9000, 2))
    rows[:1500] = generator.uniform(-5, 15, (1500, 2))
    assert count_separate(summarise(rows), 8, generator=generator) == 4


def test_points_that_noise_keeps_apart_are_one_cluster(generator):
    noise = 0.05 * generator.standard_normal((20, 200))
    points = NoisyPoints(
        points=noise,
        errors=np.full(20, 0.05),
        counts=np.full(20, 400.0),
        count_errors=np.full(20, 5.0),
        variances=np.full((20, 200), 0.05**2),
        n_rows=8000.0,
    )
    assert count_separate(points, 4, generator=generator) == 1


def test_a_count_that_may_be_noise_is_no_cluster(generator):
    points = summarise(generator.standard_normal((9000, 2)), sigma=20.0)
    far = NoisyPoints(
        points=np.vstack([points.points, [[40.0, 0.0]]]),
        errors=np.append(points.errors, 0.0),
        counts=np.append(points.counts, 50.0),
        count_errors=np.append(points.count_errors, 20.0),
        variances=np.vstack([points.variances, points.variances[:1]]),
        n_rows=9050.0,
    )
    assert count_separate(far, 3, generator=generator) == 1
    far.count_errors[-1] = 2.0
    assert count_separate(far, 3, generator=generator) == 2


def test_a_single_column_of_yes_and_no_is_no_gap_and_two_of_them_are(generator):
    rows = generator.standard_normal((6000, 4)) * 0.1
    rows[:, 0] = generator.integers(2, size=6000)
    rows[:, 1] = generator.integers(2, size=6000)
    binary = [slice(0, 1), slice(1, 2)]
    assert count_separate(summarise(rows), 4, generator=generator) == 4
    assert count_separate(summarise(rows), 4, binary=binary, generator=generator) == 1
    rows[:, 1] = rows[:, 0]
    assert count_separate(summarise(rows), 4, binary=binary, generator=generator) == 2
