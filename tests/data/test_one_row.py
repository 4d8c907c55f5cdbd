# SPDX-License-Identifier: Apache-2.0
"""One more row changes no other: by every reader the common rows are read alike to the last bit, without error or warning."""

import math
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from tests.examples import examples
from tests.optional import da, dask, without_missing
from tests.rows import OF_OBJECTS, PATTERNS, StreamOnly, bits, objects, signalling

from cloister import KMeans, PEMeans
from cloister.columns import Category, Date, Flag, Number

pytestmark = pytest.mark.both_suites  # tables of Dask are among them where it is installed


class Stubborn(float):
    """A number that cannot be read."""

    def __float__(self):
        raise OverflowError("77.123456789")

    def __gt__(self, other):
        raise ValueError("77.123456789")


LONG = np.longdouble("1e4000")  # beyond a double, where the platform has longer ones
ODD = [
    *(signalling(bits, pattern)[0] for bits, patterns in PATTERNS.items() for pattern in patterns),
    None,
    pd.NaT,
    pd.NA,
    np.ma.masked,
    2**70,
    -(10**400),
    Fraction(10**400, 3),
    Fraction(1, 3),
    Decimal("0.123456789"),
    Decimal("1e999999"),
    Decimal("sNaN"),
    LONG,
    np.longdouble("0.1"),
    np.float32(0.1),
    np.uint64(2**64 - 1),
    np.int64(-(2**63)),
    np.timedelta64(5, "s"),
    np.datetime64("2020-01-01"),
    np.array(7.5),
    np.array([1.0, 2.0]),
    np.bool_(True),
    True,
    1j,
    {},
    [1.0],
    "",
    "77.5",
    " -1e3 ",
    "1_000",
    "secret",
    b"8",
    b"\xff",
    date(2020, 1, 31),
    datetime(2020, 1, 31, 12),
    object(),
    Stubborn(7.0),
    math.nan,
    math.inf,
    -0.0,
    5e-324,
]
VALUES = st.one_of(
    st.sampled_from(ODD),
    st.floats(),
    st.integers(-(2**70), 2**70),
    st.decimals(),
    st.fractions(),
    st.floats(width=32).map(np.float32),
    st.floats().map(np.longdouble),
)
QUICK = examples(12, suppress_health_check=list(HealthCheck))
THOROUGH = examples(40, suppress_health_check=list(HealthCheck))


@st.composite
def tables(draw, values, width=2):
    """Return a table and the same with one more row, and where that row stands."""
    row = st.lists(values, min_size=width, max_size=width)
    rows, extra = draw(st.lists(row, min_size=1, max_size=5)), draw(row)
    place = draw(st.integers(0, len(rows)))
    return rows, [*rows[:place], extra, *rows[place:]], place


def odd_moment(ticks):
    """Return a time that only NumPy has, in one of its units."""
    return np.datetime64(ticks, ("Y", "h", "s", "ms", "us", "ns", "ps")[ticks % 7])


def is_utf_8(text):
    return text.encode("utf-8", "replace").decode() == text


def dictionary(column):
    return pa.array(column.combine_chunks()).dictionary_encode()


def categorical(kind, rows):
    """Return columns of pandas with categories, where pandas makes some of this type."""
    frame = arrow(kind, rows).to_pandas(types_mapper=pd.ArrowDtype)
    return frame.astype("category") if kind in (pa.string(), pa.int64(), pa.bool_(), pa.date32()) else frame


def agree(make, drawn, **options):
    rows, more, place = drawn
    before, after = bits(make(rows), **options), bits(make(more), **options)
    assert after.shape == (len(more), 2)
    assert np.array_equal(before, np.delete(after, place, axis=0))


# -- values of any kind ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind_of_table", OF_OBJECTS)
@QUICK
@given(drawn=tables(VALUES))
def test_one_more_row_of_any_values_changes_no_other(kind_of_table, drawn):
    agree(OF_OBJECTS[kind_of_table], drawn)


@QUICK
@given(drawn=tables(VALUES))
def test_every_door_for_objects_reads_the_same_numbers(drawn):
    rows, expected = drawn[0], bits(objects(drawn[0]))
    for kind_of_table in without_missing(OF_OBJECTS):
        assert np.array_equal(bits(OF_OBJECTS[kind_of_table](rows)), expected), kind_of_table


@QUICK
@given(
    rows=st.lists(st.lists(VALUES, min_size=2, max_size=2), min_size=3, max_size=5),
    extra=st.one_of(VALUES, st.lists(VALUES, max_size=4), st.sampled_from(["ab", np.eye(2), pd.Series([1.0, 2.0]), range(2)])),
    place=st.integers(0, 5),
)
def test_one_entry_of_a_list_that_may_be_no_row_changes_no_other(rows, extra, place):
    more = [*rows[:place], extra, *rows[place:]]
    assert np.array_equal(bits(rows), np.delete(bits(more), min(place, len(rows)), axis=0))


def test_nine_decimals_in_one_row_change_no_other():
    # Arrow infers one scale for a column of Decimals; each value is read by itself instead.
    few = [Decimal(number) / 10 for number in range(3000)]
    frame = pd.DataFrame({"a": pd.Series([*few, Decimal("0.123456789")], dtype=object)})
    assert np.array_equal(bits(frame)[:-1], bits(frame[:-1]))
    assert np.array_equal(bits(frame)[:-1, 0].view(np.float64), [float(value) for value in few])


# -- values of declared types ----------------------------------------------------------------------------------------------

TYPES = {
    pa.float64(): st.floats(),
    pa.float32(): st.floats(width=32),
    pa.float16(): st.floats(width=16).map(np.float16),
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.uint64(): st.integers(0, 2**64 - 1),
    pa.int8(): st.integers(-128, 127),
    pa.bool_(): st.booleans(),
    pa.decimal128(38, 9): st.decimals(-(10**20), 10**20, places=9),
    pa.decimal256(76, 30): st.decimals(-(10**20), 10**20, places=30),
    pa.null(): st.none(),
}


def arrow(kind, rows):
    return pa.table({name: pa.array([row[index] for row in rows], kind) for index, name in enumerate("ab")})


OF_TYPES = {
    "arrow": arrow,
    "stream": lambda kind, rows: StreamOnly(arrow(kind, rows)),
    "chunks": lambda kind, rows: pa.concat_tables([arrow(kind, [row]) for row in rows]),
    "polars": lambda kind, rows: arrow(kind, rows) if pa.types.is_decimal256(kind) else pl.DataFrame(arrow(kind, rows)),
    "pandas-arrow": lambda kind, rows: arrow(kind, rows).to_pandas(types_mapper=pd.ArrowDtype),
}


# -- columns that are declared -----------------------------------------------------------------------------------------------

LEVELS = ["f", "m", 7, True, "2020-01-31", "secret"]
DECLARED = {
    "numbers": {"a": Number(0, 1), "b": Number("private")},
    "category": {"b": Category(LEVELS), "a": Number(0, 1)},
    "flag": {"a": Flag(), "b": Category(LEVELS, missing="own")},
    "date": {"a": Date("2020-01-01", "2021-01-01"), "b": Flag()},
}
WORDS = st.sampled_from(
    ["f", " m ", "7", "yes", "NO", "2020-01-31", "2020-01-31T12:00:00.5+02:00", "10000-01-01", "\ud800", b"f"]
)
MOMENTS = st.one_of(st.datetimes(), st.dates(), st.datetimes().map(np.datetime64), st.integers(-(2**62), 2**62).map(odd_moment))


@pytest.mark.parametrize("kind_of_table", ["pandas", "dask-frame"])
@THOROUGH
@given(columns=st.sampled_from(list(DECLARED.values())), drawn=tables(st.one_of(VALUES, WORDS, MOMENTS)))
def test_one_more_row_of_any_values_in_declared_columns_changes_no_other(kind_of_table, columns, drawn):
    agree(OF_OBJECTS[kind_of_table], drawn, columns=columns)


TYPES_OF_ALL = {
    **TYPES,
    pa.string(): st.one_of(
        st.none(), WORDS.filter(lambda word: word not in ("\ud800", b"f")), st.text(max_size=3).filter(is_utf_8)
    ),
    pa.date32(): st.dates(),
    pa.timestamp("us"): st.datetimes(),
    pa.timestamp("ns", "Europe/Berlin"): st.integers(-(2**63) + 1, 2**63 - 1),
    pa.timestamp("s"): st.integers(-(2**63) + 1, 2**63 - 1),
}
FITTING = {
    "numbers": [*TYPES, pa.string()],
    "category": [*TYPES, pa.string()],
    "flag": [*TYPES, pa.string()],
    "date": [pa.string(), pa.null()],
    "category-of-times": list(TYPES_OF_ALL)[len(TYPES) :],
    "times": [pa.date32(), pa.timestamp("us"), pa.timestamp("ns", "Europe/Berlin"), pa.timestamp("s"), pa.string()],
}
OF_TYPES_DECLARED = {
    **DECLARED,
    "category-of-times": {"a": Category(LEVELS), "b": Category(["x", "y"])},
    "times": {"a": Date("2020-01-01", "2021-01-01"), "b": Category(LEVELS)},
}
OF_ALL_TYPES = {
    **OF_TYPES,
    "dictionary": lambda kind, rows: pa.table({name: dictionary(arrow(kind, rows)[name]) for name in "ab"}),
    "categorical": categorical,
}


@pytest.mark.parametrize("kind_of_table", OF_ALL_TYPES)
@THOROUGH
@given(data=st.data())
def test_one_more_row_of_a_type_in_declared_columns_changes_no_other(kind_of_table, data):
    name = data.draw(st.sampled_from(sorted(FITTING)))
    kind = data.draw(st.sampled_from(FITTING[name]))
    drawn = data.draw(tables(st.one_of(st.none(), TYPES_OF_ALL[kind])))
    agree(partial(OF_ALL_TYPES[kind_of_table], kind), drawn, columns=OF_TYPES_DECLARED[name])


def write_parquet(table, place):
    pa.parquet.write_table(table, place, row_group_size=2)


def write_arrow(table, place):
    with pa.ipc.new_file(place, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)


@pytest.mark.parametrize("write", [write_parquet, write_arrow])
@THOROUGH
@given(data=st.data(), name=st.sampled_from([None, *FITTING]))
def test_one_more_row_of_a_file_with_types_changes_no_other(write, data, name, tmp_path):
    kinds = [kind for kind in (TYPES if name is None else FITTING[name]) if kind != pa.timestamp("s")]  # Parquet has none
    kind = data.draw(st.sampled_from(kinds))
    place = tmp_path / ("rows.parquet" if write is write_parquet else "rows.arrow")

    def make(rows):
        write(arrow(kind, rows), place)
        return place

    drawn = data.draw(tables(st.one_of(st.none(), TYPES_OF_ALL[kind])))
    agree(make, drawn, columns=None if name is None else OF_TYPES_DECLARED[name])


# -- partitions that are not what was declared -------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_chunk_of_another_type_than_declared_is_read_value_by_value():
    for chunk in (
        np.array([["1.5"], ["x"]]),
        np.array([[1.5], [None]], dtype=object),
        np.ma.masked_array([[1.5], [7]], [[0], [1]]),
    ):
        array = da.from_delayed(dask.delayed(chunk), shape=(2, 1), dtype=float)
        assert np.array_equal(bits(array).view(np.float64), [[1.5], [np.nan]], equal_nan=True)


# -- estimators --------------------------------------------------------------------------------------------------------------

HOSTILE_ROWS = [[0.5], [], None, "ab", [0.1, 0.2, 0.3], ["x", 0.5], [10**400, pd.NaT], [LONG, 1j], {"a": 1}, 7.0]


@pytest.mark.parametrize("row", HOSTILE_ROWS, ids=str)
def test_a_fit_and_a_prediction_take_a_row_that_is_none(row, generator):
    table = generator.uniform(size=(40, 2)).tolist()
    table.insert(3, row)
    model = PEMeans(2, epsilon=5.0, bounds=(0, 1), n_rounds=2, n_init=1, n_variations=5).fit(table)
    assert model.n_features_in_ == 2
    assert model.labels_.shape == model.predict(table).shape == (41,)
    assert model.transform(table).shape == (41, 2)


def test_a_fit_of_a_frame_of_objects_equals_that_of_its_numbers(generator):
    numbers = generator.uniform(size=(200, 2))
    frame = pd.DataFrame(numbers, columns=["a", "b"]).astype(object)
    frame.loc[len(frame)] = ["secret", Decimal("0.123456789")]
    same = pd.DataFrame(np.vstack([numbers, [np.nan, 0.123456789]]), columns=["a", "b"])
    options = {"epsilon": 1.0, "bounds": (0, 1), "random_state": 0}
    assert np.array_equal(KMeans(3, **options).fit(frame).cluster_centers_, KMeans(3, **options).fit(same).cluster_centers_)


# -- Spark -------------------------------------------------------------------------------------------------------------------


NUMBERS_OF_SPARK = (
    "a decimal(38, 9), b long, c double, d float, e boolean, f short, g decimal(20, 0), h byte, i int, j void",
    [
        (Decimal("0.1"), 2**53 + 1, -0.0, 0.1, True, 7, Decimal(10**19 + 1), 1, 3, None),
        (None,) * 10,
        (Decimal("-12345678901234567890.123456789"), -(2**63), 5e-324, 3e38, False, -7, Decimal(3), -128, -(2**31), None),
    ],
    (
        Decimal("99999999999999999999999999999.999999999"),
        2**63 - 1,
        math.nan,
        math.inf,
        None,
        1,
        Decimal(10**20 - 1),
        7,
        7,
        None,
    ),
    None,
)
DECLARED_OF_SPARK = (
    "a string, b date, c timestamp_ntz, d boolean, e string, f string, g int, h double",
    [
        ("f", date(2020, 1, 31), datetime(2020, 1, 31, 12), True, "0.5", "yes", 7, 7.0),
        (None,) * 8,
        ("", date(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999), False, "x", "?", 2**31 - 1, math.nan),
    ],
    ("\u00e4\x00", date(9999, 12, 31), datetime(1, 1, 1), None, "1e999", "\n", -1, -math.inf),
    {
        "c": Date("2020-01-01", "2021-01-01"),
        "a": Category(LEVELS),
        "b": Date("2020-01-01", "2021-01-01"),
        "d": Flag(),
        "e": Number(0, 1),
        "f": Flag(),
        "g": Category([7, 8]),
        "h": Category([7, 8]),
    },
)


@pytest.mark.slow
@pytest.mark.parametrize("case", [NUMBERS_OF_SPARK, DECLARED_OF_SPARK], ids=["numbers", "declared"])
def test_one_more_row_of_a_spark_frame_changes_no_other(case, spark):
    schema, rows, extra, columns = case

    def read(some):
        frame = spark.createDataFrame(some, schema).coalesce(1)
        found = bits(frame, columns=columns)
        assert np.array_equal(found, bits(frame.toArrow(), columns=columns))
        if columns is not None:  # numbers of Python may be longer than those of Spark
            objects_of = pd.DataFrame(dict(zip(frame.columns, map(list, zip(*some, strict=True)), strict=True)), dtype=object)
            assert np.array_equal(found, bits(objects_of, columns=columns))
        return found

    for place in range(len(rows) + 1):
        more = [*rows[:place], extra, *rows[place:]]
        assert np.array_equal(np.delete(read(more), place, axis=0), read(rows))
