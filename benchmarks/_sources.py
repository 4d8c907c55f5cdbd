# SPDX-License-Identifier: Apache-2.0
"""The data sets of Table I: which are generated, which come from a file, where that file comes from, and what it must hold."""

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ._errors import BenchError
from ._papers import table1

__all__ = ["ORIGINS", "Source", "find_file", "sources"]

# How a table came about; part of the name under which a result is kept.
ORIGINS = {"exact": "generated exactly as in the paper", "file": "from --data", "own": "own realisation"}

UCI = "UCI Machine Learning Repository, archive.ics.uci.edu"
G2 = "the G2 sets of the SIPU clustering basic benchmark, cs.uef.fi/sipu/datasets, variance 50"
PUBLIC: dict[str, tuple[str, str]] = {  # name of the file, where it comes from
    "birch2": ("birch2", "Birch2 of the SIPU clustering basic benchmark, cs.uef.fi/sipu/datasets; all 100,000 rows"),
    "adult": ("adult", f"{UCI}, Adult, train and test: age, fnlwgt, education-num, capital-gain, capital-loss, hours-per-week"),
    "mnist": ("mnist_lenet84", "MNIST, the 84 features of the last hidden layer of a LeNet-5 trained on it"),
    "letter": ("letter", f"{UCI}, Letter Recognition, the 16 attributes"),
    "gas": ("gas_turbine", f"{UCI}, Gas Turbine CO and NOx Emission, the year and the 11 columns"),
    "g2_4": ("g2_4_50", G2),
    "g2_16": ("g2_16_50", G2),
    "g2_64": ("g2_64_50", G2),
    "g2_128": ("g2_128_50", G2),
}
STORED_ROWS = {"birch2": 100_000}  # where the file holds more rows than are used
# Why a figure of the paper is about other rows than ours.
OTHER_ROWS = {
    "birch2": "another sample of 25,000 rows",
    "mnist": "other features: the network is trained anew",
}
SCALE_TOLERANCE = 100  # rows


@dataclass(frozen=True)
class Source:
    """One data set of Table I and how to come by it."""

    name: str
    n_rows: int
    n_features: int
    n_clusters: int
    file: str | None  # stem; None: never read from a file
    comes_from: str

    @property
    def is_scale(self) -> bool:
        """Whether it belongs to the family that an own generator can stand in for."""
        return self.name.startswith("scale_")

    @property
    def note(self) -> str:
        """Say why the paper's figure is about other rows; empty if it is about the same."""
        return "own realisation" if self.is_scale else OTHER_ROWS.get(self.name, "")

    def origin(self, folder: str | None) -> str | None:
        """Return how the rows come about here, or None if their file is missing."""
        if self.file is None:
            return "exact"
        if find_file(self.file, folder) is not None:
            return "file"
        return "own" if self.is_scale else None

    def check(self, shape: tuple[int, ...], place: Path) -> None:
        """Refuse a file of another shape."""
        wanted = (STORED_ROWS.get(self.name, self.n_rows), self.n_features)
        slack = SCALE_TOLERANCE if self.is_scale else 0
        if len(shape) != 2 or shape[1] != wanted[1] or abs(shape[0] - wanted[0]) > slack:
            raise BenchError(
                f"{self.name}: expected {wanted[0]:,} rows x {wanted[1]} columns in {place.name}, got "
                f"{' x '.join(f'{size:,}' for size in shape)}. It comes from {self.comes_from}."
            )

    def missing(self) -> str:
        """Say what is missing and where it comes from."""
        return (
            f"{self.name}: {self.file}.npz is missing. Pass --data DIR (or set CLOISTER_DATA) with a folder that holds it: an "
            f"array X of {STORED_ROWS.get(self.name, self.n_rows):,} x {self.n_features}, from {self.comes_from}."
        )


@cache
def sources() -> dict[str, Source]:
    """Return the 34 data sets by name, in the paper's order."""
    return {row.name: _source(row.name, row.n_rows, row.n_features, row.n_clusters) for row in table1().values()}


def find_file(stem: str, folder: str | None) -> Path | None:
    """Return where a file lies: in the folder that was given, or in the one that CLOISTER_DATA names."""
    home = folder or os.environ.get("CLOISTER_DATA")
    place = Path(home) / f"{stem}.npz" if home else None
    return place if place is not None and place.is_file() else None


def _source(name: str, n_rows: int, n_features: int, n_clusters: int) -> Source:
    if name in PUBLIC:
        file, comes_from = PUBLIC[name]
    elif name.startswith("scale_"):
        file, comes_from = name, "the R package clusterGeneration, or the generator of this folder"
    else:
        file, comes_from = None, "scikit-learn"
    return Source(name, n_rows, n_features, n_clusters, file, comes_from)
