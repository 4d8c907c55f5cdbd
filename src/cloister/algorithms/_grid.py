# SPDX-License-Identifier: Apache-2.0
"""Uniform grids: how many cells to use, and what to make of their noisy counts.

The rules are those of EUGkM (Su et al. 2017) and RUGNIK (Muthukrishnan and Tandon 2026). RUGNIK minimises over
the integers the function h of :func:`grid_bound`, a bound on how far noise and rounding to cells move the k-means objective.
"""

import math

import numpy as np

from cloister import validate
from cloister.algorithms._grid_bound import LARGEST_CELLS, LARGEST_EPSILON, MOST_CLUSTERS, MOST_FEATURES, MOST_ROWS, bound_of
from cloister.columns import FloatArray

__all__ = [
    "COUNT_RULES",
    "GRID_RULES",
    "UNIFORM_RULES",
    "cells_per_axis",
    "denoise_counts",
    "grid_shape",
    "project_to_total",
]

UNIFORM_RULES = ("eugkm", "rugnik")
GRID_RULES = ("adaptive", *UNIFORM_RULES)
COUNT_RULES = ("clip", "none", "nonnegative-total")
ROWS_PER_CELL = 10.0  # EUGkM's constant


def cells_per_axis(rule: str, *, n_rows: float, n_features: int, n_clusters: int, epsilon: float) -> int:
    """Return how many intervals a uniform grid should cut each axis into.

    Parameters
    ----------
    rule : {"rugnik", "eugkm"}
        RUGNIK takes the integer that minimises its bound h; EUGkM rounds ``(N epsilon / 10)^(2 / (2 + d))``.
    n_rows : float
        Number of rows, public or noisy.
    n_features, n_clusters : int
        Columns, and clusters the grid is for (EUGkM does not look at them).
    epsilon : float
        Of Laplace noise with scale 1/epsilon; for other noise of standard deviation s pass ``sqrt(2) / s``.

    Returns
    -------
    int
        Cells per axis, at least 1.

    Raises
    ------
    ParameterError
        If a number breaks its rule.

    Notes
    -----
    **Privacy.** A function of public numbers.

    Examples
    --------
    >>> cells_per_axis("rugnik", n_rows=400, n_features=2, n_clusters=4, epsilon=1.0)
    10
    >>> cells_per_axis("eugkm", n_rows=400, n_features=2, n_clusters=4, epsilon=1.0)
    6
    """
    owner = "cells_per_axis"
    validate.one_of(f"{owner}.rule", rule, UNIFORM_RULES)
    rows = validate.number(f"{owner}.n_rows", n_rows, low=0.0, high=MOST_ROWS)
    dimension = validate.integer(f"{owner}.n_features", n_features, low=1, high=MOST_FEATURES)
    clusters = validate.integer(f"{owner}.n_clusters", n_clusters, low=1, high=MOST_CLUSTERS)
    budget = validate.number(f"{owner}.epsilon", epsilon, low=0.0, high=LARGEST_EPSILON, open_low=True)
    if rule == "eugkm":
        return max(1, min(LARGEST_CELLS, round(math.pow(rows * budget / ROWS_PER_CELL, 2 / (2 + dimension)))))
    return _rugnik(rows, dimension, clusters, budget)


def grid_shape(per_axis: int, half_widths: FloatArray) -> tuple[int, ...]:
    """Return cells per axis for a box: `per_axis` for a cube, else in proportion to the widths, about as many in all."""
    widths = np.asarray(half_widths, dtype=np.float64)
    if np.ptp(widths) <= 1e-9 * widths.max():
        return (per_axis,) * len(widths)
    side = math.exp(float(np.mean(np.log(widths)))) / per_axis
    return tuple(max(1, round(float(width / side))) for width in widths)


def denoise_counts(noisy_counts: FloatArray, rule: str, *, total: float) -> FloatArray:
    """Return counts that can serve as weights: post-processing, so it costs nothing.

    ``"clip"`` sets negative counts to zero; ``"nonnegative-total"`` moves the counts to the nearest non-negative ones that
    add up to `total`; ``"none"`` leaves them.
    """
    validate.one_of("counts", rule, COUNT_RULES)
    if rule == "none":
        return np.asarray(noisy_counts, dtype=np.float64)
    if rule == "clip":
        return np.maximum(noisy_counts, 0.0)
    return project_to_total(noisy_counts, total)


def project_to_total(values: FloatArray, total: float) -> FloatArray:
    """Project onto the non-negative vectors with the given sum (Duchi et al. 2008)."""
    flat = np.sort(np.asarray(values, dtype=np.float64).ravel())[::-1]
    goal = max(float(total), 0.0)
    excess = (np.cumsum(flat) - goal) / np.arange(1, len(flat) + 1)
    kept = np.flatnonzero(flat > excess)
    if not kept.size:  # the sum is nothing beside the largest value, or nothing at all
        largest = np.asarray(values) == flat[0]
        return np.asarray(np.where(largest, goal / largest.sum(), 0.0))
    return np.asarray(np.maximum(values - excess[kept[-1]], 0.0))


def _rugnik(n_rows: float, dimension: int, n_clusters: int, epsilon: float) -> int:
    """Minimise h over the integers: h falls until the only root of its derivative and rises after it."""

    def bound(cells: int) -> float:
        return bound_of(cells, n_rows, dimension, n_clusters, epsilon).total

    low, high = 1, 2
    while high < LARGEST_CELLS and bound(high) < bound(high - 1):
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if bound(middle) < bound(middle - 1) else (low, middle)
    return min((low, high, low - 1 or 1), key=lambda cells: (bound(cells), cells))
