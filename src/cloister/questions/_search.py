# SPDX-License-Identifier: Apache-2.0
"""The nearest of a set of public points, for many rows, exactly.

Rows and points lie on the grid, where squared distances are exact in double precision, so "nearest" is a fact; equal distances
go to the point that comes first. Every engine returns that same answer and differs in speed alone:

- ``tree``: SciPy's k-d tree, queried for two neighbours; where both are equally far the row is decided by ``exact``;
- ``product``: one single-precision matrix product per block. Rounding moves a score by no more than a bound that is computed
  from the norms; rows whose two best scores lie closer than that are decided by ``exact``;
- ``faiss``: as ``product``, with faiss doing the search (if installed);
- ``exact``: a double-precision matrix product, in which no sum needs more than 53 bits: coordinates are at most 2, so that the
  d products of a score and the norm add up to less than the 16 d for which the grid leaves room.

Which one is fastest depends on dimension and number of points; the crossover is measured by ``benchmarks/nearest.py``.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from cloister import validate
from cloister.domain import FloatArray, IntArray, row_blocks

__all__ = ["SEARCH_ENGINES", "Nearest", "choose_engine"]

SEARCH_ENGINES = ("exact", "faiss", "product", "tree")
SINGLE_ROUNDOFF = 2.0**-24
CACHED_SCORES = 1 << 20  # scores in work at a time: four megabytes; smaller parts cost more calls than the cache saves
FEW_POINTS = 128
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
    engine : {"auto", "exact", "faiss", "product", "tree"}, default="auto"
        How to search; never what is found.
    """

    def __init__(self, points: FloatArray, *, engine: str = "auto") -> None:
        self._points = points
        chosen = choose_engine(*points.shape) if engine == "auto" else validate.one_of("Nearest.engine", engine, SEARCH_ENGINES)
        self._engine = chosen if len(points) > 1 else "exact"
        self._norms = np.sum(points * points, axis=1)
        self._longest = float(np.sqrt(self._norms.max()))
        # One more coordinate, 1 for every row, so that the product adds the norms as well.
        self._double = np.vstack([-2.0 * points.T, self._norms])
        self._single = self._double.astype(np.float32)
        self._tree = cKDTree(points) if self._engine == "tree" else None

    def __call__(self, rows: FloatArray) -> IntArray:
        """Return the index of the nearest point for each row."""
        search = {"exact": self._by_exact, "faiss": self._by_faiss, "product": self._by_product, "tree": self._by_tree}
        return search[self._engine](rows)

    def _by_exact(self, rows: FloatArray) -> IntArray:
        found = np.empty(len(rows), dtype=np.int64)
        double = _with_ones(rows, np.float64)
        scores = np.empty((_part_size(len(self._points)), len(self._points)))
        for part in row_blocks(len(rows), len(scores)):
            best = np.matmul(double[part], self._double, out=scores[: part.stop - part.start])
            np.argmin(best, axis=1, out=found[part])
        return found

    def _by_tree(self, rows: FloatArray) -> IntArray:
        assert self._tree is not None
        distances, indices = (np.asarray(part) for part in self._tree.query(rows, k=2))
        return self._decide(rows, indices[:, 0].astype(np.int64), distances[:, 1] <= distances[:, 0])

    def _by_product(self, rows: FloatArray) -> IntArray:
        found = np.empty(len(rows), dtype=np.int64)
        unsure = np.empty(len(rows), dtype=bool)
        single = _with_ones(rows, np.float32)
        margin = self._margin(rows)
        scores = np.empty((_part_size(len(self._points)), len(self._points)), dtype=np.float32)
        for part in row_blocks(len(rows), len(scores)):
            best = scores[: part.stop - part.start]
            np.matmul(single[part], self._single, out=best)
            index = np.argmin(best, axis=1)
            every = np.arange(len(best))
            lowest = best[every, index]
            best[every, index] = np.inf
            found[part], unsure[part] = index, best.min(axis=1) - lowest <= margin[part]
        return self._decide(rows, found, unsure)

    def _by_faiss(self, rows: FloatArray) -> IntArray:
        import faiss

        index = faiss.IndexFlatL2(self._points.shape[1])
        index.add(np.ascontiguousarray(self._points, dtype=np.float32))
        distances, indices = index.search(np.ascontiguousarray(rows, dtype=np.float32), 2)
        lengths = np.sqrt(np.sum(rows * rows, axis=1)) + self._longest
        margin = 4 * SINGLE_ROUNDOFF * (rows.shape[1] + 8) * lengths**2
        return self._decide(rows, indices[:, 0].astype(np.int64), distances[:, 1] - distances[:, 0] <= margin)

    def _margin(self, rows: FloatArray) -> FloatArray:
        """Bound, per row, on how far rounding can move the difference of two single-precision scores.

        A product of d + 1 terms is off by at most (d + 1) u / (1 - (d + 1) u) times the sum of their sizes, which is at most
        |row| |2 point| + |point|^2, in any order of summation, with u = 2**-24; rounding the norm adds u of its size. Two
        scores, so twice that; the factor is rounded up generously.
        """
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        size = 2 * lengths * self._longest + self._longest**2
        return np.asarray(3 * SINGLE_ROUNDOFF * (rows.shape[1] + 4) * size)

    def _decide(self, rows: FloatArray, found: IntArray, unsure: npt.NDArray[np.bool_]) -> IntArray:
        late = np.flatnonzero(unsure)
        if late.size:
            found[late] = self._by_exact(rows[late])
        return found


def _with_ones(rows: FloatArray, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    wide = np.ones((len(rows), rows.shape[1] + 1), dtype=dtype)
    wide[:, :-1] = rows
    return wide


def _part_size(n_points: int) -> int:
    return min(4096, max(16, CACHED_SCORES // n_points))
