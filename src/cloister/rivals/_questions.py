# SPDX-License-Identifier: Apache-2.0
"""The questions that only rivals ask, each with its sensitivity. Together with those of ``questions`` they are all there are.

**FastLloyd** counts and adds up near rows: those farther than a radius from their nearest public point are left out.

**CoresetKMeans** asks about the cells of a hash tree. Public hyperplanes, one for each level, send a row left or right. A node
is the set of rows with the same first decisions; it has the number that a heap would give it: the root is 1, the children of
node i are 2 i and 2 i + 1.

**TreeKMeans** counts the rows in cubes, and asks what swaps of a centre for a candidate, and sets of centres, would cost. A row
costs its squared distance to the nearest centre, no more than a public cap, rounded down to whole steps. These two questions
select: only where a low cost stands gets out. The squared distances are exact on the grid and the step is a power of two, so
a cost is a fact and costs add up over blocks.
"""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from cloister import validate
from cloister.columns import BLOCK_NUMBERS, FloatArray, IntArray, Relation, grid_step, row_blocks
from cloister.questions import (
    PROJECTION_STEP,
    ClippedSums,
    Counts,
    NearestCounts,
    NearestSums,
    ProjectedQuestion,
    Question,
    offsets_from,
    refuse_misfit,
    whole_radius,
)

DEEPEST_HASH = 48  # levels: the numbers of nodes stay below 2**53 and the decisions of a row fit one integer
LONGEST_NORMAL = 2.0
LARGEST_CUBE_GRID = 1 << 62  # cubes of the whole grid, listed or not: each has a number
LARGEST_CHOICE = 1 << 22  # costs to choose among
COST_STEP = 2.0**-20  # of squared distance: a billion rows at the largest cap stay below 2**54 steps
SMALLEST_CAP, LARGEST_CAP = 2.0**-16, 16.0  # the unit ball and points within [-2, 2] are rarely farther apart than 4


@dataclass(frozen=True, kw_only=True, eq=False)
class BoundedCounts(NearestCounts):
    """How many rows have each of the public points as their nearest, and within a radius.

    A row adds one to at most one count, so the sensitivities are those of :class:`NearestCounts`: leaving a row out moves
    nothing, and replacing a row takes one from at most one count and gives one to at most one other.
    """

    radius: float
    name: ClassVar[str] = "bounded_counts"

    def __post_init__(self) -> None:
        super().__post_init__()
        # In whole steps, as BoundedSums rounds it: both leave the same rows out.
        self.keep(radius=whole_radius("BoundedCounts.radius", self.radius, step=grid_step(self.points.shape[1])))

    def exact_given(self, rows: FloatArray, labels: IntArray) -> IntArray:
        """Count the near rows of one block."""
        return super().exact_given(rows, labels[_near(offsets_from(self.points, self.view(rows), labels), self.radius)])


@dataclass(frozen=True, kw_only=True, eq=False)
class BoundedSums(NearestSums):
    """For each public point, the sum of the offsets of the rows that have it as their nearest, and within a radius.

    What is added up is no longer than the radius, or nothing at all, so the sensitivities are those of :class:`NearestSums`,
    which shortens long offsets instead: r for one row more or less, 2 r for two opposite offsets from one point.
    """

    name: ClassVar[str] = "bounded_sums"

    def exact_given(self, rows: FloatArray, labels: IntArray) -> IntArray:
        """Add up the offsets of the near rows of one block, in whole steps of the grid."""
        near = _near(offsets_from(self._anchors, rows, labels), self.radius)
        return super().exact_given(rows[near], labels[near])


def _near(offsets: FloatArray, radius: float) -> npt.NDArray[np.bool_]:
    """Say which offsets are no longer than the radius; squares are exact on the grid, so both questions agree on it."""
    return np.asarray(np.einsum("ij,ij->i", offsets, offsets) <= radius**2)


@dataclass(frozen=True, kw_only=True, eq=False)
class HashQuestion(Question):
    """A question in which each row belongs to at most one of some nodes of a hash tree.

    Parameters
    ----------
    normals : array of shape (n_features, n_levels)
        Public; column t is the normal of the hyperplane that level t + 1 is decided by, of length at most 2.
    offsets : array of shape (n_levels,)
        Public; a row goes right (to 2 i + 1) if its product with the normal is at least the offset.
    nodes : array of shape (n_nodes,)
        Numbers of the nodes. None may lie below another: a row must not be in two of them.
    """

    normals: FloatArray
    offsets: FloatArray
    nodes: IntArray

    def __post_init__(self) -> None:
        owner = type(self).__name__
        for name in ("normals", "offsets"):  # rounded to the step on which products with rows are exact
            array = np.rint(np.asarray(getattr(self, name), dtype=np.float64) / PROJECTION_STEP) * PROJECTION_STEP
            if not np.isfinite(array).all():
                validate.refuse(f"{owner}.{name}", "finite numbers", np.shape(array), remedy="Pass finite numbers.")
            self.keep(**{name: array})
        normals, offsets = self.normals, self.offsets
        if normals.ndim != 2 or np.sum(normals**2, axis=0).max(initial=0.0) > LONGEST_NORMAL**2:
            validate.refuse(f"{owner}.normals", "columns of length at most 2", np.shape(normals), remedy="Pass unit vectors.")
        refuse_misfit(f"{owner}.offsets", offsets.shape, normals.shape[1:])
        nodes = np.array(self.nodes)
        highest = 2 ** (min(normals.shape[1], DEEPEST_HASH) + 1)
        if nodes.ndim != 1 or nodes.dtype.kind != "i" or not nodes.size or nodes.min() < 1 or nodes.max() >= highest:
            validate.refuse(f"{owner}.nodes", f"whole numbers from 1 to {highest - 1}", nodes.shape, remedy="Pass some nodes.")
        self.keep(nodes=nodes.astype(np.int64))
        _, starts, ends = self._spans
        if (starts[1:] < ends[:-1]).any():
            validate.refuse(f"{owner}.nodes", "nodes that share no row", "nested ones", remedy="Leave the ancestors out.")

    @cached_property
    def _deepest(self) -> int:
        return int(self.nodes.max()).bit_length() - 1

    @cached_property
    def _spans(self) -> tuple[IntArray, IntArray, IntArray]:
        """The nodes from left to right, and the first of the deepest nodes below each and the one after the last."""
        shifts = self._deepest + 1 - np.frexp(self.nodes)[1]  # exact: the numbers are below 2**53
        starts, ends = self.nodes << shifts, (self.nodes + 1) << shifts
        order = np.argsort(starts, kind="stable")
        return order, starts[order], ends[order]

    def labels(self, rows: FloatArray) -> IntArray:
        """Return the place of each row's node in `nodes`, and -1 for a row that is in none of them."""
        # Exact whatever the order of summation: coordinates are multiples of the grid's step, at least 2**-24, and entries of
        # 2**-20, so sums are multiples of 2**-44; and |row| |normal|, which bounds every partial sum, is at most 2.
        sides = rows @ self.normals[:, : self._deepest] >= self.offsets[: self._deepest]
        numbers = np.ones(len(rows), dtype=np.int64)
        for side in sides.T:
            numbers = 2 * numbers + side
        order, starts, ends = self._spans
        place = np.searchsorted(starts, numbers, side="right") - 1
        inside = (place >= 0) & (numbers < ends[place])
        return np.where(inside, order[place], -1)


@dataclass(frozen=True, kw_only=True, eq=False)
class HashCounts(HashQuestion, Counts):
    """How many rows each of some nodes holds, no two of which share a row. Every node is counted, also those without rows."""

    name: ClassVar[str] = "hash_counts"

    @property
    def shape(self) -> tuple[int, ...]:
        """One count per node."""
        return self.nodes.shape

    def exact(self, rows: FloatArray) -> IntArray:
        """Count the rows of one block."""
        labels = self.labels(rows)
        return np.bincount(labels[labels >= 0], minlength=len(self.nodes))


@dataclass(frozen=True, kw_only=True, eq=False)
class HashSums(HashQuestion, ClippedSums):
    """The sum of the rows that each of some nodes holds; rows longer than `radius` are shortened to it."""

    name: ClassVar[str] = "hash_sums"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.keep(radius=whole_radius("HashSums.radius", self.radius, step=self.unit))

    @property
    def shape(self) -> tuple[int, ...]:
        """One sum per node."""
        return (len(self.nodes), len(self.normals))

    def exact(self, rows: FloatArray) -> IntArray:
        """Add up the clipped rows of one block, in whole steps of the grid."""
        labels = self.labels(rows)
        inside = labels >= 0
        return self._add_up(rows[inside], labels[inside])


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
        self.keep(cubes=cubes, corner=corner)
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
        return np.asarray(places @ self.per_axis ** np.arange(places.shape[1])[::-1])


@dataclass(frozen=True, kw_only=True, eq=False)
class CappedCosts(ProjectedQuestion):
    """A question whose answers are sums of what rows cost, each from 0 to a cap."""

    cap: float  # the most that a row costs, as a squared distance; rounded down to whole steps
    selects: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        cap = validate.number(f"{type(self).__name__}.cap", self.cap, low=SMALLEST_CAP, high=LARGEST_CAP)
        self.keep(cap=float(np.floor(cap / COST_STEP)) * COST_STEP)

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
    """What the rows would cost if one centre were swapped for one candidate: for every centre and every candidate."""

    centers: FloatArray  # (n_clusters, n_dimensions), the present ones; public
    candidates: FloatArray  # (n_candidates, n_dimensions), public; one that is a centre already makes staying one of the swaps
    name: ClassVar[str] = "swap_costs"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("centers", "candidates"):
            self.keep(**{name: self.place(f"SwapCosts.{name}", getattr(self, name))})
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
        # A row pays for the nearest of the candidate and the centres that stay: its nearest centre, unless this one goes;
        # then for the next one, or the cap.
        mine = self._costs(rows, self.centers)
        every, owners = np.arange(len(rows)), np.argmin(mine, axis=1)
        first = mine[every, owners]
        mine[every, owners] = self.cap / COST_STEP
        second = mine.min(axis=1)
        theirs = self._costs(rows, self.candidates)
        others_go = np.minimum(theirs, first[:, None])
        owner_goes = np.minimum(theirs, second[:, None], out=theirs)
        owner_goes -= others_go
        members = sparse.csc_array((np.ones(len(rows)), owners, np.arange(len(rows) + 1)), shape=(len(self.centers), len(rows)))
        return np.asarray(members @ owner_goes + others_go.sum(axis=0))


@dataclass(frozen=True, kw_only=True, eq=False)
class SetCosts(CappedCosts):
    """What the rows cost under each of several sets of centres."""

    sets: FloatArray  # (n_sets, n_clusters, n_dimensions), public
    name: ClassVar[str] = "set_costs"

    def __post_init__(self) -> None:
        super().__post_init__()
        sets = np.asarray(self.sets, dtype=np.float64)
        if sets.ndim != 3:
            validate.refuse("SetCosts.sets", "an array of three axes", sets.shape, remedy="Pass (sets, clusters, dimensions).")
        placed = self.place("SetCosts.sets", sets.reshape(-1, sets.shape[2]))
        self.keep(sets=placed.reshape(sets.shape))
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
