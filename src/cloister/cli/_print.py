# SPDX-License-Identifier: Apache-2.0
"""Releases and ledgers as tables for people. Names from outside are printed as plain text, never as markup."""

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cloister.cli._privacy_unit import counted_words, found_rows_words

if TYPE_CHECKING:
    from rich.console import Console

    from cloister.privacy import Ledger, Receipt
    from cloister.release import Release

__all__ = [
    "CELL_WIDTH",
    "FEW_COLUMNS",
    "currency_of",
    "describe_remaining",
    "open_console",
    "print_events",
    "print_json",
    "print_ledger",
    "print_medoids",
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


def open_console(*, error: bool = False) -> "Console":
    """Return a console; outside a terminal it is wide enough for a table."""
    from rich.console import Console

    stream = sys.stderr if error else sys.stdout
    return Console(
        file=stream,
        width=None if stream.isatty() else UNWRAPPED_WIDTH,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=False,
    )


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


def print_release(console: "Console", release: "Release") -> None:
    """Print the centres in the columns' own words, what was missing, and the receipt in plain words."""
    from cloister.release import columns_of, error_words, hidden_words, rows_words, stability_words
    from cloister.report import (
        cell_words,
        cells_of,
        choice_words,
        column_words,
        found_words,
        loss_summary,
        plain_text,
        table_of,
    )
    from cloister.text import count_of

    picked, loss, known = _pick_table(console, release), loss_summary(release), table_of(release)
    declared = any(one["type"] != "number" for one in known)
    units = "in the columns' own words" if declared else "in the units of the input"
    console.print(f"{count_of(release.n_clusters, 'centre')}, {units}", style="bold")
    heads = [(plain_text(known[index]["name"]), known[index]["type"] != "category") for index in picked]
    stability = [] if release.stability is None else release.stability.tolist()
    table = _table(
        [
            ("label", True),
            (f"{counted_words(release.receipt)} (noisy)", True),
            *([("stability", True)] if stability else []),
            *heads,
        ]
    )
    seen = release.stands_out
    for label, columns in enumerate(columns_of(release)):
        count, error = float(release.cluster_counts[label]), float(release.count_errors[label])
        counted = rows_words(count, error, stands_out=bool(seen[label]))
        back = [stability_words(stability[label])] if stability else []
        table.add_row(str(label), counted, *back, *(column_words(columns[index], between="\n") for index in picked))
    covered, lost = error_words(total=release.errors_are_total), "" if loss is None else loss["words"]
    more = [
        hidden_words(int(seen.sum()), release.n_clusters),
        covered,
        cell_words(cells_of(release)),
        found_words(known),
        lost,
        *choice_words(release),
    ]
    _print_end(console, table, release, picked, n_columns=release.n_columns, more=[line for line in more if line])


def print_medoids(console: "Console", release: "Release") -> None:
    """Print the chosen target points, what they and the source serve, and the receipt in plain words."""
    from cloister.report import number, plain_text, source_target_summary

    summary, columns = source_target_summary(release), _pick_table(console, release)
    chosen, total = release.n_clusters, summary["n_target"]
    console.print(f"{chosen:,} of {total:,} target points, in the units of the input", style="bold")
    heads = [("label", True), ("row of the target", True), ("points served", True)]
    table = _table([*heads, *((plain_text(release.columns[index]), True) for index in columns)])
    for label, row in enumerate(summary["rows"]):
        cells = [number(float(release.cluster_centers[label, index])) for index in columns]
        table.add_row(str(label), str(row), f"{int(release.cluster_counts[label]):,}", *cells)
    _print_end(console, table, release, columns, n_columns=release.n_features, more=summary["words"])


def _pick_table(console: "Console", release: "Release") -> list[int]:
    """Return the columns of the table to print: all of a few, otherwise those that tell centres apart best."""
    from cloister.report import rank_table

    fitting = max(2, (console.width - 22) // CELL_WIDTH)
    return sorted(rank_table(release)[: FEW_COLUMNS if release.n_columns <= FEW_COLUMNS else fitting])


def _print_end(
    console: "Console", table: Any, release: "Release", columns: Sequence[int], *, n_columns: int, more: Sequence[str] = ()
) -> None:
    console.print(table)
    if len(columns) < n_columns:
        console.print(f"The {len(columns)} columns that separate the centres best, of {n_columns}; the release holds all.")
    for line in more:
        console.print(line)
    print_receipt(console, release.receipt)


def print_receipt(console: "Console", receipt: "Receipt") -> None:
    """Print a receipt in plain words; in red, that its noise was seeded."""
    for line in (found_rows_words(receipt), *receipt.explain()):
        if line:
            console.print(line, style="bold red" if line == receipt.alert else None)


def print_ledger(console: "Console", summary: dict[str, Any], budget: str) -> None:
    """Print budget, spending, accounts and what is left."""
    from cloister.report import plain_text

    title = f"Ledger {plain_text(summary['name'])}" if summary["name"] else "Ledger"
    console.print(title, style="bold")
    console.print(f"Budget:     {budget}")
    console.print(f"Spent:      {summary['spent']}")
    console.print(f"Left:       {describe_remaining(summary)}")
    console.print(f"Neighbours: {summary['neighbours']}, {unit_words(summary['unit'])}")
    console.print(f"Checkpoint: {summary['checkpoint']}", soft_wrap=True)
    if not summary["accounts"]:
        console.print("No fit has used it yet.")
        return
    stated = [name for name in STATED if any(name in account for account in summary["accounts"])]
    heads = ["account", "method", *(STATED[name] for name in stated), "day", "answers", "counts as", ""]
    table = _table([(head, head == "answers") for head in heads])
    for account in summary["accounts"]:
        state = "settled" if account.get("settled") else "closed"
        state = "open: counts with all it reserved" if account["open"] else state
        table.add_row(
            account["account"],
            plain_text(account["purpose"]),
            *(plain_text(account.get(name, "-")) for name in stated),
            account["when"],
            str(account["events"]),
            account["cost"],
            state,
        )
    console.print(table)


def unit_words(unit: str) -> str:
    """Say whom a ledger protects."""
    return f"protects one {unit}" + (", with all of their rows" if unit == "person" else "")


def print_events(console: "Console", lines: Sequence[dict[str, Any]]) -> None:
    """Print every debit of a ledger; in red, that its noise was seeded."""
    from rich.text import Text

    from cloister.report import plain_text

    heads = [("day", False), ("account", False), ("step", False), ("question", False), ("numbers", True), ("mechanism", False)]
    table = _table([*heads, ("scale", True), ("sensitivity", True), ("relation", False), ("", False)])
    for line in lines:
        table.add_row(
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
        )
    console.print(table)


def describe_remaining(summary: dict[str, Any]) -> str:
    """Say what a ledger has left, in the currency of its budget."""
    budget = summary["budget"]
    at = f" at delta {budget['delta']:.3g}" if budget.get("delta") else ""
    pure = f", or {summary['left_pure']:.4g} of a pure fit" if budget.get("delta") else ""
    return f"{currency_of(budget)} {summary['left']:.4g}{at}{pure}"


def currency_of(budget: dict[str, Any]) -> str:
    """Return what a budget is counted in."""
    from cloister.privacy import KINDS

    return KINDS[str(budget["kind"])].parameter


def print_remaining(console: "Console", ledger: "Ledger") -> None:
    """Say in one line what a ledger has left."""
    console.print(f"Left in the ledger: {describe_remaining(ledger.summary())}, of {ledger.budget}.")


def print_table(console: "Console", columns: Sequence[tuple[str, bool]], rows: Sequence[Sequence[str]]) -> None:
    """Print rows of text under columns, each with its name and whether it stands to the right."""
    table = _table(columns)
    for row in rows:
        table.add_row(*row)
    console.print(table)


def _table(columns: Sequence[tuple[str, bool]]) -> Any:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for name, right in columns:
        table.add_column(name, justify="right" if right else "left", overflow="fold")
    return table
