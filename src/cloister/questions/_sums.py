# SPDX-License-Identifier: Apache-2.0
"""The question that places a centre: sums of offsets from the nearest public point, clipped at a radius."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from cloister import validate
from cloister.columns import FloatArray, IntArray, Relation, grid_step
from cloister.questions._base import NearestQuestion, Question, offsets_from, public_points, refuse_misfit

SHRINK = 1 - 2.0**-40  # a clipped offset ends inside the radius in spite of rounding; costs nothing measurable
MANY = 4  # one in so many rows
INT32_END = 1 << 31


@dataclass(frozen=True, kw_only=True, eq=False)
class ClippedSums(Question):
    """A question that adds up vectors: each row adds at most one, to one of the sums, shortened to a radius.

    Parameters
    ----------
    radius : float
        Longer vectors are shortened to it; rounded down to whole steps of the grid.
    """

    radius: float

    @property
    def unit(self) -> float:
        """The step of the grid."""
        return grid_step(self.shape[1])

    def l1_sensitivity(self, relation: Relation) -> float:
        # A vector of l2 norm r in d dimensions has l1 norm up to sqrt(d) r; the triangle inequality does the rest (rounded up).
        return math.nextafter(math.sqrt(self.shape[1]) * self.l2_sensitivity(relation), math.inf)

    def l2_sensitivity(self, relation: Relation) -> float:
        # A row adds one vector of norm at most r to one sum. Replacing it moves the sums most, by 2 r, when both versions
        # belong to the same sum and are opposite.
        steps: float = self.radius / self.unit
        return steps if relation is Relation.ADD_REMOVE else 2 * steps

    def _add_up(self, vectors: FloatArray, labels: IntArray) -> IntArray:
        """Add up vectors, which are written over."""
        steps = clip_steps(vectors, radius=self.radius, unit=self.unit)
        return sum_by_label(steps, labels, n_labels=self.shape[0])


@dataclass(frozen=True, kw_only=True, eq=False)
class NearestOffsets(NearestQuestion):
    """A question about the offsets of rows from their nearest public point, shortened to a radius.

    Parameters
    ----------
    points : array of shape (n_points, n_dimensions)
        Public; they decide which row belongs where (after the projection, if there is one).
    radius : float
        Longer offsets are shortened to it; rounded down to whole steps of the grid.
    anchors : array of shape (n_points, n_features), optional
        Where offsets are measured from, in the full space. Left out, it is `points`, or the origin under a projection.
    """

    radius: float
    anchors: FloatArray | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        owner = type(self).__name__
        self.keep(points=self.place(f"{owner}.points", self.points))
        full = self.points.shape if self.projection is None else (len(self.points), self.projection.shape[0])
        anchors = self.anchors
        if anchors is None:
            anchors = self.points if self.projection is None else np.zeros(full)
        self.keep(anchors=public_points(f"{owner}.anchors", anchors))
        refuse_misfit(f"{owner}.anchors", self._anchors.shape, full)
        self.keep(radius=whole_radius(f"{owner}.radius", self.radius, step=grid_step(self.shape[1])))

    @property
    def _anchors(self) -> FloatArray:
        assert self.anchors is not None
        return self.anchors

    @property
    def shape(self) -> tuple[int, ...]:
        """One sum per point, in the full space."""
        return self._anchors.shape


@dataclass(frozen=True, kw_only=True, eq=False)
class NearestSums(NearestOffsets, ClippedSums):
    """For each public point, the sum of the offsets of the rows that have it as their nearest.

    Parameters
    ----------
    points, radius, anchors
        As for :class:`NearestOffsets`.
    """

    name: ClassVar[str] = "nearest_sums"

    def exact_given(self, rows: FloatArray, labels: IntArray) -> IntArray:
        """Add up the clipped offsets of one block, in whole steps of the grid."""
        return self._add_up(offsets_from(self._anchors, rows, labels), labels)


def whole_radius(where: str, radius: float, *, step: float) -> float:
    """Return a radius rounded down to whole steps of the grid, and at least one."""
    checked = validate.number(where, radius, low=0.0, high=4.0, open_low=True)
    return float(max(1.0, np.floor(checked / step)) * step)


def clip_steps(offsets: FloatArray, *, radius: float, unit: float) -> FloatArray:
    """Return offsets on the grid in whole steps of it, those longer than the radius shortened to it; they are written over."""
    squares = np.einsum("ij,ij->i", offsets, offsets)
    steps = np.multiply(offsets, 1 / unit, out=offsets)  # exact: the unit is a power of two
    long = np.flatnonzero(squares > radius**2)
    if long.size:
        # Rounding towards zero keeps the norm. Where many are long, all rows at once are faster: times 1, the others stay.
        chosen = long if MANY * len(long) < len(steps) else slice(None)
        lengths = np.maximum(np.sqrt(squares[chosen]), radius)
        factors = np.where(squares[chosen] > radius**2, radius * SHRINK / lengths, 1.0)
        steps[chosen] = np.trunc(steps[chosen] * factors[:, None])
    return steps


def sum_by_label(steps: FloatArray, labels: IntArray, *, n_labels: int) -> IntArray:
    """Add up whole steps by label; the sums are exact, being whole numbers below 2**53."""
    index: Any = np.int32 if len(steps) < INT32_END else np.int64  # shorter numbers are read faster
    starts = np.arange(len(steps) + 1, dtype=index)
    members = sparse.csc_array((np.ones(len(steps)), labels.astype(index), starts), shape=(n_labels, len(steps)))
    return np.asarray(np.rint(np.asarray(members @ steps)), dtype=np.int64)
