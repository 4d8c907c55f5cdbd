# SPDX-License-Identifier: Apache-2.0
"""Declared columns on the page, in the table and in JSON: the same words everywhere, and hostile text stays text."""

import dataclasses
import json
import re

import numpy as np
import pytest
from tests.releases import COLUMNS, declared_release, synopsis_by_hand

from cloister.cli import open_console, print_release
from cloister.columns import Category, Date, Flag, Number, Table
from cloister.release import CellSummary, ColumnProfile, Profiles, Release, column_words
from cloister.report import (
    cell_words,
    cells_of,
    found_words,
    report_html,
    summary,
    synopsis_html,
    synopsis_summary,
    table_of,
)

from .test_render import Page

HOSTILE = ["<script>alert(1)</script>", '" onmouseover="x', "a & b", "</title><b>", "]]>", "\x1b[31m\n", "{{ 7 * 7 }}", "\x00"]


@pytest.fixture
def release() -> Release:
    return declared_release()


def printed(release: Release, capsys: pytest.CaptureFixture[str]) -> str:
    print_release(open_console(), release)
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ({"type": "number", "value": 54.2178, "error": 0.8341}, "54.22 ± 0.83"),
        ({"type": "number", "value": 5.0, "error": 0.1, "missing": [0.125, 0.011]}, "5.00 ± 0.10, missing 12 % ± 1 %"),
        ({"type": "date", "value": "2021-03-04", "error_days": 3.456}, "2021-03-04 ± 3.5 days"),
        ({"type": "date", "value": "2021-03-04", "error_days": 1234.4}, "2021-03-04 ± 1,234 days"),
        ({"type": "date", "value": "2021-03-04", "error_days": 0.0123}, "2021-03-04 ± 0.01 days"),
        ({"type": "date", "value": "2021-03-04", "error_days": 0.0}, "2021-03-04 ± 0 days"),
        ({"type": "flag", "share": 0.34, "error": 0.011}, "34 % ± 1 %"),
        ({"type": "flag", "share": 0.0, "error": 0.00042}, "0.00 % ± 0.04 %"),
        ({"type": "flag", "share": 1.0, "error": 0.0}, "100 % ± 0 %"),
        ({"type": "category", "shares": {"f": [0.62, 0.01], "m": [0.38, 0.011]}}, "f 62 %, m 38 % (± 1 %)"),
        (
            {"type": "category", "shares": {"a": [0.1, 0.02], "b": [0.2, 0.02], "c": [0.3, 0.02], "d": [0.4, 0.02]}},
            "d 40 %, c 30 %, b 20 %, ... (± 2 %)",
        ),
        (
            {"type": "category", "shares": {"a": [0.5, 0.02], "b": [0.3, 0.02]}, "missing": [0.2, 0.02]},
            "a 50 %, b 30 % (± 2 %), missing 20 % ± 2 %",
        ),
    ],
)
def test_a_column_in_one_line(column: dict[str, object], words: str) -> None:
    assert column_words(column) == words


def test_page_table_and_json_say_the_same_also_of_what_was_missing(
    release: Release, capsys: pytest.CaptureFixture[str]
) -> None:
    again = Release.from_dict(release.to_dict() | {"feature_names": ["same"] * 6})  # an edited file
    Page(report_html(again))
    assert printed(again, capsys).splitlines()[1].count("same") == 6
    text, page = printed(release, capsys), Page(report_html(release))
    for words in ("30.25 ± 0.50", "90.5 ± 2.0", "missing 12 %", "f 62 %, m 38 %", "34 % ± 1 %", "2021-03-04 ± 3.5"):
        assert words in text
    for words in ("2 clusters in 6 columns", "f 62 % ± 1 %", "north 50 % ± 2 %", "34 % ± 1 %", "2021-03-04 ± 3.5 days"):
        assert words in page.text
    found = summary(release)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    columns = {one["name"]: one for one in found["clusters"][0]["columns"]}
    assert columns["sex"]["shares"] == release.profile()[0]["columns"]["sex"]["shares"]
    assert [one["name"] for one in found["table"]] == list(COLUMNS)
    words = (
        "Missing or outside the bounds, ± 0.4 %: glucose 15.0 % missing (placed at a place of their own); sex 3.0 % outside; "
        "ward 10.0 % missing and 5.0 % outside (placed at a place of their own); smoker 2.0 % missing (placed at yes 50 %)."
    )
    assert cell_words(cells_of(release)) == words
    assert words in " ".join(text.split())
    assert words in page.text
    assert "What was missing" in page.text
    assert "ward 10.0 % ± 0.4 % 5.0 % ± 0.4 %" in page.text
    assert found["cells"]["columns"][5] == {
        "name": "admitted",
        "missing": 0.0,
        "outside": 0.0,
        "placed": "2023-07-02",
    }


def test_nothing_missing_and_nothing_asked(release: Release, capsys: pytest.CaptureFixture[str]) -> None:
    quiet = dataclasses.replace(release, cells=CellSummary(missing=[0.001] * 6, outside=[0.0] * 6, error=0.004))
    assert "no share that stands out from the noise (± 0.4 %) in any column" in printed(quiet, capsys)
    assert "the middle" in Page(report_html(quiet)).text
    for cells in (None, CellSummary()):
        unasked = dataclasses.replace(release, cells=cells)
        assert cells_of(unasked) is None
        assert cell_words(None) == ""
        assert "Missing or outside" not in printed(unasked, capsys)
        assert "What was missing" not in Page(report_html(unasked)).text


def test_bounds_that_were_found_and_spreads_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    columns = (Number(-13107.2, 144179.2), *list(COLUMNS.values())[1:])
    spreads = np.array([12345.678, 30.0, np.nan, np.nan, np.nan, 500.0])
    domain = Table(columns, ("noise", *[""] * 5), spreads)
    release = declared_release(domain=domain, scaling="spread")
    assert found_words(table_of(release)) == "Bounds found with noise: age -13,110 to 144,200."
    assert "Bounds found with noise: age -13,110 to 144,200." in printed(release, capsys)
    page = Page(report_html(release))
    for words in (
        "divided by their spread, which was found with noise",
        "Bounds found with noise: age -13,110 to 144,200.",
        "bounds found with noise, spread 12,350",
        "the bounds that were not found with noise",
        "The other bounds, the names",
    ):
        assert words in page.text


@pytest.mark.parametrize("text", HOSTILE)
def test_names_and_levels_are_text(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    columns = (*list(COLUMNS.values())[:2], Category([text, "m"]), *list(COLUMNS.values())[3:])
    described = ColumnProfile(name=text, kind="category", levels=(text, "m"), noisy_counts=[[90.0, 9.0, 0, 0]] * 2, sigma=1.0)
    names = {"domain": Table(columns), "profiles": Profiles(columns=(described,))}
    about = {"method": text, "created": text, "parameters": {text: text}, "versions": {text: text}}
    release = declared_release((text, "b", "c", "d", "e", "f"), **names, **about)
    page = Page(report_html(release))
    assert not {"script", "b ", "img"} & set(page.tags)
    assert "onmouseover" not in dict(page.attributes)
    assert "49" not in page.text.split()
    if text.isprintable():
        assert page.text.count(text) >= 9
        assert text[:12] in printed(release, capsys)
    assert "\x1b" not in printed(release, capsys)


def test_many_levels_are_cut_and_of_many_columns_all_are_listed_and_the_telling_ones_drawn() -> None:
    levels = [f"level {index}" for index in range(40)]
    columns = (Category(levels), *[Flag()] * 30, Date("2020-01-01T08:00:00", "2020-01-02T08:00:00"))
    domain = Table(columns)
    center = np.concatenate([np.full(40, 1 / 40), np.full(30, 0.5), [18262.7]])
    names = ("c", *(f"f{index}" for index in range(30)), "t")
    centers = {"cluster_centers": np.array([center, center]), "center_errors": np.full((2, 71), 0.01)}
    release = declared_release(names, domain=domain, cells=None, **centers)
    html = report_html(release)
    page = Page(html)
    assert "All 32 columns as numbers" in page.text
    assert "f29" in page.text
    assert page.attributes.count(("class", "strip")) == 2 * (1 + 15 + 5)  # counts, and 16 columns, one of 5 levels
    assert "level 0 2 %, level 1 2 %" in page.text
    assert "... (40 levels)" in page.text
    assert not re.search(r"\b(nan|inf)\b", re.sub(r"<style>.*?</style>", "", html, flags=re.DOTALL))


def test_a_synopsis_tells_what_was_missing() -> None:
    cells = CellSummary(missing=[0.0, 0.3], outside=[0.0, 0.0], error=0.012)
    synopsis = synopsis_by_hand(np.full((4, 4), 25.0), column_cells=cells)
    words = cell_words(synopsis_summary(synopsis)["cells_of_columns"])
    assert words == "Missing or outside the bounds, ± 1 %: x1 30 % missing (placed at the middle)."
    assert words in Page(synopsis_html(synopsis)).text
