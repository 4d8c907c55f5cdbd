# SPDX-License-Identifier: Apache-2.0
"""Pure functions of noisy answers and public parameters. Imports domain and questions only, so it cannot reach a row."""

from cloister.algorithms._evolution import (
    Evolution,
    EvolutionSettings,
    Generation,
    evolve,
    levy_flight,
    lift,
    random_projection,
)
from cloister.algorithms._kmeans import plusplus, weighted_kmeans
from cloister.algorithms._packing import pack_sphere, uniform_ball, uniform_box
from cloister.algorithms._select import keep_votes, select_kmeans, select_top

__all__ = [
    "Evolution",
    "EvolutionSettings",
    "Generation",
    "evolve",
    "keep_votes",
    "levy_flight",
    "lift",
    "pack_sphere",
    "plusplus",
    "random_projection",
    "select_kmeans",
    "select_top",
    "uniform_ball",
    "uniform_box",
    "weighted_kmeans",
]
