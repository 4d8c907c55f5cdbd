# SPDX-License-Identifier: Apache-2.0
"""A noisy histogram that was paid for once and answers for ever: clusters for any k, range counts, synthetic rows, marginals.

Everything here is post-processing of one answer, so no ledger is touched. Imports domain, privacy, algorithms and release;
imported by the estimators, the report and the command line.
"""

from cloister.algorithms import KChoice
from cloister.synopsis._cells import REPRESENTATIVES, RangeCount
from cloister.synopsis._cut import cut_cells, warn_of_few_cells
from cloister.synopsis._density import DensityClusters
from cloister.synopsis._files import file_kind
from cloister.synopsis._synopsis import Synopsis, load_synopsis

__all__ = [
    "REPRESENTATIVES",
    "DensityClusters",
    "KChoice",
    "RangeCount",
    "Synopsis",
    "cut_cells",
    "file_kind",
    "load_synopsis",
    "warn_of_few_cells",
]
