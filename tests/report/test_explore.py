# SPDX-License-Identifier: Apache-2.0
"""The page of a synopsis, cut by cut: what its script reads is what the synopsis says, and what it shows without a script."""

import base64
import hashlib
import json
import re
import warnings
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest

from cloister import GridSynopsis, KMeans, PointSynopsis
from cloister.columns import Category, Number
from cloister.report import report_html, summary, synopsis_html
from cloister.report._cuts import cuts_of, dendrogram_of
from cloister.report._summary import choice_of
from cloister.text import share_text, with_error

from .test_render import Page

HOSTILE = "</script><script>document.title = 'ran'</script>&<!--"


def blobs(n_features: int, n_clusters: int = 4, n_rows: int = 1600) -> pd.DataFrame:
    generator = np.random.default_rng(n_features)
    centers = generator.uniform(10, 90, (n_clusters, n_features))
    rows = centers[generator.integers(0, n_clusters, n_rows)] + generator.normal(0, 2, (n_rows, n_features))
    return pd.DataFrame(np.clip(rows, 0, 100), columns=[HOSTILE, *(f"lab value {index}" for index in range(1, n_features))])


@pytest.fixture(scope="module")
def synopses() -> dict[str, Any]:
    common = {"epsilon": 4.0, "bounds": (0, 100), "random_state": 0}
    points = {f"points {n}": PointSynopsis(max_clusters=7, n_init=2, **common).fit(blobs(n)).synopsis_ for n in (1, 2, 4, 12)}
    return {**points, "grid 2": GridSynopsis(4, rule=8, **common).fit(blobs(2)).synopsis_}


@pytest.fixture(scope="module")
def pages(synopses: dict[str, Any]) -> dict[str, str]:
    return {name: synopsis_html(synopsis) for name, synopsis in synopses.items()}


def data_of(html: str) -> dict[str, Any]:
    return dict(json.loads(re.findall(r'<script type="application/json" id="cuts">(.*?)</script>', html)[0]))


KINDS = ("points 1", "points 2", "points 4", "points 12", "grid 2")
each = pytest.mark.parametrize("name", KINDS)


@pytest.mark.fast("points 1", "grid 2")
@each
def test_every_cut_says_what_the_synopsis_says(synopses: dict[str, Any], pages: dict[str, str], name: str) -> None:
    synopsis, data = synopses[name], data_of(pages[name])
    n_points = len(synopsis.tree_points(random_state=0).points)
    most = min(30, n_points) if name == "grid 2" else 7
    assert [cut["k"] for cut in data["cuts"]] == list(range(1, most + 1))
    for k in (1, 3, 6):
        cut, release = data["cuts"][k - 1], synopsis.cut(k, random_state=0)
        loss = with_error(release.details["loss"], release.details["loss_error"])
        assert cut["words"].startswith("k = {}, loss {} ± {}, silhouette ".format(k, *loss))
        for label, cluster in enumerate(cut["clusters"]):
            seen = release.stands_out[label]
            counted = "{} ± {} rows".format(*with_error(release.cluster_counts[label], release.count_errors[label]))
            assert cluster["rows"] == (counted if seen else "none above the noise")
            assert cluster["stability"] == ("" if release.stability is None else share_text(release.stability[label]))
            assert len(cluster["cells"]) == synopsis.n_features


@each
def test_rows_go_from_cut_to_cut_and_none_are_lost(synopses: dict[str, Any], pages: dict[str, str], name: str) -> None:
    cuts = data_of(pages[name])["cuts"]
    total = synopses[name].tree_points(random_state=0).weights.sum()
    for cut in cuts:
        for direction, end in (("from", 1), ("to", len(cuts))):
            if cut["k"] == end:
                assert {cluster[direction] for cluster in cut["clusters"]} == {None}
                continue
            moved = [float(rows.replace(",", "")) for one in cut["clusters"] for _, rows in one[direction]]
            assert sum(moved) == pytest.approx(total, abs=0.5 * len(moved) + 1)
    heights, places = [cut["treeAt"] for cut in cuts], [cut["curveAt"] for cut in cuts]
    assert heights == sorted(set(heights)), "the tree is cut lower"
    assert places == sorted(places)
    assert len({cut["marks"] for cut in cuts}) == len(cuts)
    split = [one for one in cuts[1]["clusters"] if len(one["to"]) > 1]
    assert split, "a third cluster comes from somewhere"


@each
def test_colours_stay_with_most_of_the_rows(synopses: dict[str, Any], name: str) -> None:
    cuts = cuts_of(synopses[name], 6, random_state=0).cuts
    for before, after in pairwise(cuts):
        assert len(set(after.lines)) == after.release.n_clusters
        assert len(set(after.lines) & set(before.lines)) >= before.release.n_clusters - 1


@each
def test_without_a_script_the_chosen_cut_is_there_and_names_cannot_leave_their_place(pages: dict[str, str], name: str) -> None:
    html, data = pages[name], data_of(pages[name])
    page, cut = Page(html), data["cuts"][data["chosen"] - 1]
    for words in ("How many clusters", cut["words"], f"best: {data['chosen']}", "Best of 1 to"):
        assert words in page.text
    for cluster in cut["clusters"]:
        assert cluster["rows"] in page.text
        for _, short, full in cluster["cells"]:
            assert short in page.text
            assert f": {full}" in html
    assert cut["marks"] in html
    points = re.findall(r'class="(?:mote|reed) c(\d+)"', html)
    assert [int(one) for one in points] == [cut["clusters"][owner]["colour"] for owner in cut["owners"]]
    assert data["names"][0] == HOSTILE
    assert re.findall("<script[^>]*>", html) == ['<script type="application/json" id="cuts">', "<script>"]
    assert html.count("</script>") == 2
    script = re.findall(r"<script>(.*?)</script>", html, flags=re.DOTALL)[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"default-src 'none'; script-src 'sha256-{digest}'; style-src" in html
    assert not re.search(r"https?://", html)


def test_given_centres_take_the_place_of_their_cut(synopses: dict[str, Any]) -> None:
    synopsis = synopses["points 2"]
    assert synopsis_html(synopsis) == synopsis_html(synopsis), "a page is the same every time"
    data = data_of(synopsis_html(synopsis, release=synopsis.cut(5, random_state=9)))
    assert (data["chosen"], len(data["cuts"])) == (5, 7)
    html = synopsis_html(
        synopsis, release=synopsis.cut(40, random_state=9), choice=synopsis.choose_k(range(2, 7), random_state=0)
    )
    assert data_of(html)["chosen"] == synopsis.choose_k(random_state=0).best
    assert "Best of 2 to 6" in html
    assert "40 centres, with errors" in html


def test_the_tree_is_cut_between_its_joins(synopses: dict[str, Any]) -> None:
    joins = synopses["points 2"].tree(random_state=0)
    tree = dendrogram_of(joins, 7)
    assert len(tree.brackets) == len(joins)
    assert len(tree.leaves) == len(joins) + 1
    for k in range(1, 8):
        above, below = tree.joined(k)
        assert (above.count("M"), below.count("M")) == (k - 1, len(joins) + 1 - k)
        tops = [float(one) for one in re.findall(r"V([\d.]+)H", above)]
        assert all(top <= tree.cuts[k - 1] for top in tops), "y grows downward"
        assert all(float(one) >= tree.cuts[k - 1] for one in re.findall(r"V([\d.]+)H", below))


def test_a_single_point_and_rows_without_clusters_can_be_shown() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PointSynopsis(epsilon=0.5, bounds=(0, 1), random_state=0).fit([[0.5, 0.5]] * 3)
    html = synopsis_html(model.synopsis_)
    assert "none above the noise" in html
    assert "Nothing speaks for more than one cluster. A cut of the synopsis" in html
    Page(html)


def test_columns_of_all_kinds_are_shown() -> None:
    generator = np.random.default_rng(0)
    table = pd.DataFrame({"age": generator.normal([30, 70] * 500, 4), "ward": ["<b>", "west"] * 500})
    bounds = {"age": Number(0, 120), "ward": Category(["<b>", "west"])}
    synopsis = PointSynopsis(max_clusters=4, epsilon=4.0, bounds=bounds, random_state=0).fit(table).synopsis_
    html = synopsis_html(synopsis)
    data = data_of(html)
    assert len(data["names"]) == 3
    assert any("%" in short for _, short, _ in data["cuts"][1]["clusters"][0]["cells"])
    assert "in 2 columns" in Page(html).text


# -- the choice of a release ---------------------------------------------------------------------------------------------


def test_a_report_says_how_the_number_was_chosen() -> None:
    model = KMeans("auto", max_clusters=8, epsilon=4.0, bounds=(0, 100), random_state=0).fit(blobs(2))
    html = report_html(model.release_)
    text = Page(html).text
    assert f"Best of 1 to 8: {model.n_clusters_}." in text
    assert "chosen from the same noisy answers" in text
    assert "Loss for each number of clusters" in html
    assert "<script" not in html
    assert summary(model.release_)["choice"]["best"] == model.choice_.best
    fixed = KMeans(3, epsilon=4.0, bounds=(0, 100), random_state=0).fit(blobs(2))
    assert summary(fixed.release_)["choice"] is None
    assert "How many clusters" not in report_html(fixed.release_)


@pytest.mark.parametrize(
    "change",
    [
        {"loss": [1.0]},
        {"best": 9},
        {"held_out": [1.0, float("nan")]},
        {"even": None},
        {"n_clusters": "ab"},
        {"as_good": [7]},
        {"best": "<b>"},
    ],
)
def test_a_choice_that_cannot_be_drawn_is_left_out(change: dict[str, Any]) -> None:
    series = {"loss": [2.0, 1.0], "held_out": [2.0, 1.0], "held_out_error": [0.1, 0.1], "even": [2.0, 1.5]}
    choice = {"n_clusters": [1, 2], **series, "best": 2, "elbow": 2, "supported": 2, "as_good": [2]}
    assert choice_of({"choice": choice}) == choice
    assert choice_of({"choice": {**choice, **change}}) is None
    assert choice_of({"choice": 3}) is None
    assert choice_of({}) is None
