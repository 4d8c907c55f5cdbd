# SPDX-License-Identifier: Apache-2.0
"""GridSynopsis and GridKMeans: one noisy histogram of a grid, uniform or adaptive, used again and again."""

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from cloister import validate
from cloister.algorithms import (
    COUNT_RULES,
    CellNoise,
    GridSplit,
    combine_levels,
    grid_shape,
    split_factors,
)
from cloister.cluster._base import PrivateFit
from cloister.cluster._clusterer import PrivateClusterer
from cloister.cluster._declare import estimator
from cloister.cluster._first import Ready
from cloister.cluster._plan import COUNT, Plan, Planner, Request
from cloister.cluster._scaled import ScaledEstimator
from cloister.columns import Box, FloatArray, Frame, Table
from cloister.exceptions import ParameterError
from cloister.grids import GRID_RULES, cells_per_axis
from cloister.privacy import Cost, Step
from cloister.questions import LARGEST_GRID, Answer, Ask, GridCounts, SplitCounts, check_grid, price_question
from cloister.synopsis import REPRESENTATIVES, Cut, Grid, Points, warn_of_few_cells

ADAPTIVE = "adaptive"  # the rule that splits cells
COARSE_SHARE = 0.5  # of its budget, for the counts that decide which cells are split
MOST_LEAVES = 4  # times the cells of a uniform grid for the whole budget


@dataclass(frozen=True, kw_only=True)
class GridPlan(Plan):
    """How many cells there are, and the question about them; of an adaptive grid, a second one about their parts."""

    cells: tuple[int, ...]
    grid: Step
    parts: Step | None = None


@dataclass(frozen=True, eq=False)
class _Counted:
    """What is made of the noisy answers."""

    points: Points
    restart_seed: int  # for k-means of the cells, on public numbers


@estimator
class _GridEstimator(ScaledEstimator):
    """What both estimators share: the rule, one question, and the synopsis made of its answer.

    Parameters
    ----------
    bounds : (low, high) or Box
        Where rows may lie, known without looking at them. Rows outside are moved to the boundary.
    rule : {"rugnik", "eugkm", "adaptive"}, int or sequence of int, default="rugnik"
        How many cells per axis: by a rule, or given. Where the box is no cube the rule's cells are divided in proportion to
        its widths. "adaptive" splits the cells of a coarse grid further where many rows are: for skewed tables.
    counts : {"nonnegative-total", "clip", "none"}, default="nonnegative-total"
        How noisy counts become weights.
    """

    delta: float = 0.0
    rule: Any = "rugnik"
    counts: str = "nonnegative-total"

    _single_pass: ClassVar[bool] = True

    def _needs_n_rows(self) -> bool:
        return isinstance(self.rule, str)

    def _scaled(self, domain: Table) -> tuple[Table, str]:
        if domain.is_mixed and self.scaling == "auto":  # cells are cut relative to bounds, and have no spread
            return domain, "bounds"
        return super()._scaled(domain)

    def _check_domain(self, domain: Table) -> None:
        """Refuse columns that are no intervals of equal weight: a grid knows neither levels nor weights nor spreads."""
        plain = all(one.is_interval for one in domain.columns) and self.scaling != "spread"
        if domain.is_declared and (not plain or len({one.weight for one in domain.columns}) > 1):
            rule = "numbers, dates and flags of equal weight, as a grid cuts intervals"
            other = "PointSynopsis" if isinstance(self, GridSynopsis) else "KMeans"
            others = 'categories, cyclic and logarithmic columns, weights, missing="own" and scaling="spread"'
            remedy = f"Leave {others} out, or use {other}."
            validate.refuse(self._where("bounds"), rule, "other columns", remedy=remedy)

    def _plan(self, request: Request, frame: Frame, *, n_rows: float, planner: Planner) -> GridPlan:
        if frame.half_widths is None:
            validate.refuse(self._where("bounds"), "a box", frame.domain, remedy="Pass bounds=(low, high).")
        validate.one_of(self._where("counts"), self.counts, COUNT_RULES)
        cells = self._cells(n_rows, request, planner, frame)
        check_grid(self._where("rule"), cells, frame.n_features)
        question = GridCounts(half_widths=frame.half_widths, cells=(1,) * frame.n_features)
        purpose, share = "Counts in the cells of a grid", COARSE_SHARE if self._splits() else 1.0
        grid = planner.step("grid", purpose, n_points=math.prod(cells), counts=(question, share))
        if not self._splits():
            return GridPlan(cells=cells, grid=grid)
        whole = self._by_rule("rugnik", n_rows, request, planner.budget, frame)
        most = min(LARGEST_GRID, MOST_LEAVES * math.prod(whole))
        purpose = "Counts in the parts of fuller cells"
        parts = planner.step("parts", purpose, n_points=most, counts=(question, 1 - COARSE_SHARE))
        return GridPlan(cells=cells, grid=grid, parts=parts)

    def _splits(self) -> bool:
        return validate.is_word(self.rule, ADAPTIVE)

    def _cells(self, n_rows: float, request: Request, planner: Planner, frame: Frame) -> tuple[int, ...]:
        """Return the cells along each axis: given, or by the rule; of an adaptive grid, of the coarse one."""
        where, n_features = self._where("rule"), frame.n_features
        if isinstance(self.rule, str):
            rule = validate.one_of(where, self.rule, GRID_RULES, remedy="Or pass the number of cells, one or one per column.")
            if rule == ADAPTIVE:
                finer = self._by_rule("rugnik", n_rows, request, planner.budget.share(COARSE_SHARE), frame)
                return tuple(max(1, round(count / 2)) for count in finer)
            return self._by_rule(rule, n_rows, request, planner.budget, frame)
        single = not isinstance(self.rule, Sequence | np.ndarray)
        cells = (self.rule,) * n_features if single else tuple(self.rule)
        remedy = f"Pass one of {', '.join(GRID_RULES)}, a whole number, or one per column."
        return tuple(validate.integer(where, count, low=1, remedy=remedy) for count in cells)

    def _by_rule(self, rule: str, n_rows: float, request: Request, budget: Cost, frame: Frame) -> tuple[int, ...]:
        """Return the cells along each axis of a uniform grid, with the epsilon of Laplace noise of the same strength."""
        n_features, half_widths = frame.n_features, frame.half_widths
        assert half_widths is not None
        probe = GridCounts(half_widths=half_widths, cells=(1,) * n_features)
        epsilon = 1.0  # where no noise can be drawn, which is refused in a moment
        with suppress(ParameterError):
            epsilon = price_question(probe, budget, request.relation).laplace_epsilon
        k = request.n_clusters
        per_axis = cells_per_axis(rule, epsilon=epsilon, n_rows=n_rows, n_features=n_features, n_clusters=k)
        return grid_shape(per_axis, half_widths)

    def _run(self, ask: Ask, plan: GridPlan, frame: Frame, *, n_rows: float, generator: np.random.Generator) -> _Counted:
        assert frame.half_widths is not None
        answer = ask(GridCounts(half_widths=frame.half_widths, cells=plan.cells), plan.grid["counts"])
        counts, split = self._split(ask, plan, frame, answer, n_rows)
        cells = plan.cells if split is None else split.cells
        grid = Grid(box=Box(*frame.domain.ranges), cells=cells, counts=self.counts, split=split)
        points = Points(frame=frame, noisy_counts=counts, sigma=answer.sigma, grid=grid)
        total: float | None = None  # the sum of all cells
        if self.n_rows is not None and self._counts_units():
            total = n_rows
        elif counted := [step["counts"].sigma for step in plan.preliminary if step.name == COUNT]:
            # What the count of rows and the sum of all cells say together.
            first, second = counted[0] ** -2, points.sum_error**-2
            total = max(0.0, (first * n_rows + second * float(points.noisy_counts.sum())) / (first + second))
        return _Counted(replace(points, total=total), int(generator.integers(2**32)))

    def _split(
        self, ask: Ask, plan: GridPlan, frame: Frame, answer: Answer, n_rows: float
    ) -> tuple[FloatArray, GridSplit | None]:
        """Split the fuller cells of an adaptive grid and count their parts; return the counts of all leaves."""
        if plan.parts is None:
            return answer.value.ravel(), None
        assert frame.half_widths is not None
        query = plan.parts["counts"]
        factors = split_factors(
            answer.value,
            n_rows=n_rows,
            n_clusters=self.n_clusters,
            sigma=answer.sigma,
            finer_sigma=query.sigma,
            most_leaves=plan.parts.n_points,
        )
        if factors.max() == 1:
            return answer.value.ravel(), None
        finer = ask(SplitCounts(half_widths=frame.half_widths, cells=plan.cells, factors=factors), query)
        split = GridSplit(factors, finer.sigma)
        return combine_levels(answer.value, CellNoise(answer.sigma, split), finer.value), split


@estimator
class GridSynopsis(_GridEstimator):
    """A noisy histogram of the whole table: paid for once, then asked as often as you like.

    Parameters
    ----------
    n_clusters : int, default=8
        How many clusters the grid should be able to tell apart; a hint for the rule, not a limit for ``synopsis_.cut``.

    Attributes
    ----------
    synopsis_ : Synopsis
        What may be published, and used again and again: :meth:`Synopsis.cut`, `choose_k`, `count`, `sample`, ...

    Notes
    -----
    **Privacy.** One question: how many rows lie in each cell. l1 sensitivity 1 for adding or removing a row, 2 for replacing
    one. Every cell is noised, empty ones included, so a grid of more than 2^24 cells is refused. An adaptive grid asks a
    second question of the same sensitivity, for half of the budget: how many rows lie in each part of the cells that the
    first, noisy, answer says are worth splitting. Everything after ``fit`` is post-processing.

    Examples
    --------
    >>> rows = [[0.2, 0.2]] * 300 + [[0.8, 0.7]] * 200
    >>> model = GridSynopsis(n_clusters=2, epsilon=2.0, bounds=(0, 1), random_state=0).fit(rows)
    >>> model.synopsis_.cut(2, random_state=0).cluster_centers.round(1).shape
    (2, 2)
    """

    def _store(self, fit: PrivateFit) -> None:
        self.synopsis_ = self._synopsis(fit.outcome.points, fit)
        self.privacy_receipt_ = fit.receipt


@estimator
class GridKMeans(_GridEstimator, PrivateClusterer):
    """Non-interactive k-means: a noisy histogram of a uniform grid, then weighted k-means of its cells.

    Parameters
    ----------
    representatives : {"center", "slope"}, default="center"
        Where a cell's rows are taken to be.
    n_init : int, default=10
        Restarts, on public numbers.

    Attributes
    ----------
    synopsis_ : Synopsis
        The histogram, to be used again at no further cost.

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

    representatives: str = "center"
    n_init: int = 10

    def _plan(self, request: Request, frame: Frame, *, n_rows: float, planner: Planner) -> GridPlan:
        validate.one_of(self._where("representatives"), self.representatives, REPRESENTATIVES)
        self._whole("n_init")
        return super()._plan(request, frame, n_rows=n_rows, planner=planner)

    def _store(self, fit: PrivateFit) -> None:
        self.synopsis_ = self._synopsis(fit.outcome.points, fit)
        release = self.synopsis_.release_of(self._solve(fit.outcome), representatives=self.representatives)
        self._publish(replace(release, profiles=fit.profiles), n_rounds=1)
        warn_of_few_cells("GridKMeans", fit.outcome.points.grid, self.n_clusters)  # what was paid for is stored

    def _solve(self, counted: _Counted) -> Cut:
        seed, where = counted.restart_seed, self.representatives
        return counted.points.solve(self.n_clusters, n_init=self.n_init, representatives=where, random_state=seed)

    def _found_centers(self, outcome: _Counted, ready: Ready) -> FloatArray:
        return ready.frame.clip_unit(self._solve(outcome).centers)
