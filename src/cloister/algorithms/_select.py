# SPDX-License-Identifier: Apache-2.0
"""What to make of noisy votes for public points: which votes count, and which k centres they speak for."""

import numpy as np
from scipy.spatial.distance import cdist

from cloister.algorithms._grid import project_to_total
from cloister.algorithms._kmeans import weighted_kmeans
from cloister.algorithms._medoids import choose_medoids
from cloister.columns import FloatArray

SELECTIONS = ("kmeans", "kmedians", "top-k")
VOTE_RULES = ("cut", "nonnegative-total", "threshold")


def clean_votes(votes: FloatArray, rule: str, *, n_rows: float, floor: float) -> FloatArray:
    """Return non-negative votes that can serve as weights: post-processing, so it costs nothing.

    ``"cut"`` is Algorithm 2 of PE-means (:func:`keep_votes`); ``"nonnegative-total"`` moves the votes to the nearest
    non-negative ones that add up to `n_rows`, the most likely votes given the noisy ones (Duchi et al. 2008); ``"threshold"``
    sets those below `floor` to zero, as earlier versions of private evolution do.
    """
    if rule == "nonnegative-total":
        return project_to_total(votes, n_rows)
    if rule == "threshold":
        return np.where(votes < floor, 0.0, np.maximum(votes, 0.0))
    return keep_votes(votes, n_rows)


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


def select_kmedians(points: FloatArray, votes: FloatArray, n_clusters: int, *, generator: np.random.Generator) -> FloatArray:
    """Return k of the points that have votes, such that the sum of votes times distance to the nearest one is small.

    Centres are points of the population, never between them: what the PE-means paper has in mind where it names k-medians.
    One local search by swaps; time and memory grow with the square of the number of points that have votes.
    """
    alive = votes > 0
    found = points[alive]
    chosen = choose_medoids(cdist(found, found), n_clusters, generator=generator, weights=votes[alive])
    return np.asarray(found[chosen.indices])
