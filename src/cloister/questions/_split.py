# SPDX-License-Identifier: Apache-2.0
"""The second question of an adaptive grid: how many rows lie in each part of the cells that were split."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from cloister import validate
from cloister.columns import FloatArray, IntArray
from cloister.questions._base import refuse_misfit
from cloister.questions._counts import Counts
from cloister.questions._grid import GridCounts, check_grid

__all__ = ["SplitCounts"]


@dataclass(frozen=True, kw_only=True, eq=False)
class SplitCounts(Counts):
    """How many rows lie in each part of the cells of a grid that are cut further; rows of other cells are not counted.

    Which cells are cut is public: it follows from noisy counts. Every part of such a cell is counted and noised, also those
    without rows.

    Parameters
    ----------
    half_widths : array of shape (n_features,)
        The box, around the origin of the unit ball's coordinates.
    cells : tuple of int
        Intervals along each axis, before cells are cut.
    factors : array of shape `cells`
        Intervals that each cell is cut into, along every axis; 1 leaves it whole, and its rows out.
    """

    half_widths: FloatArray
    cells: tuple[int, ...]
    factors: IntArray
    name: ClassVar[str] = "split_counts"

    def __post_init__(self) -> None:
        half_widths, factors = np.array(self.half_widths, dtype=np.float64), np.array(self.factors, dtype=np.int64)
        cells = tuple(int(count) for count in self.cells)
        check_grid("SplitCounts.cells", cells, len(half_widths))
        refuse_misfit("SplitCounts.factors", factors.shape, cells)
        finest = tuple(count * int(factors.max()) for count in cells)
        if factors.min() < 1 or factors.max() < 2:
            remedy = "Leave the question out where no cell is cut."
            validate.refuse("SplitCounts.factors", "whole numbers, some above 1", int(factors.min()), remedy=remedy)
        check_grid("SplitCounts.factors", finest, len(half_widths))
        for name, value in (("half_widths", half_widths), ("factors", factors)):
            value.setflags(write=False)
            object.__setattr__(self, name, value)
        object.__setattr__(self, "cells", cells)

    @property
    def shape(self) -> tuple[int, ...]:
        """One count per part, those of a cell one after the other, cells and parts counted along the last axis first."""
        return (int(self._starts[-1]),)

    def exact(self, rows: FloatArray) -> IntArray:
        """Count the rows of one block."""
        # The parts of a row's cell are those of the finest grid, taken together: so a row lies in a part of its own cell,
        # whatever is rounded, and in no other.
        finest = int(self.factors.max())
        places = np.unravel_index(self._finest.cell_of(rows), self._finest.cells)
        cell = np.ravel_multi_index([place // finest for place in places], self.cells)
        factor = self.factors.ravel()[cell]
        part = np.zeros(len(rows), dtype=np.int64)
        for place in places:
            part = part * factor + (place % finest) * factor // finest
        inside = factor > 1
        return np.bincount((self._starts[cell] + part)[inside], minlength=int(self._starts[-1]))

    @cached_property
    def _finest(self) -> GridCounts:
        return GridCounts(half_widths=self.half_widths, cells=tuple(count * int(self.factors.max()) for count in self.cells))

    @cached_property
    def _starts(self) -> IntArray:
        parts = np.where(self.factors > 1, self.factors ** len(self.cells), 0)
        return np.concatenate([[0], np.cumsum(parts.ravel())])
