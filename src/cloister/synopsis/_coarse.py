# SPDX-License-Identifier: Apache-2.0
"""Cells of a grid put together to a few hundred points, for what takes too long on all cells: trees, and drawing again."""

import numpy as np

from cloister.algorithms import CellNoise, NoisyPoints, nearest_cell, weighted_kmeans
from cloister.columns import FloatArray

__all__ = ["MOST_CELLS", "coarse_points"]

MOST_POINTS = 256
MOST_CELLS = 1 << 14  # beyond it even putting cells together takes long


def coarse_points(
    points: FloatArray,
    noisy_counts: FloatArray,
    weights: FloatArray,
    *,
    noise: CellNoise,
    inside: FloatArray,
    n_rows: float,
    generator: np.random.Generator,
) -> NoisyPoints:
    """Return at most 256 points; each stands for the cells that are nearest to it, the empty ones with their noise included.

    Parameters
    ----------
    points : array of shape (n_cells, n_features)
        Where the rows of each cell are taken to be.
    noisy_counts, weights : array of shape (n_cells,)
        As released, and not negative.
    noise : CellNoise
        Of the counts.
    inside : array of shape (n_features,) or (n_cells, n_features)
        Variance of rows within a cell.
    n_rows : float
        Number of rows.
    generator : Generator
        For the choice of points.
    """
    filled = weights > 0
    places = points[filled] if filled.any() else points[:1]
    mass = weights[filled] if filled.any() else np.ones(1)
    if len(places) > MOST_POINTS:
        places = weighted_kmeans(places, mass, MOST_POINTS, generator=generator, restarts=1)
    owner, size = nearest_cell(points, places), len(places)
    total = np.bincount(owner, weights=weights, minlength=size)
    share = np.where(total[owner] > 0, weights / np.maximum(total[owner], 1e-300), 0.0)
    means = np.stack([np.bincount(owner, weights=share * column, minlength=size) for column in points.T], axis=1)
    centers = np.asarray(np.where(total[:, None] > 0, means, places), dtype=np.float64)
    squares = ((points - centers[owner]) ** 2).T
    within = np.broadcast_to(inside, points.shape)
    parts = [np.bincount(owner, weights=share * column, minlength=size) for column in (squares + within.T)]
    variances = np.where(total[:, None] > 0, np.stack(parts, axis=1), within.mean(axis=0))
    return NoisyPoints(
        points=centers,
        errors=np.zeros(size),
        counts=np.bincount(owner, weights=noisy_counts, minlength=size).astype(np.float64),
        count_errors=noise.of_counts(owner, size),
        variances=variances,
        n_rows=n_rows,
    )
