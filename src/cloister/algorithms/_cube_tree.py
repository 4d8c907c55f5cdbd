# SPDX-License-Identifier: Apache-2.0
"""Candidates by recursive division of cubes (Balcan et al. 2017): cubes that hold enough rows are cut in half along every axis.

A level of the tree is one histogram: the cubes of a level do not overlap, so a row is counted once. The paper keeps a cube
with a probability that rises with its count; that is the probability that the count with Laplace noise exceeds a threshold,
so the noisy counts themselves cost no more and are kept here as the weights of the candidates.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cloister.algorithms._space import Space
from cloister.columns import FloatArray, IntArray
from cloister.questions import Ask, CubeCounts, Spend

__all__ = ["CubeTree", "TreeSettings", "divide_cubes"]

Touches = Callable[[FloatArray, FloatArray], npt.NDArray[np.bool_]]


@dataclass(frozen=True, kw_only=True)
class TreeSettings:
    """Public settings of a tree."""

    first: int  # cubes per axis on the first level
    max_cubes: int  # asked for on one level
    fewest: int  # cubes kept on the first level, however little they hold


@dataclass(frozen=True, eq=False)
class CubeTree:
    """The kept cubes of all levels, all of it public."""

    points: FloatArray  # (n_cubes, n_dimensions), the middles
    counts: FloatArray  # (n_cubes,), noisy
    weights: FloatArray  # (n_cubes,): what the kept parts of a cube do not hold, at least 0
    n_levels: int  # asked for; dividing ends early where no cube holds enough


@dataclass(frozen=True, eq=False)
class _Level:
    places: IntArray
    counts: FloatArray
    parents: IntArray  # their indices on the level above
    middles: FloatArray


def divide_cubes(
    ask: Ask, levels: Sequence[Spend], space: Space, *, settings: TreeSettings, generator: np.random.Generator
) -> CubeTree:
    """Divide cubes as long as they hold more rows than noise explains; every level is one question.

    The root is the cube that holds the space. The grid of the first level is shifted at random by up to half a cube. Cubes
    that do not touch the public domain hold no row for certain and are left out.
    """
    side = 2 * space.reach / settings.first
    grid = _Grid(-space.reach + side * (generator.random(space.dimension) - 0.5), side, settings.first, space.touches)
    places = grid.all_places()
    parents = np.zeros(len(places), dtype=np.int64)
    grown: list[_Level] = []
    for query in levels:
        if not len(places):
            break
        answer = ask(grid.question(places, space.projection), query)
        most = max(settings.max_cubes >> space.dimension, 1)
        kept = _keep(answer.value, answer.sigma, 0 if grown else settings.fewest)[:most]
        grown.append(_Level(places[kept], answer.value[kept], parents[kept], grid.middles(places[kept])))
        grid = grid.halved()
        places, parents = grid.children(grown[-1].places)
    return _gather(grown)


@dataclass(frozen=True, eq=False)
class _Grid:
    """The cubes of one level, listed or not."""

    corner: FloatArray
    side: float
    per_axis: int
    touches: Touches

    def halved(self) -> "_Grid":
        return _Grid(self.corner, self.side / 2, self.per_axis * 2, self.touches)

    def question(self, places: IntArray, projection: FloatArray | None) -> CubeCounts:
        return CubeCounts(corner=self.corner, side=self.side, per_axis=self.per_axis, cubes=places, projection=projection)

    def middles(self, places: IntArray) -> FloatArray:
        return np.asarray(self.corner + (places + 0.5) * self.side)

    def all_places(self) -> IntArray:
        places = _lattice(self.per_axis, len(self.corner))
        return np.asarray(places[self._inside(places)])

    def children(self, places: IntArray) -> tuple[IntArray, IntArray]:
        """Return the halves of cubes along every axis, and which cube each is a part of."""
        halves = _lattice(2, len(self.corner))
        parts = (2 * places[:, None, :] + halves).reshape(-1, len(self.corner))
        parents = np.repeat(np.arange(len(places)), len(halves))
        inside = self._inside(parts)
        return parts[inside], parents[inside]

    def _inside(self, places: IntArray) -> IntArray:
        low, high = self.corner + places * self.side, self.corner + (places + 1) * self.side
        low = np.where(places == 0, -np.inf, low)  # the outermost cubes reach to infinity
        high = np.where(places == self.per_axis - 1, np.inf, high)
        return np.flatnonzero(self.touches(low, high))


def _lattice(per_axis: int, dimension: int) -> IntArray:
    axes = np.meshgrid(*[np.arange(per_axis)] * dimension, indexing="ij")
    return np.stack(axes, axis=-1).reshape(-1, dimension)


def _keep(counts: FloatArray, sigma: float, fewest: int) -> IntArray:
    """Return the cubes whose counts stand out of the noise, fullest first."""
    # Laplace noise of deviation sigma exceeds (sigma / sqrt 2) log(m) in about one of 2 m draws.
    threshold = sigma / math.sqrt(2) * math.log(max(len(counts), 2))
    order = np.argsort(-counts, kind="stable")
    return order[: max(int(np.count_nonzero(counts > threshold)), fewest)]


def _gather(levels: list[_Level]) -> CubeTree:
    weights = [level.counts.copy() for level in levels]
    for above, level in zip(weights, levels[1:], strict=False):
        np.subtract.at(above, level.parents, level.counts)
    return CubeTree(
        points=np.concatenate([level.middles for level in levels]),
        counts=np.concatenate([level.counts for level in levels]),
        weights=np.maximum(np.concatenate(weights), 0.0),
        n_levels=len(levels),
    )
