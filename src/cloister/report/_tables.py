# SPDX-License-Identifier: Apache-2.0
"""What the pages of releases and synopses share, as tables: centres with strips, the receipt's events, parameters, bounds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cloister.domain import days_of
from cloister.privacy import MECHANISMS
from cloister.report._column_words import (
    column_words,
    days_words,
    declared_words,
    found_words,
    largest_levels,
    percent,
)
from cloister.report._figures import count_bar, guess_meter, strip
from cloister.report._format import count_of, number, span_of, with_error
from cloister.report._pages import Picture, Table
from cloister.report._words import QUESTIONS, promise, scaling_words, unit_of_protection

__all__ = ["cell_table", "number_table", "shared_parts", "strip_table"]

TICKED_CLUSTERS = 12  # up to so many, every strip also marks the other centres
DRAWN_LEVELS = 5  # of a category, those with the largest shares
LISTED_LEVELS = 8  # of a category, in a table of words
SHAPES = {
    "box": "A box. Rows outside were moved to its edge.",
    "ball": "A ball; its extent along each column. Rows outside were moved to its edge.",
    "columns": "Declared columns. A value outside its bounds was moved to the nearer one; what is no level counts as missing.",
}


def shared_parts(summary: dict[str, Any]) -> dict[str, Any]:
    """Return what every page says: the receipt, the parameters, the versions and the bounds."""
    receipt, parameters = summary["receipt"], summary["parameters"]
    return {
        "receipt": receipt,
        "promise": promise(receipt),
        "meter": Picture("", guess_meter(receipt["best_guess"])),
        "groups": _group_table(receipt),
        "events": _event_table(receipt),
        "unit_of_protection": unit_of_protection(receipt["neighbours"]),
        "scaling": scaling_words(summary["scaling"], [one["type"] for one in summary.get("table", ())]),
        "parameters": _pair_table("Value", {n: repr(one) if isinstance(one, str) else one for n, one in parameters.items()}),
        "versions": _pair_table("Version", summary["versions"]),
        "shape": SHAPES[summary["domain"]],
        "found": found_words(summary.get("table", ())),
        "bounds": _bounds_table(summary),
    }


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
class StripTable:
    """Centres, one a row: label, count and columns."""

    columns: Sequence[tuple[str, str]]  # name, and bounds or what it is
    rows: Sequence[tuple[int, Sequence[Cell]]]


def strip_table(summary: dict[str, Any], picked: Sequence[int]) -> StripTable:
    """Return the centres with a strip for each of the picked columns."""
    clusters, table = summary["clusters"], summary["table"]
    ends = [(c["count"] - 2 * c["count_error"], c["count"] + 2 * c["count_error"]) for c in clusters]
    low, high = min(0.0, *(end[0] for end in ends)), max(1.0, *(end[1] for end in ends))
    rows = []
    for place, cluster in enumerate(clusters):
        value, error = cluster["count"], cluster["count_error"]
        count = Line(*with_error(value, error), Picture("", count_bar(value, error, low=low, high=high)))
        cells = [_cell(table[index], [one["columns"][index] for one in clusters], place) for index in picked]
        rows.append((cluster["label"], [Cell([count]), *cells]))
    return StripTable([(table[index]["name"], _extent(table[index])) for index in picked], rows)


def _extent(column: dict[str, Any]) -> str:
    if column["type"] == "category":
        return count_of(len(column["levels"]), "level")
    return "share of yes" if column["type"] == "flag" else declared_words(column)[2]


def _cell(column: dict[str, Any], clusters: Sequence[dict[str, Any]], place: int) -> Cell:
    """Return a column in the words of its kind, with a strip across its bounds or a bar for each share."""
    own = clusters[place]
    missing = "missing {} % ± {} %".format(*percent(*own["missing"])) if "missing" in own else ""
    if own["type"] == "category":
        levels = largest_levels([(name, *pair) for name, pair in own["shares"].items()], DRAWN_LEVELS)
        left = len(own["shares"]) - len(levels)
        more = "; ".join(part for part in (f"{left:,} more level{'s' * (left > 1)}" if left else "", missing) if part)
        return Cell([_share_line(share, error, name=name) for name, share, error in levels], more)
    if own["type"] == "flag":
        return Cell([_share_line(own["share"], own["error"])], missing)
    low, high = (days_of(end) if isinstance(end, str) else end for end in (column["low"], column["high"]))
    values = [days_of(one["value"]) if own["type"] == "date" else one["value"] for one in clusters]
    error = own["error_days"] if own["type"] == "date" else own["error"]
    others = [] if len(clusters) > TICKED_CLUSTERS else [one for index, one in enumerate(values) if index != place]
    drawn = Picture("", strip(values[place], error, low=low, high=high, others=others))
    value, spread = (own["value"], days_words(error)) if own["type"] == "date" else with_error(own["value"], error)
    return Cell([Line(value, spread, drawn)], missing)


def _share_line(share: float, error: float, *, name: str = "") -> Line:
    value, spread = percent(share, error)
    return Line(f"{value} %", f"{spread} %", Picture("", count_bar(share, error, low=0.0, high=1.0)), name)


def number_table(summary: dict[str, Any]) -> Table:
    """Return all columns of all centres, in words."""
    heads = ["Column", *(f"Cluster {cluster['label']}" for cluster in summary["clusters"])]
    rows = [
        [one["name"], *(column_words(cluster["columns"][index], LISTED_LEVELS) for cluster in summary["clusters"])]
        for index, one in enumerate(summary["table"])
    ]
    return Table(heads, rows, numeric=range(1, len(heads)))


def cell_table(summary: dict[str, Any]) -> Table | None:
    """Return what part of each column was missing or outside its bounds; None where nobody asked."""
    cells = summary.get("cells")
    if cells is None:
        return None
    rows = []
    for one in cells["columns"]:
        parts = [percent(one[kind], cells["error"]) for kind in ("missing", "outside")]
        rows.append([one["name"], *(f"{value} % ± {error} %" for value, error in parts), one["placed"]])
    return Table(["Column", "Missing", "Outside", "Missing values were placed at"], rows, numeric=(1, 2))


def _group_table(receipt: dict[str, Any]) -> Table:
    """Return the kinds of questions: how often, how noisy, and their share of the cost."""
    rows = [
        [
            QUESTIONS.get(group["asked"], group["asked"]),
            str(group["times"]),
            span_of(number(group["smallest_size"]), number(group["largest_size"])),
            MECHANISMS[group["mechanism"]].label,
            span_of(f"{group['standard_deviation']:.4g}", f"{group['largest_standard_deviation']:.4g}"),
            span_of(f"{group['sensitivity']:.4g}", f"{group['largest_sensitivity']:.4g}"),
            f"{group['share']:.1%}",
        ]
        for group in receipt["groups"]
    ]
    heads = ["Question", "Times", "Numbers each", "Noise", "Standard deviation", "Sensitivity", "Share of the cost"]
    return Table(heads, rows, numeric=(1, 2, 4, 5, 6), kind="words")


def _event_table(receipt: dict[str, Any]) -> Table:
    """Return every event, as the ledger records it."""
    rows = [
        [
            str(index),
            line["when"],
            *([line["step"]] if _has_steps(receipt) else []),
            line["asked"],
            number(line["size"]),
            line["event"],
            f"{line['scale']:.6g}",
            f"{line['sensitivity']:.6g}",
        ]
        for index, line in enumerate(receipt["events"], start=1)
    ]
    steps = ["Step"] if _has_steps(receipt) else []
    heads = ["No.", "Day", *steps, "Question", "Numbers", "Mechanism", "Scale", "Sensitivity"]
    return Table(heads, rows, numeric=(0, *(len(steps) + place for place in (3, 5, 6))))


def _has_steps(receipt: dict[str, Any]) -> bool:
    return any(line["step"] for line in receipt["events"])


def _bounds_table(summary: dict[str, Any]) -> Table:
    """Return the bounds of every column, or what it was declared to be."""
    if summary["domain"] == "columns":
        return Table(["Column", "What it is", "Bounds or levels", "Also"], [declared_words(one) for one in summary["table"]])
    bounds = zip(summary["columns"], summary["bounds"], strict=True)
    return Table(["Column", "Low", "High"], [[name, number(low), number(high)] for name, (low, high) in bounds], numeric=(1, 2))


def _pair_table(value: str, pairs: dict[str, Any]) -> Table:
    """Return names and what they stand for."""
    return Table(["Name", value], [[name, str(one)] for name, one in pairs.items()])
