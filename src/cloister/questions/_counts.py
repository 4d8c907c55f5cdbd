# SPDX-License-Identifier: Apache-2.0
"""Questions that count: votes for the nearest point, distances by bin, rows, and persons by how many rows they have."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from cloister import validate
from cloister.columns import FloatArray, IntArray, PrivacyUnit, Relation
from cloister.questions._base import NearestQuestion, Question, offsets_from, public_points, refuse_misfit

CELL_BITS = 46  # of 52 behind the first: 64 cells an octave
MOST_WITHIN = 3  # edges in one cell; if there are more, a search is faster


@dataclass(frozen=True, kw_only=True, eq=False)
class Counts(Question):
    """A question that puts each row into exactly one bin and counts."""

    def l1_sensitivity(self, relation: Relation) -> float:
        # A row adds one to one bin. Replacing it takes one from a bin and gives one to another.
        return 1.0 if relation is Relation.ADD_REMOVE else 2.0

    def l2_sensitivity(self, relation: Relation) -> float:
        # The same two changes, in two different bins, are at right angles.
        return 1.0 if relation is Relation.ADD_REMOVE else 2.0**0.5


@dataclass(frozen=True, kw_only=True, eq=False)
class NearestCounts(NearestQuestion, Counts):
    """How many rows have each of the public points as their nearest.

    Parameters
    ----------
    points : array of shape (n_points, n_dimensions)
        Public, in the unit ball (of the projection, if there is one).
    """

    name: ClassVar[str] = "nearest_counts"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.keep(points=self.place("NearestCounts.points", self.points))

    @property
    def shape(self) -> tuple[int, ...]:
        """One count per point."""
        return (len(self.points),)

    def exact_given(self, rows: FloatArray, labels: IntArray) -> IntArray:
        """Count the votes of one block."""
        return np.bincount(labels, minlength=len(self.points))


@dataclass(frozen=True, kw_only=True, eq=False)
class DistanceHistogram(NearestQuestion, Counts):
    """How far rows lie from the nearest public point, counted in bins.

    Parameters
    ----------
    edges : array of shape (n_edges,)
        Increasing positive distances. Bins are ``[0, edges[0])``, ``[edges[0], edges[1])``, ... and ``[edges[-1], infinity)``.
    points : array of shape (n_points, n_dimensions), optional
        Public. Left out, distances are taken from the origin.
    anchors : array of shape (n_points, n_features), optional
        Measure distances in the full space, from the anchor of the nearest point. Left out, they are taken where the points
        are: after the projection, if there is one.
    """

    edges: FloatArray
    points: FloatArray | None = None  # type: ignore[assignment]
    anchors: FloatArray | None = None
    name: ClassVar[str] = "distance_histogram"

    def __post_init__(self) -> None:
        super().__post_init__()
        edges = np.array(self.edges, dtype=np.float64)
        if edges.ndim != 1 or not edges.size or not np.isfinite(edges).all() or edges[0] <= 0 or (np.diff(edges) <= 0).any():
            validate.refuse(
                "DistanceHistogram.edges", "increasing positive distances", self.edges, remedy="Pass at least one edge."
            )
        self.keep(edges=edges)
        if self.points is not None:
            self.keep(points=self.place("DistanceHistogram.points", self.points))
        if self.anchors is not None:
            anchors = public_points("DistanceHistogram.anchors", self.anchors)
            n_points = 0 if self.points is None else len(self.points)
            n_features = anchors.shape[1] if self.projection is None else self.projection.shape[0]
            refuse_misfit("DistanceHistogram.anchors", anchors.shape, (n_points, n_features))
            self.keep(anchors=anchors)

    @property
    def shape(self) -> tuple[int, ...]:
        """One count per bin."""
        return (len(self.edges) + 1,)

    def labels(self, rows: FloatArray) -> IntArray:
        """Return the index of the nearest point for each row."""
        return np.zeros(len(rows), dtype=np.int64) if self.points is None else super().labels(rows)

    def exact_given(self, rows: FloatArray, labels: IntArray) -> IntArray:
        """Count the distances of one block."""
        if self.anchors is not None:
            offsets = offsets_from(self.anchors, rows, labels)
        else:
            seen = self.view(rows)
            offsets = seen if self.points is None else offsets_from(self.points, seen, labels)
        return self._bins.count(np.einsum("ij,ij->i", offsets, offsets))  # squares are exact on the grid

    @cached_property
    def _bins(self) -> "Bins":
        return Bins.between(self.edges**2)


@dataclass(frozen=True, kw_only=True, eq=False)
class RowCount(Question):
    """How many rows there are."""

    name: ClassVar[str] = "row_count"
    reads_values: ClassVar[bool] = False

    @property
    def shape(self) -> tuple[int, ...]:
        """One number."""
        return (1,)

    def exact(self, rows: FloatArray) -> IntArray:
        """Count the rows of one block."""
        return np.array([len(rows)], dtype=np.int64)

    def l1_sensitivity(self, relation: Relation) -> float:
        # Replacing a row leaves the number as it is. The bound is kept at one so that the event never claims to cost nothing.
        return 1.0

    def l2_sensitivity(self, relation: Relation) -> float:
        return self.l1_sensitivity(relation)  # of one number


@dataclass(frozen=True, kw_only=True, eq=False)
class RowsPerUnit(Counts):
    """How many persons have how many rows, counted in bins.

    It sees two numbers of each row, and no other: its rank among the rows of its person, and how many rows that person has.

    Parameters
    ----------
    starts : tuple of int
        The smallest number of rows in each bin: 1, then increasing. The last bin is for all larger numbers.

    Notes
    -----
    **Privacy.** A person adds one to one bin, by the row of rank 0, whatever the number of their rows is. So a person moves
    the answer as far as a row moves any count: by 1 in l1 and l2, and by 2 and the root of 2 where one takes the place of
    another. That does not depend on how many rows are used, so that this may be asked before that number is known.

    Examples
    --------
    >>> question = RowsPerUnit(starts=(1, 2, 4))
    >>> question.exact(np.array([[0.0, 3.0], [1.0, 3.0], [2.0, 3.0], [0.0, 1.0], [0.0, 9.0]]))
    array([1, 1, 1])
    """

    starts: tuple[int, ...]
    name: ClassVar[str] = "rows_per_unit"
    raw: ClassVar[bool] = True
    weighs_rows: ClassVar[bool] = False
    reads_persons: ClassVar[bool] = True

    def __post_init__(self) -> None:
        starts = np.asarray(self.starts)
        if starts.ndim != 1 or not starts.size or starts[0] != 1 or (np.diff(starts) <= 0).any():
            remedy = "Pass the smallest number of rows of each bin."
            validate.refuse("RowsPerUnit.starts", "1, then increasing whole numbers", self.starts, remedy=remedy)

    @property
    def shape(self) -> tuple[int, ...]:
        """One count per bin."""
        return (len(self.starts),)

    def exact(self, rows: FloatArray) -> IntArray:
        """Count the persons of one block, each by the row of rank 0; rows are pairs of rank and number."""
        sizes = rows[rows[:, 0] == 0, 1]
        bins = np.clip(np.searchsorted(self.starts, sizes, side="right") - 1, 0, len(self.starts) - 1)
        return np.bincount(bins, minlength=len(self.starts))

    def person_factor(self, privacy_unit: PrivacyUnit) -> int:
        # A person is in one bin.
        return 1


@dataclass(frozen=True, eq=False)
class Bins:
    """Intervals ``[0, edges[0])``, ``[edges[0], edges[1])``, ..., ``[edges[-1], infinity)``, by a table instead of a search.

    The bits of a double that is not negative, read as a whole number, grow with it. Its first bits name a cell: part of an
    octave. The table says how many edges lie at or below the start of each cell; the few edges within a cell are compared one
    by one.
    """

    edges: FloatArray
    first: int  # cell of the first edge
    below: IntArray  # edges at or below the start of each cell; before the first cell, and behind the last, one more
    n_within: int  # edges within a cell, at most

    @classmethod
    def between(cls, edges: FloatArray) -> "Bins":
        """Return the intervals between edges that are not negative and do not decrease."""
        first, last = (int(edge) for edge in _cells(edges[[0, -1]]))
        starts = (np.arange(first, last + 2) << CELL_BITS).view(np.float64)
        below = np.concatenate([[0], np.searchsorted(edges, starts, side="right")])
        return cls(edges, first, below, int(np.diff(below, append=len(edges)).max()))

    def count(self, values: FloatArray) -> IntArray:
        """Return how many of some numbers, none of them negative, lie in each interval."""
        return np.bincount(self.find(values), minlength=len(self.edges) + 1)

    def find(self, values: FloatArray) -> IntArray:
        """Return the interval of each number."""
        if self.n_within > MOST_WITHIN:
            return np.searchsorted(self.edges, values, side="right")
        cells = np.clip(_cells(values) - (self.first - 1), 0, len(self.below) - 1)
        found = np.take(self.below, cells)
        ends = np.append(self.edges, np.inf)
        for _ in range(self.n_within):
            found += values >= np.take(ends, found)
        return found


def _cells(values: FloatArray) -> IntArray:
    return np.ascontiguousarray(values).view(np.int64) >> CELL_BITS
