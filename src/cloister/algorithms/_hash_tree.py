# SPDX-License-Identifier: Apache-2.0
"""A private coreset by a hash tree (Chang and Kamath): random hyperplanes cut the space, noisy counts say where to go on.

The leaves' noisy averages, weighted by their noisy counts, stand for the rows; k-means of them is post-processing. Rows are
reached through ``ask`` alone.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cloister.algorithms._kmeans import weighted_kmeans
from cloister.algorithms._packing import pack_sphere
from cloister.algorithms._space import Space
from cloister.columns import FloatArray, IntArray
from cloister.questions import Ask, HashCounts, HashSums, Spend

__all__ = [
    "LARGEST_TREE",
    "CoresetCenters",
    "HashCoreset",
    "HashLevel",
    "HashTree",
    "Hyperplanes",
    "average_leaves",
    "cluster_coreset",
    "grow_tree",
    "random_hyperplanes",
]

SPLIT_FACTOR = 2.0  # a node is split where both halves may hold the wanted rows
KEEP_FACTOR = 0.5  # a leaf stands for rows if it holds at least this part of them
LARGEST_TREE = 1 << 13  # leaves; each of them gets a draw of noise per column


@dataclass(frozen=True, eq=False)
class Hyperplanes:
    """Public hyperplanes, one for each level of the tree."""

    normals: FloatArray  # (n_features, n_levels)
    offsets: FloatArray  # (n_levels,)

    @property
    def n_levels(self) -> int:
        """How deep the tree may become."""
        return len(self.offsets)


@dataclass(frozen=True, eq=False)
class HashLevel:
    """One level of a tree, all of it public."""

    nodes: IntArray
    noisy_counts: FloatArray
    sigma: float


@dataclass(frozen=True, eq=False)
class HashTree:
    """A grown tree: its leaves share no row and miss none."""

    leaves: IntArray  # numbers of the nodes, as HashCounts has them
    levels: tuple[HashLevel, ...]  # that were asked for


@dataclass(frozen=True, eq=False)
class HashCoreset:
    """Noisy averages of the leaves and how many rows each stands for."""

    points: FloatArray
    noisy_counts: FloatArray
    kept: npt.NDArray[np.bool_]  # leaves that hold enough rows for their average to mean something
    count_sigma: float
    sum_sigma: float


@dataclass(frozen=True, eq=False)
class CoresetCenters:
    """Centres of a coreset, with counts and standard errors read off it."""

    centers: FloatArray
    center_errors: FloatArray
    counts: FloatArray
    count_errors: FloatArray


def random_hyperplanes(generator: np.random.Generator, n_features: int, n_levels: int, *, offset: float) -> Hyperplanes:
    """Draw hyperplanes in random directions, at normally distributed distances from the centre.

    Along a random direction a point at distance r from the centre lies, typically, at r / sqrt(n_features); `offset` is the r
    that hyperplanes cut up to, typically. With 0 they all go through the centre (SimHash) and tell directions apart alone.
    """
    normals = generator.standard_normal((n_features, n_levels))
    normals /= np.maximum(np.sqrt(np.sum(normals**2, axis=0)), 1e-300)
    return Hyperplanes(normals, offset / math.sqrt(n_features) * generator.standard_normal(n_levels))


def grow_tree(ask: Ask, levels: Sequence[Spend], planes: Hyperplanes, *, n_rows: float, min_rows: float) -> HashTree:
    """Split, level by level, the nodes that seem to hold twice `min_rows`; each level is one question."""
    frontier, counts = np.array([1]), np.array([n_rows])
    leaves: list[IntArray] = []
    grown: list[HashLevel] = []
    for level, query in enumerate(levels, start=1):
        room = LARGEST_TREE - len(frontier) - sum(map(len, leaves))
        split = _splits(counts, SPLIT_FACTOR * min_rows, room)
        leaves.append(frontier[~split])
        if not split.any():
            return HashTree(np.concatenate(leaves), tuple(grown))
        frontier = np.concatenate([2 * frontier[split], 2 * frontier[split] + 1])
        question = HashCounts(normals=planes.normals[:, :level], offsets=planes.offsets[:level], nodes=frontier)
        answer = ask(question, query)
        counts = answer.value
        grown.append(HashLevel(frontier, counts, answer.sigma))
    return HashTree(np.concatenate([*leaves, frontier]), tuple(grown))


def average_leaves(
    ask: Ask, planes: Hyperplanes, tree: HashTree, space: Space, *, counts: Spend, sums: Spend, min_rows: float
) -> HashCoreset:
    """Ask for the number and the sum of the rows in every leaf, in one pass; every leaf is noised, also an empty one."""
    normals, offsets, leaves = planes.normals, planes.offsets, tree.leaves
    how_many = HashCounts(normals=normals, offsets=offsets, nodes=leaves)
    where = HashSums(normals=normals, offsets=offsets, nodes=leaves, radius=1.0)
    number, total = ask([how_many, where], [counts, sums])
    return HashCoreset(
        points=space.clip(total.value / np.maximum(number.value, 1.0)[:, None]),
        noisy_counts=number.value,
        kept=number.value >= max(KEEP_FACTOR * min_rows, 1.0),
        count_sigma=number.sigma,
        sum_sigma=total.sigma,
    )


def cluster_coreset(
    coreset: HashCoreset,
    n_clusters: int,
    space: Space,
    *,
    generator: np.random.Generator,
    restarts: int,
) -> CoresetCenters:
    """Run weighted k-means on the leaves that were kept; where they are too few, other leaves and packed points fill up."""
    kept = coreset.kept.copy()
    fullest = np.argsort(-coreset.noisy_counts, kind="stable")[:n_clusters]
    kept[fullest[coreset.noisy_counts[fullest] >= 1.0]] = True
    points, weights = coreset.points[kept], coreset.noisy_counts[kept]
    if len(points) > n_clusters:
        centers = weighted_kmeans(points, weights, n_clusters, generator=generator, restarts=restarts)
    else:
        # One more centre never raises the loss, wherever it lies.
        missing = n_clusters - len(points)
        spread = pack_sphere(generator, missing, space.dimension, half_widths=space.half_widths)
        centers = np.vstack([points, space.clip(spread)])
    return _read_off(coreset, points, weights, space.clip(centers))


def _splits(counts: FloatArray, threshold: float, room: int) -> npt.NDArray[np.bool_]:
    """Say which nodes are split: those that seem full enough, and the fullest of them where the tree has no room for all."""
    chosen = np.zeros(len(counts), dtype=bool)
    order = np.argsort(-counts, kind="stable")[: max(room, 0)]
    chosen[order] = counts[order] >= threshold
    return chosen


def _read_off(coreset: HashCoreset, points: FloatArray, weights: FloatArray, centers: FloatArray) -> CoresetCenters:
    """Add up the leaves of each centre.

    A centre is the sum of its leaves' noisy sums over that of their noisy counts, so the delta method for a quotient gives the
    noise in it; a centre without leaves may be anywhere.
    """
    n_clusters = len(centers)
    squares = np.sum(centers**2, axis=1) - 2 * points @ centers.T
    owner = np.argmin(squares, axis=1)
    counts = np.bincount(owner, weights=weights, minlength=n_clusters).astype(np.float64)
    leaves = np.bincount(owner, minlength=n_clusters)
    noise = np.sqrt(leaves[:, None] * (coreset.sum_sigma**2 + (centers * coreset.count_sigma) ** 2))
    errors = np.where(leaves[:, None] > 0, noise / np.maximum(counts, 1.0)[:, None], 1.0)
    return CoresetCenters(
        centers=centers,
        center_errors=np.minimum(errors, 1.0),
        counts=counts,
        count_errors=coreset.count_sigma * np.sqrt(np.maximum(leaves, 1)),
    )
