# SPDX-License-Identifier: Apache-2.0
"""Weighted k-means of public points: k-means++ starts and Lloyd's iterations for all restarts side by side.

Problems here are small (hundreds of points, tens of clusters) and come by the thousand, so what counts is the overhead of a
call. Large ones go to scikit-learn's compiled iterations.
"""

import math
import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from cloister.columns import FloatArray, IntArray

CACHED_DISTANCES = 1 << 16  # distances in work at a time
COMPARED = 2**14  # sums and targets: up to so many, comparing all is faster than searching
LARGE_PROBLEM = 1 << 19  # points times clusters from which compiled code wins
LARGEST_ITERATIONS = 300


def weighted_kmeans(
    points: FloatArray, weights: FloatArray, n_clusters: int, *, generator: np.random.Generator, restarts: int
) -> FloatArray:
    """Return the centres of the run with the lowest loss, of at least as many points as clusters; weights are positive."""
    starts = plusplus(points, weights, n_clusters, generator=generator, restarts=restarts)
    if len(points) * n_clusters >= LARGE_PROBLEM:
        return _compiled(points, weights, starts)
    centers, losses = settle(points, weights, points[starts])
    return np.asarray(centers[np.argmin(losses)])


def settle(points: FloatArray, weights: FloatArray, starts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return where weighted k-means ends from each of several starts of shape (n_starts, n_clusters, d), and the losses."""
    at_once = max(1, CACHED_DISTANCES // (len(points) * starts.shape[1]))
    parts = [_lloyd(points, weights, starts[first : first + at_once]) for first in range(0, len(starts), at_once)]
    centers, losses = zip(*parts, strict=True)
    return np.concatenate(centers), np.concatenate(losses)


def plusplus(
    points: FloatArray, weights: FloatArray, n_clusters: int, *, generator: np.random.Generator, restarts: int
) -> IntArray:
    """Draw greedy k-means++ starts, all restarts side by side; return indices of shape (restarts, n_clusters).

    Each next centre is the best of ``2 + log(n_clusters)`` points drawn in proportion to weight times squared distance from the
    centres so far.
    """
    trials = 2 + int(math.log(n_clusters))
    at_once = max(1, CACHED_DISTANCES // (trials * len(points)))
    if restarts > at_once:
        sizes = [at_once] * (restarts // at_once) + [restarts % at_once] * (restarts % at_once > 0)
        return np.concatenate([plusplus(points, weights, n_clusters, generator=generator, restarts=size) for size in sizes])
    norms = np.sum(points * points, axis=1)
    chosen = np.empty((restarts, n_clusters), dtype=np.int64)
    chosen[:, 0] = _draw(np.broadcast_to(weights, (restarts, len(weights))), 1, generator)[:, 0]
    closest = _squares(points, norms, chosen[:, :1])[:, 0]
    every = np.arange(restarts)
    for step in range(1, n_clusters):
        drawn = _draw(closest * weights, trials, generator)
        shorter = np.minimum(_squares(points, norms, drawn), closest[:, None, :])
        winner = np.argmin(shorter @ weights, axis=1)
        chosen[:, step] = drawn[every, winner]
        closest = shorter[every, winner]
    return chosen


def _draw(masses: FloatArray, count: int, generator: np.random.Generator) -> IntArray:
    """Draw `count` indices per row of `masses`, in proportion to its entries (any, where all are zero)."""
    sums = np.cumsum(masses, axis=1)
    targets = generator.random((len(masses), count)) * sums[:, -1:]
    if targets.size * sums.shape[1] <= COMPARED:
        found = np.count_nonzero(sums[:, None, :] <= targets[:, :, None], axis=2)
    else:
        found = np.stack([np.searchsorted(row, target, side="right") for row, target in zip(sums, targets, strict=True)])
    return np.asarray(np.minimum(found, masses.shape[1] - 1), dtype=np.int64)


def _squares(points: FloatArray, norms: FloatArray, chosen: IntArray) -> FloatArray:
    """Squared distances of the chosen points to all points, of shape (restarts, count, n_points)."""
    flat = chosen.ravel()
    squares = norms[flat, None] - 2 * (points[flat] @ points.T) + norms
    return np.asarray(np.maximum(squares, 0.0).reshape(*chosen.shape, len(points)))


def _lloyd(points: FloatArray, weights: FloatArray, centers: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Iterate from starts of shape (restarts, n_clusters, n_dimensions) until no point changes its centre.

    A centre that loses all its points stays where it is. Returns the centres and the loss of each restart.
    """
    restarts, n_clusters, dimension = centers.shape
    n_points = len(points)
    norms = np.sum(points * points, axis=1)
    offsets = n_clusters * np.arange(restarts)[:, None]
    mass = np.tile(weights, restarts)
    weighted = [np.tile(weights * points[:, axis], restarts) for axis in range(dimension)]
    labels = np.full((restarts, n_points), -1)
    centers = centers.copy()
    for _ in range(LARGEST_ITERATIONS):
        scores = np.sum(centers * centers, axis=2)[:, :, None] - 2 * (centers @ points.T)
        found = np.argmin(scores, axis=1)
        if np.array_equal(found, labels):
            break
        labels = found
        flat = (labels + offsets).ravel()
        sizes = np.bincount(flat, weights=mass, minlength=restarts * n_clusters)
        filled = sizes > 0
        moved = centers.reshape(-1, dimension)
        for axis in range(dimension):
            sums = np.bincount(flat, weights=weighted[axis], minlength=restarts * n_clusters)
            moved[filled, axis] = sums[filled] / sizes[filled]
    losses = (np.min(scores, axis=1) + norms) @ weights
    return centers, np.asarray(losses)


def _compiled(points: FloatArray, weights: FloatArray, starts: IntArray) -> FloatArray:
    models = [KMeans(starts.shape[1], init=points[start], n_init=1) for start in starts]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct points than clusters: duplicates are fine
        best = min((model.fit(points, sample_weight=weights) for model in models), key=lambda model: float(model.inertia_))
    return np.asarray(best.cluster_centers_, dtype=np.float64)
