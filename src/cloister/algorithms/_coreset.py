# SPDX-License-Identifier: Apache-2.0
"""A coreset of public points by a k-d tree: few representatives, every point within a radius of its own."""

import heapq
from dataclasses import dataclass

import numpy as np

from cloister.columns import FloatArray, IntArray

__all__ = ["Coreset", "tree_coreset"]


@dataclass(frozen=True, eq=False)
class Coreset:
    """Representatives of public points."""

    indices: IntArray  # of the representatives, into the points
    owner: IntArray  # for each point, the place of its representative in `indices`
    radius: float  # largest distance of a point to its representative

    @property
    def weights(self) -> FloatArray:
        """How many points each representative stands for."""
        return np.bincount(self.owner, minlength=len(self.indices)).astype(np.float64)


def tree_coreset(points: FloatArray, radius: float, *, max_size: int) -> Coreset:
    """Split the points at the median of their widest axis until each is within `radius` of its cell's representative.

    The cell with the largest radius is split first, so stopping at `max_size` cells leaves the smallest radius the tree can
    have with so many. A radius of 0 keeps every distinct point, up to `max_size`.
    """
    cells = [_cell(points, np.arange(len(points)))]
    done: list[tuple[float, int, IntArray]] = []
    while cells:
        if -cells[0][0] <= radius or len(cells) + len(done) >= max_size:
            done += cells
            break
        _, _, members = heapq.heappop(cells)
        for part in _split(points, members):
            heapq.heappush(cells, _cell(points, part))
    indices = np.array([place for _, place, _ in done], dtype=np.int64)
    owner = np.empty(len(points), dtype=np.int64)
    for number, (_, _, members) in enumerate(done):
        owner[members] = number
    order = np.argsort(indices)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return Coreset(indices[order], rank[owner], max(-negative for negative, _, _ in done))


def _cell(points: FloatArray, members: IntArray) -> tuple[float, int, IntArray]:
    """Return (minus the radius, representative, members); the representative is the member nearest the mean."""
    mine = points[members]
    place = int(np.argmin(np.sum((mine - mine.mean(axis=0)) ** 2, axis=1)))
    radius = float(np.sqrt(np.max(np.sum((mine - mine[place]) ** 2, axis=1))))
    return -radius, int(members[place]), members


def _split(points: FloatArray, members: IntArray) -> tuple[IntArray, IntArray]:
    mine = points[members]
    axis = int(np.argmax(np.ptp(mine, axis=0)))
    order = np.argsort(mine[:, axis], kind="stable")
    middle = len(members) // 2
    return members[order[:middle]], members[order[middle:]]
