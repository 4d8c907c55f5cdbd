# SPDX-License-Identifier: Apache-2.0
"""A release as plain data."""

import dataclasses
import json
import math

import numpy as np
import pytest

from cloister import GDP, ZCDP, Ball, KMeans, PEMeans, Release
from cloister.methods import METHODS, comparable
from cloister.release import rank_columns
from cloister.report import report_html, summary
from cloister.report._steps import course_of


def release_of(rows: np.ndarray, **parameters: object) -> Release:
    given = {"n_clusters": 3, "bounds": (-1, 1), "n_rounds": 3, "n_variations": 10, "random_state": 1, **parameters}
    return PEMeans(**given).fit(rows).release_


@pytest.fixture
def rows(generator: np.random.Generator) -> np.ndarray:
    return generator.uniform(-1, 1, (600, 3))


def test_it_is_json(rows: np.ndarray) -> None:
    found = summary(release_of(rows))
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert [cluster["label"] for cluster in found["clusters"]] == [0, 1, 2]
    receipt, steps = found["receipt"], found["steps"]
    asked = [("row_count", 1), ("cell_states", 1), ("nearest_counts", 3)]
    assert [(group["asked"], group["times"]) for group in receipt["groups"]] == asked
    for parts in (receipt["groups"], steps):
        assert sum(part["share"] for part in parts) == pytest.approx(1)
    assert receipt["groups"][0]["share"] == pytest.approx(0.02, rel=0.05)
    assert [step["answers"] for step in steps] == [1, 1, 1, 1, 1]
    assert all(step["figures"]["count_error"] > 0 for step in steps[2:])
    assert found["total_count"] == pytest.approx(sum(cluster["count"] for cluster in found["clusters"]), rel=0.1)
    assert found["total_count_error"] == pytest.approx(receipt["groups"][0]["standard_deviation"])


@pytest.mark.parametrize(
    ("parameters", "highest"),
    [
        ({"epsilon": 1.0, "delta": 1e-6}, math.e / (1 + math.e)),
        ({"epsilon": 1.0, "delta": 0.0, "n_rows": 600}, math.e / (1 + math.e)),
        ({"guarantee": GDP(1.0)}, 0.691463),
        ({"guarantee": ZCDP(0.5)}, 0.691463),
    ],
)
def test_a_guess_is_no_better_than_the_guarantee_allows(
    rows: np.ndarray, parameters: dict[str, object], highest: float
) -> None:
    assert 0.5 < summary(release_of(rows, **parameters))["receipt"]["best_guess"] <= highest + 1e-6


def test_the_plane_keeps_distances_between_three_centres(rows: np.ndarray) -> None:
    release = release_of(rows)
    found = summary(release)["plane"]
    points = release.frame.to_unit(release.cluster_centers)
    drawn = np.array(found["positions"])
    for first, second in ((0, 1), (1, 2)):
        assert np.linalg.norm(drawn[first] - drawn[second]) == pytest.approx(np.linalg.norm(points[first] - points[second]))
    assert sum(found["shares"]) == pytest.approx(1)
    assert np.all(np.array(found["errors"]) >= 0)


def test_a_ball_has_bounds_to_draw(rows: np.ndarray) -> None:
    assert summary(release_of(rows, bounds=Ball(2.0, [1.0, 0.0, 0.0])))["bounds"] == [[-1.0, 3.0], [-2.0, 2.0], [-2.0, 2.0]]


def test_columns_that_differ_come_first(rows: np.ndarray) -> None:
    centers, errors = np.array([[0.0, 0.9, 0.1], [0.0, -0.9, 0.0]]), np.array([[0.1, 0.9, 0.001], [0.1, 0.9, 0.001]])
    release = dataclasses.replace(release_of(rows, n_clusters=2), cluster_centers=centers, center_errors=errors)
    assert rank_columns(release) == [2, 1, 0]


def test_a_picture_that_was_edited_is_left_out(rows: np.ndarray) -> None:
    release = release_of(rows)
    odd = dataclasses.replace(release.steps[2], picture={"centers": [[1, 2, 3]], "candidates": 3})
    steps = (*release.steps[:2], odd, *release.steps[3:])
    found = summary(dataclasses.replace(release, steps=steps))
    assert [panel["name"] for panel in found["panels"]] == ["vote 2", "vote 3"]
    assert [step["name"] for step in found["steps"]] == ["count", "cells", "vote 1", "vote 2", "vote 3"]


@pytest.mark.parametrize("name", comparable())
def test_a_step_says_how_many_points_it_asked_about(rows: np.ndarray, name: str) -> None:
    method = METHODS[name]
    options = {**method.short, **(method.wide if method.max_features else {})}
    release = method.estimator(2, bounds=(-1, 1), epsilon=4.0, random_state=0, **options).fit(rows).release_
    for step in release.steps:
        counts = [event.size for event in release.events_of(step) if event.question_name.endswith(("_counts", "_costs"))]
        assert counts in ([], [step.figures["n_points"]])


def test_many_steps_of_one_kind_share_a_line(rows: np.ndarray) -> None:
    html = report_html(release_of(rows, n_rounds=40))
    assert "<td>Vote 1 to 40</td>" in html
    assert "<td>Vote 2</td>" not in html
    assert "<td>Vote 12</td>" in report_html(release_of(rows, n_rounds=12))


def test_rounds_are_charted_together_though_centres_settled_between_them(generator: np.random.Generator) -> None:
    release = KMeans(4, epsilon=4.0, bounds=(-1, 1), n_rows=4000).fit(generator.uniform(-1, 1, (4000, 2))).release_
    names = [step.name for step in release.steps]
    assert "settling 1" in names
    assert names[-1] == "round 6"
    course = course_of(summary(release))
    assert course["settled"]
    charts = [chart for chart in course["charts"] if chart.title == "Points in each round"]
    assert len(charts) == 1
    assert ">6</text>" in charts[0].svg
