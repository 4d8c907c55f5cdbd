# SPDX-License-Identifier: Apache-2.0
"""The questions behind NAS: the mean offset of the t nearest rows of every public point, and how far these are."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from cloister import validate
from cloister.columns import BLOCK_NUMBERS, FloatArray, IntArray, PrivacyUnit, Relation, grid_step
from cloister.questions._base import Question, public_points, refuse_misfit

NO_NEIGHBOUR = np.iinfo(np.int64).max
DIAMETER = 2.0  # of the unit ball
DISTANCE_STEP = 2.0**-12  # of the unit ball's radius: distances are rounded to it
LARGEST_WEIGHT = 2**24  # of one point: sums of weighted distances stay whole numbers of 64 bits


@dataclass(frozen=True, kw_only=True, eq=False)
class NeighbourMeans(Question):
    """For each public point, the mean of the offsets of its `n_neighbors` nearest rows.

    Rows that are equally far come in the order of their coordinates, so the answer does not depend on the order of the table.
    Where the table has fewer rows, the missing neighbours count as lying at the point itself.

    Parameters
    ----------
    points : array of shape (n_points, n_features)
        Public, in the unit ball.
    n_neighbors : int
        How many rows each mean is of.
    """

    points: FloatArray
    n_neighbors: int
    name: ClassVar[str] = "neighbour_means"
    weighs_rows: ClassVar[bool] = False

    def __post_init__(self) -> None:
        owner = type(self).__name__
        points = public_points(f"{owner}.points", self.points)
        self.keep(points=points, n_neighbors=validate.integer(f"{owner}.n_neighbors", self.n_neighbors, low=1))

    @property
    def shape(self) -> tuple[int, ...]:
        """One mean per point."""
        return self.points.shape

    @property
    def unit(self) -> float:
        """The step of the grid, divided by the number of neighbours: integers are sums, the answer is their mean."""
        return self._step / self.n_neighbors

    @property
    def _step(self) -> float:
        return grid_step(self.points.shape[1])

    def exact(self, rows: FloatArray) -> IntArray:
        """Return the nearest rows of one block, for each point: squared distance and offset, in steps; in no order.

        This is what :meth:`merge` joins; :meth:`finish` adds the offsets up.
        """
        count, dimension = self.points.shape
        found = np.zeros((count, self.n_neighbors, dimension + 1), dtype=np.int64)
        found[:, :, 0] = NO_NEIGHBOUR
        seen = np.rint(rows / self._step)
        seen = seen[np.lexsort(seen.T[::-1])]  # of rows that are equally far, those that come first are taken
        norms, size = np.sum(seen * seen, axis=1), max(1, BLOCK_NUMBERS // max(len(seen), 1))
        for start in range(0, len(found) if len(seen) else 0, size):
            points = np.rint(self.points[start : start + size] / self._step)
            # Whole numbers below 2**53, whatever the order of summation: the grid is chosen so.
            squares = np.sum(points * points, axis=1)[:, None] - 2 * points @ seen.T + norms
            kept = min(self.n_neighbors, len(seen))
            place = np.nonzero(_smallest(squares, kept))[1].reshape(-1, kept)
            part = found[start : start + size, :kept]
            part[:, :, 0] = np.take_along_axis(squares, place, axis=1)
            part[:, :, 1:] = seen[place] - points[:, None, :]
        return found

    def merge(self, left: IntArray, right: IntArray) -> IntArray:
        """Return the nearest of both."""
        both = np.concatenate([left, right], axis=1)
        squares = both[:, :, 0]
        kth = _kth(squares, self.n_neighbors)
        tied = np.flatnonzero((kth[:, 0] != NO_NEIGHBOUR) & (np.sum(squares <= kth, axis=1) > self.n_neighbors))
        if tied.size:
            keys = tuple(both[tied, :, column] for column in reversed(range(both.shape[2])))
            order = np.lexsort(keys, axis=1)
            both[tied] = np.take_along_axis(both[tied], order[:, :, None], axis=1)
        return both[_smallest(both[:, :, 0], self.n_neighbors)].reshape(left.shape)

    def finish(self, merged: IntArray) -> IntArray:
        """Add up the offsets; a missing neighbour adds nothing."""
        return np.asarray(merged[:, :, 1:].sum(axis=1))

    def l1_sensitivity(self, relation: Relation) -> float:
        # Each of the n sums moves by a vector of l2 norm at most the diameter, so of l1 norm at most sqrt(d) times that.
        sums, dimension = self.points.shape
        return math.nextafter(sums * math.sqrt(dimension) * self._reach, math.inf)

    def l2_sensitivity(self, relation: Relation) -> float:
        # Adding, removing or replacing one row changes the set of the t nearest rows of a point by at most one
        # member for another (or for a missing one, which lies at the point): the sum moves by their distance, at
        # most the diameter of the domain. One row can do that to every one of the n sums.
        return math.nextafter(math.sqrt(len(self.points)) * self._reach, math.inf)

    def person_factor(self, privacy_unit: PrivacyUnit) -> int:
        # A person with m rows comes, goes or is replaced: of the t nearest rows at most a are theirs, and at most b of those
        # after, where a and b are at most m and t. Of the others, those that were among the nearest are so still, as far as
        # there is room. So the larger of a and b members change, each as above. Rows have no weights here: a row is near or
        # not, so that the answer is the same for both weightings.
        assert privacy_unit.max_rows is not None
        return min(privacy_unit.max_rows, self.n_neighbors)

    @property
    def _reach(self) -> float:
        # Two rows are at most the diameter apart, a row and a public point at most 1 plus the point's norm. Rounding to the
        # grid moves each of the two by at most half a step per coordinate.
        return max(DIAMETER, 1 + self._longest) / self._step + math.sqrt(self.points.shape[1])

    @property
    def _longest(self) -> float:
        """Norm of the point that lies farthest out."""
        return math.sqrt(float(np.max(np.sum(self.points**2, axis=1))))


@dataclass(frozen=True, kw_only=True, eq=False)
class NeighbourDistance(NeighbourMeans):
    """How much nearer than `farthest` the `n_neighbors` nearest rows of public points are, on average: one number.

    Distances are rounded to a 4096th of the unit ball's radius. A table without rows answers 0: missing neighbours count as
    lying as far from the point as a row can.

    Parameters
    ----------
    points, n_neighbors
        As for :class:`NeighbourMeans`.
    weights : array of shape (n_points,)
        How often each point counts: public whole numbers.
    """

    weights: IntArray
    name: ClassVar[str] = "neighbour_distance"

    def __post_init__(self) -> None:
        super().__post_init__()
        given = np.asarray(self.weights)
        weights = given.astype(np.int64)
        if not np.array_equal(weights, given) or weights.min() < 0 or not 0 < weights.max() <= LARGEST_WEIGHT:
            remedy = "Pass how many points each stands for."
            validate.refuse("NeighbourDistance.weights", "whole numbers from 0 to 2**24", "others", remedy=remedy)
        refuse_misfit("NeighbourDistance.weights", weights.shape, (len(self.points),))
        self.keep(weights=weights)

    @property
    def shape(self) -> tuple[int, ...]:
        """One number."""
        return (1,)

    @property
    def unit(self) -> float:
        """The step of distances, divided by how many are added up."""
        return DISTANCE_STEP / (self.n_neighbors * int(self.weights.sum()))

    @property
    def farthest(self) -> float:
        """The farthest that a row can be from a point: less the answer, it is the mean distance."""
        return self._farthest * DISTANCE_STEP

    def finish(self, merged: IntArray) -> IntArray:
        """Add up how much nearer than the farthest the neighbours are; a missing one adds nothing."""
        squares = merged[:, :, 0]
        steps = np.rint(np.sqrt(squares.astype(np.float64)) * (self._step / DISTANCE_STEP)).astype(np.int64)
        nearer = np.where(squares == NO_NEIGHBOUR, 0, np.maximum(self._farthest - steps, 0))
        return np.array([np.dot(self.weights, nearer.sum(axis=1))])

    def l1_sensitivity(self, relation: Relation) -> float:
        # One member of the t nearest is exchanged for another, or for a missing one. Each of the two adds from 0 to the
        # farthest, so a sum moves by no more than that; one row can do that to every point, as often as it counts.
        return float(int(self.weights.sum()) * self._farthest)

    def l2_sensitivity(self, relation: Relation) -> float:
        return self.l1_sensitivity(relation)

    @property
    def _farthest(self) -> int:
        """The farthest that a row can be from a point, in steps."""
        return math.ceil((1 + self._longest) / DISTANCE_STEP)


def _kth(table: Any, count: int) -> Any:
    """Return the `count`-th smallest number of each line."""
    return np.partition(table, count - 1, axis=1)[:, count - 1 : count]


def _smallest(table: Any, count: int) -> npt.NDArray[np.bool_]:
    """Mark the `count` smallest numbers of each line; of equal ones, those that come first."""
    kth = _kth(table, count)
    kept = np.asarray(table <= kth)
    tied = np.flatnonzero(np.sum(kept, axis=1) > count)
    if tied.size:
        equal = table[tied] == kth[tied]
        places = count - np.sum(kept[tied] & ~equal, axis=1, keepdims=True)
        kept[tied] &= ~equal | (np.cumsum(equal, axis=1) <= places)
    return kept
