# SPDX-License-Identifier: Apache-2.0
"""The maps: columns as axes, and circles that do not cover each other wherever the centres lie."""

import math
import re
from typing import Any

import numpy as np
import pytest
from tests.releases import release_by_hand

from cloister import Box, Category, Date, Flag, KMeans, Release
from cloister.columns import days_of
from cloister.report._maps import cluster_map
from cloister.report._plot import Axis, Frame, axis_for, place_badges

FRAME = Frame(0.0, 0.0, 520.0, 400.0)


def circles(svg: str) -> list[tuple[float, float, float]]:
    """Return place and radius of every cluster of a map."""
    found = re.findall(r'<circle class="(?:bubble|hollow)" cx="([-\d.]+)" cy="([-\d.]+)" r="([\d.]+)"/>', svg)
    return [(float(x), float(y), float(radius)) for x, y, radius in found]


def smallest_gap(marks: list[tuple[float, float, float]]) -> float:
    pairs = [(one, other) for index, one in enumerate(marks) for other in marks[:index]]
    return min((math.dist(one[:2], other[:2]) - one[2] - other[2] for one, other in pairs), default=math.inf)


def texts(svg: str, kind: str) -> list[str]:
    return re.findall(rf'<text class="{kind}"[^>]*>([^<]*)</text>', svg)


def release_with(centers: Any, *, names: tuple[str, ...] | None = None, bounds: tuple[float, float] = (0.0, 100.0)) -> Release:
    """Return a release with these centres and counts that differ."""
    array = np.array(centers, dtype=np.float64)
    k, d = array.shape
    given = {"cluster_counts": np.linspace(10.0, 1000.0, k), "domain": Box(*(np.full(d, end) for end in bounds))}
    errors = np.full((k, d), 0.2)
    return release_by_hand(k, d, cluster_centers=array, center_errors=errors, feature_names=names, **given)


# -- circles ---------------------------------------------------------------------------------------------------------------

CROWDS = {
    "one": lambda generator: np.full((1, 2), 50.0),
    "all at one place": lambda generator: np.full((20, 2), 50.0),
    "in a corner": lambda generator: np.full((12, 2), 0.0),
    "on a line": lambda generator: np.stack([np.linspace(40, 60, 25), np.full(25, 50.0)], axis=1),
    "two heaps": lambda generator: np.repeat([[20.0, 20.0], [80.0, 80.0]], 15, axis=0) + generator.normal(size=(30, 2)),
    "anywhere": lambda generator: generator.uniform(0, 100, (100, 2)),
    "a heap of a hundred": lambda generator: 50 + generator.normal(size=(100, 2)),
}


@pytest.mark.fast("one-1", "on a line-5", "a heap of a hundred-5")
@pytest.mark.parametrize("columns", [1, 5])
@pytest.mark.parametrize("crowd", CROWDS)
def test_no_circle_covers_another(crowd: str, columns: int, generator: np.random.Generator) -> None:
    centers = np.clip(CROWDS[crowd](generator), 0, 100)
    wide = np.concatenate([centers, generator.uniform(0, 100, (len(centers), 3))], axis=1)
    drawn = cluster_map(release_with(wide[:, [0]] if columns == 1 else wide[:, :columns]))
    marks = circles(drawn["picture"].svg)
    assert len(marks) == len(centers)
    assert smallest_gap(marks) > 1.0
    assert sorted(texts(drawn["picture"].svg, "label"), key=int) == [str(label) for label in range(len(centers))]
    width, height = map(float, re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', drawn["picture"].svg).groups())  # type: ignore[union-attr]
    assert all(radius <= x <= width - radius and radius <= y <= height - radius for x, y, radius in marks)


def test_a_circle_that_is_alone_stays_and_others_are_tied_to_their_points() -> None:
    points = [(100.0, 100.0), (300.0, 300.0), (306.0, 300.0)]
    (alone, _), *others = place_badges(points, [12.0, 12.0, 12.0], FRAME)
    assert math.dist(alone, points[0]) < 0.5
    for center, radius in others:
        assert all(math.dist(center, point) > radius for point in points[1:])
    marks = cluster_map(release_with([[10.0, 10.0], [50.0, 50.0], [50.5, 50.0]]))["picture"].svg
    assert marks.count('class="leader"') == marks.count('class="point"') == 2


def test_a_dot_stands_where_the_centre_is() -> None:
    drawn = cluster_map(release_with([[50.0, 25.0], [50.0, 25.0], [0.0, 0.0], [100.0, 100.0]]))
    frame = re.search(r'class="spine" d="M([\d.]+) ([\d.]+)V([\d.]+)H([\d.]+)"', drawn["picture"].svg)
    assert frame is not None
    left, top, bottom, right = map(float, frame.groups())
    for x, y in re.findall(r'<circle class="point" cx="([\d.]+)" cy="([\d.]+)"', drawn["picture"].svg)[:2]:
        assert float(x) == pytest.approx((left + right) / 2, abs=0.1)
        assert float(y) == pytest.approx(bottom - (bottom - top) / 4, abs=0.1)


def test_more_clusters_than_numbers_become_dots(generator: np.random.Generator) -> None:
    drawn = cluster_map(release_with(generator.uniform(0, 100, (130, 2))))
    assert {radius for *_, radius in circles(drawn["picture"].svg)} == {2.5}
    assert texts(drawn["picture"].svg, "label") == []


# -- axes ------------------------------------------------------------------------------------------------------------------


def test_two_columns_are_the_axes() -> None:
    drawn = cluster_map(release_with([[10.0, 90.0], [90.0, 20.0]], names=("age (years)", "<b>weight")))
    assert drawn["kind"] == "columns"
    assert texts(drawn["picture"].svg, "title") == ["age (years)", "&lt;b&gt;weight"]
    assert texts(drawn["picture"].svg, "axis") == ["0", "20", "40", "60", "80", "100"] * 2
    assert not drawn["is_zoomed"]
    zoomed = cluster_map(release_with([[5000.0, 5000.0], [5010.0, 5100.0]], bounds=(0.0, 1e5)))
    assert zoomed["is_zoomed"]
    assert all(4900 < float(tick.replace(",", "")) < 5200 for tick in texts(zoomed["picture"].svg, "axis"))


def test_one_column_is_drawn_beside_the_number_of_rows() -> None:
    drawn = cluster_map(release_with([[10.0], [90.0], [40.0]], names=("age",)))
    assert drawn["kind"] == "line"
    assert texts(drawn["picture"].svg, "title") == ["age", "rows (noisy)"]
    marks = circles(drawn["picture"].svg)
    assert marks[0][0] < marks[2][0] < marks[1][0]
    assert marks[0][1] > marks[1][1] > marks[2][1]  # counts grow from the first to the last


def test_more_columns_and_categories_have_axes_of_their_own(generator: np.random.Generator) -> None:
    assert cluster_map(release_with(generator.uniform(0, 100, (4, 3))))["kind"] == "plane"
    columns = {"sex": Category(["f", "m"]), "age": (0, 120)}
    rows = {"sex": ["f", "m"] * 200, "age": [30.0, 60.0] * 200}
    assert cluster_map(declared(columns, rows))["kind"] == "plane"


def declared(columns: dict[str, Any], rows: dict[str, Any]) -> Release:
    import pandas as pd

    return KMeans(2, epsilon=8.0, bounds=columns, random_state=0).fit(pd.DataFrame(rows)).release_


def test_dates_and_flags_are_axes_too() -> None:
    columns = {"admitted": Date("2020-01-01", "2026-01-01"), "smoker": Flag()}
    rows = {"admitted": ["2021-03-01", "2025-03-01"] * 300, "smoker": [True, False] * 300}
    drawn = cluster_map(declared(columns, rows))
    assert texts(drawn["picture"].svg, "title") == ["admitted", "smoker (share of yes)"]
    assert texts(drawn["picture"].svg, "axis")[:7] == ["2020", "2021", "2022", "2023", "2024", "2025", "2026"]
    assert "80 %" in texts(drawn["picture"].svg, "axis")


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0, 100, ["0", "20", "40", "60", "80", "100"]),
        (-1, 1, ["-1.0", "-0.5", "0.0", "0.5", "1.0"]),
        (0, 0.001, ["0.0000", "0.0002", "0.0004", "0.0006", "0.0008", "0.0010"]),
        (12_000, 71_000, ["20,000", "30,000", "40,000", "50,000", "60,000", "70,000"]),
        (0, 1.5, ["0.00", "0.25", "0.50", "0.75", "1.00", "1.25", "1.50"]),
        (1e15, 2e15, ["1e+15", "1.2e+15", "1.4e+15", "1.6e+15", "1.8e+15", "2e+15"]),
        ("2020-01-01", "2025-12-31", ["2020", "2021", "2022", "2023", "2024", "2025"]),
        ("2024-01-15", "2024-06-15", ["2024-02", "2024-03", "2024-04", "2024-05", "2024-06"]),
        ("2024-01-01", "2024-01-05", ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04", "2024-01-05"]),
    ],
)
def test_ticks_are_round_numbers_years_months_or_days(low: float | str, high: float | str, words: list[str]) -> None:
    first, last = (days_of(end) if isinstance(end, str) else end for end in (low, high))
    assert [told for _, told in Axis("x", first, last, "days" * isinstance(low, str)).ticks()] == words


@pytest.mark.parametrize("most", [2, 3, 5, 7])
def test_ticks_are_few_inside_and_in_order(most: int, generator: np.random.Generator) -> None:
    for _ in range(200):
        low, width = float(generator.normal()) * 10 ** float(generator.uniform(-6, 12)), 10 ** float(generator.uniform(-5, 12))
        axis = Axis("x", low, low + width)
        values = [value for value, _ in axis.ticks(most)]
        assert len(values) <= most
        assert values == sorted(values)
        assert all(low - 1e-6 * width <= value <= low + width * (1 + 1e-6) for value in values)


def test_an_axis_of_one_value_spans_the_bounds() -> None:
    assert axis_for("x", [5.0], [0.1], low=0.0, high=10.0) == Axis("x", 0.0, 10.0)
    assert axis_for("x", [5.0, 5.0], [0.0, 0.0], low=0.0, high=10.0).whole
