# SPDX-License-Identifier: Apache-2.0
"""Choosing centres among weighted points: which votes are kept, and what each rule makes of them."""

import hypothesis.extra.numpy as arrays
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloister.algorithms import SELECTIONS
from cloister.algorithms._select import clean_votes, select_centers

VOTES = arrays.arrays(np.float64, st.integers(1, 40), elements=st.integers(-50, 200).map(float))


@given(VOTES, st.floats(0, 3000))
def test_the_largest_votes_are_kept_until_they_exceed_the_rows(votes, n_rows):
    kept = clean_votes(votes, "cut", n_rows=n_rows, floor=0.0)
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


@given(VOTES, st.floats(0, 300))
def test_a_threshold_drops_what_is_below_it_and_leaves_the_others(votes, floor):
    clean = clean_votes(votes, "threshold", n_rows=1.0, floor=floor)
    assert np.array_equal(clean, np.where(votes >= floor, votes, 0.0))


def select(points, votes, n_clusters, selection, generator, *, noisy_votes=None):
    noisy_votes = votes if noisy_votes is None else noisy_votes
    return select_centers(points, votes, noisy_votes, n_clusters, selection=selection, generator=generator, restarts=2)


@pytest.mark.parametrize("selection", SELECTIONS)
def test_the_most_voted_are_taken_by_the_older_rule_and_where_few_have_votes(selection, generator):
    points = np.arange(10.0)[:, None]
    noisy = np.array([0, 5, 1, 9, 2, 9, 0, -3, 4, 0], dtype=float)
    votes = np.maximum(noisy, 0.0) if selection == "top-k" else np.where(noisy == 9, 9.0, 0.0)
    assert select(points, votes, 3, selection, generator, noisy_votes=noisy).ravel().tolist() == [3.0, 5.0, 1.0]


@pytest.mark.parametrize("n_clusters", [1, 3, 8])
@pytest.mark.parametrize("selection", ["kmeans", "kmedians"])
def test_points_without_votes_have_no_pull(selection, n_clusters, generator):
    points = np.vstack([generator.normal(size=(40, 2)), np.full((30, 2), 100.0)])
    votes = np.r_[generator.random(40), np.zeros(30)]
    centers = select(points, votes, n_clusters, selection, generator)
    assert len(np.unique(centers, axis=0)) == n_clusters
    assert (centers >= points[:40].min(axis=0) - 1e-12).all()
    assert (centers <= points[:40].max(axis=0) + 1e-12).all()
    assert selection == "kmeans" or all((points[:40] == center).all(axis=1).any() for center in centers)


def test_one_cluster_is_at_the_weighted_mean_or_at_the_point_of_least_distance(generator):
    points, votes = generator.normal(size=(50, 3)), generator.integers(1, 100, size=50).astype(float)
    assert np.allclose(select(points, votes, 1, "kmeans", generator)[0], np.average(points, axis=0, weights=votes))
    costs = np.linalg.norm(points[:, None] - points, axis=2) @ votes
    assert np.array_equal(select(points, votes, 1, "kmedians", generator)[0], points[costs.argmin()])
