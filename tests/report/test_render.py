# SPDX-License-Identifier: Apache-2.0
"""The report: complete, well-formed, escaped, and silent."""

import dataclasses
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from cloister import ZCDP, PEMeans, Release
from cloister.data import ArrayRows, Schema
from cloister.exceptions import ReleaseError
from cloister.report import report_html, write_report

VOID = {"meta", "link", "br", "input"}


class Page(HTMLParser):
    """Reads a page, insisting that every element is closed in order; keeps text, tags and attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.words: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & set(self.open):
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def release_of(rows: np.ndarray, *, names: tuple[str, ...] | None = None, **parameters: object) -> Release:
    given = {"bounds": (-1, 1), "n_rounds": 3, "n_variations": 8, "n_init": 1, **parameters}
    return PEMeans(**given).fit(ArrayRows(rows, Schema(rows.shape[1], names))).release_


@pytest.fixture
def rows(generator: np.random.Generator) -> np.ndarray:
    return generator.uniform(-1, 1, (300, 2))


def test_the_page_holds_everything_it_should(rows: np.ndarray) -> None:
    page = Page(report_html(release_of(rows, names=("age", "weight"), n_clusters=3)))
    for words in (
        "3 clusters in 2 columns",
        "What was released",
        "The clusters",
        "on the two columns, in the units of the input",
        "age",
        "weight",
        "The privacy receipt",
        "Guarantee: epsilon = 1, delta = 1e-06.",
        "What epsilon means",
        "a factor of at most e^1 = 2.72",
        "Epsilon with and without delta",
        "paid from a budget of its own",
        "What it does not cover",
        "How many rows have each candidate as their nearest",
        "How the centres were found",
        "Vote 3",
        "kept votes",
        "Where the budget went",
        "scikit-learn",
    ):
        assert words in page.text
    assert "Seeded" not in page.text


def test_nothing_is_loaded_and_nothing_runs(rows: np.ndarray) -> None:
    html = report_html(release_of(rows, n_clusters=2))
    page = Page(html)
    assert not {"script", "img", "iframe", "object", "embed", "form"} & set(page.tags)
    assert [value for name, value in page.attributes if name in ("src", "href", "srcset", "action")] == ["data:,"]
    assert not re.search(r"https?:|url\(|@import|//[a-z]", html)
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert "default-src 'none'" in html


@pytest.mark.fast("shape0-parameters0", "shape3-parameters3")
@pytest.mark.parametrize(
    ("shape", "parameters"),
    [
        ((300, 1), {"n_clusters": 1}),
        ((300, 1), {"n_clusters": 4}),
        ((300, 2), {"n_clusters": 1}),
        ((300, 2), {"n_clusters": 100}),
        ((300, 200), {"n_clusters": 5}),
        ((0, 3), {"n_clusters": 2}),
        ((300, 2), {"n_clusters": 2, "delta": 0.0, "neighbours": "replace"}),
        ((300, 2), {"n_clusters": 2, "guarantee": ZCDP(0.1)}),
        ((300, 2), {"n_clusters": 2, "bounds": (1e15, 2e15)}),
        ((300, 2), {"n_clusters": 2, "epsilon": 100.0, "n_rounds": 60}),
    ],
)
def test_all_sizes_can_be_drawn(generator: np.random.Generator, shape: tuple[int, int], parameters: dict[str, object]) -> None:
    html = report_html(release_of(generator.uniform(-1, 1, shape), **parameters))
    Page(html)
    assert len(html) < 1_000_000
    assert not re.search(r"\b(nan|inf)\b", re.sub(r"<style>.*?</style>", "", html, flags=re.DOTALL))


def test_negative_counts_and_no_steps(rows: np.ndarray) -> None:
    release = release_of(rows, n_clusters=3)
    odd = dataclasses.replace(release, cluster_counts=np.array([-12.0, -3.0, 0.0]), steps=())
    page = Page(report_html(odd))
    assert "-12" not in page.text
    assert page.text.count("none above the noise") == 7  # in the head, in the map and in the table
    assert "Nothing stands out of the noise" in page.text.partition("What was released")[0], "at the top"
    radii = set(re.findall(r'class="hollow" [^>]*r="([\d.]+)"', report_html(odd)))
    assert len(radii) == 1  # a size would say something about a count
    assert page.attributes.count(("class", "hollow")) == 3
    assert "How the centres were found" not in page.text


def test_a_file_is_written_whole_and_replaced_when_that_is_wanted(rows: np.ndarray, tmp_path: Path) -> None:
    release, path = release_of(rows, n_clusters=2), tmp_path / "report.html"
    write_report(release, path)
    assert path.read_text(encoding="utf-8") == report_html(release)
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]
    path.write_text("mine")
    with pytest.raises(ReleaseError, match=r"write_report: 'report.html' exists\. Pass overwrite=True to replace it"):
        write_report(release, path)
    assert path.read_text() == "mine"
    write_report(release, path, overwrite=True)
    assert path.read_text(encoding="utf-8") == report_html(release)
