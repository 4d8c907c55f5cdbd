# SPDX-License-Identifier: Apache-2.0
"""GridSynopsis and GridKMeans: one noisy histogram of a uniform grid, used again and again."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from cloister import validate
from cloister.algorithms import COUNT_RULES, GRID_RULES, cells_per_axis, grid_shape
from cloister.cluster._base import PrivateClusterer, PrivateEstimator, PrivateFit, Request, count_rows
from cloister.cluster._progress import Progress
from cloister.data import single_pass
from cloister.domain import Box, FloatArray, Frame
from cloister.privacy import Guarantee, Ledger, price
from cloister.questions import Ask, Cost, GridCounts, check_grid
from cloister.release import Release, library_versions
from cloister.synopsis import REPRESENTATIVES, KChoice, RangeCount, Synopsis

if TYPE_CHECKING:
    import os

    import pyarrow as pa

__all__ = ["GridKMeans", "GridSynopsis"]


@dataclass(frozen=True, kw_only=True)
class GridPlan:
    """How many cells, or the rule that will say so once the number of rows is known."""

    rule: str | None
    cells: tuple[int, ...] | None
    counts: str


@dataclass(frozen=True, eq=False)
class GridAnswer:
    """The one noisy answer a synopsis rests on."""

    noisy_counts: FloatArray
    sigma: float
    total: float | None


class _GridEstimator(PrivateEstimator):
    """What both estimators share: the rule, one question, and the synopsis made of its answer."""

    rule: Any
    counts: str

    def _plan(self, request: Request, frame: Frame) -> GridPlan:
        if not isinstance(frame.domain, Box):
            validate.refuse(self._where("bounds"), "a box", frame.domain, remedy="Pass bounds=(low, high).")
        counts = validate.one_of(self._where("counts"), self.counts, COUNT_RULES)
        where = self._where("rule")
        if isinstance(self.rule, str):
            rule = validate.one_of(where, self.rule, GRID_RULES, remedy="Or pass the number of cells, one or one per column.")
            if request.n_rows is not None:  # a grid that is too large is refused before anything is spent
                check_grid(where, self._cells(rule, float(request.n_rows), request, request.cost, frame), frame.n_features)
            return GridPlan(rule=rule, cells=None, counts=counts)
        single = not isinstance(self.rule, Sequence | np.ndarray)
        cells = (self.rule,) * frame.n_features if single else tuple(self.rule)
        remedy = f"Pass one of {', '.join(GRID_RULES)}, a whole number, or one per column."
        checked = tuple(validate.integer(where, count, low=1, remedy=remedy) for count in cells)
        check_grid(where, checked, frame.n_features)
        return GridPlan(rule=None, cells=checked, counts=counts)

    def _run(self, ask: Ask, request: Request, plan: GridPlan, frame: Frame, progress: Progress) -> GridAnswer:
        progress.expect(1)
        total: float | None = None if request.n_rows is None else float(request.n_rows)
        cost, cells = request.cost, plan.cells
        if cells is None:
            assert plan.rule is not None
            total, cost = count_rows(ask, request)
            cells = self._cells(plan.rule, total, request, cost, frame)
        assert frame.half_widths is not None
        answer = ask(GridCounts(half_widths=frame.half_widths, cells=cells), cost)
        progress.advance()
        return GridAnswer(answer.value, answer.sigma, total)

    def _cells(self, rule: str, n_rows: float, request: Request, cost: Cost, frame: Frame) -> tuple[int, ...]:
        """Apply the rule, with the epsilon of a Laplace mechanism that is as noisy as what will be drawn."""
        assert frame.half_widths is not None
        probe = GridCounts(half_widths=frame.half_widths, cells=(1,) * frame.n_features)
        l1, l2 = probe.l1_sensitivity(request.relation), probe.l2_sensitivity(request.relation)
        noise = price(cost, question_name="", size=1, l1=l1, l2=l2, unit=1.0, relation=request.relation, seeded=False)
        laplace = noise.mechanism == "discrete_laplace"
        epsilon = 1 / noise.scale if laplace else 2.0**0.5 / noise.standard_deviation
        per_axis = cells_per_axis(
            rule, n_rows=n_rows, n_features=frame.n_features, n_clusters=request.n_clusters, epsilon=epsilon
        )
        return grid_shape(per_axis, frame.half_widths)

    def _synopsis(self, fit: PrivateFit) -> Synopsis:
        domain = fit.frame.domain
        assert isinstance(domain, Box)
        return Synopsis(
            noisy_counts=fit.outcome.noisy_counts,
            domain=domain,
            scaling=self.scaling,
            sigma=fit.outcome.sigma,
            counts=self.counts,
            receipt=fit.receipt,
            total=fit.outcome.total,
            feature_names=fit.feature_names,
            versions=library_versions(),
        )


class GridSynopsis(_GridEstimator):
    """A noisy histogram of the whole table: paid for once, then asked as often as you like.

    Parameters
    ----------
    n_clusters : int, default=8
        How many clusters the grid should be able to tell apart; a hint for the rule, not a limit for :meth:`kmeans`.
    epsilon, delta : float, default=1.0 and 0.0
        The guarantee. ``delta=0`` is pure differential privacy with discrete Laplace noise, the better choice for one
        histogram; ``delta > 0`` uses Gaussian noise.
    guarantee : PureDP, ApproxDP, ZCDP or GDP, optional
        Replaces `epsilon` and `delta`.
    bounds : (low, high) or Box
        Where rows may lie, known without looking at them. Rows outside are moved to the boundary.
    rule : {"rugnik", "eugkm"}, int or sequence of int, default="rugnik"
        How many cells per axis: by a rule, or given. Where the box is no cube the rule's cells are divided in proportion to
        its widths.
    counts : {"nonnegative-total", "clip", "none"}, default="nonnegative-total"
        How noisy counts become weights.
    scaling, neighbours, n_rows, ledger, random_state, n_jobs, progress
        As for :class:`PEMeans`. With a rule and ``n_rows=None``, 2 % of the budget is spent on the number of rows.

    Attributes
    ----------
    synopsis_ : Synopsis
        What may be published; all methods here are its own.
    privacy_receipt_ : Receipt
        Guarantee and events.
    n_features_in_ : int
        Columns.

    Notes
    -----
    **Privacy.** One question: how many rows lie in each cell. l1 sensitivity 1 for adding or removing a row, 2 for replacing
    one. Every cell is noised, empty ones included, so a grid of more than 2^24 cells is refused. Everything after
    ``fit`` is post-processing.

    Examples
    --------
    >>> rows = [[0.2, 0.2]] * 300 + [[0.8, 0.7]] * 200
    >>> synopsis = GridSynopsis(n_clusters=2, epsilon=2.0, bounds=(0, 1), random_state=0).fit(rows)
    >>> synopsis.kmeans(2, random_state=0).cluster_centers.round(1).shape
    (2, 2)
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        epsilon: float = 1.0,
        delta: float = 0.0,
        guarantee: Guarantee | None = None,
        bounds: Any = None,
        scaling: str = "none",
        neighbours: str = "add-remove",
        n_rows: int | None = None,
        rule: Any = "rugnik",
        counts: str = "nonnegative-total",
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
        self.rule = rule
        self.counts = counts
        self.ledger = ledger
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(self, X: object, y: object = None) -> Self:
        """Count the rows in the cells, with noise. Takes whatever :func:`cloister.open_rows` opens; `y` is ignored."""
        fit = self._fit_privately(X, single_pass(self._open(X)))
        self.synopsis_ = self._synopsis(fit)
        self.privacy_receipt_ = fit.receipt
        return self

    def kmeans(self, n_clusters: int | None = None, **options: Any) -> Release:
        """Cluster the cells; see :meth:`Synopsis.kmeans`."""
        return self._fitted().kmeans(self.n_clusters if n_clusters is None else n_clusters, **options)

    def choose_k(self, n_clusters: Iterable[int] = range(1, 13), **options: Any) -> KChoice:
        """Compare numbers of clusters; see :meth:`Synopsis.choose_k`."""
        return self._fitted().choose_k(n_clusters, **options)

    def count(self, box: Any) -> RangeCount:
        """Count rows in a box; see :meth:`Synopsis.count`."""
        return self._fitted().count(box)

    def sample(self, n_rows: int, **options: Any) -> FloatArray:
        """Draw synthetic rows; see :meth:`Synopsis.sample`."""
        return self._fitted().sample(n_rows, **options)

    def marginal(self, columns: Sequence[int | str]) -> Synopsis:
        """Return the synopsis of some columns; see :meth:`Synopsis.marginal`."""
        return self._fitted().marginal(columns)

    def to_arrow(self) -> "pa.Table":
        """Return one row per cell; see :meth:`Synopsis.to_arrow`."""
        return self._fitted().to_arrow()

    def save(self, path: "str | os.PathLike[str]") -> None:
        """Write the synopsis to a file; see :meth:`Synopsis.save`. :func:`cloister.load_synopsis` reads it."""
        self._fitted().save(path)

    def _fitted(self) -> Synopsis:
        check_is_fitted(self)
        return self.synopsis_


class GridKMeans(_GridEstimator, PrivateClusterer):
    """Non-interactive k-means: a noisy histogram of a uniform grid, then weighted k-means of its cells.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of centres; always exactly so many are returned.
    epsilon, delta : float, default=1.0 and 0.0
        The guarantee; pure differential privacy with discrete Laplace noise by default, Gaussian noise for ``delta > 0``.
    guarantee : PureDP, ApproxDP, ZCDP or GDP, optional
        Replaces `epsilon` and `delta`.
    bounds : (low, high) or Box
        Where rows may lie, known without looking at them.
    rule : {"rugnik", "eugkm"}, int or sequence of int, default="rugnik"
        How many cells per axis.
    counts : {"nonnegative-total", "clip", "none"}, default="nonnegative-total"
        How noisy counts become weights.
    representatives : {"center", "slope"}, default="center"
        Where a cell's rows are taken to be.
    n_init : int, default=10
        Restarts, on public numbers.
    scaling, neighbours, n_rows, ledger, random_state, n_jobs, progress
        As for :class:`PEMeans`. With a rule and ``n_rows=None``, 2 % of the budget is spent on the number of rows.

    Attributes
    ----------
    synopsis_ : Synopsis
        The histogram, to be used again at no further cost.
    cluster_centers_, cluster_counts_, release_, privacy_receipt_, labels_, n_features_in_, n_iter_
        As for :class:`PEMeans`.

    Notes
    -----
    **Privacy.** One question, as for :class:`GridSynopsis`; the centres are post-processing of its answer.

    Cells number m^d: grids are for few columns (up to about 6). RUGNIK is the rule of Muthukrishnan and Tandon (2026), EUGkM
    that of Su et al. (2017); both papers use Laplace noise, here it is discrete Laplace, and counts are projected.

    Examples
    --------
    >>> rows = [[0.2, 0.2]] * 300 + [[0.8, 0.7]] * 200
    >>> model = GridKMeans(n_clusters=2, epsilon=2.0, bounds=(0, 1), random_state=0).fit(rows)
    >>> model.cluster_centers_.shape, model.privacy_receipt_.guarantee
    ((2, 2), PureDP(epsilon=2.0))
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        epsilon: float = 1.0,
        delta: float = 0.0,
        guarantee: Guarantee | None = None,
        bounds: Any = None,
        scaling: str = "none",
        neighbours: str = "add-remove",
        n_rows: int | None = None,
        rule: Any = "rugnik",
        counts: str = "nonnegative-total",
        representatives: str = "center",
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
        self.rule = rule
        self.counts = counts
        self.representatives = representatives
        self.n_init = n_init
        self.ledger = ledger
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def _plan(self, request: Request, frame: Frame) -> GridPlan:
        validate.one_of(self._where("representatives"), self.representatives, REPRESENTATIVES)
        validate.integer(self._where("n_init"), self.n_init, low=1)
        return super()._plan(request, frame)

    def _run(self, ask: Ask, request: Request, plan: GridPlan, frame: Frame, progress: Progress) -> GridAnswer:
        answer = super()._run(ask, request, plan, frame, progress)
        self._restart_seed = int(request.entropy.public_generator().integers(2**32))
        return answer

    def _store(self, fit: PrivateFit) -> None:
        self.synopsis_ = self._synopsis(fit)
        release = self.synopsis_.kmeans(
            self.n_clusters, n_init=self.n_init, representatives=self.representatives, random_state=self._restart_seed
        )
        self._publish(release, n_rounds=1)
