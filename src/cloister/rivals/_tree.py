# SPDX-License-Identifier: Apache-2.0
"""TreeKMeans: candidates from a private tree of cubes, centres by private local search (Balcan et al. 2017).

**Candidates.** Cubes that hold enough rows are cut in half along every axis. A level of the tree is one histogram: the cubes of
a level do not overlap, so a row is counted once. The paper keeps a cube with a probability that rises with its count; that is
the probability that the count with Laplace noise exceeds a threshold, so the noisy counts themselves cost no more and are kept
here as the weights of the candidates.

**Search** (Gupta et al. 2010). A step swaps one centre for one candidate, chosen by the exponential mechanism among all such
swaps. It may make things worse, so in the end one of the sets passed through is chosen, by the exponential mechanism again.
Noisy averages of the rows nearest to the chosen centres become the centres in the full space.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cloister import validate
from cloister.algorithms import Averages, Space, pack_sphere, random_projection, weighted_kmeans
from cloister.cluster import Decision, Outcome, Plan, Planner, PrivateClusterer, Request, estimator
from cloister.columns import FloatArray, Frame, IntArray
from cloister.privacy import Step
from cloister.questions import Ask, NearestCounts, NearestSums, Spend
from cloister.rivals._questions import LARGEST_CHOICE, CubeCounts, SetCosts, SwapCosts

STARTS = ("counts", "random")
LARGEST_DIMENSION = 12  # to project to; a cube has two to that power parts
FEWEST_DIMENSIONS, MOST_DIMENSIONS = 4, 8  # to project to, by default
FEWEST_SWAPS, MOST_SWAPS = 4, 32
LARGEST_LEVEL = 1 << 16  # cubes asked for on one level of a tree
PLACE_BITS = 62  # that number the cubes of a level
ROWS_PER_CUBE = 10.0  # over epsilon: finer than this, noise hides what a cube holds (the rule of EUGkM)
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


@dataclass(frozen=True, eq=False)
class CubeTree:
    """The kept cubes of all levels of one or more trees, all of it public."""

    points: FloatArray  # (n_cubes, n_dimensions), the middles
    counts: FloatArray  # (n_cubes,), noisy
    weights: FloatArray  # (n_cubes,): what the kept parts of a cube do not hold, at least 0
    n_levels: int  # asked for; dividing ends early where no cube holds enough


@dataclass(frozen=True, eq=False)
class Search:
    """The sets of centres passed through, the first one the start, and which of them was chosen; all of it public."""

    sets: FloatArray  # (n_swaps + 1, n_clusters, n_dimensions)
    chosen: int

    @property
    def centers(self) -> FloatArray:
        """The chosen set."""
        return np.asarray(self.sets[self.chosen])


@dataclass(frozen=True, kw_only=True)
class TreePlan(Plan):
    """Levels of one or more trees, swaps of centres for candidates and a choice among the sets, then averages."""

    trees: tuple[tuple[Step, ...], ...]  # levels at most; a tree may end early, and the averages then get what is left
    swaps: tuple[Step, ...]
    choice: Step | None
    average: Step
    dimension: int
    first: int  # cubes per axis on the first level
    shares: Shares

    def average_factor(self, n_levels: int) -> float:
        """Return the factor by which the share of the averages grows where trees ended early, with so many levels in all."""
        level = self.shares.tree / (len(self.trees) * len(self.trees[0]))
        unspent = self.shares.tree - level * n_levels
        return 1 + unspent / (self.shares.counts + self.shares.sums)


@estimator
class TreeKMeans(PrivateClusterer):
    """k-means by a private tree of cubes and private local search: the method of Balcan, Dick, Liang, Mou and Zhang (2017).

    Rows are projected to few dimensions. Cubes that hold enough rows are divided again and again, and their middles are the
    candidates. Starting from k of them, one centre after the other is swapped for a candidate by the exponential mechanism.
    Noisy averages of the rows nearest to the chosen ones are the centres.

    Parameters
    ----------
    epsilon, delta : float, default=1.0 and 0.0
        The guarantee. The method is pure: it spends epsilon and nothing of delta, which may be given all the same.
    guarantee : PureDP, ApproxDP, ZCDP or GDP, optional
        Replaces `epsilon` and `delta`; of ZCDP and GDP the largest pure guarantee that implies it is spent.
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

    Attributes
    ----------
    search_ : Search
        The sets of centres that the search passed through, and which of them was chosen.
    n_iter_ : int
        Swaps.

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
    """

    delta: float = 0.0
    projection: int | str | None = "auto"
    n_trees: int = 1
    depth: int = 2
    start: str = "random"
    n_swaps: int | str = "auto"
    max_candidates: int = 256
    n_init: int = 10

    def _request(self) -> Request:
        request = super()._request()
        return replace(request, cost=request.guarantee.pure_budget())

    def _plan(self, request: Request, frame: Frame, *, n_rows: float, planner: Planner) -> TreePlan:
        n_clusters, n_swaps = request.n_clusters, self._swaps(request.n_clusters)
        dimension, n_trees = self._dimension(frame.n_features, n_rows), self._whole("n_trees", high=1000)
        depth = self._whole("depth", high=PLACE_BITS)
        self._whole("max_candidates"), self._whole("n_init")
        shares = SEARCHING if n_swaps else NOT_SEARCHING
        first = _first_cubes(dimension, n_rows * planner.budget.strength * shares.tree / (n_trees * depth))
        depth = min(depth, 1 + int(PLACE_BITS / dimension - math.log2(first)))
        # Questions of the sensitivity that those of the fit have.
        point, cap = np.zeros((1, frame.n_features)), CAP * Space(frame).radius(n_clusters) ** 2
        cubes = CubeCounts(corner=np.zeros(1), side=1.0, per_axis=1, cubes=np.zeros((1, 1), dtype=np.int64))
        swap, choice = SwapCosts(centers=point, candidates=point, cap=cap), None
        if n_swaps:
            of_sets, purpose = SetCosts(sets=point[None], cap=cap), "Which set of centres costs the rows least"
            choice = planner.step("choice", purpose, n_points=n_swaps + 1, choice=(of_sets, shares.choice))
        return TreePlan(
            trees=tuple(
                tuple(
                    planner.step(
                        f"tree {tree} level {level}",
                        "Counts in the cubes of a level",
                        n_points=first**dimension if level == 1 else LARGEST_LEVEL,
                        counts=(cubes, shares.tree / (n_trees * depth)),
                    )
                    for level in range(1, depth + 1)
                )
                for tree in range(1, n_trees + 1)
            ),
            swaps=tuple(
                planner.step(
                    f"swap {index}",
                    "Which swap of a centre for a candidate costs the rows least",
                    n_points=n_clusters * (n_clusters + self.max_candidates),
                    choice=(swap, shares.search / n_swaps),
                )
                for index in range(1, n_swaps + 1)
            ),
            choice=choice,
            average=planner.step(
                "average",
                "Averages of the rows nearest to each chosen candidate",
                n_points=n_clusters,
                counts=(NearestCounts(points=point), shares.counts),
                sums=(NearestSums(points=point, radius=1.0), shares.sums),
            ),
            dimension=dimension,
            first=first,
            shares=shares,
        )

    def _swaps(self, n_clusters: int) -> int:
        start = validate.one_of(self._where("start"), self.start, STARTS)
        n_swaps = self._whole_or_auto("n_swaps", low=0, high=10_000)
        if n_swaps is None:
            n_swaps = min(max(n_clusters, FEWEST_SWAPS), MOST_SWAPS) if start == "random" else 0
        if n_swaps and n_clusters * (n_clusters + 1) > LARGEST_CHOICE:
            remedy = 'Pass start="counts" and n_swaps=0, which need no search.'
            validate.refuse(self._where("n_clusters"), "few enough clusters to try all swaps", n_clusters, remedy=remedy)
        return n_swaps

    def _dimension(self, n_features: int, n_rows: float) -> int:
        if validate.is_word(self.projection, "auto"):
            wanted = int(math.log2(max(n_rows, 1.0)) / 2)
            return min(n_features, max(FEWEST_DIMENSIONS, min(wanted, MOST_DIMENSIONS)))
        remedy = f'Pass "auto", or a number of dimensions up to {LARGEST_DIMENSION}: a cube has two to that power parts.'
        given = n_features if self.projection is None else self.projection
        wanted = validate.integer(self._where("projection"), given, low=1, high=LARGEST_DIMENSION, remedy=remedy)
        return min(n_features, wanted)

    def _run(self, ask: Ask, plan: TreePlan, frame: Frame, *, n_rows: float, generator: np.random.Generator) -> Outcome:
        n_clusters, projected = self.n_clusters, plan.dimension < frame.n_features
        space = Space(frame, random_projection(generator, frame.n_features, plan.dimension) if projected else None)
        trees = [
            divide_cubes(
                ask,
                [level["counts"] for level in levels],
                space,
                first=plan.first,
                fewest=n_clusters,
                generator=generator,
            )
            for levels in plan.trees
        ]
        pool = _gather(trees, space, n_clusters, generator=generator)
        self.search_ = self._search(ask, plan, pool, space, generator=generator)
        more, radius = plan.average_factor(pool.n_levels), 1.0 if projected else space.radius(n_clusters)
        counts, sums = plan.average["counts"].times(more), plan.average["sums"].times(more)
        found = noisy_averages(ask, self.search_.centers, space, counts=counts, sums=sums, radius=radius)
        return Outcome(
            centers=found.centers,
            center_errors=found.errors,
            counts=found.counts,
            count_errors=np.full(n_clusters, found.count_sigma),
            n_rounds=len(plan.swaps),
            decisions={"average": Decision(figures={"radius": radius * frame.distance_unit})},
        )

    def _search(self, ask: Ask, plan: TreePlan, pool: CubeTree, space: Space, *, generator: np.random.Generator) -> Search:
        n_clusters = self.n_clusters
        if self.start == "random":
            start = np.asarray(pool.points[generator.permutation(len(pool.points))[:n_clusters]])
        else:
            alive = pool.weights > 0
            points, weights = pool.points[alive], pool.weights[alive]
            start = weighted_kmeans(points, weights, n_clusters, generator=generator, restarts=self.n_init)
        if plan.choice is None:
            return Search(start[None], 0)
        return local_search(
            ask,
            start,
            space,
            candidates=pool.points[: min(self.max_candidates, LARGEST_CHOICE // n_clusters - n_clusters)],
            swaps=[step["choice"] for step in plan.swaps],
            choice=plan.choice["choice"],
            cap=CAP * space.radius(n_clusters) ** 2,
        )


def _first_cubes(dimension: int, strength: float) -> int:
    """Return the cubes per axis of a first level, for so many rows times epsilon."""
    wanted = round(float((strength / ROWS_PER_CUBE) ** (2 / (2 + dimension))))
    largest = int(float(LARGEST_LEVEL ** (1 / dimension)) + 1e-9)
    return max(2, min(wanted, largest))


def _gather(trees: Sequence[CubeTree], space: Space, n_clusters: int, *, generator: np.random.Generator) -> CubeTree:
    """Return the cubes of all trees, fullest first; where too few carry weight, points spread in the domain join them."""
    counts = np.concatenate([tree.counts for tree in trees])
    order = np.argsort(-counts, kind="stable")
    points = np.concatenate([tree.points for tree in trees])[order]
    weights = np.concatenate([tree.weights for tree in trees])[order]
    points = points if space.projection is not None else space.clip(points)
    missing = n_clusters - int(np.count_nonzero(weights))
    if missing > 0:
        spread = pack_sphere(generator, missing, space.dimension, half_widths=space.half_widths)
        points, weights = np.vstack([points, spread]), np.concatenate([weights, np.full(missing, LIGHTEST)])
    return CubeTree(points, counts[order], weights, sum(tree.n_levels for tree in trees))


@dataclass(frozen=True, eq=False)
class _Level:
    places: IntArray
    counts: FloatArray
    parents: IntArray  # their indices on the level above
    middles: FloatArray


def divide_cubes(
    ask: Ask,
    levels: Sequence[Spend],
    space: Space,
    *,
    first: int,
    fewest: int,
    generator: np.random.Generator,
) -> CubeTree:
    """Divide cubes as long as they hold more rows than noise explains, fullest first; every level is one question.

    The root is the cube that holds the space. The first level has `first` cubes along each axis, of which `fewest` are kept
    however little they hold, and is shifted at random by up to half a cube. No level asks about more than LARGEST_LEVEL cubes.
    Cubes that do not touch the public domain hold no row for certain and are left out.
    """
    side, per_axis = 2 * space.reach / first, first
    corner = -space.reach + side * (generator.random(space.dimension) - 0.5)
    halves, places = _lattice(2, space.dimension), _lattice(first, space.dimension)
    parents = np.zeros(len(places), dtype=np.int64)
    grown: list[_Level] = []
    for query in levels:
        low = np.where(places == 0, -np.inf, corner + places * side)  # the outermost cubes reach to infinity
        high = np.where(places == per_axis - 1, np.inf, corner + (places + 1) * side)
        inside = np.flatnonzero(space.touches(low, high))
        places, parents = places[inside], parents[inside]
        if not len(places):
            break
        cubes = CubeCounts(corner=corner, side=side, per_axis=per_axis, cubes=places, projection=space.projection)
        answer = ask(cubes, query)
        # Laplace noise of deviation sigma exceeds (sigma / sqrt 2) log(m) in about one of 2 m draws.
        threshold = answer.sigma / math.sqrt(2) * math.log(max(len(places), 2))
        n_kept = max(int(np.count_nonzero(answer.value > threshold)), 0 if grown else fewest)
        kept = np.argsort(-answer.value, kind="stable")[: min(n_kept, max(LARGEST_LEVEL >> space.dimension, 1))]
        grown.append(_Level(places[kept], answer.value[kept], parents[kept], corner + (places[kept] + 0.5) * side))
        side, per_axis = side / 2, per_axis * 2
        places = (2 * grown[-1].places[:, None, :] + halves).reshape(-1, space.dimension)
        parents = np.repeat(np.arange(len(kept)), len(halves))
    weights = [level.counts.copy() for level in grown]
    for above, level in zip(weights, grown[1:], strict=False):
        np.subtract.at(above, level.parents, level.counts)
    return CubeTree(
        points=np.concatenate([level.middles for level in grown]),
        counts=np.concatenate([level.counts for level in grown]),
        weights=np.maximum(np.concatenate(weights), 0.0),
        n_levels=len(grown),
    )


def _lattice(per_axis: int, dimension: int) -> IntArray:
    return np.asarray(np.indices((per_axis,) * dimension).reshape(dimension, -1).T)


def local_search(
    ask: Ask,
    start: FloatArray,
    space: Space,
    *,
    candidates: FloatArray,
    swaps: Sequence[Spend],
    choice: Spend,
    cap: float,
) -> Search:
    """Make one swap for each of `swaps`, then choose among the start and all sets after it."""
    sets, projection = [start], space.projection
    for query in swaps:
        # The centres are candidates, too: swapping one for itself is to stay.
        question = SwapCosts(centers=sets[-1], candidates=np.vstack([sets[-1], candidates]), cap=cap, projection=projection)
        leaves, comes = ask(question, query).index
        centers = sets[-1].copy()
        centers[leaves] = question.candidates[comes]
        sets.append(centers)
    passed = np.stack(sets)
    (chosen,) = ask(SetCosts(sets=passed, cap=cap, projection=projection), choice).index
    return Search(passed, chosen)


def noisy_averages(ask: Ask, points: FloatArray, space: Space, *, counts: Spend, sums: Spend, radius: float) -> Averages:
    """Average the rows nearest to each point: a count and a sum of offsets, each with its own draw for every number.

    Offsets are measured from the points themselves, and from the origin of the full space if there is a projection; they
    are cut at `radius`.
    """
    questions = (
        NearestCounts(points=points, projection=space.projection),
        NearestSums(points=points, radius=radius, projection=space.projection),
    )
    number, total = ask(questions, (counts, sums))
    # A cluster that the noise hides is taken to be as large as the noise: its centre then stays near where it was.
    sizes = np.maximum(number.value, max(1.0, number.sigma))[:, None]
    offsets = total.value / sizes
    # Delta method for a quotient: the noise of the sum, and the noise of the count times the offset.
    errors = np.hypot(total.sigma, offsets * number.sigma) / sizes
    return Averages(
        centers=space.full.clip(offsets if space.projection is not None else points + offsets),
        errors=np.minimum(errors, 1.0),
        counts=number.value,
        count_sigma=number.sigma,
    )
