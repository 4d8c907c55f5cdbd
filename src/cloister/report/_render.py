# SPDX-License-Identifier: Apache-2.0
"""A summary as one HTML file that opens offline: no script, no request, every word from outside escaped."""

import os
from typing import Any

from cloister.release import Release, write_whole
from cloister.report._figures import cluster_map, round_candidates, round_noise, round_panels
from cloister.report._format import with_error
from cloister.report._html import about, count_of, header, page, receipt, strip_table, table, text
from cloister.report._placing import placing_html
from cloister.report._source_target import source_target_html
from cloister.report._summary import summary
from cloister.report._synopsis import synopsis_html
from cloister.report._words import axis_words, scaling_words
from cloister.synopsis import Synopsis

__all__ = ["render", "report_html", "write_report"]

DRAWN_COLUMNS = 16  # columns with strips; a release with more shows those that tell clusters apart best


def write_report(published: Release | Synopsis, path: str | os.PathLike[str]) -> None:
    """Write the report of a release or a synopsis to one HTML file; an existing one is replaced once the new one is complete.

    Parameters
    ----------
    published : Release or Synopsis
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
    html = synopsis_html(published) if isinstance(published, Synopsis) else report_html(published)
    write_whole("write_report", path, html)


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
    if "source_target" in told:
        return source_target_html(told)
    title = f"{count_of(told['n_clusters'], 'cluster')} in {count_of(told['n_features'], 'column')}"
    course = [_evolution(told), placing_html(told)]
    return page(title, [_header(told, title), _released(told), _clusters(told), receipt(told), *course, about(told)])


# -- sections -----------------------------------------------------------------------------------------------------------


def _header(told: dict[str, Any], title: str) -> str:
    asked = told["receipt"]
    error = sum(cluster["count_error"] ** 2 for cluster in told["clusters"]) ** 0.5
    total, spread = with_error(told["total_count"], error)
    facts = [
        ("Rows, with noise", total, f"± {spread}"),
        ("Noisy answers", str(len(asked["events"])), count_of(len(asked["groups"]), "kind") + " of question"),
    ]
    if "loss" in told:
        value, spread = with_error(told["loss"]["value"], told["loss"]["error"])
        facts.insert(1, ("Mean squared distance", value, f"± {spread}"))
    return header(told, title, facts)


def _released(told: dict[str, Any]) -> str:
    way = (
        "Candidates were compared in a random projection of the columns; the centres were then averaged in all columns, with "
        "noise."
        if told["projected"]
        else ""
    )
    each = " each" if told["n_clusters"] > 1 else ""
    loss = f"<p>{text(told['loss']['words'])}</p>" if "loss" in told else ""
    return (
        '<section id="released"><h2>What was released</h2>'
        f'<p class="lead">{count_of(told["n_clusters"], "centre")} with {count_of(told["n_features"], "coordinate")}{each}, '
        "in the units of the input, and a noisy number of rows for each. No row, no exact count and no path of the input is "
        "part of this page or of the release behind it.</p>"
        f"{loss}<p>{text(scaling_words(told['scaling']))} {way} The bounds, the names of the columns, the number of clusters "
        "and the parameters are taken as public: they must have been chosen without looking at the rows.</p></section>"
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
        f"<p><b>Axis 1</b>: {text(first)}.</p><p><b>Axis 2</b>: {text(second)}.</p></figcaption></figure>"
        '<h3>Centres, with their errors</h3><p class="small">Each number is followed by its standard error: what the '
        "noise makes of it, not how rows scatter. A strip spans the bounds of its column, with a dot for the centre, a dark "
        "bar for 1.96 standard errors to each side, and faint ticks for the other centres. "
        f"The labels are those that <code>predict</code> returns.{note}</p>"
        f"{strip_table(told, picked)}{_number_table(told) if hidden else ''}</section>"
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


# -- tables -------------------------------------------------------------------------------------------------------------


def _pick_columns(told: dict[str, Any]) -> list[int]:
    """Return the columns to draw, in their own order: all, or those that tell centres apart best."""
    return sorted(told["ranking"][:DRAWN_COLUMNS])


def _number_table(told: dict[str, Any]) -> str:
    heads = ["Column", *(f"Cluster {cluster['label']}" for cluster in told["clusters"])]
    rows = []
    for index, name in enumerate(told["columns"]):
        pairs = [with_error(cluster["center"][index], cluster["center_error"][index]) for cluster in told["clusters"]]
        rows.append([name, *(f"{value} ± {error}" for value, error in pairs)])
    numbers = table(heads, rows, numeric=range(1, len(heads)))
    return f"<details><summary>All {told['n_features']} columns as numbers</summary>{numbers}</details>"
