# SPDX-License-Identifier: Apache-2.0
"""Reading tables: opens them, cuts them into blocks, and adds integers up. Imported by the vault and the estimators."""

from cloister.data._backend import Block, Integers, Kernel, LocalRows, Rows, Watch
from cloister.data._cache import BlockCache
from cloister.data._numpy import ArrayRows, as_matrix
from cloister.data._open import open_rows

__all__ = [
    "ArrayRows",
    "Block",
    "BlockCache",
    "Integers",
    "Kernel",
    "LocalRows",
    "Rows",
    "Watch",
    "as_matrix",
    "open_rows",
]
