# SPDX-License-Identifier: Apache-2.0
"""TreeKMeans: candidates from a private tree of cubes, centres by private local search (Balcan et al. 2017)."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cloister import validate
from cloister.algorithms import (
    CubeTree,
    Search,
    TreeSettings,
    divide_cubes,
    local_search,
    noisy_averages,
    pack_sphere,
    weighted_kmeans,
)
from cloister.cluster._base import Outcome, PrivateClusterer, Request, count_rows
from cloister.cluster._progress import Progress
from cloister.cluster._tree_space import Space, auto_dimension, make_space
from cloister.domain import FloatArray, Frame
from cloister.privacy import Guarantee, Ledger, PureDP, pure_budget
from cloister.questions import LARGEST_CHOICE, Ask, Cost

__all__ = ["TreeKMeans"]

STARTS = ("counts", "random")
LARGEST_DIMENSION = 12  # to project to; a cube has two to that power parts
FEWEST_SWAPS, MOST_SWAPS = 4, 32
LARGEST_LEVEL = 1 << 16  # cubes asked for on one level of a tree
PLACE_BITS = 62  # that number the cubes of a level
ROWS_PER_CUBE = 10.0  # over epsilon: finer than this, a cube drowns in noise (the rule of EUGkM)
LIGHTEST = 1e-3  # weight of a candidate that no count speaks for
CAP = 0.5  # the most a row costs in the search, over the squared radius of a ball with 1/k of the domain's volume


@dataclass(frozen=True, kw_only=True)
class Shares:
    """Parts of the budget, which add up to one."""

    tree: float
    search: float
    choice: float
    counts: float
    sums: float


SEARCHING = Shares(tree=0.20, search=0.30, choice=0.05, counts=0.07, sums=0.38)
NOT_SEARCHING = Shares(tree=0.40, search=0.0, choice=0.0, counts=0.09, sums=0.51)


@dataclass(frozen=True, kw_only=True)
class TreePlan:
    """Everything public numbers decide before the first question."""

    shares: Shares
    dimension: int | None  # None: from the number of rows, once it is known
    n_trees: int
    depth: int
    n_swaps: int
    start: str
    max_candidates: int
    n_init: int


class TreeKMeans(PrivateClusterer):
    """k-means by a private tree of cubes and private local search: the method of Balcan, Dick, Liang, Mou and Zhang (2017).

    Rows are projected to few dimensions. Cubes that hold enough rows are divided again and again, and their middles are the
    candidates. Starting from k of them, one centre after the other is swapped for a candidate by the exponential mechanism.
    Noisy averages of the rows nearest to the chosen ones are the centres.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of centres; always exactly so many are returned.
    epsilon, delta : float, default=1.0 and 0.0
        The guarantee. The method is pure: it spends epsilon and nothing of delta, which may be given all the same.
    guarantee : PureDP, ApproxDP, ZCDP or GDP, optional
        Replaces `epsilon` and `delta`; of ZCDP and GDP the largest pure guarantee that implies it is spent.
    bounds : (low, high), Box or Ball
        Where rows may lie, known without looking at them. Rows outside are moved to the boundary.
    scaling : {"none", "bounds"}, default="none"
        Measure distances in the units of the input, or with every column divided by the width of its bounds.
    neighbours : {"add-remove", "replace"}, default="add-remove"
        Which tables count as neighbours.
    n_rows : int, optional
        The number of rows, if it is public. None spends 2 % of the budget on a noisy count.
    projection : int, None or "auto", default="auto"
        Dimensions to project to at random, at most 12; None never projects. ``"auto"`` takes ``log2(n_rows) / 2``, from 4 to 8.
    n_trees : int, default=1
        Trees, each shifted at random; they share their part of the budget.
    depth : int, default=2
        Levels of a tree. The first has about as many cubes as the noise allows, each further one halves them.
    start : {"random", "counts"}, default="random"
        Start the search from any k candidates, as the paper does, or from a weighted k-means of the candidates with their noisy
        counts, which costs nothing.
    n_swaps : int or "auto", default="auto"
        Steps of the search. ``"auto"`` is one for each cluster, from 4 to 32; none for ``start="counts"``.
    max_candidates : int, default=256
        Cap on the candidates of the search: those with the largest noisy counts.
    n_init : int, default=10
        Restarts of the weighted k-means of ``start="counts"``, on public numbers.
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
        Noisy numbers of rows.
    release_ : Release
        What may be published.
    privacy_receipt_ : Receipt
        Guarantee and events.
    search_ : Search
        The sets of centres passed through and the chosen one, in the coordinates in which distances were measured.
    labels_ : array of shape (n_rows,)
        Row-level, not covered by the guarantee, absent from pickles. Only for tables in memory.
    n_features_in_, n_iter_ : int
        Columns and swaps.

    Notes
    -----
    **Privacy.** Pure epsilon, added up. Every level of a tree is one histogram: l1 sensitivity 1 for adding or removing a
    row, 2 for replacing one. Every swap, and the choice among the sets, is the exponential mechanism on costs to which a row
    adds between 0 and a public cap: their moves span the cap, or twice the cap. The counts and sums of the averages have
    Laplace noise, the sums of l1 sensitivity sqrt(d) times the radius at which offsets are cut, or twice that. The bounds and,
    if given, n_rows are taken as public. Not covered: labels, and the score of rows you pass.

    Where this departs from the paper, and why: its numbers of shifts, levels and swaps grow with k and log(n) for the sake of
    the proof and leave each step next to no budget, so there are few of each, and the first level starts where the noise
    allows. Noisy counts are released rather than whether they pass a threshold, which costs the same. What a row can cost
    in the search is capped, and adding or removing a row moves all costs one way, which saves a factor of two. Without a
    projection, averages are taken of offsets from the chosen candidates.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal([[20.0], [60.0]], 2.0, size=(2, 500)).reshape(-1, 1)
    >>> model = TreeKMeans(n_clusters=2, epsilon=2.0, bounds=(0, 100), random_state=0).fit(rows)
    >>> np.sort(model.cluster_centers_[:, 0]).round(-1)
    array([20., 60.])
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        epsilon: float = 1.0,
        delta: float = 0.0,
        guarantee: Guarantee | None = None,
        bounds: Any = None,
        scaling: str = "none",
        neighbours: str = "add-remove",
        n_rows: int | None = None,
        projection: int | str | None = "auto",
        n_trees: int = 1,
        depth: int = 2,
        start: str = "random",
        n_swaps: int | str = "auto",
        max_candidates: int = 256,
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
        self.projection = projection
        self.n_trees = n_trees
        self.depth = depth
        self.start = start
        self.n_swaps = n_swaps
        self.max_candidates = max_candidates
        self.n_init = n_init
        self.ledger = ledger
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def _request(self) -> Request:
        request = super()._request()
        return replace(request, cost=pure_budget(request.guarantee))

    def _plan(self, request: Request, frame: Frame) -> TreePlan:
        where = self._where
        start = validate.one_of(where("start"), self.start, STARTS)
        n_swaps = self._swaps(request.n_clusters, start)
        if n_swaps and request.n_clusters * (request.n_clusters + 1) > LARGEST_CHOICE:
            remedy = 'Pass start="counts" and n_swaps=0, which need no search.'
            validate.refuse(where("n_clusters"), "few enough clusters to try all swaps", request.n_clusters, remedy=remedy)
        return TreePlan(
            shares=SEARCHING if n_swaps else NOT_SEARCHING,
            dimension=self._dimension(frame.n_features),
            n_trees=validate.integer(where("n_trees"), self.n_trees, low=1, high=1000),
            depth=validate.integer(where("depth"), self.depth, low=1, high=PLACE_BITS),
            n_swaps=n_swaps,
            start=start,
            max_candidates=validate.integer(where("max_candidates"), self.max_candidates, low=1),
            n_init=validate.integer(where("n_init"), self.n_init, low=1),
        )

    def _swaps(self, n_clusters: int, start: str) -> int:
        if validate.is_word(self.n_swaps, "auto"):
            return min(max(n_clusters, FEWEST_SWAPS), MOST_SWAPS) if start == "random" else 0
        return validate.integer(self._where("n_swaps"), self.n_swaps, low=0, high=10_000, remedy='Pass "auto" or a number.')

    def _dimension(self, n_features: int) -> int | None:
        if validate.is_word(self.projection, "auto"):
            return None
        remedy = f'Pass "auto", or a number of dimensions up to {LARGEST_DIMENSION}: a cube has two to that power parts.'
        if self.projection is None:
            return validate.integer(self._where("projection"), n_features, low=1, high=LARGEST_DIMENSION, remedy=remedy)
        wanted = validate.integer(self._where("projection"), self.projection, low=1, high=LARGEST_DIMENSION, remedy=remedy)
        return min(n_features, wanted)

    def _run(self, ask: Ask, request: Request, plan: TreePlan, frame: Frame, progress: Progress) -> Outcome:
        generator, n_clusters, shares = request.entropy.public_generator(), request.n_clusters, plan.shares
        progress.expect(plan.n_swaps + 2)
        n_rows, budget = count_rows(ask, request)
        space = make_space(frame, plan.dimension or auto_dimension(n_rows, frame.n_features), generator)
        trees = _grow_trees(ask, budget, space, plan=plan, n_rows=n_rows, n_clusters=n_clusters, generator=generator)
        progress.advance()
        pool = _gather(trees, space, n_clusters, clip=frame.clip_unit, generator=generator)
        start = _choose_start(pool, plan, n_clusters, generator=generator)
        self.search_ = _search(ask, budget, start, pool=pool, plan=plan, space=space, watch=progress.advance)
        more = 1 + trees.unspent / (shares.counts + shares.sums)
        found = noisy_averages(
            ask,
            self.search_.centers,
            count_cost=budget.share(shares.counts * more),
            sum_cost=budget.share(shares.sums * more),
            radius=1.0 if space.projection is not None else space.radius(n_clusters),
            clip=frame.clip_unit,
            projection=space.projection,
        )
        progress.advance()
        return Outcome(
            centers=found.centers,
            center_errors=found.errors,
            counts=found.counts,
            count_errors=np.full(n_clusters, found.count_sigma),
            n_rounds=plan.n_swaps,
        )


@dataclass(frozen=True, eq=False)
class _Trees:
    trees: tuple[CubeTree, ...]
    unspent: float  # part of the budget: dividing may end early


@dataclass(frozen=True, eq=False)
class _Pool:
    """Candidates of all trees, those with the largest noisy counts first; at least as many as clusters."""

    points: FloatArray
    weights: FloatArray


def _grow_trees(
    ask: Ask,
    budget: Cost,
    space: Space,
    *,
    plan: TreePlan,
    n_rows: float,
    n_clusters: int,
    generator: np.random.Generator,
) -> _Trees:
    first = _first_cubes(space.dimension, n_rows * _epsilon(budget) * plan.shares.tree / (plan.n_trees * plan.depth))
    halvings = int(PLACE_BITS / space.dimension - math.log2(first))
    depth = min(plan.depth, 1 + halvings)
    settings = TreeSettings(first=first, depth=depth, max_cubes=LARGEST_LEVEL, reach=space.reach, fewest=n_clusters)
    level = plan.shares.tree / (plan.n_trees * depth)
    trees = tuple(
        divide_cubes(
            ask,
            budget.share(level),
            dimension=space.dimension,
            settings=settings,
            generator=generator,
            touches=space.touches,
            projection=space.projection,
        )
        for _ in range(plan.n_trees)
    )
    return _Trees(trees, plan.shares.tree - level * sum(tree.n_levels for tree in trees))


def _first_cubes(dimension: int, strength: float) -> int:
    """Return the cubes per axis of a first level, for so many rows times epsilon."""
    wanted = round(float((strength / ROWS_PER_CUBE) ** (2 / (2 + dimension))))
    largest = int(float(LARGEST_LEVEL ** (1 / dimension)) + 1e-9)
    return max(2, min(wanted, largest))


def _gather(
    found: _Trees,
    space: Space,
    n_clusters: int,
    *,
    clip: Callable[[FloatArray], FloatArray],
    generator: np.random.Generator,
) -> _Pool:
    """Put the candidates of all trees together; where too few carry weight, points spread in the domain join them."""
    order = np.argsort(-np.concatenate([tree.counts for tree in found.trees]), kind="stable")
    points = np.concatenate([tree.points for tree in found.trees])[order]
    weights = np.concatenate([tree.weights for tree in found.trees])[order]
    points = points if space.projection is not None else clip(points)
    missing = n_clusters - int(np.count_nonzero(weights))
    if missing > 0:
        spread = pack_sphere(generator, missing, space.dimension, half_widths=space.half_widths)
        points, weights = np.vstack([points, spread]), np.concatenate([weights, np.full(missing, LIGHTEST)])
    return _Pool(points, weights)


def _choose_start(pool: _Pool, plan: TreePlan, n_clusters: int, *, generator: np.random.Generator) -> FloatArray:
    if plan.start == "random":
        return np.asarray(pool.points[generator.permutation(len(pool.points))[:n_clusters]])
    alive = pool.weights > 0
    points, weights = pool.points[alive], pool.weights[alive]
    return weighted_kmeans(points, weights, n_clusters, generator=generator, restarts=plan.n_init)


def _search(
    ask: Ask, budget: Cost, start: FloatArray, *, pool: _Pool, plan: TreePlan, space: Space, watch: Callable[[], None]
) -> Search:
    if plan.n_swaps == 0:
        return Search(start[None], 0)
    n_clusters = len(start)
    return local_search(
        ask,
        start,
        candidates=pool.points[: min(plan.max_candidates, LARGEST_CHOICE // n_clusters - n_clusters)],
        n_swaps=plan.n_swaps,
        swap_cost=budget.share(plan.shares.search / plan.n_swaps),
        choice_cost=budget.share(plan.shares.choice),
        cap=CAP * space.radius(n_clusters) ** 2,
        projection=space.projection,
        watch=watch,
    )


def _epsilon(budget: Cost) -> float:
    assert isinstance(budget, PureDP)
    return budget.epsilon
