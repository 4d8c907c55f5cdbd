# SPDX-License-Identifier: Apache-2.0
"""What a fit may publish, as one file that predicts again.

Imports columns, privacy, data and nearest, and algorithms and plotting where centres are drawn.
"""

from cloister.release._card import cluster_table
from cloister.release._cautions import Caution, card_words, cell_cautions, size_cautions
from cloister.release._cells import CellSummary
from cloister.release._distributions import ColumnProfile, Estimate, Profiles
from cloister.release._geometry import distance_words, plane_of_centers, rank_columns, rank_table
from cloister.release._open import open_for
from cloister.release._profile import columns_of
from cloister.release._release import VERSION, Release, library_versions, load_release, read_release, read_shared, rebuild
from cloister.release._words import NONE, axis_words, column_words, coordinates_of, error_words, rows_words

__all__ = [
    "NONE",
    "VERSION",
    "Caution",
    "CellSummary",
    "ColumnProfile",
    "Estimate",
    "Profiles",
    "Release",
    "axis_words",
    "card_words",
    "cell_cautions",
    "cluster_table",
    "column_words",
    "columns_of",
    "coordinates_of",
    "distance_words",
    "error_words",
    "library_versions",
    "load_release",
    "open_for",
    "plane_of_centers",
    "rank_columns",
    "rank_table",
    "read_release",
    "read_shared",
    "rebuild",
    "rows_words",
    "size_cautions",
]
