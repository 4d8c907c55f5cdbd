# SPDX-License-Identifier: Apache-2.0
"""SourceTargetKMedoids: cover a public target by k of its own points, while a private source already covers part of it."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.metrics import pairwise_distances
from sklearn.utils.validation import check_is_fitted

from cloister import validate
from cloister.algorithms import (
    Coreset,
    Medoids,
    Sanitized,
    choose_medoids,
    nearest_averages,
    neighbour_averages,
    tree_coreset,
)
from cloister.cluster._base import PrivateEstimator, PrivateFit, Request, count_rows
from cloister.cluster._progress import Progress
from cloister.data import LocalRows, as_matrix, open_rows
from cloister.domain import Ball, Domain, FloatArray, Frame, IntArray
from cloister.exceptions import DataError
from cloister.privacy import GDP, Entropy, Guarantee, Ledger, PureDP
from cloister.questions import Ask, Cost
from cloister.release import Release, library_versions

__all__ = ["SourceTargetKMedoids"]

METHODS = ("nas", "nna")
CALIBRATIONS = ("paper", "sharp")
SOLVERS = ("auto", "exact", "representatives")
DIAMETER = 2.0  # of the unit ball
EXACT_TARGETS = 6000  # up to so many target points the solver looks at all pairs
BLOCK_NUMBERS = 1 << 22
COUNT_SHARE = 0.5  # of the budget, for NNA's counts; the rest is for its sums
SMALLEST_RADIUS = 1e-3  # of the unit ball
LARGEST_PICTURE = 1500  # target points kept for the report


@dataclass(frozen=True, kw_only=True, eq=False)
class SourceTargetPlan:
    """Everything the public target and public numbers decide before the source is asked."""

    target: FloatArray  # in the unit ball's coordinates
    coreset: Coreset
    solved: IntArray  # target points among which the solver chooses, and on which it measures
    weights: FloatArray
    radius: float  # beyond it no source point can help


class SourceTargetKMedoids(PrivateEstimator):
    """Only the source is private: choose k points of a public target that, with the source, cover the target well.

    Every target point is served by the nearest of two kinds of centres: the k target points chosen here, and the points of a
    private source that are there anyway. The choice must not give the source away.

    Parameters
    ----------
    n_clusters : int, default=8
        Target points to choose.
    method : {"nna", "nas"}, default="nna"
        Noisy averages of the source points nearest to each target point (NNA), or of the `n_neighbors` source points nearest
        to it (NAS). NNA needs far less noise: a source point takes part in one average only.
    epsilon, delta : float, default=1.0 and 0.0
        The guarantee for the source; Laplace noise for ``delta=0``, Gaussian noise above.
    guarantee : PureDP, ApproxDP, ZCDP or GDP, optional
        Replaces `epsilon` and `delta`.
    bounds : (low, high), Box or Ball, optional
        Where source points may lie. None takes the smallest ball around the target's mean that holds the target, which is
        public.
    calibration : {"sharp", "paper"}, default="sharp"
        Offsets from the target point clipped where they cannot help any more, or the paper's literal sums and noise.
    confidence : float, default=0.99
        An average is used if its noisy count exceeds 1 by more than noise does with this probability.
    n_neighbors : int, default=150
        Source points each average of NAS is of; at most half the (public or noisy) number of source points.
    coreset_radius : float, default=0.05
        Target points are represented by others within this part of the diameter; 0 turns it off.
    max_representatives : int, default=4096
        Cap on their number; the radius grows where it is reached.
    metric : str, default="euclidean"
        Distance the solver minimises, any that scikit-learn knows. The private part is Euclidean whatever it is.
    solver : {"auto", "exact", "representatives"}, default="auto"
        Choose among all target points, or among their representatives; auto is exact up to 6,000 target points.
    n_init : int, default=3
        Starts of the solver, on public numbers.
    neighbours, n_rows, ledger, random_state, n_jobs, progress
        As for :class:`PEMeans`; `n_rows` is the number of source points and only NAS uses it.

    Attributes
    ----------
    medoid_indices_ : array of shape (n_clusters,)
        The chosen points, as rows of the target. Fewer where the target has fewer rows.
    cluster_centers_ : array of shape (n_clusters, n_features)
        The same points.
    sanitized_source_ : array of shape (n_sanitized, n_features)
        Public points that stand for the source.
    target_cost_ : float
        Mean distance of a target point to its nearest centre, chosen or sanitised: public, as the solver sees it.
    release_, privacy_receipt_, n_features_in_
        As for :class:`PEMeans`.

    Notes
    -----
    **Privacy.** The target, and all that follows from it, is public. NNA asks two questions: how many source points have each
    representative as their nearest (l2 sensitivity 1), and the sum of their offsets from it, clipped at r (l2 sensitivity r;
    2 r for replacing). r is the largest distance of a target point to its centre when the source is ignored: a source point
    farther than r from every target point is nearer to none of them than that centre, so clipping it loses little. NAS
    asks one question, the mean of the t nearest source points of each of n representatives: l2 sensitivity sqrt(n) times the
    diameter over t. Everything after is post-processing.

    The methods are those of Schnapp and Sabato, *Differentially Private Source-Target Clustering* (2025).

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> target = np.vstack([generator.normal(0, 1, (100, 2)), generator.normal(20, 1, (100, 2))])
    >>> volunteers = generator.normal(20, 1, (500, 2))
    >>> model = SourceTargetKMedoids(n_clusters=1, epsilon=3.0, random_state=0).fit(target, source=volunteers)
    >>> bool(model.cluster_centers_[0].max() < 5)
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        method: str = "nna",
        epsilon: float = 1.0,
        delta: float = 0.0,
        guarantee: Guarantee | None = None,
        bounds: Any = None,
        calibration: str = "sharp",
        confidence: float = 0.99,
        n_neighbors: int = 150,
        coreset_radius: float = 0.05,
        max_representatives: int = 4096,
        metric: str = "euclidean",
        solver: str = "auto",
        n_init: int = 3,
        neighbours: str = "add-remove",
        n_rows: int | None = None,
        ledger: Ledger | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.method = method
        self.epsilon = epsilon
        self.delta = delta
        self.guarantee = guarantee
        self.bounds = bounds
        self.calibration = calibration
        self.confidence = confidence
        self.n_neighbors = n_neighbors
        self.coreset_radius = coreset_radius
        self.max_representatives = max_representatives
        self.metric = metric
        self.solver = solver
        self.n_init = n_init
        self.neighbours = neighbours
        self.n_rows = n_rows
        self.ledger = ledger
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    scaling = "none"  # the target's units are the source's

    def fit(self, target: object, y: object = None, *, source: object = None) -> Self:
        """Choose target points.

        Parameters
        ----------
        target : array-like, data frame or Arrow object
            Public; its values must be finite.
        y : None
            Ignored.
        source : whatever :func:`cloister.open_rows` opens
            Private, with the same columns as the target.

        Returns
        -------
        self
            Fitted.
        """
        if source is None:
            validate.refuse(self._where("source"), "the private table", None, remedy="Pass fit(target, source=rows).")
        self._request()
        public = _public_matrix(self._where("target"), target)
        rows = open_rows(source, n_jobs=self.n_jobs, where=self._where("source"))
        if rows.n_features != public.shape[1]:
            raise DataError(
                f"{self._where('source')}: expected {public.shape[1]} columns, as in the target, got {rows.n_features}. "
                "Pass the same columns."
            )
        self._public = public
        try:
            fit = self._fit_privately(source, rows)
        finally:
            del self._public
        plan, sanitized = fit.outcome
        self._store(public, plan, sanitized, fit)
        return self

    def predict(self, X: object) -> IntArray:
        """Return, for each row of `X`, the index of the nearest chosen point; -1 where a sanitised source point is nearer."""
        check_is_fitted(self)
        rows = _public_matrix(self._where("X"), X)
        if rows.shape[1] != self.n_features_in_:
            raise DataError(f"X has {rows.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_}.")
        medoids = _nearest(rows, self.cluster_centers_, self.metric)
        source = _nearest(rows, self.sanitized_source_, self.metric)
        return np.where(source.distances < medoids.distances, -1, medoids.indices)

    # -- the parts of a private fit -------------------------------------------------------------------------------------

    def _domain(self, n_features: int) -> Domain:
        return _ball_around(self._public) if self.bounds is None else super()._domain(n_features)

    def _plan(self, request: Request, frame: Frame) -> SourceTargetPlan:
        where = self._where
        validate.one_of(where("method"), self.method, METHODS)
        validate.one_of(where("calibration"), self.calibration, CALIBRATIONS)
        validate.one_of(where("solver"), self.solver, SOLVERS)
        validate.number(where("confidence"), self.confidence, low=0.5, high=1.0, open_high=True)
        validate.integer(where("n_neighbors"), self.n_neighbors, low=1)
        validate.integer(where("n_init"), self.n_init, low=1)
        most = validate.integer(where("max_representatives"), self.max_representatives, low=1)
        reach = validate.number(where("coreset_radius"), self.coreset_radius, low=0.0, high=1.0)
        _check_metric(where("metric"), self.metric, self._public[:2])
        target = frame.to_unit(frame.domain.clip(self._public))
        coreset = tree_coreset(target, reach * DIAMETER, max_size=most)
        exact = self.solver == "exact" or (self.solver == "auto" and len(target) <= EXACT_TARGETS)
        solved = np.arange(len(target)) if exact else coreset.indices
        weights = np.ones(len(target)) if exact else coreset.weights
        alone = self._solve(self._public[solved], weights, None, request.entropy.public_generator())
        return SourceTargetPlan(
            target=target,
            coreset=coreset,
            solved=solved,
            weights=weights,
            radius=_useful_radius(target, target[solved[alone.indices]]),
        )

    def _run(
        self, ask: Ask, request: Request, plan: SourceTargetPlan, frame: Frame, progress: Progress
    ) -> tuple[SourceTargetPlan, Sanitized]:
        progress.expect(2)
        points = plan.target[plan.coreset.indices]
        if self.method == "nas":
            n_rows, cost = count_rows(ask, request)
            neighbors = max(1, min(self.n_neighbors, int(n_rows / 2)))
            sanitized = neighbour_averages(ask, cost, points, n_neighbors=neighbors)
        elif self.calibration == "paper":
            sanitized = self._run_paper(ask, request.cost, points)
        else:
            sanitized = nearest_averages(
                ask,
                request.cost.share(COUNT_SHARE),
                request.cost.share(1 - COUNT_SHARE),
                points,
                radius=plan.radius,
                confidence=self.confidence,
            )
        progress.advance()
        return plan, sanitized

    def _run_paper(self, ask: Ask, cost: Cost, points: FloatArray) -> Sanitized:
        """Run NNA with the paper's noise: b = (sqrt(d) + 1) / epsilon, or sigma = sqrt(2 / rho), on counts and on sums alike.

        The paper scales points to norm at most 1/2, so in the unit ball its sums and their noise are twice as large. Its sums
        have half the sensitivity it states; the ledger is charged for what they have.
        """
        dimension = points.shape[1]
        if isinstance(cost, GDP):
            deviation = (2 / (cost.mu**2 / 2)) ** 0.5
            count_cost: Cost = GDP(1 / deviation)
            sum_cost: Cost = GDP(1 / (2 * deviation))
            threshold = None
        else:
            scale = (dimension**0.5 + 1) / cost.epsilon
            count_cost, sum_cost = PureDP(1 / scale), PureDP(dimension**0.5 / (2 * scale))
            threshold = 1 + float(np.log((dimension**0.5 + 1) / (1 - self.confidence))) / cost.epsilon
        return nearest_averages(
            ask,
            count_cost,
            sum_cost,
            points,
            radius=1.0,
            confidence=self.confidence,
            from_origin=True,
            threshold=threshold,
        )

    def _solve(
        self, points: FloatArray, weights: FloatArray, caps: FloatArray | None, generator: np.random.Generator
    ) -> Medoids:
        distances = _pairs(points, self.metric)
        return choose_medoids(distances, self.n_clusters, generator=generator, caps=caps, weights=weights, restarts=self.n_init)

    def _store(self, public: FloatArray, plan: SourceTargetPlan, sanitized: Sanitized, fit: PrivateFit) -> None:
        frame = fit.frame
        self.sanitized_source_ = frame.from_unit(sanitized.points)
        self.sanitized_counts_ = sanitized.counts
        points = public[plan.solved]
        caps = _nearest(points, self.sanitized_source_, self.metric).distances
        generator = Entropy(self.random_state).public_generator()
        found = self._solve(points, plan.weights, caps, generator)
        self.medoid_indices_ = plan.solved[found.indices]
        self.cluster_centers_ = public[self.medoid_indices_]
        chosen = _nearest(public, self.cluster_centers_, self.metric)
        covered = _nearest(public, self.sanitized_source_, self.metric).distances
        self.target_cost_ = float(np.mean(np.minimum(chosen.distances, covered)))
        self.privacy_receipt_ = fit.receipt
        served = np.bincount(chosen.indices[chosen.distances <= covered], minlength=len(self.cluster_centers_))
        self.release_ = Release(
            method=type(self).__name__,
            parameters=self._public_parameters(),
            cluster_centers=self.cluster_centers_,
            center_errors=np.zeros_like(self.cluster_centers_),
            cluster_counts=served.astype(np.float64),
            count_errors=np.zeros(len(self.cluster_centers_)),
            domain=frame.domain,
            scaling="none",
            receipt=fit.receipt,
            feature_names=fit.feature_names,
            details=_details(public, self.sanitized_source_, sanitized.counts, self.medoid_indices_, self.target_cost_),
            versions=library_versions(),
        )


@dataclass(frozen=True, eq=False)
class _Nearest:
    indices: IntArray
    distances: FloatArray


def _nearest(rows: FloatArray, centers: FloatArray, metric: str) -> _Nearest:
    """Return the nearest of some centres for each row, in blocks; infinitely far where there are none."""
    indices, distances = np.zeros(len(rows), dtype=np.int64), np.full(len(rows), np.inf)
    size = max(1, BLOCK_NUMBERS // max(len(centers), 1))
    for start in range(0, len(rows) if len(centers) else 0, size):
        table = pairwise_distances(rows[start : start + size], centers, metric=metric)
        found = np.argmin(table, axis=1)
        indices[start : start + size] = found
        distances[start : start + size] = table[np.arange(len(table)), found]
    return _Nearest(indices, distances)


def _pairs(points: FloatArray, metric: str) -> npt.NDArray[np.float32]:
    """Return all distances among points, in single precision and a block at a time."""
    table = np.empty((len(points), len(points)), dtype=np.float32)
    size = max(1, BLOCK_NUMBERS // max(len(points), 1))
    for start in range(0, len(points), size):
        table[start : start + size] = pairwise_distances(points[start : start + size], points, metric=metric)
    return table


def _useful_radius(target: FloatArray, centers: FloatArray) -> float:
    """Return the largest distance of a target point to its centre: a source point farther from all of them helps nobody."""
    farthest = float(_nearest(target, centers, "euclidean").distances.max())
    return min(max(farthest, SMALLEST_RADIUS), DIAMETER)


def _ball_around(points: FloatArray) -> Ball:
    center = points.mean(axis=0)
    radius = float(np.sqrt(np.max(np.sum((points - center) ** 2, axis=1))))
    return Ball(max(radius, 1e-9 * max(1.0, float(np.abs(center).max()))), center)


def _public_matrix(where: str, target: object) -> FloatArray:
    """Return the public target as finite doubles; unlike private rows, bad ones are named."""
    table: Any = target
    if hasattr(target, "__arrow_c_stream__"):
        table = _table_matrix(where, target)
    matrix = as_matrix(where, table).astype(np.float64)
    if not len(matrix):
        validate.refuse(where, "at least one row", matrix.shape, remedy="Pass the public points to choose from.")
    bad = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
    if bad.size:
        raise DataError(
            f"{where}: expected finite numbers, got others in row {bad[0]}. The target is public: drop or fill them."
        )
    return matrix


def _table_matrix(where: str, target: object) -> FloatArray:
    rows = open_rows(target, n_jobs=1, where=where)
    assert isinstance(rows, LocalRows)
    return np.concatenate([np.empty((0, rows.n_features)), *rows.blocks()])


def _check_metric(where: str, metric: object, probe: FloatArray) -> None:
    try:
        pairwise_distances(probe, metric=metric)
    except (TypeError, ValueError, KeyError):
        validate.refuse(where, "a distance that scikit-learn knows", metric, remedy='Pass "euclidean", "manhattan", ...')


def _details(target: FloatArray, sanitized: FloatArray, counts: FloatArray, chosen: IntArray, cost: float) -> dict[str, Any]:
    """Return what a report draws; the target is public, so a part of it may be shown."""
    step = max(1, len(target) // LARGEST_PICTURE)
    return {
        "target": np.round(target[::step][:LARGEST_PICTURE], 6).tolist(),
        "n_target": len(target),
        "sanitized_source": np.round(sanitized, 6).tolist(),
        "sanitized_counts": np.round(counts, 2).tolist(),
        "medoid_indices": chosen.tolist(),
        "target_cost": cost,
    }
