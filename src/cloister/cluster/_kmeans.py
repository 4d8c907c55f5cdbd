# SPDX-License-Identifier: Apache-2.0
"""KMeans: the default estimator. Votes find the clusters, sums of clipped offsets place their centres."""

import math
from dataclasses import replace

import numpy as np

from cloister import validate
from cloister.algorithms import (
    LastStep,
    Located,
    Refined,
    locate,
    mean_square,
    project_to_total,
    quantile,
    refine,
    sees_distances,
    unknown_errors,
)
from cloister.cluster._base import LARGEST_N_CLUSTERS, PrivateFit
from cloister.cluster._clusterer import PrivateClusterer
from cloister.cluster._declare import estimator
from cloister.cluster._first import Ready, TableSpec
from cloister.cluster._kmeans_errors import ErrorInputs, first_points
from cloister.cluster._kmeans_grid import FewRowsPlan, cut_grid, fills_bounds, plan_few_rows, suits_laplace
from cloister.cluster._kmeans_plan import KMeansPlan, make_plan
from cloister.cluster._pictures import draw_placing
from cloister.cluster._plan import Outcome, Planner, Request
from cloister.cluster._points import outcome_of_points, plan_points, points_of
from cloister.columns import FloatArray, Frame
from cloister.questions import Ask

LARGEST_MAX_CLUSTERS = 2048  # with two points for each, as many as a fit starts with
SURE_OF_A_CENTRE = 2.0  # standard deviations of its count
FARTHEST = 1.0  # distance of a row from its centre, in radii of the domain
MOST_ROWS = 0.99  # lie within the distance up to which rows and missed clusters are looked for


@estimator
class KMeans(PrivateClusterer):
    """k-means under differential privacy: votes find the clusters, sums of clipped offsets place their centres.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of centres; always exactly so many are returned. ``"auto"`` finds the number: a synopsis of weighted points is
        fitted as by :class:`PointSynopsis`, and the number is chosen from it at no further cost.
    max_clusters : int, default=30
        The largest number that ``"auto"`` considers.
    n_init : int, default=10
        Restarts of weighted k-means, on public numbers: they cost time, not budget.

    Attributes
    ----------
    n_clusters_ : int
        Number of centres.
    synopsis_, choice_ : Synopsis and KChoice
        With ``n_clusters="auto"``: the points that centres were cut from, and the curve that speaks for their number.
    loss_ : float
        Private estimate of the mean squared distance of a row to its centre, in the units in which distances are measured.
    plan_ : KMeansPlan
        What was asked, step by step, and how the budget was divided.
    n_iter_ : int
        Rounds of counts and sums.

    See Also
    --------
    cloister.plan : What a fit can be expected to find, before any budget is spent.

    Notes
    -----
    **Privacy.** Rows are asked for: sums of clipped rows (l2 sensitivity r, 2 r when a row is replaced), histograms of
    distances and votes (1, sqrt(2)), second moments of clipped offsets (r^2, sqrt(2) r^2), and in each round a count and a sum
    of offsets clipped at r per centre (1 and r; sqrt(2) and 2 r). Where categories or flags stand beside numbers, small fits
    that choose how much they weigh ask the same before, and for sums of squared offsets clipped at r (l1 and l2 sensitivity
    r^2; 2 r^2 and sqrt(2) r^2 for replacing a row). Large tables are asked on a sample by secret coins, which changes none of
    this. The shares are fixed by public numbers before the first question; what a step leaves over goes to
    the rounds. Gaussian noise composes exactly (GDP), Laplace noise by adding up epsilons. Everything else is arithmetic on
    noisy answers. Where n_rows is public and small, and nothing else shares the guarantee, fewer questions are answered with
    Laplace noise, at most two grids in place of votes and sums: then the fit is epsilon-DP, which implies (epsilon, delta)-DP
    for every delta. The bounds and, if given, n_rows are taken as public. Not covered: labels, and the score of rows you pass.
    """

    max_clusters: int = 30
    n_init: int = 10

    def _wanted_clusters(self) -> int:
        most = self._whole("max_clusters", high=LARGEST_MAX_CLUSTERS)
        if self._chooses:
            return most
        remedy = 'Pass a number, or "auto".'
        return validate.integer(self._where("n_clusters"), self.n_clusters, low=1, high=LARGEST_N_CLUSTERS, remedy=remedy)

    @property
    def _chooses(self) -> bool:
        return validate.is_word(self.n_clusters, "auto")

    def _plan(self, request: Request, frame: Frame, *, n_rows: float, planner: Planner) -> KMeansPlan | FewRowsPlan:
        self._whole("n_init")
        if self._chooses:
            return plan_points(n_rows, frame, request.n_clusters, None, planner=planner)
        few = plan_few_rows(request, frame, n_rows=n_rows, planner=planner)
        return few or make_plan(n_rows, frame.n_features, request.n_clusters, planner=planner)

    def _with_own_noise(self, request: Request, setting: TableSpec) -> Request:
        """Return the request with a pure budget where rows are so few that Laplace noise tells more of them."""
        guarantee = request.guarantee
        if self._chooses or request.n_rows is None or not guarantee.stated_delta:
            return request
        pure = replace(request, cost=guarantee.pure_budget())
        return pure if suits_laplace(request, self._first_plan(pure, setting)) else request

    def _run(
        self, ask: Ask, plan: KMeansPlan | FewRowsPlan, frame: Frame, *, n_rows: float, generator: np.random.Generator
    ) -> Outcome:
        if isinstance(plan, FewRowsPlan):
            given = {"n_rows": max(n_rows, 1.0), "n_clusters": self.n_clusters}
            if fills_bounds(ask, plan, frame, **given):
                return cut_grid(ask, plan, frame, **given, n_init=self.n_init, generator=generator)
            plan = plan.otherwise
        located, refined = find_centers(ask, plan, frame, generator=generator, restarts=self.n_init)
        if self._chooses:
            return outcome_of_points(located, refined, plan, frame, seed=int(generator.integers(2**32)))
        return _outcome(located, refined, plan, frame, generator)

    def _found_centers(self, outcome: Outcome, ready: Ready) -> FloatArray:
        if not self._chooses:
            return outcome.centers
        points = points_of(outcome, ready.frame, max_clusters=self.max_clusters)
        best = points.choose_k().best
        centers = points.solve(best, n_init=self.n_init, random_state=outcome.seed).centers
        return ready.frame.clip_unit(centers)

    def _store(self, fit: PrivateFit) -> None:
        for name in ("synopsis_", "choice_"):
            if hasattr(self, name):  # of an earlier fit
                delattr(self, name)
        details = fit.outcome.details
        if self._chooses:
            points, seed = points_of(fit.outcome, fit.frame, max_clusters=self.max_clusters), fit.outcome.seed
            self.synopsis_ = self._synopsis(points, fit)
            self.choice_ = self.synopsis_.choose_k()
            release = self.synopsis_.cut(self.choice_.best, n_init=self.n_init, random_state=seed)
            details = {**release.details, "choice": self.choice_.to_dict()}
            release = replace(release, parameters=self._public_parameters(), details=details, profiles=fit.profiles)
            self._publish(release, n_rounds=fit.outcome.n_rounds)
        else:
            super()._store(fit)
        self.loss_, self.n_clusters_ = float(details["loss"]), len(self.cluster_centers_)


def find_centers(
    ask: Ask, plan: KMeansPlan, frame: Frame, *, generator: np.random.Generator, restarts: int
) -> tuple[Located, Refined]:
    """Find where rows are many, and place centres there: the two halves of the method."""
    steps = plan.locate_steps
    located = locate(ask, steps, frame, n_rows=plan.n_sampled, generator=generator)
    refined = refine(
        ask,
        plan.rounds_without(steps.origin[located.origin.n_asked :]),
        frame.clip_unit(located.space.lift(located.points)),
        located.space,
        n_rows=plan.n_rows,
        length=_most_rows(located, plan),
        generator=generator,
        restarts=restarts,
    )
    return located, refined


def _outcome(located: Located, refined: Refined, plan: KMeansPlan, frame: Frame, generator: np.random.Generator) -> Outcome:
    """Return k centres: where fewer were found, the heaviest are listed again, with no rows of their own."""
    centers, errors, counts = refined.centers.copy(), refined.last.errors, refined.last.counts
    lightest = int(np.argmin(counts))
    if counts[lightest] < SURE_OF_A_CENTRE * refined.last.count_sigma:
        # Its rows do not stand out from noise. At the mean it does no harm: k centres are never worse than one of them.
        centers[lightest] = located.origin.point
    missing = plan.n_clusters - len(centers)
    again = np.argsort(-counts, kind="stable")[np.arange(missing) % len(centers)]
    errors = np.minimum(np.concatenate([errors, errors[again]]), 1.0)
    counts = np.concatenate([counts, np.zeros(missing)])
    noise, count_noise = np.repeat(errors[:, None], centers.shape[1], axis=1), np.full(len(counts), refined.last.count_sigma)
    profile, longest = located.origin.profile, _most_rows(located, plan)
    losses, hidden = _losses(refined, plan), unknown_errors(frame)
    if sees_distances(profile, n_rows=plan.n_sampled):  # a cluster that was not seen is as far off as rows from their mean
        square = mean_square(profile, n_rows=plan.n_sampled, longest=longest).value
        hidden = np.full(frame.n_features, math.sqrt(square / frame.n_features))
    error_inputs = ErrorInputs(
        points=first_points(refined, frame, n_rows=plan.n_sampled, loss=losses["loss"]),
        centers=refined.centers,
        last=LastStep(
            offsets=refined.last.offsets,
            errors=refined.last.errors,
            errors_before=refined.errors_before,
            radius=refined.last.radius,
            passed=refined.last.passed,
        ),
        row_share=plan.row_share,
        n_rows=plan.n_rows,
        hidden=hidden,
        seed=int(generator.integers(2**32)),
    )
    return Outcome(
        centers=np.vstack([centers, centers[again]]),
        center_errors=noise,
        counts=counts,
        count_errors=count_noise,
        n_rounds=len(refined.moves),
        error_inputs=error_inputs,
        decisions=draw_placing(located, refined, n_rows=plan.n_sampled, unit=frame.distance_unit),
        details={name: value * frame.distance_unit**2 for name, value in losses.items()},
    )


def _losses(refined: Refined, plan: KMeansPlan) -> dict[str, float]:
    """Return the mean squared distance to the centres, its error, and the same around the mean, by the noisy answers."""
    found = mean_square(refined.lengths, n_rows=plan.n_sampled, longest=FARTHEST)
    loss = max(found.value - refined.last.gained, 0.0)
    parts = project_to_total(refined.last.counts, plan.n_rows) / plan.n_rows
    between = float(parts @ np.sum((refined.centers - parts @ refined.centers) ** 2, axis=1))
    sampling = found.deviation * math.sqrt((1 - plan.row_share) / max(plan.n_sampled, 1.0))
    error = math.hypot(found.error, sampling)
    return {"loss": loss, "loss_error": error, "loss_of_one_centre": loss + between}


def _most_rows(located: Located, plan: KMeansPlan) -> float:
    """Return how far from their mean most rows lie, in the full space."""
    return quantile(located.origin.profile, n_rows=plan.n_sampled, part=MOST_ROWS)
