# SPDX-License-Identifier: Apache-2.0
"""k-medoids with free centres: choose k of the candidates while every point already has a centre at a known distance.

The cost of a choice is the weighted sum over points of the smaller of two distances: to the nearest chosen candidate, and to
the free centre, the point's *cap* (infinite where there is none, which is plain k-medoids). The search swaps one medoid for one
candidate as long as that lowers the cost. As in FasterPAM (Schubert and Rousseeuw 2021) the change of all k swaps with a
candidate is found in one pass over the points, from the distances to the nearest and second nearest centre; the free centre
takes part as one that is never removed. Here a pass handles a block of candidates at a time, as single-precision arrays, and a
swap is kept only if the cost, added up in double precision, has gone down.

It stands for AkM, the Accelerated K-medoids of de Mathelin et al. (2022), by which Schnapp and Sabato (2025) solve the public
part of source-target clustering. ``benchmarks/solver.py`` measures it against the optimum of small problems.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from cloister.columns import FloatArray, IntArray

Singles: TypeAlias = npt.NDArray[np.float32]

BLOCK_NUMBERS = 1 << 18  # distances examined at a time: a megabyte stays in the cache
SWAPS_PER_BLOCK = 4
STARTS_TRIED = 16
MOST_PASSES = 100  # over the candidates, per start
FAR = np.float32(1e30)  # stands for "no centre"


@dataclass(frozen=True, eq=False)
class Medoids:
    """The chosen candidates and what they cost."""

    indices: IntArray
    cost: float  # weighted mean distance to the nearest centre, free ones included


def choose_medoids(
    distances: npt.ArrayLike,
    n_clusters: int,
    *,
    generator: np.random.Generator,
    caps: FloatArray | None = None,
    weights: FloatArray | None = None,
    restarts: int = 1,
    watch: Callable[[], None] | None = None,
) -> Medoids:
    """Choose candidates by local search; `distances` has shape (n_candidates, n_points), and the cheapest of all starts wins.

    `caps` are the distances of points to their free centres, `weights` how many points each stands for. `watch` is called after
    every pass.
    """
    table = np.asarray(distances, dtype=np.float32)
    n_candidates, n_points = table.shape
    weight = np.ones(n_points, dtype=np.float32) if weights is None else np.asarray(weights, dtype=np.float32)
    cap = np.full(n_points, FAR) if caps is None else np.minimum(caps, FAR).astype(np.float32)
    outcomes = []
    for _ in range(restarts):
        chosen = _start(table, min(n_clusters, n_candidates), cap, weight, generator)
        search = _Search(table, chosen, cap, weight)
        search.improve(generator, watch)
        outcomes.append(Medoids(np.sort(search.chosen), search.cost / max(float(weight.sum(dtype=np.float64)), 1e-300)))
    return min(outcomes, key=lambda one: one.cost)


class _Search:
    """The state of one local search: the chosen candidates, and each point's nearest and second nearest centre.

    Centre number k stands for the free one.
    """

    def __init__(self, table: Singles, chosen: IntArray, caps: Singles, weights: Singles) -> None:
        self._table, self._caps, self._weights = table, caps, weights
        self._count, n_points = len(chosen), table.shape[1]
        self.chosen = chosen
        self._nearest, self._second = np.empty(n_points, dtype=np.float32), np.empty(n_points, dtype=np.float32)
        self._owner, self._runner = np.empty(n_points, dtype=np.int64), np.empty(n_points, dtype=np.int64)
        self._assign(np.arange(n_points))

    @property
    def cost(self) -> float:
        """Weighted sum of the distances to the nearest centre."""
        return float(np.dot(self._weights.astype(np.float64), self._nearest))

    def improve(self, generator: np.random.Generator, watch: Callable[[], None] | None) -> None:
        """Swap until a whole pass finds nothing better."""
        n_candidates, n_points = self._table.shape
        size = max(1, min(n_candidates, BLOCK_NUMBERS // n_points))
        quiet, blocks = 0, -(-n_candidates // size)
        for _ in range(MOST_PASSES):
            order = generator.permutation(n_candidates)
            for start in range(0, n_candidates, size):
                quiet = 0 if self._improve_block(order[start : start + size]) else quiet + 1
                if quiet >= blocks:
                    return
            if watch is not None:
                watch()

    def _improve_block(self, block: IntArray) -> bool:
        rows = self._table[block]
        swapped = False
        for _ in range(SWAPS_PER_BLOCK):
            changes = self._changes(rows)
            candidate, medoid = divmod(int(np.argmin(changes)), self._count)
            if changes[candidate, medoid] >= 0 or not self._swap(medoid, int(block[candidate])):
                break
            swapped = True
        return swapped

    def _changes(self, rows: Singles) -> Singles:
        """Change of the cost, of shape (candidates, k), when a medoid is given up for a candidate.

        All points move to the candidate where it is nearer than their nearest centre. Giving up a medoid sends its points to
        their second nearest centre, or to the candidate if that is nearer than the second but not than the medoid itself.
        """
        ahead = np.minimum(rows, self._nearest)
        gains = (ahead - self._nearest) @ self._weights
        behind = np.minimum(rows, self._second)
        behind -= ahead  # how much farther a point gets when its nearest centre goes and the candidate comes
        losses = self._members @ behind.T  # sparse: one addition per point and candidate
        return np.asarray(gains[:, None] + losses.T)

    def _swap(self, medoid: int, candidate: int) -> bool:
        """Carry out a swap; take it back if the cost has not gone down after all."""
        cost, given_up = self.cost, int(self.chosen[medoid])
        before = self._nearest.copy(), self._second.copy(), self._owner.copy(), self._runner.copy()
        self.chosen[medoid] = candidate
        distance = self._table[candidate]
        lost = (self._owner == medoid) | (self._runner == medoid)
        becomes = ~lost & (distance < self._nearest)
        follows = ~lost & ~becomes & (distance < self._second)
        self._second[becomes], self._runner[becomes] = self._nearest[becomes], self._owner[becomes]
        self._nearest[becomes], self._owner[becomes] = distance[becomes], medoid
        self._second[follows], self._runner[follows] = distance[follows], medoid
        self._assign(np.flatnonzero(lost))
        if self.cost < cost:
            return True
        self.chosen[medoid] = given_up
        self._nearest, self._second, self._owner, self._runner = before
        self._note_members()
        return False

    def _assign(self, points: IntArray) -> None:
        """Find nearest and second nearest centre of the given points anew."""
        if points.size:
            near = np.vstack([self._table[np.ix_(self.chosen, points)], self._caps[points]])
            every = np.arange(points.size)
            owner = np.argmin(near, axis=0)
            self._owner[points], self._nearest[points] = owner, near[owner, every]
            near[owner, every] = np.inf
            runner = np.argmin(near, axis=0)
            self._runner[points], self._second[points] = runner, np.minimum(near[runner, every], FAR)
        self._note_members()

    def _note_members(self) -> None:
        mine = np.flatnonzero(self._owner < self._count)
        owned = (self._weights[mine], (self._owner[mine], mine))
        self._members = sparse.csr_array(owned, shape=(self._count, len(self._owner)))


def _start(table: Singles, count: int, caps: Singles, weights: Singles, generator: np.random.Generator) -> IntArray:
    """Choose a start one by one: the best of a few candidates drawn at random, for what is still to be covered."""
    chosen: list[int] = []
    nearest = caps.copy()
    free = np.ones(len(table), dtype=bool)
    for _ in range(count):
        pool = np.flatnonzero(free)
        drawn = generator.choice(pool, size=min(STARTS_TRIED, pool.size), replace=False)
        costs = np.minimum(table[drawn], nearest) @ weights
        winner = int(drawn[int(np.argmin(costs))])
        chosen.append(winner)
        free[winner] = False
        nearest = np.minimum(nearest, table[winner])
    return np.array(chosen, dtype=np.int64)
