# SPDX-License-Identifier: Apache-2.0
"""Declared columns as a domain: every cell has its own place, distances are as declared, what is told lies in the domain."""

import itertools
import math

import hypothesis.extra.numpy as arrays
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import nnls

from cloister import Ball, Box
from cloister.columns import (
    Category,
    Cyclic,
    Date,
    Flag,
    Number,
    Table,
    as_columns,
    days_of,
    domain_from_dict,
    grid_step,
    project_to_simplex,
)
from cloister.columns._cyclic import Disc
from cloister.columns._parts import Apart, Interval, Simplex
from cloister.exceptions import ParameterError

DAYS = ("2020-01-01", "2026-12-31")
HOSTILE = (math.nan, math.inf, -math.inf, 1.7e308, -1e300, 5e-324, -5e-324, -0.0, 0.0, -1.0, 1.0, 2.0, 0.5, float(2**62))
SCALINGS = ("bounds", "spread", "none")


def levels(count):
    return [f"level {index}" for index in range(count)]


def all_kinds():
    """Columns of every kind and with every place for missing values, some of them heavy, far from zero, or tiny."""
    return (
        Number(0, 120),
        Number(-5, 400, missing="own", weight=2),
        Number(1e9, 1e9 + 1, missing="middle"),
        Number(-1e-80, 1e-80, missing=0.0),
        Number("private", missing="own"),
        Category(levels(2), missing="level 1"),
        Category(levels(5), weight=0.5),
        Category(levels(3), missing="own"),
        Flag(),
        Flag(missing="own"),
        Flag(missing=True, weight=3),
        Date(*DAYS),
        Date(*DAYS, missing="2021-01-01"),
        Number(1e-3, 1e6, scale="log"),
        Number(2, 50, scale="log", missing="own", weight=3),
        Cyclic(24),
        Cyclic(1e-3, missing="own", weight=2),
        Cyclic(360, missing=-90),
    )


def domains():
    columns = all_kinds()
    spreads = np.array([0.25 if one.is_measured else math.nan for one in columns])
    mixed = Table(columns, spreads=spreads)
    return {
        "all": mixed,
        "one category": Table((Category(levels(7)),)),
        "one flag": Table((Flag(missing="own"),)),
        "one number": Table((Number(3, 4),)),
        "people": Table((Number(0, 120), Category(levels(3)), Flag(), Date(*DAYS), Number(40, 400, missing="own"))),
    }


DOMAINS = domains()


def frames():
    for name, domain in DOMAINS.items():
        for scaling in SCALINGS[: 2 if name == "people" else 1]:
            frame = domain.frame(scaling=scaling)
            yield frame
            edge = frame.from_unit(np.ones((1, frame.n_features)))[0]
            yield domain.frame(scaling=scaling, missing=0.9 * frame.center + 0.1 * edge)


def raw_rows(domain, generator, count):
    """Return raw rows: values in and around the bounds, levels, words that are none, missing ones."""
    columns = []
    for one in domain.columns:
        low, high = one.interval
        if one.has_levels:
            columns.append(generator.integers(-1, int(high) + 1, count).astype(float))
        else:
            columns.append(low + (high - low) * generator.uniform(-0.5, 1.5, count))
    rows = np.stack(columns, axis=1)
    rows[generator.random(rows.shape) < 0.1] = math.nan
    return rows


def square_in_steps(row, n_features):
    return sum(int(value) ** 2 for value in row / grid_step(n_features))


# -- cleaning ------------------------------------------------------------------------------------------------------------


def test_clean_rows_lie_on_the_grid_in_the_unit_ball(generator):
    for frame in frames():
        step = grid_step(frame.n_features)
        corners = np.array([[1e300, -1e300, 0.0, 1.0][index % 4] for index in range(frame.n_raw)])
        rows = np.vstack([raw_rows(frame.domain, generator, 300), corners, -corners, np.full(frame.n_raw, math.nan)])
        clean = frame.clean(rows)
        assert clean.shape == (len(rows), frame.n_features)
        assert sum(frame.widths) == frame.n_features
        assert np.array_equal(clean, np.rint(clean / step) * step)
        assert max(square_in_steps(row, frame.n_features) for row in clean) <= int(1 / step) ** 2
        assert frame.clean(np.empty((0, frame.n_raw))).shape == (0, frame.n_features)


@given(
    arrays.arrays(np.float64, (5, len(all_kinds())), elements=st.one_of(st.floats(), st.sampled_from(HOSTILE))),
    st.permutations(range(5)),
    st.integers(0, 5),
)
def test_cleaning_treats_every_row_by_itself(rows, order, cut):
    frame = DOMAINS["all"].frame(scaling="bounds")
    whole = frame.clean(rows)
    assert (np.einsum("ij,ij->i", whole, whole) <= 1).all()
    assert np.array_equal(frame.clean(rows[list(order)]), whole[list(order)])
    assert np.array_equal(np.vstack([frame.clean(rows[:cut]), frame.clean(rows[cut:])]), whole)
    assert np.array_equal(frame.clean(np.asfortranarray(rows)), whole)


@pytest.mark.parametrize("value", HOSTILE)
def test_a_hostile_cell_raises_nothing_and_stays_in_its_cell(value, generator):
    for frame in frames():
        rows = raw_rows(frame.domain, generator, 6)
        expected, ends = frame.clean(rows), np.cumsum((0, *frame.widths))
        for column, (start, stop) in enumerate(itertools.pairwise(ends)):
            spoilt = rows.copy()
            spoilt[2, column] = value
            clean = frame.clean(spoilt)
            assert np.array_equal(np.delete(clean, 2, axis=0), np.delete(expected, 2, axis=0))
            elsewhere = np.delete(clean[2] - expected[2], np.arange(start, stop))
            # At a corner of the domain the row has length 1, and rounding may pull it in.
            assert np.abs(elsewhere).max(initial=0.0) <= (2 * grid_step(frame.n_features) if near_one(clean, expected) else 0.0)


def near_one(clean, expected):
    return max(np.sum(clean[2] ** 2), np.sum(expected[2] ** 2)) > 1 - 1e-6


def place_of(column, value, missing=None):
    """Return the coordinates of one value of a column, measured in the units of distances."""
    frame = Table((column,)).frame(scaling="bounds", missing=missing)
    return frame.clean([[value]])[0] * frame.distance_unit


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize(
    ("column", "at"),
    [
        (Number(0, 10), 5.0),
        (Number(0, 10, missing="middle"), 5.0),
        (Number(0, 10, missing=2.0), 2.0),
        (Category(levels(3), missing="level 2"), 2.0),
        (Flag(missing=True), 1.0),
        (Flag(), 0.5),
        (Date(*DAYS, missing="2021-03-04"), days_of("2021-03-04")),
    ],
    ids=repr,
)
def test_a_missing_value_is_placed_as_declared(column, at, value):
    assert np.allclose(place_of(column, value), place_of(column, at), atol=1e-6)


def test_a_value_outside_is_moved_to_the_nearer_end_and_a_word_that_is_none_is_missing():
    for value, end in ((-7.0, 0.0), (1e300, 10.0), (10.0, 10.0)):
        assert np.array_equal(place_of(Number(0, 10), value), place_of(Number(0, 10), end))
    for column in (Flag(), Flag(missing=False), Flag(missing="own"), Category(levels(4)), Category(levels(4), missing="own")):
        for value in (-1.0, *([] if isinstance(column, Flag) else [4.0, 1e300])):
            assert np.array_equal(place_of(column, value), place_of(column, math.nan))


def test_a_mean_is_the_place_where_the_column_takes_it_and_nowhere_else():
    columns = (Number(0, 10), Number(0, 10, missing="middle"), Category(levels(2)), Flag(missing=True))
    domain = Table((*columns, Number(0, 1, missing="own")))
    frame = domain.frame(missing=np.array([8.0, 8.0, 0.9, 0.1, 0.2, 0.3, 0.5]))
    clean, known = frame.clean([[math.nan] * 5])[0], frame.clean([[8.0, 5.0, 0.0, 1.0, math.nan]])[0]
    assert np.allclose(clean[[0, 1, 3, 4, 5]], known[[0, 1, 3, 4, 5]], atol=1e-6)
    assert clean[2] == pytest.approx(0.8 * known[2], abs=1e-6)  # shares of 0.9 and 0.1: four fifths of the way to the first


@pytest.mark.parametrize("column", [Number(0, 10, missing="own"), Flag(missing="own"), Date(*DAYS, missing="own")], ids=repr)
def test_a_place_of_its_own_is_as_far_from_both_ends_as_these_are_from_each_other(column):
    low, high = Table((column,)).columns[0].interval
    places = [place_of(column, value) for value in (low, high, math.nan)]
    assert [np.linalg.norm(one - two) for one, two in itertools.combinations(places, 2)] == pytest.approx([2.0] * 3, rel=1e-6)
    assert [np.linalg.norm(one) for one in places] == pytest.approx([2 / 3**0.5] * 3, rel=1e-6)


# -- distances -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("count", "missing", "weight"), [(2, "own", 0.25), (3, "mean", 7.0), (12, "own", 1.0)])
def test_two_levels_lie_as_far_apart_as_the_two_ends_of_a_number_times_the_weights(count, missing, weight):
    category, date = Category(levels(count), missing=missing, weight=weight), Date(*DAYS)
    frame = Table((category, Number(-3, 11), Flag(weight=2), date)).frame(scaling="bounds")
    low, high = date.interval
    values = [*range(count), *([math.nan] if missing == "own" else [])]
    places = frame.clean([[value, 4.0, 0.0, low] for value in values])
    number = np.linalg.norm(np.diff(frame.clean([[0, -3, 0, low], [0, 11, 0, low]]), axis=0))
    flag = np.linalg.norm(np.diff(frame.clean([[0, 0, 0, low], [0, 0, 1, low]]), axis=0))
    days = np.linalg.norm(np.diff(frame.clean([[0, 0, 0, low], [0, 0, 0, high]]), axis=0))
    apart = [np.linalg.norm(one - two) for one, two in itertools.combinations(places, 2)]
    assert apart == pytest.approx([weight * number] * len(apart), rel=1e-5)
    assert (flag, days) == (pytest.approx(2 * number, rel=1e-5), pytest.approx(number, rel=1e-5))
    assert number * frame.distance_unit == pytest.approx(2.0, rel=1e-5)


@pytest.mark.parametrize("count", range(2, 9))
def test_the_radius_is_smaller_than_that_of_a_box_around_one_hot_columns(count):
    """In which two levels lie as far apart: columns of width sqrt(2), of which two differ."""
    own = Table((Category(levels(count)), Number(0, 1))).frame().distance_unit
    one_hot = math.sqrt(count * (math.sqrt(2) / 2) ** 2 + 1)
    assert own == pytest.approx(math.sqrt(2 * (1 - 1 / count) + 1))
    assert own < one_hot if count > 2 else own == pytest.approx(one_hot)


def test_columns_count_by_bounds_by_spread_or_as_they_are():
    columns = (Number(0, 10), Number(0, 1000, weight=2), Flag())
    domain = Table(columns, spreads=np.array([1.0, 100.0, math.nan]))
    ends = [[0, 500, 0], [10, 500, 0], [0, 0, 0], [0, 1000, 0]]
    for scaling, wanted in (("bounds", (2, 4)), ("spread", (10, 20)), ("none", (10, 2000))):
        frame = domain.frame(scaling=scaling)
        clean = frame.clean(ends) * frame.distance_unit
        first, second = np.linalg.norm(clean[0] - clean[1]), np.linalg.norm(clean[2] - clean[3])
        assert (first, second) == (pytest.approx(wanted[0], rel=1e-3), pytest.approx(wanted[1], rel=1e-3))
        assert frame.distance_unit == pytest.approx(math.hypot(*(one / 2 for one in wanted), 0.5 if scaling == "none" else 1.0))


@pytest.mark.parametrize("scaling", ["bounds", "none"])
def test_columns_of_numbers_are_a_box(scaling, generator):
    box = Box([0, -5, 1e6], [1, 5, 1e6 + 3])
    frame, plain = as_columns(box).frame(scaling=scaling), box.frame(scaling=scaling)
    rows = generator.uniform([-1, -6, 1e6 - 1], [2, 6, 1e6 + 4], (200, 3))
    rows[::9, 1] = math.nan
    assert np.abs(frame.clean(rows) - plain.clean(rows)).max() <= grid_step(3)
    assert np.allclose(frame.half_widths, plain.half_widths)
    assert frame.distance_unit == pytest.approx(plain.distance_unit)
    assert np.allclose(frame.scale, plain.scale)


def test_there_are_half_widths_of_intervals_alone():
    assert Table((Number(0, 1), Flag(), Date(*DAYS))).frame().half_widths == pytest.approx([3**-0.5] * 3)
    for other in (Category(levels(2)), Number(0, 1, missing="own")):
        assert Table((Number(0, 1), other)).frame().half_widths is None


# -- what is told --------------------------------------------------------------------------------------------------------


def check_told(domain, told):
    """Published coordinates lie in the domain: numbers in their bounds, shares not negative and one in all."""
    for one, cut in zip(domain.columns, domain.slices(), strict=True):
        values = told[:, cut]
        if isinstance(one, Category):
            assert (values >= 0).all()
            assert np.allclose(values.sum(axis=1), 1, atol=1e-12)
            continue
        if isinstance(one, Cyclic):
            assert (np.hypot(*values[:, :2].T) <= 1 + 1e-12).all()
            continue
        low, high = one.interval
        assert ((values[:, 0] >= low) & (values[:, 0] <= high)).all()
        if one.missing == "own":
            assert ((values[:, 1] >= 0) & (values[:, 1] <= 1)).all()


@pytest.mark.parametrize("name", DOMAINS)
@pytest.mark.parametrize("scaling", SCALINGS[:2])
def test_there_and_back_again(name, scaling, generator):
    domain = DOMAINS[name]
    frame = domain.frame(scaling=scaling)
    anywhere = generator.normal(size=(200, frame.n_features)) * np.exp(generator.normal(size=(200, 1)) * 3)
    told = frame.from_unit(anywhere)
    check_told(domain, told)
    check_told(domain, frame.from_unit(1e300 * np.sign(anywhere)))
    unit = frame.to_unit(told)
    again = frame.from_unit(unit)
    widths = np.abs(frame.scale)
    assert (np.abs(again - told) <= 1e-6 * widths + 1e-9 * np.abs(told)).all()
    assert np.allclose(frame.clip_unit(unit), unit, atol=1e-6)
    assert (np.linalg.norm(unit, axis=1) <= 1 + 1e-9).all()
    assert (np.abs(domain.clip(told) - told) <= 1e-6 * widths + 1e-9 * np.abs(told)).all()  # a release that is saved is read


@pytest.mark.parametrize("name", DOMAINS)
def test_rows_are_told_as_what_they_are(name, generator):
    """The point of a row, told in the column's own words, says its value, its level, or that it is missing."""
    domain = DOMAINS[name]
    frame = domain.frame()
    rows = raw_rows(domain, generator, 50)
    told = frame.from_unit(frame.clean(rows))
    for index, (one, cut) in enumerate(zip(domain.columns, domain.slices(), strict=True)):
        for value, said in zip(rows[:, index], told[:, cut], strict=True):
            known = math.isfinite(value) and not (isinstance(one, Category | Flag) and value < 0)
            if isinstance(one, Category):
                if known or one.missing == "own":
                    assert said[int(value) if known else -1] == pytest.approx(1.0, abs=1e-3)
            elif isinstance(one, Cyclic):
                angle = 2 * math.pi * value / one.period
                assert not known or said[:2] == pytest.approx([math.cos(angle), math.sin(angle)], abs=1e-3)
            elif known:
                low, high = one.interval
                assert said[0] == pytest.approx(min(max(value, low), high), abs=1e-3 * (high - low))
            if one.missing == "own" and not isinstance(one, Category):
                assert said[-1] == pytest.approx(float(not known), abs=1e-3)


def test_points_that_are_drawn_lie_in_the_domain(generator):
    for frame in frames():
        drawn = frame.draw(generator, 100)
        assert drawn.shape == (100, frame.n_features)
        assert (np.linalg.norm(drawn, axis=1) <= 1 + 1e-9).all()
        assert np.allclose(frame.clip_unit(drawn), drawn, atol=1e-6)
        assert np.ptp(drawn, axis=0).min() > 0


PARTS = [
    Interval(size=1.5, low=-2.0, high=8.0),
    Apart(size=0.5, inner=Interval(size=0.5, low=0.0, high=1.0)),
    Simplex(size=2.0, n_levels=2),
    Disc(size=0.7, period=5.0),
    Apart(size=0.7, inner=Disc(size=0.7, period=5.0)),
    Simplex(size=0.7, n_levels=6, own=True),
]


@pytest.mark.parametrize("part", PARTS, ids=lambda one: type(one).__name__)
def test_parts_are_centred_and_as_large_as_they_say(part, generator):
    assert np.allclose(part.to_coordinates(part.center[None]), 0)
    assert np.allclose(part.from_coordinates(np.zeros((1, part.dimension))), part.center)
    raw = np.concatenate([generator.uniform(-9, 9, 400), np.arange(6), [math.nan, 1e300, -1e300]])
    out = np.empty((len(raw), part.dimension))
    with np.errstate(all="ignore"):
        missing = part.place(raw, out)
    lengths = np.linalg.norm(out[~missing], axis=1)
    assert lengths.max() == pytest.approx(part.radius)
    far = part.to_coordinates(part.from_coordinates(100 * generator.normal(size=(300, part.dimension))))
    assert np.linalg.norm(far, axis=1).max() <= part.radius * (1 + 1e-9)


def test_values_are_mixtures_of_the_corners_of_their_column(generator):
    box = Box([0, -5], [1, 5])
    tables = [(frame, raw_rows(frame.domain, generator, 20)) for frame in frames()]
    tables += [(box.frame(scaling=scaling), generator.uniform(-9, 9, (20, 2))) for scaling in ("bounds", "none")]
    for frame, raw in tables:
        rows, start = frame.clean(raw), 0
        for ends in frame.corners:
            scale = np.abs(ends).max()
            for row in rows[:, start : start + ends.shape[1]]:
                mixed = np.vstack([ends.T / scale, np.ones(len(ends))]), np.append(row / scale, 1.0)
                assert nnls(*mixed)[1] < 1e-6
            start += ends.shape[1]
        assert start == frame.n_features
    assert Ball(1.0, [0, 0]).frame().corners == ()


@pytest.mark.parametrize("part", [one for one in PARTS if not isinstance(one, Apart)], ids=lambda one: type(one).__name__)
def test_errors_are_those_of_what_is_told(part):
    """Around the centre what is told is linear in the coordinates: variances add up with squared slopes."""
    size = 1e-4 * np.arange(1, part.dimension + 1)
    slopes = [
        (part.from_coordinates(1e-6 * np.eye(part.dimension)[[axis]]) - part.center)[0] / 1e-6 for axis in range(part.dimension)
    ]
    expected = np.sqrt(np.sum((np.array(slopes) * size[:, None]) ** 2, axis=0))
    assert np.allclose(part.errors(size[None])[0], expected, rtol=1e-6)


def test_the_mean_of_rows_is_told_as_means_and_shares(generator):
    """The point between rows says the share of each level, of yes, of missing ones, and the mean of what is there."""
    domain = Table((Number(0, 10, missing="own"), Category(levels(3)), Flag(), Category(levels(2), missing="own")))
    levels_and_flags = generator.integers(0, [3, 2], (400, 2))
    rows = np.column_stack([generator.uniform(0, 10, 400), levels_and_flags, np.zeros(400)])
    rows[:100, 0] = math.nan
    rows[:40, 3] = -1.0
    frame = domain.frame()
    told = frame.from_unit(frame.clean(rows).mean(axis=0)[None])[0]
    shares = np.bincount(rows[:, 1].astype(int)) / 400
    expected = [rows[100:, 0].mean(), 0.25, *shares, rows[:, 2].mean(), 0.9, 0.0, 0.1]
    assert told == pytest.approx(expected, abs=1e-4)


@given(arrays.arrays(np.float64, (3, 5), elements=st.floats(-1e6, 1e6)))
def test_the_nearest_shares_are_shares_and_nearest(points):
    found = project_to_simplex(points)
    assert (found >= 0).all()
    assert np.allclose(found.sum(axis=1), 1)
    assert np.allclose(project_to_simplex(found), found)
    for point, one in zip(points, found, strict=True):
        for corner in np.eye(5):  # no step towards a corner comes nearer
            assert (one - point) @ (corner - one) >= -1e-6 * max(1.0, np.abs(point).max())


# -- names and files -----------------------------------------------------------------------------------------------------


def test_published_coordinates_have_names():
    domain = DOMAINS["people"]
    names = domain.published_names(("age", "sex", "smoker", "admitted", "glucose"))
    sexes = ("sex=level 0", "sex=level 1", "sex=level 2")
    assert names == ("age", *sexes, "smoker", "admitted", "glucose", "glucose is missing")
    assert [names[cut] for cut in domain.slices()] == [names[:1], names[1:4], names[4:5], names[5:6], names[6:]]
    assert domain.published_names(None)[:2] == ("x0", "x1=level 0")
    assert Table((Category(["a", 1], missing="own"),)).published_names(("c",)) == ("c=a", "c=1", "c=(missing)")
    assert len(names) == len(domain.frame().center)


def test_a_domain_survives_its_plain_form(generator):
    domain = DOMAINS["all"].with_bounds({4: (-3.0, 9.0)}, DOMAINS["all"].spreads)
    again = domain_from_dict(domain.to_dict())
    assert again.to_dict() == domain.to_dict()
    assert (again.columns, again.found) == (domain.columns, domain.found)
    rows = raw_rows(domain, generator, 50)
    for scaling in ("bounds", "spread"):
        assert np.array_equal(again.frame(scaling=scaling).clean(rows), domain.frame(scaling=scaling).clean(rows))


def test_bounds_that_are_found_keep_place_and_weight():
    domain = Table((Number("private", missing=50.0, weight=3), Number(0, 1), Number("private", missing="own")))
    assert (domain.private, domain.found) == ((0, 2), ("", "", ""))
    found = domain.with_bounds({0: (-1.0, 7.0), 2: (5.0, 6.0)}, None)
    assert found.columns == (Number(-1, 7, missing=7.0, weight=3), Number(0, 1), Number(5, 6, missing="own"))
    assert (found.private, found.found) == ((), ("noise", "", "noise"))


SPOILT = [{"spread": 0.0}, {"found": "luck"}, {"low": None, "high": None, "bounds": "private"}, {"low": 5.0}, {"type": "text"}]


@pytest.mark.parametrize("spoil", SPOILT, ids=str)
def test_a_damaged_domain_is_refused(spoil):
    data = Table((Number(0, 1), Flag()), spreads=np.array([0.3, math.nan])).to_dict()
    data["columns"][0] |= spoil
    data["columns"][0] = {key: value for key, value in data["columns"][0].items() if value is not None}
    with pytest.raises((ParameterError, ValueError)):
        domain_from_dict(data)
