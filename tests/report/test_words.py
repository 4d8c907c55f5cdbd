# SPDX-License-Identifier: Apache-2.0
"""Sentences of the report that depend on what was released, and how pages set them."""

import re
from types import SimpleNamespace
from typing import Any

import pytest
from tests.releases import release_by_hand

from cloister import KMeans
from cloister.columns import Date, Flag, Number, Table
from cloister.privacy import StepRecord
from cloister.report import report_html
from cloister.report._pages import Picture
from cloister.report._steps import panels_of
from cloister.report._tables import Cell, Line, StripColumn, StripTable
from cloister.report._words import released_words

NUMBER, DATE = Number(0, 1), Date("2020-01-01", "2021-01-01")


@pytest.mark.parametrize(
    ("columns", "n_clusters", "words"),
    [
        ([NUMBER], 1, "1 centre in 1 column, in the units of the input, with a noisy number of rows."),
        ([NUMBER, DATE], 3, "3 centres in 2 columns, in the units of the input, each with a noisy number of rows."),
        (
            [DATE, Flag()],
            3,
            "3 centres in 2 columns, in the units of the input or as shares of levels, each with a noisy number of rows.",
        ),
        ([Flag(), Flag()], 2, "2 centres in 2 columns, as shares of levels, each with a noisy number of rows."),
    ],
)
def test_shares_are_mentioned_where_there_are_some(columns: list[Any], n_clusters: int, words: str) -> None:
    n_columns = len(columns)
    release = release_by_hand(n_clusters, n_columns, domain=Table(tuple(columns)), scaling="bounds")
    assert released_words(release) == words


def test_numbers_stay_on_one_line_with_their_per_cent() -> None:
    release = KMeans(2, epsilon=5.0, bounds=(0, 1), random_state=0).fit([[0.1, 0.1], [0.9, 0.8]] * 500).release_
    html = re.sub(r"<style>.*?</style>", "", report_html(release), flags=re.DOTALL)
    assert re.search(r"at most \d+\.\d\u00a0%", html)
    assert not re.search(r"\d%", re.sub(r"<svg.*?</svg>", "", html, flags=re.DOTALL))  # one way to write it


def test_steps_that_look_the_same_are_drawn_twice_at_most() -> None:
    names = ["round 1", "round 2", "settling 1", "settling 2", "settling 3", "settling 4", "round 3"]
    sizes = [(5, 4), (4, 3), *[(3, 3)] * 5]
    steps = [
        StepRecord(name=name, purpose="", figures={"n_points": before, "n_kept": after}, picture={"centers": [[0, 0]]})
        for name, (before, after) in zip(names, sizes, strict=True)
    ]
    kept = [panel["name"] for panel in panels_of(SimpleNamespace(steps=steps))]  # type: ignore[arg-type]
    assert kept == ["round 1", "round 2", "settling 1", "settling 4", "round 3"]


@pytest.mark.parametrize(("n_rows", "n_lines", "fits"), [(24, 1, True), (25, 1, False), (6, 4, True), (6, 5, False)])
def test_a_table_of_strips_knows_whether_a_page_holds_it(n_rows: int, n_lines: int, fits: bool) -> None:
    cell = Cell([Line("1", "", Picture(""))] * n_lines)
    assert StripTable("Cluster", ["0"] * n_rows, [StripColumn("x", "", [cell] * n_rows)]).fits_on_a_page == fits


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ((0, 1), "The bounds, the names of the columns"),
        ({"x0": (0, 1), "x1": "private"}, "The other bounds, the names of the columns"),
        ({"x0": "private", "x1": "private"}, "The names of the columns"),
    ],
)
def test_only_bounds_that_were_declared_are_said_to_be_public(bounds: object, words: str) -> None:
    import pandas as pd

    rows = pd.DataFrame([[0.1, 0.1], [0.9, 0.8]] * 500, columns=["x0", "x1"])
    html = report_html(KMeans(1, epsilon=9.0, bounds=bounds, random_state=0).fit(rows).release_)
    assert words in " ".join(html.split())
    assert "the the" not in html
