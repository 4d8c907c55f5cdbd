# SPDX-License-Identifier: Apache-2.0
"""Cloister: differentially private clustering.

Rows enter by one door, stay in one room, and nothing leaves that room except through a noise mechanism that has already
debited the ledger. Public names are imported when they are first used, so that the command line starts at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cloister._version import __version__
from cloister.methods import METHODS

if TYPE_CHECKING:
    from cloister.cluster import (
        GridKMeans,
        GridSynopsis,
        KMeans,
        PEMeans,
        PointSynopsis,
        PrivateScaler,
        SourceTargetKMedoids,
    )
    from cloister.columns import Ball, Box, Category, Cyclic, Date, Flag, Number
    from cloister.data import open_rows
    from cloister.exceptions import AccuracyWarning, PrivacyWarning
    from cloister.forecast import compare, plan
    from cloister.privacy import GDP, ZCDP, ApproxDP, Ledger, PureDP, convert
    from cloister.release import Release, load_release
    from cloister.report import write_report
    from cloister.schemas import json_schema
    from cloister.synopsis import Synopsis, load_synopsis

__all__ = [
    "GDP",
    "ZCDP",
    "AccuracyWarning",
    "ApproxDP",
    "Ball",
    "Box",
    "Category",
    "Cyclic",
    "Date",
    "Flag",
    "GridKMeans",
    "GridSynopsis",
    "KMeans",
    "Ledger",
    "Number",
    "PEMeans",
    "PointSynopsis",
    "PrivacyWarning",
    "PrivateScaler",
    "PureDP",
    "Release",
    "SourceTargetKMedoids",
    "Synopsis",
    "__version__",
    "compare",
    "convert",
    "json_schema",
    "load_release",
    "load_synopsis",
    "open_rows",
    "plan",
    "write_report",
]

_HOMES = {
    "cloister.cluster": (*(one.name for one in METHODS.values() if one.room == "cloister"), "PrivateScaler"),
    "cloister.data": ("open_rows",),
    "cloister.columns": ("Ball", "Box", "Category", "Cyclic", "Date", "Flag", "Number"),
    "cloister.exceptions": ("AccuracyWarning", "PrivacyWarning"),
    "cloister.forecast": ("compare", "plan"),
    "cloister.privacy": ("GDP", "ZCDP", "ApproxDP", "Ledger", "PureDP", "convert"),
    "cloister.release": ("Release", "load_release"),
    "cloister.report": ("write_report",),
    "cloister.schemas": ("json_schema",),
    "cloister.synopsis": ("Synopsis", "load_synopsis"),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            value = getattr(import_module(home), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'cloister' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
