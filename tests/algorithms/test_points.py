# SPDX-License-Identifier: Apache-2.0
"""Weighted points: weights, cuts, trees, silhouettes, and how many clusters they hold."""

import math

import numpy as np
import pytest
from scipy.cluster.hierarchy import is_valid_linkage, linkage
from sklearn.cluster import KMeans as Exact

from cloister.algorithms import (
    NoisyPoints,
    compare_numbers,
    cut_loss,
    nearest_of,
    silhouette,
    squares_between,
    ward_tree,
)


def points_of(places, counts, *, sigma=0.0, errors=0.0, variance=0.0, n_rows=None):
    places = np.asarray(places, dtype=np.float64)
    size = len(places)
    return NoisyPoints(
        points=places,
        errors=np.full(size, errors),
        counts=np.asarray(counts, dtype=np.float64),
        count_errors=np.full(size, sigma),
        variances=np.full(places.shape, variance),
        n_rows=float(np.sum(counts)) if n_rows is None else n_rows,
    )


def groups(generator, n_groups, n_features, *, each=6, spread=0.02):
    """Return groups of points, each with several points of some rows around a place of its own, as columns allow."""
    middles = generator.uniform(-0.7, 0.7, (n_groups, n_features))
    while n_groups > 1 and np.min(squares_between(middles, middles) + 9 * np.eye(n_groups)) < (8 * spread) ** 2:
        middles = generator.uniform(-0.7, 0.7, (n_groups, n_features))
    places = np.repeat(middles, each, axis=0) + spread * generator.normal(size=(n_groups * each, n_features))
    return points_of(places, generator.integers(200, 400, len(places)), sigma=5.0, errors=1e-3, variance=spread**2 / 4)


def test_weights_are_not_negative_and_add_up_to_the_number_of_rows():
    found = points_of([[0.0], [0.1], [0.2]], [120.0, -15.0, 40.0], n_rows=130.0)
    assert found.weights.min() == 0.0
    assert math.isclose(found.weights.sum(), 130.0)
    assert len(found.filled().points) == 2
    assert math.isclose(found.filled().weights.sum(), 130.0)


def test_a_draw_moves_points_by_their_errors_and_counts_by_noise_and_sampling(generator):
    found = points_of(np.zeros((4000, 2)), np.full(4000, 400.0), sigma=15.0, errors=0.01)
    drawn = found.resample(generator)
    assert np.std(drawn.points) == pytest.approx(0.01, rel=0.05)
    assert np.std(drawn.counts) == pytest.approx(math.hypot(15.0, 20.0), rel=0.06)
    assert np.array_equal(found.points, np.zeros((4000, 2)))


def test_places_scatter_as_rows_do(generator):
    wide = points_of([[0.0, 0.0], [0.5, 0.5]], [100, 100], variance=np.array([[0.04, 0.01], [0.0, 0.09]]))
    places = wide.scattered(generator, 4000).reshape(2, 4000, 2)
    assert np.allclose(places.mean(axis=1), wide.points)  # opposite pairs
    assert np.allclose(places.var(axis=1), wide.variances, rtol=0.1)


def test_a_cut_is_weighted_kmeans_and_lists_points_again_where_they_are_few(generator):
    found = points_of([[-0.5], [-0.4], [0.6]], [100, 300, 50])
    centers = np.sort(found.cut(2, generator=generator, restarts=3)[:, 0])
    assert np.allclose(centers, [-0.425, 0.6])
    assert found.cut(5, generator=generator, restarts=1)[:, 0].tolist() == [-0.4, -0.5, 0.6, -0.4, -0.5]
    assert points_of([[0.3]], [-5.0], n_rows=1.0).cut(2, generator=generator, restarts=1).tolist() == [[0.3], [0.3]]


def test_the_loss_of_a_cut_is_that_of_the_rows(generator):
    rows = generator.normal([[-0.4, 0.0]] * 3000 + [[0.4, 0.1]] * 3000, 0.05)
    places = np.array([[-0.45, 0.0], [-0.35, 0.0], [0.4, 0.1]])
    owner = nearest_of(rows, places)
    means = np.array([rows[owner == one].mean(axis=0) for one in range(3)])
    found = points_of(means, np.bincount(owner), variance=np.array([rows[owner == one].var(axis=0) for one in range(3)]))
    centers = np.array([[-0.4, 0.0], [0.4, 0.1]])
    assert cut_loss(found, centers) == pytest.approx(np.mean(np.min(squares_between(rows, centers), axis=1)), rel=0.02)


@pytest.mark.parametrize("n_points", [1, 2, 9])
def test_a_tree_of_equal_weights_is_that_of_scipy(n_points, generator):
    places = generator.normal(size=(n_points, 3))
    tree = ward_tree(places, np.ones(n_points))
    assert tree.shape == (n_points - 1, 4)
    if n_points > 1:
        assert is_valid_linkage(tree)
        wanted = linkage(places, "ward")
        assert np.allclose(tree[:, 2], wanted[:, 2])
        assert np.array_equal(tree[:, 3], wanted[:, 3])


def test_a_silhouette_tells_separated_clusters_from_one_that_is_cut(generator):
    found = groups(generator, 3, 2)
    well, cut = (found.cut(k, generator=generator, restarts=5) for k in (3, 8))
    assert silhouette(found, well) > 0.8 > silhouette(found, cut) > 0.0
    assert silhouette(found, well[:1]) == 0.0


def summarise(rows, n_points=48):
    """Return the points that k-means finds in rows, as a synopsis holds them."""
    model = Exact(n_points, n_init=1, random_state=0).fit(rows)
    labels = model.labels_
    variances = np.array([rows[labels == one].var(axis=0) for one in range(n_points)])
    return points_of(model.cluster_centers_, np.bincount(labels), sigma=3.0, errors=1e-4, variance=variances)


@pytest.mark.fast("2-2", "4-40")
@pytest.mark.parametrize(("n_groups", "n_features"), [(2, 2), (5, 3), (8, 10), (4, 40)])
def test_the_planted_number_is_chosen(n_groups, n_features, generator):
    middles = groups(generator, n_groups, n_features, each=1, spread=0.05).points
    rows = np.repeat(middles, 500, axis=0) + 0.05 * generator.normal(size=(500 * n_groups, n_features))
    choice = compare_numbers(range(1, 13), summarise(rows), corners=(), generator=generator)
    assert choice.best == choice.elbow == n_groups
    assert n_groups in choice.as_good
    assert str(choice).startswith(f"{n_groups} clusters")


def test_of_many_columns_the_scatter_hides_no_cluster(generator):
    middles = 0.1 * np.eye(40)[:6]  # seven standard deviations apart, with a scatter within clusters that is much larger
    rows = np.repeat(middles, 600, axis=0) + 0.02 * generator.normal(size=(3600, 40))
    assert compare_numbers(range(1, 13), summarise(rows), corners=(), generator=generator).best == 6


def test_noise_of_places_in_many_columns_hides_no_cluster(generator):
    """It is known how large it is, so it is no part of the held-out loss."""
    middles, noise = 0.3 * np.eye(200)[:8], 0.015
    places = np.repeat(middles, 5, axis=0) + noise * generator.normal(size=(40, 200))
    found = points_of(places, np.full(40, 300.0), sigma=5.0, errors=noise, variance=0.02**2)
    choice = compare_numbers(range(1, 13), found, corners=(), generator=generator)
    assert 7 <= choice.best <= 9
    inside = choice.held_out[7] - found.scatter
    assert inside < 200 * noise**2


def test_independent_columns_are_one_cluster_and_those_that_go_together_are_not(generator):
    apart = (generator.random((6000, 6)) < 0.5).astype(float)
    together = np.repeat((generator.random((6000, 2)) < 0.5).astype(float), 3, axis=1)
    corners = [np.array([[-0.5], [0.5]])] * 6
    found = [
        compare_numbers(
            range(1, 13), summarise(rows + 1e-6 * generator.normal(size=rows.shape)), corners=corners, generator=generator
        )
        for rows in (apart - 0.5, together - 0.5)
    ]
    assert [choice.best for choice in found] == [1, 4]


def test_nested_clusters_are_good_at_one_level_and_the_other_is_named(generator):
    middles = np.array([[-0.6, 0.0], [0.6, 0.0]])[:, None] + np.array([[0.0, 0.1], [0.08, -0.08], [-0.08, -0.08]])
    rows = np.repeat(middles.reshape(-1, 2), 600, axis=0) + 0.01 * generator.normal(size=(3600, 2))
    choice = compare_numbers(range(1, 13), summarise(rows), corners=(), generator=generator)
    assert choice.best in (2, 6)
    assert choice.best in choice.as_good


@pytest.mark.fast("2-<lambda>0", "8-<lambda>1")
@pytest.mark.parametrize("draw", [lambda g, size: g.uniform(-0.7, 0.7, size), lambda g, size: 0.2 * g.normal(size=size)])
@pytest.mark.parametrize("n_features", [1, 2, 8])
def test_rows_without_clusters_are_one(draw, n_features, generator):
    choice = compare_numbers(range(1, 13), summarise(draw(generator, (6000, n_features))), corners=(), generator=generator)
    assert choice.best == 1
    assert choice.as_good == (1,)
    assert str(choice).startswith("1 cluster:")


def test_rows_in_one_place_are_one_cluster(generator):
    found = points_of(np.zeros((5, 2)), [1000.0, 2.0, -3.0, 1.0, 0.0], sigma=4.0)
    assert compare_numbers(range(1, 5), found, corners=(), generator=generator).best == 1


def test_a_tree_joins_light_points_first():
    tree = ward_tree(np.array([[0.0], [1.0], [1.9], [2.95]]), np.array([1000.0, 1000.0, 1.0, 1000.0]))
    assert tree[0, :2].tolist() == [1.0, 2.0]
