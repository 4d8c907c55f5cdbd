# SPDX-License-Identifier: Apache-2.0
"""A release as one HTML file that opens offline: no request, every value from outside escaped."""

import os
from typing import Any

from cloister import validate
from cloister.files import write_whole
from cloister.privacy import refuse_seeded
from cloister.release import NONE, Release, error_words
from cloister.report._figures import curve_of
from cloister.report._heat import heat_of
from cloister.report._maps import cluster_map
from cloister.report._profiles import profile_section
from cloister.report._receipt import Fact, counted_words
from cloister.report._source_target import source_target_page
from cloister.report._steps import course_of
from cloister.report._summary import summary
from cloister.report._synopsis import synopsis_html
from cloister.report._tables import document_page, number_tables, strip_tables
from cloister.report._words import choice_words, released_words
from cloister.synopsis import Synopsis
from cloister.text import count_of, number, sentence, with_error

DRAWN_COLUMNS = 16  # columns with strips; of more, those that tell clusters apart best


def write_report(
    published: object, path: str | os.PathLike[str], *, overwrite: bool = False, allow_seeded: bool = False
) -> None:
    """Write the report of a release, a synopsis or a fitted model to one HTML file, which opens offline.

    Parameters
    ----------
    published : Release, Synopsis or fitted estimator
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
    held = (published, getattr(published, "release_", None), getattr(published, "synopsis_", None))
    found = next((one for one in held if isinstance(one, Release | Synopsis)), None)
    if found is None:
        rule, remedy = "a release, a synopsis or a fitted model", "Pass model.fit(rows), or its release_."
        validate.refuse("write_report.published", rule, type(published).__name__, remedy=remedy)
    refuse_seeded("write_report", seeded=found.receipt.seeded, allow_seeded=allow_seeded)
    html = synopsis_html(found) if isinstance(found, Synopsis) else report_html(found)
    write_whole("write_report", path, html, overwrite=overwrite)


def report_html(release: Release) -> str:
    """Return the report of a release as the text of one HTML file."""
    found = summary(release)
    if release.source_target is not None:
        return document_page(
            "source_target.html", release, found, course=course_of(found), **source_target_page(release, found)
        )
    picked = sorted(found["table_ranking"][:DRAWN_COLUMNS])  # in their own order
    choice = found["choice"]
    return document_page(
        "release.html",
        release,
        found,
        title=f"{count_of(release.n_clusters, 'cluster')} in {count_of(release.n_columns, 'column')}",
        facts=_facts(release, found),
        course=course_of(found),
        released=released_words(release),
        map=cluster_map(release),
        heat=heat_of(release),
        strips=strip_tables(release, picked),
        profiles=profile_section(release),
        n_drawn=len(picked),
        errors=error_words(total=release.errors_are_total),
        stable=release.stability is not None,
        numbers=number_tables(release) if len(picked) < release.n_columns else [],
        choice=choice_words(release),
        curve=None if choice is None else curve_of(choice),
    )


def _facts(release: Release, found: dict[str, Any]) -> list[Fact]:
    counted, error = sentence(counted_words(release.receipt)), release.n_rows_error
    if error == 0:
        facts = [(counted, number(release.n_rows), "public")]
    else:
        total, spread = with_error(release.n_rows, error) if release.stands_out.any() else (NONE, "")
        facts = [(f"{counted} (noisy)", total, spread and f"± {spread}")]
    if "loss" in found:
        value, spread = with_error(found["loss"]["value"], found["loss"]["error"])
        facts.append(("Mean squared distance", value, f"± {spread}"))
    answers, kinds = len(found["receipt"]["events"]), count_of(len(found["receipt"]["groups"]), "kind")
    return [*facts, ("Noisy answers", str(answers), f"{kinds} of question")]
