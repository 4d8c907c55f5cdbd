# SPDX-License-Identifier: Apache-2.0
"""Uniform grids: how many cells to use, and what to make of their noisy counts.

The rules are those of EUGkM (Su et al. 2017) and RUGNIK (Muthukrishnan and Tandon 2026). RUGNIK minimises

    h(m) = sqrt(2) m^(d/2) / (epsilon K^(2/d)) + (2 / (m K^(1/d))) sqrt(N/3) + N / (3 m^2),

a bound on how far noise (first term) and rounding to cells (the others) move the k-means objective, over the integers.
"""

import math
from dataclasses import dataclass

import numpy as np

from cloister import validate
from cloister.domain import FloatArray

__all__ = [
    "COUNT_RULES",
    "GRID_RULES",
    "CellBounds",
    "EpsilonRange",
    "cell_bounds",
    "cells_per_axis",
    "denoise_counts",
    "epsilon_range",
    "grid_shape",
    "project_to_total",
]

GRID_RULES = ("eugkm", "rugnik")
COUNT_RULES = ("clip", "none", "nonnegative-total")
ROWS_PER_CELL = 10.0  # EUGkM's constant
LARGEST_CELLS = 1 << 24  # per axis: beyond it the counts could not be held
MOST_ROWS, MOST_FEATURES, MOST_CLUSTERS, LARGEST_EPSILON = 1e18, 1 << 20, 1 << 20, 1e100  # products of their powers stay finite


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
    validate.one_of(f"{owner}.rule", rule, GRID_RULES)
    rows = validate.number(f"{owner}.n_rows", n_rows, low=0.0, high=MOST_ROWS)
    dimension = validate.integer(f"{owner}.n_features", n_features, low=1, high=MOST_FEATURES)
    clusters = validate.integer(f"{owner}.n_clusters", n_clusters, low=1, high=MOST_CLUSTERS)
    budget = validate.number(f"{owner}.epsilon", epsilon, low=0.0, high=LARGEST_EPSILON, open_low=True)
    if rule == "eugkm":
        return max(1, min(LARGEST_CELLS, round(math.pow(rows * budget / ROWS_PER_CELL, 2 / (2 + dimension)))))
    return _rugnik(rows, dimension, clusters, budget)


@dataclass(frozen=True)
class EpsilonRange:
    """The epsilons for which the bounds of Theorem 2 are proved: the lower one from `low` on, the upper one up to `high`."""

    low: float
    high: float


@dataclass(frozen=True)
class CellBounds:
    """Bounds on the optimal number of cells of the whole grid."""

    low: int
    high: int


def epsilon_range(*, n_rows: float, n_features: int, n_clusters: int) -> EpsilonRange:
    """Return epsilon_0 and epsilon_1 of Theorem 2 (Table I of the RUGNIK paper).

    Parameters
    ----------
    n_rows : float
        Number of rows, above 0.
    n_features, n_clusters : int
        Columns and clusters.

    Returns
    -------
    EpsilonRange
        With `low` and `high`.

    Raises
    ------
    ParameterError
        If a number breaks its rule.

    Notes
    -----
    **Privacy.** A function of public numbers.

    Examples
    --------
    >>> found = epsilon_range(n_rows=100, n_features=2, n_clusters=2)
    >>> round(found.low, 3), round(found.high, 3)
    (0.026, 15.396)
    """
    rows, dimension, clusters = _check_sizes("epsilon_range", n_rows, n_features, n_clusters)
    low = dimension * math.sqrt(3 * clusters / (8 * rows)) / (1 + math.sqrt(rows / 3))
    return EpsilonRange(low, dimension * math.sqrt(2 * clusters) / 3 * _power(4 * rows / 3, dimension / 4))


def cell_bounds(*, n_rows: float, n_features: int, n_clusters: int, epsilon: float) -> CellBounds:
    """Return Theorem 2's bounds on the number of cells; they hold inside :func:`epsilon_range`.

    Parameters
    ----------
    n_rows : float
        Number of rows, above 0.
    n_features, n_clusters : int
        Columns and clusters.
    epsilon : float
        Of Laplace noise with scale 1/epsilon.

    Returns
    -------
    CellBounds
        With `low` and `high`, of the whole grid.

    Raises
    ------
    ParameterError
        If a number breaks its rule.

    Notes
    -----
    **Privacy.** A function of public numbers.

    Examples
    --------
    >>> cell_bounds(n_rows=400, n_features=2, n_clusters=4, epsilon=1.0)
    CellBounds(low=87, high=173)
    """
    rows, dimension, clusters = _check_sizes("cell_bounds", n_rows, n_features, n_clusters)
    budget = validate.number("cell_bounds.epsilon", epsilon, low=0.0, high=LARGEST_EPSILON, open_low=True)
    spread = 1 + math.sqrt(rows / 3)
    eta = budget / dimension * math.sqrt(8 * rows / 3) * spread
    scale = eta * clusters ** (2 / dimension)
    power = 2 * dimension / (4 + dimension)
    return CellBounds(math.floor(scale**power), math.ceil((math.sqrt(3 * rows) / spread * scale) ** power))


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
    cut = excess[kept[-1]] if kept.size else flat[0]
    return np.asarray(np.maximum(values - cut, 0.0))


def _check_sizes(owner: str, n_rows: float, n_features: int, n_clusters: int) -> tuple[float, int, int]:
    return (
        validate.number(f"{owner}.n_rows", n_rows, low=0.0, high=MOST_ROWS, open_low=True),
        validate.integer(f"{owner}.n_features", n_features, low=1, high=MOST_FEATURES),
        validate.integer(f"{owner}.n_clusters", n_clusters, low=1, high=MOST_CLUSTERS),
    )


def _power(base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except OverflowError:  # many columns: the upper bound holds for every epsilon
        return math.inf


def _rugnik(n_rows: float, dimension: int, n_clusters: int, epsilon: float) -> int:
    """Minimise h over the integers: h falls until the only root of its derivative and rises after it."""

    def bound(cells: int) -> float:
        noise = math.sqrt(2) * _power(cells, dimension / 2) / (epsilon * math.pow(n_clusters, 2 / dimension))
        cross = 2 / (cells * math.pow(n_clusters, 1 / dimension)) * math.sqrt(n_rows / 3)
        return noise + cross + n_rows / (3 * cells**2)

    low, high = 1, 2
    while high < LARGEST_CELLS and bound(high) < bound(high - 1):
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if bound(middle) < bound(middle - 1) else (low, middle)
    return min((low, high, low - 1 or 1), key=lambda cells: (bound(cells), cells))
