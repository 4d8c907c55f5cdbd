# SPDX-License-Identifier: Apache-2.0
"""CoresetKMeans: a hash tree grown by noisy counts, private averages at its leaves, k-means of them."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from cloister import validate
from cloister.algorithms import HashLevel, HashShares, average_leaves, cluster_coreset, grow_tree, random_hyperplanes
from cloister.cluster._base import Outcome, PrivateClusterer, Request, count_rows
from cloister.cluster._progress import Progress
from cloister.domain import Frame
from cloister.privacy import Guarantee, Ledger, price
from cloister.questions import DEEPEST_HASH, Ask, Cost, HashSums

__all__ = ["CoresetKMeans"]

AVERAGE_NOISE = 0.2  # of the radius: what the average of a leaf with just enough rows is off by
LEVELS_PER_HALVING = 2.0  # a random hyperplane often leaves a node in one piece
SPARE_LEVELS = 2
DEEPEST_AUTO = 40


@dataclass(frozen=True, kw_only=True)
class CoresetPlan:
    """Everything public numbers decide before the first question."""

    max_depth: int | None  # None: from the number of rows, once it is known
    min_rows: int | None  # None: from the noise of a leaf's average
    offset: float
    n_init: int
    shares: HashShares


class CoresetKMeans(PrivateClusterer):
    """k-means of a private coreset: random hyperplanes cut the rows into a tree, whose leaves' noisy averages are clustered.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of centres; always exactly so many are returned.
    epsilon, delta : float, default=1.0 and 1e-6
        The guarantee. ``delta=0`` is pure differential privacy, with Laplace noise.
    guarantee : PureDP, ApproxDP, ZCDP or GDP, optional
        Replaces `epsilon` and `delta`.
    bounds : (low, high), Box or Ball
        Where rows may lie, known without looking at them. Rows outside are moved to the boundary.
    scaling : {"none", "bounds"}, default="none"
        Measure distances in the units of the input, or with every column divided by the width of its bounds.
    neighbours : {"add-remove", "replace"}, default="add-remove"
        Which tables count as neighbours.
    n_rows : int, optional
        The number of rows, if it is public. None spends 2 % of the budget on a noisy count.
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
    ledger : Ledger, optional
        A budget shared with other fits; the fit is refused where it does not fit.
    random_state : int, optional
        Makes noise and choices reproducible and stamps the receipt ``seeded``: for tests, not for publication.
    n_jobs : int, optional
        Threads; None uses all processors.
    progress : bool, default=False
        Show a progress bar on standard error.

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, n_features)
        In the units of the input, inside the domain.
    cluster_counts_ : array of shape (n_clusters,)
        Noisy numbers of the rows in those leaves that entered the coreset.
    coreset_ : HashCoreset
        Noisy averages and counts of the leaves, in the coordinates in which distances were measured.
    release_ : Release
        What may be published.
    privacy_receipt_ : Receipt
        Guarantee and events.
    labels_ : array of shape (n_rows,)
        Row-level, not covered by the guarantee, absent from pickles. Only for tables in memory.
    n_features_in_, n_iter_ : int
        Columns and levels of the tree.

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

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal([[20.0], [60.0]], 2.0, size=(2, 500)).reshape(-1, 1)
    >>> model = CoresetKMeans(n_clusters=2, epsilon=2.0, bounds=(0, 100), random_state=0).fit(rows)
    >>> np.sort(model.cluster_centers_[:, 0]).round(-1)
    array([20., 60.])
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        guarantee: Guarantee | None = None,
        bounds: Any = None,
        scaling: str = "none",
        neighbours: str = "add-remove",
        n_rows: int | None = None,
        max_depth: int | str = "auto",
        min_rows_per_leaf: int | str = "auto",
        offset: float = 0.4,
        n_init: int = 10,
        ledger: Ledger | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.epsilon = epsilon
        self.delta = delta
        self.guarantee = guarantee
        self.bounds = bounds
        self.scaling = scaling
        self.neighbours = neighbours
        self.n_rows = n_rows
        self.max_depth = max_depth
        self.min_rows_per_leaf = min_rows_per_leaf
        self.offset = offset
        self.n_init = n_init
        self.ledger = ledger
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def _plan(self, request: Request, frame: Frame) -> CoresetPlan:
        where = self._where
        return CoresetPlan(
            max_depth=self._whole("max_depth", self.max_depth, high=DEEPEST_HASH),
            min_rows=self._whole("min_rows_per_leaf", self.min_rows_per_leaf),
            offset=validate.number(where("offset"), self.offset, low=0.0, high=1.0),
            n_init=validate.integer(where("n_init"), self.n_init, low=1),
            shares=HashShares(),
        )

    def _whole(self, name: str, value: int | str, high: int | None = None) -> int | None:
        remedy = 'Pass "auto" or a whole number.'
        return (
            None
            if validate.is_word(value, "auto")
            else validate.integer(self._where(name), value, low=1, high=high, remedy=remedy)
        )

    def _run(self, ask: Ask, request: Request, plan: CoresetPlan, frame: Frame, progress: Progress) -> Outcome:
        generator = request.entropy.public_generator()
        n_rows, budget = count_rows(ask, request)
        min_rows = _fewest_rows(plan, request, budget, frame.n_features)
        depth = _depth(plan, n_rows, min_rows)
        progress.expect(depth + 1)
        planes = random_hyperplanes(generator, frame.n_features, depth, offset=plan.offset)
        level_cost = budget.share(plan.shares.level(depth))
        tree = grow_tree(ask, level_cost, planes, n_rows=n_rows, min_rows=min_rows, watch=progress.advance)
        left = budget.share(plan.shares.leaves(len(tree.levels), depth))
        self.coreset_ = average_leaves(ask, left, planes, tree, shares=plan.shares, min_rows=min_rows, clip=frame.clip_unit)
        progress.advance()
        found = cluster_coreset(
            self.coreset_,
            request.n_clusters,
            generator=generator,
            restarts=plan.n_init,
            clip=frame.clip_unit,
            half_widths=frame.half_widths,
        )
        return Outcome(
            centers=found.centers,
            center_errors=found.center_errors,
            counts=found.counts,
            count_errors=found.count_errors,
            n_rounds=len(tree.levels),
            history=[_tell(index, level) for index, level in enumerate(tree.levels)],
        )


def _fewest_rows(plan: CoresetPlan, request: Request, budget: Cost, n_features: int) -> float:
    """Return the rows at which the noise of a leaf's sum, over all columns, is the stated part of the radius once divided."""
    if plan.min_rows is not None:
        return float(plan.min_rows)
    probe = HashSums(normals=np.zeros((n_features, 0)), offsets=np.zeros(0), nodes=np.array([1]), radius=1.0)
    noise = price(
        budget.share(plan.shares.sums),
        question_name=probe.name,
        size=1,
        l1=probe.l1_sensitivity(request.relation),
        l2=probe.l2_sensitivity(request.relation),
        unit=probe.unit,
        relation=request.relation,
        seeded=False,
    )
    return max(1.0, math.sqrt(n_features) * noise.standard_deviation / AVERAGE_NOISE)


def _depth(plan: CoresetPlan, n_rows: float, min_rows: float) -> int:
    if plan.max_depth is not None:
        return plan.max_depth
    halvings = math.log2(max(n_rows / min_rows, 1.0))
    return min(math.ceil(LEVELS_PER_HALVING * halvings) + SPARE_LEVELS, DEEPEST_AUTO)


def _tell(index: int, level: HashLevel) -> dict[str, Any]:
    return {"level": index + 1, "n_nodes": len(level.nodes), "sigma": round(level.sigma, 4)}
