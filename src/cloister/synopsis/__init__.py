# SPDX-License-Identifier: Apache-2.0
"""A noisy histogram that was paid for once and answers for ever: clusters for any k, range counts, synthetic rows, marginals.

Everything here is post-processing of one answer, so no ledger is touched. Imports domain, privacy, algorithms and release;
imported by the estimators, the report and the command line.
"""

from cloister.algorithms import KChoice
from cloister.synopsis._card import noise_words
from cloister.synopsis._cells import REPRESENTATIVES, RangeCount
from cloister.synopsis._common import CommonSynopsis, LossEstimate
from cloister.synopsis._cut import cut_cells, few_cells_words, warn_of_few_cells
from cloister.synopsis._density import DensityClusters
from cloister.synopsis._files import file_kind
from cloister.synopsis._open import load_synopsis, read_synopsis
from cloister.synopsis._point_cut import cut_points
from cloister.synopsis._synopsis import Synopsis
from cloister.synopsis._weighted import WeightedPoints

__all__ = [
    "REPRESENTATIVES",
    "CommonSynopsis",
    "DensityClusters",
    "KChoice",
    "LossEstimate",
    "RangeCount",
    "Synopsis",
    "WeightedPoints",
    "cut_cells",
    "cut_points",
    "few_cells_words",
    "file_kind",
    "load_synopsis",
    "noise_words",
    "read_synopsis",
    "warn_of_few_cells",
]
