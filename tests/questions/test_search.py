# SPDX-License-Identifier: Apache-2.0
"""The nearest point is a fact: every engine finds it, the first of several at the same distance, however rows are cut."""

import inspect
from fractions import Fraction

import numpy as np
import pytest

from cloister.columns import EXACT_BITS, grid_step, snap
from cloister.columns._base import pull_in
from cloister.questions import SEARCH_ENGINES, Nearest, choose_engine
from cloister.questions._keyed import KeyedScores

SHAPES = [(m, d) for m in (1, 2, 33) for d in (1, 3, 33, 784)] + [(5000, 1), (5000, 8), (5000, 33)]
CUTS = [(256, 3, 50), (512, 3, 50), (300, 3, 9001)]  # points that fill lines of the cache, more rows than a part holds


def brute_force(rows, points):
    """Compare squared distances as whole numbers; argmin takes the first of equals."""
    step = grid_step(points.shape[1])
    whole_rows, whole_points = np.rint(rows / step).astype(np.int64), np.rint(points / step).astype(np.int64)
    return np.array([np.argmin(((whole_points - row) ** 2).sum(axis=1)) for row in whole_rows], dtype=np.int64)


def in_ball(generator, count, dimension):
    return snap(generator.normal(size=(count, dimension)) / (3 * dimension**0.5))


@pytest.fixture(params=SEARCH_ENGINES)
def engine(request):
    return request.param


def test_brute_force_agrees_with_fractions(generator):
    rows, points = in_ball(generator, 20, 3), in_ball(generator, 15, 3)
    points[7] = points[3]
    for row, found in zip(rows, brute_force(rows, points), strict=True):
        squares = [sum((Fraction(x) - Fraction(y)) ** 2 for x, y in zip(row, point, strict=True)) for point in points]
        assert found == squares.index(min(squares))


@pytest.mark.parametrize(("n_points", "dimension", "n_rows"), [*((*one, 40) for one in SHAPES), *CUTS])
def test_every_engine_finds_the_nearest(engine, n_points, dimension, n_rows, generator):
    rows, points = in_ball(generator, n_rows, dimension), in_ball(generator, n_points, dimension)
    rows[:3] = points[[0, n_points // 2, -1]]
    rows[3] = 2.0  # far from all points
    found = Nearest(points, engine=engine)(rows)
    assert found.dtype == np.int64
    assert np.array_equal(found, brute_force(rows, points))


@pytest.mark.parametrize("dimension", [1, 2, 3, 8])
def test_ties_go_to_the_point_that_comes_first(engine, dimension, generator):
    points = snap(generator.choice([-0.5, -0.25, 0.0, 0.25, 0.5], size=(80, dimension)))
    rows = snap(generator.choice(np.arange(-5, 6) / 8, size=(300, dimension)))
    assert np.array_equal(Nearest(points, engine=engine)(rows), brute_force(rows, points))


@pytest.mark.parametrize("dimension", [1, 2, 5, 64])
def test_points_one_step_apart_are_told_apart(engine, dimension, generator):
    base, step = np.full((1, dimension), 0.5), grid_step(dimension)
    around = lambda size, steps: step * generator.integers(-steps, steps + 1, size=(size, dimension))  # noqa: E731
    points = np.vstack([base + around(50, 1), around(30, 1) - base])  # two places: their middle is far from both
    rows = np.vstack([base + around(200, 2), around(200, 2) - base, -base])
    assert np.array_equal(Nearest(points, engine=engine)(rows), brute_force(rows, points))


def test_points_at_the_edge_of_the_range_leave_no_bits_and_are_searched_all_the_same(engine, generator):
    points = snap(generator.choice([-2.0, 2.0], size=(64, 6)) * (1 - generator.random((64, 6)) * 1e-6))
    rows = snap(generator.choice([-2.0, 2.0], size=(100, 6)))
    for longest in (None, 100.0):
        assert np.array_equal(Nearest(points, engine=engine, longest_row=longest)(rows), brute_force(rows, points))
    assert KeyedScores.of(points, np.sum(points**2, axis=1), longest_row=100.0) is None


@pytest.mark.fast("*-1-2", "*-8-300", "*-33-65", "*-784-64")
@pytest.mark.parametrize("n_points", [2, 8, 9, 64, 65, 300, 2000])
@pytest.mark.parametrize("dimension", [1, 2, 3, 8, 16, 33, 784])
def test_rows_of_the_unit_ball_are_searched_exactly(engine, n_points, dimension, generator):
    rows, points = (pull_in(snap(generator.normal(size=(size, dimension)))) for size in (60, n_points))
    points[n_points // 2 :] *= 0.5
    points = snap(points)
    rows[:3] = points[[0, n_points // 2, -1]]
    found = Nearest(points, engine=engine, longest_row=1.0)(rows)
    assert np.array_equal(found, brute_force(rows, points))


@pytest.mark.parametrize("dimension", [1, 2, 3, 8, 16, 64])
def test_scores_keep_all_their_bits(dimension, generator):
    step = grid_step(dimension)
    surface = generator.normal(size=(40, dimension))
    rows = pull_in(snap(surface / np.linalg.norm(surface, axis=1, keepdims=True)))
    points = rows[generator.integers(40, size=500)] + step * generator.integers(-1, 2, size=(500, dimension))
    points = pull_in(points)
    keyed = KeyedScores.of(points, np.sum(points**2, axis=1), longest_row=1.0)
    largest = (2 * np.linalg.norm(points, axis=1) + np.sum(points**2, axis=1)).max() / step**2
    assert largest * keyed.group <= 2**EXACT_BITS
    assert np.array_equal(keyed.nearest(rows), brute_force(rows, points))
    assert np.array_equal(keyed.nearest(-rows), brute_force(-rows, points))


@pytest.mark.parametrize("n_points", [3, 16, 17, 80, 300, 5000])
def test_ties_across_groups_go_to_the_point_that_comes_first(n_points, generator):
    points = snap(generator.choice([-0.5, -0.25, 0.0, 0.25, 0.5], size=(n_points, 2)))
    rows = snap(generator.choice(np.arange(-5, 6) / 8, size=(300, 2)))
    nearest = Nearest(points, engine="exact", longest_row=1.0)
    assert np.array_equal(nearest(rows), brute_force(rows, points))


def test_far_from_the_origin_single_precision_decides_most_rows(generator, monkeypatch):
    middle = snap(np.full((1, 5), 0.3))
    rows, points = (snap(middle + 1e-4 * generator.normal(size=(size, 5))) for size in (500, 300))
    nearest, exact = Nearest(points, engine="product"), []
    search = nearest._by_exact
    monkeypatch.setattr(nearest, "_by_exact", lambda rows: exact.append(len(rows)) or search(rows))
    assert np.array_equal(nearest(rows), brute_force(rows, points))
    assert sum(exact) < 50


def test_cutting_the_rows_changes_nothing(engine, generator):
    points = snap(generator.choice(np.arange(-4, 5) / 8, size=(200, 2)))
    rows = snap(generator.choice(np.arange(-9, 10) / 16, size=(700, 2)))
    nearest = Nearest(points, engine=engine)
    whole = nearest(rows)
    assert nearest(rows[:0]).shape == (0,)
    for pieces in (1, 2, 7, 700):
        assert np.array_equal(np.concatenate([nearest(part) for part in np.array_split(rows, pieces)]), whole)
    order = generator.permutation(len(rows))
    assert np.array_equal(nearest(np.asfortranarray(rows[order])), whole[order])


def test_the_engine_depends_on_public_numbers_alone():
    assert list(inspect.signature(choose_engine).parameters) == ["n_points", "n_dimensions"]
    for n_points in (1, 2, 33, 1000, 10**6):
        for dimension in (1, 2, 6, 7, 784):
            assert choose_engine(n_points, dimension) in SEARCH_ENGINES
