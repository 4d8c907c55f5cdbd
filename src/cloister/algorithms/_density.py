# SPDX-License-Identifier: Apache-2.0
"""Clusters of any shape among noisy cells: DBSCAN on a grid, with thresholds that know the noise.

A cell is judged by the counts in a window around it. Windows that a table without clusters would produce with a chance of at
most `false_alarm`, anywhere on the grid, start a cluster; it grows through neighbours above a lower level, which chance alone
reaches too rarely to spread. Arithmetic on public numbers.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from cloister.columns import FloatArray, IntArray

LARGEST_RADIUS = 2  # that is tried, in cells
CELLS_PER_WINDOW = 4  # an axis has at least so many times the cells of a window
CONTRAST = 2.0  # density, over even density, that the lower level should not exceed
LEAST_NEIGHBOURS = 8


@dataclass(frozen=True, eq=False)
class DenseCells:
    """Which cells belong together, and what they had to hold."""

    labels: IntArray  # of the cells; -1 for none
    n_clusters: int
    radius: tuple[int, ...]  # of the window along each axis, in cells
    level: float  # rows in a cell, on average over a window, that cells of a cluster exceed
    threshold: float  # rows in a cell that some cell of each cluster exceeds


def find_dense_cells(
    noisy_counts: FloatArray,
    *,
    sigma: float,
    n_rows: float,
    min_density: float,
    false_alarm: float,
    radius: int | None,
) -> DenseCells:
    """Return connected regions of cells that are denser than chance explains; `noisy_counts` has one axis per column.

    A count has independent noise of standard deviation `sigma`. `min_density` is in multiples of the density of evenly spread
    rows, and `false_alarm` the chance of any cluster where no place exceeds it. Cells are judged in windows of `radius` cells
    to either side; None is as small as the noise allows.
    """
    density, size = min_density * n_rows / noisy_counts.size, noisy_counts.size
    neighbours = math.log(max(2 * noisy_counts.ndim**2, LEAST_NEIGHBOURS))
    tried = LARGEST_RADIUS + 1 if radius is None else 1
    alarm = math.log(tried * size / false_alarm)
    even = max(n_rows, 0.0) / size
    bound = partial(chance_bound, density=density, sigma=sigma)
    if radius is None:  # the smallest whose lower level is of use
        for candidate in range(LARGEST_RADIUS + 1):
            reach = tuple(min(candidate, max(count // CELLS_PER_WINDOW - 1, 0) // 2) for count in noisy_counts.shape)
            n_cells = math.prod(2 * one + 1 for one in reach)
            if bound(n_cells, log_chance=neighbours) <= n_cells * CONTRAST * even:
                break
    else:
        reach = tuple(min(radius, count - 1) for count in noisy_counts.shape)
    sums, cells = noisy_counts, np.ones(noisy_counts.shape)
    for axis, one in enumerate(reach):
        sums, cells = _window_sums(sums, axis, one), _window_sums(cells, axis, one)
    sizes, place = np.unique(cells, return_inverse=True)  # windows at the border have fewer cells
    levels, thresholds = (np.array([bound(float(n), log_chance=one) for n in sizes]) for one in (neighbours, alarm))
    labels, n_clusters = _join(*(sums > one[place].reshape(cells.shape) for one in (levels, thresholds)))
    return DenseCells(labels, n_clusters, reach, float(levels[-1] / sizes[-1]), float(thresholds[-1] / sizes[-1]))


def chance_bound(n_cells: float, *, density: float, sigma: float, log_chance: float) -> float:
    """Return what the noisy counts of some cells exceed with a chance of at most ``exp(-log_chance)``.

    Each cell holds a Poisson number of rows with mean `density` and noise of standard deviation `sigma`. This is Chernoff's
    bound for discrete Laplace noise: ``E[exp(s X)] = 1 / (1 - sigma^2 (cosh s - 1))``. Gaussian noise, sums and averages of
    several answers with this standard deviation in all have smaller moments, so that it holds for them too.
    """
    largest = 2 * math.asinh(math.sqrt(0.5) / sigma)  # up to here the moments exist

    def bound(part: float) -> float:
        step = part * largest
        noise = -math.log1p(-2 * (sigma * math.sinh(step / 2)) ** 2)
        return (n_cells * (density * math.expm1(step) + noise) + log_chance) / step

    found = minimize_scalar(bound, bounds=(1e-9, 1 - 1e-9), method="bounded", options={"xatol": 1e-9})
    return float(found.fun)


def _window_sums(values: FloatArray, axis: int, reach: int) -> FloatArray:
    """Add up along an axis what lies within `reach` cells; beyond the border there is nothing."""
    count = values.shape[axis]
    sums = np.concatenate([np.zeros_like(values.take([0], axis)), np.cumsum(values, axis=axis)], axis=axis)
    place = np.arange(count)
    after, before = sums.take(np.minimum(place + reach + 1, count), axis), sums.take(np.maximum(place - reach, 0), axis)
    return np.asarray(after - before)


def _join(members: npt.NDArray[np.bool_], starts: npt.NDArray[np.bool_]) -> tuple[IntArray, int]:
    """Label connected members; of these regions, those with a start are clusters."""
    labels = np.full(members.shape, -1, dtype=np.int64)
    if not (members & starts).any():
        return labels, 0
    first, second = np.concatenate([np.empty((2, 0), dtype=np.int64), *_neighbours(members)], axis=1)
    n_members = int(np.count_nonzero(members))
    graph = coo_array((np.ones(len(first), dtype=bool), (first, second)), shape=(n_members, n_members))
    n_regions, regions = connected_components(graph, directed=False)
    kept, renamed = np.unique(regions[starts[members]]), np.full(n_regions, -1)
    renamed[kept] = np.arange(len(kept))
    labels[members] = renamed[regions]
    return labels, len(kept)


def _neighbours(members: npt.NDArray[np.bool_]) -> Iterator[IntArray]:
    """Yield pairs of members that lie one step apart along one axis or two, by their places among the members."""
    places, index = np.argwhere(members), np.flatnonzero(members)
    strides = [math.prod(members.shape[axis + 1 :]) for axis in range(members.ndim)]
    slanted = {abs(step) for one, other in combinations(strides, 2) for step in (one + other, one - other)}
    for step in ({*strides} | slanted) - {0}:
        there = np.minimum(np.searchsorted(index, index + step), len(index) - 1)
        here = np.flatnonzero(index[there] == index + step)
        is_near = np.sum((places[there[here]] - places[here]) ** 2, axis=1) <= 2  # and not beyond the end of an axis
        yield np.stack([here, there[here]])[:, is_near]
