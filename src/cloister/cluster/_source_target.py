# SPDX-License-Identifier: Apache-2.0
"""SourceTargetKMedoids: cover a public target by k of its own points, while a private source already covers part of it."""

import math
from copy import copy
from dataclasses import field, replace
from typing import Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from cloister import validate
from cloister.algorithms import Sanitized, nearest_averages, neighbour_averages, neighbour_distance
from cloister.cluster._base import PrivateEstimator, PrivateFit, plan_fit
from cloister.cluster._declare import estimator
from cloister.cluster._plan import Decision, Planner, Request
from cloister.cluster._progress import Progress
from cloister.cluster._target import Problem, Representatives, Target, ball_around, check_metric, read_target, state_problem
from cloister.cluster._target_forecast import SourceTargetForecast, SourceTargetPlan, forecast, largest_noise, paper_noise_ratio
from cloister.columns import Ball, Box, FloatArray, Frame, IntArray, Table
from cloister.data import Rows, open_rows
from cloister.exceptions import DataError, without_sizes
from cloister.privacy import Guarantee
from cloister.questions import Ask, NearestCounts, NearestSums, NeighbourDistance, NeighbourMeans
from cloister.release import Release

METHODS = ("nas", "nna")
CALIBRATIONS = ("paper", "sharp")
SOLVERS = ("auto", "exact", "representatives")
MARGIN = 3.0  # radius of the default domain over the target's: what is moved to its edge is farther than any target point
LARGEST_EXACT = 30_000  # target points whose pairs fit into 3.6 gigabytes
LARGEST_DISTANCE_SHARE = 0.9
COUNT_SHARE = 0.5  # of the budget, for NNA's counts; the rest is for its sums
ASK, MEASURE = "source", "distance"  # the steps


@estimator
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
    bounds : (low, high), Box or Ball, optional
        Where source points may lie; others are moved to the edge. None takes a ball around the target's mean, which is public:
        the one that holds the target, three times as wide for sharp NNA, whose noise does not depend on it, so that source
        points from afar stay afar.
    calibration : {"sharp", "paper"}, default="sharp"
        Offsets from the target point clipped where they cannot help any more, and exact noise; or the paper's literal sums and
        noise. With a delta, the noise of NNA is the paper's Laplace noise, which needs none; that of NAS differs from the exact
        one with a delta only.
    confidence : float, default=0.99
        An average is used if its noisy count exceeds 1 by more than noise alone stays below with this probability.
    n_neighbors : int, default=150
        Source points each average of NAS is of; at most half the (public or noisy) number of source points.
    distance_share : float, default=0.0
        Part of the budget of NAS that buys `neighbor_distance_`, and with it a bound on the error; at most 0.9.
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
    n_rows : int, optional
        The number of source points (with `privacy_unit`, of persons), if it is public, which ``len(source)`` is not; only NAS
        uses it. None spends 2 % of the budget on a noisy count.

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
    neighbor_distance_ : float or None
        Noisy mean distance of a target point's representative to its `n_neighbors` nearest source points; None where it was
        not bought.
    error_bound_ : float or None
        By how much the sanitised source misjudges the cost of a choice, at most, with probability 2 `confidence` - 1.
    release_ : Release
        What may be published.

    Notes
    -----
    **Privacy.** The target, and all that follows from it, is public. NNA asks two questions: how many source points have each
    representative as their nearest (l2 sensitivity 1), and the sum of their offsets from it, clipped at r (l2 sensitivity r;
    2 r for replacing). r is the largest distance of a target point to its centre when the source is ignored, or the radius of
    the coreset if that is larger: a source point farther than r from every target point is nearer to none of them than that
    centre, so clipping it loses little; averages that end near r are dropped. NAS
    asks one question, the mean of the t nearest source points of each of n representatives: l2 sensitivity sqrt(n) times the
    diameter over t; with a `distance_share`, also their mean distance (l2 sensitivity the diameter over t). Everything after is
    post-processing.

    The methods are those of Schnapp and Sabato, *Differentially Private Source-Target Clustering* (2025). Where they choose
    by AkM (de Mathelin et al. 2022), a search by swaps stands for it here.

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

    method: str = "nna"
    delta: float = 0.0
    calibration: str = "sharp"
    confidence: float = 0.99
    n_neighbors: int = 150
    distance_share: float = 0.0
    coreset_radius: float = 0.05
    max_representatives: int = 4096
    metric: str = "euclidean"
    solver: str = "auto"
    n_init: int = 3
    _asked: Representatives | None = field(default=None, init=False)  # during a fit

    @without_sizes
    def fit(
        self, target: object, y: object = None, *, source: object = None, privacy_unit: object = None, **unknown: object
    ) -> Self:
        """Choose target points.

        Parameters
        ----------
        target : array-like, data frame or Arrow object
            Public; its values must be finite.
        y : None
            Ignored.
        source : whatever :func:`cloister.open_rows` opens
            Private, with the same columns as the target; and a column of ids, if `privacy_unit` names one.
        privacy_unit : array-like of shape (n_source,), optional
            Whose source point each is, for a source in memory that has no column of ids.

        Returns
        -------
        self
            Fitted.
        """
        if source is None:
            validate.refuse(self._where("source"), "the private table", None, remedy="Pass fit(target, source=rows).")
        with self._with_ids(privacy_unit, unknown):
            request = self._request()
            self._check_method()
            public = read_target(self._where("target"), target)
            options = {} if isinstance(source, Rows) else self._unit_options()
            rows = open_rows(source, n_jobs=self.n_jobs, where=self._where("source"), **options)
            if isinstance(source, Rows):
                self._check_ids(rows)
            width = public.matrix.shape[1]
            if rows.n_features != width:
                raise DataError(
                    f"{self._where('source')}: expected {width} columns, as in the target, got {rows.n_features}. "
                    "Pass the same columns."
                )
            if None not in (rows.feature_names, public.names) and rows.feature_names != public.names:
                raise DataError(
                    f"{self._where('source')}: expected the target's columns in the target's order. Pass the same columns to "
                    "both."
                )
            check_metric(self._where("metric"), self.metric, public.matrix[:2])
            with self._new_progress() as progress:
                problem = self._state_problem(public, request, progress)
                self._asked = problem.asked
                try:
                    fit = self._fit_privately(source, rows, progress)
                finally:
                    del self._asked
                self._store(public, problem, fit, progress)
        return self

    def plan(
        self,
        target: object = None,
        *,
        n_rows: int | None = None,
        n_points: int | None = None,
        n_features: int | None = None,
    ) -> SourceTargetForecast:
        """Say, from public numbers alone, how noisy the answers will be and what the noise adds to the error at most.

        Parameters
        ----------
        target : array-like, data frame or Arrow object, optional
            The public target.
        n_rows : int, optional
            About how many rows the source has, where the estimator's own `n_rows` does not say; at least twice `n_neighbors`
            if left out. Only NAS uses it.
        n_points, n_features : int, optional
            Without a target: how many representatives it will have, and columns. Lengths are in units of the diameter then,
            unless there are bounds.

        Returns
        -------
        SourceTargetForecast
            Noise, the additive terms of the theorems, and sentences. Nothing is read of the source, and nothing spent.

        Examples
        --------
        >>> from cloister import SourceTargetKMedoids, ZCDP
        >>> model = SourceTargetKMedoids(10, method="nas", guarantee=ZCDP(3.0), n_rows=5000)
        >>> round(model.plan(n_points=100, n_features=2).noise_term, 3)
        0.177
        """
        request = self._request()
        self._check_method()
        rows = n_rows if n_rows is not None else request.n_rows if request.n_rows is not None else 2 * self.n_neighbors
        rows = validate.integer(self._where("n_rows"), rows, low=0)
        model = copy(self)
        if target is not None:
            public = read_target(self._where("target"), target)
            check_metric(self._where("metric"), self.metric, public.matrix[:2])
            model._asked = self._state_problem(public, request, self._new_progress()).asked
        else:
            remedy = "Pass plan(target), or n_points and n_features."
            width = validate.integer(self._where("n_features"), n_features, low=1, remedy=remedy)
            points = validate.integer(self._where("n_points"), n_points, low=1, remedy=remedy)
            domain = Ball(0.5, np.zeros(width)) if self.bounds is None else super()._domain(width)
            model._asked = Representatives.unknown(domain.frame(), points)
        plan = plan_fit(model, model._asked.frame.n_features, expected=float(max(rows, 1)))
        assert isinstance(plan, SourceTargetPlan)
        return forecast(model, plan, model._asked, request)

    @without_sizes
    def predict(self, X: object) -> IntArray:
        """Return, for each row of `X`, the index of the nearest chosen point; -1 where a sanitised source point is nearer."""
        check_is_fitted(self)
        rows = read_target(self._where("X"), X).matrix
        self._check_width(rows.shape[1])
        return self.release_.predict(rows)

    # -- checks, and what is public from the start ------------------------------------------------------------------------

    def _check_method(self) -> None:
        where = self._where
        validate.one_of(where("method"), self.method, METHODS)
        validate.one_of(where("calibration"), self.calibration, CALIBRATIONS)
        validate.one_of(where("solver"), self.solver, SOLVERS)
        validate.number(where("confidence"), self.confidence, low=0.5, high=1.0, open_high=True)
        for name in ("n_neighbors", "n_init", "max_representatives"):
            self._whole(name)
        validate.number(where("coreset_radius"), self.coreset_radius, low=0.0, high=1.0)
        share = validate.number(where("distance_share"), self.distance_share, low=0.0, high=LARGEST_DISTANCE_SHARE)
        if share and self.method != "nas":
            rule, remedy = "0 for nna, whose error has no bound", 'Pass method="nas", or leave it out.'
            validate.refuse(where("distance_share"), rule, self.distance_share, remedy=remedy)
        if share and self.metric != "euclidean":
            rule, remedy = "0 for another metric than 'euclidean', which the bound is for", "Leave it out."
            validate.refuse(where("distance_share"), rule, self.distance_share, remedy=remedy)

    def _state_problem(self, public: Target, request: Request, progress: Progress) -> Problem:
        n_target = len(public.matrix)
        if self.solver == "exact" and n_target > LARGEST_EXACT:
            rule = f"at most {LARGEST_EXACT:,} target points for 'exact'"
            validate.refuse(self._where("solver"), rule, n_target, remedy='Pass solver="representatives".')
        sharp = self.bounds is None and (self.method, self.calibration) == ("nna", "sharp")
        margin = MARGIN if sharp else 1.0
        width = public.matrix.shape[1]
        domain = ball_around(public.matrix, margin) if self.bounds is None else super()._domain(width)
        return state_problem(
            self,
            public.matrix,
            domain.frame(),
            coreset_radius=self.coreset_radius / margin,
            generator=request.entropy.public_generator(),
            progress=progress,
        )

    def _check_domain(self, domain: Table) -> None:
        if domain.is_declared:
            remedy = "Pass bounds=(low, high), a Box or a Ball, or leave it out: the ball around the target is taken."
            validate.refuse(self._where("bounds"), "a box or a ball around the target", "declared columns", remedy=remedy)

    def _domain(self, n_features: int, scaled: Box | None = None) -> Table:
        return super()._domain(n_features, scaled) if self._asked is None else self._asked.frame.domain

    # -- the private part -------------------------------------------------------------------------------------------------

    def _request(self) -> Request:
        request = super()._request()
        literal = validate.is_word(self.method, "nna") and validate.is_word(self.calibration, "paper")
        # The paper states no noise of NNA for a delta; that of its Theorem 5.11 needs none.
        with_delta = request.guarantee.stated_delta > 0
        return replace(request, cost=request.guarantee.pure_budget()) if literal and with_delta else request

    def _noisiest(self, request: Request) -> Request:
        request = super()._noisiest(request)
        if request.n_rows is not None or not self._needs_n_rows():
            return request
        return replace(request, n_rows=2 * self.n_neighbors)  # the sums of more neighbours hold more rows of a person

    def _needs_n_rows(self) -> bool:
        return self.method == "nas"

    def _plan(self, request: Request, frame: Frame, *, n_rows: float, planner: Planner) -> SourceTargetPlan:
        known = self._asked
        points = np.zeros((self.max_representatives, frame.n_features)) if known is None else known.points
        n_points = len(points)
        n_neighbors = max(1, min(self.n_neighbors, int(n_rows / 2)))
        if self.method == "nas":
            return self._plan_neighbours(request, planner, points, n_neighbors)
        counts, sums, threshold = COUNT_SHARE, 1 - COUNT_SHARE, None
        if self.calibration == "paper":
            counts, sums, threshold = self._paper_shares(planner, frame.n_features)
        step = planner.step(
            ASK,
            "Number and mean of the source points near each point",
            n_points=n_points,
            counts=(NearestCounts(points=points[:1]), counts),
            sums=(NearestSums(points=points[:1], radius=1.0), sums),
        )
        return SourceTargetPlan(source=step, n_neighbors=n_neighbors, threshold=threshold)

    def _plan_neighbours(self, request: Request, planner: Planner, points: FloatArray, n_neighbors: int) -> SourceTargetPlan:
        means, distance = NeighbourMeans(points=points, n_neighbors=n_neighbors), None
        if self.distance_share:
            asked = NeighbourDistance(points=points, n_neighbors=n_neighbors, weights=np.ones(len(points), dtype=np.int64))
            words = "Mean distance to the source points near each point"
            distance = planner.step(MEASURE, words, n_points=len(points), distance=(asked, self.distance_share))
        share = (1 - self.distance_share) * self._paper_part(request.guarantee, planner, len(points))
        words = "Mean of the source points near each point"
        step = planner.step(ASK, words, n_points=len(points), means=(means, share))
        return SourceTargetPlan(source=step, distance=distance, n_neighbors=n_neighbors, threshold=None)

    def _paper_part(self, guarantee: Guarantee, planner: Planner, n_points: int) -> float:
        """Return the part of the budget at which the noise of NAS is the calibration's.

        The paper's noise for (epsilon, delta) is far larger than the guarantee needs; the ledger is charged for what it has.
        For pure epsilon and for rho it is the exact mechanism's.
        """
        if self.calibration == "sharp" or not guarantee.stated_delta:
            return 1.0
        ratio = paper_noise_ratio(guarantee.strength, guarantee.stated_delta, n_points)
        whole = planner.budget.share(1 - self.distance_share).deviation(l1=1.0, l2=1.0)
        if ratio < whole:
            rule = "'sharp' where the paper's noise is less than the guarantee needs"
            validate.refuse(self._where("calibration"), rule, "paper", remedy="Pass 'sharp', or a smaller epsilon.")
        return planner.budget.share_for_noise(whole / ratio)

    def _paper_shares(self, planner: Planner, n_features: int) -> tuple[float, float, float | None]:
        """Return the shares that give the paper's noise: b = (sqrt(d) + 1) / epsilon, or sigma = sqrt(2 / rho), on both.

        The paper scales points to norm at most 1/2, so in the unit ball its sums and their noise are twice as large. Its sums
        have half the sensitivity it states; the ledger is charged for what they have.
        """
        if planner.budget.is_gaussian:
            return 1 / 4, 1 / 16, None
        parts = n_features**0.5 + 1
        privacy_unit = planner.relation.privacy_unit  # the noise of a count, over that of one that a row moves by 1
        noise = 1.0 if privacy_unit is None else privacy_unit.factor / privacy_unit.steps
        threshold = 1 + noise * math.log(parts / (1 - self.confidence)) / planner.budget.strength
        return 1 / parts, n_features**0.5 / (2 * parts), threshold

    def _run(
        self, ask: Ask, plan: SourceTargetPlan, frame: Frame, *, n_rows: float, generator: np.random.Generator
    ) -> Sanitized:
        asked, n_neighbors = self._asked, plan.n_neighbors
        assert asked is not None
        if self.method == "nas":
            found = neighbour_averages(ask, plan.source["means"], asked.points, n_neighbors=n_neighbors)
            if plan.distance is None:
                return found
            query, points, confidence = plan.distance[MEASURE], asked.points, self.confidence
            distance = neighbour_distance(ask, query, points, asked.weights, n_neighbors=n_neighbors, confidence=confidence)
            return replace(found, distance=distance)
        literal = self.calibration == "paper"
        return nearest_averages(
            ask,
            plan.source,
            asked.points,
            radius=1.0 if literal else asked.radius,
            confidence=self.confidence,
            from_origin=literal,
            threshold=plan.threshold,
        )

    def _decisions(self, outcome: Sanitized) -> dict[str, Decision]:
        return {ASK: Decision(figures={"n_kept": float(len(outcome.points))})}

    # -- the choice, on public numbers ------------------------------------------------------------------------------------

    def _store(self, public: Target, problem: Problem, fit: PrivateFit, progress: Progress) -> None:
        target, sanitized = public.matrix, fit.outcome
        self.sanitized_source_ = fit.frame.from_unit(sanitized.points)
        self.sanitized_counts_ = sanitized.counts
        self.medoid_indices_ = problem.choose(self.sanitized_source_, progress)
        progress.say(f"measuring {len(target):,} target points")
        self.cluster_centers_ = target[self.medoid_indices_]
        cover = problem.cover(self.medoid_indices_, self.sanitized_source_)
        self.target_cost_ = cover.details["target_cost"]
        bound = self._bound(problem.asked, fit)
        self.neighbor_distance_, self.error_bound_ = bound.get("neighbor_distance"), bound.get("error_bound")
        self.privacy_receipt_ = fit.receipt
        self.release_ = Release(
            **{**self._about(fit), "feature_names": fit.feature_names or public.names},
            parameters=self._public_parameters(),
            cluster_centers=self.cluster_centers_,
            center_errors=np.zeros_like(self.cluster_centers_),
            cluster_counts=cover.served,
            count_errors=np.zeros(len(self.cluster_centers_)),
            domain=fit.frame.domain,
            details={
                **cover.details,
                "sanitized_source": self.sanitized_source_.tolist(),
                "sanitized_counts": np.round(sanitized.counts, 2).tolist(),
                "medoid_indices": self.medoid_indices_.tolist(),
                **bound,
            },
        )

    def _bound(self, asked: Representatives, fit: PrivateFit) -> dict[str, float]:
        """Return the distance to the source and what it says of the error, in units of the input, if it was bought."""
        distance, plan, unit = fit.outcome.distance, fit.plan, fit.frame.distance_unit
        if distance is None:
            return {}
        assert isinstance(plan, SourceTargetPlan)
        bound = distance.high + largest_noise(plan, asked, 1 - self.confidence) + asked.coreset_radius
        figures = {"neighbor_distance": distance.value, "neighbor_distance_error": distance.error, "error_bound": bound}
        return {name: unit * value for name, value in figures.items()}
