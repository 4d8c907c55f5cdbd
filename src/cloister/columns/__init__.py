# SPDX-License-Identifier: Apache-2.0
"""Public facts about the data: where rows may lie, what a column is, what a neighbour is. Anyone may import this package."""

from cloister.columns._base import (
    BLOCK_NUMBERS,
    EXACT_BITS,
    Ball,
    Box,
    FloatArray,
    Frame,
    IntArray,
    Relation,
    clip_to_unit_ball,
    grid_step,
    quiet,
    row_blocks,
    snap,
)
from cloister.columns._column import (
    PRIVATE,
    AnyDeclaration,
    Category,
    Date,
    Flag,
    Number,
    declare_columns,
)
from cloister.columns._parts import Interval, project_to_simplex
from cloister.columns._privacy_unit import (
    LARGEST_MAX_ROWS,
    WEIGHT_STEPS,
    WEIGHTINGS,
    Identifier,
    Neighbours,
    PrivacyUnit,
    as_neighbours,
)
from cloister.columns._read import Domain, as_domain, domain_from_dict
from cloister.columns._table import ColumnDomain, ColumnFrame
from cloister.columns._values import LEVELS_OF_A_FLAG, days_of, iso_date, level_key

__all__ = [
    "BLOCK_NUMBERS",
    "EXACT_BITS",
    "LARGEST_MAX_ROWS",
    "LEVELS_OF_A_FLAG",
    "PRIVATE",
    "WEIGHTINGS",
    "WEIGHT_STEPS",
    "AnyDeclaration",
    "Ball",
    "Box",
    "Category",
    "ColumnDomain",
    "ColumnFrame",
    "Date",
    "Domain",
    "Flag",
    "FloatArray",
    "Frame",
    "Identifier",
    "IntArray",
    "Interval",
    "Neighbours",
    "Number",
    "PrivacyUnit",
    "Relation",
    "as_domain",
    "as_neighbours",
    "clip_to_unit_ball",
    "days_of",
    "declare_columns",
    "domain_from_dict",
    "grid_step",
    "iso_date",
    "level_key",
    "project_to_simplex",
    "quiet",
    "row_blocks",
    "snap",
]
