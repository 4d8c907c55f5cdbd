# SPDX-License-Identifier: Apache-2.0
"""The nearest of a set of public points, for many rows, exactly.

Rows and points lie on the grid, where squared distances are exact in double precision, so "nearest" is a fact; equal distances
go to the point that comes first. Every engine returns that same answer and differs in speed alone:

- ``tree``: SciPy's k-d tree, queried for two neighbours; where both are equally far the row is decided by ``exact``;
- ``product``: one single-precision matrix product per block. Rounding moves a score by no more than a bound that is computed
  from the norms; rows whose two best scores lie closer than that are decided by ``exact``;
- ``exact``: a double-precision matrix product, in which no sum needs more than 53 bits: coordinates are at most 2, so that the
  d products of a score and the norm add up to less than the 16 d for which the grid leaves room. Where scores need fewer bits,
  those that are left say whose score it is, so that the lowest score is all that must be found: see ``KeyedScores``.

Which one is fastest depends on dimension and number of points; the crossover is measured by ``benchmarks/nearest.py``.
"""

import math

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from cloister import validate
from cloister.columns import FloatArray, IntArray, row_blocks, snap
from cloister.questions._keyed import CACHED_SCORES, LARGEST_PART, PADDING, KeyedScores

SEARCH_ENGINES = ("exact", "product", "tree")
LARGEST_COORDINATE = 2.0  # of rows whose length is not stated
SINGLE_ROUNDOFF = 2.0**-24
NEVER = 1e30  # a score that is never the lowest
ALIASED = 256  # numbers in single precision: a kilobyte
FEW_POINTS = 256
TREE_POINTS = 128  # times two to the power of the dimension: from here on the tree wins, up to TREE_DIMENSIONS
TREE_DIMENSIONS = 6


def choose_engine(n_points: int, n_dimensions: int) -> str:
    """Return the engine that is fastest for so many points; a function of public numbers alone."""
    if n_points <= FEW_POINTS:
        return "exact"
    if n_dimensions <= TREE_DIMENSIONS and n_points >= TREE_POINTS << n_dimensions:
        return "tree"
    return "product"


class Nearest:
    """Finds, for each row, the nearest of `points`.

    Parameters
    ----------
    points : array of shape (n_points, n_dimensions)
        On the grid.
    engine : {"auto", "exact", "product", "tree"}, default="auto"
        How to search; never what is found.
    longest_row : float, optional
        No row is longer than this. Left out, no coordinate of a row is larger than 2. The search is faster for short rows.
    """

    def __init__(self, points: FloatArray, *, engine: str = "auto", longest_row: float | None = None) -> None:
        self._points = points
        chosen = choose_engine(*points.shape) if engine == "auto" else validate.one_of("Nearest.engine", engine, SEARCH_ENGINES)
        self._engine = chosen if len(points) > 1 else "exact"
        self._norms = np.sum(points * points, axis=1)
        longest = LARGEST_COORDINATE * math.sqrt(points.shape[1]) if longest_row is None else longest_row
        self._keyed = KeyedScores.of(points, self._norms, longest_row=longest)
        self._single = _SingleScores(points) if self._engine == "product" else None
        self._tree = cKDTree(points) if self._engine == "tree" else None

    def __call__(self, rows: FloatArray) -> IntArray:
        """Return the index of the nearest point for each row."""
        if len(self._points) == 1:
            return np.zeros(len(rows), dtype=np.int64)
        search = {"exact": self._by_exact, "product": self._by_product, "tree": self._by_tree}
        return search[self._engine](rows)

    def _by_exact(self, rows: FloatArray) -> IntArray:
        if self._keyed is not None:
            return self._keyed.nearest(rows)
        found = np.empty(len(rows), dtype=np.int64)
        for part in row_blocks(len(rows), _part_size(len(self._points))):
            np.argmin(rows[part] @ (-2.0 * self._points.T) + self._norms, axis=1, out=found[part])
        return found

    def _by_tree(self, rows: FloatArray) -> IntArray:
        assert self._tree is not None
        distances, indices = (np.asarray(part) for part in self._tree.query(rows, k=2))
        return self._decide(rows, indices[:, 0].astype(np.int64), distances[:, 1] <= distances[:, 0])

    def _by_product(self, rows: FloatArray) -> IntArray:
        assert self._single is not None
        return self._decide(rows, *self._single.nearest(rows))

    def _decide(self, rows: FloatArray, found: IntArray, unsure: npt.NDArray[np.bool_]) -> IntArray:
        late = np.flatnonzero(unsure)
        if late.size:
            found[late] = self._by_exact(rows[late])
        return found


class _SingleScores:
    """Scores in single precision, with a bound on their rounding.

    Rows and points are seen from the middle of the points: the shorter they are, the smaller is the bound.
    """

    def __init__(self, points: FloatArray) -> None:
        n_points, n_dimensions = points.shape
        self._middle = snap(points.mean(axis=0))  # on the grid: differences are exact
        offsets = points - self._middle
        norms = np.sum(offsets * offsets, axis=1)
        self._longest = float(np.sqrt(norms.max()))
        # One more coordinate, 1 for every row, so that the product adds the norms as well. Rows of scores that lie a multiple
        # of a kilobyte apart would compete for the same lines of the cache: some points more, which are never the nearest.
        width = n_points + (PADDING if n_points % ALIASED == 0 else 0)
        self._factors = np.zeros((n_dimensions + 1, width), dtype=np.float32)
        self._factors[:-1, :n_points] = -2.0 * offsets.T
        self._factors[-1] = NEVER
        self._factors[-1, :n_points] = norms

    def nearest(self, rows: FloatArray) -> tuple[IntArray, npt.NDArray[np.bool_]]:
        """Return the index of the lowest score for each row, and whether rounding may have decided."""
        found = np.empty(len(rows), dtype=np.int64)
        unsure = np.empty(len(rows), dtype=bool)
        size = min(_part_size(self._factors.shape[1]), max(len(rows), 1))
        single = np.ones((size, len(self._factors)), dtype=np.float32)
        scores = np.empty((size, self._factors.shape[1]), dtype=np.float32)
        every = np.arange(size)
        for part in row_blocks(len(rows), size):
            n_rows = part.stop - part.start
            seen, best, each = single[:n_rows], scores[:n_rows], every[:n_rows]
            np.subtract(rows[part], self._middle, out=seen[:, :-1], casting="same_kind")
            np.matmul(seen, self._factors, out=best)
            index = np.argmin(best, axis=1, out=found[part])
            lowest = best[each, index]
            best[each, index] = np.inf
            unsure[part] = best.min(axis=1) - lowest <= self._margin(seen[:, :-1])
        return found, unsure

    def _margin(self, seen: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Bound, per row, on how far rounding can move the difference of two single-precision scores.

        A product of d + 1 terms is off by at most (d + 1) u / (1 - (d + 1) u) times the sum of their sizes, which is at most
        |row| |2 point| + |point|^2, in any order of summation, with u = 2**-24; rounding rows, points and norms adds 2 u of it.
        Two scores, so twice that; the factor is rounded up generously.
        """
        lengths = np.sqrt(np.einsum("ij,ij->i", seen, seen))
        size = 2 * lengths * self._longest + self._longest**2
        return np.asarray(3 * SINGLE_ROUNDOFF * (seen.shape[1] + 4) * size)


def _part_size(n_points: int) -> int:
    return min(LARGEST_PART, max(16, CACHED_SCORES // n_points))
