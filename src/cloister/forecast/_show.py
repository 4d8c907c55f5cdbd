# SPDX-License-Identifier: Apache-2.0
"""A forecast as a page of plain text, and as HTML for a notebook."""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from cloister.forecast._words import about, part

if TYPE_CHECKING:
    from cloister.forecast._forecast import CenterError, Forecast
    from cloister.privacy import Step

__all__ = ["aligned", "as_html", "as_text", "html_table"]

ERROR_HEAD = ("rows of a cluster", "error of its centre")
STEP_TITLE = (
    "Shares of the budget, and the standard deviation of the noise in each number "
    "(rows; of sums: rows times the radius that offsets are clipped to)"
)
ERROR_TITLE = "Expected error of a centre, in parts of its cluster's radius"

Rows = list[tuple[str, ...]]


def as_text(forecast: "Forecast") -> str:
    """Return the page: verdict, errors by size, noise, advice."""
    lines = [_headline(forecast), "", *forecast.verdict, *forecast.advice]
    if forecast.center_errors:
        lines += ["", f"{ERROR_TITLE}:", "", *aligned(ERROR_HEAD, _error_rows(forecast))]
    lines += ["", f"{STEP_TITLE}:", "", *aligned(_step_head(forecast), _step_rows(forecast))]
    return "\n".join(lines)


def as_html(forecast: "Forecast") -> str:
    """Return the same for a notebook."""
    sentences = "".join(f"<li>{escape(line)}</li>" for line in (*forecast.verdict, *forecast.advice))
    errors = html_table(ERROR_TITLE, ERROR_HEAD, _error_rows(forecast)) if forecast.center_errors else ""
    steps = html_table(STEP_TITLE, _step_head(forecast), _step_rows(forecast))
    return f"<div><p><strong>{escape(_headline(forecast))}</strong></p><ul>{sentences}</ul>{errors}{steps}</div>"


def _headline(forecast: "Forecast") -> str:
    where = f", votes in a projection to {forecast.n_projected}" if forecast.n_projected else ""
    return (
        f"{forecast.method}, {forecast.n_rows:,} x {forecast.n_features:,}, k = {forecast.n_clusters:,}, {forecast.guarantee}, "
        f"{forecast.neighbours} neighbours{where}"
    )


def _error_rows(forecast: "Forecast") -> Rows:
    return [(f"{one.size:,}", _error_words(one)) for one in forecast.center_errors]


def _error_words(one: "CenterError") -> str:
    return part(one.error) if one.found else "missed or merged"


def _step_head(forecast: "Forecast") -> tuple[str, ...]:
    return ("step", "points", "share", *_questions(forecast))


def _questions(forecast: "Forecast") -> tuple[str, ...]:
    """Return what the steps ask for, in the order in which it is first asked with other things."""
    richest = sorted(forecast.steps, key=lambda step: -len(step.queries))
    return tuple(dict.fromkeys(query.name for step in richest for query in step.queries))


def _step_rows(forecast: "Forecast") -> Rows:
    questions = _questions(forecast)
    return [
        (step.name, f"{step.n_points:,}", part(step.share), *(_noise_words(step, name) for name in questions))
        for step in forecast.steps
    ]


def _noise_words(step: "Step", name: str) -> str:
    sigma = step.sigma(name)
    return "" if sigma is None else about(sigma)


def aligned(head: Sequence[str], rows: Rows) -> list[str]:
    """Return the lines of a table: the first column to the left, the others to the right."""
    table = [tuple(head), *rows]
    widths = [max(len(row[index]) for row in table) for index in range(len(head))]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))])
        for row in table
    ]
    return [line.rstrip() for line in lines]


def html_table(title: str, head: Sequence[str], rows: Rows) -> str:
    """Return the same table for a notebook."""
    heads = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><caption>{escape(title)}</caption><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
