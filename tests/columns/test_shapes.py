# SPDX-License-Identifier: Apache-2.0
"""Public facts: what bounds are taken and refused, that cleaning treats every row by itself, and that the grid is exact."""

import math
from fractions import Fraction

import hypothesis.extra.numpy as arrays
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloister import Ball, Box
from cloister.columns import Relation, as_domain, clip_to_unit_ball, domain_from_dict, grid_step, row_blocks, snap
from cloister.exceptions import ParameterError

NEAR = 5  # of the frames below: neither far from zero nor tiny
DIMENSIONS = (1, 2, 3, 8, 16, 33, 128, 784)
HOSTILE = (math.nan, math.inf, -math.inf, 1e300, -1e300, 1.7e308, -0.0, 5e-324, float(2**63 - 1), float(-(2**63)))


def frames(n_features):
    steps = np.arange(n_features)
    return [
        Ball(1.0).spread(n_features).frame(),
        Ball(3.7, 11.0).spread(n_features).frame(),
        Box(0.0, 1.0).spread(n_features).frame(),
        Box(-5.0 - steps, 7.0 + steps).frame(),
        Box(-5.0 - steps, 7.0 + steps).frame(scaling="bounds"),
        Ball(1.0, 9.9e9).spread(n_features).frame(),  # as far from zero as a domain of its size may lie
        Box(9e9 + steps, 9e9 + 1.0 + steps).frame(),
        Box(-9e9 - 1.0 - steps, -9e9 - steps).frame(scaling="bounds"),
        Ball(1e-100).spread(n_features).frame(),
        Box(-1e-90, 2e-90).spread(n_features).frame(),
    ]


def rows_about(frame, generator, count):
    """Return rows in and around a domain, in its own units, many of them beyond its border or on it."""
    directions = generator.normal(size=(count, frame.n_features)) * np.exp(generator.normal(size=(count, 1)) * 3)
    corners = frame.center + frame.scale * generator.choice([-1.0, 1.0], size=(count, frame.n_features))
    return np.vstack([frame.center + frame.scale * directions, corners, frame.domain.clip(corners)])


def square_in_steps(row, n_features):
    """Return the squared length of a row of the grid, counted in squares of a step, as a Python integer."""
    return sum(int(value) ** 2 for value in row / grid_step(n_features))


# -- domains -------------------------------------------------------------------------------------------------------------


def test_a_ball_pulls_points_in_along_the_ray_and_leaves_the_others():
    ball = Ball(2.0, [1.0, 1.0])
    inside = np.array([[1.5, 0.5], [1.0, 1.0]])
    assert np.array_equal(ball.clip(inside), inside)
    outside = np.array([[4.0, 5.0], [1.0, 1e300], [-1e300, -1e300], [1.0 + 3e200, 1.0 + 4e200]])
    expected = np.array([[2.2, 2.6], [1.0, 3.0], [1 - 2**0.5, 1 - 2**0.5], [2.2, 2.6]])
    assert np.allclose(ball.clip(outside), expected, rtol=1e-12)


@given(arrays.arrays(np.float64, (3, 4), elements=st.floats(-1e300, 1e300)), st.floats(1e-3, 1e3))
def test_clipping_ends_inside_and_changes_nothing_the_second_time(points, radius):
    ball = Ball(radius, 0.5).spread(4)
    clipped = ball.clip(points)
    assert (np.linalg.norm(clipped - 0.5, axis=1) <= radius * (1 + 1e-12)).all()
    assert np.allclose(ball.clip(clipped), clipped, rtol=1e-12, atol=1e-15)
    box = Box(-radius, radius).spread(4)
    assert (np.abs(box.clip(points)) <= radius).all()
    assert np.array_equal(box.clip(box.clip(points)), box.clip(points))


@pytest.mark.parametrize(
    ("bounds", "kind"),
    [
        ((0, 1), Box),
        (np.array([0.0, 1.0]), Box),
        (([0, 0], 1), Box),
        (Box(0, 1), Box),
        (Ball(1), Ball),
    ],
)
def test_bounds_are_read_as_a_domain_of_the_right_width(bounds, kind):
    domain = as_domain("PEMeans.bounds", bounds, 2)
    assert isinstance(domain, kind)
    assert domain.frame().n_features == 2


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        (None, r"expected a domain known without looking at the data, got None\. Pass bounds=\(low, high\)"),
        ("secret", r"expected a pair \(low, high\), a Box or a Ball"),
        ("Private", r"a mapping of columns, or 'private', got 'Private'\. Pass bounds=\"private\", in lower case"),
        (1.0, r"expected a pair \(low, high\), a Box or a Ball.* or \"private\" to find them with noise"),
        ((0, 1, 2), r"expected a pair \(low, high\), a Box or a Ball"),
        (np.array(1.0), r"expected a pair \(low, high\), a Box or a Ball"),
        ((0, 0), r"Box: expected low < high"),
        (([0, 5], [1, 4]), r"Box: expected low < high in every column \(column 1\), got \(5\.0, 4\.0\)\. Swap"),
        (([0, 0, 0], [1, 1, 1]), r"Box\.low: expected one number or 2, one per column, got 3\. Pass as many"),
        (([0, 0, 0], [1, 1]), r"Box\.high: expected as many numbers as low \(3\), got 2"),
        (("0", "1"), r"Box\.low: expected a number or one number per column, got '0'\. Pass numbers"),
        ((0, math.nan), r"Box\.high: expected finite numbers"),
        (([], []), r"Box\.low: expected finite numbers"),
        (([[0]], [[1]]), r"Box\.low: expected finite numbers, one or one per column"),
        ((0, 1j), r"Box\.high: expected a number or one number per column"),
        ((-1e300, 1e300), r"Box\.low: expected numbers of size at most 1e\+100"),
        ((0, 5e-324), r"Box: expected a width of at least 1e-100"),
        ((1e15, 1e15 + 1), r"Box: expected a width of at least .* Move the origin"),
        (Ball(1, [0, 0, 0]), r"Ball\.center: expected one number or 2, one per column, got 3"),
    ],
)
def test_bounds_that_are_no_domain_are_refused(bounds, message):
    with pytest.raises(ParameterError, match=message):
        as_domain("PEMeans.bounds", bounds, 2)


@pytest.mark.parametrize("radius", [0, math.nan, "1", 1e-200, 1e200])
def test_a_radius_out_of_range_is_refused(radius):
    with pytest.raises(ParameterError, match=r"Ball\.radius: expected a finite number of at least 1e-100"):
        Ball(radius)


@pytest.mark.parametrize("center", ["a", math.nan, [[0.0]], [], 1e200, {"a": 1}])
def test_a_center_that_is_no_point_is_refused(center):
    with pytest.raises(ParameterError, match=r"Ball\.center: expected"):
        Ball(1.0, center)
    with pytest.raises(ParameterError, match=r"Ball\.radius: expected a width"):
        Ball(1.0, 1e12)  # too small for where it lies


def test_a_domain_cannot_be_changed_through_the_array_it_was_made_of():
    low = np.zeros(2)
    box = Box(low, 1.0)
    low[:] = 100.0
    assert box.low.max() == 0.0
    with pytest.raises(ValueError, match="read-only"):
        box.low[0] = 100.0


@pytest.mark.parametrize("domain", [Ball(2.5, [1.0, -3.0]), Box([0, -1], [1, 1]), Ball(1.0).spread(3), Box(0, 1).spread(1)])
def test_a_domain_survives_its_plain_form(domain):
    again = domain_from_dict(domain.to_dict())
    points = np.random.default_rng(0).normal(size=(50, domain.frame().n_features)) * 4
    assert np.array_equal(again.clip(points), domain.clip(points))
    assert again.to_dict() == domain.to_dict()


def test_an_unknown_domain_is_refused():
    with pytest.raises(ParameterError, match=r"domain: expected kind 'ball', 'box' or 'columns', got 'cone'"):
        domain_from_dict({"kind": "cone"})


def test_relations_are_read_from_words():
    assert Relation.parse("Owner.neighbours", "replace") is Relation.REPLACE
    assert Relation.parse("Owner.neighbours", Relation.ADD_REMOVE) is Relation.ADD_REMOVE
    with pytest.raises(ParameterError, match=r"Owner\.neighbours: expected one of 'add-remove', 'replace', got 'swap'"):
        Relation.parse("Owner.neighbours", "swap")


# -- cleaning ------------------------------------------------------------------------------------------------------------


@pytest.mark.fast("1", "3", "33", "784")
@pytest.mark.parametrize("n_features", DIMENSIONS)
def test_clean_rows_lie_on_the_grid_in_the_unit_ball(n_features, generator):
    step = grid_step(n_features)
    for frame in frames(n_features):
        clean = frame.clean(rows_about(frame, generator, 60))
        assert np.array_equal(clean, np.rint(clean / step) * step)
        assert max(square_in_steps(row, n_features) for row in clean) <= int(1 / step) ** 2
        assert np.linalg.norm(clean, axis=1).max() > 1 - 1e-4  # rows outside lie on the border, not somewhere inside


@given(
    st.sampled_from([1, 2, 3, 12]),
    st.floats(-1e10, 1e10),
    st.floats(-8, 8).map(lambda exponent: 10**exponent),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
def test_no_row_leaves_the_unit_ball_wherever_the_domain_lies(n_features, middle, size, is_ball, seed):
    width = max(size, 1.1e-10 * abs(middle))
    domain = Ball(width, middle) if is_ball else Box(middle - width, middle + width)
    frame = domain.spread(n_features).frame()
    clean = frame.clean(rows_about(frame, np.random.default_rng(seed), 20))
    limit = int(1 / grid_step(n_features)) ** 2
    assert max(square_in_steps(row, n_features) for row in clean) <= limit


@pytest.mark.parametrize("n_features", DIMENSIONS)
def test_rows_on_the_surface_of_a_ball_stay_inside(n_features, generator):
    directions = generator.normal(size=(200, n_features))
    surface = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    step = grid_step(n_features)
    depths = 1 - step * generator.choice([0.0, 0.1, 0.5, 1.0, 2.0, 30.0], size=(200, 1))
    inner = np.zeros((1000, n_features))  # most rows are well inside
    for frame in (Ball(1.0).spread(n_features).frame(), Ball(3.7, 0.1).spread(n_features).frame()):
        clean = frame.clean(frame.center + np.vstack([inner, surface * depths]) * frame.scale)
        assert max(square_in_steps(row, n_features) for row in clean) <= int(1 / step) ** 2


@pytest.mark.parametrize("value", HOSTILE)
@pytest.mark.parametrize("n_features", [1, 3])
def test_a_hostile_value_raises_nothing_and_stays_in_its_row(value, n_features, generator):
    for frame in frames(n_features):
        rows = generator.normal(size=(9, n_features))
        expected = frame.clean(rows)
        rows[4, -1] = value
        clean = frame.clean(rows)
        assert clean.shape == rows.shape
        assert (np.abs(clean) <= 1).all()
        assert np.array_equal(np.delete(clean, 4, axis=0), np.delete(expected, 4, axis=0))
        if not math.isfinite(value):
            assert clean[4, -1] == 0  # in its own cell; a box keeps the other cells as they are
            if isinstance(frame.domain, Box):
                assert np.array_equal(clean[4, :-1], expected[4, :-1])


def test_numbers_too_large_for_a_double_raise_no_warning():
    clean = Ball(1.0).frame().clean(np.array([[np.longdouble("1e4000")], [np.longdouble("0.5")]]))
    assert clean.tolist() == [[0.0], [0.5]]


@given(arrays.arrays(np.float64, (6, 3), elements=st.floats(width=64)), st.permutations(range(6)), st.integers(0, 6))
def test_cleaning_treats_every_row_by_itself(rows, order, cut):
    for frame in frames(3):
        whole = frame.clean(rows)
        assert np.array_equal(frame.clean(rows[list(order)]), whole[list(order)])
        assert np.array_equal(np.vstack([frame.clean(rows[:cut]), frame.clean(rows[cut:])]), whole)


@pytest.mark.fast("0.0-3", "0.02-16", "0.9-300")
@pytest.mark.parametrize("n_features", [1, 3, 16, 300])
@pytest.mark.parametrize("part", [0.0, 0.02, 0.9])
def test_few_or_many_odd_rows_are_cleaned_as_they_are_alone(n_features, part, generator):
    for frame in frames(n_features):
        inside = generator.normal(size=(400, n_features)) * 0.2 / n_features**0.5
        rows = frame.center + inside * frame.scale
        odd = generator.random(400) < part
        rows[odd] = rows_about(frame, generator, 400)[: np.count_nonzero(odd)]
        rows[odd, 0] = generator.choice(HOSTILE, size=np.count_nonzero(odd))
        alone = np.vstack([frame.clean(row[None]) for row in rows])
        assert np.array_equal(frame.clean(rows), alone)
        assert np.array_equal(frame.clean(np.asfortranarray(rows)), alone)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int8, np.uint8, np.int64, np.uint64, np.bool_])
def test_cleaning_reads_every_type_of_number(dtype, generator):
    rows = generator.integers(0, 2, size=(20, 2)).astype(dtype)
    frame = Box(0, 1).spread(2).frame()
    assert np.array_equal(frame.clean(rows), frame.clean(rows.astype(np.float64)))


@pytest.mark.parametrize("n_features", [1, 2, 16, 128])
def test_there_and_back_again(n_features, generator):
    for frame in frames(n_features)[:NEAR]:
        points = frame.domain.clip(frame.center + generator.normal(size=(100, n_features)) * frame.scale)
        assert np.allclose(frame.from_unit(frame.to_unit(points)), points, rtol=1e-9, atol=1e-9)
        unit = frame.to_unit(points)
        assert (np.linalg.norm(unit, axis=1) <= 1 + 1e-9).all()
        assert np.allclose(frame.clip_unit(unit), unit, atol=1e-9)
        far = frame.from_unit(generator.normal(size=(100, n_features)) * 1e6)
        assert np.allclose(frame.domain.clip(far), far, rtol=1e-12)


def test_scaling_by_bounds_gives_every_column_the_same_weight():
    frame = Box([0, 0], [1, 1000]).frame(scaling="bounds")
    assert np.allclose(frame.to_unit([[1.0, 1000.0]]), 2**-0.5)
    plain = Box([0, 0], [1, 1000]).frame()
    assert plain.scale[0] == plain.scale[1]


# -- the grid ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_features", [*DIMENSIONS, 4096])
def test_squared_distances_on_the_grid_are_exact(n_features, generator):
    points = snap(generator.choice([-1.0, 1.0], size=(4, n_features)) * (2 - generator.random((4, n_features)) ** 8))
    for left in points:
        for right in points:
            exact = sum((Fraction(x) - Fraction(y)) ** 2 for x, y in zip(left, right, strict=True))
            offsets = left - right
            assert Fraction(float(np.sum(offsets * offsets))) == exact
            assert Fraction(float(left @ left - 2 * (left @ right) + right @ right)) == exact


@pytest.mark.parametrize("n_features", DIMENSIONS)
def test_the_grid_is_the_finest_that_is_exact(n_features):
    def largest_square(step):
        return n_features * Fraction(4 / step) ** 2

    assert largest_square(grid_step(n_features)) <= 2**53
    assert largest_square(grid_step(n_features) / 2) > 2**53


@given(arrays.arrays(np.float64, (4, 3), elements=st.floats(-2, 2)))
def test_rounding_to_the_grid_moves_little_and_only_once(points):
    snapped = snap(points)
    assert np.array_equal(snap(snapped), snapped)
    assert (np.abs(snapped - points) <= grid_step(3) / 2).all()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n_rows", [0, 1, 31, 171, 1000])
@pytest.mark.parametrize(
    "domain", [Ball(1.5, [0.1, -0.2, 0.3]), Box([-1.0, 0.0, -3.0], [1.0, 0.5, 2.0]), Ball(1.0).spread(3), Box(-1, 1).spread(3)]
)
def test_cleaning_is_clipping_scaling_and_rounding(domain, n_rows, order, generator):
    rows = np.asarray(generator.normal(size=(n_rows, 3)), order=order)
    rows.setflags(write=False)
    frame = domain.frame()
    clean, plain = frame.clean(rows), snap(frame.to_unit(domain.clip(rows)))
    assert np.abs(clean - plain).max(initial=0.0) <= grid_step(3)
    inside = np.sum(plain**2, axis=1) < 1 - 1e-6
    assert np.array_equal(clean[inside], plain[inside])


def test_points_outside_the_unit_ball_are_pulled_to_its_surface(generator):
    points = generator.normal(size=(200, 3))
    clipped, norms = clip_to_unit_ball(points), np.linalg.norm(points, axis=1)
    assert np.array_equal(clipped[norms <= 1], points[norms <= 1])
    assert np.allclose(np.linalg.norm(clipped[norms > 1], axis=1), 1, rtol=1e-15)
    assert np.allclose(clipped * np.maximum(norms, 1)[:, None], points)


@pytest.mark.parametrize(("n_rows", "size"), [(0, 3), (1, 3), (6, 3), (7, 3)])
def test_blocks_cover_every_row_once(n_rows, size):
    cut = [list(range(n_rows))[part] for part in row_blocks(n_rows, size)]
    assert [row for block in cut for row in block] == list(range(n_rows))
    assert all(0 < len(block) <= size for block in cut)
