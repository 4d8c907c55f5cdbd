# SPDX-License-Identifier: Apache-2.0
"""LloydKMeans: Lloyd's iterations on noisy counts and sums (DPLloyd of Su et al. 2016, 2017); and what FastLloyd shares.

It starts from a sphere packing and asks, in every round, how many rows belong to each centre and what they add up to.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist

from cloister import validate
from cloister.algorithms import Space, plane_of, uniform
from cloister.cluster import Decision, Outcome, Plan, Planner, PrivateClusterer, Request, estimator
from cloister.columns import FloatArray, Frame, Neighbours, Relation, as_neighbours
from cloister.privacy import Step
from cloister.questions import Answer, Ask, Cost, NearestCounts, NearestSums, sensitivities, step_of

SMALLEST_SHARE = 1e-6
SPREAD = 0.225  # rho of Su et al.: how far centres lie from the middle, in widths of the domain
LARGEST_ERROR = 0.004  # of a round, as a squared distance in [-1, 1]^d: beyond it a further round does harm
ROUNDS = (2, 7)  # fewest and most that the rule of Su et al. returns
FEWEST_ROWS = 1.0  # a centre with a smaller noisy count stays where it is
BISECTIONS = 12
TRIES = 100
LARGEST_CROWD = 1000  # centres that a picture of a round keeps


@dataclass(frozen=True, kw_only=True)
class LloydPlan(Plan):
    """Rounds of a count and a sum for each centre, which share the budget equally."""

    rounds: tuple[Step, ...]
    radius: float  # of the rounds after the first


@dataclass(frozen=True, eq=False)
class LloydRound:
    """One round, all of it public."""

    points: FloatArray  # the centres it began with
    counts: FloatArray  # noisy
    sums: FloatArray  # noisy; of rows, or of their offsets from `points`
    centers: FloatArray
    center_errors: FloatArray
    radius: float  # no row moved a sum by more
    count_sigma: float
    sum_sigma: float


@estimator
class LloydEstimator(PrivateClusterer):
    """What the two methods share: the start, the split, the number of rounds, and what is read off the last one.

    Parameters
    ----------
    count_share : float or "auto", default="auto"
        Part of each round's budget that goes to the counts; ``"auto"`` minimises the expected error of a centre.

    Attributes
    ----------
    rounds_ : tuple of LloydRound
        Centres, noisy counts and noisy sums of every round, in the coordinates in which distances were measured.
    """

    n_rounds: int | str = "auto"
    count_share: float | str = "auto"

    def _round(self, ask: Ask, step: Step, points: FloatArray, space: Space, *, radius: float | None) -> LloydRound:
        """Ask for "counts" and "sums" and move the centres; the first round has no `radius` and reaches every row."""
        middle = np.zeros_like(points)  # measured from it no row is longer than 1
        questions = [NearestCounts(points=points), NearestSums(points=points, radius=1.0, anchors=middle)]
        counts, sums = ask(questions, [step["counts"], step["sums"]])
        return self._move(points, middle, counts, sums, space, radius=1.0)

    def _into_domain(self, points: FloatArray, space: Space) -> FloatArray:
        return space.clip(points)

    def _radius(self, n_clusters: int, n_features: int) -> float:
        """Return the radius of the later rounds."""
        return 1.0

    def _needs_n_rows(self) -> bool:
        return validate.is_word(self.n_rounds, "auto")

    def _plan(self, request: Request, frame: Frame, *, n_rows: float, planner: Planner) -> LloydPlan:
        n_rounds, share = self._whole_or_auto("n_rounds"), None
        if not validate.is_word(self.count_share, "auto"):
            where, remedy = self._where("count_share"), 'Pass "auto" or a part of the budget.'
            share = validate.number(where, self.count_share, low=SMALLEST_SHARE, high=1 - SMALLEST_SHARE, remedy=remedy)
        n_clusters, n_features = request.n_clusters, frame.n_features
        radius = self._radius(n_clusters, n_features)
        split = split_round(planner.budget, n_features, request.relation, counts=share)
        if n_rounds is None:
            n_rounds = rounds_within(
                planner.budget, split, n_clusters=n_clusters, n_rows=n_rows, n_features=n_features, radius=radius
            )
        point = np.zeros((1, n_features))
        return LloydPlan(
            rounds=tuple(
                planner.step(
                    f"round {index + 1}",
                    "Counts and sums of the rows at each centre",
                    n_points=n_clusters,
                    counts=(NearestCounts(points=point), split.counts / n_rounds),
                    sums=(NearestSums(points=point, radius=1.0), (1 - split.counts) / n_rounds),
                )
                for index in range(n_rounds)
            ),
            radius=radius,
        )

    def _run(self, ask: Ask, plan: LloydPlan, frame: Frame, *, n_rows: float, generator: np.random.Generator) -> Outcome:
        space = Space(frame)
        packing = pack_widest(generator, self.n_clusters, frame.n_features, half_widths=frame.half_widths)
        points, rounds = space.clip(packing), list[LloydRound]()
        for step in plan.rounds:
            rounds.append(self._round(ask, step, points, space, radius=plan.radius if rounds else None))
            points = rounds[-1].centers
        self.rounds_, last = tuple(rounds), rounds[-1]
        plane, unit = plane_of(last.centers), frame.distance_unit
        decisions = {
            step.name: Decision(
                figures={"radius": one.radius * unit}, picture={"centers": plane.place(one.centers[:LARGEST_CROWD])}
            )
            for step, one in zip(plan.rounds, rounds, strict=True)
        }
        return Outcome(
            centers=last.centers,
            center_errors=last.center_errors,
            counts=last.counts,
            count_errors=np.full(len(last.counts), last.count_sigma),
            n_rounds=len(self.rounds_),
            decisions=decisions,
        )

    def _move(
        self, points: FloatArray, anchors: FloatArray, counts: Answer, sums: Answer, space: Space, *, radius: float
    ) -> LloydRound:
        """Divide noisy sums by noisy counts. A centre whose noisy count is below one stays; nothing is known of its error."""
        sizes = np.maximum(counts.value, FEWEST_ROWS)[:, None]
        offsets = sums.value / sizes
        stays = (counts.value < FEWEST_ROWS)[:, None]
        # Delta method for a quotient: the noise of the sum, and the noise of the count times the quotient.
        errors = np.minimum(np.hypot(sums.sigma, np.minimum(np.abs(offsets), 1.0) * counts.sigma) / sizes, 1.0)
        return LloydRound(
            points=points,
            counts=counts.value,
            sums=sums.value,
            centers=np.where(stays, points, self._into_domain(anchors + offsets, space)),
            center_errors=np.where(stays, 1.0, errors),
            radius=radius,
            count_sigma=counts.sigma,
            sum_sigma=sums.sigma,
        )


@estimator
class LloydKMeans(LloydEstimator):
    """k-means by Lloyd's iterations on noisy counts and sums (DPLloyd, as improved by Su et al.).

    Parameters
    ----------
    n_rounds : int or "auto", default="auto"
        ``"auto"`` is the rule of the paper: as many rounds as keep the expected error of each below 0.004 (as a squared
        distance in [-1, 1]^d), at least 2 and at most 7.

    Attributes
    ----------
    cluster_counts_ : array of shape (n_clusters,)
        Noisy numbers of rows, of the last round, about the centres it began with.

    Notes
    -----
    **Privacy.** Each round asks two questions about the cells of the present centres: how many rows, and their sum, measured
    from the middle of the domain. For adding or removing a row the counts have sensitivity 1; the sums have R in l2 and
    sqrt(d) R in l1, with R the radius of the domain (half the diagonal of a box). For replacing a row the counts have
    2 in l1 and sqrt(2) in l2, the sums twice the above. Rounds get equal shares. Every number has an independent draw, also in
    empty cells. The bounds and, if given, n_rows are taken as public. Not covered: labels, and the score of rows you pass.

    The method is that of Su, Cao, Li, Bertino and Jin, *Differentially private k-means clustering* (2016; 2017). It differs in
    the domain, a ball or a box instead of [-1, 1]^d (for a cube the Laplace noise is the paper's); in Gaussian noise for
    ``delta > 0``, for which the paper's split and number of rounds are derived anew from its error analysis; in the
    relation, where replacing a row needs the larger sensitivities; and in that a centre whose noisy count is below one stays.
    """


@dataclass(frozen=True, kw_only=True)
class LloydSplit:
    """How the budget of a round is divided between its two questions, and what is left of the noise then."""

    counts: float  # part of the budget, the other part being that of the sums; squares of mu add up, epsilons add up
    error: float  # mean squared error of a centre of one row at a budget of one


def split_round(cost: Cost, n_features: int, relation: Relation | Neighbours, *, counts: float | None = None) -> LloydSplit:
    """Return the split of Su et al.: the one with the smallest expected error of a centre, for the noise that is drawn.

    The error of a centre is, to first order, the noise of d sums plus the noise of the count times the centre's distance from
    the middle, ``2 rho`` of the domain's radius. Variances fall with the square of the share for Laplace noise (epsilons add
    up) and with the share itself for Gaussian noise (squares of mu add up); Lagrange does the rest. For Laplace noise that is
    the published ratio, ``(4 d rho^2)^(1/3)`` for the count against 1 for each coordinate. A share may be given instead.
    """
    middle = np.zeros((1, n_features))
    count, total = NearestCounts(points=middle), NearestSums(points=middle, radius=1.0)
    power, norm = (1, "l2") if cost.is_gaussian else (2, "l1")
    of_count, of_sum = (sensitivities(one, relation)[norm] * step_of(one, as_neighbours(relation)) for one in (count, total))
    for_count, for_sum = (2 * SPREAD * of_count) ** 2, n_features * of_sum**2
    if counts is None:
        root = 1 / (power + 1)
        counts = for_count**root / (for_count**root + for_sum**root)
    # A Laplace variable of scale b has variance 2 b^2, a Gaussian one of deviation b has b^2.
    return LloydSplit(counts=counts, error=power * (for_count / counts**power + for_sum / (1 - counts) ** power))


def rounds_within(
    cost: Cost, split: LloydSplit, *, n_clusters: int, n_rows: float, n_features: int, radius: float = 1.0
) -> int:
    """Return the number of rounds of Su et al.: as many as keep each round's error below 0.004, at least 2, at most 7.

    The error is summed over clusters of ``n_rows / n_clusters`` rows each. Their domain is [-1, 1]^d; in the unit ball squared
    distances are d times smaller. Errors shrink with the square of the `radius` that sums are bounded by.
    """
    error = split.error * radius**2 * n_clusters**3 / max(n_rows, 1.0) ** 2
    allowed = LARGEST_ERROR / n_features / error
    fewest, most = ROUNDS
    bearable = cost.weight * (allowed if cost.is_gaussian else allowed**0.5)
    return int(min(max(bearable, fewest), most))


def pack_widest(
    generator: np.random.Generator, size: int, dimension: int, *, half_widths: FloatArray | None = None
) -> FloatArray:
    """Return `size` random points that are as far from each other and from the boundary as the search finds.

    Points are to be a radius away from the boundary and two radii from each other. A radius fails when none of TRIES random
    points fits any more; the largest that does not fail is found by bisection. With `half_widths` the points fill a box
    instead of the unit ball; where the box is narrower than the radius they lie in its middle.
    """
    low, high, packed, steps = 0.0, 1.0, None, 0
    while packed is None or steps < BISECTIONS:
        radius = (low + high) / 2
        found = _pack(generator, (size, dimension), radius, half_widths)
        low, high, packed = (low, radius, packed) if found is None else (radius, high, found)
        steps += 1
    return packed


def _pack(
    generator: np.random.Generator, shape: tuple[int, int], radius: float, half_widths: FloatArray | None
) -> FloatArray | None:
    kept, count = np.empty(shape), 0
    while count < len(kept):
        if half_widths is None:
            proposals = (1 - radius) * uniform(generator, TRIES, shape[1])
        else:
            proposals = uniform(generator, TRIES, shape[1], half_widths=np.maximum(half_widths - radius, 0.0))
        free = proposals[_clear(proposals, kept[:count], radius)]
        if not len(free):
            return None
        for point in free:
            if count < len(kept) and _clear(point[None], kept[:count], radius)[0]:
                kept[count] = point
                count += 1
    return kept


def _clear(points: FloatArray, kept: FloatArray, radius: float) -> npt.NDArray[np.bool_]:
    """Say which points are two radii away from all that are kept."""
    return np.asarray((cdist(points, kept, "sqeuclidean") >= 4 * radius**2).all(axis=1))
