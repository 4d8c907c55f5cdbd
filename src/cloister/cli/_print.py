# SPDX-License-Identifier: Apache-2.0
"""Releases, synopses and ledgers as tables for people. Names from outside are printed as plain text, never as markup."""

import json
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from cloister.text import count_of, number, plain_text, with_error

if TYPE_CHECKING:
    from rich.console import Console

    from cloister.columns import FloatArray
    from cloister.privacy import Ledger, Receipt
    from cloister.release import Caution, Release
    from cloister.synopsis import DensityClusters, KChoice, Synopsis

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


def _print_lines(console: "Console", lines: Iterable[str]) -> None:
    for line in filter(None, lines):
        console.print(line)


def _print_warnings(console: "Console", found: Sequence["Caution"]) -> None:
    """Print what to know before believing a result; in red."""
    for one in found:
        console.print(f"Warning: {one}", style="red")


def _n_shown(console: "Console", n_columns: int, *, beside: int) -> int:
    """Return how many columns are printed: all if they are few, otherwise as many as fit beside what else is in a line."""
    return n_columns if n_columns <= FEW_COLUMNS else max(2, (console.width - beside) // CELL_WIDTH)


# -- releases -----------------------------------------------------------------------------------------------------------


def print_release(console: "Console", release: "Release") -> None:
    """Print the centres in the columns' own words, or the target points that were chosen, and the receipt in plain words."""
    from cloister.release import cluster_table, error_words, rank_table
    from cloister.report import cell_words, cells_of, choice_words, found_words, loss_summary, source_target_of, table_of

    shown = _n_shown(console, release.n_columns, beside=22)
    columns = sorted(rank_table(release)[:shown])  # those that tell centres apart best
    (_, counted, *names), rows = cluster_table(release, columns, between="\n")
    if about := source_target_of(release).get("source_target"):
        title = f"{release.n_clusters:,} of {about['n_target']:,} target points, in the units of the input"
        heads = [(head, True) for head in ("label", "row of the target", counted, *map(plain_text, names))]
        rows = [[label, str(row), *words] for row, (label, *words) in zip(about["rows"], rows, strict=True)]
        lines = about["words"]
    else:
        units = "in the columns' own words" if release.domain.has_words else "in the units of the input"
        title, loss = f"{count_of(release.n_clusters, 'centre')}, {units}", loss_summary(release)
        right = [True] * (len(names) - len(columns)) + [release.domain.columns[index].size == 1 for index in columns]
        heads = [("label", True), (f"{counted} (noisy)", True), *zip(map(plain_text, names), right, strict=True)]
        lines = [
            error_words(total=release.errors_are_total),
            cell_words(cells_of(release)),
            found_words(table_of(release)),
            "" if loss is None else loss["words"],
            *choice_words(release),
        ]
    console.print(title, style="bold")
    _print_warnings(console, release.warnings)
    print_table(console, heads, rows)
    if len(columns) < release.n_columns:
        best = f"The {len(columns)} columns that separate the centres best"
        console.print(f"{best}, of {release.n_columns}; the release holds all.")
    _print_lines(console, lines)
    _print_receipt(console, release.receipt)


def _print_receipt(console: "Console", receipt: "Receipt") -> None:
    """Print a receipt in plain words; in red, that its noise was seeded."""
    unit = receipt.privacy_unit
    found = [fit for fit in receipt.fits if any(event.question_name == "rows_per_unit" for event in fit.events)]
    if unit is not None and unit.max_rows in [fit.privacy_unit.max_rows for fit in found if fit.privacy_unit]:
        console.print(f"Rows of one {unit.noun} that are used: at most {unit.max_rows}, found with noise (auto).")
    for line in filter(None, receipt.explain()):
        console.print(line, style="bold red" if line == receipt.alert else None)


# -- synopses ----------------------------------------------------------------------------------------------------------


def print_synopsis(console: "Console", synopsis: "Synopsis") -> None:
    """Print the grid or the points, their noise, and the receipt in plain words."""
    from cloister.report import cell_words, declared_words, found_words, synopsis_summary
    from cloister.synopsis import size_words

    summary = synopsis_summary(synopsis)
    if summary["kind"] == "grid":
        sizes, finest = summary["cells"], "finest " * summary["adaptive"]
        cells = f"{summary['n_cells']:,} cells of several sizes" if finest else f"{sizes[0]} cells"
        if len(sizes) > 1 and not finest:
            cells = f"{' x '.join(map(str, sizes))} = {summary['n_cells']:,} cells"
        title = f"A noisy count for each of {cells}, noise of standard deviation {summary['noise']}"
        heads = [("column", False), ("from", True), ("to", True), (f"{finest}cells", True), (f"width of a {finest}cell", True)]
        rows = [
            [name, number(low), number(high), str(size), number((high - low) / size)]
            for name, (low, high), size in zip(summary["columns"], summary["bounds"], sizes, strict=True)
        ]
    else:
        made = f"{count_of(summary['n_points'], 'point')}, made for up to {summary['max_clusters']:,} clusters"
        title = f"{made}, noise of standard deviation {summary['sigma']:.3g} in each count"
        heads = [(head, False) for head in ("column", "what it is", "bounds or levels", "also")]
        rows = [declared_words(one) for one in summary["table"]]
    console.print(title, style="bold")
    _print_warnings(console, synopsis.warnings)
    print_table(console, heads, [list(map(plain_text, row)) for row in rows])
    _print_lines(console, [size_words(synopsis), cell_words(summary["cells_of_columns"]), found_words(summary["table"])])
    _print_receipt(console, synopsis.receipt)


def print_tree(console: "Console", linkage: "FloatArray", rows: "FloatArray", n_clusters: int) -> None:
    """Print the last joins of a tree, down to `n_clusters` branches: how many rows each has, and at what height it splits."""
    from rich.tree import Tree

    n_leaves, masses = len(rows), rows.tolist()
    for first, second, _, _ in linkage.tolist():
        masses.append(masses[int(first)] + masses[int(second)])

    def words(node: int) -> str:
        return f"{number(round(masses[node]))} rows"

    def grow(branch: "Tree", node: int) -> None:
        join = node - n_leaves
        if join < max(0, len(linkage) - (n_clusters - 1)):
            return
        first, second, height, _ = linkage[join]
        branch.label = f"{words(node)}, split at {height:.4g}"
        for child in sorted((int(first), int(second)), key=lambda one: -masses[one]):
            grow(branch.add(words(child)), child)

    root = Tree(words(-1))
    grow(root, len(masses) - 1)
    console.print(root)


def print_choice(console: "Console", choice: "KChoice") -> None:
    """Print the loss for each number of clusters, and which one is best."""
    from cloister.report import comparison_of_numbers

    marked = [(choice.best, "best"), (choice.elbow, "elbow"), (choice.supported, "most that the noise supports")]
    marked += [(count, "about as good") for count in choice.as_good if count != choice.best]
    curves = (choice.n_clusters, choice.loss, choice.held_out, choice.held_out_error, choice.even)
    rows = []
    for count, loss, held_out, held_out_error, even in zip(*(list(map(float, curve)) for curve in curves), strict=True):
        marks = ", ".join(word for number_of, word in marked if number_of == count)
        rows.append((f"{count:.0f}", number(loss), " ± ".join(with_error(held_out, held_out_error)), number(even), marks))
    heads = [("clusters", True), ("loss", True), ("held-out loss", True), ("without clusters", True), ("", False)]
    print_table(console, heads, rows)
    _print_lines(console, comparison_of_numbers(choice.to_dict()))


def print_density(console: "Console", found: "DensityClusters") -> None:
    """Print clusters of cells: noisy numbers of rows, how many cells, and from where to where they reach."""
    card = found.card()
    shown = card.n_fixed + _n_shown(console, found.synopsis.n_features, beside=30)
    console.print(card.title, style="bold")
    if card.rows:
        print_table(console, [(plain_text(name), True) for name in card.heads[:shown]], [row[:shown] for row in card.rows])
    _print_lines(console, card.sentences)


# -- ledgers -----------------------------------------------------------------------------------------------------------


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
