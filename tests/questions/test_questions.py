# SPDX-License-Identifier: Apache-2.0
"""What each question means, checked against a plain reading of its definition, and what it refuses."""

import inspect
import math
from dataclasses import fields
from fractions import Fraction

import numpy as np
import pytest

from cloister import Box, questions, rivals
from cloister.columns import grid_step, snap
from cloister.exceptions import ParameterError
from cloister.questions import (
    CellStates,
    ColumnBins,
    ColumnIntervals,
    ColumnMagnitudes,
    DistanceHistogram,
    GridCounts,
    Nearest,
    NearestCounts,
    NearestHistograms,
    NearestMissing,
    NearestSquares,
    NearestSums,
    NeighbourDistance,
    NeighbourMeans,
    ProjectedQuestion,
    Question,
    RowCount,
    RowsPerUnit,
    SecondMoments,
    SplitCounts,
    symmetric,
)
from cloister.rivals import HashCounts, HashSums


def labels_of(rows, points):
    return np.array([np.argmin([math.dist(row, point) for point in points]) for row in rows])


@pytest.fixture
def rows(generator):
    return snap(generator.normal(size=(200, 3)) / 4)


@pytest.fixture
def points(generator):
    return snap(generator.normal(size=(6, 3)) / 4)


def test_rows_are_counted(rows):
    assert RowCount().exact(rows).tolist() == [200]


def test_votes_go_to_the_nearest_point(rows, points):
    assert NearestCounts(points=points).exact(rows).tolist() == np.bincount(labels_of(rows, points), minlength=6).tolist()


def test_sums_are_those_of_clipped_offsets(rows, points):
    question = NearestSums(points=points, radius=0.2)
    expected = np.zeros((6, 3))
    for row, label in zip(rows, labels_of(rows, points), strict=True):
        offset = row - points[label]
        expected[label] += offset * min(1.0, question.radius / max(np.linalg.norm(offset), 1e-300))
    assert np.abs(question.exact(rows) * question.unit - expected).max() <= len(rows) * question.unit


def test_sums_within_the_radius_are_exact(rows, points):
    question = NearestSums(points=points, radius=4.0)
    labels = labels_of(rows, points)
    for label in range(6):
        steps = [[round(float(x) / question.unit) for x in row - points[label]] for row in rows[labels == label]]
        assert question.exact(rows)[label].tolist() == [sum(column) for column in zip(*steps, strict=True)]


def test_offsets_are_measured_from_the_anchors(rows, points, generator):
    anchors = snap(generator.normal(size=(6, 3)) / 10)
    moved = NearestSums(points=points, radius=4.0, anchors=anchors)
    plain = NearestSums(points=points, radius=4.0)
    counts = NearestCounts(points=points).exact(rows)[:, None]
    shift = np.rint((points - anchors) / plain.unit).astype(np.int64)
    assert np.array_equal(moved.exact(rows), plain.exact(rows) + counts * shift)


def test_distances_fall_into_half_open_bins():
    question = DistanceHistogram(edges=[0.25, 0.5])
    assert question.exact(np.array([[0.0], [0.125], [0.25], [-0.25], [0.375], [0.5], [-1.0]])).tolist() == [2, 3, 2]


def test_distances_are_taken_from_the_nearest_point(rows, points):
    edges = [0.05, 0.1, 0.2, 0.3]
    far = [min(math.dist(row, point) for point in points) for row in rows]
    expected = np.histogram(far, [0, *edges, np.inf])[0]
    assert DistanceHistogram(edges=edges, points=points).exact(rows).tolist() == expected.tolist()


def test_a_projection_moves_the_rows_not_the_points(rows, generator):
    flat = generator.normal(size=(3, 2)) / 2
    seen = NearestCounts(points=np.zeros((1, 2)), projection=flat).view(rows)
    assert np.abs(seen - np.clip(rows @ flat, -2, 2)).max() <= grid_step(2) + 3 * 2.0**-20
    points = snap(generator.normal(size=(5, 2)) / 3)
    assert np.array_equal(NearestCounts(points=points, projection=flat).exact(rows), NearestCounts(points=points).exact(seen))


@pytest.mark.parametrize("n_features", [3, 40, 784])
def test_a_projection_is_exact_in_any_order_of_summation(n_features, generator):
    flat = generator.normal(size=(n_features, 16)) / 4
    rows = snap(generator.normal(size=(300, n_features)) / n_features**0.5)
    question = NearestCounts(points=np.zeros((1, 16)), projection=flat)
    seen = question.view(rows)
    assert np.array_equal(np.vstack([question.view(row[None]) for row in rows]), seen)
    back = NearestCounts(points=np.zeros((1, 16)), projection=question.projection[::-1].copy())
    assert np.array_equal(back.view(np.ascontiguousarray(rows[:, ::-1])), seen)
    # The product itself is exact before it is rounded to the grid: the same in whole numbers.
    steps, few = question.projection * 2**20, rows[:3]
    assert np.array_equal(steps, np.rint(steps))
    whole = (few / grid_step(n_features)).astype(int).astype(object) @ steps.astype(int).astype(object)
    exact = [Fraction(int(one)) * Fraction(grid_step(n_features)) / 2**20 for one in whole.ravel()]
    assert [Fraction(float(one)) for one in (few @ question.projection).ravel()] == exact


ONE, IN_BALL = [[0.0]], r"expected coordinates within \[-2, 2\]"
PAIR = {"columns": (0, 1), "bins": (ColumnBins(low=0, high=1, n_bins=2),) * 2, "frame": Box(0, 1).spread(2).frame()}
REFUSED = [
    *((NearestCounts, {"points": points}, r"points: expected a finite array of shape") for points in ([], [0.0, 1.0])),
    (NearestCounts, {"points": [[math.nan]]}, r"points: expected a finite array"),
    (NearestCounts, {"points": [[3.0]]}, rf"points: {IN_BALL}"),
    (NearestCounts, {"points": ONE, "projection": np.zeros((5, 2))}, r"points: .*shape \(1, 2\)"),
    *(
        (NearestCounts, {"points": ONE, "projection": one}, "projection: expected a finite matrix")
        for one in ([1.0], [[math.inf]])
    ),
    (NearestCounts, {"points": ONE, "projection": [[300.0]]}, "projection: expected columns of norm at most 256"),
    *(
        (DistanceHistogram, {"edges": edges}, "edges: expected increasing positive distances")
        for edges in ([], [0.0, 1.0], [0.5, 0.5], [math.nan])
    ),
    (DistanceHistogram, {"edges": [1.0], "points": [[9.0]]}, rf"points: {IN_BALL}"),
    *(
        (kind, {"points": ONE, "radius": 1.0, **options}, message)
        for kind in (NearestSums, NearestSquares)
        for options, message in [
            ({"points": [0.0]}, r"points: expected a finite array of shape"),
            ({"points": [[3.0]]}, rf"points: {IN_BALL}"),
            ({"radius": 0.0}, r"radius: expected a finite number above 0"),
            ({"radius": 5.0}, r"radius: expected .* at most 4"),
            ({"anchors": [[0.0], [0.1]]}, r"anchors: expected an array of shape \(1, 1\), got \(2, 1\)"),
            ({"anchors": ONE, "projection": np.ones((3, 1))}, r"anchors: expected an array of shape \(1, 3\), got \(1, 1\)"),
        ]
    ),
    (SecondMoments, {"center": ONE, "radius": 1.0}, r"center: expected an array of shape \(n_features,\)"),
    (SecondMoments, {"center": [], "radius": 1.0}, r"center: expected an array of shape \(n_features,\)"),
    (SecondMoments, {"center": [math.nan], "radius": 1.0}, r"center: expected a finite array"),
    (SecondMoments, {"center": [3.0], "radius": 1.0}, rf"center: {IN_BALL}"),
    (SecondMoments, {"center": [0.0], "radius": 0.0}, r"radius: expected a finite number above 0"),
    (SecondMoments, {"center": [0.0], "radius": 5.0}, r"radius: expected .* at most 4"),
    (symmetric, {"values": [1.0, 2.0], "n_features": 2}, r"values: expected an array of shape \(3,\), got \(2,\)"),
    (CellStates, dict.fromkeys(("low", "high"), np.zeros(6_000_000)), r"expected at most 16,777,216 bins in all, got \d+\."),
    (RowsPerUnit, {"starts": (2, 3)}, r"starts: expected 1, then increasing whole numbers"),
    (NearestHistograms, {**PAIR, "points": [[3.0, 0.0]]}, rf"points: {IN_BALL}"),
    (NearestHistograms, {**PAIR, "points": np.zeros((1, 2)), "columns": ()}, r"columns: expected at least one column"),
    (NearestHistograms, {**PAIR, "points": np.zeros((1, 2)), "columns": (0,)}, r"bins: .* shape \(1,\), got \(2,\)"),
    (NearestHistograms, {**PAIR, "points": np.zeros((1 << 22, 2))}, r"expected at most 16,777,216 bins in all, got \d+"),
    *(
        (ColumnBins, {"low": low, "high": high, "n_bins": 2}, "expected finite ends low < high")
        for low, high in [(0.0, 0.0), (1.0, 0.0), (0.0, math.inf), (math.nan, 1.0)]
    ),
    (Nearest, {"points": np.zeros((5, 2)), "engine": "lsh"}, "engine: expected one of 'exact', .*'tree', got 'lsh'"),
]


@pytest.mark.parametrize(("make", "options", "message"), REFUSED)
def test_what_makes_no_sense_is_refused_before_it_is_asked(make, options, message):
    owner = "" if message.startswith("projection") else rf"{make.__name__}[.:] ?"
    with pytest.raises(ParameterError, match=owner + message):
        make(**options)


def test_a_question_that_ignores_a_projection_takes_none():
    raw = {CellStates, ColumnIntervals, ColumnMagnitudes, NearestHistograms, NearestMissing}
    plain = {GridCounts, RowsPerUnit, HashCounts, HashSums, NeighbourDistance, NeighbourMeans, RowCount, SecondMoments} | raw
    plain |= {SplitCounts}
    public = {one for room in (questions, rivals) for one in vars(room).values() if isinstance(one, type)}
    concrete = {one for one in public if issubclass(one, Question) and not inspect.isabstract(one)}
    assert {one for one in concrete if "projection" not in {field.name for field in fields(one)}} == plain
    assert all(issubclass(one, ProjectedQuestion) for one in concrete - plain)
