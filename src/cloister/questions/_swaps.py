# SPDX-License-Identifier: Apache-2.0
"""The questions of a local search: what every swap of a centre for a candidate would cost, and what sets of centres cost.

A row costs its squared distance to the nearest centre, no more than a public cap, rounded down to whole steps. Both
questions select: only where a low cost stands gets out. The squared distances are exact on the grid and the step is a power of
two, so a cost is a fact and costs add up over blocks.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse

from cloister import validate
from cloister.columns import BLOCK_NUMBERS, FloatArray, IntArray, Relation, row_blocks
from cloister.questions._base import ProjectedQuestion, refuse_misfit

__all__ = ["LARGEST_CHOICE", "SetCosts", "SwapCosts"]

LARGEST_CHOICE = 1 << 22  # costs to choose among
COST_STEP = 2.0**-20  # of squared distance: a billion rows at the largest cap stay below 2**54 steps
SMALLEST_CAP, LARGEST_CAP = 2.0**-16, 16.0  # the unit ball and points within [-2, 2] are rarely farther apart than 4


@dataclass(frozen=True, kw_only=True, eq=False)
class CappedCosts(ProjectedQuestion):
    """A question whose answers are sums of what rows cost, each from 0 to a cap.

    Parameters
    ----------
    cap : float
        The most that a row costs, as a squared distance; rounded down to whole steps.
    """

    cap: float
    selects: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        cap = validate.number(f"{type(self).__name__}.cap", self.cap, low=SMALLEST_CAP, high=LARGEST_CAP)
        object.__setattr__(self, "cap", float(np.floor(cap / COST_STEP)) * COST_STEP)

    def _refuse_too_many(self) -> None:
        remedy = "Offer fewer candidates."
        validate.integer(f"{type(self).__name__}.shape", int(np.prod(self.shape)), low=1, high=LARGEST_CHOICE, remedy=remedy)

    @property
    def unit(self) -> float:
        """The step that costs are rounded down to."""
        return COST_STEP

    def exact(self, rows: FloatArray) -> IntArray:
        """Add up the costs of one block."""
        seen = self.view(rows)
        total = np.zeros(self.shape)
        for part in row_blocks(len(seen), max(16, BLOCK_NUMBERS // self._width)):
            total += self._part(seen[part])
        return total.astype(np.int64)  # whole numbers below 2**53: the sums are exact

    def span_sensitivity(self, relation: Relation) -> float:
        # A row adds to every sum something from 0 to the cap, so the sums move by amounts that span at most the cap.
        # Replacing a row subtracts one such vector and adds another: amounts from minus the cap to the cap.
        steps = self.cap / COST_STEP
        return steps if relation is Relation.ADD_REMOVE else 2 * steps

    def l1_sensitivity(self, relation: Relation) -> float:
        # Every sum moves by at most the cap, whether a row comes, goes or changes.
        return float(np.prod(self.shape)) * self.cap / COST_STEP

    def l2_sensitivity(self, relation: Relation) -> float:
        # As above; rounded up.
        bound = float(np.nextafter(np.sqrt(np.prod(self.shape)) * self.cap / COST_STEP, np.inf))
        return min(bound, self.l1_sensitivity(relation))

    @property
    @abstractmethod
    def _width(self) -> int:
        """How many distances are taken of each row."""

    @abstractmethod
    def _part(self, rows: FloatArray) -> FloatArray:
        """Costs of a few rows, in whole steps."""

    def _costs(self, rows: FloatArray, points: FloatArray) -> FloatArray:
        """Return what each row would pay for each point, in whole steps."""
        # |row - point|^2 as one product. Exact whatever the order of summation: the grid is chosen so, and dividing by a power
        # of two is exact, too.
        left = np.column_stack([rows, np.sum(rows * rows, axis=1), np.ones(len(rows))])
        right = np.vstack([-2 * points.T, np.ones(len(points)), np.sum(points * points, axis=1)])
        costs = left @ (right / COST_STEP)
        np.floor(costs, out=costs)
        return np.minimum(costs, self.cap / COST_STEP, out=costs)


@dataclass(frozen=True, kw_only=True, eq=False)
class SwapCosts(CappedCosts):
    """What the rows would cost if one centre were swapped for one candidate: for every centre and every candidate.

    Parameters
    ----------
    centers : array of shape (n_clusters, n_dimensions)
        The present centres; public.
    candidates : array of shape (n_candidates, n_dimensions)
        Public. One that is a centre already makes staying as it is one of the swaps.
    cap : float
        The most that a row costs.
    """

    centers: FloatArray
    candidates: FloatArray
    name: ClassVar[str] = "swap_costs"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "centers", self.place("SwapCosts.centers", self.centers))
        object.__setattr__(self, "candidates", self.place("SwapCosts.candidates", self.candidates))
        refuse_misfit("SwapCosts.candidates", self.candidates.shape[1:], self.centers.shape[1:])
        self._refuse_too_many()

    @property
    def shape(self) -> tuple[int, ...]:
        """One cost for each centre that goes and each candidate that comes."""
        return (len(self.centers), len(self.candidates))

    @property
    def _width(self) -> int:
        return len(self.candidates)

    def _part(self, rows: FloatArray) -> FloatArray:
        # A row pays for the nearest of the candidate and the centres that stay: its nearest centre, unless this one goes.
        owners, first, second = self._two_nearest(rows)
        theirs = self._costs(rows, self.candidates)
        others_go = np.minimum(theirs, first[:, None])
        owner_goes = np.minimum(theirs, second[:, None], out=theirs)
        owner_goes -= others_go
        members = sparse.csc_array((np.ones(len(rows)), owners, np.arange(len(rows) + 1)), shape=(len(self.centers), len(rows)))
        return np.asarray(members @ owner_goes + others_go.sum(axis=0))

    def _two_nearest(self, rows: FloatArray) -> tuple[IntArray, FloatArray, FloatArray]:
        """Return, per row, its nearest centre, what it pays for that one and what it would pay for the next (or the cap)."""
        mine = self._costs(rows, self.centers)
        every, owners = np.arange(len(rows)), np.argmin(mine, axis=1)
        first = mine[every, owners]
        mine[every, owners] = self.cap / COST_STEP
        return owners, first, mine.min(axis=1)


@dataclass(frozen=True, kw_only=True, eq=False)
class SetCosts(CappedCosts):
    """What the rows cost under each of several sets of centres.

    Parameters
    ----------
    sets : array of shape (n_sets, n_clusters, n_dimensions)
        Public.
    cap : float
        The most that a row costs.
    """

    sets: FloatArray
    name: ClassVar[str] = "set_costs"

    def __post_init__(self) -> None:
        super().__post_init__()
        sets = np.asarray(self.sets, dtype=np.float64)
        if sets.ndim != 3:
            validate.refuse("SetCosts.sets", "an array of three axes", sets.shape, remedy="Pass (sets, clusters, dimensions).")
        placed = self.place("SetCosts.sets", sets.reshape(-1, sets.shape[2]))
        object.__setattr__(self, "sets", placed.reshape(sets.shape))
        self._refuse_too_many()

    @property
    def shape(self) -> tuple[int, ...]:
        """One cost per set."""
        return (len(self.sets),)

    @property
    def _width(self) -> int:
        return int(np.prod(self.sets.shape[:2]))

    def _part(self, rows: FloatArray) -> FloatArray:
        count, size, dimension = self.sets.shape
        costs = self._costs(rows, self.sets.reshape(-1, dimension)).reshape(len(rows), count, size)
        return np.asarray(costs.min(axis=2).sum(axis=0))
