# SPDX-License-Identifier: Apache-2.0
"""Pure functions of noisy answers and public parameters. Imports domain and questions only, so it cannot reach a row."""

from cloister.algorithms._cells import RESTARTS, KChoice, cluster_cells, compare_numbers, nearest_cell, squares_to
from cloister.algorithms._coreset import Coreset, tree_coreset
from cloister.algorithms._evolution import (
    FEWEST_VARIATIONS,
    Evolution,
    EvolutionSettings,
    Generation,
    evolve,
    levy_flight,
    lift,
    random_projection,
)
from cloister.algorithms._grid import (
    COUNT_RULES,
    GRID_RULES,
    CellBounds,
    EpsilonRange,
    cell_bounds,
    cells_per_axis,
    denoise_counts,
    epsilon_range,
    grid_shape,
    project_to_total,
)
from cloister.algorithms._kmeans import plusplus, weighted_kmeans
from cloister.algorithms._medoids import Medoids, choose_medoids
from cloister.algorithms._packing import pack_sphere, uniform_ball, uniform_box
from cloister.algorithms._select import keep_votes, select_kmeans, select_top
from cloister.algorithms._source_target import Sanitized, nearest_averages, neighbour_averages, noise_quantile

__all__ = [
    "COUNT_RULES",
    "FEWEST_VARIATIONS",
    "GRID_RULES",
    "RESTARTS",
    "CellBounds",
    "Coreset",
    "EpsilonRange",
    "Evolution",
    "EvolutionSettings",
    "Generation",
    "KChoice",
    "Medoids",
    "Sanitized",
    "cell_bounds",
    "cells_per_axis",
    "choose_medoids",
    "cluster_cells",
    "compare_numbers",
    "denoise_counts",
    "epsilon_range",
    "evolve",
    "grid_shape",
    "keep_votes",
    "levy_flight",
    "lift",
    "nearest_averages",
    "nearest_cell",
    "neighbour_averages",
    "noise_quantile",
    "pack_sphere",
    "plusplus",
    "project_to_total",
    "random_projection",
    "select_kmeans",
    "select_top",
    "squares_to",
    "tree_coreset",
    "uniform_ball",
    "uniform_box",
    "weighted_kmeans",
]
