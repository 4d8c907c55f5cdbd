# SPDX-License-Identifier: Apache-2.0
"""What the pages of releases and synopses share, as tables: receipt and events, parameters, bounds, what was missing."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cloister.privacy import MECHANISMS
from cloister.report._column_words import column_words, declared_words, found_words, is_noticed
from cloister.report._figures import guess_meter
from cloister.report._pages import Picture, Table
from cloister.report._strips import Cell, StripColumn, StripTable, share_line
from cloister.report._words import (
    chance_words,
    comparison_words,
    counted_words,
    factor_words,
    not_covered,
    person_of,
    person_words,
    promise,
    question_words,
    scaling_words,
    unit_of_protection,
)
from cloister.text import count_of, number, share_text, span_of

__all__ = ["CellTables", "cell_tables", "number_tables", "shared_parts"]

LISTED_COLUMNS = 12  # up to so many, all columns say what was missing
LISTED_CLUSTERS = 6  # side by side, in a table of words
LISTED_LEVELS = 8  # of a category, in a table of words
SQUARES = "Costs of fits with Gaussian noise add up by their squares, so the lines need not add up to the total."
NO_LEDGER = "This fit was paid from a budget of its own. No ledger adds it to other fits on the same people."
SEVERAL_FITS = "This page covers several fits, each paid for by itself. What they cost together is stated above."
SHAPES = {
    "box": "A box. Rows outside were moved to its edge.",
    "ball": "A ball; its extent along each column. Rows outside were moved to its edge.",
    "columns": "Declared columns. A value outside its bounds was moved to the nearer one; what is no level counts as missing.",
}


def shared_parts(summary: dict[str, Any]) -> dict[str, Any]:
    """Return what every page says: the receipt, the parameters, the versions and the bounds."""
    receipt, parameters = summary["receipt"], summary["parameters"]
    neighbours, person = receipt["neighbours"], person_of(receipt)
    return {
        "receipt": receipt,
        "promised": [*receipt["promised"][:-1], _spent_words(receipt)],
        "counted": receipt["counted"],
        "counted_words": counted_words(receipt),
        "persons": person_words(receipt),
        "not_covered": not_covered(receipt),
        "unit": person or "row",
        "promise": promise(receipt),
        "factor": factor_words(receipt["meaning"], guarantee=receipt["guarantee_text"], neighbours=neighbours, person=person),
        "chances": Table(
            ["Likely before", "At least after", "At most after"],
            chance_words(receipt["meaning"]),
            numeric=(0, 1, 2),
            kind="brief",
        ),
        "comparison": comparison_words(receipt["meaning"]),
        "ledger": _ledger_table(receipt["ledger"]),
        "ledger_words": SQUARES,
        "no_ledger": NO_LEDGER if receipt["fits"] == 1 else SEVERAL_FITS,
        "meter": Picture("", guess_meter(receipt["best_guess"])),
        "groups": _group_table(receipt),
        "events": _event_table(receipt),
        "unit_of_protection": unit_of_protection(neighbours, person),
        "scaling": scaling_words(summary["scaling"], [one["type"] for one in summary.get("table", ())]),
        "parameters": _pair_table("Value", {n: repr(one) if isinstance(one, str) else one for n, one in parameters.items()}),
        "versions": _pair_table("Version", summary["versions"]),
        "shape": SHAPES[summary["domain"]],
        "found": found_words(summary.get("table", ())),
        "declared": _declared_bounds(summary.get("table", ())),
        "bounds": _bounds_table(summary),
    }


def _declared_bounds(table: Sequence[dict[str, Any]]) -> str:
    """Name the bounds that were declared, as the first of several things; nothing where all were found with noise."""
    found = [bool(one.get("found")) for one in table]
    return "" if found and all(found) else "other bounds, the " if any(found) else "bounds, the "


def _ledger_table(found: dict[str, Any] | None) -> Table | None:
    """Return where the fit left the ledger that paid for it."""
    if found is None:
        return None
    rows = [
        ["Total budget", found["budget_text"]],
        ["Spent by earlier fits", found["before"]],
        ["This fit", found["fit"]],
        ["Left when it ended", found["left_text"]],
    ]
    return Table([f"Ledger {found['name']}".strip(), "Amount"], rows, kind="brief")


def _spent_words(receipt: dict[str, Any]) -> str:
    """Say what was spent; the questions are in a table of their own."""
    answers, kinds = count_of(len(receipt["events"]), "noisy answer"), count_of(len(receipt["groups"]), "kind")
    shares = " Shares are of the cost of all fits together." if receipt["fits"] > 1 else ""
    return f"Spent: {receipt['spent']}, in {answers} to {kinds} of question, listed below.{shares}"


def number_tables(summary: dict[str, Any]) -> list[Table]:
    """Return all columns of all centres, in words, a few clusters at a time."""
    clusters = summary["clusters"]
    return [
        _number_table(summary, clusters[start : start + LISTED_CLUSTERS]) for start in range(0, len(clusters), LISTED_CLUSTERS)
    ]


def _number_table(summary: dict[str, Any], clusters: Sequence[dict[str, Any]]) -> Table:
    heads = ["Column", *(f"Cluster {cluster['label']}" for cluster in clusters)]
    rows = [
        [one["name"], *(column_words(cluster["columns"][index], LISTED_LEVELS) for cluster in clusters)]
        for index, one in enumerate(summary["table"])
    ]
    return Table(heads, rows, numeric=range(1, len(heads)))


@dataclass(frozen=True)
class CellTables:
    """Columns where some part was missing or outside, and the others."""

    noticed: StripTable | None
    others: StripTable | None


def cell_tables(cells: dict[str, Any] | None) -> CellTables | None:
    """Return what part of each column was missing or outside its bounds; None where nobody asked."""
    if cells is None:
        return None
    kinds = ("missing", "outside")
    noticed = [one for one in cells["columns"] if any(is_noticed(one[kind], cells) for kind in kinds)]
    others = [one for one in cells["columns"] if one not in noticed]
    if len(cells["columns"]) <= LISTED_COLUMNS:
        noticed, others = cells["columns"], []
    return CellTables(_cell_table(noticed, cells["error"]), _cell_table(others, cells["error"]))


def _cell_table(columns: Sequence[dict[str, Any]], error: float) -> StripTable | None:
    if not columns:
        return None
    bars = [
        StripColumn(kind.capitalize(), "of the rows", [Cell([share_line(one[kind], error)]) for one in columns])
        for kind in ("missing", "outside")
    ]
    placed = StripColumn("Placed at", "missing values", [Cell([], one["placed"]) for one in columns])
    return StripTable("Column", [one["name"] for one in columns], [*bars, placed])


def _group_table(receipt: dict[str, Any]) -> Table:
    """Return the kinds of questions: how often, how noisy, and their share of the cost."""
    rows = [
        [
            question_words(group["asked"], counted=receipt["counted"]),
            str(group["times"]),
            span_of(number(group["smallest_size"]), number(group["largest_size"])),
            MECHANISMS[group["mechanism"]].label,
            span_of(f"{group['standard_deviation']:.4g}", f"{group['largest_standard_deviation']:.4g}"),
            span_of(f"{group['sensitivity']:.4g}", f"{group['largest_sensitivity']:.4g}"),
            share_text(group["share"], 1),
        ]
        for group in receipt["groups"]
    ]
    heads = ["Question", "Times", "Numbers each", "Noise", "Standard deviation", "Sensitivity", "Share of the cost"]
    return Table(heads, rows, numeric=(1, 2, 4, 5, 6), kind="asked")


def _event_table(receipt: dict[str, Any]) -> Table:
    """Return every event, as the ledger records it."""
    rows = [
        [
            str(index),
            *([str(line["fit"])] if receipt["fits"] > 1 else []),
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
    heads = [
        "No.",
        *(["Fit"] if receipt["fits"] > 1 else []),
        "Day",
        *(["Step"] if _has_steps(receipt) else []),
        *("Question", "Numbers", "Mechanism", "Scale", "Sensitivity"),
    ]
    numbers = {"No.", "Fit", "Numbers", "Scale", "Sensitivity"}
    return Table(heads, rows, numeric=[place for place, head in enumerate(heads) if head in numbers])


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
