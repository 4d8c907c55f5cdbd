# SPDX-License-Identifier: Apache-2.0
"""KMeans: the default estimator. Votes find the clusters, sums of clipped offsets place their centres."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from cloister import validate
from cloister.algorithms import (
    Located,
    Refined,
    locate,
    mean_square,
    project_to_total,
    quantile,
    refine,
)
from cloister.cluster._base import NO_NOISE, PrivateFit
from cloister.cluster._clusterer import PrivateClusterer
from cloister.cluster._declare import estimator
from cloister.cluster._kmeans_plan import KMeansPlan, make_plan
from cloister.cluster._pictures import draw_placing
from cloister.cluster._plan import Outcome, Planner, Request
from cloister.cluster._total_errors import add_beyond, first_points, judge_refined, unknown_errors
from cloister.data import Rows
from cloister.domain import FloatArray, Frame, grid_step
from cloister.exceptions import DataError
from cloister.questions import Ask

__all__ = ["KMeans"]

SURE_OF_A_CENTRE = 2.0  # standard deviations of its count
MAX_NOISE = 2.0**46  # grid steps: a later sum is at most four times as noisy as the mean, and 2**48 can be drawn
BIN_ERROR = 0.02  # part of the loss that the width of the bins leaves open
SEEN_BY_DISTANCE = 8.0  # standard deviations of a histogram of distances: from so many rows on it tells how far they lie
MOST_ROWS = 0.99  # lie within the distance beyond which the estimate of the loss does not look


@estimator
class KMeans(PrivateClusterer):
    """k-means under differential privacy: votes find the clusters, sums of clipped offsets place their centres.

    Parameters
    ----------
    n_init : int, default=10
        Restarts of weighted k-means, on public numbers: they cost time, not budget.

    Attributes
    ----------
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
    of offsets clipped at r per centre (1 and r; sqrt(2) and 2 r). Large tables are asked on a sample by secret coins, which
    changes none of this. The shares are fixed by public numbers before the first question; what a step leaves over goes to
    the rounds. Gaussian noise composes exactly (GDP), Laplace noise by adding up epsilons. Everything else is arithmetic on
    noisy answers. The bounds and, if given, n_rows are taken as public. Not covered: labels, and the score of rows you pass.
    """

    n_init: int = 10

    def _setting(self, rows: Rows) -> Any:
        if not hasattr(rows, "sample"):  # of another library: the vault would refuse it when something is spent already
            kind = type(rows).__name__
            raise DataError(f"KMeans: expected rows with a method sample, got a {kind}. Add the method, or pass an array.")
        return super()._setting(rows)

    def _plan(self, request: Request, frame: Frame, *, n_rows: float, planner: Planner) -> KMeansPlan:
        plan = make_plan(n_rows, frame.n_features, request.n_clusters, planner=planner)
        if plan.locate_steps.origin[0]["sums"].sigma > MAX_NOISE * grid_step(frame.n_features):
            validate.refuse(self._where("epsilon"), NO_NOISE, str(request.guarantee), remedy="Spend more.")
        self._whole("n_init")
        return plan

    def _run(self, ask: Ask, plan: KMeansPlan, frame: Frame, *, n_rows: float, generator: np.random.Generator) -> Outcome:
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
            restarts=self.n_init,
        )
        return _outcome(located, refined, plan, frame, generator)

    def _store(self, fit: PrivateFit) -> None:
        super()._store(fit)
        self.loss_ = float(self.release_.details["loss"])


def _outcome(located: Located, refined: Refined, plan: KMeansPlan, frame: Frame, generator: np.random.Generator) -> Outcome:
    """Return k centres: where fewer were found, the heaviest are listed again, with no rows of their own."""
    centers, errors, counts = refined.centers.copy(), refined.errors, refined.counts
    lightest = int(np.argmin(counts))
    if counts[lightest] < SURE_OF_A_CENTRE * refined.count_sigma:
        # Its rows do not stand out from noise. At the mean it does no harm: k centres are never worse than one of them.
        centers[lightest] = located.origin.point
    missing = plan.n_clusters - len(centers)
    again = np.argsort(-counts, kind="stable")[np.arange(missing) % len(centers)]
    errors = np.minimum(np.concatenate([errors, errors[again]]), 1.0)
    counts = np.concatenate([counts, np.zeros(missing)])
    noise, count_noise = np.repeat(errors[:, None], centers.shape[1], axis=1), np.full(len(counts), refined.count_sigma)
    losses = _losses(refined, plan, longest=_most_rows(located, plan))
    points = first_points(refined, n_rows=plan.n_sampled, loss=losses["loss"])
    beyond = judge_refined(refined, points, generator=generator)
    beyond = replace(beyond, count_errors=beyond.count_errors / plan.row_share)  # points were counted in the sample
    hidden = _hidden(located, plan, frame)
    total = add_beyond(noise, counts, count_noise, beyond, n_rows=plan.n_rows, hidden=hidden, frame=frame)
    losses["loss_error"] = math.hypot(losses["loss_error"], total.loss)
    return Outcome(
        centers=np.vstack([centers, centers[again]]),
        center_errors=noise,
        counts=counts,
        count_errors=count_noise,
        n_rounds=len(refined.moves),
        total=total,
        decisions=draw_placing(located, refined, n_rows=plan.n_sampled, unit=frame.distance_unit),
        details={name: value * frame.distance_unit**2 for name, value in losses.items()},
    )


def _hidden(located: Located, plan: KMeansPlan, frame: Frame) -> FloatArray:
    """Return the standard error of a coordinate of a cluster that was not seen: how far rows lie from their mean.

    Where too few rows are there to tell, it may be anywhere in the domain.
    """
    profile = located.origin.profile
    if plan.n_sampled < SEEN_BY_DISTANCE * profile.sigma:
        return unknown_errors(frame)
    square = mean_square(profile, n_rows=plan.n_sampled, longest=_most_rows(located, plan)).value
    return np.full(frame.n_features, math.sqrt(square / frame.n_features))


def _losses(refined: Refined, plan: KMeansPlan, *, longest: float) -> dict[str, float]:
    """Return the mean squared distance to the centres, its error, and the same around the mean, by the noisy answers."""
    found = mean_square(refined.lengths, n_rows=plan.n_sampled, longest=longest)
    loss = max(found.value - refined.gained, 0.0)
    parts = project_to_total(refined.counts, plan.n_rows) / plan.n_rows
    between = float(parts @ np.sum((refined.centers - parts @ refined.centers) ** 2, axis=1))
    sampling = found.deviation * math.sqrt((1 - plan.row_share) / max(plan.n_sampled, 1.0))
    error = math.hypot(found.error, BIN_ERROR * loss, sampling)
    return {"loss": loss, "loss_error": error, "loss_of_one_centre": loss + between}


def _most_rows(located: Located, plan: KMeansPlan) -> float:
    """Return how far from their mean most rows lie, in the full space."""
    return quantile(located.origin.profile, n_rows=plan.n_sampled, part=MOST_ROWS)
