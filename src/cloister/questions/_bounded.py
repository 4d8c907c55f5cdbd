# SPDX-License-Identifier: Apache-2.0
"""Questions about the rows that are near: those farther than a radius from their nearest public point are left out."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from cloister.columns import FloatArray, IntArray, grid_step
from cloister.questions._base import offsets_from
from cloister.questions._counts import NearestCounts
from cloister.questions._sums import NearestSums, whole_radius

__all__ = ["BoundedCounts", "BoundedSums"]


@dataclass(frozen=True, kw_only=True, eq=False)
class BoundedCounts(NearestCounts):
    """How many rows have each of the public points as their nearest, and within a radius.

    A row adds one to at most one count, so the sensitivities are those of :class:`NearestCounts`: leaving a row out moves
    nothing, and replacing a row takes one from at most one count and gives one to at most one other.

    Parameters
    ----------
    points : array of shape (n_points, n_dimensions)
        Public, in the unit ball (of the projection, if there is one).
    radius : float
        Rows farther than this from their nearest point are not counted.
    """

    radius: float
    name: ClassVar[str] = "bounded_counts"

    def __post_init__(self) -> None:
        super().__post_init__()
        # In whole steps, as BoundedSums rounds it: both leave the same rows out.
        radius = whole_radius("BoundedCounts.radius", self.radius, step=grid_step(self.points.shape[1]))
        object.__setattr__(self, "radius", radius)

    def exact_given(self, rows: FloatArray, labels: IntArray) -> IntArray:
        """Count the near rows of one block."""
        return super().exact_given(rows, labels[_near(offsets_from(self.points, self.view(rows), labels), self.radius)])


@dataclass(frozen=True, kw_only=True, eq=False)
class BoundedSums(NearestSums):
    """For each public point, the sum of the offsets of the rows that have it as their nearest, and within a radius.

    What is added up is no longer than the radius, or nothing at all, so the sensitivities are those of :class:`NearestSums`,
    which shortens long offsets instead: r for one row more or less, 2 r for two opposite offsets from one point.

    Parameters
    ----------
    points : array of shape (n_points, n_dimensions)
        Public; they decide which row belongs where (after the projection, if there is one).
    radius : float
        Rows whose offset is longer are left out.
    anchors : array of shape (n_points, n_features), optional
        Where offsets are measured from, in the full space. Left out, it is `points`, or the origin under a projection.
    """

    name: ClassVar[str] = "bounded_sums"

    def exact_given(self, rows: FloatArray, labels: IntArray) -> IntArray:
        """Add up the offsets of the near rows of one block, in whole steps of the grid."""
        near = _near(offsets_from(self._anchors, rows, labels), self.radius)
        return super().exact_given(rows[near], labels[near])


def _near(offsets: FloatArray, radius: float) -> npt.NDArray[np.bool_]:
    """Say which offsets are no longer than the radius; squares are exact on the grid, so both questions agree on it."""
    return np.asarray(np.einsum("ij,ij->i", offsets, offsets) <= radius**2)
