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

    ``"cut"`` is Algorithm 2 of PE-means: the largest votes until they add up to more than `n_rows`. ``"nonnegative-total"``
    moves the votes to the nearest non-negative ones that add up to `n_rows`, the most likely votes given the noisy ones (Duchi
    et al. 2008); ``"threshold"`` sets those below `floor` to zero, as earlier versions of private evolution do.
    """
    if rule == "nonnegative-total":
        return project_to_total(votes, n_rows)
    if rule == "threshold":
        return np.where(votes < floor, 0.0, np.maximum(votes, 0.0))
    order = np.argsort(-votes, kind="stable")
    enough = np.flatnonzero(np.cumsum(votes[order]) > n_rows)
    kept = np.maximum(votes, 0.0)
    if enough.size:
        kept[order[enough[0] + 1 :]] = 0.0
    return kept


def select_centers(
    points: FloatArray,
    votes: FloatArray,
    noisy_votes: FloatArray,
    n_clusters: int,
    *,
    selection: str,
    generator: np.random.Generator,
    restarts: int,
) -> FloatArray:
    """Return k centres that the cleaned `votes` speak for.

    ``"kmeans"`` is weighted k-means of the points that have votes. ``"kmedians"`` chooses k of them such that the sum of votes
    times distance to the nearest one is small, which is what the PE-means paper has in mind where it names k-medians: one local
    search by swaps, whose time and memory grow with the square of their number. ``"top-k"`` takes the points with the most
    noisy votes, the rule of private evolution before PE-means; so do the others where no more than k points have votes.
    """
    alive = votes > 0
    if selection == "top-k" or np.count_nonzero(alive) <= n_clusters:
        return points[np.argsort(-noisy_votes, kind="stable")[:n_clusters]]
    found = points[alive]
    if selection == "kmedians":
        chosen = choose_medoids(cdist(found, found), n_clusters, generator=generator, weights=votes[alive])
        return np.asarray(found[chosen.indices])
    return weighted_kmeans(found, votes[alive], n_clusters, generator=generator, restarts=restarts)
