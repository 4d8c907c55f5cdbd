# SPDX-License-Identifier: Apache-2.0
"""CoresetKMeans: a hash tree grown by noisy counts, private averages at its leaves, k-means of them."""

import math
from dataclasses import dataclass

import numpy as np

from cloister import validate
from cloister.algorithms import LARGEST_TREE, Space, average_leaves, cluster_coreset, grow_tree, random_hyperplanes
from cloister.cluster._clusterer import PrivateClusterer
from cloister.cluster._declare import estimator
from cloister.cluster._plan import Decision, Outcome, Plan, Planner, Request
from cloister.columns import Frame
from cloister.privacy import Step
from cloister.questions import DEEPEST_HASH, Ask, HashCounts, HashSums, deviation

__all__ = ["CoresetKMeans", "CoresetPlan"]

LEVELS_SHARE, COUNTS_SHARE, SUMS_SHARE = 0.20, 0.15, 0.65  # all levels together, and the two questions about the leaves
AVERAGE_NOISE = 0.2  # of the radius: what the average of a leaf with just enough rows is off by
LEVELS_PER_HALVING = 2.0  # a random hyperplane often leaves a node in one piece
SPARE_LEVELS = 2
DEEPEST_AUTO = 40


@dataclass(frozen=True, kw_only=True)
class CoresetPlan(Plan):
    """Levels of a tree, one question each; then a count and a sum for every leaf."""

    levels: tuple[Step, ...]  # at most; the tree may end early, and the leaves then get what is left
    leaves: Step
    min_rows: float
    offset: float

    @property
    def steps(self) -> tuple[Step, ...]:
        """What will be asked, in order."""
        return (*self.levels, self.leaves)

    def leaves_factor(self, grown: int) -> float:
        """Return the factor by which the leaves' share grows where only so many levels were asked for."""
        unspent = LEVELS_SHARE * (1 - grown / len(self.levels))
        return 1 + unspent / (COUNTS_SHARE + SUMS_SHARE)


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
        depth = _auto_depth(n_rows, fewest) if depth is None else depth
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
        space, min_rows, leaves = Space(frame), plan.min_rows, plan.leaves
        planes = random_hyperplanes(generator, frame.n_features, len(plan.levels), offset=plan.offset)
        tree = grow_tree(ask, [step["counts"] for step in plan.levels], planes, n_rows=n_rows, min_rows=min_rows)
        more = plan.leaves_factor(len(tree.levels))
        counts, sums = leaves["counts"].times(more), leaves["sums"].times(more)
        self.coreset_ = average_leaves(ask, planes, tree, space, counts=counts, sums=sums, min_rows=min_rows)
        found = cluster_coreset(self.coreset_, self.n_clusters, space, generator=generator, restarts=self.n_init)
        decisions = {
            f"level {index}": Decision(figures={"n_points": float(len(level.nodes)), "count_error": level.sigma})
            for index, level in enumerate(tree.levels, start=1)
        }
        figures = {"n_points": float(len(tree.leaves)), "n_kept": float(np.count_nonzero(self.coreset_.kept))}
        decisions["leaves"] = Decision(figures={**figures, "count_error": self.coreset_.count_sigma})
        return Outcome(
            centers=found.centers,
            center_errors=found.center_errors,
            counts=found.counts,
            count_errors=found.count_errors,
            n_rounds=len(tree.levels),
            decisions=decisions,
        )


def _auto_depth(n_rows: float, min_rows: float) -> int:
    halvings = math.log2(max(n_rows / min_rows, 1.0))
    return min(math.ceil(LEVELS_PER_HALVING * halvings) + SPARE_LEVELS, DEEPEST_AUTO)
