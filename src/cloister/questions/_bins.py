# SPDX-License-Identifier: Apache-2.0
"""Which of some public intervals a number lies in, for many numbers: a table instead of a search. Imported by histograms.

The bits of a double that is not negative, read as a whole number, grow with it. Its first bits name a cell: part of an octave.
A table says how many edges lie at or below the start of each cell; the few edges within a cell are compared one by one.
"""

from dataclasses import dataclass

import numpy as np

from cloister.columns import FloatArray, IntArray

__all__ = ["Bins"]

CELL_BITS = 46  # of 52 behind the first: 64 cells an octave
MOST_WITHIN = 3  # edges in one cell; if there are more, a search is faster


@dataclass(frozen=True, eq=False)
class Bins:
    """Intervals ``[0, edges[0])``, ``[edges[0], edges[1])``, ..., ``[edges[-1], infinity)``, by a table."""

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
