# SPDX-License-Identifier: Apache-2.0
"""The nearest point is a fact: every engine finds it, the first of several at the same distance, however rows are cut."""

import inspect
from fractions import Fraction

import numpy as np
import pytest

from cloister.domain import grid_step, snap
from cloister.exceptions import ParameterError
from cloister.questions import SEARCH_ENGINES, Nearest, choose_engine

SHAPES = [(m, d) for m in (1, 2, 31, 33) for d in (1, 2, 3, 8, 33, 128, 784)] + [(5000, 1), (5000, 3), (5000, 8), (5000, 33)]


def brute_force(rows, points):
    """Compare squared distances as whole numbers; argmin takes the first of equals."""
    step = grid_step(points.shape[1])
    whole_rows, whole_points = np.rint(rows / step).astype(np.int64), np.rint(points / step).astype(np.int64)
    return np.array([np.argmin(((whole_points - row) ** 2).sum(axis=1)) for row in whole_rows], dtype=np.int64)


def in_ball(generator, count, dimension):
    return snap(generator.normal(size=(count, dimension)) / (3 * dimension**0.5))


@pytest.fixture(params=SEARCH_ENGINES)
def engine(request):
    if request.param == "faiss":
        pytest.importorskip("faiss")
    return request.param


def test_brute_force_agrees_with_fractions(generator):
    rows, points = in_ball(generator, 20, 3), in_ball(generator, 15, 3)
    points[7] = points[3]
    for row, found in zip(rows, brute_force(rows, points), strict=True):
        squares = [sum((Fraction(x) - Fraction(y)) ** 2 for x, y in zip(row, point, strict=True)) for point in points]
        assert found == squares.index(min(squares))


@pytest.mark.parametrize(("n_points", "dimension"), SHAPES)
def test_every_engine_finds_the_nearest(engine, n_points, dimension, generator):
    rows, points = in_ball(generator, 40, dimension), in_ball(generator, n_points, dimension)
    rows[:3] = points[[0, n_points // 2, -1]]
    found = Nearest(points, engine=engine)(rows)
    assert found.dtype == np.int64
    assert np.array_equal(found, brute_force(rows, points))


@pytest.mark.parametrize("dimension", [1, 2, 3, 8])
def test_ties_go_to_the_point_that_comes_first(engine, dimension, generator):
    points = snap(generator.choice([-0.5, -0.25, 0.0, 0.25, 0.5], size=(80, dimension)))
    rows = snap(generator.choice(np.arange(-5, 6) / 8, size=(300, dimension)))
    assert np.array_equal(Nearest(points, engine=engine)(rows), brute_force(rows, points))


def test_duplicate_points_share_nothing(engine, generator):
    points = np.repeat(in_ball(generator, 20, 4), 5, axis=0)
    found = Nearest(points, engine=engine)(in_ball(generator, 200, 4))
    assert (found % 5 == 0).all()


@pytest.mark.parametrize("dimension", [1, 2, 5, 64])
def test_points_one_step_apart_are_told_apart(engine, dimension, generator):
    base, step = in_ball(generator, 1, dimension) * 0 + 0.5, grid_step(dimension)
    points = base + step * generator.integers(-1, 2, size=(50, dimension))
    rows = np.vstack([base + step * generator.integers(-2, 3, size=(200, dimension)), -base])
    assert np.array_equal(Nearest(points, engine=engine)(rows), brute_force(rows, points))


def test_points_at_the_edge_of_the_range(engine, generator):
    points = snap(generator.choice([-2.0, 2.0], size=(64, 6)) * (1 - generator.random((64, 6)) * 1e-6))
    rows = snap(generator.choice([-2.0, 2.0], size=(100, 6)))
    assert np.array_equal(Nearest(points, engine=engine)(rows), brute_force(rows, points))


def test_cutting_the_rows_changes_nothing(engine, generator):
    points = snap(generator.choice(np.arange(-4, 5) / 8, size=(200, 2)))
    rows = snap(generator.choice(np.arange(-9, 10) / 16, size=(700, 2)))
    nearest = Nearest(points, engine=engine)
    whole = nearest(rows)
    for pieces in (1, 2, 7, 700):
        assert np.array_equal(np.concatenate([nearest(part) for part in np.array_split(rows, pieces)]), whole)
    order = generator.permutation(len(rows))
    assert np.array_equal(nearest(np.asfortranarray(rows[order])), whole[order])


def test_more_rows_than_one_part_holds(engine, generator):
    points, rows = in_ball(generator, 300, 2), in_ball(generator, 9001, 2)
    assert np.array_equal(Nearest(points, engine=engine)(rows), brute_force(rows, points))


@pytest.mark.parametrize("n_points", [1, 2, 100])
def test_no_rows_have_no_nearest(engine, n_points, generator):
    assert Nearest(in_ball(generator, n_points, 3), engine=engine)(np.empty((0, 3))).shape == (0,)


def test_the_engine_depends_on_public_numbers_alone():
    assert list(inspect.signature(choose_engine).parameters) == ["n_points", "n_dimensions"]
    for n_points in (1, 2, 33, 1000, 10**6):
        for dimension in (1, 2, 6, 7, 784):
            assert choose_engine(n_points, dimension) in SEARCH_ENGINES


def test_an_unknown_engine_is_refused(generator):
    with pytest.raises(ParameterError, match=r"Nearest\.engine: expected one of 'exact', .*'tree', got 'lsh'"):
        Nearest(in_ball(generator, 5, 2), engine="lsh")
