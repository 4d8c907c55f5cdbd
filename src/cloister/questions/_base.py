# SPDX-License-Identifier: Apache-2.0
"""What a question is: frozen public data that answers itself on one block of rows, with integers.

A question states how far its whole answer can move between two neighbouring tables, in l1 and in l2, for each neighbouring
relation. That is said of one row; what a person with several rows can do follows from it by the argument of
``domain.PrivacyUnit``, unless a question says otherwise. Answers of blocks add up to the answer of the table, so every
backend is "map blocks, add arrays" and nothing else (one question keeps the nearest rows instead of adding; it says so in
``merge``). Rows come from ``Frame.clean``: in the unit ball, on the grid; histograms of single columns see raw cells instead,
and say so in ``raw``. Imported by the vault and the algorithms.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np

from cloister import validate
from cloister.columns import FloatArray, IntArray, PrivacyUnit, Relation, grid_step, snap
from cloister.questions._search import Nearest

PROJECTION_STEP = 2.0**-20  # entries of a projection are rounded to it, so that projecting a grid point is exact
PROJECTED_REACH = 2.0  # projected coordinates are cut here; random projections keep norms near 1
LARGEST_COLUMN_NORM = 256.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Question(ABC):
    """One question about rows."""

    name: ClassVar[str]
    raw: ClassVar[bool] = False  # whether it sees raw cells instead of clean rows
    whole_rows: ClassVar[bool] = False  # whether raw cells include those of columns that rows are not compared by
    reads_values: ClassVar[bool] = True  # whether it looks into rows; otherwise they need not be cleaned, or even read
    selects: ClassVar[bool] = False  # whether the answers are costs, of which only the index of a low one is released
    weighs_rows: ClassVar[bool] = True  # whether it is a sum over rows, so that rows can have weights
    reads_persons: ClassVar[bool] = False  # whether it sees, of each row, its rank among those of its person and their number

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """Shape of the answer."""

    @property
    def unit(self) -> float:
        """What one integer step of the answer is worth."""
        return 1.0

    def keep(self, **checked: Any) -> None:
        """Replace fields by their checked values; arrays can no longer be written to: what is priced is what is answered."""
        for name, value in checked.items():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(self, name, value)

    @abstractmethod
    def exact(self, rows: FloatArray) -> IntArray:
        """Answer on one block of clean rows. The result never leaves the vault without noise."""

    def exact_by(self, rows: FloatArray, find: "Find") -> IntArray:
        """Answer as ``exact`` does; labels, where they are needed, come from `find`, which may have cached them."""
        return self.exact(rows)

    def merge(self, left: IntArray, right: IntArray) -> IntArray:
        """Combine the answers of two blocks, in any order. Most answers add up."""
        return left + right

    def finish(self, merged: IntArray) -> IntArray:
        """Return the answer, of the stated shape, from the merged answers of all blocks."""
        return merged

    @abstractmethod
    def l1_sensitivity(self, relation: Relation) -> float:
        """Bound on the l1 distance between the answers on two neighbouring tables, in integer steps."""

    @abstractmethod
    def l2_sensitivity(self, relation: Relation) -> float:
        """Bound on the l2 distance between the answers on two neighbouring tables, in integer steps."""

    def span_sensitivity(self, relation: Relation) -> float:
        """Bound on the largest move less the smallest, over all numbers, between two neighbouring tables; in integer steps."""
        # Two numbers whose moves lie farthest apart move, together, by no more than the whole answer does in l1.
        return self.l1_sensitivity(relation)

    def person_factor(self, privacy_unit: PrivacyUnit) -> int:
        """How many times as far as one row a person moves the answer, at most, in integer steps."""
        # A sum over rows: the argument is that of PrivacyUnit.
        return privacy_unit.factor

    def person_steps(self, privacy_unit: PrivacyUnit) -> int:
        """Integer steps that make one step of the answer where rows have weights; 1 where they have none."""
        return privacy_unit.steps if self.weighs_rows else 1


@dataclass(frozen=True, kw_only=True, eq=False)
class ProjectedQuestion(Question):
    """A question about rows as a public projection shows them.

    Parameters
    ----------
    projection : array of shape (n_features, n_projected), optional
        Public matrix applied to every row before distances are taken.
    """

    projection: FloatArray | None = None

    def __post_init__(self) -> None:
        if self.projection is not None:
            rounded = np.rint(np.asarray(self.projection, dtype=np.float64) / PROJECTION_STEP) * PROJECTION_STEP
            if rounded.ndim != 2 or not np.isfinite(rounded).all():
                validate.refuse("projection", "a finite matrix", np.shape(rounded), remedy="Pass (n_features, n_projected).")
            if np.sqrt(np.sum(rounded**2, axis=0)).max(initial=0.0) > LARGEST_COLUMN_NORM:
                validate.refuse("projection", "columns of norm at most 256", "longer ones", remedy="Scale it by 1/sqrt(p).")
            self.keep(projection=rounded)

    def place(self, where: str, points: object) -> FloatArray:
        """Return public points of the space in which distances are taken."""
        array = public_points(where, points)
        if self.projection is not None:
            refuse_misfit(where, array.shape, (len(array), self.projection.shape[1]))
        return array

    def view(self, rows: FloatArray) -> FloatArray:
        """Return rows in the space in which distances are taken: projected, if there is a projection, and on the grid."""
        if self.projection is None:
            return rows
        # Exact whatever the order of summation: a coordinate has at most 24 bits, an entry 20 behind the point, and
        # no partial sum exceeds |row| |column| <= 2**8, so 53 bits hold every intermediate value.
        seen = rows @ self.projection
        return snap(np.clip(seen, -PROJECTED_REACH, PROJECTED_REACH))


@dataclass(frozen=True, kw_only=True, eq=False)
class NearestQuestion(ProjectedQuestion):
    """A question in which each row belongs to the nearest of some public points."""

    points: FloatArray

    @cached_property
    def _nearest(self) -> Nearest:
        return Nearest(self.points, longest_row=1.0 if self.projection is None else None)

    def labels(self, rows: FloatArray) -> IntArray:
        """Return the index of the nearest point for each row."""
        return self._nearest(self.view(rows))

    def exact(self, rows: FloatArray) -> IntArray:
        """Answer on one block of clean rows. The result never leaves the vault without noise."""
        return self.exact_given(rows, self.labels(rows))

    def exact_by(self, rows: FloatArray, find: "Find") -> IntArray:
        """Answer as ``exact`` does; labels come from `find`, which may have cached them."""
        return self.exact_given(rows, find(self, rows))

    @abstractmethod
    def exact_given(self, rows: FloatArray, labels: IntArray) -> IntArray:
        """Answer on one block, with the index of each row's nearest point."""

    def same_labels(self, other: Question) -> bool:
        """Whether `other` gives every row the same label, so that one search serves both."""
        if not isinstance(other, NearestQuestion) or not np.array_equal(self.points, other.points):
            return False
        one, two = self.projection, other.projection
        return one is two or (one is not None and two is not None and np.array_equal(one, two))


Find: TypeAlias = Callable[[NearestQuestion, FloatArray], IntArray]  # for each row of a block, the index of its nearest point


def offsets_from(anchors: FloatArray, rows: FloatArray, labels: IntArray) -> FloatArray:
    """Return the offset of each row from the anchor that its label names: an array of its own."""
    offsets = np.take(anchors, labels, axis=0)
    return np.subtract(rows, offsets, out=offsets)


def refuse_misfit(where: str, found: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    """Refuse public arrays whose shapes do not match, before anything is spent."""
    if found != wanted:
        validate.refuse(where, f"an array of shape {wanted}", found, remedy="Pass arrays that belong together.")


def public_points(where: str, points: object) -> FloatArray:
    """Return public points as a 2-d array on the grid."""
    array = np.asarray(points, dtype=np.float64)
    if array.ndim != 2 or 0 in array.shape or not np.isfinite(array).all():
        validate.refuse(
            where, "a finite array of shape (n_points, n_dimensions)", array.shape, remedy="Pass at least one point."
        )
    limit = 2.0 + grid_step(array.shape[1])
    if np.abs(array).max() > limit:
        validate.refuse(where, "coordinates within [-2, 2]", "larger ones", remedy="Scale points to the unit ball.")
    return snap(array)
