# SPDX-License-Identifier: Apache-2.0
"""The last column of Table I of the PE-means paper: how much lower the area of the best PE variant is than the best rival's.

The paper's average of 20 % is that of the column as printed. Here the column is computed again from the paper's other columns,
and from what was measured. How good the best rival is stands beside it, in units of the limit.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from .._methods import METHODS
from .._page import Table
from .._papers import PE_COLUMNS, Row, table1
from .._stats import geometric_mean
from ._board import Board, plain

__all__ = ["improvement_table"]

VARIANTS = ("PEMeans", "PEMeans-plain", "PEMeans-projected")
COLUMNS = (
    "data",
    "paper prints",
    "from its columns",
    "best PE here",
    "PEMeans here",
    "KMeans here",
    "paper: best rival / limit",
    "here: best rival / limit",
    "",
)


@dataclass(frozen=True)
class _Line:
    """A data set on which PEMeans and all rivals were measured."""

    name: str
    row: Row
    areas: dict[str, float]  # by method
    rival: str  # the one with the lowest area
    limit: float | None

    @property
    def percents(self) -> list[float | None]:
        """Improvements over the best rival: printed, recomputed, best variant, PEMeans, KMeans."""
        best = min(self.areas[name] for name in VARIANTS if name in self.areas)
        ours = [best, self.areas["PEMeans"], self.areas.get("KMeans")]
        rival = self.areas[self.rival]
        return [self.row.improvement, self.row.recomputed, *(None if one is None else 100 * (1 - one / rival) for one in ours)]

    @property
    def over_limit(self) -> list[float | None]:
        """The area of the best rival over the limit, in the paper and here."""
        printed = self.row.best_rival / (3.75 * self.row.limit) if self.row.limit else None
        return [printed, self.areas[self.rival] / self.limit if self.limit and printed else None]


def improvement_table(board: Board) -> Table | None:
    """Return printed, recomputed and measured improvements by data set; None where no row has all rivals."""
    rivals = _rivals()
    lines = [line for name in board.data if (line := _line(board, name, rivals)) is not None]
    if not lines:
        return None
    rows = []
    for line in lines:
        paper, here = line.over_limit
        who = f"{_ratio(here)} ({line.rival})"
        rows.append([line.name, *map(_percent, line.percents), _ratio(paper), who, _note(line.row)])
    percents = [_percent(_mean(column)) for column in zip(*(line.percents for line in lines), strict=True)]
    ratios = [_ratio(_geometric_mean(column)) for column in zip(*(line.over_limit for line in lines), strict=True)]
    rows.append([f"mean of {len(lines)}", *percents, *ratios, "ratios: geometric mean"])
    if len(lines) < len(table1()):
        whole = [_mean(row.improvement for row in table1().values()), _mean(row.recomputed for row in table1().values())]
        rows.append([f"mean of all {len(table1())}", *map(_percent, whole), *["-"] * 5, ""])
    note = (
        "How far the area is below that of the best rival: in the paper the lowest of Google, FastLloyd, DP-Lib and Icml17, "
        f"here of {', '.join(rivals)}. 'Best PE' is the lowest of all variants, as in the paper; 'PEMeans' is its default."
    )
    return Table("Improvement over the best rival", COLUMNS, rows, words=(0, 8), note=note)


def _rivals() -> list[str]:
    """Return the methods of the package that answer to a rival's column."""
    columns = {column for row in table1().values() for column in row.areas} - set(PE_COLUMNS)
    return [one.name for one in METHODS.values() if one.by_default and one.needs is None and one.column in columns]


def _line(board: Board, name: str, rivals: list[str]) -> _Line | None:
    row = table1().get(plain(name))
    areas = {method: figure.value for (data, method), figure in board.figures.items() if data == name}
    if row is None or not {"PEMeans", *rivals} <= areas.keys() or not board.is_complete(name):
        return None
    return _Line(name, row, areas, min(rivals, key=areas.__getitem__), board.limits.get(name))


def _mean(values: Iterable[float | None]) -> float | None:
    found = list(values)
    return None if None in found else float(np.mean(np.array(found, dtype=float)))


def _geometric_mean(values: Iterable[float | None]) -> float | None:
    found = [value for value in values if value]
    return geometric_mean(found) if found else None


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:+.1f} %"


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _note(row: Row) -> str:
    if row.follows:
        return ""
    if row.over_second:
        return "printed: over the paper's other variant, which is second, not over a rival"
    return "printed figure does not follow from the columns"
