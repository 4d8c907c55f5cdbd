# SPDX-License-Identifier: Apache-2.0
"""Ids: what they mean, the hash that they are read as, and that every format and engine agrees on both."""

import hashlib
import json
import logging
import pickle
import uuid
from datetime import date
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.optional import HAS_DASK, da, dd

from cloister import open_rows
from cloister.columns import Category, Identifier
from cloister.data import BlockCache, _ids
from cloister.data._id_hash import CHUNK, hash_bytes
from cloister.data._ids import hash_array, hash_arrow, hash_objects
from cloister.exceptions import DataError, ParameterError
from cloister.privacy import Coins, Entropy

KEY = bytes(range(32))
IDS = Identifier(KEY)
PRIME = 2**61 - 1
LONG = "a" * 200
CANARY = "Zq-canary-77123"
LENGTHS = [39, 40, 41, 43, 79, 80, 81, 120, 3999, 4000, 4001, 9001]  # at the edges of what is read at a time
TEXTS = ["7", "x", "X", " x", "x ", "", LONG, LONG + "b", "naïve", "日本", "007", "7.0", "NA", "null", "nan", "true", "7"]


def reference(text, key=KEY):
    """The definition of the hash, with the integers of Python."""
    drawn = hashlib.shake_256(b"cloister/ids/" + key).digest(32)
    lanes = []
    for part in (drawn[:16], drawn[16:]):
        point = 2 + int.from_bytes(part, "little") % (PRIME - 3)
        words = [len(text), *(int.from_bytes(text[start : start + 4], "little") for start in range(0, len(text), 4))]
        value = sum(word * pow(point, power, PRIME) for power, word in enumerate(words, start=1))
        lanes.append(value % PRIME >> 9)
    return lanes


def expected(texts):
    encoded = [text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass") for text in texts]
    return np.array([reference(text) for text in encoded], dtype=np.float64).reshape(-1, 2)


def same(lanes, texts):
    return np.array_equal(lanes, expected(texts))


def lanes_of(rows):
    return np.concatenate([np.empty((0, rows.width)), *rows.blocks()])[:, rows.n_features :]


def total(block):
    """Integers that tell tables of hashes apart, and that do not depend on the order of rows or on how they are cut."""
    whole = np.asarray(block, dtype=np.float64).astype(np.int64)
    joint = (whole[:, -1] % 2**20) * (whole[:, 0] + 1)
    return np.array([len(block), *(whole % 2**26).sum(axis=0), *(whole >> 26).sum(axis=0), joint.sum()])


# -- the hash ----------------------------------------------------------------------------------------------------------------


@given(
    st.lists(st.binary(max_size=70) | st.sampled_from(LENGTHS).map(lambda size: b"\xff" * size), max_size=40),
    st.binary(min_size=32, max_size=32),
)
def test_the_hash_is_what_it_is_defined_to_be(texts, key):
    data, offsets = np.frombuffer(b"".join(texts), dtype=np.uint8), np.cumsum([0, *map(len, texts)])
    found = hash_bytes(data, offsets, key)
    assert found.tolist() == [reference(text, key) for text in texts]
    assert found.dtype == np.float64


@pytest.mark.parametrize("text", [b"", b"\0", b"\0" * 4, b"\0" * 5, b"\xff" * 4, b"\xff" * 400, b"a" * 3, b"a" * 4, b"a" * 5])
def test_edges_of_words_are_hashed_alike_alone_and_among_many(text):
    texts = [text] * (CHUNK + 40) + [b"b" * 7000] + [text[:-1]]
    data, offsets = np.frombuffer(b"".join(texts), dtype=np.uint8), np.cumsum([0, *map(len, texts)])
    found = hash_bytes(data, offsets, KEY)
    assert np.array_equal(found[: CHUNK + 40], np.tile(reference(text), (CHUNK + 40, 1)))
    assert found[-2:].tolist() == [reference(b"b" * 7000), reference(text[:-1])]


def test_hashes_of_neighbouring_numbers_are_spread_evenly_and_never_meet():
    lanes = hash_array(np.arange(200_000), IDS)
    assert ((lanes >= 0) & (lanes < 2**52) & (lanes == np.floor(lanes))).all()
    assert len(np.unique(lanes[:, 0])) == len(np.unique(lanes[:, 1])) == len(lanes)
    for lane in lanes.T:
        counts = np.bincount((lane // 2**48).astype(int), minlength=16)
        assert np.abs(counts - len(lanes) / 16).max() < 0.1 * len(lanes) / 16
    assert abs(np.corrcoef(lanes.T)[0, 1]) < 0.02


def test_ids_that_differ_in_their_last_bits_alone_are_not_dropped_with_these():
    words = [b"abc" + bytes([last]) for last in range(256)] + [bytes([first]) + b"abc" for first in range(256)]
    lanes = hash_objects(words, IDS)
    assert len(np.unique(lanes[:, 0])) == len(np.unique(lanes[:, 1])) == len(set(words))


def test_another_key_gives_other_hashes():
    table = np.zeros((50, 1))
    fixed, again, other = (lanes_of(open_rows(table, privacy_unit=range(50), unit_key=key)) for key in (KEY, KEY, bytes(32)))
    assert np.array_equal(fixed, again)
    assert not (fixed == other).any()


@pytest.mark.os_entropy
def test_without_a_key_each_opening_has_its_own():
    first, second = (lanes_of(open_rows(np.zeros((50, 1)), privacy_unit=range(50))) for _ in range(2))
    assert not (first == second).any()


# -- what an id means ---------------------------------------------------------------------------------------------------------

MEANINGS = [
    (7, "7"),
    (-7, "-7"),
    (7.0, "7"),
    (-0.0, "0"),
    (np.float32(7), "7"),
    (np.int8(7), "7"),
    (np.uint64(2**64 - 1), "18446744073709551615"),
    (np.longdouble(2) ** 63, str(2**63)),
    (Decimal("7"), "7"),
    (Decimal("7.00"), "7"),
    (Decimal("7e3"), "7000"),
    (Decimal("-0.00"), "0"),
    (Decimal("0.5"), "0.5"),
    (Decimal("0.00001"), "1e-05"),
    (Decimal("-0.12345678901234567890123"), "-0.12345678901234567890123"),
    (Decimal("sNaN"), ""),
    (Decimal("-inf"), "-inf"),
    (Decimal("1e99999999"), "1e99999999"),
    (Decimal("1e-99999999"), "1e-99999999"),
    (Fraction(7, 1), "7"),
    (Fraction(1, 2), "0.5"),
    (0.5, "0.5"),
    (0.1, "0.1"),
    (np.float32(0.1), "0.1"),
    (np.float16(0.1), "0.1"),
    (1e22, "10000000000000000000000"),
    (float("inf"), "inf"),
    (2**53 + 1, str(2**53 + 1)),
    (10**700 + 1, f"1{'0' * 699}1"),
    (10**5000 + 1, f"1{'0' * 4999}1"),
    (-(10**5000), f"-1{'0' * 5000}"),
    (True, "true"),
    (np.False_, "false"),
    (uuid.UUID(int=5), "00000000-0000-0000-0000-000000000005"),
    (b"x", "x"),
    (bytearray(b"x"), "x"),
    (np.str_("x"), "x"),
    (np.bytes_(b"x"), "x"),
    (np.array("x"), "x"),
    (b"\xff\xfe", b"\xff\xfe"),
    ("\ud800", b"\xed\xa0\x80"),
    ("a\0", b"a\0"),
    ("7.0", "7.0"),
    (" 7", " 7"),
    (None, ""),
    (float("nan"), ""),
    (np.float32("nan"), ""),
    (pd.NA, ""),
    (pd.NaT, ""),
    (np.ma.masked, ""),
    ("", ""),
    (b"", ""),
    ([1], ""),
    ({}, ""),
    (1j, ""),
    (date(2020, 1, 1), ""),
    (np.datetime64("2020-01-01"), ""),
    (np.timedelta64(5, "s"), ""),
    (np.array([7]), ""),
    (object(), ""),
]


@pytest.mark.parametrize(("value", "text"), MEANINGS, ids=lambda one: type(one).__name__)
def test_an_id_is_its_text(value, text):
    assert same(hash_objects([value], IDS), [text])


class Odd(float):
    """A number that cannot be read."""

    def __float__(self):
        raise RuntimeError(CANARY)


class OddWord(str):
    """A word that encodes itself in its own way."""

    def encode(self, *_):
        raise RuntimeError(CANARY)


def test_no_object_raises_whatever_it_does():
    assert same(hash_objects([OddWord("x"), "y"], IDS), ["x", "y"])
    assert len(hash_objects([Odd(0.5), type, Ellipsis, np.nan], IDS)) == 4


@given(st.integers(-(2**63), 2**64 - 1))
def test_integers_are_exact_in_every_type_that_holds_them(value):
    types = [np.int64] if value < 0 else [np.uint64] if value >= 2**63 else [np.int64, np.uint64]
    for kind in types:
        assert same(hash_array(np.array([value], dtype=kind), IDS), [str(value)])
    assert same(hash_objects([value, Decimal(value)], IDS), [str(value)] * 2)
    assert same(hash_arrow(pa.array([Decimal(value)], pa.decimal128(38, 4)), IDS), [str(value)])


@given(st.lists(st.floats() | st.floats(width=32) | st.integers(-99, 99).map(float), max_size=20))
def test_floats_mean_the_same_in_columns_and_one_by_one(values):
    assert np.array_equal(hash_array(np.array(values, dtype=float), IDS), hash_objects(values, IDS))
    short = np.array(values, dtype=float)
    with np.errstate(all="ignore"):
        short = short.astype(np.float32)
    assert np.array_equal(hash_array(short, IDS), hash_objects(list(short), IDS))
    assert np.array_equal(hash_arrow(pa.array(short), IDS), hash_array(short, IDS))


COLUMNS = {
    "text": (["a", "A", None, LONG, ""], ["a", "A", "", LONG, ""]),
    "int": ([1, None, -3, 2**60 + 1], ["1", "", "-3", str(2**60 + 1)]),
    "bool": ([True, None, False], ["true", "", "false"]),
    "bytes": ([b"a", None, b"\xff\0"], ["a", "", b"\xff\0"]),
    "decimal": ([Decimal("7.00"), None, Decimal("0.50")], ["7", "", "0.5"]),
    "whole-decimal": ([Decimal("7.00"), None], ["7", ""]),
    "null": ([None, None], ["", ""]),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_columns_of_arrow_mean_what_their_values_do(kind):
    values, texts = COLUMNS[kind]
    column = pa.array(values)
    assert same(hash_arrow(column, IDS), texts)
    padded = pa.concat_arrays([column, column, column])
    assert same(hash_arrow(padded.slice(1, 2 * len(values)), IDS), [*texts[1:], *texts, *texts[:1]]), "a slice"
    assert same(hash_arrow(pa.chunked_array([column.slice(1), column.slice(0, 0), column]), IDS), [*texts[1:], *texts])
    if kind not in ("bool", "null"):
        words = padded.dictionary_encode()
        assert same(hash_arrow(words, IDS), texts * 3)
        assert same(hash_arrow(words.slice(1, 1), IDS), texts[1:2]), "a dictionary that is larger than the column"


def test_types_of_text_of_arrow_mean_the_same():
    texts = ["ab", "cd", "", "longer than a view holds", "7"]
    for kind in (pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), pa.string_view(), pa.binary_view()):
        column = pa.array(texts, kind)
        assert same(hash_arrow(column, IDS), texts)
        assert same(hash_arrow(column.slice(1, 3), IDS), texts[1:4])
    assert same(hash_arrow(pa.array([b"ab", None, b"a\0"], pa.binary(2)), IDS), ["ab", "", b"a\0"])


def test_dictionaries_with_a_missing_entry_or_of_numbers_are_their_values():
    words = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 2, 0], pa.int8()), pa.array(["a", None, "b"]))
    assert same(hash_arrow(words, IDS), ["a", "", "", "b", "a"])
    assert same(hash_arrow(words.slice(3, 1), IDS), ["b"])
    numbers = pa.DictionaryArray.from_arrays(pa.array([1, 0], pa.int64()), pa.array([7.0, None]))
    assert same(hash_arrow(numbers, IDS), ["", "7"])


def test_bytes_that_are_no_text_are_not_merged():
    column = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(np.array([0, 1, 2], np.int32)), pa.py_buffer(b"\xff\xfe")]
    )
    assert same(hash_arrow(column, IDS), [b"\xff", b"\xfe"])


@pytest.mark.skipif(not hasattr(pa, "uuid"), reason="this Arrow has no type for them")
def test_uuids_of_arrow_are_their_text():
    values = [uuid.UUID(int=5), None]
    column = pa.array([None if one is None else one.bytes for one in values], pa.binary(16)).cast(pa.uuid())
    rows = open_rows(pa.table({"x": [0.0, 1.0], "p": column}), privacy_unit="p", unit_key=KEY)
    assert same(lanes_of(rows), [str(values[0]), ""])


def test_arrays_of_numpy_of_every_type_mean_what_their_values_do():
    assert same(hash_array(np.array(["ab", "c\0", "", "日本"]), IDS), ["ab", "c", "", "日本"])  # NumPy drops the zeros itself
    assert same(hash_array(np.array([b"ab", b"c\0"]), IDS), ["ab", "c"])
    assert same(hash_array(np.array(["ab", ""], dtype=np.dtypes.StringDType()), IDS), ["ab", ""])
    assert same(hash_array(np.array([5, 7], dtype=">i8"), IDS), ["5", "7"])
    assert same(hash_array(np.array([5, 7.5], dtype=">f8"), IDS), ["5", "7.5"])
    assert same(hash_array(np.arange(6)[::2], IDS), ["0", "2", "4"])
    assert same(hash_array(np.array([True, False, True])[::2], IDS), ["true", "true"])
    assert same(hash_array(np.array([5, 0.5], dtype=np.longdouble), IDS), ["5", "0.5"])
    assert same(hash_array(np.ma.masked_array([5, 6], mask=[True, False]), IDS), ["", "6"])
    assert same(
        hash_array(np.array([1e300, -(2.0**63), 2.0**63, np.inf]), IDS), [str(int(1e300)), str(-(2**63)), str(2**63), "inf"]
    )


SERIES = {
    "object": (pd.Series([7, "7", 7.0, None, "a"], dtype=object), ["7", "7", "7", "", "a"]),
    "str": (pd.Series(["a", None, LONG]), ["a", "", LONG]),
    "arrow-text": (pd.Series(["a", None], dtype="string[pyarrow]"), ["a", ""]),
    "python-text": (pd.Series(["a", None], dtype="string[python]"), ["a", ""]),
    "float": (pd.Series([7.0, np.nan]), ["7", ""]),
    "Int64": (pd.Series([2**60 + 1, None], dtype="Int64"), [str(2**60 + 1), ""]),
    "Float64": (pd.Series([0.5, None], dtype="Float64"), ["0.5", ""]),
    "boolean": (pd.Series([True, None], dtype="boolean"), ["true", ""]),
    "int64-arrow": (pd.Series([7, None], dtype="int64[pyarrow]"), ["7", ""]),
    "category": (pd.Series(["a", None, "a", "b"], dtype="category"), ["a", "", "a", "b"]),
    "category-of-numbers": (pd.Series([7, None, 8], dtype="category"), ["7", "", "8"]),
    "few-of-many-categories": (pd.Series(["a", None], dtype=pd.CategoricalDtype(list("abcdef"))), ["a", ""]),
    "no-category": (pd.Series([None, None], dtype="category"), ["", ""]),
}


@pytest.mark.parametrize("kind", SERIES)
def test_series_of_pandas_mean_what_their_values_do(kind):
    series, texts = SERIES[kind]
    scattered = series.set_axis(range(len(series), 0, -1))
    frame = pd.DataFrame({"p": scattered, "x": np.arange(len(series), dtype=float)})
    matrix = np.arange(len(series), dtype=float)[:, None]
    for rows in (
        open_rows(frame, privacy_unit="p", unit_key=KEY),
        open_rows(frame[["x"]], privacy_unit=scattered, unit_key=KEY),
        open_rows(matrix, privacy_unit=scattered, unit_key=KEY),
        open_rows(matrix, privacy_unit=pd.Index(series), unit_key=KEY),
        open_rows(matrix, privacy_unit=series.array, unit_key=KEY),
    ):
        assert same(lanes_of(rows), texts)


GIVEN = {
    "list": list,
    "tuple": tuple,
    "numpy-object": lambda texts: np.array(texts, dtype=object),
    "numpy-text": np.array,
    "pandas": pd.Series,
    "categorical": pd.Categorical,
    "polars": pl.Series,
    "polars-categorical": lambda texts: pl.Series(texts, dtype=pl.Categorical),
    "arrow": pa.array,
    "arrow-chunks": lambda texts: pa.chunked_array([texts[:3], texts[3:]]),
    "arrow-dictionary": lambda texts: pa.array(texts).dictionary_encode(),
}


@pytest.mark.parametrize("kind", GIVEN)
def test_ids_beside_any_table_in_memory(kind):
    ids, table = GIVEN[kind](TEXTS), np.arange(2.0 * len(TEXTS)).reshape(-1, 2)
    for data in (table, table.tolist(), table.astype(np.float32), pd.DataFrame(table, columns=["a", "b"]), pl.DataFrame(table)):
        rows = open_rows(data, privacy_unit=ids, unit_key=KEY, n_jobs=2)
        assert (rows.n_features, rows.width, rows.n_hidden) == (2, 4, 2)
        assert same(lanes_of(rows), TEXTS)
        assert np.array_equal(np.concatenate(list(rows.blocks()))[:, :2], table)


# -- formats and engines ----------------------------------------------------------------------------------------------------

FEATURES = {"b": [float(place) for place in range(len(TEXTS))], "a": [place / 2 for place in range(len(TEXTS))]}
TABLE = pa.table({"b": FEATURES["b"], "pid": TEXTS, "a": FEATURES["a"]})


def write_csv(table, path, **options):
    table.to_pandas().to_csv(path, index=False, **options)


def write_lines(table, path):
    path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))


def two_files(table, path):
    path.mkdir()
    half = table.num_rows // 2
    pa.parquet.write_table(table.slice(0, half), path / "a.parquet", row_group_size=3)
    pa.parquet.write_table(table.slice(half).cast(pa.schema([*table.schema])), path / "b.parquet")


FORMATS = {
    "rows.parquet": pa.parquet.write_table,
    "rows.feather": pa.feather.write_feather,
    "rows.csv": write_csv,
    "rows.tsv": lambda table, path: write_csv(table, path, sep="\t"),
    "rows.csv.gz": write_csv,
    "rows.jsonl": write_lines,
    "folder": two_files,
}
FRAMES = {
    "arrow": lambda: TABLE,
    "arrow-chunks": lambda: pa.concat_tables([TABLE.slice(0, 4), TABLE.slice(4)]),
    "pandas": TABLE.to_pandas,
    "polars": lambda: pl.DataFrame(TABLE),
    "polars-categorical": lambda: pl.DataFrame(TABLE).cast({"pid": pl.Categorical}),
    "dictionary": lambda: TABLE.set_column(1, "pid", TABLE["pid"].dictionary_encode()),
}


def open_named(data, **options):
    return open_rows(data, ["a", "b"], privacy_unit="pid", unit_key=KEY, **options)


def whole():
    """The blocks of all rows, end to end, as every reader should give them."""
    return np.column_stack([FEATURES["a"], FEATURES["b"], expected(TEXTS)])


@pytest.mark.both_suites
@pytest.mark.parametrize("kind", FORMATS)
def test_files_give_the_same_hashes(kind, tmp_path, monkeypatch):
    FORMATS[kind](TABLE, tmp_path / kind)
    coins = Coins.draw(Entropy(3), 0.5)
    for piece_bytes in (1 << 26, 40):
        monkeypatch.setattr("cloister.data._files.PIECE_BYTES", piece_bytes)
        rows = open_named(tmp_path / kind, n_jobs=2)
        assert np.array_equal(np.concatenate(list(rows.blocks())), whole())
        assert rows.n_numbers in (None, whole().size)
        assert (rows.feature_names, rows.n_features, rows.n_hidden) == (("a", "b"), 2, 2)
        held, kept = rows.held(), rows.sample(coins)
        assert np.array_equal(np.concatenate(list(held.blocks())), whole())
        drawn = held.sample(coins)
        with monkeypatch.context() as few:
            few.setattr("cloister.data._file_rows.FileRows.kept_numbers", 0)
            thinned = rows.sample(coins)
        assert type(thinned).__name__ == "SampledParts", "too large to be kept"
        for one in (kept, drawn, thinned):
            assert (one.n_hidden, one.width, one.feature_names) == (2, 4, ("a", "b"))
            assert {tuple(row) for block in one.blocks() for row in block} <= {tuple(row) for row in whole()}
            assert np.array_equal(one.fold(total), kept.fold(total))
        if HAS_DASK:
            assert np.array_equal(open_named(tmp_path / kind, engine="dask").fold(total), total(whole()))


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_give_the_same_hashes_and_so_do_their_samples(kind):
    frame = open_named(FRAMES[kind]())
    assert np.array_equal(np.concatenate(list(frame.blocks())), whole())
    assert (frame.feature_names, frame.nullable, frame.n_hidden) == (("a", "b"), (True, True), 2)
    assert frame.n_numbers == whole().size
    coins = Coins.draw(Entropy(3), 0.5)
    heads = coins.partition(0).take(len(TEXTS))
    for rows in (frame, open_rows(whole()[:, :2], privacy_unit=TEXTS, unit_key=KEY)):
        sample = rows.sample(coins)
        assert np.array_equal(np.concatenate(list(sample.blocks())), whole()[heads])
        assert sample.sample(coins).n_hidden == sample.n_hidden == 2


def dask_frame():
    return dd.from_pandas(TABLE.to_pandas(), npartitions=3)


@pytest.mark.slow
def test_dask_arrays_take_ids_that_are_cut_alike():
    table, ids = da.from_array(whole()[:, :2], chunks=(5, 1)), da.from_array(np.array(TEXTS), chunks=5)
    rows = open_rows(table, privacy_unit=ids, unit_key=KEY)
    assert (rows.n_features, rows.width, rows.n_hidden) == (2, 4, 2)
    for _ in range(2):
        assert np.array_equal(rows.fold(total), total(whole()))
    assert rows.sample(Coins.draw(Entropy(3), 0.5)).n_hidden == 2
    for other in (ids.rechunk(4), TEXTS, dask_frame()["pid"], "pid", ids[:-1]):
        with pytest.raises(
            DataError, match=r"privacy_unit: expected the name of a column of a Dask data frame, got other ids\. Make"
        ):
            open_rows(table, privacy_unit=other)
    with pytest.raises(DataError, match=r"privacy_unit: expected the name of a column of a Dask data frame"):
        open_rows(dask_frame(), ["a"], privacy_unit=TEXTS)
    with pytest.raises(DataError, match=r"privacy_unit: expected ids, got dtype datetime64"):
        open_rows(table, privacy_unit=da.zeros(len(TEXTS), chunks=5, dtype="M8[s]"))


@pytest.mark.slow
def test_spark_gives_the_same_hashes(spark, tmp_path):
    pa.parquet.write_table(TABLE, tmp_path / "rows.parquet", row_group_size=4)
    frame = spark.createDataFrame(TABLE).repartition(2)
    coins = Coins.draw(Entropy(3), 0.5)
    for rows in (open_named(frame), open_named(tmp_path / "rows.parquet", engine="spark")):
        assert (rows.feature_names, rows.n_features, rows.width, rows.n_hidden) == (("a", "b"), 2, 4, 2)
        drawn = rows.sample(coins)
        assert (drawn.n_hidden, drawn.width) == (2, 4)
        for _ in range(3):  # the third time they are kept
            assert np.array_equal(rows.fold(total, cache=BlockCache(np.array)), total(whole()))
        assert np.array_equal(drawn.fold(total), rows.sample(coins).fold(total))
        assert 0 < drawn.fold(total)[0] < len(TEXTS)
    schema = "a double, i int, d decimal(20, 2), x binary, n void"
    odd = spark.createDataFrame([(0.0, 7, Decimal("7.00"), b"\xff", None), (1.0, *[None] * 4)], schema)
    for name, text in {"i": "7", "d": "7", "x": b"\xff", "n": ""}.items():
        table = np.column_stack([[0.0, 1.0], expected([text, ""])])
        assert np.array_equal(open_rows(odd, ["a"], privacy_unit=name, unit_key=KEY).fold(total), total(table))
    with pytest.raises(DataError, match=r"privacy_unit: expected the name of a column of a Spark data frame, got other ids"):
        open_rows(frame, ["a"], privacy_unit=TEXTS)
    with pytest.raises(DataError, match=r"expected ids in column 't', got date"):
        open_rows(frame.selectExpr("a", "current_date() as t"), privacy_unit="t")


def test_ids_of_two_types_in_two_files_are_the_same_persons(tmp_path):
    for name, ids in {"a": pa.array([7, 8]), "b": pa.array(["7", "x"]), "c": pa.array([7.0, None])}.items():
        pa.parquet.write_table(pa.table({"x": [0.0, 1.0], "p": ids}), tmp_path / f"{name}.parquet")
    assert same(lanes_of(open_rows(tmp_path, privacy_unit="p", unit_key=KEY)), ["7", "8", "7", "x", "7", ""])
    pa.parquet.write_table(pa.table({"x": [0.0], "q": [7]}), tmp_path / "d.parquet")
    with pytest.raises(DataError, match=r"\(d\.parquet\): column 'p' is not in the table"):
        open_rows(tmp_path, ["x"], privacy_unit="p")


def test_all_other_columns_are_features():
    rows = open_rows(TABLE, privacy_unit="pid")
    assert rows.feature_names == ("b", "a")
    declared = open_rows(TABLE, {"a": (0, 9)}, privacy_unit="pid")
    assert (declared.feature_names, len(declared.declared), declared.width) == (("a",), 1, 3)
    assert not any(isinstance(one, Identifier) for one in declared.declared)


def test_declared_columns_are_read_as_without_ids(tmp_path):
    table = TABLE.append_column("c", pa.array(["u", "v"] * 8 + ["w"]))
    write_csv(table, tmp_path / "rows.csv")
    write_lines(table, tmp_path / "rows.jsonl")
    declared = {"c": Category(["u", "v"]), "a": (0, 9)}
    for data in (table, table.to_pandas(), tmp_path / "rows.csv", tmp_path / "rows.jsonl"):
        plain, rows = open_rows(data, declared), open_rows(data, declared, privacy_unit="pid", unit_key=KEY)
        assert np.array_equal(np.concatenate(list(rows.blocks()))[:, :2], np.concatenate(list(plain.blocks())))
        assert same(lanes_of(rows), TEXTS)


# -- text files --------------------------------------------------------------------------------------------------------------


def test_numbers_of_a_csv_file_are_read_alike_with_and_without_ids(tmp_path):
    lines = ["pid,a,b", "1,NA,2", "NA, 3 ,null", '"x,y",1e3,"4"', "short,1", "long,1,2,3", ',"",#N/A', 'q"uote,1,2', "7,1,2"]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(lines))
    plain, rows = open_rows(path, ["a", "b"]), open_rows(path, ["a", "b"], privacy_unit="pid", unit_key=KEY)
    assert np.array_equal(np.concatenate(list(rows.blocks()))[:, :2], np.concatenate(list(plain.blocks())), equal_nan=True)
    assert same(lanes_of(rows)[:6], ["1", "NA", "x,y", "", "", ""])
    assert same(lanes_of(rows)[-1:], ["7"])


def test_ids_of_other_encodings_are_the_same_text(tmp_path):
    text, table = ["Müller", "é", "", "x"], np.zeros((4, 1))
    wanted = lanes_of(open_rows(table, privacy_unit=text, unit_key=KEY))
    (tmp_path / "rows.csv").write_bytes("p,a\nMüller,1\né,1\n,1\nx,1\n".encode("latin-1"))
    (tmp_path / "rows.jsonl").write_bytes(
        "".join(json.dumps({"p": one}, ensure_ascii=False) + "\n" for one in text).encode("latin-1")
    )
    for name in ("rows.csv", "rows.jsonl"):
        rows = open_rows(tmp_path / name, ["a"], privacy_unit="p", unit_key=KEY, encoding="latin-1")
        assert np.array_equal(lanes_of(rows), wanted)


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "cp1253"])
def test_bytes_that_are_no_text_stay_apart_in_files_of_text(encoding, tmp_path):
    entries = [b"\x81", b"\x8d", b"\xd2", b"\xd2\x81", b"a", b"a\x81", b"\xff"]
    (tmp_path / "rows.csv").write_bytes(b"p,a\n" + b"".join(one + b",1\n" for one in entries))
    (tmp_path / "rows.jsonl").write_bytes(b"".join(b'{"p": "' + one + b'", "a": 1}\n' for one in entries))
    found = [lanes_of(open_rows(tmp_path / name, ["a"], privacy_unit="p", unit_key=KEY, encoding=encoding)) for name in
             ("rows.csv", "rows.jsonl")]  # fmt: skip
    assert len(np.unique(found[0], axis=0)) == len(entries)
    assert np.array_equal(*found)
    if encoding == "utf-8":
        assert same(found[0], entries)


def test_ids_of_json_lines_are_exact(tmp_path):
    lines = ['{"p": 7}', '{"p": 7.0}', '{"p": "7"}', '{"p": -0}', '{"p": null}', "{}", "nonsense", '{"p": [1]}', '{"p": true}']
    lines += [f'{{"p": {2**64 + 1}}}', f'{{"p": 1{"0" * 998}1}}', f'{{"p": 1{"0" * 5998}1}}', '{"p": 0.5}', '{"p": "\\ud800"}']
    (tmp_path / "rows.jsonl").write_text("\n".join(lines))
    rows = open_rows(tmp_path / "rows.jsonl", ["a"], privacy_unit="p", unit_key=KEY)
    texts = ["7", "7", "7", "0", "", "", "", "", "true", str(2**64 + 1), f"1{'0' * 998}1", f"1{'0' * 5998}1", "0.5", "\ud800"]
    assert same(lanes_of(rows), texts)


# -- one row at a time --------------------------------------------------------------------------------------------------------

ODD = st.one_of(
    st.text(), st.characters(codec=None).map(str), st.binary(), st.integers(), st.floats(), st.none(), st.booleans(),
    st.sampled_from([10**6000, "\ud800", "a\0", "\0", Decimal("1e9999999"), float("nan"), pd.NA, [1], LONG * 20]),
)  # fmt: skip


@given(st.lists(ODD, min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_no_other_row_changes_a_hash(values, random):
    alone = np.concatenate([hash_objects([value], IDS) for value in values])
    assert np.array_equal(hash_objects(values, IDS), alone)
    order = random.sample(range(len(values)), len(values))
    assert np.array_equal(hash_objects([values[place] for place in order], IDS), alone[order])
    assert np.array_equal(hash_objects(values[1:], IDS), alone[1:])
    array = np.empty(len(values), dtype=object)
    array[:] = values
    rows = open_rows(np.zeros((len(values), 1)), privacy_unit=array, unit_key=KEY)
    assert np.array_equal(lanes_of(rows), alone)


@given(st.lists(st.text(), max_size=12))
def test_text_means_the_same_in_python_and_in_arrow(texts):
    lanes = hash_objects(texts, IDS)
    assert same(lanes, texts)
    writable = [text for text in texts if text.isprintable() or text.isascii()]
    assert np.array_equal(hash_arrow(pa.array(writable, pa.string()), IDS), hash_objects(writable, IDS))


def test_many_objects_are_read_in_slices(monkeypatch):
    monkeypatch.setattr(_ids, "SLICE", 3)
    assert same(hash_objects(TEXTS, IDS), TEXTS)
    assert hash_objects([], IDS).shape == (0, 2)


# -- errors ------------------------------------------------------------------------------------------------------------------

X = np.zeros((3, 2))
FRAME = pd.DataFrame({"a": [0.0, 1.0, 2.0], "p": ["u", "v", CANARY], "t": pd.to_datetime(["2020-01-01"] * 3)})


REFUSED = {
    DataError: [
        (
            X,
            {"privacy_unit": ["u", CANARY]},
            r"open_rows\.privacy_unit: expected one id for each row, got more or fewer\. Pass",
        ),
        (X, {"privacy_unit": [CANARY] * 4}, r"expected one id for each row"),
        (
            X,
            {"privacy_unit": FRAME["t"]},
            r"privacy_unit: expected ids in the series, got datetime64\[.*\]\. Convert it to text",
        ),
        (X, {"privacy_unit": FRAME["t"].to_numpy()}, r"privacy_unit: expected ids, got dtype datetime64"),
        (X, {"privacy_unit": np.zeros(3, complex)}, r"privacy_unit: expected ids, got dtype complex128\. Convert them to text"),
        (
            X,
            {"privacy_unit": pa.array([[1], [2], [3]])},
            r"privacy_unit: expected ids in the column, got list<.*>\. Convert it",
        ),
        (X, {"privacy_unit": pl.Series([date(2020, 1, 1)] * 3)}, r"privacy_unit: expected ids in the column, got date32"),
        (FRAME, {"columns": ["a"], "privacy_unit": "q"}, r"open_rows: column 'q' is not in the table\. The columns are: a, p"),
        (FRAME, {"columns": ["a"], "privacy_unit": "t"}, r"expected ids in column 't', got datetime64\[.*\]\. Convert it to"),
        *(
            (pa.table({"x": [0.0], "p": pa.array(values)}), {"privacy_unit": "p"}, rf"expected ids in column 'p', got {kind}")
            for kind, values in {"list": [[1]], "struct": [{"a": 1}], "time": [pa.scalar(5, pa.time64("us"))]}.items()
        ),
        (FRAME[["p"]], {"privacy_unit": "p"}, r"0 feature\(s\) found while a minimum of 1 is required"),
        (FRAME, {"privacy_unit": "p"}, r"expected numbers in column 't'"),
    ],
    ParameterError: [
        (X, {"privacy_unit": np.zeros((3, 1))}, r"privacy_unit: expected the name of a column, or ids in one dimension, got"),
        (X, {"privacy_unit": FRAME[["p"]]}, r"ids in one dimension, got 'DataFrame'"),
        (X, {"privacy_unit": pl.DataFrame({"p": [1]})}, r"ids in one dimension, got 'DataFrame'"),
        (X, {"privacy_unit": {1, 2, 3}}, r"ids in one dimension, got 'set'"),
        (X, {"privacy_unit": pd.MultiIndex.from_tuples([(1, 2)] * 3)}, r"ids in one dimension, got 'MultiIndex'"),
        (X, {"privacy_unit": 7}, r"ids in one dimension, got 'int'"),
        (X, {"privacy_unit": b"abc"}, r"ids in one dimension, got 'bytes'"),
        (X, {"privacy_unit": "p"}, r"privacy_unit: expected ids, one for each row, beside a table without column names, got"),
        (FRAME, {"columns": ["a", "p"], "privacy_unit": "p"}, r"privacy_unit: expected a column that is none of those to"),
        (FRAME, {"columns": {"p": (0, 1)}, "privacy_unit": "p"}, r"got 'p'\. Leave 'p' out of columns and bounds"),
        (X, {"privacy_unit": "p", "unit_key": b"secret"}, r"unit_key: expected 32 bytes, got 'other bytes'\. Pass os"),
        (X, {"privacy_unit": "p", "unit_key": "s" * 32}, r"unit_key: expected 32 bytes, got 'str'"),
        (X, {"unit_key": 5}, r"unit_key: expected 32 bytes, got 'int'"),
        ("rows.csv", {"privacy_unit": [CANARY]}, r"privacy_unit: expected the name of a column of the files, got 'list'"),
        (open_rows(X), {"privacy_unit": [CANARY]}, r"privacy_unit: expected None for rows already open"),
    ],
}


@pytest.mark.parametrize(("error", "case"), [(error, case) for error, cases in REFUSED.items() for case in cases])
def test_what_cannot_be_read_is_refused_by_its_type(error, case):
    data, options, message = case
    with pytest.raises(error, match=message) as caught:
        open_rows(data, **options)
    assert CANARY not in str(caught.value)
    assert not any(digit in str(caught.value) for digit in ("3 rows", "4 ", "secret"))


def test_no_id_and_no_key_is_printed_logged_or_kept(caplog, tmp_path):
    caplog.set_level(logging.DEBUG)
    key = b"k" * 32
    frame = FRAME[["a", "p"]]
    frame.to_csv(tmp_path / "rows.csv", index=False)
    for data in (frame, tmp_path / "rows.csv"):
        rows = open_rows(data, privacy_unit="p", unit_key=key)
        rows.fold(total)
        assert CANARY not in repr(rows) + repr(Identifier(key)) + caplog.text
        assert "kkk" not in repr(rows) + repr(Identifier(key)) + caplog.text
        with pytest.raises(TypeError, match=r"rows do not leave the process"):
            pickle.dumps(rows)
