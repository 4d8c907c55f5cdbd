# SPDX-License-Identifier: Apache-2.0
"""Reading tables: opens them, cuts them into blocks, and adds integers up. Imported by the vault and the estimators."""

from cloister.data._backend import ArrayRows, Block, Integers, Kernel, LocalRows, Rows, Watch
from cloister.data._bound import N_PERSON_COLUMNS, Bounding, Persons, cells_of, choose_rows
from cloister.data._cache import BlockCache
from cloister.data._columns import Column, Schema
from cloister.data._formats import RECORD_BYTES
from cloister.data._numpy import ScaledRows
from cloister.data._open import describe_columns, kept_rows, open_rows

__all__ = [
    "N_PERSON_COLUMNS",
    "RECORD_BYTES",
    "ArrayRows",
    "Block",
    "BlockCache",
    "Bounding",
    "Column",
    "Integers",
    "Kernel",
    "LocalRows",
    "Persons",
    "Rows",
    "ScaledRows",
    "Schema",
    "Watch",
    "cells_of",
    "choose_rows",
    "describe_columns",
    "kept_rows",
    "open_rows",
]
