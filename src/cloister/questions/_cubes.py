# SPDX-License-Identifier: Apache-2.0
"""The question of a cube tree: how many rows lie in each of a list of equal cubes."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cloister import validate
from cloister.columns import FloatArray, IntArray
from cloister.questions._base import ProjectedQuestion, refuse_misfit
from cloister.questions._counts import Counts

__all__ = ["LARGEST_CUBE_GRID", "CubeCounts"]

LARGEST_CUBE_GRID = 1 << 62  # cubes of the whole grid, listed or not: each has a number


@dataclass(frozen=True, kw_only=True, eq=False)
class CubeCounts(ProjectedQuestion, Counts):
    """How many rows lie in each listed cube of a regular grid of cubes.

    The outermost cubes reach to infinity, so every row lies in exactly one cube of the grid; rows of cubes that are not listed
    are not counted. Every listed cube is counted and noised, also those without rows.

    Parameters
    ----------
    corner : array of shape (n_dimensions,)
        The lowest corner of the grid; public.
    side : float
        Length of an edge of a cube.
    per_axis : int
        Cubes along each axis of the whole grid.
    cubes : array of shape (n_cubes, n_dimensions)
        The places of the cubes to count, each from 0 to ``per_axis - 1`` along every axis, none of them twice.
    """

    corner: FloatArray
    side: float
    per_axis: int
    cubes: IntArray
    name: ClassVar[str] = "cube_counts"

    def __post_init__(self) -> None:
        super().__post_init__()
        cubes, corner = np.array(self.cubes, dtype=np.int64), np.array(self.corner, dtype=np.float64)
        if cubes.ndim != 2 or 0 in cubes.shape or cubes.min() < 0 or cubes.max() >= self.per_axis:
            validate.refuse("CubeCounts.cubes", "places within the grid", cubes.shape, remedy="Pass at least one cube.")
        refuse_misfit("CubeCounts.corner", corner.shape, cubes.shape[1:])
        validate.number("CubeCounts.side", self.side, low=0.0, open_low=True)
        if not np.isfinite(corner).all() or self.per_axis ** cubes.shape[1] > LARGEST_CUBE_GRID:
            validate.refuse("CubeCounts.per_axis", "a grid of at most 2**62 cubes", self.per_axis, remedy="Divide less often.")
        for name, value in (("cubes", cubes), ("corner", corner)):
            value.setflags(write=False)
            object.__setattr__(self, name, value)
        if np.unique(self._number(cubes)).size != len(cubes):
            validate.refuse("CubeCounts.cubes", "each cube once", "one twice", remedy="Leave the repeated ones out.")

    @property
    def shape(self) -> tuple[int, ...]:
        """One count per listed cube."""
        return (len(self.cubes),)

    def exact(self, rows: FloatArray) -> IntArray:
        """Count the rows of one block."""
        places = np.floor((self.view(rows) - self.corner) / self.side)
        numbers = self._number(np.clip(places, 0, self.per_axis - 1).astype(np.int64))
        listed = self._number(self.cubes)
        order = np.argsort(listed)
        found = np.minimum(np.searchsorted(listed, numbers, sorter=order), len(listed) - 1)
        owners = order[found]
        return np.bincount(owners[listed[owners] == numbers], minlength=len(listed))

    def _number(self, places: IntArray) -> IntArray:
        """Return the number of each cube, counted axis by axis."""
        numbers = np.zeros(len(places), dtype=np.int64)
        for axis in range(places.shape[1]):
            numbers = numbers * self.per_axis + places[:, axis]
        return numbers
