# SPDX-License-Identifier: Apache-2.0
"""The door: opens tables, cuts them into blocks, and adds integers up. Imported by the vault and the estimators."""

from cloister.data._backend import Block, Integers, Kernel, LocalRows, Rows, Watch, single_pass, watched
from cloister.data._cache import BlockCache
from cloister.data._numpy import ArrayRows, as_matrix
from cloister.data._open import ENGINES, open_rows

__all__ = [
    "ENGINES",
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
    "single_pass",
    "watched",
]
