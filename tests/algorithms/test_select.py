# SPDX-License-Identifier: Apache-2.0
"""Choosing centres among weighted points: which votes are kept, and what each rule makes of them."""

import hypothesis.extra.numpy as arrays
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloister.algorithms import VOTE_RULES
from cloister.algorithms._select import clean_votes, keep_votes, select_kmeans, select_kmedians, select_top

VOTES = arrays.arrays(np.float64, st.integers(1, 40), elements=st.integers(-50, 200).map(float))


@given(VOTES, st.floats(0, 3000))
def test_the_largest_votes_are_kept_until_they_exceed_the_rows(votes, n_rows):
    kept = keep_votes(votes.copy(), n_rows)
    alive = kept > 0
    assert kept.shape == votes.shape
    assert (kept >= 0).all()
    assert np.array_equal(kept[alive], votes[alive])
    if alive.any() and not alive.all():
        assert votes[alive].min() >= votes[~alive].max() or votes[~alive].max() <= 0
    if kept.sum() > n_rows:  # just enough: without the smallest that was kept they would not exceed it
        assert kept.sum() - kept[alive].min() <= n_rows
    else:  # never enough: everything positive stays
        assert np.array_equal(kept, np.maximum(votes, 0))


@pytest.mark.parametrize("rule", VOTE_RULES)
def test_votes_are_not_changed_in_place(rule):
    votes = np.array([3.0, -1.0, 2.0])
    clean_votes(votes, rule, n_rows=1, floor=2.5)
    assert votes.tolist() == [3.0, -1.0, 2.0]


@given(VOTES, st.floats(0, 300))
def test_a_threshold_drops_what_is_below_it_and_leaves_the_others(votes, floor):
    clean = clean_votes(votes, "threshold", n_rows=1.0, floor=floor)
    assert np.array_equal(clean, np.where(votes >= floor, votes, 0.0))


def test_the_older_rule_takes_the_most_voted():
    points = np.arange(10.0)[:, None]
    votes = np.array([0, 5, 1, 9, 2, 9, 0, -3, 4, 0], dtype=float)
    assert select_top(points, votes, 3).ravel().tolist() == [3.0, 5.0, 1.0]


@pytest.mark.parametrize("n_clusters", [1, 3, 8])
def test_weighted_k_means_returns_k_centres_among_the_points(n_clusters, generator):
    points, votes = generator.normal(size=(60, 2)), generator.random(60)
    votes[::3] = 0
    centers = select_kmeans(points, votes, n_clusters, generator=generator, restarts=2)
    assert centers.shape == (n_clusters, 2)
    alive = points[votes > 0]
    assert (centers >= alive.min(axis=0) - 1e-12).all()
    assert (centers <= alive.max(axis=0) + 1e-12).all()


def test_points_without_votes_have_no_pull(generator):
    points = np.vstack([generator.normal(size=(30, 2)) / 100, np.full((30, 2), 100.0)])
    votes = np.r_[np.ones(30), np.zeros(30)]
    assert np.abs(select_kmeans(points, votes, 2, generator=generator, restarts=2)).max() < 1


def test_the_centre_of_one_cluster_is_the_weighted_mean(generator):
    points, votes = generator.normal(size=(50, 3)), generator.integers(1, 100, size=50).astype(float)
    center = select_kmeans(points, votes, 1, generator=generator, restarts=3)
    assert np.allclose(center[0], np.average(points, axis=0, weights=votes))


@pytest.mark.parametrize("n_clusters", [1, 3, 8])
def test_k_medians_are_points_that_have_votes(n_clusters, generator):
    points, votes = generator.normal(size=(60, 2)), generator.random(60)
    votes[::3] = 0
    centers = select_kmedians(points, votes, n_clusters, generator=generator)
    assert len(np.unique(centers, axis=0)) == n_clusters
    assert all((points[votes > 0] == center).all(axis=1).any() for center in centers)


def test_the_median_of_one_cluster_has_the_least_weighted_sum_of_distances(generator):
    points, votes = generator.normal(size=(50, 3)), generator.integers(1, 100, size=50).astype(float)
    costs = np.linalg.norm(points[:, None] - points, axis=2) @ votes
    assert np.array_equal(select_kmedians(points, votes, 1, generator=generator)[0], points[costs.argmin()])
