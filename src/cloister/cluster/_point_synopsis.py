# SPDX-License-Identifier: Apache-2.0
"""PointSynopsis: weighted points that stand for a table of any number of columns, paid for once, cut at any k."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from cloister import validate
from cloister.cluster._base import NO_NOISE
from cloister.cluster._declare import estimator
from cloister.cluster._kmeans import find_centers
from cloister.cluster._kmeans_plan import KMeansPlan
from cloister.cluster._plan import Outcome, Planner, Request
from cloister.cluster._points import outcome_of_points, plan_points, synopsis_of
from cloister.cluster._scaled import ScaledEstimator
from cloister.columns import FloatArray, Frame
from cloister.exceptions import without_sizes
from cloister.questions import Ask
from cloister.release import Release, library_versions
from cloister.synopsis import KChoice, LossEstimate, WeightedPoints

if TYPE_CHECKING:
    import os

    import pyarrow as pa

__all__ = ["PointSynopsis"]

MOST_POINTS = 4096
LARGEST_N_CLUSTERS = 1 << 20


@estimator
class PointSynopsis(ScaledEstimator):
    """Weighted points that stand for the whole table: paid for once, then cut at any number of clusters.

    For any number of columns, where :class:`GridSynopsis` is for a few. One fit of many centres, as :class:`KMeans` finds them,
    with the number of rows of each and how far they scatter around it.

    Parameters
    ----------
    n_clusters : int, default=8
        What :meth:`kmeans` cuts at by default; no limit, and it costs nothing to change one's mind.
    max_clusters : int, default=30
        How many clusters the points should be able to tell apart: there are two points for each, or fewer where rows and
        budget carry no more.
    n_points : "auto" or int, default="auto"
        The number of points, if it is not to follow from `max_clusters`, rows and budget.
    n_init : int, default=10
        Restarts of weighted k-means, on public numbers: they cost time, not budget.

    Attributes
    ----------
    synopsis_ : WeightedPoints
        What may be published; all methods here are its own.

    Notes
    -----
    **Privacy.** The questions of :class:`KMeans`, and in the last round one more: sums of squared offsets clipped at r, by
    point and column (l1 and l2 sensitivity r^2 for adding or removing a row; 2 r^2 and sqrt(2) r^2 for replacing one).
    Everything after ``fit`` is post-processing: the events are those of one fit, however many numbers of clusters are asked
    for.

    Examples
    --------
    >>> rows = [[0.2, 0.2]] * 900 + [[0.8, 0.7]] * 600
    >>> synopsis = PointSynopsis(epsilon=2.0, bounds=(0, 1), random_state=0).fit(rows)
    >>> [synopsis.kmeans(k, random_state=0).n_clusters for k in (2, 3)]
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
        plan = plan_points(n_rows, frame, min(self.max_clusters, MOST_POINTS), n_points, planner=planner)
        if not plan.can_be_drawn:
            validate.refuse(self._where("epsilon"), NO_NOISE, str(request.guarantee), remedy="Spend more.")
        return plan

    def _run(self, ask: Ask, plan: KMeansPlan, frame: Frame, *, n_rows: float, generator: np.random.Generator) -> Outcome:
        located, refined = find_centers(ask, plan, frame, generator=generator, restarts=self.n_init)
        return outcome_of_points(located, refined, plan, frame, seed=int(generator.integers(2**32)))

    @without_sizes
    def fit(self, X: object, y: object = None, *, privacy_unit: object = None, **unknown: object) -> Self:
        """Find the points. Takes whatever :func:`cloister.open_rows` opens; `y` is ignored.

        `privacy_unit` says whose row each is, for tables in memory that have no column of ids.
        """
        with self._with_ids(privacy_unit, unknown):
            fit = self._fit_privately(X, self._open(X))
        self.synopsis_ = synopsis_of(
            fit.outcome,
            fit.frame,
            max_clusters=self.max_clusters,
            scaling=fit.scaling,
            receipt=fit.receipt,
            feature_names=fit.feature_names,
            steps=fit.steps,
            versions=library_versions(),
            column_cells=fit.cells,
        )
        self.privacy_receipt_ = fit.receipt
        return self

    def kmeans(self, n_clusters: int | None = None, **options: Any) -> Release:
        """Cluster the points; see :meth:`WeightedPoints.kmeans`."""
        count = self.n_clusters if n_clusters is None else n_clusters
        return self._fitted().kmeans(count, **{"n_init": self.n_init, **options})

    def choose_k(self, n_clusters: Iterable[int] | None = None, **options: Any) -> KChoice:
        """Compare numbers of clusters; see :meth:`WeightedPoints.choose_k`."""
        return self._fitted().choose_k(n_clusters, **options)

    def tree(self, **options: Any) -> FloatArray:
        """Return how points are joined to ever fewer clusters; see :meth:`WeightedPoints.tree`."""
        return self._fitted().tree(**options)

    def loss(self, n_clusters: int, **options: Any) -> LossEstimate:
        """Return the loss for a number of clusters, with its error; see :meth:`WeightedPoints.loss`."""
        return self._fitted().loss(n_clusters, **options)

    def silhouette(self, n_clusters: int, **options: Any) -> float:
        """Return how well clusters are separated; see :meth:`WeightedPoints.silhouette`."""
        return self._fitted().silhouette(n_clusters, **options)

    def sample(self, n_rows: int, **options: Any) -> FloatArray:
        """Draw synthetic rows; see :meth:`WeightedPoints.sample`."""
        return self._fitted().sample(n_rows, **options)

    def sample_table(self, n_rows: int, **options: Any) -> "pa.Table":
        """Draw synthetic rows with the columns of the original table; see :meth:`WeightedPoints.sample_table`."""
        return self._fitted().sample_table(n_rows, **options)

    def plot(self, kind: str = "curve", ax: Any = None, **options: Any) -> Any:
        """Draw the synopsis with matplotlib; see :meth:`WeightedPoints.plot`."""
        return self._fitted().plot(kind, ax, **options)

    def to_arrow(self) -> "pa.Table":
        """Return one row per point; see :meth:`WeightedPoints.to_arrow`."""
        return self._fitted().to_arrow()

    def save(self, path: "str | os.PathLike[str]", *, overwrite: bool = False, allow_seeded: bool = False) -> None:
        """Write the synopsis to a file; see :meth:`WeightedPoints.save`. :func:`cloister.load_synopsis` reads it."""
        self._fitted().save(path, overwrite=overwrite, allow_seeded=allow_seeded)

    def _fitted(self) -> WeightedPoints:
        check_is_fitted(self)
        return self.synopsis_
