# SPDX-License-Identifier: Apache-2.0
"""A forecast as a page of plain text, and as HTML for a notebook."""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from cloister.forecast._words import about, part

if TYPE_CHECKING:
    from cloister.forecast._forecast import CenterError, Forecast
    from cloister.forecast._persons import PersonForecast, RowLimit
    from cloister.privacy import Step

__all__ = ["aligned", "as_html", "as_text", "html_table"]

ERROR_TITLE = "Expected error of a centre, in parts of its cluster's radius"
UNIT_HEAD = ("rows of a person", "rows used", "noise of a count", "of all", "error of a centre", "")

Rows = list[tuple[str, ...]]


def as_text(forecast: "Forecast") -> str:
    """Return the page: verdict, errors by size, noise, advice."""
    lines = [_headline(forecast), "", *forecast.verdict, *forecast.advice]
    if forecast.center_errors:
        lines += ["", f"{ERROR_TITLE}:", "", *aligned(_error_head(forecast), _error_rows(forecast))]
    if forecast.privacy_unit is not None:
        lines += ["", f"{_unit_title(forecast.privacy_unit)}:", "", *aligned(UNIT_HEAD, _unit_rows(forecast.privacy_unit))]
    lines += ["", f"{_step_title(forecast)}:", "", *aligned(_step_head(forecast), _step_rows(forecast))]
    return "\n".join(lines)


def as_html(forecast: "Forecast") -> str:
    """Return the same for a notebook."""
    sentences = "".join(f"<li>{escape(line)}</li>" for line in (*forecast.verdict, *forecast.advice))
    errors = html_table(ERROR_TITLE, _error_head(forecast), _error_rows(forecast)) if forecast.center_errors else ""
    steps = html_table(_step_title(forecast), _step_head(forecast), _step_rows(forecast))
    persons = forecast.privacy_unit
    privacy_unit = "" if persons is None else html_table(_unit_title(persons), UNIT_HEAD, _unit_rows(persons))
    return f"<div><p><strong>{escape(_headline(forecast))}</strong></p><ul>{sentences}</ul>{errors}{privacy_unit}{steps}</div>"


def _headline(forecast: "Forecast") -> str:
    where = f", votes in a projection to {forecast.n_projected}" if forecast.n_projected else ""
    size = f"{forecast.n_rows:,}" if forecast.privacy_unit is None else f"{forecast.n_rows:,} persons"
    whom = "" if forecast.privacy_unit is None else f", protects {forecast.privacy_unit.words}"
    return (
        f"{forecast.method}, {size} x {forecast.n_features:,}, k = {forecast.n_clusters:,}, {forecast.guarantee}, "
        f"{forecast.neighbours} neighbours{whom}{where}"
    )


def _counted(forecast: "Forecast") -> str:
    return "rows" if forecast.privacy_unit is None else forecast.privacy_unit.counted


def _error_head(forecast: "Forecast") -> tuple[str, ...]:
    return f"{_counted(forecast)} of a cluster", "error of its centre"


def _error_rows(forecast: "Forecast") -> Rows:
    return [(f"{one.size:,}", _error_words(one)) for one in forecast.center_errors]


def _error_words(one: "CenterError") -> str:
    return part(one.error) if one.found else "missed or merged"


def _unit_title(privacy_unit: "PersonForecast") -> str:
    return (
        f"What so many rows of a person cost and lose, if persons have 1 to {privacy_unit.rows_per_unit:,} rows, all equally "
        f"often (an assumption). Noise of a count in {privacy_unit.counted}"
        f"{', last line rows' * (privacy_unit.counted != 'rows')}; "
        "error of the centre of a cluster of average size, the accident of who was collected included"
    )


def _unit_rows(privacy_unit: "PersonForecast") -> Rows:
    rows = [_limit_cells(f"{one.max_rows:,}", one, _limit_mark(privacy_unit, one)) for one in privacy_unit.limits]
    return [*rows, _limit_cells(f"all, each row under {privacy_unit.row_guarantee}", privacy_unit.divided, "")]


def _limit_cells(first: str, one: "RowLimit", mark: str) -> tuple[str, ...]:
    noise = "" if one.count_noise is None else about(one.count_noise)
    share = "" if one.noise_share is None else part(one.noise_share)
    return first, f"{one.rows_used:,}", noise, share, part(one.center_error), mark


def _limit_mark(privacy_unit: "PersonForecast", one: "RowLimit") -> str:
    marks = (one.recommended, "recommended"), (one.max_rows == privacy_unit.max_rows and not privacy_unit.found, "this plan")
    return ", ".join(word for is_so, word in marks if is_so)


def _step_title(forecast: "Forecast") -> str:
    counted = _counted(forecast)
    return (
        "Shares of the budget, and the standard deviation of the noise in each number "
        f"({counted}; of sums: {counted} times the radius that offsets are clipped to)"
    )


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
