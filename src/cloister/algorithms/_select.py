# SPDX-License-Identifier: Apache-2.0
"""Choosing k centres among weighted public points."""

import numpy as np

from cloister.algorithms._kmeans import weighted_kmeans
from cloister.domain import FloatArray

__all__ = ["keep_votes", "select_kmeans", "select_top"]


def keep_votes(votes: FloatArray, n_rows: float) -> FloatArray:
    """Keep the largest noisy votes until they add up to more than the number of rows; set the others to zero (Algorithm 2)."""
    order = np.argsort(-votes, kind="stable")
    enough = np.flatnonzero(np.cumsum(votes[order]) > n_rows)
    kept = np.maximum(votes, 0.0)
    if enough.size:
        kept[order[enough[0] + 1 :]] = 0.0
    return kept


def select_top(points: FloatArray, votes: FloatArray, n_clusters: int) -> FloatArray:
    """Return the points with the most votes (the rule of private evolution before PE-means)."""
    order = np.argsort(-votes, kind="stable")[:n_clusters]
    return points[order]


def select_kmeans(
    points: FloatArray,
    votes: FloatArray,
    n_clusters: int,
    *,
    generator: np.random.Generator,
    restarts: int,
) -> FloatArray:
    """Return the centres of a weighted k-means of the points that have votes; there must be at least as many as centres."""
    alive = votes > 0
    return weighted_kmeans(points[alive], votes[alive], n_clusters, generator=generator, restarts=restarts)
