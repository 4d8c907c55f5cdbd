# SPDX-License-Identifier: Apache-2.0
"""Public facts about the data: where rows may lie, what a column is, what a neighbour is. Anyone may import this package."""

from cloister.columns._base import (
    BLOCK_NUMBERS,
    EXACT_BITS,
    FloatArray,
    IntArray,
    Relation,
    clip_to_unit_ball,
    grid_step,
    quiet,
    row_blocks,
    snap,
)
from cloister.columns._category import Category
from cloister.columns._column import KINDS, PRIVATE, Declaration
from cloister.columns._cyclic import Cyclic
from cloister.columns._date import Date
from cloister.columns._flag import Flag
from cloister.columns._frame import ColumnFrame, Frame, cuts_of
from cloister.columns._number import Number
from cloister.columns._parts import project_to_simplex
from cloister.columns._privacy_unit import (
    LARGEST_MAX_ROWS,
    WEIGHT_STEPS,
    WEIGHTINGS,
    Identifier,
    Neighbours,
    PrivacyUnit,
    as_neighbours,
)
from cloister.columns._read import as_box, as_columns, as_domain, declare_columns, domain_from_dict
from cloister.columns._shapes import Ball, Box
from cloister.columns._table import Table
from cloister.columns._values import days_of, iso_date, level_key, to_number
from cloister.columns._words import MINUS, MORE, Coordinate, factor_words, largest_levels, percent

__all__ = [
    "BLOCK_NUMBERS",
    "EXACT_BITS",
    "KINDS",
    "LARGEST_MAX_ROWS",
    "MINUS",
    "MORE",
    "PRIVATE",
    "WEIGHTINGS",
    "WEIGHT_STEPS",
    "Ball",
    "Box",
    "Category",
    "ColumnFrame",
    "Coordinate",
    "Cyclic",
    "Date",
    "Declaration",
    "Flag",
    "FloatArray",
    "Frame",
    "Identifier",
    "IntArray",
    "Neighbours",
    "Number",
    "PrivacyUnit",
    "Relation",
    "Table",
    "as_box",
    "as_columns",
    "as_domain",
    "as_neighbours",
    "clip_to_unit_ball",
    "cuts_of",
    "days_of",
    "declare_columns",
    "domain_from_dict",
    "factor_words",
    "grid_step",
    "iso_date",
    "largest_levels",
    "level_key",
    "percent",
    "project_to_simplex",
    "quiet",
    "row_blocks",
    "snap",
    "to_number",
]
