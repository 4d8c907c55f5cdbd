# SPDX-License-Identifier: Apache-2.0
"""SourceTargetKMedoids: cover a public target by k of its own points, while a private source already covers part of it."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any, Self

import numpy as np
import numpy.typing as npt
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
from cloister.cluster._target import Target, all_pairs, ball_around, check_metric, extent_of, picture_of, read_target
from cloister.data import Rows, open_rows
from cloister.domain import Domain, FloatArray, Frame, IntArray
from cloister.exceptions import DataError
from cloister.privacy import GDP, Guarantee, Ledger, PureDP
from cloister.questions import Ask, Cost
from cloister.release import Release, library_versions, nearest_point

__all__ = ["SourceTargetKMedoids"]

METHODS = ("nas", "nna")
CALIBRATIONS = ("paper", "sharp")
SOLVERS = ("auto", "exact", "representatives")
DIAMETER = 2.0  # of the unit ball
MARGIN = (
    3.0  # radius of the default domain over that of the target: what is pulled to its edge is farther than any target point
)
EXACT_TARGETS = 6000  # up to so many target points the solver looks at all pairs
LARGEST_EXACT = 30_000  # target points whose pairs fit into 3.6 gigabytes
COUNT_SHARE = 0.5  # of the budget, for NNA's counts; the rest is for its sums
SMALLEST_RADIUS = 1e-3  # of the unit ball


@dataclass(frozen=True, kw_only=True, eq=False)
class SourceTargetPlan:
    """Everything the public target and public numbers decide before the source is asked."""

    target: FloatArray  # in the unit ball's coordinates
    coreset: Coreset
    solved: IntArray  # target points among which the solver chooses, and on which it measures
    weights: FloatArray
    pairs: npt.NDArray[np.float32]  # their distances, over `scale`
    scale: float
    alone: IntArray  # the choice that ignores the source, as target points
    radius: float  # beyond it no source point can help
    generator: np.random.Generator  # for public choices


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
        Where source points may lie; others are moved to the edge. None takes a ball around the target's mean, which is public:
        the one that holds the target, three times as wide for sharp NNA, whose noise does not depend on it, so that source
        points from afar stay afar.
    calibration : {"sharp", "paper"}, default="sharp"
        Offsets from the target point clipped where they cannot help any more, or the paper's literal sums and noise.
    confidence : float, default=0.99
        An average is used if its noisy count exceeds 1 by more than noise alone stays below with this probability.
    n_neighbors : int, default=150
        Source points each average of NAS is of; at most half the (public or noisy) number of source points.
    coreset_radius : float, default=0.05
        Target points are represented by others within this part of the diameter of the bounds, or of the ball that holds the
        target where there are none; 0 turns it off.
    max_representatives : int, default=4096
        Cap on their number; the radius grows where it is reached.
    metric : str, default="euclidean"
        Distance the solver minimises, any of scikit-learn's that is a function of two points. The private part is Euclidean
        whatever it is.
    solver : {"auto", "exact", "representatives"}, default="auto"
        Choose among all target points, or among `max_representatives` of them; auto is exact up to 6,000 target points.
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
    sanitized_counts_ : array of shape (n_sanitized,)
        Noisy numbers of source points behind them; ones for NAS.
    target_cost_ : float
        Mean distance of a target point to its nearest centre, chosen or sanitised: public, as the solver sees it.
    release_, privacy_receipt_, n_features_in_
        As for :class:`PEMeans`.

    Notes
    -----
    **Privacy.** The target, and all that follows from it, is public. NNA asks two questions: how many source points have each
    representative as their nearest (l2 sensitivity 1), and the sum of their offsets from it, clipped at r (l2 sensitivity r;
    2 r for replacing). r is the largest distance of a target point to its centre when the source is ignored, or the radius of
    the coreset if that is larger: a source point farther than r from every target point is nearer to none of them than that
    centre, so clipping it loses little; averages that end near r are dropped. NAS
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
        self._check_method()
        public = read_target(self._where("target"), target)
        rows = open_rows(source, n_jobs=self.n_jobs, where=self._where("source"))
        self._check_columns(public, rows)
        self._check_solver(public.matrix)
        with self._new_progress() as progress:
            self._public, self._progress = public.matrix, progress
            try:
                fit = self._fit_privately(source, rows, progress)
            finally:
                del self._public, self._progress
            plan, sanitized = fit.outcome
            self._store(public, plan, sanitized, fit, progress)
        return self

    def predict(self, X: object) -> IntArray:
        """Return, for each row of `X`, the index of the nearest chosen point; -1 where a sanitised source point is nearer."""
        check_is_fitted(self)
        rows = read_target(self._where("X"), X).matrix
        if rows.shape[1] != self.n_features_in_:
            raise DataError(
                f"X has {rows.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} features as "
                "input. Pass the same columns."
            )
        return self.release_.predict(rows)

    # -- the parts of a private fit -------------------------------------------------------------------------------------

    def _check_method(self) -> None:
        where = self._where
        validate.one_of(where("method"), self.method, METHODS)
        validate.one_of(where("calibration"), self.calibration, CALIBRATIONS)
        validate.one_of(where("solver"), self.solver, SOLVERS)
        validate.number(where("confidence"), self.confidence, low=0.5, high=1.0, open_high=True)
        validate.integer(where("n_neighbors"), self.n_neighbors, low=1)
        validate.integer(where("n_init"), self.n_init, low=1)
        validate.integer(where("max_representatives"), self.max_representatives, low=1)
        validate.number(where("coreset_radius"), self.coreset_radius, low=0.0, high=1.0)

    def _check_columns(self, public: Target, rows: Rows) -> None:
        width = public.matrix.shape[1]
        if rows.n_features != width:
            raise DataError(
                f"{self._where('source')}: expected {width} columns, as in the target, got {rows.n_features}. "
                "Pass the same columns."
            )
        if None not in (rows.feature_names, public.names) and rows.feature_names != public.names:
            raise DataError(
                f"{self._where('source')}: expected the target's columns in the target's order. Pass the same columns to both."
            )

    def _check_solver(self, target: FloatArray) -> None:
        check_metric(self._where("metric"), self.metric, target[:2])
        if self.solver == "exact" and len(target) > LARGEST_EXACT:
            remedy = 'Pass solver="representatives".'
            validate.refuse(
                self._where("solver"), f"at most {LARGEST_EXACT:,} target points for 'exact'", len(target), remedy=remedy
            )

    @property
    def _margin(self) -> float:
        """How much wider than the target the default domain is."""
        return MARGIN if self.bounds is None and (self.method, self.calibration) == ("nna", "sharp") else 1.0

    def _domain(self, n_features: int) -> Domain:
        return ball_around(self._public, self._margin) if self.bounds is None else super()._domain(n_features)

    def _plan(self, request: Request, frame: Frame) -> SourceTargetPlan:
        progress, public = self._progress, self._public
        progress.expect(5)
        progress.say(f"representing {len(public):,} target points")
        target = frame.to_unit(frame.domain.clip(public))
        most, reach = self.max_representatives, self.coreset_radius * DIAMETER / self._margin
        coreset = tree_coreset(target, reach, max_size=most)
        if self.solver == "exact" or (self.solver == "auto" and len(target) <= EXACT_TARGETS):
            solved, weights = np.arange(len(target)), np.ones(len(target))
        else:  # what the solver looks at costs time, not noise: as many as allowed, and enough to choose from
            finest = tree_coreset(target, 0.0, max_size=max(most, 2 * request.n_clusters))
            solved, weights = finest.indices, finest.weights
        scale = extent_of(public[solved], self.metric)
        pairs = all_pairs(public[solved], self.metric, scale)
        if not np.isfinite(pairs).all():
            remedy = "Pass another metric, or other target points."
            validate.refuse(self._where("metric"), "a distance between any two target points", self.metric, remedy=remedy)
        progress.advance()
        generator = request.entropy.public_generator()
        found = self._solve(
            pairs, weights, None, generator, lambda words: progress.say(f"choosing as if there were no source{words}")
        )
        progress.advance()
        alone = solved[found.indices]
        farthest = float(nearest_point(target, target[alone], "euclidean").distances.max())
        return SourceTargetPlan(
            target=target,
            coreset=coreset,
            solved=solved,
            weights=weights,
            pairs=pairs,
            scale=scale,
            alone=alone,
            # A source point that is farther from all target points is nearer to none of them than the centre it has when
            # the source is ignored. Offsets start at representatives, so they may be as long as the coreset is coarse.
            radius=min(max(farthest, coreset.radius, SMALLEST_RADIUS), DIAMETER),
            generator=generator,
        )

    def _run(
        self, ask: Ask, request: Request, plan: SourceTargetPlan, frame: Frame, progress: Progress
    ) -> tuple[SourceTargetPlan, Sanitized]:
        points = plan.target[plan.coreset.indices]
        progress.say(f"asking the source about {len(points):,} points")
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
        self,
        pairs: npt.NDArray[np.float32],
        weights: FloatArray,
        caps: FloatArray | None,
        generator: np.random.Generator,
        say: Callable[[str], None],
    ) -> Medoids:
        passes = count(1)
        say("")
        return choose_medoids(
            pairs,
            self.n_clusters,
            generator=generator,
            caps=caps,
            weights=weights,
            restarts=self.n_init,
            watch=lambda: say(f", pass {next(passes)}"),
        )

    def _choose(self, public: FloatArray, plan: SourceTargetPlan, progress: Progress) -> IntArray:
        """Choose target points beside the sanitised source: never worse, on public numbers, than the choice that ignores it."""
        caps = nearest_point(public[plan.solved], self.sanitized_source_, self.metric).distances / plan.scale
        found = self._solve(
            plan.pairs, plan.weights, caps, plan.generator, lambda words: progress.say(f"choosing beside the source{words}")
        )
        alone = np.searchsorted(plan.solved, plan.alone)
        ignoring = np.minimum(plan.pairs[alone].min(axis=0), caps) @ plan.weights / plan.weights.sum()
        return plan.solved[found.indices] if found.cost <= ignoring else plan.alone

    def _store(self, public: Target, plan: SourceTargetPlan, sanitized: Sanitized, fit: PrivateFit, progress: Progress) -> None:
        target, frame = public.matrix, fit.frame
        self.sanitized_source_ = frame.from_unit(sanitized.points)
        self.sanitized_counts_ = sanitized.counts
        self.medoid_indices_ = self._choose(target, plan, progress)
        progress.advance()
        progress.say(f"measuring {len(target):,} target points")
        self.cluster_centers_ = target[self.medoid_indices_]
        chosen = nearest_point(target, self.cluster_centers_, self.metric)
        covered = nearest_point(target, self.sanitized_source_, self.metric).distances
        alone = nearest_point(target, target[plan.alone], self.metric).distances
        by_source = covered < chosen.distances
        self.target_cost_ = float(np.mean(np.minimum(chosen.distances, covered)))
        self.privacy_receipt_ = fit.receipt
        served = np.bincount(chosen.indices[~by_source], minlength=len(self.cluster_centers_))
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
            feature_names=fit.feature_names or public.names,
            details={
                "target": picture_of(target),
                "n_target": len(target),
                "sanitized_source": self.sanitized_source_.tolist(),
                "sanitized_counts": np.round(sanitized.counts, 2).tolist(),
                "medoid_indices": self.medoid_indices_.tolist(),
                "target_cost": self.target_cost_,
                "cost_of_chosen": float(np.mean(chosen.distances)),
                "cost_alone": float(np.mean(alone)),
                "served_by_source": int(np.count_nonzero(by_source)),
            },
            versions=library_versions(),
        )
        progress.advance()
