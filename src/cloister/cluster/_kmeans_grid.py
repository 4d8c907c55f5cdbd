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
from cloister.cluster._grid import GridPlan
from cloister.cluster._kmeans_plan import KMeansPlan, make_plan
from cloister.cluster._kmeans_recipe import GAUSSIAN, PURE
from cloister.cluster._plan import Outcome, Planner, Request
from cloister.columns import Box, FloatArray, Frame
from cloister.privacy import Step
from cloister.questions import Answer, Ask, GridCounts, deviation
from cloister.release import Release
from cloister.synopsis import Cut, Grid, Points

LOOK_SHARE = 0.2  # of the budget, for the coarse grid
LOOK_CELLS = 2.0  # per row where noise is that of epsilon 1
CELLS_PER_CLUSTER = 4  # at least, or a grid cannot tell so many clusters apart
MOST_CELLS = 2.0  # times as many as wanted, where the number along an axis is rounded up
SURE = 1.0  # standard deviations of noise by which rows must fill few cells


@dataclass(frozen=True, kw_only=True)
class FewRowsPlan(GridPlan):
    """A coarse grid, then the grid that centres are cut from or, where rows fill few cells of the first, votes and sums."""

    coarse_cells: tuple[int, ...]
    coarse: Step
    otherwise: KMeansPlan

    @property
    def steps(self) -> tuple[Step, ...]:
        """What will be asked: the first step, and then either the second one or all others."""
        return (self.coarse, self.grid, *self.otherwise.steps)


def plan_few_rows(request: Request, frame: Frame, *, n_rows: float, planner: Planner) -> FewRowsPlan | None:
    """Return the plan of a grid where public numbers say that it tells more than votes and sums, else None."""
    half_widths, budget = frame.half_widths, planner.budget
    if half_widths is None or budget.is_gaussian:
        return None
    question = GridCounts(half_widths=half_widths, cells=(1,) * len(half_widths))
    noise = deviation(question, budget, planner.relation)
    usual = request.guarantee.noise_budget().share(planner.part)
    others = deviation(question, usual, planner.relation)  # at the budget of votes and sums
    recipe = PURE if usual == budget else GAUSSIAN
    if noise > others or n_rows > request.n_clusters * recipe.grid_snr * others:
        return None
    coarse = _cells(half_widths, LOOK_CELLS * n_rows, noise / LOOK_SHARE)
    fine = _cells(half_widths, n_rows, noise / (1 - LOOK_SHARE))
    if coarse is None or fine is None or math.prod(fine) < CELLS_PER_CLUSTER * request.n_clusters:
        return None
    rest = replace(planner, budget=budget.share(1 - LOOK_SHARE), part=planner.part * (1 - LOOK_SHARE))
    purpose = "Counts in the cells of a coarse grid: whether the rows fill the bounds"
    return FewRowsPlan(
        coarse_cells=coarse,
        coarse=planner.step("coarse grid", purpose, n_points=math.prod(coarse), counts=(question, LOOK_SHARE)),
        cells=fine,
        grid=rest.step("grid", "Counts in the cells of a grid", n_points=math.prod(fine), counts=(question, 1.0)),
        otherwise=make_plan(n_rows, frame.n_features, request.n_clusters, planner=rest),
    )


def _cells(half_widths: FloatArray, n_rows: float, noise: float) -> tuple[int, ...] | None:
    """Return the cells along each axis: one in all per row where noise is that of epsilon 1, fewer where it is larger."""
    wanted = n_rows * math.sqrt(2) / noise
    cells = grid_shape(wanted ** (1 / len(half_widths)), half_widths)
    return cells if 1 < math.prod(cells) <= MOST_CELLS * wanted else None


def fills_bounds(ask: Ask, plan: FewRowsPlan, frame: Frame, *, n_rows: float, n_clusters: int) -> bool:
    """Ask the coarse grid, and return whether rows fill more of its cells than there are clusters.

    As many cells as n^2 over the sum of squared counts, from which the squares of the noise are taken away.
    """
    answer = _ask_grid(ask, plan.coarse, plan.coarse_cells, frame)
    squares = float(np.sum(answer.value**2)) - answer.value.size * answer.sigma**2
    # A squared Laplace variable varies by sqrt(5) times its mean.
    error = answer.sigma * math.sqrt(5 * answer.value.size * answer.sigma**2 + 4 * max(squares, 0.0))
    return squares - SURE * error <= n_rows**2 / n_clusters


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
