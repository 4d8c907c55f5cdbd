# SPDX-License-Identifier: Apache-2.0
"""Declared columns: a value becomes the same double in every table that can hold it, however its column is cut."""

import math
import pickle
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from tests import rows
from tests.examples import examples
from tests.optional import HAS_DASK, da, dask, dd, without_missing

from cloister import open_rows
from cloister.columns import Category, Date, Flag, Number, days_of
from cloister.data._decode import decode_arrow, decode_objects
from cloister.data._table import to_matrix
from cloister.exceptions import DataError, ParameterError

pytestmark = pytest.mark.both_suites  # tables of Dask are among them where it is installed

NUMBER, FLAG, DATE = Number(0, 1), Flag(), Date("2020-01-01", "2026-12-31")
CATEGORY = Category(["f", "m", 7, True, "2020-01-01", "2021-05-06T07:08:09", "\u00e4"])
DECLARED = {"number": NUMBER, "category": CATEGORY, "flag": FLAG, "date": DATE}
QUICK = examples(25, suppress_health_check=list(HealthCheck))
NAN = math.nan


def read(data, declared):
    """Return the column "x" of a table."""
    return rows.read(data, {"x": declared})[:, 0]


def same(left, right):
    return np.array_equal(left, right, equal_nan=True)


# -- one value --------------------------------------------------------------------------------------------------------------


class Hostile(str):
    """Text that cannot be read."""

    def strip(self, *marks):
        raise RuntimeError("77.123456789")


ONE_VALUE = [
    # value, number, category, flag, date
    (None, NAN, NAN, NAN, NAN),
    (pd.NA, NAN, NAN, NAN, NAN),
    (pd.NaT, NAN, NAN, NAN, NAN),
    (np.ma.masked, NAN, NAN, NAN, NAN),
    (np.datetime64("NaT", "D"), NAN, NAN, NAN, NAN),
    (math.nan, NAN, NAN, NAN, NAN),
    ("", NAN, NAN, NAN, NAN),
    ("  \t", NAN, NAN, NAN, NAN),
    ("f", NAN, 0, 0, NAN),
    (" f ", NAN, 0, 0, NAN),
    ("F", NAN, -1, 0, NAN),
    (b"m", NAN, 1, -1, NAN),
    (b"\xff", NAN, -1, -1, NAN),
    ("\u00e4", NAN, 6, -1, NAN),
    ("\ud800", NAN, -1, -1, NAN),
    ("\x00", NAN, -1, -1, NAN),
    ("YES", NAN, -1, 1, NAN),
    ("1", 1, -1, 1, NAN),
    ("7", 7, 2, -1, NAN),
    (7, 7, 2, -1, NAN),
    (7.0, 7, 2, -1, NAN),
    (np.float32(7), 7, 2, -1, NAN),
    (np.longdouble(7), 7, 2, -1, NAN),
    (np.uint8(7), 7, 2, -1, NAN),
    (np.array(7), 7, 2, -1, NAN),
    (Decimal(7), 7, 2, -1, NAN),
    (Decimal("7.00"), 7, 2, -1, NAN),
    (Decimal("7.5"), 7.5, -1, -1, NAN),
    (Decimal("1e999999"), math.inf, -1, -1, NAN),
    (Decimal("sNaN"), NAN, NAN, NAN, NAN),
    (Decimal("0.1"), 0.1, -1, -1, NAN),
    (np.longdouble("0.1"), 0.1, -1, -1, NAN),
    (np.float16(0.5), 0.5, -1, -1, NAN),
    (np.array(2.5), 2.5, -1, -1, NAN),
    (" 1.5\n", 1.5, -1, -1, NAN),
    ("1e400", math.inf, -1, -1, NAN),
    (b"2", 2, -1, -1, NAN),
    (True, 1, 3, 1, NAN),
    (np.bool_(False), 0, -1, 0, NAN),
    (1, 1, -1, 1, NAN),
    (0.0, 0, -1, 0, NAN),
    (-0.0, -0.0, -1, 0, NAN),
    (0.5, 0.5, -1, -1, NAN),
    (math.inf, math.inf, -1, -1, NAN),
    (2**70, 2.0**70, -1, -1, NAN),
    (-(10**400), -math.inf, -1, -1, NAN),
    (10**5000, math.inf, NAN, -1, NAN),
    ("true", NAN, 3, 1, NAN),
    ("2020-01-01", NAN, 4, -1, 18262),
    (date(2020, 1, 1), NAN, 4, -1, 18262),
    (datetime(2020, 1, 1), NAN, 4, -1, 18262),
    (datetime(2020, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))), NAN, 4, -1, 18262),
    (np.datetime64("2020-01-01"), NAN, 4, -1, 18262),
    (np.datetime64("2020"), NAN, 4, -1, 18262),
    (np.datetime64("2020-01-01T00", "h"), NAN, 4, -1, 18262),
    (np.datetime64("2020-01-01", "ns"), NAN, 4, -1, 18262),
    (pd.Timestamp("2020-01-01"), NAN, 4, -1, 18262),
    (pd.Timestamp("2020-01-01 01:00", tz="Europe/Berlin"), NAN, 4, -1, 18262),
    (datetime(2021, 5, 6, 7, 8, 9), NAN, 5, -1, days_of("2021-05-06T07:08:09")),
    ("2021-05-06 07:08:09Z", NAN, -1, -1, days_of("2021-05-06T07:08:09")),
    (date(9999, 12, 31), NAN, -1, -1, 2932896),
    (date(1, 1, 1), NAN, -1, -1, -719162),
    ("10000-01-01", NAN, -1, -1, NAN),
    ("0000-01-01", NAN, -1, -1, NAN),
    ("2020-02-30", NAN, -1, -1, NAN),
    (np.datetime64("10000-01-01"), NAN, NAN, NAN, NAN),
    (np.datetime64("10000-01-01", "s"), NAN, NAN, NAN, NAN),
    (np.datetime64(2**62, "s"), NAN, NAN, NAN, NAN),  # wraps around to 1970 where it is cast to microseconds
    (np.datetime64(2**62, "h"), NAN, NAN, NAN, NAN),
    (np.datetime64(2**62, "Y"), NAN, NAN, NAN, NAN),
    (pd.Timestamp(np.datetime64("12000-01-01", "s")), NAN, NAN, NAN, NAN),
    (datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-5))), NAN, NAN, NAN, NAN),
    (np.timedelta64(1, "D"), NAN, NAN, NAN, NAN),
    (np.timedelta64(7, "ns"), NAN, NAN, NAN, NAN),
    (np.array(7, dtype="m8[ns]"), NAN, NAN, NAN, NAN),
    (np.array("2020-01-01", dtype="M8[ns]"), NAN, 4, -1, 18262),
    (timedelta(1), NAN, NAN, NAN, NAN),
    (pd.Period("2020-01-01"), NAN, NAN, NAN, NAN),
    (pd.Interval(0, 1), NAN, NAN, NAN, NAN),
    (1j, NAN, NAN, NAN, NAN),
    ([], NAN, NAN, NAN, NAN),
    ({"f": 1}, NAN, NAN, NAN, NAN),
    (np.array(["f", "m"]), NAN, NAN, NAN, NAN),
    (object(), NAN, NAN, NAN, NAN),
    (Hostile("f"), NAN, NAN, NAN, NAN),
]


@pytest.mark.parametrize(
    ("value", *DECLARED), ONE_VALUE, ids=[f"{i}-{type(row[0]).__name__}" for i, row in enumerate(ONE_VALUE)]
)
def test_what_one_value_becomes(value, number, category, flag, date):
    for name, expected in {"number": number, "category": category, "flag": flag, "date": date}.items():
        values = np.empty(3, dtype=object)
        values[:] = [None, None, "m"]
        values[0] = value
        series = pd.Series(values, dtype=object)
        for frame in (pd.DataFrame({"x": series}), *([dask_of(series)] if HAS_DASK else [])):
            assert same(read(frame, DECLARED[name])[:1], [float(expected)]), (name, frame)
        assert same(decode_objects([value], DECLARED[name]), [float(expected)])
    assert same(rows.read(rows.objects([[value, 0.0]])), [[float(number), 0.0]]), "not declared"


def dask_of(series, partitions=2):
    with dask.config.set({"dataframe.convert-string": False}):
        return dd.from_pandas(pd.DataFrame({"x": series}), npartitions=partitions)


# -- one value, many types --------------------------------------------------------------------------------------------------

WORDS = st.one_of(
    st.sampled_from(
        ["f", "m", " m", "7", "7.0", "true", "", " ", "2020-01-01", "2021-05-06T07:08:09+02:00", "yes", "off", "1e3", "x"]
    ),
    st.text(max_size=4).filter(lambda text: text.isprintable()),
)
MOMENTS = st.one_of(
    st.datetimes(datetime(1678, 1, 1), datetime(2261, 1, 1)),
    st.sampled_from([datetime(2020, 1, 1), datetime(1969, 12, 31, 23, 59, 59, 999999), datetime(2021, 5, 6, 7, 8, 9)]),
)


def arrow(kind):
    return lambda values: pa.table({"x": pa.array(values, kind)})


def chunked(kind):
    return lambda values: pa.concat_tables(
        [arrow(kind)(values[:0]), *(arrow(kind)([value]) for value in values), arrow(kind)([])]
    )


def sliced(kind):
    return lambda values: arrow(kind)([*values, *values, None]).slice(len(values), len(values))


def spelt(kind, values):
    return pa.table({"x": pa.array(values, kind).dictionary_encode()})


def series(kind):
    return lambda values: pd.DataFrame({"x": pd.Series(values, dtype=kind)})


def in_arrow(kind):
    return {
        f"arrow-{kind}": arrow(kind),
        f"chunks-{kind}": chunked(kind),
        f"sliced-{kind}": sliced(kind),
        f"dictionary-{kind}": lambda values: spelt(kind, values),
        f"part-of-dictionary-{kind}": lambda values: spelt(kind, [*values, *values, None]).slice(len(values), len(values)),
        f"pandas-{kind}": lambda values: arrow(kind)(values).to_pandas(types_mapper=pd.ArrowDtype),
        f"polars-{kind}": lambda values: pl.DataFrame(arrow(kind)(values)),
    }


def categorical(values):
    return pd.DataFrame({"x": pd.Series(values, dtype=object).astype("category")})


def long_dictionary(values):
    """A dictionary with nulls of its own and far more entries than rows."""
    entries = [*(f"no {index}" for index in range(50)), None, *dict.fromkeys(value for value in values if value is not None)]
    places = [entries.index(value) for value in values]
    return pa.table({"x": pa.DictionaryArray.from_arrays(pa.array(places, pa.uint8()), pa.array(entries))})


OF_WORDS = {
    "objects": series(object),
    "dask": lambda values: dask_of(pd.Series(values, dtype=object)),
    "dask-text": lambda values: dd.from_pandas(series("string")(values), npartitions=2),
    "categorical": categorical,
    "str": series("str"),
    "string": series("string"),
    "string-python": series(pd.StringDtype("python")),
    "polars-categorical": lambda values: pl.DataFrame({"x": pl.Series(values, dtype=pl.Categorical)}),
    "polars-enum": lambda values: pl.DataFrame(
        {"x": pl.Series(values, dtype=pl.Enum(list({value for value in values if value is not None})))}
    ),
    "long-dictionary": long_dictionary,
    **in_arrow(pa.string()),
    **in_arrow(pa.large_string()),
    "view": arrow(pa.string_view()),
}


@pytest.mark.parametrize("declared", DECLARED.values(), ids=DECLARED)
@QUICK
@given(values=st.lists(st.one_of(st.none(), WORDS), min_size=1, max_size=6))
def test_text_is_the_same_in_every_table(declared, values):
    expected = decode_objects(values, declared)
    for name, make in without_missing(OF_WORDS).items():
        assert same(read(make(values), declared), expected), name


BERLIN = "Europe/Berlin"
OF_MOMENTS = {
    "objects": series(object),
    "timestamps": lambda values: pd.DataFrame({"x": pd.Series([pd.Timestamp(value) for value in values], dtype=object)}),
    "text": lambda values: pd.DataFrame({"x": pd.Series([value and value.isoformat() for value in values], dtype=object)}),
    "categorical": lambda values: pd.DataFrame({"x": pd.Series(values, dtype="datetime64[us]").astype("category")}),
    "datetime64[ns]": series("datetime64[ns]"),
    "datetime64[us]": series("datetime64[us]"),
    "datetime64[us, UTC]": series("datetime64[us, UTC]"),
    "zone": lambda values: pd.DataFrame({"x": pd.Series(values, dtype="datetime64[ns, UTC]").dt.tz_convert(BERLIN)}),
    "dask": lambda values: dd.from_pandas(series("datetime64[us]")(values), npartitions=2),
    **in_arrow(pa.timestamp("us")),
    "arrow-ns": arrow(pa.timestamp("ns")),
    "arrow-zone": lambda values: pa.table({"x": pa.array(values, pa.timestamp("us", "UTC")).cast(pa.timestamp("us", BERLIN))}),
}


@pytest.mark.parametrize("name", ["date", "category"])
@QUICK
@given(values=st.lists(st.one_of(st.none(), MOMENTS), min_size=1, max_size=6))
def test_a_moment_is_the_same_in_every_table(name, values):
    expected = decode_objects(values, DECLARED[name])
    assert same(decode_objects(values, DATE), [NAN if value is None else days_of(value) for value in values])
    for kind, make in without_missing(OF_MOMENTS).items():
        if (name, kind) != ("category", "text"):  # text is compared as text
            assert same(read(make(values), DECLARED[name]), expected), kind


def in_seconds(values):
    return pa.table({"x": pa.array(values, pa.date32()).cast(pa.timestamp("s"))})


@QUICK
@given(values=st.lists(st.one_of(st.none(), st.dates()), min_size=1, max_size=6))
def test_a_day_is_the_same_in_every_table(values):
    for declared in (DATE, CATEGORY):
        expected = decode_objects(values, declared)
        makers = {
            **in_arrow(pa.date32()),
            "date64": arrow(pa.date64()),
            "objects": series(object),
            "s": in_seconds,
        }
        for kind, make in makers.items():
            assert same(read(make(values), declared), expected), kind


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@QUICK
@given(ticks=st.lists(st.one_of(st.integers(-(2**63) + 1, 2**63 - 1), st.integers(-(10**6), 10**6)), min_size=1, max_size=6))
def test_any_count_of_any_unit_is_the_same_in_every_table(unit, ticks):
    ticks = np.array(ticks, dtype=np.int64)
    moments = ticks.view(f"datetime64[{unit}]")
    expected = np.array([_exact_days(int(tick), unit) for tick in ticks])
    tables = [
        pd.DataFrame({"x": pd.Series(list(moments), dtype=object)}),
        pd.DataFrame({"x": moments}),
        pa.table({"x": pa.array(ticks, pa.int64()).cast(pa.timestamp(unit))}),
        pa.table({"x": pa.array(ticks, pa.int64()).cast(pa.timestamp(unit, "America/New_York"))}),
    ]
    for table in tables:
        assert same(read(table, DATE), expected)


def _exact_days(tick, unit):
    """Return what Python's own dates say."""
    micros = Fraction(tick * 10**6, {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit])
    try:
        return days_of(datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=math.floor(micros)))
    except OverflowError:
        return NAN


NUMBERS = {
    "int8": st.integers(-128, 127),
    "int64": st.integers(-(2**63), 2**63 - 1),
    "uint64": st.integers(0, 2**64 - 1),
    "float16": st.floats(width=16),
    "float32": st.floats(width=32),
    "float64": st.floats(),
    "bool": st.booleans(),
}


@pytest.mark.fast("uint64", "float32", "bool")
@pytest.mark.parametrize("kind", NUMBERS)
@QUICK
@given(data=st.data())
def test_a_number_is_the_same_in_every_table(kind, data):
    small = st.booleans() if kind == "bool" else st.sampled_from([0, 1, 7, 2])
    values = data.draw(st.lists(st.one_of(NUMBERS[kind], small), min_size=1, max_size=6))
    array = np.array(values, dtype=kind)
    gaps = data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values)))
    holes = pa.array(array, mask=np.array(gaps))
    objects = [None if gap else value for value, gap in zip(array.tolist(), gaps, strict=True)]
    nullable = {"bool": "boolean"}.get(kind, kind.replace("uint", "UInt").replace("int", "Int").replace("float", "Float"))
    for declared in (NUMBER, CATEGORY, FLAG):
        whole = decode_objects(array.tolist(), declared)
        for table in (pd.DataFrame({"x": array}), pa.table({"x": array})):
            assert same(read(table, declared), whole)
        table = pa.table({"x": holes})
        expected = decode_objects(objects, declared)
        assert same(read(pd.DataFrame({"x": pd.Series(objects, dtype=object)}), declared), expected)
        for some in (
            table,
            table.to_pandas(types_mapper=pd.ArrowDtype),
            *([dd.from_pandas(table.to_pandas(types_mapper=pd.ArrowDtype))] if HAS_DASK else []),
        ):
            assert same(read(some, declared), expected)
        if kind != "float16":  # pandas has neither
            assert same(read(pd.DataFrame({"x": pd.Categorical(array)}), declared), whole)
            assert same(read(pd.DataFrame({"x": pd.Series(objects, dtype=nullable)}), declared), expected)
    assert np.isnan(decode_arrow(pa.chunked_array([holes]), DATE)).all()


def test_decimals_are_the_same_in_every_table():
    values = [Decimal("7.00"), Decimal("7.50"), None, Decimal("1.00"), Decimal("0.00")]
    for declared, expected in ((CATEGORY, [2, -1, NAN, -1, -1]), (FLAG, [-1, -1, NAN, 1, 0]), (NUMBER, [7, 7.5, NAN, 1, 0])):
        for name in ("decimal32", "decimal64", "decimal128", "decimal256"):
            if hasattr(pa, name):  # the smaller ones came later
                assert same(read(arrow(getattr(pa, name)(5, 2))(values), declared), expected)
        assert same(read(series(object)(values), declared), expected)


def test_text_of_arrow_that_is_no_text_raises_nothing():
    offsets, letters = np.array([0, 1, 2], dtype=np.int32), b"\xfff"
    bad = pa.Array.from_buffers(pa.string(), 2, [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer(letters)])
    assert same(read(pa.table({"x": bad}), CATEGORY), [-1, 0])
    assert same(read(pa.table({"x": bad.dictionary_encode()}), CATEGORY), [-1, 0])
    assert same(read(pa.table({"x": bad}), FLAG), [-1, 0])
    assert np.isnan(read(pa.table({"x": bad}), DATE)).all()
    assert np.isnan(read(pa.table({"x": bad}), NUMBER)).all()


def test_bytes_of_a_file_are_read_as_text():
    column = pa.table({"x": pa.array([b"f", b"\xff", None, b" m "], pa.binary())})
    assert same(to_matrix(column, (CATEGORY,))[:, 0], [0, -1, NAN, 1])
    assert same(to_matrix(pa.table({"x": pa.array(["\u0667".encode()])}), (NUMBER,)), [[7.0]])


def test_levels_that_python_takes_for_equal_are_told_apart():
    frame = pd.DataFrame({"x": pd.Series([1, True, "1", "true"], dtype=object)})
    assert same(read(frame, Category([1, "b"])), [0, -1, 0, -1])
    assert same(read(frame, Category([True, "b"])), [-1, 0, -1, 0])


@pytest.mark.parametrize("declared", DECLARED.values(), ids=DECLARED)
def test_a_table_without_rows_is_a_table(declared):
    tables = [
        *(series(kind)([]) for kind in (object, "str", "string", "category")),
        *(make([]) for make in (arrow(pa.string()), sliced(pa.string()), arrow(pa.null()), lambda _: spelt(pa.string(), []))),
        pl.DataFrame({"x": []}, schema={"x": pl.String}),
        *([dask_of(pd.Series([], dtype=object), 1)] if HAS_DASK else []),
    ]
    for table in tables:
        assert read(table, declared).shape == (0,)


def test_a_column_of_nulls_is_missing():
    for declared in DECLARED.values():
        assert np.isnan(read(pa.table({"x": pa.nulls(3)}), declared)).all()


# -- which columns, in which order ------------------------------------------------------------------------------------------

MIXED = {"n": [0.5, 2.0], "c": ["m", "f"], "s": [True, False], "d": [date(2020, 1, 1), None], "id": ["p", "q"]}
CHOSEN = {"d": ("2020-01-01", "2021-01-01"), "c": CATEGORY, "s": "flag", "n": (0, 1)}


def dask_frame(data):
    return dd.from_pandas(pd.DataFrame(data))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, dask_frame])
def test_only_the_columns_of_the_mapping_are_read_in_its_order(make):
    assert open_rows(make(MIXED), CHOSEN).feature_names == ("d", "c", "s", "n")
    assert same(rows.read(make(MIXED), CHOSEN), [[18262, 1, 1, 0.5], [NAN, 0, 0, 2.0]])


def dask_array():
    return da.zeros((3, 1))


NAMELESS = [lambda: np.zeros((3, 1)), lambda: [[1.0], [2.0]], dask_array, lambda: np.zeros(3, dtype=[("x", float)])]


@pytest.mark.parametrize("make", NAMELESS)
def test_a_table_without_names_takes_no_mapping(make):
    with pytest.raises(
        DataError, match=r"expected a table with column names.*Pass a data frame, or bounds as pairs per column\."
    ):
        open_rows(make(), {"x": (0, 1)})


def test_a_mapping_is_checked_before_the_table():
    with pytest.raises(ParameterError, match=r"open_rows\.columns\['x'\]: expected low < high"):
        open_rows("nowhere.csv", {"x": (1, 0)})
    with pytest.raises(ParameterError, match=r"open_rows\.columns: expected at least one column"):
        open_rows(pd.DataFrame(MIXED), {})


OTHERS = [
    (pa.list_(pa.int64()), "list<item: int64>"),
    (pa.struct([("a", pa.int64())]), "struct<a: int64>"),
    (pa.binary(), "binary"),
    (pa.binary(4), "fixed_size_binary"),
    (pa.duration("s"), "duration"),
    (pa.time64("us"), "time64"),
    (pa.map_(pa.string(), pa.int64()), "map<"),
    (pa.uuid(), "uuid"),
]


@pytest.mark.parametrize(("kind", "words"), OTHERS, ids=[words for _, words in OTHERS])
def test_types_of_no_single_value_are_refused_by_name(kind, words):
    for name, declared in DECLARED.items():
        with pytest.raises(DataError, match=f"a {name} in column 'x', declared as .*{words}.*Convert it .* or leave it out"):
            open_rows(pa.table({"x": pa.array([], kind)}), {"x": declared})


@pytest.mark.parametrize(
    ("values", "declared", "words"),
    [
        (pd.Series([], dtype="datetime64[ns]"), NUMBER, r"Declare it as Date\(low, high\)"),
        (pd.Series([], dtype="datetime64[ns, UTC]"), FLAG, r"Declare it as Date\(low, high\)"),
        (pd.Series([], dtype="int64"), DATE, r"Declare it as Number\(low, high\)"),
        (pd.Series([], dtype=pd.ArrowDtype(pa.bool_())), DATE, r"Declare it as Flag\(\), or leave it out"),
        (pd.Series([], dtype="bool"), DATE, r"Declare it as Flag\(\), or leave it out"),
        (pd.Series([], dtype="timedelta64[ns]"), NUMBER, "Convert it to numbers"),
        (pd.Series([], dtype="complex128"), NUMBER, "Convert it to numbers"),
        (pd.Series([], dtype=pd.SparseDtype(float)), NUMBER, "Convert it to numbers"),
        (pd.Series([], dtype="period[D]"), DATE, "Convert it to numbers"),
        (pd.Series([], dtype="interval[float64]"), CATEGORY, "Convert it to numbers"),
    ],
)
def test_a_type_that_does_not_fit_its_declaration_is_refused(values, declared, words):
    with pytest.raises(DataError, match=f"in column 'x', declared as .*{words}") as caught:
        open_rows(pd.DataFrame({"x": values}), {"x": declared})
    assert "\n" not in str(caught.value)
    assert repr(declared) in str(caught.value)


def test_categories_of_a_frame_decide_no_error():
    # Their type may come from rows: one more word among numbers makes it another.
    for values in ([1, 2], [1, "x"], [1.5], [pd.Timestamp(0)], [pd.Interval(0, 1)], [timedelta(1)], [pd.Timedelta(7)]):
        frame = pd.DataFrame({"x": pd.Series(values, dtype=object).astype("category")})
        for declared in DECLARED.values():
            assert same(read(frame, declared), decode_objects(values, declared))


# -- what types say of missing values ---------------------------------------------------------------------------------------


def nullable(data, columns=None):
    return open_rows(data, columns).nullable


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "bool"])
def test_a_type_that_may_come_from_rows_rules_nothing_out(dtype):
    """Pandas gives a column of whole numbers another type as soon as one row has none."""
    array = np.zeros((3, 2), dtype=dtype)
    frame = pd.DataFrame(array, columns=["a", "b"])
    of_dask = [da.from_array(array), dd.from_pandas(frame, npartitions=1)] if HAS_DASK else []
    for data in (array, frame, np.ma.masked_array(array), *of_dask):
        assert nullable(data) == (True, True)
    assert nullable(frame, {"b": (0, 1), "a": Flag()}) == (True, True)


@pytest.mark.parametrize("dtype", ["float32", "float64", "object", "Int64", "boolean", "int64[pyarrow]"])
def test_other_types_of_a_frame_may_hold_missing_values(dtype):
    assert nullable(pd.DataFrame({"a": [1, 0]}).astype(dtype)) == (True,)


def test_lists_and_floating_arrays_may_hold_missing_values():
    assert nullable([[1, 2]]) == nullable(np.zeros((2, 2))) == nullable(np.zeros((2, 2), dtype=object)) == (True, True)


@pytest.mark.parametrize(
    ("kind", "declared", "allowed"),
    [
        (pa.int64(), NUMBER, False),
        (pa.bool_(), FLAG, False),
        (pa.date32(), DATE, False),
        (pa.timestamp("ns"), DATE, False),
        (pa.decimal128(5, 2), NUMBER, False),
        (pa.float64(), NUMBER, True),
        (pa.string(), CATEGORY, True),  # blank text is missing
        (pa.dictionary(pa.int8(), pa.string()), CATEGORY, True),
    ],
)
def test_a_field_of_arrow_that_is_not_nullable_says_so(kind, declared, allowed):
    for open_to, expected in ((True, True), (False, allowed)):
        table = pa.table({"x": pa.array([], kind)}, pa.schema([pa.field("x", kind, nullable=open_to)]))
        assert nullable(table, {"x": declared}) == (expected,)


def test_declarations_travel():
    again = pickle.loads(pickle.dumps(tuple(DECLARED.values())))
    assert again == tuple(DECLARED.values())
    assert same(decode_objects(["m"], again[1]), [1])


@pytest.mark.slow
@pytest.mark.parametrize("partitions", [1, 3])
def test_a_partition_of_another_type_than_declared_is_read_alike(partitions):
    values = ["7", "m", None, "2020-01-01", "1"]
    meta = pd.DataFrame({"x": pd.Series([], dtype="string")})
    whole = pd.DataFrame({"x": pd.Series(values, dtype=object)})
    for kind in (object, "category", "str", "string"):
        parts = [whole.astype(kind)[index::partitions] for index in range(partitions)]
        frame = dd.from_delayed([dask.delayed(part) for part in parts], meta=meta, verify_meta=False)
        for declared in DECLARED.values():
            expected = np.concatenate([decode_objects(values[index::partitions], declared) for index in range(partitions)])
            assert same(read(frame, declared), expected)


def test_a_few_rows_of_a_large_dictionary_of_views_are_read():
    """As polars hands over a categorical column: most entries of the dictionary are of other rows."""
    words = pa.array(["f", "m", "x", "y", "z"], pa.string_view())
    column = pa.DictionaryArray.from_arrays(pa.array([1, None, 4], pa.int32()), words)
    assert same(read(pa.table({"x": column}), Category(["f", "m"])), [1.0, NAN, -1.0])
