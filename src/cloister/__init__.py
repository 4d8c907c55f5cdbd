# SPDX-License-Identifier: Apache-2.0
"""Cloister: differentially private clustering.

Rows enter by one door, stay in one room, and nothing leaves that room except through a noise mechanism that has already
debited the ledger.
"""

from cloister._version import __version__
from cloister.cluster import PEMeans
from cloister.data import open_rows
from cloister.domain import Ball, Box
from cloister.privacy import GDP, ZCDP, ApproxDP, Ledger, PureDP, convert
from cloister.release import Release, load_release

__all__ = [
    "GDP",
    "ZCDP",
    "ApproxDP",
    "Ball",
    "Box",
    "Ledger",
    "PEMeans",
    "PureDP",
    "Release",
    "__version__",
    "convert",
    "load_release",
    "open_rows",
]
