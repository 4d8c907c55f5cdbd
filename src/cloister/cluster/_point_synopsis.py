# SPDX-License-Identifier: Apache-2.0
"""PointSynopsis: weighted points that stand for a table of any number of columns, paid for once, cut at any k."""

from typing import Any

import numpy as np

from cloister.cluster._base import LARGEST_N_CLUSTERS, PrivateFit
from cloister.cluster._declare import estimator
from cloister.cluster._kmeans import find_centers
from cloister.cluster._kmeans_plan import KMeansPlan
from cloister.cluster._plan import Outcome, Planner, Request
from cloister.cluster._points import outcome_of_points, plan_points, points_of
from cloister.cluster._scaled import ScaledEstimator
from cloister.columns import Frame
from cloister.questions import Ask

MOST_POINTS = 4096


@estimator
class PointSynopsis(ScaledEstimator):
    """Weighted points that stand for the whole table: paid for once, then cut at any number of clusters.

    For any number of columns, where :class:`GridSynopsis` is for a few. One fit of many centres, as :class:`KMeans` finds them,
    with the number of rows of each and how far they scatter around it.

    Parameters
    ----------
    n_clusters : int, default=8
        What :func:`cloister.compare` cuts at; the fit does not depend on it.
    max_clusters : int, default=30
        How many clusters the points should be able to tell apart: there are two points for each, or fewer where rows and
        budget carry no more.
    n_points : "auto" or int, default="auto"
        The number of points, if it is not to follow from `max_clusters`, rows and budget.
    n_init : int, default=10
        Restarts of weighted k-means, on public numbers: they cost time, not budget.

    Attributes
    ----------
    synopsis_ : Synopsis
        What may be published, and used again and again: :meth:`Synopsis.cut`, `choose_k`, `sample`, ...

    Notes
    -----
    **Privacy.** The questions of :class:`KMeans`, and in the last round one more: sums of squared offsets clipped at r, by
    point and column (l1 and l2 sensitivity r^2 for adding or removing a row; 2 r^2 and sqrt(2) r^2 for replacing one).
    Everything after ``fit`` is post-processing: the events are those of one fit, however many numbers of clusters are asked
    for.

    Examples
    --------
    >>> rows = [[0.2, 0.2]] * 900 + [[0.8, 0.7]] * 600
    >>> model = PointSynopsis(epsilon=2.0, bounds=(0, 1), random_state=0).fit(rows)
    >>> [model.synopsis_.cut(k, random_state=0).n_clusters for k in (2, 3)]
    [2, 3]
    """

    max_clusters: int = 30
    n_points: Any = "auto"
    n_init: int = 10

    def _request(self) -> Request:
        self._whole("max_clusters", high=LARGEST_N_CLUSTERS)
        self._whole_or_auto("n_points", high=MOST_POINTS)
        self._whole("n_init")
        return super()._request()

    def _plan(self, request: Request, frame: Frame, *, n_rows: float, planner: Planner) -> KMeansPlan:
        n_points = self._whole_or_auto("n_points", high=MOST_POINTS)
        return plan_points(n_rows, frame, min(self.max_clusters, MOST_POINTS), n_points, planner=planner)

    def _run(self, ask: Ask, plan: KMeansPlan, frame: Frame, *, n_rows: float, generator: np.random.Generator) -> Outcome:
        located, refined = find_centers(ask, plan, frame, generator=generator, restarts=self.n_init)
        return outcome_of_points(located, refined, plan, frame, seed=int(generator.integers(2**32)))

    def _store(self, fit: PrivateFit) -> None:
        self.synopsis_ = self._synopsis(points_of(fit.outcome, fit.frame, max_clusters=self.max_clusters), fit)
        self.privacy_receipt_ = fit.receipt
