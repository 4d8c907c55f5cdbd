# SPDX-License-Identifier: Apache-2.0
"""Releases and ledgers as tables for people. Names from outside are printed as plain text, never as markup."""

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cloister.text import count_of, number, plain_text, share_text

if TYPE_CHECKING:
    from rich.console import Console

    from cloister.privacy import Ledger, Receipt
    from cloister.release import Release

__all__ = [
    "CELL_WIDTH",
    "FEW_COLUMNS",
    "counted_words",
    "describe_remaining",
    "open_console",
    "print_events",
    "print_json",
    "print_ledger",
    "print_receipt",
    "print_release",
    "print_remaining",
    "print_table",
    "print_text",
    "unit_words",
]

FEW_COLUMNS = 8  # up to so many are all printed, on two lines if need be; of more, as many as fit
CELL_WIDTH = 17
STATED = {"dataset": "data set", "stated_purpose": "purpose"}  # what a user said of a fit
UNWRAPPED_WIDTH = 160  # where output is no terminal

Heads = Sequence[tuple[str, bool]]  # the name of a column, and whether it stands to the right


def open_console(*, error: bool = False) -> "Console":
    """Return a console; outside a terminal it is wide enough for a table."""
    from rich.console import Console

    stream = sys.stderr if error else sys.stdout
    width = None if stream.isatty() else UNWRAPPED_WIDTH
    return Console(file=stream, width=width, highlight=False, markup=False, emoji=False, soft_wrap=False)


def print_json(data: object) -> None:
    """Write plain data as JSON on standard output."""
    sys.stdout.write(json.dumps(data, indent=1, allow_nan=False) + "\n")


def print_text(value: Any, *, as_json: bool) -> None:
    """Print what has both forms: as JSON, or as text whose first line is a heading."""
    if as_json:
        print_json(value.to_dict())
        return
    console = open_console()
    head, *lines = str(value).splitlines()
    console.print(head, style="bold")
    for line in lines:
        console.print(line, soft_wrap=True)


def print_table(console: "Console", columns: Heads, rows: Sequence[Sequence[Any]]) -> None:
    """Print rows of text under columns."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for name, right in columns:
        table.add_column(name, justify="right" if right else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    console.print(table)


def print_release(console: "Console", release: "Release") -> None:
    """Print the centres in the columns' own words, or the target points that were chosen, and the receipt in plain words."""
    from cloister.report import rank_table

    # All columns if they are few, otherwise those that tell centres apart best.
    fitting = max(2, (console.width - 22) // CELL_WIDTH)
    columns = sorted(rank_table(release)[: FEW_COLUMNS if release.n_columns <= FEW_COLUMNS else fitting])
    (_print_centers if release.free_centers is None else _print_medoids)(console, release, columns)


def _print_centers(console: "Console", release: "Release", columns: Sequence[int]) -> None:
    from cloister.release import columns_of, error_words, hidden_words, rows_words
    from cloister.report import cell_words, cells_of, choice_words, column_words, found_words, loss_summary, table_of

    loss, known, seen = loss_summary(release), table_of(release), release.stands_out
    units = "in the columns' own words" if any(one["type"] != "number" for one in known) else "in the units of the input"
    stability = [] if release.stability is None else [[share_text(one)] for one in release.stability.tolist()]
    heads = [
        ("label", True),
        (f"{counted_words(release.receipt)} (noisy)", True),
        *([("stability", True)] if stability else []),
        *((plain_text(known[index]["name"]), known[index]["type"] != "category") for index in columns),
    ]
    counts = zip(release.cluster_counts.tolist(), release.count_errors.tolist(), seen.tolist(), strict=True)
    rows = [
        [
            str(label),
            rows_words(count, error, stands_out=stands_out),
            *(stability[label] if stability else []),
            *(column_words(cells[index], between="\n") for index in columns),
        ]
        for label, ((count, error, stands_out), cells) in enumerate(zip(counts, columns_of(release), strict=True))
    ]
    lines = [
        hidden_words(int(seen.sum()), release.n_clusters),
        error_words(total=release.errors_are_total),
        cell_words(cells_of(release)),
        found_words(known),
        "" if loss is None else loss["words"],
        *choice_words(release),
    ]
    console.print(f"{count_of(release.n_clusters, 'centre')}, {units}", style="bold")
    print_table(console, heads, rows)
    _print_end(console, release, len(columns), release.n_columns, lines)


def _print_medoids(console: "Console", release: "Release", columns: Sequence[int]) -> None:
    from cloister.report import source_target_of

    summary = source_target_of(release)["source_target"]
    heads = [("label", True), ("row of the target", True), ("points served", True)]
    rows = [
        [
            str(label),
            str(row),
            f"{int(release.cluster_counts[label]):,}",
            *(number(float(release.cluster_centers[label, index])) for index in columns),
        ]
        for label, row in enumerate(summary["rows"])
    ]
    console.print(f"{release.n_clusters:,} of {summary['n_target']:,} target points, in the units of the input", style="bold")
    print_table(console, [*heads, *((plain_text(release.columns[index]), True) for index in columns)], rows)
    _print_end(console, release, len(columns), release.n_features, summary["words"])


def _print_end(console: "Console", release: "Release", shown: int, n_columns: int, lines: Sequence[str]) -> None:
    if shown < n_columns:
        console.print(f"The {shown} columns that separate the centres best, of {n_columns}; the release holds all.")
    for line in filter(None, lines):
        console.print(line)
    print_receipt(console, release.receipt)


def print_receipt(console: "Console", receipt: "Receipt") -> None:
    """Print a receipt in plain words; in red, that its noise was seeded."""
    unit = receipt.privacy_unit
    found = [fit for fit in receipt.fits if any(event.question_name == "rows_per_unit" for event in fit.events)]
    if unit is not None and unit.max_rows in [fit.privacy_unit.max_rows for fit in found if fit.privacy_unit]:
        console.print(f"Rows of one {unit.noun} that are used: at most {unit.max_rows}, found with noise (auto).")
    for line in filter(None, receipt.explain()):
        console.print(line, style="bold red" if line == receipt.alert else None)


def counted_words(receipt: "Receipt") -> str:
    """Return what noisy counts are numbers of."""
    return "persons" if receipt.privacy_unit is not None and receipt.privacy_unit.is_weighted else "rows"


def print_ledger(console: "Console", summary: dict[str, Any], budget: str) -> None:
    """Print budget, spending, accounts and what is left."""
    console.print(f"Ledger {plain_text(summary['name'])}" if summary["name"] else "Ledger", style="bold")
    console.print(f"Budget:     {budget}")
    console.print(f"Spent:      {summary['spent']}")
    console.print(f"Left:       {describe_remaining(summary)}")
    console.print(f"Neighbours: {summary['neighbours']}, {unit_words(summary['unit'])}")
    console.print(f"Checkpoint: {summary['checkpoint']}", soft_wrap=True)
    accounts = summary["accounts"]
    if not accounts:
        console.print("No fit has used it yet.")
        return
    stated = [name for name in STATED if any(name in one for one in accounts)]
    heads = ["account", "method", *(STATED[name] for name in stated), "day", "answers", "counts as", ""]
    rows = [
        [
            one["account"],
            plain_text(one["purpose"]),
            *(plain_text(one.get(name, "-")) for name in stated),
            one["when"],
            str(one["events"]),
            one["cost"],
            "open: counts with all it reserved" if one["open"] else "settled" if one.get("settled") else "closed",
        ]
        for one in accounts
    ]
    print_table(console, [(head, head == "answers") for head in heads], rows)


def unit_words(unit: str) -> str:
    """Say whom a ledger protects."""
    return f"protects one {unit}" + (", with all of their rows" if unit == "person" else "")


def print_events(console: "Console", lines: Sequence[dict[str, Any]]) -> None:
    """Print every debit of a ledger; in red, that its noise was seeded."""
    from rich.text import Text

    names = "day", "account", "step", "question", "numbers", "mechanism", "scale", "sensitivity", "relation", ""
    rows = [
        [
            line["when"][:10],
            line["account"],
            plain_text(line.get("step", "")),
            line["asked"],
            f"{line['size']:,}",
            line["event"],
            f"{line['scale']:.6g}",
            f"{line['sensitivity']:.6g}",
            line["relation"],
            Text("seeded" if line["seeded"] else "", style="bold red"),
        ]
        for line in lines
    ]
    print_table(console, [(name, name in ("numbers", "scale", "sensitivity")) for name in names], rows)


def describe_remaining(summary: dict[str, Any]) -> str:
    """Say what a ledger has left, in the currency of its budget."""
    from cloister.privacy import KINDS

    budget = summary["budget"]
    at = f" at delta {budget['delta']:.3g}" if budget.get("delta") else ""
    pure = f", or {summary['left_pure']:.4g} of a pure fit" if budget.get("delta") else ""
    return f"{KINDS[str(budget['kind'])].parameter} {summary['left']:.4g}{at}{pure}"


def print_remaining(console: "Console", ledger: "Ledger") -> None:
    """Say in one line what a ledger has left."""
    console.print(f"Left in the ledger: {describe_remaining(ledger.summary())}, of {ledger.budget}.")
