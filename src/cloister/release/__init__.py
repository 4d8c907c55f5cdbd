# SPDX-License-Identifier: Apache-2.0
"""What a fit may publish, as one file that predicts again. Imports domain, privacy, data, files and nearest."""

from cloister.release._cells import CellSummary
from cloister.release._distributions import ColumnProfile, Estimate, Profiles
from cloister.release._migrate import migrate_receipt, migrate_steps
from cloister.release._open import open_for
from cloister.release._profile import columns_of, date_of
from cloister.release._release import Release, library_versions, load_release, read_steps, refuse_odd_values

__all__ = [
    "CellSummary",
    "ColumnProfile",
    "Estimate",
    "Profiles",
    "Release",
    "columns_of",
    "date_of",
    "library_versions",
    "load_release",
    "migrate_receipt",
    "migrate_steps",
    "open_for",
    "read_steps",
    "refuse_odd_values",
]
