# SPDX-License-Identifier: Apache-2.0
"""The question for the spread of clusters: sums of squared offsets from the nearest public point, by column."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cloister.columns import BLOCK_NUMBERS, FloatArray, IntArray, Relation, grid_step, row_blocks
from cloister.questions._base import offsets_from
from cloister.questions._sums import NearestOffsets, clip_steps, sum_by_label

STEPS = 1 << 22  # in the squared radius, the most that a row adds: 64 bits hold sums of 2**40 rows, more than 10**12


@dataclass(frozen=True, kw_only=True, eq=False)
class NearestSquares(NearestOffsets):
    """For each public point and each column, the sum of the squared offsets of the rows that have it as their nearest.

    Asked together with :class:`NearestCounts` and :class:`NearestSums` of the same points it tells how far the rows of each
    point spread in each column. Squares are rounded down to whole steps, of which the squared radius has 2**22: a row
    loses less than one step in each column.

    Parameters
    ----------
    points, radius, anchors
        As for :class:`NearestOffsets`.

    Notes
    -----
    **Privacy.** A row adds numbers of at least zero to one line of the table, together at most the squared radius. That is
    the sensitivity in l1 and in l2 for one row more or less; for a row replaced by another it is twice that in l1 and the root
    of two times that in l2.

    Examples
    --------
    >>> question = NearestSquares(points=[[0.0, 0.0], [0.5, 0.5]], radius=0.25)
    >>> answer = question.exact(np.array([[0.125, 0.0], [-0.125, 0.0625], [0.5, 1.0]]))
    >>> answer * question.unit
    array([[0.03125   , 0.00390625],
           [0.        , 0.06249997]])
    """

    name: ClassVar[str] = "nearest_squares"

    @property
    def unit(self) -> float:
        """One step: so much of the squared radius."""
        return self.radius**2 / STEPS

    def exact_given(self, rows: FloatArray, labels: IntArray) -> IntArray:
        """Add up the squares of one block, in whole steps."""
        n_points, n_features = self.shape
        total = np.zeros(self.shape, dtype=np.int64)
        # Parts of at least as many rows as points: adding up their tables costs no more than squaring. A part has fewer than
        # 2**31 rows, so its sums of numbers of at most 2**22 stay below 2**53 and are exact in double precision.
        for part in row_blocks(len(rows), max(BLOCK_NUMBERS // n_features, n_points)):
            total += sum_by_label(self._squares(rows[part], labels[part]), labels[part], n_labels=n_points)
        return total

    def _squares(self, rows: FloatArray, labels: IntArray) -> FloatArray:
        """Return the squares of clipped offsets in whole steps; those of a row are together at most STEPS."""
        grid = grid_step(self.shape[1])
        offsets = clip_steps(offsets_from(self._anchors, rows, labels), radius=self.radius, unit=grid)
        # Whole steps of the grid, whose squares are exact and in a row add up to at most r^2, for a radius of r of them. The
        # divisor is exact: r^2 has at most 53 bits and STEPS is a power of two. So one rounding, of the quotient, adds less
        # than a part in 2**52 to a square, and rounding down adds nothing: what a row adds is a whole number below STEPS + 1.
        squares = np.square(offsets, out=offsets)
        squares /= (self.radius / grid) ** 2 / STEPS
        return np.floor(squares, out=squares)

    def l1_sensitivity(self, relation: Relation) -> float:
        # A row adds numbers of at least 0 that sum to at most STEPS. Replacing it takes such numbers away and adds others:
        # attained by rows at the radius, along two axes or at two points.
        return float(STEPS if relation is Relation.ADD_REMOVE else 2 * STEPS)

    def l2_sensitivity(self, relation: Relation) -> float:
        # The l2 norm is at most the l1 norm, and as large for a row along an axis. Replacing u by v, both of norm at most
        # STEPS, moves by the root of |u|^2 + |v|^2 - 2 u.v, where u.v >= 0 at one point (no entry is below 0) and is 0 at two:
        # at most the root of 2 STEPS^2 (rounded up), attained by rows along two axes or at two points.
        if relation is Relation.ADD_REMOVE:
            return float(STEPS)
        return math.nextafter(math.sqrt(2 * STEPS**2), math.inf)
