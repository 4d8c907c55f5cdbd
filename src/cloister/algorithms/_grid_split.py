# SPDX-License-Identifier: Apache-2.0
"""Adaptive grids: cells of a coarse grid that are split further where many rows are, as their noisy counts say.

How far a cell is split is decided by the bound h of RUGNIK, written for leaves of several sizes: the noise of all leaves
against the rounding of the rows to their leaf. The two levels are then put together by least squares. Arithmetic on public
numbers.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cloister.algorithms._grid import denoise_counts, project_lines, project_to_total
from cloister.columns import FloatArray, IntArray

LARGEST_FACTOR = 64
LARGEST_FINEST = 1 << 22  # cells of the finest grid, on which all leaves lie
STRENGTHS = np.geomspace(1e-8, 1e4, 73)  # of the price of noise, tried one after the other


@dataclass(frozen=True, eq=False)
class GridSplit:
    """How the cells of a coarse grid are split into leaves: each into equal parts, a power of two along every axis.

    Leaves are listed cell by cell; cells, and parts of a cell, are counted along the last axis first.
    """

    factors: IntArray  # one axis per column: parts of each cell along every axis
    sigma: float  # noise of the second count, of the parts

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.factors.ndim

    @property
    def coarse(self) -> tuple[int, ...]:
        """Cells along each axis before any is split."""
        return self.factors.shape

    @cached_property
    def finest(self) -> int:
        """Parts of the cells that are split most, along every axis."""
        return int(self.factors.max())

    @property
    def cells(self) -> tuple[int, ...]:
        """Cells along each axis of the finest grid."""
        return tuple(count * self.finest for count in self.coarse)

    @cached_property
    def n_parts(self) -> IntArray:
        """Number of leaves of each cell."""
        return np.asarray(self.factors.ravel() ** self.n_features)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(self.n_parts.sum())

    @cached_property
    def owners(self) -> IntArray:
        """The cell of each leaf."""
        return np.repeat(np.arange(len(self.n_parts)), self.n_parts)

    @cached_property
    def starts(self) -> IntArray:
        """The first leaf of each cell."""
        return np.asarray(np.cumsum(self.n_parts) - self.n_parts)

    @cached_property
    def low(self) -> FloatArray:
        """Lower corner of each leaf, of shape (n_leaves, n_features), in parts of the box."""
        left = np.arange(self.n_leaves) - self.starts[self.owners]
        factor, places = self.factors.ravel()[self.owners], np.empty((self.n_leaves, self.n_features))
        for axis in reversed(range(self.n_features)):
            places[:, axis] = left % factor
            left //= factor
        cell = np.stack(np.unravel_index(self.owners, self.coarse), axis=1)
        return np.asarray((cell + places / factor[:, None]) / np.array(self.coarse))

    @cached_property
    def widths(self) -> FloatArray:
        """Widths of each leaf, of shape (n_leaves, n_features), in parts of the box."""
        return np.asarray(1 / (self.factors.ravel()[self.owners][:, None] * np.array(self.coarse)))

    @cached_property
    def labels(self) -> IntArray:
        """The leaf of each cell of the finest grid."""
        axes = np.indices(self.cells, sparse=True)
        cell = np.ravel_multi_index(np.broadcast_arrays(*(axis // self.finest for axis in axes)), self.coarse)
        factor, part = self.factors.ravel()[cell], np.zeros(self.cells, dtype=np.int64)
        for axis in axes:
            part = part * factor + (axis % self.finest) * factor // self.finest
        return np.asarray(self.starts[cell] + part)

    def spread(self, values: FloatArray) -> FloatArray:
        """Spread what leaves hold evenly over the cells of the finest grid."""
        sizes = (self.finest // self.factors.ravel()[self.owners]) ** self.n_features
        return np.asarray((values / sizes)[self.labels])

    def average(self, values: FloatArray) -> FloatArray:
        """Return the mean of each leaf, of values on the finest grid."""
        sums = np.bincount(self.labels.ravel(), weights=values.ravel(), minlength=self.n_leaves)
        return np.asarray(sums / np.bincount(self.labels.ravel(), minlength=self.n_leaves))

    def add_up(self, values: FloatArray) -> FloatArray:
        """Return what the coarse cells hold, of the leaves."""
        return np.bincount(self.owners, weights=values, minlength=len(self.n_parts)).astype(np.float64)


@dataclass(frozen=True, eq=False)
class CellNoise:
    """The noise of counts: independent and equally strong, or that of leaves of two levels that were put together."""

    sigma: float  # of a count; of leaves, of the cells of the first count
    split: GridSplit | None = None

    @cached_property
    def variances(self) -> FloatArray:
        """Of the counts of all leaves of a cell together, each cell's own."""
        assert self.split is not None
        parts = self.split.n_parts
        both = 1 / (self.sigma**-2 + 1 / (parts * self.split.sigma**2))
        return np.asarray(np.where(parts > 1, both, self.sigma**2))

    @property
    def of_each(self) -> FloatArray:
        """Standard deviation of the noise of each count, or the one that all have."""
        if self.split is None:
            return np.asarray(self.sigma)
        owner, parts = self.split.owners, self.split.n_parts[self.split.owners]
        return np.asarray(np.sqrt(self.split.sigma**2 * (1 - 1 / parts) + self.variances[owner] / parts**2))

    def of_sums(
        self, values: FloatArray, groups: IntArray | None = None, n_groups: int = 1, *, besides: FloatArray | None = None
    ) -> FloatArray:
        """Return the standard deviation of the sum of counts times `values`, for every group of them.

        `besides` are variances that each count adds by itself.
        """
        return np.asarray(np.sqrt(self.variances_of_sums(values, groups, n_groups, besides=besides)))

    def variances_of_sums(
        self, values: FloatArray, groups: IntArray | None = None, n_groups: int = 1, *, besides: FloatArray | None = None
    ) -> FloatArray:
        """Return the same squared."""
        own = np.zeros(len(values)) if besides is None else besides
        if self.split is None:
            variances = (self.sigma * values) ** 2 + own
            if groups is None:
                return np.array([np.sum(variances)])
            return np.bincount(groups, weights=variances, minlength=n_groups).astype(np.float64)
        # In a cell of n leaves the noise is that of the second count less its mean, and an n-th of that of the cell's total.
        n_cells, group = len(self.split.n_parts), np.zeros(len(values), dtype=np.int64) if groups is None else groups
        keys, index = np.unique(group * n_cells + self.split.owners, return_inverse=True)
        cell, parts = keys % n_cells, self.split.n_parts[keys % n_cells]
        sums, squares, added = (np.bincount(index, weights=one) for one in (values, values**2, own))
        within = np.where(parts > 1, self.split.sigma**2 * np.maximum(squares - sums**2 / parts, 0.0), 0.0)
        total = self.variances[cell] * (sums / parts) ** 2
        return np.bincount(keys // n_cells, weights=within + total + added, minlength=n_groups).astype(np.float64)

    def of_counts(self, groups: IntArray, n_groups: int) -> FloatArray:
        """Return the standard deviation of the sum of the counts of every group; of one without any, that of a count."""
        found = self.of_sums(np.ones(len(groups)), groups, n_groups)
        return np.asarray(np.where(np.bincount(groups, minlength=n_groups) > 0, found, self.sigma))


def split_factors(
    noisy_counts: FloatArray, *, n_rows: float, n_clusters: int, sigma: float, finer_sigma: float, most_leaves: int
) -> IntArray:
    """Return into how many parts, along every axis, each cell of a coarse grid is best split: powers of two.

    With m cells per axis, of which cell c has n_c rows and is split by s_c, RUGNIK's bound reads

        h = (v/K)^(2/d) sqrt(sum of the variances of all leaves) + 2 (v/K)^(1/d) sqrt(R) + R,   R = sum of n_c / (3 m^2 s_c^2)

    where v is the part of the box that rows fill, 1 in the paper. It is read off the noisy counts: the perplexity of their
    distribution, which is the number of cells if all are equally full and 1 if a single one is. For a given price of variance
    every cell chooses its factor by itself; of all prices the one with the lowest h is taken. `sigma` is the noise of the
    coarse counts, `finer_sigma` that of the counts of their parts.
    """
    dimension, size = noisy_counts.ndim, noisy_counts.size
    rows = project_to_total(noisy_counts, n_rows).ravel()
    if rows.sum() <= 0:
        return np.ones(noisy_counts.shape, dtype=np.int64)
    powers = 2 ** np.arange(int(math.log2(LARGEST_FACTOR)) + 1)
    factors = powers[[one == 1 or size * int(one) ** dimension <= LARGEST_FINEST for one in powers]]
    variances = np.where(factors > 1, finer_sigma**2 * factors.astype(np.float64) ** dimension, sigma**2)
    rounding = rows[:, None] / (3 * size ** (2 / dimension) * factors**2.0)
    shares = rows[rows > 0] / rows.sum()
    filled = math.exp(-float(np.sum(shares * np.log(shares)))) / size
    reach = (filled / n_clusters) ** (1 / dimension)
    best, lowest = np.zeros(size, dtype=np.int64), math.inf
    for strength in STRENGTHS:
        chosen = np.argmin(strength * variances + rounding, axis=1)
        lost = float(np.take_along_axis(rounding, chosen[:, None], axis=1).sum())
        bound = reach**2 * math.sqrt(float(variances[chosen].sum())) + 2 * reach * math.sqrt(lost) + lost
        if bound < lowest and np.sum(factors[chosen] ** dimension) <= max(most_leaves, size):
            best, lowest = chosen, bound
    return factors[best].reshape(noisy_counts.shape)


def combine_levels(noisy_counts: FloatArray, noise: CellNoise, finer_counts: FloatArray) -> FloatArray:
    """Return the counts of all leaves: least squares of what the two levels say of each cell.

    The count of a split cell and the sum of its parts are two estimates of one number. They are averaged by their noise, and
    what that adds to the sum is given back to the parts evenly.
    """
    split = noise.split
    assert split is not None
    counts, parts = noisy_counts.ravel(), split.n_parts
    is_split = parts > 1
    found = counts[split.owners].astype(np.float64)
    found[is_split[split.owners]] = finer_counts
    sums = split.add_up(found)
    total = noise.variances * (counts / noise.sigma**2 + sums / (parts * split.sigma**2))
    return np.asarray(found + (np.where(is_split, total - sums, 0.0) / parts)[split.owners])


def denoise_leaves(counts: FloatArray, noise: CellNoise, rule: str, *, total: float) -> FloatArray:
    """Return weights of the leaves, as ``denoise_counts`` does: first of the cells, by their noise, then within each."""
    split = noise.split
    assert split is not None
    if rule != "nonnegative-total":
        return denoise_counts(counts, rule, total=total)
    goals = _project_by_noise(split.add_up(counts), noise.variances, max(total, 0.0))
    found = goals[split.owners]
    for parts in np.unique(split.n_parts[split.n_parts > 1]):
        cells = np.flatnonzero(split.n_parts == parts)
        index = split.starts[cells][:, None] + np.arange(parts)
        found[index] = project_lines(counts[index], goals[cells])
    return np.asarray(found)


def _project_by_noise(values: FloatArray, variances: FloatArray, total: float) -> FloatArray:
    """Project onto the non-negative vectors with the given sum; what is noisier is moved more."""
    order = np.argsort(-values / variances, kind="stable")
    excess = (np.cumsum(values[order]) - total) / np.cumsum(variances[order])
    kept = np.flatnonzero((values / variances)[order] > excess)
    cut = excess[kept[-1]] if kept.size else (values / variances)[order[0]]
    return np.asarray(np.maximum(values - cut * variances, 0.0))
