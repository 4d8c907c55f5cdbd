# SPDX-License-Identifier: Apache-2.0
"""What to expect of a grid: the bound that its rule minimises, and too few cells. Public numbers only."""

import math

from cloister.cluster import GridPlan, Plan
from cloister.forecast._setting import Setting
from cloister.forecast._words import about
from cloister.grids import grid_bound
from cloister.synopsis import few_cells_words

__all__ = ["judge_grid", "warn_of_grid"]


def judge_grid(setting: Setting, plan: Plan) -> tuple[str, ...]:
    """Say how far noise and rounding to cells move the loss, at most; nothing of other methods."""
    if not isinstance(plan, GridPlan):
        return ()
    bound = grid_bound(
        plan.cells[0],
        n_rows=setting.size,
        n_features=setting.n_features,
        n_clusters=setting.n_clusters,
        epsilon=math.sqrt(2) / plan.grid["counts"].sigma,
    )
    of_a_row = setting.n_features / setting.size
    parts = f"noise {about(bound.noise)}, cross term {about(bound.cross)}, rounding {about(bound.rounding)}"
    cells = f"{plan.cells[0]:,} cell{'s' * (plan.cells[0] != 1)} along each of {setting.n_features:,} columns"
    kind = "A grid" if plan.parts is None else "Before fuller cells are split, a grid"
    grid = f"{kind} of {cells}, {math.prod(plan.cells):,} in all"
    moved = "So noise and rounding to cells move the mean squared distance by at most about"
    where = "in columns from -1 to 1 and if clusters of equal size fill them evenly"
    return (
        f"{grid}: its bound h is {about(bound.total)} ({parts}).",
        f"{moved} {about(of_a_row * bound.total)}, {where}.",
    )


def warn_of_grid(setting: Setting, plan: Plan) -> tuple[str, ...]:
    """Say where a grid has fewer cells than clusters."""
    if not isinstance(plan, GridPlan) or math.prod(plan.cells) >= setting.n_clusters:
        return ()
    return (few_cells_words(setting.n_clusters, math.prod(plan.cells), setting.n_features),)
