# SPDX-License-Identifier: Apache-2.0
"""The index of a grid: which cell each noisy count is of, where its rows are taken to be, and how many a box holds."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from cloister import validate
from cloister.algorithms import CellNoise, GridSplit, denoise_counts, denoise_leaves
from cloister.columns import Box, FloatArray, IntArray
from cloister.exceptions import AccuracyWarning, warn
from cloister.synopsis._range import RangeCount, count_range
from cloister.text import count_of

REPRESENTATIVES = ("center", "slope")
SLOPE = "Synopsis.cut.representatives"
CELLS_PER_CLUSTER = 4  # of the grid that a warning recommends


@dataclass(frozen=True, kw_only=True, eq=False)
class Grid:
    """Cells of a box, one after the other, the last axis first; of an adaptive grid its leaves.

    Parameters
    ----------
    box : Box
        Public.
    cells : tuple of int
        Cells along each axis; of an adaptive grid, of the finest.
    counts : {"clip", "nonnegative-total", "none"}
        How noisy counts become weights for clustering and sampling. Range counts use the noisy counts as they are.
    split : GridSplit, optional
        How the cells of an adaptive grid are split, and the noise of their parts.
    """

    box: Box
    cells: tuple[int, ...]
    counts: str = "nonnegative-total"
    split: GridSplit | None = None

    @property
    def n_cells(self) -> int:
        """Number of cells, or of leaves."""
        return math.prod(self.cells) if self.split is None else self.split.n_leaves

    @property
    def edges(self) -> tuple[FloatArray, ...]:
        """Borders of the cells along each axis, in the units of the input."""
        return tuple(np.linspace(low, high, count + 1) for low, high, count in zip(*self.box.ranges, self.cells, strict=True))

    @cached_property
    def low(self) -> FloatArray:
        """Lower corner of each cell, of shape (n_cells, n_features), in parts of the box."""
        if self.split is not None:
            return self.split.low
        return np.asarray(np.stack(np.unravel_index(np.arange(self.n_cells), self.cells), axis=1) / np.array(self.cells))

    @property
    def widths(self) -> FloatArray:
        """Widths of a cell, or of each leaf, in parts of the box."""
        return np.asarray(1 / np.array(self.cells)) if self.split is None else self.split.widths

    def spread(self, values: FloatArray) -> FloatArray:
        """Return what cells hold as an array with one axis per column; of leaves, spread over the finest cells."""
        return np.reshape(values, self.cells) if self.split is None else self.split.spread(values)

    def weights(self, counts: FloatArray, noise: CellNoise, *, total: float) -> FloatArray:
        """Return noisy counts after the rule `counts`."""
        if self.split is not None:
            return denoise_leaves(counts, noise, self.counts, total=total)
        return denoise_counts(counts, self.counts, total=total)

    def places(self, half_widths: FloatArray, weights: FloatArray, *, sigma: float, representatives: str) -> FloatArray:
        """Return where the rows of each cell are taken to be, in the unit ball's coordinates."""
        validate.one_of(SLOPE, representatives, REPRESENTATIVES)
        centers = (2 * self.low + self.widths - 1) * half_widths
        if representatives == "center":
            return np.asarray(centers)
        if self.split is not None:
            refuse_slope("an adaptive grid", "leaves have neighbours of other sizes", representatives)
        return np.asarray(centers + self._slopes(half_widths, weights.reshape(self.cells), sigma))

    def _slopes(self, half_widths: FloatArray, weights: FloatArray, sigma: float) -> FloatArray:
        """Return how far the mean of a cell lies from its centre if the density is linear between neighbouring cells."""
        mass = np.maximum(weights, 0.0)
        shifts = np.zeros((mass.size, mass.ndim))
        for axis, (half, count) in enumerate(zip(half_widths, self.cells, strict=True)):
            if count > 1:
                slope = np.gradient(mass, axis=axis) / np.maximum(mass, sigma)
                shifts[:, axis] = np.clip(slope.ravel() / 12, -0.25, 0.25) * (2 * half / count)
        return shifts

    def count(self, box: Any, noisy_counts: FloatArray, noise: CellNoise) -> RangeCount:
        """Return the noisy number of rows in a box; see ``Synopsis.count``."""
        return count_range(self, box, noisy_counts, noise)

    def sample(self, chosen: IntArray, generator: np.random.Generator) -> FloatArray:
        """Return a place in each of the chosen cells, in the units of the input."""
        widths = np.broadcast_to(self.widths, self.low.shape)[chosen]
        parts = self.low[chosen] + generator.random(widths.shape) * widths
        low, high = self.box.ranges
        return self.box.clip(low + parts * (high - low))


def refuse_slope(what: str, why: str, representatives: object) -> None:
    """Refuse slopes between neighbouring cells where there are none."""
    validate.refuse(SLOPE, f"'center' for {what}", representatives, remedy=f'Leave representatives="slope" out: {why}.')


def warn_of_few_cells(where: str, grid: Grid, n_clusters: int) -> None:
    """Warn, from public numbers alone, where a grid cannot tell so many clusters apart."""
    if grid.n_cells < n_clusters:
        warn(f"{where}.n_clusters: {few_cells_words(n_clusters, grid.n_cells, len(grid.cells))}", AccuracyWarning)


def few_cells_words(n_clusters: int, n_cells: int, n_features: int) -> str:
    """Say what comes of fewer cells than clusters, and what to do."""
    finer = math.ceil((CELLS_PER_CLUSTER * n_clusters) ** (1 / n_features))
    return (
        f"{n_clusters:,} clusters of {count_of(n_cells, 'cell')}: the centres beyond one per cell lie at random places. "
        f"Ask for at most {n_cells:,}, or fit a finer grid, such as rule={finer}."
    )
