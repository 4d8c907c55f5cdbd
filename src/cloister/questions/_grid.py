# SPDX-License-Identifier: Apache-2.0
"""The question behind a synopsis: how many rows lie in each cell of a uniform grid over a box."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cloister import validate
from cloister.columns import FloatArray, IntArray, grid_step
from cloister.questions._counts import Counts

__all__ = ["LARGEST_GRID", "GridCounts", "check_grid"]

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
        half_widths = np.array(self.half_widths, dtype=np.float64)
        half_widths.setflags(write=False)
        object.__setattr__(self, "half_widths", half_widths)
        object.__setattr__(self, "cells", tuple(int(count) for count in self.cells))
        check_grid("GridCounts.cells", self.cells, len(half_widths))

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


def check_grid(where: str, cells: tuple[int, ...], n_features: int) -> None:
    """Refuse a grid that does not fit the box or has more cells than can be noised."""
    if len(cells) != n_features:
        validate.refuse(where, f"one number for each of {n_features} columns", len(cells), remedy="Pass as many.")
    for count in cells:
        validate.integer(where, count, low=1, high=LARGEST_GRID)
    total = 1
    for count in cells:
        total *= count
    if total > LARGEST_GRID:
        shape = " x ".join(map(str, cells)) if len(cells) <= 6 else f"{cells[0]} per axis in {len(cells)} dimensions"
        validate.refuse(
            where,
            f"at most {LARGEST_GRID:,} cells, each of which must be noised",
            f"{shape} = {total:,}",
            remedy="Use fewer cells per axis, fewer columns, or KMeans-type methods that need no grid.",
        )
