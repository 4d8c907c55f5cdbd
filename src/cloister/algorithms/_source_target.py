# SPDX-License-Identifier: Apache-2.0
"""Sanitised versions of a private source for source-target clustering (Schnapp and Sabato 2025): NNA and NAS; and coresets.

Both return public points that stand for the source near a public target. NNA asks, for each target point, how many source
points have it as their nearest and where they lie on average; NAS asks for the mean of the t nearest source points of each
target point. A coreset of the target has few representatives, every point within a radius of its own.
"""

import heapq
from dataclasses import dataclass

import numpy as np

from cloister.columns import FloatArray, IntArray, clip_to_unit_ball
from cloister.questions import Ask, NearestCounts, NearestSums, NeighbourDistance, NeighbourMeans, Spend, Step

USEFUL = 0.9  # of the radius: an average farther out may stand for points that were clipped, and would help nobody


@dataclass(frozen=True)
class Distance:
    """Noisy mean distance of public points to their nearest source points."""

    value: float
    error: float  # standard deviation of its noise
    high: float  # what the distance stays below, with the confidence that was asked for


@dataclass(frozen=True, eq=False)
class Sanitized:
    """Public points that stand for the private source."""

    points: FloatArray
    counts: FloatArray  # noisy numbers of source points behind each; NaN-free, ones for NAS
    threshold: float  # smallest noisy count that was kept; 0 for NAS
    distance: Distance | None = None  # to the source, where it was asked for


def nearest_averages(
    ask: Ask,
    step: Step,
    points: FloatArray,
    *,
    radius: float,
    confidence: float,
    from_origin: bool = False,
    threshold: float | None = None,
) -> Sanitized:
    """Run NNA: noisy averages of the source points nearest to each public point of the unit ball, where there surely are some.

    Offsets of source points from their nearest public point are clipped to `radius`; averages of offsets near it are dropped,
    as the source points may be anywhere beyond. A point is kept if its noisy count exceeds 1 by more than noise does with
    probability `confidence`; `threshold` replaces what the count must exceed. With `from_origin` the source points themselves
    are added up, as in the paper.
    """
    counts = ask(NearestCounts(points=points), step["counts"])
    anchors = np.zeros_like(points) if from_origin else points
    sums = ask(NearestSums(points=points, radius=radius, anchors=anchors), step["sums"])
    limit = 1 + counts.event.quantile(confidence) if threshold is None else threshold
    kept = counts.value >= max(limit, 1.0)
    offsets = sums.value / np.maximum(counts.value, 1.0)[:, None]
    if not from_origin:
        kept &= np.sqrt(np.sum(offsets * offsets, axis=1)) <= USEFUL * radius
    return Sanitized(clip_to_unit_ball(anchors[kept] + offsets[kept]), counts.value[kept], max(limit, 1.0))


def neighbour_averages(ask: Ask, query: Spend, points: FloatArray, *, n_neighbors: int) -> Sanitized:
    """Run NAS: the noisy mean of the `n_neighbors` nearest source points of every public point."""
    answer = ask(NeighbourMeans(points=points, n_neighbors=n_neighbors), query)
    return Sanitized(clip_to_unit_ball(points + answer.value), np.ones(len(points)), 0.0)


def neighbour_distance(
    ask: Ask, query: Spend, points: FloatArray, weights: FloatArray, *, n_neighbors: int, confidence: float
) -> Distance:
    """Measure how far public points, as often as they count, are from their `n_neighbors` nearest source points on average."""
    question = NeighbourDistance(points=points, n_neighbors=n_neighbors, weights=weights.astype(np.int64))
    answer = ask(question, query)
    value = question.farthest - float(answer.value[0])
    high = value + answer.event.quantile(confidence)
    return Distance(min(max(value, 0.0), question.farthest), answer.sigma, min(max(high, 0.0), question.farthest))


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
    while -cells[0][0] > radius and len(cells) < max_size:
        _, _, members = heapq.heappop(cells)
        widest = int(np.argmax(np.ptp(points[members], axis=0)))
        members, middle = members[np.argsort(points[members, widest], kind="stable")], len(members) // 2
        for part in (members[:middle], members[middle:]):
            heapq.heappush(cells, _cell(points, part))
    largest, owner = -cells[0][0], np.empty(len(points), dtype=np.int64)
    cells.sort(key=lambda cell: cell[1])
    for number, (_, _, members) in enumerate(cells):
        owner[members] = number
    return Coreset(np.array([place for _, place, _ in cells], dtype=np.int64), owner, largest)


def _cell(points: FloatArray, members: IntArray) -> tuple[float, int, IntArray]:
    """Return (minus the radius, representative, members); the representative is the member nearest the mean."""
    mine = points[members]
    place = int(np.argmin(np.sum((mine - mine.mean(axis=0)) ** 2, axis=1)))
    radius = float(np.sqrt(np.max(np.sum((mine - mine[place]) ** 2, axis=1))))
    return -radius, int(members[place]), members
