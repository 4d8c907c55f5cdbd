# SPDX-License-Identifier: Apache-2.0
"""What the pages of releases and synopses share: frame, header, receipt and tables. Every word from outside is escaped."""

from collections.abc import Sequence
from html import escape
from typing import Any

from cloister.report._figures import count_bar, guess_meter, strip
from cloister.report._format import number, plain_text, with_error
from cloister.report._style import STYLE
from cloister.report._words import ASKED, MECHANISMS, promise, versions_differ

__all__ = ["about", "count_of", "header", "page", "receipt", "strip_table", "table", "text"]

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
TICKED_CLUSTERS = 12  # up to so many, every strip also marks the other centres


def page(title: str, sections: Sequence[str], *, kind: str = "a differentially private release") -> str:
    """Return one HTML file of the given kind; empty sections are left out."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<link rel="icon" href="data:,">\n<title>{text(title)}: {text(kind)}</title>\n'
        f"<style>\n{STYLE}\n</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(section for section in sections if section)
        + "\n</main>\n</body>\n</html>\n"
    )


def header(told: dict[str, Any], title: str, facts: Sequence[tuple[str, str, str]]) -> str:
    """Return the top of the page: the guarantee, who it protects, and further facts as (name, value, small print)."""
    given = told["receipt"]
    over = f"Differentially private release · Cloister {told['method']} · {told['created']}"
    guarantee, _, rest = given["guarantee_text"].partition(", ")
    protects = "replaced" if given["neighbours"] == "replace" else "added or removed"
    cells = "".join(
        f"<div><dt>{text(name)}</dt><dd>{text(value)}{f'<small>{text(more)}</small>' if more else ''}</dd></div>"
        for name, value, more in [("Guarantee", guarantee, rest), ("Protects", "one row", protects), *facts]
    )
    return (
        f'<header><p class="over">{text(over)}</p><h1>{text(title)}</h1>{_banner(given)}<dl class="facts">{cells}</dl></header>'
    )


def receipt(told: dict[str, Any]) -> str:
    """Return the section that says what is guaranteed, what is not, and what was asked."""
    given = told["receipt"]
    lines = "".join(f"<p>{text(line)}</p>" for line in given["explanation"])
    words, after = (f"<p>{text(line)}</p>" for line in promise(given))
    return (
        f'<section id="receipt"><h2>The privacy receipt</h2>{lines}'
        f"<h3>In other words</h3>{words}<figure>{guess_meter(given['best_guess'])}</figure>{after}"
        "<h3>What it does not cover</h3><ul>"
        "<li>Several rows of one person: the guarantee is about one row, and weakens with every further one.</li>"
        "<li>What was public from the start: the bounds, the column names, the parameters.</li>"
        "<li>Labels of single rows, as <code>predict</code> computes them: treat them like the rows.</li>"
        "<li>Other releases about the same people: their budgets add up. A shared ledger keeps the sum.</li></ul>"
        f"<h3>What was asked</h3>{_group_table(given)}{_event_table(given)}</section>"
    )


def about(told: dict[str, Any]) -> str:
    """Return the section with parameters, versions and bounds, and the end of the page."""
    parameters = [[name, repr(value) if isinstance(value, str) else str(value)] for name, value in told["parameters"].items()]
    versions = [[name, version] for name, version in told["versions"].items()]
    bounds = [[name, number(low), number(high)] for name, (low, high) in zip(told["columns"], told["bounds"], strict=True)]
    kind = "A box" if told["domain"] == "box" else "A ball; its extent along each column"
    return (
        '<section id="about"><h2>Parameters and versions</h2><div class="pair">'
        f"<div><h3>Parameters</h3>{table(['Name', 'Value'], parameters)}</div>"
        f"<div><h3>Libraries</h3>{table(['Name', 'Version'], versions)}</div></div>"
        f'<details><summary>Bounds of the columns</summary><p class="small">{kind}. Rows outside were moved to its edge.</p>'
        f"{table(['Column', 'Low', 'High'], bounds, numeric=(1, 2))}</details></section>"
        "<footer>This file is complete in itself: it loads nothing and runs no script.</footer>"
    )


def strip_table(told: dict[str, Any], picked: Sequence[int]) -> str:
    """Return the centres as a table with a strip for each coordinate."""
    clusters, bounds = told["clusters"], told["bounds"]
    ends = [(c["count"] - 2 * c["count_error"], c["count"] + 2 * c["count_error"]) for c in clusters]
    low, high = min(0.0, *(end[0] for end in ends)), max(1.0, *(end[1] for end in ends))
    heads = "".join(
        f'<th scope="col"><span title="{text(told["columns"][index])}">{text(told["columns"][index])}</span>'
        f"<small>{number(bounds[index][0])} to {number(bounds[index][1])}</small></th>"
        for index in picked
    )
    rows = []
    for cluster in clusters:
        cells = [
            _cell(
                cluster["count"],
                cluster["count_error"],
                count_bar(cluster["count"], cluster["count_error"], low=low, high=high),
            )
        ]
        for index in picked:
            value, error = cluster["center"][index], cluster["center_error"][index]
            others = (
                [one["center"][index] for one in clusters if one is not cluster] if len(clusters) <= TICKED_CLUSTERS else []
            )
            cells.append(_cell(value, error, strip(value, error, low=bounds[index][0], high=bounds[index][1], others=others)))
        rows.append(f'<tr><th scope="row">{cluster["label"]}</th>{"".join(cells)}</tr>')
    return (
        '<div class="scroll" tabindex="0"><table class="centres"><thead><tr><th scope="col">Label</th>'
        f'<th scope="col">Rows<small>noisy count</small></th>{heads}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
    )


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, numeric: Sequence[int] = (), kind: str = "plain") -> str:
    """Return a table of words and numbers that scrolls sideways if it must."""
    marks = ['class="n"' if index in numeric else "" for index in range(len(heads))]
    top = "".join(f'<th scope="col" {mark}>{text(head)}</th>' for head, mark in zip(heads, marks, strict=True))
    body = "".join(
        "<tr>" + "".join(f"<td {mark}>{text(cell)}</td>" for cell, mark in zip(row, marks, strict=True)) + "</tr>"
        for row in rows
    )
    made = f'<table class="{kind}"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>'
    return f'<div class="scroll" tabindex="0">{made}</div>'


def text(value: object) -> str:
    """Return anything as text that is safe inside an element or a quoted attribute."""
    return escape(plain_text(value), quote=True)


def count_of(amount: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{amount:,} {noun}{'' if amount == 1 else 's'}"


def _banner(receipt: dict[str, Any]) -> str:
    if not receipt["seeded"]:
        return ""
    return (
        '<div class="alert" role="alert"><p><b>Seeded run: not for publication.</b> The noise was drawn from a seed, so '
        "whoever knows or guesses the seed can subtract it. Use such runs for tests and benchmarks; fit again without a "
        "seed to publish.</p></div>"
    )


def _cell(value: float, error: float, picture: str) -> str:
    shown, spread = with_error(value, error)
    return f"<td>{shown} <small>± {spread}</small>{picture}</td>"


def _group_table(receipt: dict[str, Any]) -> str:
    rows = [
        [
            ASKED.get(group["asked"], group["asked"]),
            str(group["times"]),
            _span(number(group["smallest_size"]), number(group["largest_size"])),
            MECHANISMS.get(group["mechanism"], group["mechanism"]),
            _span(f"{group['standard_deviation']:.4g}", f"{group['largest_standard_deviation']:.4g}"),
            _span(f"{group['sensitivity']:.4g}", f"{group['largest_sensitivity']:.4g}"),
            f"{group['share']:.1%}",
        ]
        for group in receipt["groups"]
    ]
    heads = ["Question", "Times", "Numbers each", "Noise", "Standard deviation", "Sensitivity", "Share of the cost"]
    return table(heads, rows, numeric=(1, 2, 4, 5, 6), kind="words") + (
        '<p class="small">The sensitivity is how far the whole answer can move when one row changes '
        f"({text(versions_differ(receipt['neighbours']))}); sums are in units of the domain's radius.</p>"
    )


def _span(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"


def _event_table(receipt: dict[str, Any]) -> str:
    rows = [
        [
            str(index),
            line["when"],
            line["asked"],
            number(line["size"]),
            line["event"],
            f"{line['scale']:.6g}",
            f"{line['sensitivity']:.6g}",
        ]
        for index, line in enumerate(receipt["events"], start=1)
    ]
    heads = ["No.", "Day", "Asked", "Numbers", "Mechanism", "Scale", "Sensitivity"]
    listed = table(heads, rows, numeric=(0, 3, 5, 6))
    return f"<details><summary>Every event, as the ledger records it</summary>{listed}</details>"
