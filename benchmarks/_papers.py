# SPDX-License-Identifier: Apache-2.0
"""Public figures of the papers, as printed there; the CSV files beside this folder's code hold them."""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["PE_COLUMNS", "Row", "cells_printed", "table1", "wcss_printed"]

HALF_A_DIGIT = 0.00005  # Table I prints four decimals
HALF_A_PERCENT_DIGIT = 0.005  # and two of a percentage
PE_COLUMNS = ("pe_means_auc", "hdpe_means_auc")


@dataclass(frozen=True)
class Row:
    """A line of Table I of the PE-means paper."""

    name: str
    n_rows: int
    n_features: int
    n_clusters: int
    limit: float  # mean squared distance, not an area
    areas: dict[str, float]  # by column of the CSV file
    improvement: float  # per cent, as printed

    @property
    def recomputed(self) -> float:
        """How far the best PE column lies below the best rival's, in per cent."""
        return 100 * (1 - self._best_pe / self.best_rival)

    @property
    def follows(self) -> bool:
        """Whether the printed improvement can be that of the best PE column over the best rival's, both rounded."""
        return self._fits(self.best_rival)

    @property
    def over_second(self) -> bool:
        """Whether it can be that over the second lowest column, whoever's."""
        return self._fits(sorted(self.areas.values())[1])

    @property
    def _best_pe(self) -> float:
        return min(area for column, area in self.areas.items() if column in PE_COLUMNS)

    @property
    def best_rival(self) -> float:
        """The lowest private column that is not the paper's own."""
        return min(area for column, area in self.areas.items() if column not in PE_COLUMNS)

    def _fits(self, other: float) -> bool:
        mine, theirs = self.band(self._best_pe), self.band(other)
        low, high = 100 * (1 - mine[1] / theirs[0]), 100 * (1 - mine[0] / theirs[1])
        return low - HALF_A_PERCENT_DIGIT <= self.improvement <= high + HALF_A_PERCENT_DIGIT

    def area(self, column: str | None) -> float | None:
        """Return what a column prints, ``best`` the smallest of all private ones; None where it prints nothing."""
        return min(self.areas.values()) if column == "best" else self.areas.get(column or "")

    @staticmethod
    def band(area: float) -> tuple[float, float]:
        """Return the smallest and largest figure that is printed as `area`."""
        return max(area - HALF_A_DIGIT, 1e-9), area + HALF_A_DIGIT


@cache
def table1() -> dict[str, Row]:
    """Return Table I by data set, in the paper's order."""
    return {line["dataset"]: _row(line) for line in _read("pe-means-table1.csv")}


@cache
def wcss_printed() -> dict[tuple[int, int, int, str, float | None], float]:
    """Return Table II of the grid paper by (d, k, n, method, epsilon); epsilon is None where nothing is private."""
    return {_cell(line): float(line["wcss"]) for line in _read("grids-table2.csv")}


@cache
def cells_printed() -> dict[tuple[int, int, int, str, float | None], int]:
    """Return Table III of the grid paper by (d, k, n, rule, epsilon): cells in all."""
    return {_cell(line): int(line["cells"]) for line in _read("grids-table3.csv")}


def _read(name: str) -> list[dict[str, Any]]:
    text = (files(__package__) / "papers" / name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def _row(line: dict[str, str]) -> Row:
    areas = {column: float(value) for column, value in line.items() if column.endswith("_auc") and value}
    sizes = int(line["n"]), int(line["d"]), int(line["k"])
    return Row(line["dataset"], *sizes, float(line["nonprivate_loss"]), areas, float(line["pe_improvement_percent"]))


def _cell(line: dict[str, str]) -> tuple[int, int, int, str, float | None]:
    epsilon = float(line["epsilon"]) if line["epsilon"] else None
    return int(line["d"]), int(line["k"]), int(line["n"]), line["method"], epsilon
