# SPDX-License-Identifier: Apache-2.0
"""KMeans of few rows: one noisy histogram of a grid, whose cells stand for the rows.

Votes and sums divide the budget among ten questions or more. Where rows are so few that noise would hide their clusters, a
single question tells more: how many rows lie in each cell. The centres are then a cut of the cells. A grid is of no use where
bounds are much wider than the rows, so a coarse one is asked first; where most rows turn out to lie in a few of its cells, the
rest of the budget goes to votes and sums, which look closer.

Of a single answer Laplace noise is smaller than Gaussian noise at the same epsilon, so these questions draw it: a fit that is
epsilon-DP is (epsilon, delta)-DP for every delta.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from cloister.algorithms import grid_shape
from cloister.cluster._kmeans_plan import KMeansPlan, make_plan
from cloister.cluster._kmeans_recipe import GAUSSIAN, PURE
from cloister.cluster._plan import Outcome, Plan, Planner, Request
from cloister.columns import Box, FloatArray, Frame
from cloister.privacy import Step
from cloister.questions import Answer, Ask, GridCounts, deviation
from cloister.release import Release
from cloister.synopsis import Cut, Grid, Points

COUNT = GridCounts(half_widths=np.ones(1), cells=(1,))  # of the sensitivity of every count
LOOK_SHARE = 0.2  # of the budget, for the coarse grid
LOOK_CELLS = 2.0  # times the cells that a grid of this noise would have
LEAST_PER_AXIS = 2.5  # cells: where each is half of the bounds, its middle is far from its rows
CELLS_PER_CLUSTER = 4  # at least, or a grid cannot tell so many clusters apart
SURE = 1.0  # standard deviations of noise by which rows must fill few cells
SEEN = 2.0  # the same by which rows in a single cell must be seen to do so
MUCH_SMALLER = 2.5  # times as small as Gaussian noise Laplace noise must be to pay for more than a few answers


@dataclass(frozen=True, kw_only=True)
class FewRowsPlan(Plan):
    """A coarse grid, then the grid that centres are cut from or, where rows fill few cells of the first, votes and sums."""

    coarse_cells: tuple[int, ...]
    coarse: Step
    cells: tuple[int, ...]
    grid: Step
    otherwise: KMeansPlan

    @property
    def can_be_drawn(self) -> bool:
        """Whether the noise of all answers can be drawn."""
        return self.otherwise.can_be_drawn

    @property
    def steps(self) -> tuple[Step, ...]:
        """What will be asked: the first step, and then either the second one or all others."""
        return (self.coarse, self.grid, *self.otherwise.steps)


def plan_few_rows(request: Request, frame: Frame, *, n_rows: float, planner: Planner) -> FewRowsPlan | None:
    """Return the plan of a grid where public numbers say that it tells more than votes and sums, else None."""
    half_widths, budget, n_clusters = frame.half_widths, planner.budget, request.n_clusters
    if half_widths is None or budget.is_gaussian:
        return None
    usual = request.guarantee.noise_budget().share(planner.part)
    noise, others = (deviation(COUNT, cost, planner.relation) for cost in (budget, usual))
    recipe = GAUSSIAN if usual.is_gaussian else PURE
    coarse, fine = (_per_axis(n_rows, noise / share, half_widths) for share in (LOOK_CELLS * LOOK_SHARE, 1 - LOOK_SHARE))
    if noise > others or n_rows > n_clusters * recipe.grid_snr * others or fine < LEAST_PER_AXIS:
        return None
    cells = grid_shape(fine, half_widths)
    coarse_cells = tuple(2 * (count // 2) + 1 for count in grid_shape(coarse, half_widths))  # odd: one is in the middle
    doubt = SEEN * _error(n_rows**2, math.prod(coarse_cells), noise / LOOK_SHARE)
    if math.prod(cells) < CELLS_PER_CLUSTER * n_clusters or n_rows**2 - doubt < n_rows**2 / n_clusters:
        return None
    rest = replace(planner, budget=budget.share(1 - LOOK_SHARE), part=planner.part * (1 - LOOK_SHARE))
    question = GridCounts(half_widths=half_widths, cells=(1,) * len(half_widths))
    purpose = "Counts in the cells of a coarse grid: whether the rows fill the bounds"
    return FewRowsPlan(
        coarse_cells=coarse_cells,
        coarse=planner.step("coarse grid", purpose, n_points=math.prod(coarse_cells), counts=(question, LOOK_SHARE)),
        cells=cells,
        grid=rest.step("grid", "Counts in the cells of a grid", n_points=math.prod(cells), counts=(question, 1.0)),
        otherwise=make_plan(n_rows, frame.n_features, n_clusters, planner=rest),
    )


def _per_axis(n_rows: float, noise: float, half_widths: FloatArray) -> float:
    """Return how many cells there are along an axis: one in all per row at the noise of epsilon 1, fewer where it is larger."""
    return float((n_rows * math.sqrt(2) / noise) ** (1 / len(half_widths)))


def suits_laplace(request: Request, plan: Plan) -> bool:
    """Return whether Laplace noise tells more of so few rows, for the plan that it would have, than Gaussian noise."""
    if isinstance(plan, FewRowsPlan) or plan.all_steps != plan.steps:
        return plan.all_steps == plan.steps
    pure, usual = (deviation(COUNT, cost, request.relation) for cost in (request.guarantee.pure_budget(), request.cost))
    assert request.n_rows is not None
    return usual >= MUCH_SMALLER * pure and request.n_rows <= request.n_clusters * GAUSSIAN.laplace_snr * usual


def fills_bounds(ask: Ask, plan: FewRowsPlan, frame: Frame, *, n_rows: float, n_clusters: int) -> bool:
    """Ask the coarse grid, and return whether rows fill more of its cells than there are clusters.

    As many cells as n^2 over the sum of squared counts, from which the squares of the noise are taken away.
    """
    answer = _ask_grid(ask, plan.coarse, plan.coarse_cells, frame)
    squares = float(np.sum(answer.value**2)) - answer.value.size * answer.sigma**2
    return squares - SURE * _error(squares, answer.value.size, answer.sigma) <= n_rows**2 / n_clusters


def _error(squares: float, n_cells: int, sigma: float) -> float:
    """Return the standard deviation that Laplace noise gives a sum of squared counts."""
    # Its square varies by sqrt(5) times its mean.
    return sigma * math.sqrt(5 * n_cells * sigma**2 + 4 * max(squares, 0.0))


def cut_grid(
    ask: Ask, plan: FewRowsPlan, frame: Frame, *, n_rows: float, n_clusters: int, n_init: int, generator: np.random.Generator
) -> Outcome:
    """Ask the grid, and return a cut of its cells."""
    answer = _ask_grid(ask, plan.grid, plan.cells, frame)
    assert frame.half_widths is not None
    grid = Grid(box=Box(-frame.half_widths, frame.half_widths), cells=plan.cells)
    points = Points(frame=frame, noisy_counts=answer.value.ravel(), sigma=answer.sigma, total=n_rows, grid=grid)
    found = points.solve(n_clusters, n_init=n_init, random_state=int(generator.integers(2**32)))
    return Outcome(
        centers=found.centers,
        center_errors=found.noise,
        counts=found.counts,
        count_errors=found.count_noise,
        n_rounds=1,
        error_inputs=GridErrors(found),
        details={name: frame.distance_unit**2 * value for name, value in found.losses.items()},
    )


def _ask_grid(ask: Ask, step: Step, cells: tuple[int, ...], frame: Frame) -> Answer:
    assert frame.half_widths is not None
    return ask(GridCounts(half_widths=frame.half_widths, cells=cells), step["counts"])


@dataclass(frozen=True, eq=False)
class GridErrors:
    """The total errors of a cut, which come with it."""

    found: Cut

    def complete(self, release: Release, outcome: Outcome, frame: Frame) -> Release:
        """Return the release of an outcome, which states the errors of the noise, with total errors."""
        total = self.found.total
        if total is None:
            return release
        beyond = np.sqrt(np.maximum(total.centers**2 - self.found.noise**2, 0.0))
        return replace(
            release,
            center_errors=frame.errors_from_unit(np.hypot(outcome.center_errors, beyond), outcome.centers),
            count_errors=total.counts,
            center_noise=release.center_errors,
            count_noise=release.count_errors,
            stability=total.stability,
        )
