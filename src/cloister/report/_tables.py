# SPDX-License-Identifier: Apache-2.0
"""Tables with a picture in every cell, of centres and of what was missing; all centres as numbers; what every page says.

A table holds as many columns as fit side by side; more columns make more tables.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from cloister.columns import KINDS, factor_words, largest_levels, percent
from cloister.release import NONE, Release, column_words, columns_of, coordinates_of
from cloister.report._figures import bar, strip
from cloister.report._pages import Picture, Table, render_page
from cloister.report._receipt import Fact, counted_words, receipt_facts, receipt_parts
from cloister.report._summary import cells_of, table_of
from cloister.report._words import cell_words, declared_words, found_words, is_noticed, missing_fact
from cloister.synopsis import Synopsis
from cloister.text import number, sentence, share_text, with_error

SIDE_BY_SIDE = 6  # columns of one table
TICKED_CLUSTERS = 12  # up to so many, every strip also marks the other centres
PRINTED_LINES = 24  # of one page
DRAWN_LEVELS = 5  # of a category, those with the largest shares
LISTED_COLUMNS = 12  # up to so many, all columns say what was missing
LISTED_CLUSTERS = 6  # side by side, in a table of words
LISTED_LEVELS = 8  # of a category, in a table of words


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
    """A column of the table: its name, what it is, and a cell for each row."""

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


# -- centres -----------------------------------------------------------------------------------------------------------------


def strip_tables(release: Release, picked: Sequence[int]) -> list[StripTable]:
    """Return the centres with a strip for each of the picked columns, and before them what is said of a cluster as a whole."""
    table, words, counts, errors = table_of(release), columns_of(release), release.cluster_counts, release.count_errors
    low, high = min(0.0, float((counts - 2 * errors).min())), max(1.0, float((counts + 2 * errors).max()))
    cells = [
        Cell([Line(*(with_error(count, error) if seen else (NONE, "")), bar(count, error, low=low, high=high))])
        for count, error, seen in zip(counts.tolist(), errors.tolist(), release.stands_out, strict=True)
    ]
    columns = [StripColumn(sentence(counted_words(release.receipt)), "noisy count", cells)]
    if release.stability is not None:
        bars = [Cell([Line(share_text(part), "", bar(part))]) for part in release.stability.tolist()]
        columns.append(StripColumn("Stability", "how often it comes back", bars))
    for index in picked:
        cells = _cells(release, index, [cluster[index] for cluster in words])
        columns.append(StripColumn(table[index]["name"], KINDS[table[index]["type"]].extent_words(table[index]), cells))
    labels = [str(label) for label in range(release.n_clusters)]
    n_tables = -(-len(columns) // SIDE_BY_SIDE)
    ends = [round(len(columns) * part / n_tables) for part in range(n_tables + 1)]  # of about the same width
    return [StripTable("Cluster", labels, columns[start:end]) for start, end in pairwise(ends)]


def _cells(release: Release, index: int, told: Sequence[dict[str, Any]]) -> list[Cell]:
    """Return a column in its own words, with a strip across its bounds, or a bar for each share; one cell for each cluster."""
    more = ["missing {} % ± {} %".format(*percent(*own["missing"])) if "missing" in own else "" for own in told]
    column, cut = release.domain.columns[index], release.domain.slices()[index]
    if column.has_levels:
        return [_share_cell(own, words) for own, words in zip(told, more, strict=True)]
    axis = column.axis("", *column.interval)
    values, errors = (one.tolist() for one in column.on_axis(release.cluster_centers[:, cut], release.center_errors[:, cut]))
    cells = []
    for label, (value, error, own) in enumerate(zip(values, errors, told, strict=True)):
        others = [one for index, one in enumerate(values) if index != label and math.isfinite(one)]
        others = [] if len(values) > TICKED_CLUSTERS else others
        drawn = strip(value, error, low=axis.low, high=axis.high, others=others) if math.isfinite(value) else Picture("")
        shown = (factor_words(value, own["factor"]), "") if "factor" in own else axis.words(value, error)
        cells.append(Cell([Line(*shown, drawn)], more[label]))
    return cells


def _share_cell(own: dict[str, Any], missing: str) -> Cell:
    shares = own["shares"].items() if "shares" in own else [("", (own["share"], own["error"]))]
    levels = largest_levels([(name, *pair) for name, pair in shares], DRAWN_LEVELS)
    left = len(shares) - len(levels)
    more = [f"{left:,} more level{'s' * (left > 1)}" if left else "", missing]
    return Cell([share_line(share, error, name=name) for name, share, error in levels], "; ".join(filter(None, more)))


def share_line(share: float, error: float, *, name: str = "") -> Line:
    """Return a share of rows with a bar from 0 to 100 %."""
    value, spread = percent(share, error)
    return Line(f"{value} %", f"{spread} %", bar(share, error), name)


def number_tables(release: Release) -> list[Table]:
    """Return all columns of all centres, in words, a few clusters at a time."""
    names, words, tables = [one["name"] for one in table_of(release)], columns_of(release), []
    for start in range(0, release.n_clusters, LISTED_CLUSTERS):
        labels = range(start, min(start + LISTED_CLUSTERS, release.n_clusters))
        told = {f"Cluster {label}": [column_words(one, LISTED_LEVELS) for one in words[label]] for label in labels}
        tables.append(Table.of({"Column": names, **told}, numeric=list(told)))
    return tables


# -- what was missing --------------------------------------------------------------------------------------------------------


def cell_tables(cells: dict[str, Any] | None) -> dict[str, StripTable | None] | None:
    """Return what part of each column was missing or outside its bounds, noticed or not; None where nobody asked."""
    if cells is None:
        return None
    noticed = [one for one in cells["columns"] if any(is_noticed(one[kind], cells) for kind in ("missing", "outside"))]
    others = [one for one in cells["columns"] if one not in noticed]
    if len(cells["columns"]) <= LISTED_COLUMNS:
        noticed, others = cells["columns"], []
    return {"noticed": _cell_table(noticed, cells["error"]), "others": _cell_table(others, cells["error"])}


def _cell_table(columns: Sequence[dict[str, Any]], error: float) -> StripTable | None:
    if not columns:
        return None
    bars = [
        StripColumn(kind.capitalize(), "of the rows", [Cell([share_line(one[kind], error)]) for one in columns])
        for kind in ("missing", "outside")
    ]
    placed = StripColumn("Placed at", "missing values", [Cell([], one["placed"]) for one in columns])
    return StripTable("Column", [one["name"] for one in columns], [*bars, placed])


# -- what all pages of a document say ----------------------------------------------------------------------------------------


def document_page(
    template: str, published: Release | Synopsis, found: dict[str, Any], *, facts: Sequence[Fact], **values: Any
) -> str:
    """Return the page of a document: what `values` are about, and its head, receipt, parameters, bounds and missing values.

    `found` is its summary.
    """
    receipt, table, cells = published.receipt, found["table"], cells_of(published)
    parameters = {name: repr(one) if isinstance(one, str) else one for name, one in found["parameters"].items()}
    was_found = [bool(one.get("found")) for one in table]
    declared = "" if was_found and all(was_found) else "other bounds, the " if any(was_found) else "bounds, the "
    has_levels = any(one.is_share for one in coordinates_of(published.domain, published.columns))
    shared = {
        "receipt": receipt,
        **receipt_parts(receipt, found["receipt"]),
        "has_levels": has_levels,
        "scaling": found["scaling"],
        "lists_levels": any("levels" in one for one in table),
        "parameters": Table.of({"Name": parameters, "Value": parameters.values()}),
        "versions": Table.of({"Name": found["versions"], "Version": found["versions"].values()}),
        "shape": published.domain.sentence,
        "found": found_words(table),
        "declared": declared,  # the first of several things that were public
        "missing": cell_tables(cells),
        "missing_words": cell_words(cells),
    }
    if published.domain.is_declared:
        heads = ["Column", "What it is", "Bounds or levels", "Also"]
        shared["bounds"] = Table(heads, [declared_words(one) for one in table])
    else:
        lows, highs = zip(*found["bounds"], strict=True)
        ends = {"Low": map(number, lows), "High": map(number, highs)}
        shared["bounds"] = Table.of({"Column": found["columns"], **ends}, numeric=list(ends))
    head = [*receipt_facts(receipt), *facts, *missing_fact(cells)]
    return render_page(template, summary=found, shared=shared, facts=head, **values)
