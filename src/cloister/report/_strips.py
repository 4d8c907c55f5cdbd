# SPDX-License-Identifier: Apache-2.0
"""Centres as tables with a strip in every cell: a row for each cluster, its number of rows first, then the columns.

A table holds as many columns as fit side by side; more columns make more tables.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from cloister.columns import days_of
from cloister.release import NONE
from cloister.report._column_words import days_words, declared_words, largest_levels, percent
from cloister.report._figures import count_bar, strip
from cloister.report._pages import Picture
from cloister.report._words import counted_words
from cloister.text import count_of, share_text, with_error

__all__ = ["Cell", "Line", "StripColumn", "StripTable", "share_line", "strip_tables"]

SIDE_BY_SIDE = 6  # columns of one table
TICKED_CLUSTERS = 12  # up to so many, every strip also marks the other centres
PRINTED_LINES = 24  # of one page
DRAWN_LEVELS = 5  # of a category, those with the largest shares


@dataclass(frozen=True)
class Line:
    """A number with its error and a picture of both; of a level its name before them."""

    value: str
    error: str
    picture: Picture
    name: str = ""


@dataclass(frozen=True)
class Cell:
    """What a column is in one cluster: a line, or one for each of the largest levels."""

    lines: Sequence[Line]
    more: str = ""  # what is left out, or the part that is missing


@dataclass(frozen=True)
class StripColumn:
    """A column of the table: its name, what it is, and a cell for each cluster."""

    name: str
    note: str
    cells: Sequence[Cell]


@dataclass(frozen=True)
class StripTable:
    """Some columns of all clusters, or whatever else `corner` says that the rows are."""

    corner: str
    labels: Sequence[str]
    columns: Sequence[StripColumn]

    @property
    def fits_on_a_page(self) -> bool:
        """Whether it can be printed on one page."""
        lines = (max(max(len(column.cells[row].lines) for column in self.columns), 1) for row in range(len(self.labels)))
        return sum(lines) <= PRINTED_LINES


def strip_tables(summary: dict[str, Any], picked: Sequence[int]) -> list[StripTable]:
    """Return the centres with a strip for each of the picked columns."""
    clusters, table = summary["clusters"], summary["table"]
    columns = [*_lead_columns(clusters, summary["receipt"]), *(_column(table[index], index, clusters) for index in picked)]
    labels = [str(cluster["label"]) for cluster in clusters]
    n_tables = -(-len(columns) // SIDE_BY_SIDE)
    ends = [round(len(columns) * part / n_tables) for part in range(n_tables + 1)]  # of about the same width
    return [StripTable("Cluster", labels, columns[start:end]) for start, end in pairwise(ends)]


def _lead_columns(clusters: Sequence[dict[str, Any]], receipt: dict[str, Any]) -> list[StripColumn]:
    """Return what is said of a cluster as a whole."""
    ends = [(one["count"] - 2 * one["count_error"], one["count"] + 2 * one["count_error"]) for one in clusters]
    low, high = min(0.0, *(end[0] for end in ends)), max(1.0, *(end[1] for end in ends))
    counts = []
    for one in clusters:
        pair = one["count"], one["count_error"]
        drawn = Picture("", count_bar(*pair, low=low, high=high))
        counts.append(Cell([Line(*(with_error(*pair) if one["stands_out"] else (NONE, "")), drawn)]))
    columns = [StripColumn(counted_words(receipt).capitalize(), "noisy count", counts)]
    if any(one["stability"] is not None for one in clusters):
        parts = [one["stability"] or 0.0 for one in clusters]
        bars = [Line(share_text(part), "", Picture("", count_bar(part, 0.0, low=0.0, high=1.0))) for part in parts]
        columns.append(StripColumn("Stability", "how often it comes back", [Cell([one]) for one in bars]))
    return columns


def _column(column: dict[str, Any], index: int, clusters: Sequence[dict[str, Any]]) -> StripColumn:
    parts = [cluster["columns"][index] for cluster in clusters]
    if column["type"] == "category":
        extent = count_of(len(column["levels"]), "level")
    else:
        extent = "share of yes" if column["type"] == "flag" else declared_words(column)[2]
    return StripColumn(column["name"], extent, [_cell(column, parts, place) for place in range(len(parts))])


def _cell(column: dict[str, Any], clusters: Sequence[dict[str, Any]], place: int) -> Cell:
    """Return a column in the words of its kind, with a strip across its bounds or a bar for each share."""
    own = clusters[place]
    missing = "missing {} % ± {} %".format(*percent(*own["missing"])) if "missing" in own else ""
    if own["type"] == "category":
        levels = largest_levels([(name, *pair) for name, pair in own["shares"].items()], DRAWN_LEVELS)
        left = len(own["shares"]) - len(levels)
        more = "; ".join(part for part in (f"{left:,} more level{'s' * (left > 1)}" if left else "", missing) if part)
        return Cell([share_line(share, error, name=name) for name, share, error in levels], more)
    if own["type"] == "flag":
        return Cell([share_line(own["share"], own["error"])], missing)
    low, high = (days_of(end) if isinstance(end, str) else end for end in (column["low"], column["high"]))
    values = [days_of(one["value"]) if own["type"] == "date" else one["value"] for one in clusters]
    error = own["error_days"] if own["type"] == "date" else own["error"]
    others = [] if len(clusters) > TICKED_CLUSTERS else [one for index, one in enumerate(values) if index != place]
    drawn = Picture("", strip(values[place], error, low=low, high=high, others=others))
    value, spread = (own["value"], days_words(error)) if own["type"] == "date" else with_error(own["value"], error)
    return Cell([Line(value, spread, drawn)], missing)


def share_line(share: float, error: float, *, name: str = "") -> Line:
    """Return a share of rows with a bar from 0 to 100 %."""
    value, spread = percent(share, error)
    return Line(f"{value} %", f"{spread} %", Picture("", count_bar(share, error, low=0.0, high=1.0)), name)
