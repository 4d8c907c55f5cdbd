# SPDX-License-Identifier: Apache-2.0
"""Public figures of the papers, as printed there; the CSV files beside this folder's code hold them."""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["Row", "cells_printed", "table1", "wcss_printed"]

HALF_A_DIGIT = 0.00005  # Table I prints four decimals


@dataclass(frozen=True)
class Row:
    """A line of Table I of the PE-means paper."""

    name: str
    n_rows: int
    n_features: int
    n_clusters: int
    limit: float  # mean squared distance, not an area
    areas: dict[str, float]  # by column of the CSV file

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
    return Row(line["dataset"], int(line["n"]), int(line["d"]), int(line["k"]), float(line["nonprivate_loss"]), areas)


def _cell(line: dict[str, str]) -> tuple[int, int, int, str, float | None]:
    epsilon = float(line["epsilon"]) if line["epsilon"] else None
    return int(line["d"]), int(line["k"]), int(line["n"]), line["method"], epsilon
