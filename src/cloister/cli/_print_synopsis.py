# SPDX-License-Identifier: Apache-2.0
"""Synopses, and what is read off them, as tables for people."""

from typing import TYPE_CHECKING, Any

from cloister.cli._print import CELL_WIDTH, FEW_COLUMNS, counted_words, open_console, print_receipt, print_table
from cloister.text import count_of

if TYPE_CHECKING:
    from rich.console import Console

    from cloister.columns import FloatArray
    from cloister.synopsis import DensityClusters, KChoice, Synopsis, WeightedPoints

__all__ = ["print_choice", "print_density", "print_synopsis", "print_tree"]


def print_synopsis(console: "Console", synopsis: "Synopsis | WeightedPoints") -> None:
    """Print the grid or the points, their noise, and the receipt in plain words."""
    from cloister.report import cell_words, found_words, synopsis_summary, with_error

    summary = synopsis_summary(synopsis)
    (_print_grid if summary["kind"] == "grid" else _print_points)(console, summary)
    value, error = with_error(summary["n_rows"], summary["n_rows_error"])
    counted = counted_words(synopsis.receipt).capitalize()
    console.print(f"{counted}: {value} (public)" if summary["n_rows_error"] == 0 else f"{counted}: {value} ± {error}")
    for line in (cell_words(summary["cells_of_columns"]), found_words(summary["table"])):
        if line:
            console.print(line)
    print_receipt(console, synopsis.receipt)


def _print_grid(console: "Console", summary: dict[str, Any]) -> None:
    from cloister.report import number, plain_text

    cells = " x ".join(map(str, summary["cells"])) + (f" = {summary['n_cells']:,}" if len(summary["cells"]) > 1 else "")
    if summary["adaptive"]:
        cells = f"{summary['n_cells']:,}"
    kind = "cells of several sizes" if summary["adaptive"] else "cells"
    console.print(f"A noisy count for each of {cells} {kind}, noise of standard deviation {summary['noise']}", style="bold")
    columns = zip(summary["columns"], summary["bounds"], summary["cells"], strict=True)
    rows = [
        (plain_text(name), number(low), number(high), str(count), number((high - low) / count))
        for name, (low, high), count in columns
    ]
    finest = "finest " * summary["adaptive"]
    heads = [("column", False), ("from", True), ("to", True), (f"{finest}cells", True), (f"width of a {finest}cell", True)]
    print_table(console, heads, rows)


def _print_points(console: "Console", summary: dict[str, Any]) -> None:
    from cloister.report import declared_words, plain_text

    points, most = count_of(summary["n_points"], "point"), summary["max_clusters"]
    console.print(
        f"{points}, made for up to {most:,} clusters, noise of standard deviation {summary['sigma']:.3g} in each count",
        style="bold",
    )
    rows = [[plain_text(word) for word in declared_words(one)] for one in summary["table"]]
    heads = [("column", False), ("what it is", False), ("bounds or levels", False), ("also", False)]
    print_table(console, heads, rows)


def print_tree(console: "Console", linkage: "FloatArray", rows: "FloatArray", n_clusters: int) -> None:
    """Print the last joins of a tree, down to `n_clusters` branches: how many rows each has, and at what height it splits."""
    from rich.tree import Tree

    from cloister.report import number

    n_leaves = len(rows)
    masses = rows.tolist()
    for first, second, _, _ in linkage.tolist():
        masses.append(masses[int(first)] + masses[int(second)])

    def words(node: int) -> str:
        return f"{number(round(masses[node]))} rows"

    def grow(branch: "Tree", node: int) -> None:
        join = node - n_leaves
        if join < 0 or join < len(linkage) - (n_clusters - 1):
            return
        first, second, height, _ = linkage[join]
        branch.label = f"{words(node)}, split at {height:.4g}"
        for child in sorted((int(first), int(second)), key=lambda one: -masses[one]):
            grow(branch.add(words(child)), child)

    top = len(masses) - 1
    root = Tree(words(top))
    grow(root, top)
    console.print(root)


def print_choice(console: "Console", choice: "KChoice") -> None:
    """Print the loss for each number of clusters, and which one is best."""
    from cloister.report import number, with_error

    rows = []
    for index, count in enumerate(choice.n_clusters):
        value, error = with_error(float(choice.held_out[index]), float(choice.held_out_error[index]))
        marks = [
            ("best", choice.best),
            ("elbow", choice.elbow),
            ("most that the noise supports", choice.supported),
            *(("about as good", one) for one in choice.as_good if one != choice.best),
        ]
        words = ", ".join(word for word, one in marks if one == count)
        loss, even = number(float(choice.loss[index])), number(float(choice.even[index]))
        rows.append((str(count), loss, f"{value} ± {error}", even, words))
    heads = [("clusters", True), ("loss", True), ("held-out loss", True), ("without clusters", True), ("", False)]
    print_table(console, heads, rows)
    console.print(f"Best: {choice.best} of {choice.n_clusters[0]} to {choice.n_clusters[-1]} clusters.")
    others = [str(count) for count in choice.as_good if count != choice.best]
    if others:
        console.print(f"About as good: {', '.join(others)}.")
    if choice.best == 1:
        console.print("Nothing speaks for more than one cluster.")


def print_density(found: "DensityClusters") -> None:
    """Print clusters of cells: noisy numbers of rows, how many cells, and from where to where they reach."""
    from cloister.report import plain_text

    console, card = open_console(), found.card()
    console.print(card.title, style="bold")
    fitting = max(2, (console.width - 30) // CELL_WIDTH)
    shown = card.n_fixed + (found.synopsis.n_features if found.synopsis.n_features <= FEW_COLUMNS else fitting)
    if card.rows:
        print_table(console, [(plain_text(name), True) for name in card.heads[:shown]], [row[:shown] for row in card.rows])
    for line in card.sentences:
        console.print(line)
