# SPDX-License-Identifier: Apache-2.0
"""KMeans: the default estimator. Votes find the clusters, sums of clipped offsets place their centres."""

import math
from typing import Any

import numpy as np

from cloister import validate
from cloister.algorithms import (
    Located,
    Refined,
    locate,
    mean_square,
    orthonormal_projection,
    project_to_total,
    quantile,
    refine,
)
from cloister.cluster._base import SIZE_SHARE, Outcome, PrivateClusterer, PrivateFit, Request, count_rows
from cloister.cluster._history import tell_placing
from cloister.cluster._kmeans_plan import KMeansPlan, make_plan
from cloister.cluster._progress import Progress
from cloister.domain import FloatArray, Frame, grid_step
from cloister.privacy import Guarantee, Ledger
from cloister.questions import Ask

__all__ = ["KMeans"]

SURE_OF_A_CENTRE = 2.0  # standard deviations of its count
MAX_NOISE = 2.0**46  # grid steps: a later sum is at most four times as noisy as the mean, and 2**48 can be drawn
BIN_ERROR = 0.02  # part of the loss that the width of the bins leaves open
MOST_ROWS = 0.99  # lie within the distance beyond which the estimate of the loss does not look


class KMeans(PrivateClusterer):
    """k-means under differential privacy: votes find the clusters, sums of clipped offsets place their centres.

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
    n_init : int, default=10
        Restarts of weighted k-means, on public numbers: they cost time, not budget.
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
    loss_ : float
        Private estimate of the mean squared distance of a row to its centre, in the units in which distances are measured.
    plan_ : KMeansPlan
        How the budget was divided.
    release_ : Release
        What may be published.
    privacy_receipt_ : Receipt
        Guarantee and events.
    labels_ : array of shape (n_rows,)
        Row-level, not covered by the guarantee, absent from pickles. Only for tables in memory.
    n_features_in_, n_iter_ : int
        Columns, and rounds of counts and sums.

    See Also
    --------
    cloister.plan : What a fit can be expected to find, before any budget is spent.

    Notes
    -----
    **Privacy.** Rows are asked for: one sum of clipped rows (l2 sensitivity R, 2 R when a row is replaced), histograms of
    distances and votes (1, sqrt(2)), and in each round a count and a sum of offsets clipped at r per centre (1 and r; sqrt(2)
    and 2 r). The shares are fixed by public numbers before the first question. Gaussian noise composes exactly (GDP), Laplace
    noise by adding up epsilons. Everything else is arithmetic on noisy answers. The bounds and, if given, n_rows are
    taken as public. Not covered: labels, and the score of rows you pass.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal([[20.0], [60.0]], 2.0, size=(2, 500)).reshape(-1, 1)
    >>> model = KMeans(n_clusters=2, epsilon=2.0, bounds=(0, 100), random_state=0).fit(rows)
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
        self.n_init = n_init
        self.ledger = ledger
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def _plan(self, request: Request, frame: Frame) -> int:
        budget = request.cost.share(1 - SIZE_SHARE)
        least = make_plan(1.0, frame.n_features, request.n_clusters, budget=budget, relation=request.relation)
        if least.sum_noise(least.mean) > MAX_NOISE * grid_step(frame.n_features):
            rule = "a budget whose noise can be drawn"
            validate.refuse(self._where("epsilon"), rule, str(request.guarantee), remedy="Spend more.")
        return validate.integer(self._where("n_init"), self.n_init, low=1)

    def _run(self, ask: Ask, request: Request, plan: int, frame: Frame, progress: Progress) -> Outcome:
        n_rows, budget = count_rows(ask, request)
        steps = make_plan(max(n_rows, 1.0), frame.n_features, request.n_clusters, budget=budget, relation=request.relation)
        self.plan_ = steps
        progress.expect(steps.n_questions)
        outcome = _cluster(ask, steps, frame, generator=request.entropy.public_generator(), restarts=plan, progress=progress)
        reach = float(frame.scale[0]) if self.scaling == "none" else frame.n_features**0.5
        for name in outcome.details:
            outcome.details[name] *= reach**2  # in the units in which `transform` measures distances
        return outcome

    def _store(self, fit: PrivateFit) -> None:
        super()._store(fit)
        self.loss_ = float(self.release_.details["loss"])


def _cluster(
    ask: Ask, plan: KMeansPlan, frame: Frame, *, generator: np.random.Generator, restarts: int, progress: Progress
) -> Outcome:
    projection = orthonormal_projection(generator, frame.n_features, plan.dimension) if plan.projected else None
    located = locate(
        ask,
        plan.locate_costs,
        n_rows=plan.n_rows,
        n_candidates=plan.n_candidates,
        n_points=plan.n_start,
        dimension=plan.dimension,
        fineness=plan.fineness,
        generator=generator,
        clip=frame.clip_unit if projection is None else _clip_ball,
        half_widths=frame.half_widths if projection is None else None,
        projection=projection,
        watch=progress.advance,
    )
    start = located.points if projection is None else frame.clip_unit(located.points @ projection.T)
    refined = refine(
        ask,
        plan.round_costs,
        start,
        n_rows=plan.n_rows,
        length=_most_rows(located, plan),
        generator=generator,
        clip=frame.clip_unit,
        restarts=restarts,
        projection=projection,
        watch=progress.advance,
    )
    return _outcome(located, refined, plan, projection)


def _outcome(located: Located, refined: Refined, plan: KMeansPlan, projection: FloatArray | None) -> Outcome:
    """Return k centres: where fewer were found, the heaviest are listed again, with no rows of their own."""
    centers, errors, counts = refined.centers.copy(), refined.errors, refined.counts
    lightest = int(np.argmin(counts))
    if counts[lightest] < SURE_OF_A_CENTRE * refined.count_sigma:
        # Its rows cannot be told from noise. At the mean it does no harm: k centres are never worse than one of them.
        centers[lightest] = located.origin if projection is None else projection @ located.origin
    missing = plan.n_clusters - len(centers)
    again = np.argsort(-counts, kind="stable")[np.arange(missing) % len(centers)]
    errors = np.minimum(np.concatenate([errors, errors[again]]), 1.0)
    counts = np.concatenate([counts, np.zeros(missing)])
    return Outcome(
        centers=np.vstack([centers, centers[again]]),
        center_errors=np.repeat(errors[:, None], centers.shape[1], axis=1),
        counts=counts,
        count_errors=np.full(len(counts), refined.count_sigma),
        n_rounds=len(plan.rounds),
        history=tell_placing(located, refined, n_rows=plan.n_rows, projection=projection),
        details=_losses(refined, plan, longest=_most_rows(located, plan)),
    )


def _losses(refined: Refined, plan: KMeansPlan, *, longest: float) -> dict[str, float]:
    """Return the mean squared distance to the centres, its error, and the same around the mean, by the noisy answers."""
    found = mean_square(refined.lengths, n_rows=plan.n_rows, longest=longest)
    loss = max(found.value - refined.gained, 0.0)
    parts = project_to_total(refined.counts, plan.n_rows) / plan.n_rows
    between = float(parts @ np.sum((refined.centers - parts @ refined.centers) ** 2, axis=1))
    return {"loss": loss, "loss_error": math.hypot(found.error, BIN_ERROR * loss), "loss_of_one_centre": loss + between}


def _most_rows(located: Located, plan: KMeansPlan) -> float:
    """Return how far from their mean most rows lie, in the full space."""
    seen = quantile(located.profile, n_rows=plan.n_rows, part=MOST_ROWS)
    return float(seen * (plan.n_features / plan.dimension) ** 0.5)


def _clip_ball(points: FloatArray) -> FloatArray:
    norms = np.linalg.norm(points, axis=1, keepdims=True)
    return np.asarray(points / np.maximum(norms, 1.0))
