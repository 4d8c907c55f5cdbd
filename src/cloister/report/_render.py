# SPDX-License-Identifier: Apache-2.0
"""A release as one HTML file that opens offline: no request, every value from outside escaped."""

import os
from typing import Any

from cloister import validate
from cloister.files import write_whole
from cloister.privacy import refuse_seeded
from cloister.release import NONE, Release, error_words
from cloister.report._choice import choice_view
from cloister.report._column_words import cell_words, missing_fact
from cloister.report._heat import heat_of
from cloister.report._maps import cluster_map
from cloister.report._pages import Picture, render_page
from cloister.report._profiles import profile_section
from cloister.report._source_target import source_target_html
from cloister.report._steps import course_of
from cloister.report._strips import strip_tables
from cloister.report._summary import summary
from cloister.report._synopsis import synopsis_html
from cloister.report._tables import cell_tables, number_tables, shared_parts
from cloister.report._words import axis_words, counted_words, released_words
from cloister.synopsis import Synopsis, WeightedPoints
from cloister.text import count_of, with_error

__all__ = ["render", "report_html", "write_report"]

DRAWN_COLUMNS = 16  # columns with strips; of more, those that tell clusters apart best


def write_report(
    published: object, path: str | os.PathLike[str], *, overwrite: bool = False, allow_seeded: bool = False
) -> None:
    """Write the report of a release, a synopsis or a fitted model to one HTML file, which opens offline.

    Parameters
    ----------
    published : Release, Synopsis, WeightedPoints or fitted estimator
        What a fit published; of an estimator its `release_`, or its `synopsis_` where it has no centres.
    path : str or path
        Where to write.
    overwrite : bool, default=False
        Whether a file that exists is replaced, once the new one is complete.
    allow_seeded : bool, default=False
        Whether what was fitted with a seed is written, for tests and benchmarks: the page then says so, in red.

    Returns
    -------
    None
        The file is written whole or not at all.

    Raises
    ------
    ReleaseError
        If the file exists and may not be overwritten, or cannot be written, or the fit was seeded without `allow_seeded`.
    ParameterError
        If `published` is none of these, or an estimator that was not fitted.

    Notes
    -----
    **Privacy.** Post-processing of a release; costs nothing.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from cloister import PEMeans, write_report
    >>> model = PEMeans(n_clusters=2, epsilon=5.0, bounds=(0, 1)).fit([[0.1, 0.1], [0.9, 0.8]] * 500)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(model, pathlib.Path(folder) / "report.html")
    """
    found = _published(published)
    refuse_seeded("write_report", seeded=found.receipt.seeded, allow_seeded=allow_seeded)
    html = synopsis_html(found) if isinstance(found, Synopsis | WeightedPoints) else report_html(found)
    write_whole("write_report", path, html, overwrite=overwrite)


def _published(value: object) -> Release | Synopsis | WeightedPoints:
    """Return a release or a synopsis, also of a model that holds one."""
    held = (value, getattr(value, "release_", None), getattr(value, "synopsis_", None))
    found = next((one for one in held if isinstance(one, Release | Synopsis | WeightedPoints)), None)
    if found is None:
        rule, remedy = "a release, a synopsis or a fitted model", "Pass model.fit(rows), or its release_."
        validate.refuse("write_report.published", rule, type(value).__name__, remedy=remedy)
    return found


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


def render(summary: dict[str, Any]) -> str:
    """Return what :func:`summary` returned as one HTML page."""
    if "source_target" in summary:
        return source_target_html(summary)
    picked = sorted(summary["table_ranking"][:DRAWN_COLUMNS])  # in their own order
    drawn = cluster_map(summary)
    return render_page(
        "release.html",
        title=f"{count_of(summary['n_clusters'], 'cluster')} in {count_of(summary['n_columns'], 'column')}",
        summary=summary,
        released=released_words(summary, counted=counted_words(summary["receipt"])),
        has_shares=any(one["type"] in ("category", "flag") for one in summary["table"]),
        silent=not any(cluster["stands_out"] for cluster in summary["clusters"]),
        facts=_facts(summary),
        map=drawn,
        map_picture=Picture("", drawn.svg),
        heat=heat_of(summary),
        axes=[axis_words(*pair) for pair in zip(summary["plane"]["shares"], summary["plane"]["loadings"], strict=True)],
        strips=strip_tables(summary, picked),
        profiles=profile_section(summary),
        n_drawn=len(picked),
        errors=error_words(total=summary["errors_are_total"]),
        stable=any(cluster["stability"] is not None for cluster in summary["clusters"]),
        numbers=number_tables(summary) if len(picked) < summary["n_columns"] else None,
        cells=cell_tables(summary["cells"]),
        cell_words=cell_words(summary["cells"]),
        shared=shared_parts(summary),
        course=course_of(summary),
        choice=None if summary["choice"] is None else choice_view(summary["choice"], kind="points"),
    )


def _facts(summary: dict[str, Any]) -> list[tuple[str, str, str]]:
    receipt = summary["receipt"]
    error = sum(cluster["count_error"] ** 2 for cluster in summary["clusters"]) ** 0.5
    total, spread = with_error(summary["total_count"], error)
    seen = any(cluster["stands_out"] for cluster in summary["clusters"])
    facts = [
        (f"{counted_words(receipt).capitalize()} (noisy)", *((total, f"± {spread}") if seen else (NONE, ""))),
        ("Noisy answers", str(len(receipt["events"])), count_of(len(receipt["groups"]), "kind") + " of question"),
    ]
    if "loss" in summary:
        value, spread = with_error(summary["loss"]["value"], summary["loss"]["error"])
        facts.insert(1, ("Mean squared distance", value, f"± {spread}"))
    return [*facts, *missing_fact(summary["cells"])]
