# SPDX-License-Identifier: Apache-2.0
"""PEMeans: k-means by private evolution, and its high-dimensional variant."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from cloister import validate
from cloister.algorithms import (
    FEWEST_VARIATIONS,
    FIRST_CANDIDATES,
    SELECTIONS,
    VOTE_RULES,
    EvolutionSettings,
    Generation,
    Space,
    evolve,
    lift,
    random_projection,
)
from cloister.cluster._clusterer import PrivateClusterer
from cloister.cluster._declare import estimator
from cloister.cluster._pictures import draw_generations
from cloister.cluster._plan import Outcome, Plan, Planner, Request
from cloister.columns import FloatArray, Frame
from cloister.privacy import Step
from cloister.questions import Ask, NearestCounts, NearestSums, deviation

PROJECT_ABOVE = 32  # dimensions; the published high-dimensional runs project only beyond it
PROJECT_TO = 16
LIFT_QUERIES = 2  # counts and sums, each with the share of a vote
MAX_LIFT_ERROR = 0.18  # of a centre, in units of the domain's radius; above it plain PE-means is better, see docs/pe-means.md
LARGEST_EPSILON_FACTOR = 4.0  # rounds grow with epsilon up to the largest epsilon that was studied
ROWS_PER_CANDIDATE = 5
FEWEST_SETTLED_ROUNDS = 3  # to tell from the rounds how far centres move


@dataclass(frozen=True, kw_only=True)
class PEPlan(Plan):
    """Votes that share the budget equally with the two questions of the way back from a projection, if there is one."""

    votes: tuple[Step, ...]
    average: Step | None  # where votes are cast in a projection
    dimension: int
    settings: EvolutionSettings


@estimator
class PEMeans(PrivateClusterer):
    """k-means by private evolution: candidates evolve, rows only vote for the nearest one.

    Parameters
    ----------
    n_rounds : int or "auto", default="auto"
        Votes. ``"auto"`` is ``int(4 sqrt(d))``, times epsilon (at most 4) above 1. In a projection to p dimensions it is
        ``int(4 sqrt(p)) - 2`` (at least 1) whatever epsilon is: two shares are kept for the way back.
    n_variations : int or "auto", default="auto"
        Variations of each centre at the start; ``"auto"`` is ``max(n_rows / (5 n_clusters), 4)``.
    max_candidates : int, default=8192
        Cap on the candidates of a round, so that the cost grows linearly with the rows.
    projection : int, None or "auto", default="auto"
        Dimensions to project to at random before voting; None never projects. ``"auto"`` takes 16 above 32 columns where the
        noise of the way back, ``sqrt(d) sigma n_clusters / n_rows``, is at most 0.18 of the domain's radius (see Notes).
    selection : {"kmeans", "kmedians", "top-k"}, default="kmeans"
        Choose centres by weighted k-means of the candidates; by weighted k-medians, whose centres are candidates themselves;
        or take those with the most votes (the older rule).
    vote_rule : {"cut", "nonnegative-total", "threshold"}, default="cut"
        Which noisy votes count. ``"cut"``: the largest ones, until they add up to `n_rows`. ``"nonnegative-total"``: all
        are lowered by one amount, those below it to zero, so that they add up to `n_rows`: the most likely votes.
        ``"threshold"``: those above `vote_threshold`.
    vote_threshold : float, default=2.0
        In standard deviations of the noise of a vote. Only for ``vote_rule="threshold"``.
    first_candidates : {"packing", "uniform"}, default="packing"
        Spread the first candidates so that they keep their distance, or draw them uniformly from the domain.
    adaptive : bool, default=True
        Halve the variations while noise hides the votes.
    step : float, default=0.01
        Size of a variation in units of the domain's radius.
    levy_exponent : float, default=1.75
        Tails of the variations: smaller is heavier.
    n_init : int, default=10
        Restarts of each weighted k-means, on public numbers. The search for k-medians starts once.

    Attributes
    ----------
    generations_ : tuple of Generation
        Candidates and noisy votes of every round, in the coordinates in which distances were measured.

    Notes
    -----
    **Privacy.** Each round asks how many rows have each candidate as their nearest: l2 sensitivity 1 for adding or removing
    a row, sqrt(2) for replacing one. All rounds get an equal share; Gaussian noise composes exactly (GDP). The projected
    variant spends two more shares on a count and a sum per cluster, the sum of sensitivity R (2 R for replacing), with an
    independent draw for every number. The bounds and, if given, n_rows are taken as public. Not covered: labels, and the
    score of rows you pass. Whether to project is decided by public numbers: columns, n_clusters, the budget, the relation,
    and n_rows or, where it is not public, its noisy answer.

    **Projection.** Votes in few dimensions need fewer rounds, but the sums that take the centres back to all d columns have
    noise of standard deviation sigma (in units of the domain's radius) in each coordinate. That moves the centre of an average
    cluster by about ``sqrt(d) sigma n_clusters / n_rows``. Measured above 32 columns, the projected variant is better where
    this is small, and the plain one where it is not.

    The method is that of Humphries, Lin and Yekhanin, *PE-means*. It differs where their text and their published figures
    disagree (see the documentation), and in the cap on candidates.
    """

    n_rounds: int | str = "auto"
    n_variations: int | str = "auto"
    max_candidates: int = 8192
    projection: int | str | None = "auto"
    selection: str = "kmeans"
    vote_rule: str = "cut"
    vote_threshold: float = 2.0
    first_candidates: str = "packing"
    adaptive: bool = True
    step: float = 0.01
    levy_exponent: float = 1.75
    n_init: int = 10

    def _plan(self, request: Request, frame: Frame, *, n_rows: float, planner: Planner) -> PEPlan:
        n_features, settings = frame.n_features, self._settings(request.n_clusters, n_rows)
        dimension = self._dimension(request, n_features, n_rows=n_rows, planner=planner)
        projected = dimension < n_features
        n_rounds = self._rounds(request.row_epsilon, dimension, projected=projected)
        share = 1 / (n_rounds + LIFT_QUERIES * projected)
        point = np.zeros((1, n_features))
        counts, sums = (NearestCounts(points=point), share), (NearestSums(points=point, radius=1.0), share)
        n_candidates = (settings.n_variations + 1) * request.n_clusters
        purpose = "Averages in all columns, from the centres of the projection"
        return PEPlan(
            votes=tuple(
                planner.step(f"vote {index}", "Votes for the nearest candidate", n_points=n_candidates, counts=counts)
                for index in range(1, n_rounds + 1)
            ),
            average=planner.step("average", purpose, n_points=request.n_clusters, counts=counts, sums=sums)
            if projected
            else None,
            dimension=dimension,
            settings=settings,
        )

    def _settings(self, n_clusters: int, n_rows: float) -> EvolutionSettings:
        where, wanted = self._where, self._whole_or_auto("n_variations")
        if wanted is None:
            wanted = max(int(n_rows / (ROWS_PER_CANDIDATE * n_clusters)), FEWEST_VARIATIONS)
        return EvolutionSettings(
            n_variations=min(wanted, max(self._whole("max_candidates") // n_clusters - 1, 1)),
            selection=validate.one_of(where("selection"), self.selection, SELECTIONS),
            vote_rule=validate.one_of(where("vote_rule"), self.vote_rule, VOTE_RULES),
            vote_threshold=validate.number(where("vote_threshold"), self.vote_threshold, low=0.0),
            first_candidates=validate.one_of(where("first_candidates"), self.first_candidates, FIRST_CANDIDATES),
            adaptive=validate.boolean(where("adaptive"), self.adaptive),
            step=validate.number(where("step"), self.step, low=0.0, high=1.0, open_low=True),
            levy_exponent=validate.number(where("levy_exponent"), self.levy_exponent, low=0.3, high=1.99),
            n_init=self._whole("n_init"),
        )

    def _dimension(self, request: Request, n_features: int, *, n_rows: float, planner: Planner) -> int:
        if self.projection is None:
            return n_features
        if validate.is_word(self.projection, "auto"):
            if n_features <= PROJECT_ABOVE:
                return n_features
            # How far noise would move the centre of an average cluster on the way back, in units of the domain's radius.
            share = 1 / (self._rounds(request.row_epsilon, PROJECT_TO, projected=True) + LIFT_QUERIES)
            sums = NearestSums(points=np.zeros((1, n_features)), radius=1.0)
            sigma = deviation(sums, planner.budget.share(share), planner.relation)
            error = float(sigma * n_features**0.5 * request.n_clusters / n_rows)
            return PROJECT_TO if error <= MAX_LIFT_ERROR else n_features
        remedy = 'Pass "auto", None, or the number of dimensions to project to.'
        return min(n_features, validate.integer(self._where("projection"), self.projection, low=1, remedy=remedy))

    def _rounds(self, epsilon: float, dimension: int, *, projected: bool) -> int:
        given = self._whole_or_auto("n_rounds")
        if given is not None:
            return given
        rounds = int(4 * dimension**0.5)
        if projected:
            return max(rounds - LIFT_QUERIES, 1)
        return rounds if epsilon <= 1 else int(min(epsilon, LARGEST_EPSILON_FACTOR) * rounds)

    def _run(self, ask: Ask, plan: PEPlan, frame: Frame, *, n_rows: float, generator: np.random.Generator) -> Outcome:
        projection = None if plan.average is None else random_projection(generator, frame.n_features, plan.dimension)
        space = Space(frame, projection)
        self.generations_ = evolve(
            ask,
            [step["counts"] for step in plan.votes],
            space,
            n_clusters=self.n_clusters,
            n_rows=n_rows,
            settings=plan.settings,
            generator=generator,
        )
        if plan.average is None:  # counts and errors are read off the last votes: free, because they have been paid for
            centers = self.generations_[-1].centers
            counts, count_errors, center_errors = _cells(self.generations_[-1])
            center_errors = np.minimum(np.hypot(center_errors, _wander(self.generations_)), 1.0)
        else:
            found = lift(ask, plan.average, self.generations_[-1].centers, space)
            centers, center_errors, counts = found.centers, found.errors, found.counts
            count_errors = np.full(len(counts), found.count_sigma)
        return Outcome(
            centers=centers,
            center_errors=center_errors,
            counts=counts,
            count_errors=count_errors,
            n_rounds=len(plan.votes),
            decisions=draw_generations(self.generations_, space),
        )


def _cells(last: Generation) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return, per centre, the votes of its candidates, their noise, and the standard error of the weighted mean.

    A centre is the mean of the candidates that kept votes, weighted by them. To first order the noise of the votes moves it by
    sigma sqrt(sum (candidate - centre)^2) / (sum of votes). For the other selections this is the scale of it, no more.
    """
    alive = last.votes > 0
    points, votes, centers = last.candidates[alive], last.votes[alive], last.centers
    n_clusters = len(centers)
    if not len(points):
        return np.zeros(n_clusters), np.full(n_clusters, last.sigma), np.ones(centers.shape)
    owner = np.argmin(((points[:, None, :] - centers) ** 2).sum(axis=2), axis=1)
    counts = np.bincount(owner, weights=votes, minlength=n_clusters).astype(np.float64)
    sizes = np.bincount(owner, minlength=n_clusters)
    spread = np.zeros(centers.shape)
    np.add.at(spread, owner, (points - centers[owner]) ** 2)
    errors = last.sigma * np.sqrt(spread) / np.maximum(counts, last.sigma)[:, None]
    return counts, last.sigma * np.sqrt(np.maximum(sizes, 1)), np.minimum(errors, 1.0)


def _wander(generations: tuple[Generation, ...]) -> FloatArray:
    """Return the standard deviation of each centre over the second half of the rounds; an earlier centre is the nearest one.

    The noise of the last votes alone says several times too little: where the candidates happen to lie, and which of them kept
    votes, also moves a centre. Rounds repeat that draw, and looking at them is free.
    """
    last = generations[-1].centers
    settled = generations[len(generations) // 2 :]
    if len(settled) < FEWEST_SETTLED_ROUNDS:
        return np.zeros(last.shape)
    tracks = [one.centers[cKDTree(one.centers).query(last)[1]] for one in settled]
    return np.asarray(np.std(tracks, axis=0, ddof=1))
