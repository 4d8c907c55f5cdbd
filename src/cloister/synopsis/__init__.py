# SPDX-License-Identifier: Apache-2.0
"""Noisy points, or a histogram, that answer for ever: clusters for any k, range counts, synthetic rows, marginals.

Everything here is post-processing of what was released, so no ledger is touched. Imports columns, privacy, algorithms and
release; imported by the estimators, the report and the command line.
"""

from cloister.algorithms import KChoice
from cloister.synopsis._card import noise_words, point_table, size_words
from cloister.synopsis._cut import Cut
from cloister.synopsis._density import DensityClusters
from cloister.synopsis._files import file_kind
from cloister.synopsis._grid import REPRESENTATIVES, Grid, few_cells_words, warn_of_few_cells
from cloister.synopsis._points import LossEstimate, Places, Points
from cloister.synopsis._range import RangeCount
from cloister.synopsis._synopsis import Synopsis, load_synopsis, read_synopsis

__all__ = [
    "REPRESENTATIVES",
    "Cut",
    "DensityClusters",
    "Grid",
    "KChoice",
    "LossEstimate",
    "Places",
    "Points",
    "RangeCount",
    "Synopsis",
    "few_cells_words",
    "file_kind",
    "load_synopsis",
    "noise_words",
    "point_table",
    "read_synopsis",
    "size_words",
    "warn_of_few_cells",
]
