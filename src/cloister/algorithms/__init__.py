# SPDX-License-Identifier: Apache-2.0
"""Pure functions of noisy answers and public parameters. Imports columns and questions only, so it cannot reach a row."""

from cloister.algorithms._bins import MORE_BINS, look_edges, place_edges
from cloister.algorithms._density import find_dense_cells
from cloister.algorithms._dependence import Measured, explained_dependence
from cloister.algorithms._evolution import (
    FEWEST_VARIATIONS,
    FIRST_CANDIDATES,
    Averages,
    EvolutionSettings,
    Generation,
    evolve,
    lift,
    random_projection,
)
from cloister.algorithms._grid import COUNT_RULES, denoise_counts, grid_shape, project_to_total
from cloister.algorithms._grid_split import LARGEST_FACTOR, CellNoise, GridSplit, combine_levels, denoise_leaves, split_factors
from cloister.algorithms._kmeans import weighted_kmeans
from cloister.algorithms._locate import Located, LocateSteps, locate
from cloister.algorithms._medoids import Medoids, choose_medoids
from cloister.algorithms._merge import ward_tree
from cloister.algorithms._numbers import RESTARTS, KChoice, compare_numbers, cut_loss, silhouette
from cloister.algorithms._packing import pack_sphere, uniform
from cloister.algorithms._plane import Plane, plane_of
from cloister.algorithms._points import NoisyPoints, nearest_of, nearest_squares, squares_between
from cloister.algorithms._ranges import N_INTERVALS, N_LOOKS, find_ranges
from cloister.algorithms._refine import (
    Lengths,
    Move,
    Refined,
    Round,
    choose_radius,
    mean_square,
    quantile,
    refine,
    sees_distances,
)
from cloister.algorithms._resample import LastStep, judge_solution, place_of_rows
from cloister.algorithms._scatter import Scatter
from cloister.algorithms._select import SELECTIONS, VOTE_RULES
from cloister.algorithms._source_target import (
    Coreset,
    Sanitized,
    nearest_averages,
    neighbour_averages,
    neighbour_distance,
    tree_coreset,
)
from cloister.algorithms._space import Space
from cloister.algorithms._total_errors import TotalErrors, add_beyond, stands_out, unknown_errors

__all__ = [
    "COUNT_RULES",
    "FEWEST_VARIATIONS",
    "FIRST_CANDIDATES",
    "LARGEST_FACTOR",
    "MORE_BINS",
    "N_INTERVALS",
    "N_LOOKS",
    "RESTARTS",
    "SELECTIONS",
    "VOTE_RULES",
    "Averages",
    "CellNoise",
    "Coreset",
    "EvolutionSettings",
    "Generation",
    "GridSplit",
    "KChoice",
    "LastStep",
    "Lengths",
    "LocateSteps",
    "Located",
    "Measured",
    "Medoids",
    "Move",
    "NoisyPoints",
    "Plane",
    "Refined",
    "Round",
    "Sanitized",
    "Scatter",
    "Space",
    "TotalErrors",
    "add_beyond",
    "choose_medoids",
    "choose_radius",
    "combine_levels",
    "compare_numbers",
    "cut_loss",
    "denoise_counts",
    "denoise_leaves",
    "evolve",
    "explained_dependence",
    "find_dense_cells",
    "find_ranges",
    "grid_shape",
    "judge_solution",
    "lift",
    "locate",
    "look_edges",
    "mean_square",
    "nearest_averages",
    "nearest_of",
    "nearest_squares",
    "neighbour_averages",
    "neighbour_distance",
    "pack_sphere",
    "place_edges",
    "place_of_rows",
    "plane_of",
    "project_to_total",
    "quantile",
    "random_projection",
    "refine",
    "sees_distances",
    "silhouette",
    "split_factors",
    "squares_between",
    "stands_out",
    "tree_coreset",
    "uniform",
    "unknown_errors",
    "ward_tree",
    "weighted_kmeans",
]
