# SPDX-License-Identifier: Apache-2.0
"""Exact scores that carry the index of their point, so that the lowest number says which point is the nearest.

The score of a point p for a row x is |p|^2 - 2 x.p, the squared distance less |x|^2. On the grid it is a whole number of
step^2, and for rows and points in the unit ball it is far smaller than what 53 bits hold. The bits that are left, g of them,
are put behind the point: there stands the place of the point in its group of 2**g points. So the lowest number of a group
belongs to its nearest point, or to the first of those that are equally near, and says which one that is. Winners of groups get
their group's place instead, and are compared in the same way, until one is left.

Finding the lowest of several numbers is several times faster than finding where it stands. Imported by the search.
"""

import math
from dataclasses import dataclass

import numpy as np

from cloister.columns import EXACT_BITS, FloatArray, IntArray, grid_step, row_blocks

LARGEST_PART = 4096  # rows at a time
CACHED_SCORES = 1 << 20  # in work at a time, of many points for fewer rows: smaller parts cost more calls than the cache saves
PADDING = 16  # numbers between two rows of scores, which would else compete for the same lines of the cache
LEAST_BITS = 2  # of a place: below, too many groups


@dataclass(frozen=True, eq=False)
class KeyedScores:
    """Scores of public points, in units of step^2, with the place of each in its group behind the point."""

    factors: FloatArray  # (n_points, n_dimensions)
    constants: FloatArray  # (n_points, 1)
    group: int  # a power of two

    @classmethod
    def of(cls, points: FloatArray, norms: FloatArray, *, longest_row: float) -> "KeyedScores | None":
        """Return the scores of points on the grid; None if they leave too few bits.

        Whatever the order of summation, no partial sum of the products and the norm is larger than 2 |x| |p| + |p|^2 (by Cauchy
        and Schwarz, also for sizes of the products), which is below 2**e for the exponent e found here. All are multiples of
        2**-g in units of step^2. So e - 2 log2(step) + g <= 53 bits hold every one of them, without rounding.
        """
        unit = grid_step(points.shape[1]) ** 2
        longest = math.sqrt(norms.max())
        exponent = math.frexp((2 * longest_row * longest + longest**2) * (1 + 2.0**-40) / unit)[1]
        bits = EXACT_BITS - exponent
        if bits < LEAST_BITS:
            return None
        group = 1 << bits
        places = np.arange(len(points)) % group / group
        return cls(points * (-2.0 / unit), (norms / unit + places)[:, None], group)

    def nearest(self, rows: FloatArray) -> IntArray:
        """Return the index of the nearest point for each row."""
        found = np.empty(len(rows), dtype=np.int64)
        n_points = len(self.factors)
        size = max(1, min(LARGEST_PART, CACHED_SCORES // n_points, len(rows)))
        buffer = np.empty((n_points, size + PADDING))
        for part in row_blocks(len(rows), size):
            scores = buffer[:, : part.stop - part.start]
            np.matmul(self.factors, rows[part].T, out=scores)
            scores += self.constants
            found[part] = self._lowest(scores)
        return found

    def _lowest(self, keys: FloatArray) -> IntArray:
        """Return which row of `keys` holds the lowest number of each column."""
        if len(keys) <= self.group:
            lowest = np.minimum.reduce(keys, axis=0)
            return np.asarray((lowest - np.floor(lowest)) * self.group, dtype=np.int64)
        winners = self._winners(keys)
        scores = np.floor(winners)
        winners -= scores  # what is left are the places
        scores += (np.arange(len(scores)) % self.group / self.group)[:, None]
        groups = self._lowest(scores)
        places = winners[groups, np.arange(len(groups))]
        return groups * self.group + (places * self.group).astype(np.int64)

    def _winners(self, keys: FloatArray) -> FloatArray:
        """Return the lowest number of each group."""
        n_whole, rest = divmod(len(keys), self.group)
        winners = np.empty((n_whole + (rest > 0), keys.shape[1]))
        whole = keys[: n_whole * self.group].reshape(n_whole, self.group, -1)
        np.minimum.reduce(whole, axis=1, out=winners[:n_whole])
        if rest:
            np.minimum.reduce(keys[n_whole * self.group :], axis=0, out=winners[n_whole])
        return winners
