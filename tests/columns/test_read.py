# SPDX-License-Identifier: Apache-2.0
"""Declarations of columns: what is taken, what is refused and with which words, and that plain data says the same."""

import json
import math
from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloister.columns import (
    Category,
    Date,
    Flag,
    Number,
    Table,
    as_domain,
    days_of,
    declare_columns,
    iso_date,
    level_key,
)
from cloister.exceptions import ParameterError

DAYS = ("2020-01-01", "2021-01-01")
NUMBER = "expected a finite number"
WEIGHT = rf"\.weight: {NUMBER} of at least 1e-06 and of at most 1e\+06, got "

REFUSED = {
    "one bound": (lambda: Number(1), r"^Number: expected two bounds low < high, got 1\. Pass"),
    "private and a bound": (lambda: Number("private", 3), r"expected two bounds low < high, got \('private', 3\)"),
    "a bound that is no number": (lambda: Number(0, "1"), rf"^Number\.high: {NUMBER} .*, got '1'\. Pass a finite number, or"),
    "a huge bound": (lambda: Number(-1e300, 1e300), rf"^Number\.low: {NUMBER} of at least -1e\+100 .*, got -1e\+300"),
    "equal bounds": (lambda: Number(1, 1), r"^Number: expected low < high, got \(1\.0, 1\.0\)\. Swap the two"),
    "a place outside": (lambda: Number(0, 1, missing=3), rf"^Number\.missing: {NUMBER} of at least 0 .*, got 3\. Pass"),
    "a place nobody knows": (lambda: Number(0, 1, missing="zero"), r"^Number\.missing: .*, got 'zero'\. Pass \"mean\""),
    "no place": (lambda: Number("private", missing=None), rf"^Number\.missing: {NUMBER}, got None"),
    "no weight": (lambda: Number(0, 1, weight=0), f"^Number{WEIGHT}0"),
    "a weight that is a word": (lambda: Category(["a", "b"], weight="heavy"), f"^Category{WEIGHT}'heavy'"),
    "a word as levels": (lambda: Category("fm"), r"^Category\.levels: expected two or more levels, got 'fm'\. Pass the levels"),
    "a mapping as levels": (lambda: Category({"f": 0, "m": 1}), r"in an order that stays, as a list, got \{'f': 0"),
    "a set as levels": (
        lambda: Category({"f"}),
        r"^Category\.levels: .* in an order that stays, .*, got \{'f'\}\. Pass the lev",
    ),
    "one level": (lambda: Category(["f"]), r"expected from 2 to 1000 levels, got 1\."),
    "too many levels": (lambda: Category(range(1001)), r"expected from 2 to 1000 levels, got 1001"),
    "a level twice": (lambda: Category([1, "m", " 1"]), r"expected every level once, got 1\. Leave the second one out"),
    "no level": (lambda: Category(["f", None]), r"expected words or whole numbers, got None"),
    "a blank level": (lambda: Category(["f", "  "]), r"expected words or whole numbers, got '  '"),
    "a fraction as a level": (lambda: Category([1, 2.5]), r"expected words or whole numbers, got 2\.5\."),
    "a list as a level": (lambda: Category(["f", ["m"]]), r"expected words or whole numbers, got \['m'\]"),
    "an unknown place": (lambda: Category(["f", "m"], missing="x"), r"^Category\.missing: .* one of the levels, got 'x'"),
    "a place that is a level": (
        lambda: Category([" own", "rent"], missing="own"),
        r"^Category\.missing: expected a place that is not also the name of a level, got 'own'\. Rename the level",
    ),
    "a flag's number": (lambda: Flag(missing=1), r"^Flag\.missing: expected .*, True or False, got 1\. Pass one"),
    "no date": (lambda: Date("soon", DAYS[1]), r"^Date\.low: expected a date such as 2026-12-31, got 'soon'\. Write"),
    "a number as a date": (lambda: Date(DAYS[0], 20000), r"^Date\.high: expected a date such as 2026-12-31, got 20000"),
    "private dates": (lambda: Date("private", "private"), r"^Date: .*, got \('private', 'private'\)\. .* must be known"),
    "one date": (lambda: Date(DAYS[0]), r"^Date: expected two dates low < high, got '2020-01-01'\. .* Pass Date\(low, high\)"),
    "less than a second": (lambda: Date("2020-01-01", "2020-01-01T00:00:00.2"), r"^Date: expected low < high"),
    "a date outside": (lambda: Date(*DAYS, missing="2022-01-01"), r"^Date\.missing: .* a date within the bounds, got '2022"),
    "a place that is no date": (lambda: Date(*DAYS, missing="late"), r"^Date\.missing: .*, got 'late'"),
    "far too narrow": (lambda: Table((Number(1e15, 1e15 + 1),)), r"^Number: expected a width of at least .*\. Move"),
}


@pytest.mark.parametrize("mistake", REFUSED)
def test_a_wrong_declaration_is_refused_with_the_remedy(mistake):
    make, words = REFUSED[mistake]
    with pytest.raises(ParameterError, match=words):
        make()


PLAIN = {
    "nothing": ({}, r"^bounds: expected at least one column, got \{\}\. Pass \{\"age\""),
    "a number as a name": ({3: (0, 1)}, r"^bounds: expected names of columns as keys, got 3\."),
    "a blank name": ({"": (0, 1)}, r"^bounds: expected names of columns as keys, got ''"),
    "a word": ({"a": "number"}, r"^bounds\['a'\]: expected what the column is, got 'number'\. Pass \(low, high\)"),
    "one number": ({"a": (0,)}, r"^bounds\['a'\]: expected what the column is, got \(0,\)"),
    "two words": ({"a": ("f", "m")}, r"^bounds\['a'\]: expected a finite number, got 'f'\. Pass two numbers or two dates"),
    "a number and a date": ({"a": (1, "2020-01-01")}, r"^bounds\['a'\]: expected a finite number, got '2020-01-01'"),
    "the wrong way": ({"a": (1, 0)}, r"^bounds\['a'\]: expected low < high, got \(1\.0, 0\.0\)\. Swap the two"),
    "an unknown type": (
        {"a": {"type": "text"}},
        r"^bounds\['a'\]\.type: expected one of 'category', 'cyclic', 'date', 'flag', 'number'",
    ),
    "a misspelling": (
        {"a": {"low": 0, "high": 1, "wieght": 2}},
        r"^bounds\['a'\]: expected what belongs to a number, got 'wieght'\. A number has: ",
    ),
    "private levels": (
        {"a": {"type": "category", "bounds": "private"}},
        r"\.bounds: expected a pair \[low, high\], got 'private'",
    ),
    "no dates": ({"a": {"type": "date", "low": "2020-01-01"}}, r"^bounds\['a'\]: expected high and low for a date, got 'no"),
    "private dates": (
        {"a": {"type": "date", "bounds": "private"}},
        r"^bounds\['a'\]\.bounds: expected a pair \[low, high\], got 'private'\. The bounds of dates must be known",
    ),
    "a private date": ({"a": {"type": "date", "low": "private"}}, r"^bounds\['a'\]: .*The bounds of dates must be known"),
    "an empty table": ({"a": {}}, r"^bounds\['a'\]: expected low for a number, got 'no low'"),
}


@pytest.mark.parametrize("mistake", PLAIN)
def test_a_wrong_mapping_is_refused_with_the_column(mistake):
    columns, words = PLAIN[mistake]
    with pytest.raises(ParameterError, match=words):
        declare_columns("bounds", columns)


@pytest.mark.parametrize(
    ("given_", "meant"),
    [
        ((0, 120), Number(0, 120)),
        (np.array([0, 120]), Number(0, 120)),
        ("private", Number("private")),
        ("flag", Flag()),
        (("2020-01-01", "2021-01-01"), Date(*DAYS)),
        ((date(2020, 1, 1), datetime(2021, 1, 1, tzinfo=UTC)), Date(*DAYS)),
        ({"bounds": [0, 120]}, Number(0, 120)),
        ({"bounds": "private", "missing": "own"}, Number("private", missing="own")),
        ({"low": 0, "high": 1, "missing": 0.5, "weight": 2}, Number(0, 1, missing=0.5, weight=2)),
        ({"levels": ["f", "m"], "missing": "f"}, Category(["f", "m"], missing="f")),
        ({"type": "flag", "missing": True}, Flag(missing=True)),
        ({"type": "date", "bounds": DAYS}, Date(*DAYS)),
        ({"type": "date", "low": "2020-01-01", "high": "2021-01-01T06:00:00"}, Date("2020-01-01", "2021-01-01T06:00:00")),
        ({"low": "2020-01-01", "high": "2021-01-01", "weight": 2}, Date(*DAYS, weight=2)),
        ({"bounds": DAYS, "missing": "own"}, Date(*DAYS, missing="own")),
    ],
)
def test_what_stands_for_a_declaration(given_, meant):
    declared = declare_columns("bounds", {"z": (0, 1), "a": given_, "m": "flag"})
    assert list(declared) == ["z", "a", "m"]
    assert declared["a"] == meant
    with pytest.raises(AttributeError, match="cannot assign"):
        declared["a"].weight = 5.0


DECLARED = st.one_of(
    st.builds(
        lambda low, width, missing, weight: Number(low, low + width, missing=missing, weight=weight),
        st.floats(-1e6, 1e6),
        st.floats(1e-3, 1e9),
        st.sampled_from(["mean", "middle", "own"]),
        st.floats(1e-6, 1e6),
    ),
    st.builds(lambda place: Number("private", missing=place), st.one_of(st.just("own"), st.floats(-9, 9))),
    st.builds(
        lambda levels, own: Category(levels, missing="own" if own else levels[0]),
        st.lists(st.text("abcß1 ", min_size=1).filter(str.strip), min_size=2, max_size=5, unique_by=level_key),
        st.booleans(),
    ),
    st.builds(Flag, missing=st.sampled_from(["mean", "own", True, False])),
    st.builds(
        lambda low, width: Date(low, low + width),
        st.datetimes(datetime(1600, 1, 1), datetime(2200, 1, 1)),
        st.timedeltas(timedelta(seconds=2), timedelta(days=9999)),
    ),
)


@given(DECLARED)
def test_plain_data_says_the_same(declared):
    plain = json.loads(json.dumps(declared.to_dict()))
    assert declare_columns("bounds", {"a": plain})["a"] == declared
    assert repr(declare_columns("bounds", {"a": plain})["a"]) == repr(declared)


def test_declarations_print_as_they_are_written():
    assert repr(Category(["f", 1], missing="own")) == "Category(('f', 1), missing='own')"
    assert repr(Number("private")) == "Number('private')"
    assert repr(Date(*DAYS, weight=0.5)) == "Date('2020-01-01', '2021-01-01', weight=0.5)"
    assert eval(repr(Number(0, 1, missing=0.25))) == Number(0, 1, missing=0.25)


# -- one value by itself -------------------------------------------------------------------------------------------------


@given(st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary(), st.dates(), st.lists(st.none())))
def test_no_value_raises(value):
    key, days = level_key(value), days_of(value)
    assert key is None or (isinstance(key, str) and key == key.strip() != "")
    assert isinstance(days, float)


@pytest.mark.parametrize(
    "value",
    [10**5000, object(), np.float64("nan"), np.datetime64("NaT", "D"), b"\xff\xfe", [], "\ud800"],
    ids=lambda one: type(one).__name__,
)
def test_no_odd_value_raises(value):
    assert level_key(value) is None or isinstance(level_key(value), str)
    assert math.isnan(days_of(value))


def test_levels_are_compared_as_text_and_a_span_of_time_is_none():
    assert {level_key(one) for one in (1, 1.0, "1", " 1 ", np.int8(1), np.float32(1), b"1")} == {"1"}
    assert level_key(True) == level_key(np.True_) == "true"
    assert level_key("") is level_key(None) is level_key(math.nan) is None
    for unit in ("ns", "us", "D", "Y"):
        assert level_key(np.timedelta64(7, unit)) is level_key(np.array(7, dtype=f"m8[{unit}]")) is None
    assert level_key(1.5) == "1.5"
    assert Category([1, "b", False]).keys == {"1": 0, "b": 1, "false": 2}


def test_words_of_places_may_be_levels():
    assert Category(["mean", "own", "middle"]).level_names == ("mean", "own", "middle")
    assert Category(["mean", "kind"], missing="own").missing == "own"
    assert Category({"f": 0, "m": 1}.keys()).levels == ("f", "m")
    assert Category([1.0, 2]).keys == {"1": 0, "2": 1}


@given(st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)))
def test_a_time_is_told_to_the_second(moment):
    told = iso_date(days_of(moment))
    assert abs(days_of(told) - days_of(moment)) * 86400 <= 0.51
    assert iso_date(days_of(told)) == told


def test_zones_are_counted_from_utc():
    east = timezone(timedelta(hours=5))
    assert days_of(datetime(1970, 1, 1, 5, tzinfo=east)) == days_of("1970-01-01T05:00+05:00") == 0.0
    assert iso_date(days_of("9999-12-31T23:59:59.999999")) == "9999-12-31T23:59:59"  # the next day cannot be written


# -- bounds as people write them -----------------------------------------------------------------------------------------


def ends(domain):
    return [domain.columns[index].interval for index in range(domain.n_columns)]


@pytest.mark.parametrize(
    ("bounds", "low", "high"),
    [
        ((0, 1), [0, 0], [1, 1]),
        ([(0, 1), (10, 60)], [0, 10], [1, 60]),  # pairs per column, which were misread
        ([(0, 1), (2, 3)], [0, 2], [1, 3]),  # a list of tuples is one of pairs, though a low and a high vector would do
        (([0, 1], [2, 3]), [0, 1], [2, 3]),  # a tuple of lists is a low and a high vector
        ((np.array([0, 1]), np.array([2, 3])), [0, 1], [2, 3]),
        ([[0, 10], [-1, 60]], [0, -1], [10, 60]),  # 0 is not below -1: only pairs make sense
        (np.array([[3, 2], [4, 5]]), [3, 2], [4, 5]),  # 3 is not below 2: only vectors do
    ],
    ids=str,
)
def test_two_columns_are_read_in_the_one_way_that_makes_sense(bounds, low, high):
    box = as_domain("KMeans.bounds", bounds, 2)
    assert (box.low.tolist(), box.high.tolist()) == (low, high)


@given(st.lists(st.lists(st.integers(-3, 3), min_size=2, max_size=2), min_size=2, max_size=2))
def test_lists_of_lists_are_never_misread(bounds):
    first, second = bounds
    vectors, pairs = first[0] < second[0] and first[1] < second[1], first[0] < first[1] and second[0] < second[1]
    if vectors == pairs:  # both ways make sense, or neither does
        with pytest.raises(
            ParameterError, match="in one way only; .* Pass a list of tuples" if pairs else "expected low < high"
        ):
            as_domain("KMeans.bounds", bounds, 2)
        return
    box = as_domain("KMeans.bounds", bounds, 2)
    assert [box.low.tolist(), box.high.tolist()] == (bounds if vectors else np.transpose(bounds).tolist())


def test_pairs_and_mappings_declare_every_one_of_more_columns():
    assert as_domain("KMeans.bounds", [(0, 1), (10, 60), (-1, 1)], 3).high.tolist() == [1, 60, 1]
    assert as_domain("KMeans.bounds", np.array([(0, 1), (10, 60), (-1, 1)]), 3).low.tolist() == [0, 10, -1]
    for wrong in ([(0, 1)] * 3, [[0, 1]] * 5):
        with pytest.raises(ParameterError, match=rf"expected a pair for each of 4 columns, got {len(wrong)}\. Pass bounds="):
            as_domain("KMeans.bounds", wrong, 4)
    with pytest.raises(ParameterError, match=r"bounds: expected 3 columns, as in the table, got 1\. Declare every column"):
        as_domain("KMeans.bounds", {"a": (0, 1)}, 3)


def test_private_bounds_for_all_columns_or_some():
    assert as_domain("KMeans.bounds", "private", 3).private == (0, 1, 2)
    some = as_domain("KMeans.bounds", ["private", (0, 5), Number(1, 2, weight=3)], 3)
    assert (some.private, ends(some)[1:]) == ((0,), [(0.0, 5.0), (1.0, 2.0)])
    assert some.columns[2].weight == 3
    mixed = as_domain("KMeans.bounds", {"a": "private", "b": Category(["x", "y"]), "c": Date(*DAYS)}, 3)
    assert (mixed.private, mixed.measured) == ((0,), (0, 2))
    with pytest.raises(ParameterError, match=r"KMeans\.bounds: expected one entry for each of 2 columns, got 3"):
        as_domain("KMeans.bounds", ["private", (0, 1), (0, 1)], 2)
    with pytest.raises(ParameterError, match=r"KMeans\.bounds\['1'\]: expected what the column is, got 'secret'"):
        as_domain("KMeans.bounds", ["private", "secret"], 2)
