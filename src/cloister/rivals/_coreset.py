# SPDX-License-Identifier: Apache-2.0
"""CoresetKMeans: a hash tree grown by noisy counts, private averages at its leaves, k-means of them (Chang and Kamath 2021).

Random hyperplanes cut the space, noisy counts say where to go on. The leaves' noisy averages, weighted by their noisy counts,
stand for the rows; k-means of them is post-processing.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from cloister import validate
from cloister.algorithms import Space, nearest_of, pack_sphere, weighted_kmeans
from cloister.cluster import Decision, Outcome, Plan, Planner, PrivateClusterer, Request, estimator
from cloister.columns import FloatArray, Frame, IntArray
from cloister.privacy import Step
from cloister.questions import Ask, Spend, deviation
from cloister.rivals._questions import DEEPEST_HASH, HashCounts, HashSums

LEVELS_SHARE, COUNTS_SHARE, SUMS_SHARE = 0.20, 0.15, 0.65  # all levels together, and the two questions about the leaves
AVERAGE_NOISE = 0.2  # of the radius: what the average of a leaf with just enough rows is off by
LEVELS_PER_HALVING = 2.0  # a random hyperplane often leaves a node in one piece
SPARE_LEVELS = 2
DEEPEST_AUTO = 40
SPLIT_FACTOR = 2.0  # a node is split where both halves may hold the wanted rows
KEEP_FACTOR = 0.5  # a leaf stands for rows if it holds at least this part of them
LARGEST_TREE = 1 << 13  # leaves; each of them gets a draw of noise per column


@dataclass(frozen=True, kw_only=True)
class CoresetPlan(Plan):
    """Levels of a tree, one question each; then a count and a sum for every leaf."""

    levels: tuple[Step, ...]  # at most; the tree may end early, and the leaves then get what is left
    leaves: Step
    min_rows: float
    offset: float


@estimator
class CoresetKMeans(PrivateClusterer):
    """k-means of a private coreset: random hyperplanes cut the rows into a tree, whose leaves' noisy averages are clustered.

    Parameters
    ----------
    max_depth : int or "auto", default="auto"
        Levels of the tree; ``"auto"`` is two for every halving from the number of rows to `min_rows_per_leaf`, and two more.
    min_rows_per_leaf : int or "auto", default="auto"
        A node is split if it seems to hold twice as many. ``"auto"`` is where noise moves the average of a leaf by a fifth of
        the domain's radius.
    offset : float, default=0.4
        How far from the centre of the domain hyperplanes cut, in units of its radius. 0 is the paper's choice, all of them
        through the centre, which cannot tell apart rows in the same direction.
    n_init : int, default=10
        Restarts of the weighted k-means, on public numbers.

    Attributes
    ----------
    cluster_counts_ : array of shape (n_clusters,)
        Noisy numbers of the rows in those leaves that entered the coreset.
    coreset_ : HashCoreset
        Noisy averages and counts of the leaves, in the coordinates in which distances were measured.
    n_iter_ : int
        Levels of the tree.

    Notes
    -----
    **Privacy.** Each level asks how many rows lie in each of some disjoint cells, all of them noised: l2 sensitivity 1 for
    adding or removing a row, sqrt(2) for replacing one (l1: 1 and 2). The leaves are disjoint too: one such count, and one sum
    of rows per leaf, of l2 sensitivity R (2 R for replacing; l1: sqrt(d) times that), with an independent draw for every
    number. Levels share 20 % of the budget equally; the leaves get the rest and what levels that were not grown leave over, 15
    parts for counts and 65 for sums. Gaussian noise composes exactly (GDP), also when the tree decides what is asked next.
    The bounds and, if given, n_rows are taken as public. Not covered: labels, and the score of rows you pass.

    The method is that of Chang and Kamath, *Practical differentially private clustering* (2021). It differs in the offset of
    hyperplanes, in where thresholds and depth come from, in what happens to budget that is left over, and in always returning
    as many centres as asked for (see the documentation).
    """

    max_depth: int | str = "auto"
    min_rows_per_leaf: int | str = "auto"
    offset: float = 0.4
    n_init: int = 10

    def _plan(self, request: Request, frame: Frame, *, n_rows: float, planner: Planner) -> CoresetPlan:
        depth, min_rows = self._whole_or_auto("max_depth", high=DEEPEST_HASH), self._whole_or_auto("min_rows_per_leaf")
        offset = validate.number(self._where("offset"), self.offset, low=0.0, high=1.0)
        self._whole("n_init")
        one = {"normals": np.zeros((frame.n_features, 0)), "offsets": np.zeros(0), "nodes": np.array([1])}
        counts, sums = HashCounts(**one), HashSums(**one, radius=1.0)
        noise = deviation(sums, planner.budget.share(SUMS_SHARE), request.relation)
        fewest = max(1.0, math.sqrt(frame.n_features) * noise / AVERAGE_NOISE) if min_rows is None else float(min_rows)
        if depth is None:
            halvings = math.log2(max(n_rows / fewest, 1.0))
            depth = min(math.ceil(LEVELS_PER_HALVING * halvings) + SPARE_LEVELS, DEEPEST_AUTO)
        share, purpose = LEVELS_SHARE / depth, "Counts in the cells that hyperplanes cut"
        return CoresetPlan(
            levels=tuple(
                planner.step(f"level {index}", purpose, n_points=min(2**index, LARGEST_TREE), counts=(counts, share))
                for index in range(1, depth + 1)
            ),
            leaves=planner.step(
                "leaves",
                "Counts and sums of the rows in each leaf",
                n_points=min(2**depth, LARGEST_TREE),
                counts=(counts, COUNTS_SHARE),
                sums=(sums, SUMS_SHARE),
            ),
            min_rows=fewest,
            offset=offset,
        )

    def _run(self, ask: Ask, plan: CoresetPlan, frame: Frame, *, n_rows: float, generator: np.random.Generator) -> Outcome:
        space, min_rows = Space(frame), plan.min_rows
        planes = random_hyperplanes(generator, frame.n_features, len(plan.levels), offset=plan.offset)
        leaves = grow_tree(ask, [step["counts"] for step in plan.levels], planes, n_rows=n_rows, min_rows=min_rows)
        grown = int(leaves.max()).bit_length() - 1  # levels: each that was asked for has leaves on it or below it
        unspent = LEVELS_SHARE * (1 - grown / len(plan.levels))
        step = plan.leaves.times(1 + unspent / (COUNTS_SHARE + SUMS_SHARE))
        # Every leaf is noised, also an empty one.
        how_many = HashCounts(normals=planes.normals, offsets=planes.offsets, nodes=leaves)
        where = HashSums(normals=planes.normals, offsets=planes.offsets, nodes=leaves, radius=1.0)
        number, total = ask([how_many, where], [step["counts"], step["sums"]])
        self.coreset_ = HashCoreset(
            points=space.clip(total.value / np.maximum(number.value, 1.0)[:, None]),
            noisy_counts=number.value,
            kept=number.value >= max(KEEP_FACTOR * min_rows, 1.0),
            count_sigma=number.sigma,
            sum_sigma=total.sigma,
        )
        found = cluster_coreset(self.coreset_, self.n_clusters, space, generator=generator, restarts=self.n_init)
        kept = Decision(figures={"n_kept": float(np.count_nonzero(self.coreset_.kept))})
        return replace(found, n_rounds=grown, decisions={"leaves": kept})


@dataclass(frozen=True, eq=False)
class Hyperplanes:
    """Public hyperplanes, one for each level of the tree."""

    normals: FloatArray  # (n_features, n_levels)
    offsets: FloatArray  # (n_levels,)


@dataclass(frozen=True, eq=False)
class HashCoreset:
    """Noisy averages of the leaves and how many rows each stands for."""

    points: FloatArray
    noisy_counts: FloatArray
    kept: npt.NDArray[np.bool_]  # leaves that hold enough rows for their average to mean something
    count_sigma: float
    sum_sigma: float


def random_hyperplanes(generator: np.random.Generator, n_features: int, n_levels: int, *, offset: float) -> Hyperplanes:
    """Draw hyperplanes in random directions, at normally distributed distances from the centre.

    Along a random direction a point at distance r from the centre lies, typically, at r / sqrt(n_features); `offset` is the r
    that hyperplanes cut up to, typically. With 0 they all go through the centre (SimHash) and tell directions apart alone.
    """
    normals = generator.standard_normal((n_features, n_levels))
    normals /= np.maximum(np.sqrt(np.sum(normals**2, axis=0)), 1e-300)
    return Hyperplanes(normals, offset / math.sqrt(n_features) * generator.standard_normal(n_levels))


def grow_tree(ask: Ask, levels: Sequence[Spend], planes: Hyperplanes, *, n_rows: float, min_rows: float) -> IntArray:
    """Split, level by level, the nodes that seem to hold twice `min_rows`; each level is one question.

    Return the numbers of the leaves, as HashCounts has them: they share no row and miss none.
    """
    frontier, counts = np.array([1]), np.array([n_rows])
    leaves: list[IntArray] = []
    for level, query in enumerate(levels, start=1):
        room = LARGEST_TREE - len(frontier) - sum(map(len, leaves))
        fullest = np.argsort(-counts, kind="stable")[: max(room, 0)]  # where the tree has no room for all
        split = np.zeros(len(counts), dtype=bool)
        split[fullest] = counts[fullest] >= SPLIT_FACTOR * min_rows
        leaves.append(frontier[~split])
        if not split.any():
            return np.concatenate(leaves)
        frontier = np.concatenate([2 * frontier[split], 2 * frontier[split] + 1])
        question = HashCounts(normals=planes.normals[:, :level], offsets=planes.offsets[:level], nodes=frontier)
        counts = ask(question, query).value
    return np.concatenate([*leaves, frontier])


def cluster_coreset(
    coreset: HashCoreset,
    n_clusters: int,
    space: Space,
    *,
    generator: np.random.Generator,
    restarts: int,
) -> Outcome:
    """Run weighted k-means on the leaves that were kept; where they are too few, other leaves and packed points fill up.

    A centre is the sum of its leaves' noisy sums over that of their noisy counts, so the delta method for a quotient gives the
    noise in it; a centre without leaves may be anywhere.
    """
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
    centers = space.clip(centers)
    owner = nearest_of(points, centers)
    counts = np.bincount(owner, weights=weights, minlength=n_clusters).astype(np.float64)
    leaves = np.bincount(owner, minlength=n_clusters)
    noise = np.sqrt(leaves[:, None] * (coreset.sum_sigma**2 + (centers * coreset.count_sigma) ** 2))
    errors = np.where(leaves[:, None] > 0, noise / np.maximum(counts, 1.0)[:, None], 1.0)
    return Outcome(
        centers=centers,
        center_errors=np.minimum(errors, 1.0),
        counts=counts,
        count_errors=coreset.count_sigma * np.sqrt(np.maximum(leaves, 1)),
        n_rounds=0,
    )
