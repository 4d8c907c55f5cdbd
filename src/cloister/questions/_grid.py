# SPDX-License-Identifier: Apache-2.0
"""The questions behind a synopsis: how many rows lie in each cell of a grid, and in each part of the cells cut further."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from cloister import validate
from cloister.columns import FloatArray, IntArray, grid_step
from cloister.questions._base import refuse_misfit
from cloister.questions._counts import Counts

LARGEST_GRID = 1 << 24  # cells; each of them gets its own draw of noise, empty or not


@dataclass(frozen=True, kw_only=True, eq=False)
class GridCounts(Counts):
    """How many rows lie in each cell of a grid that cuts every axis of a box into equal intervals.

    Every cell is counted and noised, also those that no row falls into: which cells are empty is as private as how full the
    others are. That is why the grid must be small enough to be held; a larger one is refused.

    Parameters
    ----------
    half_widths : array of shape (n_features,)
        The box, around the origin of the unit ball's coordinates.
    cells : tuple of int
        Intervals along each axis.
    """

    half_widths: FloatArray
    cells: tuple[int, ...]
    name: ClassVar[str] = "grid_counts"

    def __post_init__(self) -> None:
        half_widths, cells = np.array(self.half_widths, dtype=np.float64), tuple(int(count) for count in self.cells)
        check_grid(f"{type(self).__name__}.cells", cells, len(half_widths))
        self.keep(half_widths=half_widths, cells=cells)

    @property
    def shape(self) -> tuple[int, ...]:
        """One count per cell, one axis per column."""
        return self.cells

    def exact(self, rows: FloatArray) -> IntArray:
        """Count the rows of one block."""
        return np.bincount(self.cell_of(rows), minlength=int(np.prod(self.cells))).reshape(self.cells)

    def cell_of(self, rows: FloatArray) -> IntArray:
        """Return the cell of each row, counted along the last axis first."""
        # A value on the border of two cells belongs to the upper one. Rows are rounded to the grid of the unit ball, so
        # whatever lies within a step below a border counts as on it; the upper face belongs to the last cell.
        step = grid_step(rows.shape[1])
        flat = np.zeros(len(rows), dtype=np.int64)
        for axis, (half, count) in enumerate(zip(self.half_widths, self.cells, strict=True)):
            place = (rows[:, axis] + (half + step)) * (count / (2 * half))
            flat *= count
            # Cut first: in an axis much narrower than a step the place exceeds 64 bits, and a warning would tell of a row.
            flat += np.minimum(np.maximum(place, 0), count - 1).astype(np.int64)
        return flat


@dataclass(frozen=True, kw_only=True, eq=False)
class SplitCounts(GridCounts):
    """How many rows lie in each part of the cells of a grid that are cut further; rows of other cells are not counted.

    Which cells are cut is public: it follows from noisy counts. Every part of such a cell is counted and noised, also those
    without rows.

    Parameters
    ----------
    half_widths, cells
        The grid, before cells are cut.
    factors : array of shape `cells`
        Intervals that each cell is cut into, along every axis; 1 leaves it whole, and its rows out.
    """

    factors: IntArray
    name: ClassVar[str] = "split_counts"

    def __post_init__(self) -> None:
        super().__post_init__()
        factors = np.array(self.factors, dtype=np.int64)
        refuse_misfit("SplitCounts.factors", factors.shape, self.cells)
        if factors.min() < 1 or factors.max() < 2:
            remedy = "Leave the question out where no cell is cut."
            validate.refuse("SplitCounts.factors", "whole numbers, some above 1", int(factors.min()), remedy=remedy)
        self.keep(factors=factors)
        check_grid("SplitCounts.factors", self._finest_cells, len(self.half_widths))

    @property
    def shape(self) -> tuple[int, ...]:
        """One count per part, those of a cell one after the other, cells and parts counted along the last axis first."""
        return (int(self._starts[-1]),)

    def exact(self, rows: FloatArray) -> IntArray:
        """Count the rows of one block."""
        # The parts of a row's cell are those of the finest grid, taken together: so a row lies in a part of its own cell,
        # whatever is rounded, and in no other.
        finest = int(self.factors.max())
        of_finest = GridCounts(half_widths=self.half_widths, cells=self._finest_cells).cell_of(rows)
        places = np.unravel_index(of_finest, self._finest_cells)
        cell = np.ravel_multi_index([place // finest for place in places], self.cells)
        factor = self.factors.ravel()[cell]
        part = np.zeros(len(rows), dtype=np.int64)
        for place in places:
            part = part * factor + (place % finest) * factor // finest
        inside = factor > 1
        return np.bincount((self._starts[cell] + part)[inside], minlength=int(self._starts[-1]))

    @cached_property
    def _finest_cells(self) -> tuple[int, ...]:
        return tuple(count * int(self.factors.max()) for count in self.cells)

    @cached_property
    def _starts(self) -> IntArray:
        parts = np.where(self.factors > 1, self.factors ** len(self.cells), 0)
        return np.concatenate([[0], np.cumsum(parts.ravel())])


def check_grid(where: str, cells: tuple[int, ...], n_features: int) -> None:
    """Refuse a grid that does not fit the box or has more cells than can be noised."""
    if len(cells) != n_features:
        validate.refuse(where, f"one number for each of {n_features} columns", len(cells), remedy="Pass as many.")
    for count in cells:
        validate.integer(where, count, low=1, high=LARGEST_GRID)
    total = math.prod(cells)
    if total > LARGEST_GRID:
        shape = " x ".join(map(str, cells)) if len(cells) <= 6 else f"{cells[0]} per axis in {len(cells)} dimensions"
        validate.refuse(
            where,
            f"at most {LARGEST_GRID:,} cells, each of which must be noised",
            f"{shape} = {total:,}",
            remedy="Use fewer cells per axis, fewer columns, or KMeans-type methods that need no grid.",
        )
