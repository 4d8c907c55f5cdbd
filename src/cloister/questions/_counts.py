# SPDX-License-Identifier: Apache-2.0
"""Questions that count: votes for the nearest point, distances by bin, and the number of rows."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from cloister import validate
from cloister.columns import FloatArray, IntArray, Relation
from cloister.questions._base import NearestQuestion, Question, offsets_from, public_points, refuse_misfit
from cloister.questions._bins import Bins

__all__ = ["DistanceHistogram", "NearestCounts", "RowCount"]


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
        object.__setattr__(self, "points", self.place("NearestCounts.points", self.points))

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
        edges.setflags(write=False)
        object.__setattr__(self, "edges", edges)
        if self.points is not None:
            object.__setattr__(self, "points", self.place("DistanceHistogram.points", self.points))
        if self.anchors is not None:
            self._check_anchors()

    def _check_anchors(self) -> None:
        anchors = public_points("DistanceHistogram.anchors", self.anchors)
        n_features = anchors.shape[1] if self.projection is None else self.projection.shape[0]
        refuse_misfit("DistanceHistogram.anchors", anchors.shape, (0 if self.points is None else len(self.points), n_features))
        object.__setattr__(self, "anchors", anchors)

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
    def _bins(self) -> Bins:
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
        # As above: one number, which moves by at most one.
        return 1.0
