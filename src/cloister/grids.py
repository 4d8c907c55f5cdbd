# SPDX-License-Identifier: Apache-2.0
"""Uniform grids before any is asked for: how many cells are best, how far noise and rounding move k-means, how far counts err.

The rules are those of EUGkM (Su et al. 2017) and RUGNIK (Muthukrishnan and Tandon 2026). RUGNIK minimises over the integers the
function h of :func:`grid_bound`; the bounds are all of the latter paper. Functions of public numbers.
"""

import math
from bisect import bisect_left
from dataclasses import dataclass

from cloister import validate

__all__ = [
    "GRID_RULES",
    "CellBounds",
    "EpsilonRange",
    "GridBound",
    "cell_bounds",
    "cells_per_axis",
    "count_deviation",
    "epsilon_range",
    "grid_bound",
]

UNIFORM_RULES = ("eugkm", "rugnik")
GRID_RULES = ("adaptive", *UNIFORM_RULES)
ROWS_PER_CELL = 10.0  # EUGkM's constant
LARGEST_CELLS = 1 << 24  # per axis: beyond it the counts could not be held
MOST_ROWS, MOST_FEATURES, MOST_CLUSTERS, LARGEST_EPSILON = 1e18, 1 << 20, 1 << 20, 1e100  # products of their powers stay finite
LARGEST_RADIUS = 1e100


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
    validate.one_of("cells_per_axis.rule", rule, UNIFORM_RULES)
    rows, dimension, clusters = _check_sizes("cells_per_axis", n_rows, n_features, n_clusters, may_be_empty=True)
    budget = _check_epsilon("cells_per_axis", epsilon)
    if rule == "eugkm":
        return max(1, min(LARGEST_CELLS, round(math.pow(rows * budget / ROWS_PER_CELL, 2 / (2 + dimension)))))

    def bound(cells: int) -> float:
        return _h(cells, rows, dimension, clusters, budget).total

    # h falls until the only root of its derivative and rises after it.
    rising = bisect_left(range(2, LARGEST_CELLS), True, key=lambda cells: bound(cells) >= bound(cells - 1)) + 2
    return min((max(rising - 2, 1), rising - 1, rising), key=lambda cells: (bound(cells), cells))


@dataclass(frozen=True)
class GridBound:
    """The three terms of h, and what they bound; see :func:`grid_bound`."""

    noise: float  # of the counts
    cross: float  # where in their cells rows lie, times how far the cells lie from their centres
    rounding: float  # where in their cells rows lie, squared
    n_features: int
    n_clusters: int

    @property
    def total(self) -> float:
        """The sum of the three: h itself."""
        return self.noise + self.cross + self.rounding

    def objective(self, radius: float = 1.0) -> float:
        """Return the bound on E[nu], ``d r^2 h / K``, for columns from ``-radius`` to ``radius``.

        nu is how far the sum of squared distances to the centres, divided by K, lies from that of the noisy cells.

        Examples
        --------
        >>> round(grid_bound(10, n_rows=400, n_features=2, n_clusters=4, epsilon=1.0).objective(), 2)
        3.01
        """
        reach = validate.number("GridBound.objective.radius", radius, low=0.0, high=LARGEST_RADIUS)
        return self.n_features * reach**2 * self.total / self.n_clusters


def grid_bound(cells: int, *, n_rows: float, n_features: int, n_clusters: int, epsilon: float) -> GridBound:
    """Return h(m) and its terms: how far a grid with noisy counts moves the k-means objective, at most.

    ``h(m) = sqrt(2) m^(d/2) / (epsilon K^(2/d)) + (2 / (m K^(1/d))) sqrt(N/3) + N / (3 m^2)``

    Parameters
    ----------
    cells : int
        Intervals m along each axis.
    n_rows : float
        Number of rows N, public or noisy.
    n_features, n_clusters : int
        Columns d and clusters K.
    epsilon : float
        Of Laplace noise with scale 1/epsilon; for other noise of standard deviation s pass ``sqrt(2) / s``.

    Returns
    -------
    GridBound
        With `noise`, `cross` and `rounding`, the terms in this order, `total` and ``objective(radius)``.

    Raises
    ------
    ParameterError
        If a number breaks its rule.

    Notes
    -----
    **Privacy.** A function of public numbers.

    The paper shows ``E[nu] <~ d r^2 h(m) / K`` in a cube of half-width r. The noise term is proved for noise of any shape with
    that variance, discrete Laplace included. The bound is no guarantee: it assumes clusters of equal size that fill the cube
    evenly, each in a cube of side ``2 r / K^(1/d)``; independent rows, evenly spread within each cell; and centres that do
    not move. None of that can be checked without looking at rows. On skewed tables see ``rule="adaptive"``. Counts that
    are clipped or projected to their total have less noise than it reckons with.

    Examples
    --------
    >>> found = grid_bound(10, n_rows=400, n_features=2, n_clusters=4, epsilon=1.0)
    >>> round(found.noise, 2), round(found.cross, 2), round(found.rounding, 2), round(found.total, 2)
    (3.54, 1.15, 1.33, 6.02)
    """
    number = validate.integer("grid_bound.cells", cells, low=1, high=LARGEST_CELLS)
    rows, dimension, clusters = _check_sizes("grid_bound", n_rows, n_features, n_clusters)
    return _h(number, rows, dimension, clusters, _check_epsilon("grid_bound", epsilon))


def _h(cells: int, n_rows: float, dimension: int, n_clusters: int, epsilon: float) -> GridBound:
    """Return h of numbers that have been checked."""
    return GridBound(
        noise=math.sqrt(2) * _power(cells, dimension / 2) / (epsilon * math.pow(n_clusters, 2 / dimension)),
        cross=2 / (cells * math.pow(n_clusters, 1 / dimension)) * math.sqrt(n_rows / 3),
        rounding=n_rows / (3 * cells**2),
        n_features=dimension,
        n_clusters=n_clusters,
    )


def count_deviation(n_cells: int, *, epsilon: float, chance: float = 0.05) -> float:
    """Return what no count of a grid is off by more than, but for a chance: ``log(M / chance) / epsilon`` (Remark 1).

    Parameters
    ----------
    n_cells : int
        Cells M of the whole grid.
    epsilon : float
        Of Laplace noise with scale 1/epsilon.
    chance : float, default=0.05
        That some count is farther off.

    Returns
    -------
    float
        In rows.

    Raises
    ------
    ParameterError
        If a number breaks its rule.

    Notes
    -----
    **Privacy.** A function of public numbers.

    It is proved for all tables: each count exceeds t with chance ``exp(-epsilon t)``, and M chances are added. Of the discrete
    Laplace noise that is drawn here it holds rounded up to a whole number, as counts are off by whole numbers. Gaussian noise
    has other tails.

    Examples
    --------
    >>> round(count_deviation(100, epsilon=1.0), 1)
    7.6
    """
    total = validate.integer("count_deviation.n_cells", n_cells, low=1)
    budget = _check_epsilon("count_deviation", epsilon)
    share = validate.number("count_deviation.chance", chance, low=0.0, high=1.0, open_low=True, open_high=True)
    return (math.log(total) - math.log(share)) / budget


@dataclass(frozen=True)
class EpsilonRange:
    """The epsilons for which the bounds of Theorem 2 are proved: the lower one from `low` on, the upper one up to `high`."""

    low: float
    high: float


@dataclass(frozen=True)
class CellBounds:
    """Bounds on the optimal number of cells of the whole grid, as a real number."""

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
    """Return Theorem 2's bounds on the number of cells that minimises h, inside :func:`~cloister.grids.epsilon_range`.

    They bound the real minimiser. The whole number of cells per axis beside it may lie outside: in 18 of the 108 settings of
    the paper's Table III the number of cells that RUGNIK chooses does.

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
    budget = _check_epsilon("cell_bounds", epsilon)
    spread = 1 + math.sqrt(rows / 3)
    eta = budget / dimension * math.sqrt(8 * rows / 3) * spread
    scale = eta * clusters ** (2 / dimension)
    power = 2 * dimension / (4 + dimension)
    return CellBounds(math.floor(scale**power), math.ceil((math.sqrt(3 * rows) / spread * scale) ** power))


def _check_sizes(
    owner: str, n_rows: float, n_features: int, n_clusters: int, *, may_be_empty: bool = False
) -> tuple[float, int, int]:
    return (
        validate.number(f"{owner}.n_rows", n_rows, low=0.0, high=MOST_ROWS, open_low=not may_be_empty),
        validate.integer(f"{owner}.n_features", n_features, low=1, high=MOST_FEATURES),
        validate.integer(f"{owner}.n_clusters", n_clusters, low=1, high=MOST_CLUSTERS),
    )


def _check_epsilon(owner: str, epsilon: float) -> float:
    return validate.number(f"{owner}.epsilon", epsilon, low=0.0, high=LARGEST_EPSILON, open_low=True)


def _power(base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except OverflowError:  # many columns: no finite number is as large
        return math.inf
