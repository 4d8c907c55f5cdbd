# SPDX-License-Identifier: Apache-2.0
"""Questions about the cells of a hash tree: how many rows each of some nodes holds, and what they add up to.

Public hyperplanes, one for each level, send a row left or right. A node is the set of rows with the same first decisions; it
has the number that a heap would give it: the root is 1, the children of node i are 2 i and 2 i + 1.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from cloister import validate
from cloister.columns import FloatArray, IntArray
from cloister.questions._base import PROJECTION_STEP, Question, refuse_misfit
from cloister.questions._counts import Counts
from cloister.questions._sums import ClippedSums, whole_radius

__all__ = ["DEEPEST_HASH", "HashCounts", "HashSums"]

DEEPEST_HASH = 48  # levels: the numbers of nodes stay below 2**53 and the decisions of a row fit one integer
LONGEST_NORMAL = 2.0


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
        normals, offsets = (_rounded(f"{owner}.{name}", getattr(self, name)) for name in ("normals", "offsets"))
        if normals.ndim != 2 or np.sum(normals**2, axis=0).max(initial=0.0) > LONGEST_NORMAL**2:
            validate.refuse(f"{owner}.normals", "columns of length at most 2", np.shape(normals), remedy="Pass unit vectors.")
        refuse_misfit(f"{owner}.offsets", offsets.shape, normals.shape[1:])
        nodes = np.array(self.nodes)
        highest = 2 ** (min(normals.shape[1], DEEPEST_HASH) + 1)
        if nodes.ndim != 1 or nodes.dtype.kind != "i" or not nodes.size or nodes.min() < 1 or nodes.max() >= highest:
            validate.refuse(f"{owner}.nodes", f"whole numbers from 1 to {highest - 1}", nodes.shape, remedy="Pass some nodes.")
        for name, value in (("normals", normals), ("offsets", offsets), ("nodes", nodes.astype(np.int64))):
            value.setflags(write=False)
            object.__setattr__(self, name, value)
        if (self._starts[1:] < self._ends[:-1]).any():
            validate.refuse(f"{owner}.nodes", "nodes that share no row", "nested ones", remedy="Leave the ancestors out.")

    @cached_property
    def _depths(self) -> IntArray:
        return np.asarray(np.frexp(self.nodes)[1] - 1, dtype=np.int64)  # exact: the numbers are below 2**53

    @cached_property
    def _deepest(self) -> int:
        return int(self._depths.max())

    @cached_property
    def _order(self) -> IntArray:
        return np.argsort(self.nodes << (self._deepest - self._depths), kind="stable")

    @cached_property
    def _starts(self) -> IntArray:
        """The first of the deepest nodes below each node, in the order of `_order`."""
        return np.asarray((self.nodes << (self._deepest - self._depths))[self._order])

    @cached_property
    def _ends(self) -> IntArray:
        return np.asarray(((self.nodes + 1) << (self._deepest - self._depths))[self._order])

    def labels(self, rows: FloatArray) -> IntArray:
        """Return the place of each row's node in `nodes`, and -1 for a row that is in none of them."""
        # Exact whatever the order of summation: coordinates are multiples of the grid's step, at least 2**-24, and entries of
        # 2**-20, so sums are multiples of 2**-44; and |row| |normal|, which bounds every partial sum, is at most 2.
        sides = rows @ self.normals[:, : self._deepest] >= self.offsets[: self._deepest]
        numbers = np.ones(len(rows), dtype=np.int64)
        for side in sides.T:
            numbers = 2 * numbers + side
        place = np.searchsorted(self._starts, numbers, side="right") - 1
        inside = (place >= 0) & (numbers < self._ends[place])
        return np.where(inside, self._order[place], -1)


@dataclass(frozen=True, kw_only=True, eq=False)
class HashCounts(HashQuestion, Counts):
    """How many rows each of some nodes holds, no two of which share a row. Every node is counted, also those without rows.

    Parameters
    ----------
    normals, offsets, nodes
        The hyperplanes and the nodes.
    """

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
    """The sum of the rows that each of some nodes holds.

    Parameters
    ----------
    normals, offsets, nodes
        The hyperplanes and the nodes.
    radius : float
        Longer rows are shortened to it.
    """

    name: ClassVar[str] = "hash_sums"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "radius", whole_radius("HashSums.radius", self.radius, step=self.unit))

    @property
    def shape(self) -> tuple[int, ...]:
        """One sum per node."""
        return (len(self.nodes), len(self.normals))

    def exact(self, rows: FloatArray) -> IntArray:
        """Add up the clipped rows of one block, in whole steps of the grid."""
        labels = self.labels(rows)
        inside = labels >= 0
        return self._add_up(rows[inside], labels[inside])


def _rounded(where: str, values: object) -> FloatArray:
    """Return public numbers rounded to the step on which products with rows are exact."""
    array = np.rint(np.asarray(values, dtype=np.float64) / PROJECTION_STEP) * PROJECTION_STEP
    if not np.isfinite(array).all():
        validate.refuse(where, "finite numbers", np.shape(array), remedy="Pass finite numbers.")
    return np.asarray(array)
