# SPDX-License-Identifier: Apache-2.0
"""A summary as one HTML file that opens offline: no script, no request, every word from outside escaped."""

import os
from collections.abc import Sequence
from html import escape
from typing import Any

from cloister.release import Release, write_whole
from cloister.report._figures import cluster_map, count_bar, guess_meter, round_candidates, round_noise, round_panels, strip
from cloister.report._format import number, plain_text, with_error
from cloister.report._style import STYLE
from cloister.report._summary import summary
from cloister.report._words import ASKED, MECHANISMS, axis_words, promise, scaling_words, versions_differ

__all__ = ["render", "report_html", "write_report"]

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
DRAWN_COLUMNS = 16  # columns with strips; a release with more shows those that tell clusters apart best
TICKED_CLUSTERS = 12  # up to so many, every strip also marks the other centres


def write_report(release: Release, path: str | os.PathLike[str]) -> None:
    """Write the report of a release to one HTML file; an existing file is replaced only once the new one is complete.

    Parameters
    ----------
    release : Release
        What a fit published.
    path : str or path
        Where to write.

    Raises
    ------
    ReleaseError
        If the file cannot be written.

    Notes
    -----
    **Privacy.** Post-processing of a release; costs nothing.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from cloister import PEMeans
    >>> model = PEMeans(n_clusters=2, epsilon=5.0, bounds=(0, 1), random_state=0).fit([[0.1, 0.1], [0.9, 0.8]] * 500)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(model.release_, pathlib.Path(folder) / "report.html")
    """
    write_whole("write_report", path, report_html(release))


def report_html(release: Release) -> str:
    """Return the report of a release as the text of one HTML file.

    Examples
    --------
    >>> from cloister import PEMeans
    >>> model = PEMeans(n_clusters=2, epsilon=5.0, bounds=(0, 1), random_state=0).fit([[0.1, 0.1], [0.9, 0.8]] * 500)
    >>> report_html(model.release_).startswith("<!doctype html>")
    True
    """
    return render(summary(release))


def render(told: dict[str, Any]) -> str:
    """Return what :func:`summary` told as one HTML page."""
    title = f"{_count(told['n_clusters'], 'cluster')} in {_count(told['n_features'], 'column')}"
    sections = [_header(told, title), _released(told), _clusters(told), _receipt(told), _evolution(told), _about(told)]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<link rel="icon" href="data:,">\n<title>{_text(title)}: a differentially private release</title>\n'
        f"<style>\n{STYLE}\n</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(section for section in sections if section)
        + "\n</main>\n</body>\n</html>\n"
    )


# -- sections -----------------------------------------------------------------------------------------------------------


def _header(told: dict[str, Any], title: str) -> str:
    receipt = told["receipt"]
    error = sum(cluster["count_error"] ** 2 for cluster in told["clusters"]) ** 0.5
    total, spread = with_error(told["total_count"], error)
    when = str(told["created"]).replace("T", " ").replace("+00:00", " UTC")
    guarantee, _, rest = receipt["guarantee_text"].partition(", ")
    facts = [
        ("Guarantee", guarantee, rest),
        ("Protects", "one row", "replaced" if receipt["neighbours"] == "replace" else "added or removed"),
        ("Rows, with noise", total, f"± {spread}"),
        ("Noisy answers", str(len(receipt["events"])), _count(len(receipt["groups"]), "kind") + " of question"),
    ]
    cells = "".join(
        f"<div><dt>{_text(name)}</dt><dd>{_text(value)}{f'<small>{_text(more)}</small>' if more else ''}</dd></div>"
        for name, value, more in facts
    )
    return (
        f'<header><p class="over">Differentially private release · Cloister {_text(told["method"])} · {_text(when)}</p>'
        f'<h1>{_text(title)}</h1>{_banner(receipt)}<dl class="facts">{cells}</dl></header>'
    )


def _banner(receipt: dict[str, Any]) -> str:
    if not receipt["seeded"]:
        return ""
    return (
        '<div class="alert" role="alert"><p><b>Seeded run: not for publication.</b> The noise was drawn from a seed, so '
        "whoever knows or guesses the seed can subtract it. Use such runs for tests and benchmarks; fit again without a "
        "seed to publish.</p></div>"
    )


def _released(told: dict[str, Any]) -> str:
    way = (
        "Candidates were compared in a random projection of the columns; the centres were then averaged in all columns, with "
        "noise."
        if told["projected"]
        else ""
    )
    each = " each" if told["n_clusters"] > 1 else ""
    return (
        '<section id="released"><h2>What was released</h2>'
        f'<p class="lead">{_count(told["n_clusters"], "centre")} with {_count(told["n_features"], "coordinate")}{each}, '
        "in the units of the input, and a noisy number of rows for each. No row, no exact count and no path of the input is "
        "part of this page or of the release behind it.</p>"
        f"<p>{_text(scaling_words(told['scaling']))} {way} The bounds, the names of the columns, the number of clusters and "
        "the parameters are taken as public: they must have been chosen without looking at the rows.</p></section>"
    )


def _clusters(told: dict[str, Any]) -> str:
    plane = told["plane"]
    first, second = (axis_words(*pair) for pair in zip(plane["shares"], plane["loadings"], strict=True))
    picked = _pick_columns(told)
    hidden = told["n_features"] - len(picked)
    note = (
        f" Of {told['n_features']} columns, the {len(picked)} that tell clusters apart best are shown; the list below has all."
        if hidden
        else ""
    )
    return (
        '<section id="clusters"><h2>The clusters</h2>'
        f'<figure class="side">{cluster_map(plane, told["clusters"])}<figcaption><p>The centres on their first two principal '
        "axes, as distances see them. The area of a bubble is its noisy number of rows; a dashed diamond has none above "
        "the noise. A cross spans 1.96 standard errors to each side.</p>"
        f"<p><b>Axis 1</b>: {_text(first)}.</p><p><b>Axis 2</b>: {_text(second)}.</p></figcaption></figure>"
        '<h3>Centres, with their errors</h3><p class="small">Each number is followed by its standard error: what the '
        "noise makes of it, not how rows scatter. A strip spans the bounds of its column, with a dot for the centre, a dark "
        "bar for 1.96 standard errors to each side, and faint ticks for the other centres. "
        f"The labels are those that <code>predict</code> returns.{note}</p>"
        f"{_strip_table(told, picked)}{_number_table(told) if hidden else ''}</section>"
    )


def _receipt(told: dict[str, Any]) -> str:
    receipt = told["receipt"]
    lines = "".join(f"<p>{_text(line)}</p>" for line in receipt["explanation"])
    words, after = (f"<p>{_text(line)}</p>" for line in promise(receipt))
    return (
        f'<section id="receipt"><h2>The privacy receipt</h2>{lines}'
        f"<h3>In other words</h3>{words}<figure>{guess_meter(receipt['best_guess'])}</figure>{after}"
        "<h3>What it does not cover</h3><ul>"
        "<li>Several rows of one person: the guarantee is about one row, and weakens with every further one.</li>"
        "<li>What was public from the start: the bounds, the column names, the parameters.</li>"
        "<li>Labels of single rows, as <code>predict</code> computes them: treat them like the rows.</li>"
        "<li>Other releases about the same people: their budgets add up. A shared ledger keeps the sum.</li></ul>"
        f"<h3>What was asked</h3>{_group_table(receipt)}{_event_table(receipt)}</section>"
    )


def _evolution(told: dict[str, Any]) -> str:
    rounds = told["rounds"]
    if not rounds:
        return ""
    panels = round_panels(rounds)
    where = "a plane of the random projection" if told["projected"] else "the plane of the final centres"
    pictures = (
        f'<div class="panels">{panels}</div><p class="small">Candidates in {where}, all rounds at one scale: discs '
        "by their noisy votes, grey points without votes above the noise (at most 150 candidates are drawn), crosses for the "
        "centres chosen from them.</p>"
    )
    return (
        '<section id="evolution"><h2>How the candidates evolved</h2>'
        "<p>In each round every row voted for the nearest of a set of public candidates, and only noisy totals of the votes "
        "were seen. Centres were chosen from the candidates that kept votes, and their variations stood in the next round.</p>"
        f"{pictures if panels else ''}"
        f'<div class="pair"><figure><h3>Candidates</h3>{round_candidates(rounds)}<figcaption>Per round; the dark part kept '
        "votes.</figcaption></figure>"
        f"<figure><h3>Noise on each vote, in rows</h3>{round_noise(rounds)}<figcaption>Standard deviation, per round."
        "</figcaption></figure></div></section>"
    )


def _about(told: dict[str, Any]) -> str:
    parameters = [[name, repr(value) if isinstance(value, str) else str(value)] for name, value in told["parameters"].items()]
    versions = [[name, version] for name, version in told["versions"].items()]
    bounds = [[name, number(low), number(high)] for name, (low, high) in zip(told["columns"], told["bounds"], strict=True)]
    kind = "A box" if told["domain"] == "box" else "A ball; its extent along each column"
    return (
        '<section id="about"><h2>Parameters and versions</h2><div class="pair">'
        f"<div><h3>Parameters</h3>{_table(['Name', 'Value'], parameters)}</div>"
        f"<div><h3>Libraries</h3>{_table(['Name', 'Version'], versions)}</div></div>"
        f'<details><summary>Bounds of the columns</summary><p class="small">{kind}. Rows outside were moved to its edge.</p>'
        f"{_table(['Column', 'Low', 'High'], bounds, numeric=(1, 2))}</details></section>"
        "<footer>This file is complete in itself: it loads nothing and runs no script.</footer>"
    )


# -- tables -------------------------------------------------------------------------------------------------------------


def _pick_columns(told: dict[str, Any]) -> list[int]:
    """Return the columns to draw, in their own order: all, or those that tell centres apart best."""
    return sorted(told["ranking"][:DRAWN_COLUMNS])


def _strip_table(told: dict[str, Any], picked: Sequence[int]) -> str:
    clusters, bounds = told["clusters"], told["bounds"]
    ends = [(c["count"] - 2 * c["count_error"], c["count"] + 2 * c["count_error"]) for c in clusters]
    low, high = min(0.0, *(end[0] for end in ends)), max(1.0, *(end[1] for end in ends))
    heads = "".join(
        f'<th scope="col"><span title="{_text(told["columns"][index])}">{_text(told["columns"][index])}</span>'
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


def _cell(value: float, error: float, picture: str) -> str:
    shown, spread = with_error(value, error)
    return f"<td>{shown} <small>± {spread}</small>{picture}</td>"


def _number_table(told: dict[str, Any]) -> str:
    heads = ["Column", *(f"Cluster {cluster['label']}" for cluster in told["clusters"])]
    rows = []
    for index, name in enumerate(told["columns"]):
        pairs = [with_error(cluster["center"][index], cluster["center_error"][index]) for cluster in told["clusters"]]
        rows.append([name, *(f"{value} ± {error}" for value, error in pairs)])
    table = _table(heads, rows, numeric=range(1, len(heads)))
    return f"<details><summary>All {told['n_features']} columns as numbers</summary>{table}</details>"


def _group_table(receipt: dict[str, Any]) -> str:
    rows = []
    for group in receipt["groups"]:
        smallest, largest = number(group["smallest_size"]), number(group["largest_size"])
        rows.append(
            [
                ASKED.get(group["asked"], group["asked"]),
                str(group["times"]),
                smallest if smallest == largest else f"{smallest} to {largest}",
                MECHANISMS.get(group["mechanism"], group["mechanism"]),
                f"{group['standard_deviation']:.4g}",
                f"{group['sensitivity']:.4g}",
                f"{group['share']:.1%}",
            ]
        )
    heads = ["Question", "Times", "Numbers each", "Noise", "Standard deviation", "Sensitivity", "Share of the cost"]
    return _table(heads, rows, numeric=(1, 2, 4, 5, 6), kind="words") + (
        '<p class="small">The sensitivity is how far the whole answer can move when one row changes '
        f"({_text(versions_differ(receipt['neighbours']))}); sums are in units of the domain's radius.</p>"
    )


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
    heads = ["No.", "When (UTC)", "Asked", "Numbers", "Mechanism", "Scale", "Sensitivity"]
    table = _table(heads, rows, numeric=(0, 3, 5, 6))
    return f"<details><summary>Every event, as the ledger records it</summary>{table}</details>"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, numeric: Sequence[int] = (), kind: str = "plain") -> str:
    marks = ['class="n"' if index in numeric else "" for index in range(len(heads))]
    top = "".join(f'<th scope="col" {mark}>{_text(head)}</th>' for head, mark in zip(heads, marks, strict=True))
    body = "".join(
        "<tr>" + "".join(f"<td {mark}>{_text(cell)}</td>" for cell, mark in zip(row, marks, strict=True)) + "</tr>"
        for row in rows
    )
    table = f'<table class="{kind}"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>'
    return f'<div class="scroll" tabindex="0">{table}</div>'


def _text(value: object) -> str:
    """Return anything as text that is safe inside an element or a quoted attribute."""
    return escape(plain_text(value), quote=True)


def _count(amount: int, noun: str) -> str:
    return f"{amount:,} {noun}{'' if amount == 1 else 's'}"
