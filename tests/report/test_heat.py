# SPDX-License-Identifier: Apache-2.0
"""The table of profiles: colours follow the deviation from the mean, noise has none, and it fits at any shape."""

from typing import Any

import numpy as np
import pytest
from tests.releases import declared_release, release_by_hand

from cloister import KMeans, Release
from cloister.report import report_html
from cloister.report._heat import heat_of

from .test_render import Page


def release_with(centers: np.ndarray, *, errors: float = 0.1, counts: object = 1.0) -> Release:
    sizes = np.broadcast_to(np.asarray(counts, dtype=np.float64), len(centers))
    given = {"cluster_centers": centers, "center_errors": np.full(centers.shape, errors), "cluster_counts": sizes}
    return release_by_hand(*centers.shape, **given)


def kinds(heat: dict[str, Any]) -> list[list[str]]:
    return [[cell.kind for cell, _ in cells] for _, cells in heat["rows"]]


def test_colours_follow_the_deviation_from_the_mean() -> None:
    heat = heat_of(release_with(np.array([[90.0, 50.0, 60.0], [10.0, 50.0, 40.0]])))
    assert heat is not None
    assert (heat["corner"], heat["across"], heat["heads"]) == ("Column", "Cluster", ["0", "1"])
    assert kinds(heat) == [["up4", "down4"], ["zero", "zero"], ["up1", "down1"]]
    assert [cell.brief for cell, _ in heat["rows"][0][1]] == ["90.0", "10.0"]
    assert heat["rows"][0][1][0][1] == "Cluster 0, x0: 90.00 ± 0.10, 0.4 of the range above the mean"
    assert heat["rows"][1][1][0][1].endswith("about the mean")
    assert heat_of(release_with(np.full((1, 9), 50.0))) is None, "one cluster"
    assert heat_of(release_with(np.full((9, 2), 50.0))) is None, "two columns"
    assert (heat["shades"].legend[0], heat["shades"].legend[-1]) == (("down4", "\u22120.4"), ("up4", "+0.4"))


def test_the_mean_is_that_of_all_rows() -> None:
    centers = np.array([[90.0, 50.0, 50.0], [10.0, 50.0, 50.0]])
    heat, empty = (heat_of(release_with(centers, counts=counts)) for counts in ([900.0, 100.0], [-3.0, -5.0]))
    assert heat is not None
    assert empty is not None, "no rows at all still make a table"
    assert kinds(empty)[0] == ["up4", "down4"]
    assert kinds(heat)[0] == ["zero", "down4"]  # 0.08 and 0.72 of the range from the mean: less than an eighth of the largest


def test_what_does_not_stand_out_of_the_noise_has_no_colour() -> None:
    release = release_with(np.array([[52.0, 50.0, 60.0], [48.0, 50.0, 40.0]]), errors=30.0)
    heat = heat_of(release)
    assert heat is not None
    assert "has no colour: here, nothing does." in Page(report_html(release)).text
    assert {kind for line in kinds(heat) for kind in line} == {"zero"}
    assert heat["shades"].legend == []


@pytest.mark.fast("12-40-shape0", "3-200-shape4")
@pytest.mark.parametrize(
    ("n_clusters", "n_columns", "shape"),
    [(12, 40, (40, 12)), (40, 12, (40, 12)), (8, 4, (8, 4)), (40, 40, (40, 40)), (3, 200, (60, 3))],
)
def test_the_longer_side_runs_down(
    n_clusters: int, n_columns: int, shape: tuple[int, int], generator: np.random.Generator
) -> None:
    release = release_with(generator.uniform(0, 100, (n_clusters, n_columns)))
    heat = heat_of(release)
    assert heat is not None
    assert (len(heat["rows"]), len(heat["heads"])) == shape
    assert all(len(cells) == shape[1] for _, cells in heat["rows"])
    assert heat["narrow"] == (shape[1] > 12)
    assert heat["turned"] == (heat["across"] == "Column" and shape[1] > 8)
    assert heat["shades"].left_out == max(n_columns - 60, 0)
    if heat["narrow"]:
        assert {cell.sign for _, cells in heat["rows"] for cell, _ in cells} == {"+", "\u2212", ""}
    page = Page(report_html(release))
    assert "Profiles" in page.text
    drawn = [value for name, value in page.attributes if name == "class" and value.startswith(("up", "down", "zero"))]
    assert len(drawn) == shape[0] * shape[1] + 9


def test_shares_are_told_as_shares() -> None:
    heat = heat_of(declared_release())
    assert heat is not None
    briefs = {name: [cell.brief for cell, _ in cells] for name, cells in heat["rows"]}
    assert [briefs[name] for name in ("sex=f", "sex=m", "smoker")] == [["62 %", "10 %"], ["38 %", "90 %"], ["34 %", "90 %"]]


def test_spreads_are_the_unit_where_distances_use_them(generator: np.random.Generator) -> None:
    rows = np.concatenate([generator.normal(m, 1, (400, 3)) for m in ([10, 10, 10], [20, 10, 10])])
    release = KMeans(2, epsilon=8.0, bounds=(0, 1000), scaling="spread", random_state=0).fit(rows).release_
    heat = heat_of(release)
    assert heat is not None
    assert heat["shades"].unit == "spread"
    assert float(heat["shades"].legend[-1][1]) > 0.3  # of the range it would be 0.005
