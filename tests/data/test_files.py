# SPDX-License-Identifier: Apache-2.0
"""Every kind of file gives the same rows, as declared; no line raises an error or changes how another is read."""

import bz2
import csv
import gzip
import io
import itertools
import json
import math
from datetime import date

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from tests.examples import examples
from tests.optional import HAS_DASK, synchronous
from tests.rows import Bits, bits, count, read

from cloister import open_rows
from cloister.columns import Category, Date, Flag, Number
from cloister.data import _files, _records
from cloister.data._formats import format_of
from cloister.exceptions import DataError, ParameterError

CANARY = "77.123456789"
QUICK = examples(60, suppress_health_check=list(HealthCheck))
COLUMNS = {"age": (0, 120), "sex": Category(["f", "m", "NA"]), "smoker": Flag(), "admitted": Date("2020-01-01", "2026-12-31")}
PEOPLE = [
    {"age": 34.5, "sex": "f", "smoker": True, "admitted": "2021-02-03"},
    {"age": None, "sex": "NA", "smoker": False, "admitted": "2022-02-03"},
    {"age": 70.0, "sex": None, "smoker": None, "admitted": None},
    {"age": 1.0, "sex": "other", "smoker": True, "admitted": "soon"},
]
DAYS = [(date.fromisoformat(day) - date(1970, 1, 1)).days for day in ("2021-02-03", "2022-02-03")]
NAN = math.nan
DOUBLES = [[34.5, 0, 1, DAYS[0]], [NAN, 2, 0, DAYS[1]], [70, NAN, NAN, NAN], [1, -1, 1, NAN]]


# -- kinds -----------------------------------------------------------------------------------------------------------------


def as_text(rows, delimiter=","):
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerows([list(COLUMNS), *([row[name] for name in COLUMNS] for row in rows)])
    return text.getvalue().encode()


def as_json(rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def as_arrow(rows):
    return pa.table({name: [row[name] for row in rows] for name in COLUMNS})


def zstd(content):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(content)
    return sink.getvalue().to_pybytes()


def write_parquet(place, rows):
    pa.parquet.write_table(as_arrow(rows), place, row_group_size=3)


def write_arrow(place, rows):
    with pa.ipc.new_file(place, as_arrow(rows).schema) as writer:
        writer.write_table(as_arrow(rows), max_chunksize=2)


def write_stream(place, rows):
    with pa.ipc.new_stream(place, as_arrow(rows).schema) as writer:
        writer.write_table(as_arrow(rows), max_chunksize=2)


def write_categories(place, rows):
    table = as_arrow(rows)
    encoded = table.set_column(1, "sex", table["sex"].dictionary_encode())
    pyarrow.feather.write_feather(encoded, place, compression="lz4", chunksize=3)


KINDS = {
    "rows.csv": lambda place, rows: place.write_bytes(as_text(rows)),
    "rows.CSV": lambda place, rows: place.write_bytes(as_text(rows)),
    "rows.tsv": lambda place, rows: place.write_bytes(as_text(rows, "\t")),
    "rows.tab": lambda place, rows: place.write_bytes(as_text(rows, "\t")),
    "rows.csv.gz": lambda place, rows: place.write_bytes(gzip.compress(as_text(rows))),
    "parts.csv.gz": lambda place, rows: place.write_bytes(
        gzip.compress(as_text(rows[:1])) + gzip.compress(as_text(rows[1:]).split(b"\n", 1)[1])
    ),
    "rows.tsv.gz": lambda place, rows: place.write_bytes(gzip.compress(as_text(rows, "\t"))),
    "rows.csv.zst": lambda place, rows: place.write_bytes(zstd(as_text(rows))),
    "rows.csv.bz2": lambda place, rows: place.write_bytes(bz2.compress(as_text(rows))),
    "rows.jsonl": lambda place, rows: place.write_bytes(as_json(rows)),
    "rows.ndjson": lambda place, rows: place.write_bytes(as_json(rows)),
    "rows.jsonl.gz": lambda place, rows: place.write_bytes(gzip.compress(as_json(rows))),
    "rows.jsonl.zst": lambda place, rows: place.write_bytes(zstd(as_json(rows))),
    "rows.parquet": write_parquet,
    "rows.pq": write_parquet,
    "rows.arrow": write_arrow,
    "rows.ipc": write_arrow,
    "stream.arrow": write_stream,
    "rows.feather": write_categories,
}


SAME = ("rows.CSV", "rows.tab", "rows.tsv.gz", "rows.ndjson", "rows.pq", "rows.ipc")  # as others, by another name
FORMATS = [name for name in KINDS if name not in SAME]


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_file_gives_the_same_rows(name, tmp_path):
    place = tmp_path / name
    KINDS[name](place, PEOPLE)
    rows = open_rows(place, COLUMNS)
    assert rows.feature_names == tuple(COLUMNS)
    assert rows.nullable == (True,) * 4
    assert np.array_equal(read(place, COLUMNS), DOUBLES, equal_nan=True)
    few = {"admitted": COLUMNS["admitted"], "sex": Category(["m", "f"])}
    assert np.array_equal(read(place, columns=few)[:2], [[DAYS[0], 1], [DAYS[1], -1]])
    assert np.array_equal(read(place, columns=["age"])[:, 0], [34.5, NAN, 70, 1], equal_nan=True)
    assert rows.fold(count).tolist() == [4]


WORKERS = [
    *(pytest.param("dask", name, marks=pytest.mark.slow) for name in FORMATS),
    *(
        pytest.param("spark", name, marks=pytest.mark.slow)
        for name in ("rows.csv.gz", "rows.jsonl", "rows.arrow", "rows.tsv", "rows.parquet")
    ),
]


@pytest.mark.parametrize(("engine", "name"), WORKERS)
def test_workers_read_every_kind_of_file(engine, name, tmp_path, request, monkeypatch):
    if engine == "spark":
        request.getfixturevalue("spark")
    monkeypatch.setattr(_files, "PIECE_BYTES", 50)
    place = tmp_path / name
    KINDS[name](place, PEOPLE * 5)
    here = open_rows(place, COLUMNS, n_jobs=1).fold(Bits())
    with synchronous():
        there = open_rows(place, COLUMNS, engine=engine).fold(Bits())  # executors answer in any order
    assert here[np.lexsort(here.T)].tolist() == there[np.lexsort(there.T)].tolist()
    assert len(here) == 20


@pytest.mark.both_suites
@pytest.mark.parametrize("name", FORMATS)
def test_a_file_without_rows(name, tmp_path):
    place, table = tmp_path / name, as_arrow(PEOPLE)[:0]
    if format_of(name).is_text:
        KINDS[name](place, [])
    elif format_of(name).kind == "parquet":
        pa.parquet.ParquetWriter(place, table.schema).close()  # no row group either
    else:
        pyarrow.feather.write_feather(table, place)
    assert read(place, COLUMNS).shape == (0, 4)
    if HAS_DASK:
        with synchronous():
            assert len(open_rows(place, COLUMNS, engine="dask").fold(Bits())) == 0


@pytest.mark.parametrize(
    ("name", "kind", "compression"),
    [
        ("a.b.csv", "csv", None),
        ("A.TSV.GZ", "tsv", "gzip"),
        ("a.jsonl.zst", "json", "zstd"),
        ("a.feather", "arrow", None),
    ],
)
def test_the_end_of_a_name_says_what_is_in_a_file(name, kind, compression):
    assert (format_of(name).kind, format_of(name).compression) == (kind, compression)
    for other in ("csv", ".gz", "a.parquet.gz", "a.csv.zip", "a.json", "a.txt", "", "a.csv.gz.gz"):
        assert format_of(other) is None, other


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("rows.xlsx", r"got the spreadsheet 'rows\.xlsx'\. Save the sheet as CSV or Parquet, or pass pandas\.read_excel"),
        ("rows.XLS", r"got the spreadsheet"),
        ("rows.ods", r"got the spreadsheet"),
        (
            "rows.json",
            r"expected a \.parquet, \.csv, \.tsv, \.feather, \.arrow or \.jsonl file, .* got 'rows\.json'\. Convert it",
        ),
        ("rows.parquet.gz", r"got 'rows\.parquet\.gz'\. Convert it, or rename it"),
    ],
)
def test_other_files_are_refused_with_the_remedy(name, message, tmp_path):
    (tmp_path / name).write_bytes(b"PK")
    with pytest.raises(DataError, match=message):
        open_rows(tmp_path / name)


def test_a_folder_may_hold_compressed_files_beside_others_but_one_kind(tmp_path):
    KINDS["rows.csv"](tmp_path / "1.csv", PEOPLE[:1])
    KINDS["rows.csv.gz"](tmp_path / "2.csv.gz", PEOPLE[1:])
    assert np.array_equal(read(tmp_path, COLUMNS), DOUBLES, equal_nan=True)
    KINDS["rows.tsv"](tmp_path / "3.tsv", PEOPLE)
    with pytest.raises(DataError, match=r"expected a folder of files of one kind, got CSV and TSV\. Pass a folder of one kind"):
        open_rows(tmp_path, COLUMNS)


def test_declared_columns_are_checked_against_the_types_of_every_file(tmp_path):
    write_parquet(tmp_path / "1.parquet", PEOPLE)
    pa.parquet.write_table(pa.table({"age": [True], "admitted": [7]}), tmp_path / "2.parquet")
    assert len(read(tmp_path, columns={"age": (0, 120)})) == 5
    with pytest.raises(DataError, match=r"\(2\.parquet\): expected what can be read as a date in column 'admitted'"):
        open_rows(tmp_path, {"admitted": COLUMNS["admitted"]})
    with pytest.raises(DataError, match=r"\(2\.parquet\): column 'sex' is not in the table"):
        open_rows(tmp_path, {"sex": COLUMNS["sex"]})


def test_what_may_be_missing_is_what_types_allow(tmp_path):
    schema = pa.schema(
        [
            pa.field("whole", pa.int64(), nullable=False),
            pa.field("either", pa.int64()),
            pa.field("real", pa.float64(), nullable=False),
        ]
    )
    table = pa.table({"whole": [1], "either": [2], "real": [3.0]}, schema=schema)
    pa.parquet.write_table(table, tmp_path / "1.parquet")
    pyarrow.feather.write_feather(table, tmp_path / "1.arrow")
    for name in ("1.parquet", "1.arrow"):
        assert open_rows(tmp_path / name).nullable == (False, True, True)
    (tmp_path / "1.csv").write_text("whole\n1\n")
    assert open_rows(tmp_path / "1.csv").nullable == (True,)
    pa.parquet.write_table(pa.table({"whole": [1]}), tmp_path / "2.parquet")
    assert open_rows(str(tmp_path / "*.parquet"), ["whole"]).nullable == (True,)


def test_describing_files_reads_no_row(tmp_path):
    write_parquet(tmp_path / "rows.parquet", PEOPLE)
    found = _files.describe_files("test", str(tmp_path / "rows.parquet"))
    assert [(column.name, column.kind) for column in found][:2] == [("age", "double"), ("sex", "string")]
    (tmp_path / "rows.csv").write_text("age,sex\n1,f\n")
    assert [column.name for column in _files.describe_files("test", str(tmp_path / "rows.csv"))] == ["age", "sex"]


# -- how text is written ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delimiter", [";", "\t", "|", " ", "\x01", ":", "\\t", "tab"])
def test_columns_may_be_separated_by_other_characters(delimiter, tmp_path):
    mark = {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
    place = tmp_path / "rows.csv"
    place.write_bytes(mark.join(["a", "b"]).encode() + b"\n" + mark.join(["1", "2"]).encode() + b"\n")
    place.write_bytes(place.read_bytes() + b'"3"' + mark.encode() + b'4\n5\n6,7"\n')
    expected = [[1, 2], [3, 4], [NAN, NAN], [NAN, NAN]]
    assert np.array_equal(read(place, delimiter=delimiter), expected, equal_nan=True)


def test_a_name_with_a_mark_in_it_is_refused_unless_it_is_asked_for_or_the_mark_is_passed(tmp_path):
    (tmp_path / "rows.tsv").write_text("a;b\n1;2\n")
    with pytest.raises(DataError, match=r"separated by tabs in 'rows\.tsv', got one column named with ';' in it\. Pass delim"):
        open_rows(tmp_path / "rows.tsv")
    assert read(tmp_path / "rows.tsv", delimiter=";").tolist() == [[1, 2]]
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match=r"separated by semicolons in 'rows\.csv', got one column named with ',' in it"):
        open_rows(tmp_path / "rows.csv", delimiter=";")
    (tmp_path / "rows.tsv").write_text("mass, kg\n1\n2\n")
    assert read(tmp_path / "rows.tsv", columns=["mass, kg"]).tolist() == [[1], [2]]
    (tmp_path / "rows.csv").write_text("age\n1\n")
    assert read(tmp_path / "rows.csv").tolist() == [[1]]


DECIMALS = {
    "1,5": 1.5,
    " 1,5 ": 1.5,
    "-0,25": -0.25,
    "1": 1.0,
    "1,5e3": 1500.0,
    ",5": 0.5,
    "inf": math.inf,
    "1.5": NAN,  # a mark of thousands, or a mistake: not read either way
    "1.234,5": NAN,
    "1.234": NAN,
    "1,234,5": NAN,
    "1 234,5": NAN,
    "1'234,5": NAN,
    "": NAN,
    "NA": NAN,
    "x": NAN,
}


@pytest.mark.parametrize("words", [False, True])
def test_a_comma_before_the_decimals(words, tmp_path):
    place = tmp_path / "rows.csv"
    place.write_text("a;b\n" + "".join(f"{entry};7\n" for entry in DECIMALS), encoding="utf-8")
    columns = {"a": Number(0, 1), "b": Category([7, 8])} if words else None
    found = read(place, columns=columns, delimiter=";", decimal=",")
    assert np.array_equal(found[:, 0], list(DECIMALS.values()), equal_nan=True)
    assert (found[:, 1] == (0 if words else 7)).all()
    for entry, number in DECIMALS.items():
        place.write_text(f"a;b\n{entry};7\n", encoding="utf-8")
        alone = read(place, columns=columns, delimiter=";", decimal=",")[0, 0]
        assert alone == number or (math.isnan(alone) and math.isnan(number)), entry


def test_numbers_in_quotes_may_hold_the_delimiter(tmp_path):
    (tmp_path / "rows.csv").write_text('a,b\n"1,5","2,5"\n3,4\n1,5,2,5\n')
    found = read(tmp_path / "rows.csv", decimal=",")
    assert np.array_equal(found, [[1.5, 2.5], [3, 4], [NAN, NAN]], equal_nan=True)


@pytest.mark.parametrize("codec", ["latin-1", "cp1252", "iso8859-15", "mac-roman"])
def test_other_encodings(codec, tmp_path):
    place = tmp_path / "rows.csv"
    place.write_bytes("größe,stadt\n1.5,Köln\n2,Ulm\nx,münchen\n".encode(codec))
    with pytest.raises(DataError, match=r"Pass encoding='latin-1'") as caught:
        open_rows(place)
    assert "stadt" not in str(caught.value)
    columns = {"größe": (0, 3), "stadt": Category(["Ulm", "Köln", "München"])}
    assert np.array_equal(read(place, columns=columns, encoding=codec), [[1.5, 1], [2, 0], [NAN, -1]], equal_nan=True)
    assert open_rows(place, encoding=codec).feature_names == ("größe", "stadt")


def test_a_header_in_none_of_the_letters_of_an_encoding_is_refused(tmp_path):
    (tmp_path / "rows.csv").write_bytes(b"a\x81,b\n1,2\n")
    with pytest.raises(DataError, match=r"expected text in the encoding 'cp1252' in the first line of 'rows\.csv', got other"):
        open_rows(tmp_path / "rows.csv", encoding="cp1252")
    (tmp_path / "rows.csv").write_bytes("a,b\n1,2\n".encode("utf-16"))
    for encoding in ("utf-8", "latin-1"):
        with pytest.raises(DataError, match=r"got UTF-16\. Save it as UTF-8"):
            open_rows(tmp_path / "rows.csv", encoding=encoding)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delimiter": ""}, r"delimiter: expected one character that is no letter"),
        ({"delimiter": ";;"}, r"delimiter: expected one character.*, got ';;'\. Pass ';' or "),
        *(({"delimiter": mark}, r"delimiter: expected one character") for mark in ('"', "\n", "x", "§", ".", 7)),
        (
            {"delimiter": ",", "decimal": ","},
            r"delimiter: expected another character than the decimal mark, got ','\. Leave it",
        ),
        ({"decimal": ";"}, r"decimal: expected one of ',', '\.', got ';'"),
        ({"decimal": None}, r"decimal: expected one of"),
        (
            {"encoding": "utf-16"},
            r"encoding: expected UTF-8 or an encoding with one byte for every letter, got 'utf-16'\. Pass",
        ),
        *(
            ({"encoding": name}, r"encoding: expected UTF-8 or")
            for name in ("shift_jis", "gbk", "utf-7", "cp037", "unicode_escape", "rot13", "klingon", None)
        ),
    ],
)
def test_options_that_make_no_sense_are_refused(options, message, tmp_path):
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ParameterError, match=rf"open_rows\.{message}"):
        open_rows(tmp_path / "rows.csv", **options)


@pytest.mark.parametrize("encoding", ["utf8", "UTF-8", "utf_8", "utf-8-sig", "ascii"])
def test_names_of_utf_8(encoding, tmp_path):
    (tmp_path / "rows.csv").write_text("ä,b\n1,2\n", encoding="utf-8-sig")
    assert open_rows(tmp_path / "rows.csv", encoding=encoding).feature_names == ("ä", "b")


def test_options_of_text_are_refused_where_there_is_none(tmp_path):
    write_parquet(tmp_path / "rows.parquet", PEOPLE)
    KINDS["rows.jsonl"](tmp_path / "rows.jsonl", PEOPLE)
    for options in ({"delimiter": ";"}, {"decimal": ","}, {"encoding": "latin-1"}):
        name = next(iter(options))
        with pytest.raises(ParameterError, match=rf"open_rows\.{name}: expected .* for Parquet files, got .*Leave it out"):
            open_rows(tmp_path / "rows.parquet", ["age"], **options)
        with pytest.raises(ParameterError, match=rf"open_rows\.{name}: expected .* for data in memory"):
            open_rows(np.eye(2), **options)
        if name != "encoding":
            with pytest.raises(ParameterError, match=rf"open_rows\.{name}: expected .* for JSON lines files"):
                open_rows(tmp_path / "rows.jsonl", ["age"], **options)


def test_names_that_occur_twice(tmp_path):
    (tmp_path / "rows.csv").write_text("age,age,mass\n1,2,3\n")
    with pytest.raises(
        DataError, match=r"a column name occurs 2 times\. Check the names in the first line, and rename all but"
    ):
        open_rows(tmp_path / "rows.csv")
    for columns in (["age"], {"age": (0, 120)}, ["mass", "age"]):
        with pytest.raises(DataError, match=r"column 'age' occurs 2 times\. Rename all but one of them\."):
            open_rows(tmp_path / "rows.csv", columns)
    assert read(tmp_path / "rows.csv", columns=["mass"]).tolist() == [[3]]


# -- JSON lines --------------------------------------------------------------------------------------------------------------


def test_columns_of_json_lines_are_declared(tmp_path):
    place = tmp_path / "rows.jsonl"
    place.write_text(f'{{"{CANARY}": 1}}\n')
    with pytest.raises(
        DataError, match=r"expected the names of the columns of 'rows\.jsonl', got none: .*Pass columns="
    ) as caught:
        open_rows(place)
    assert CANARY not in str(caught.value)
    assert np.isnan(read(place, columns=["nobody has this"])).all()
    with pytest.raises(DataError, match=r"expected every column once, got one twice|occurs 2 times"):
        open_rows(place, ["a", "a"])


LINES = {
    '{"a": 1, "b": "f"}': [1, 0],
    '{"b": "m", "a": -2.5e3, "c": [1, {"a": 7}]}': [-2500, 1],
    '{"a": "7.5", "b": " f "}': [7.5, 0],
    '{"a": true, "b": true}': [1, -1],
    '{"a": null, "b": null}': [NAN, NAN],
    '{"a": "x", "b": ""}': [NAN, NAN],
    '{"a": [1], "b": {"f": 1}}': [NAN, NAN],
    '{"a": NaN, "b": NaN}': [NAN, NAN],
    '{"a": 1e400, "b": "f"}': [math.inf, 0],
    '{"a": 1' + "0" * 5000 + ', "b": "f"}': [math.inf, 0],
    '{"a": 1, "a": 2, "b": "f"}': [2, 0],
    "{}": [NAN, NAN],
    "[1, 2]": [NAN, NAN],
    "7": [NAN, NAN],
    "null": [NAN, NAN],
    '{"a": 1': [NAN, NAN],
    '{"a": 1}{"b": 2}': [NAN, NAN],
    "x": [NAN, NAN],
    " ": [NAN, NAN],
    "[" * 100_000: [NAN, NAN],
    '{"a": 1, "b": "\\ud800"}': [1, -1],
    '\ufeff{"a": 1, "b": "f"}': [1, 0],
    '\t{"a": 1, "b": "f"}\r': [1, 0],
    '{"a": 1,\r"b": "f"}': [1, 0],
}


def test_what_a_line_of_json_becomes(tmp_path):
    place, columns = tmp_path / "rows.jsonl", {"a": (0, 1), "b": Category(["f", "m"])}
    place.write_bytes(b"\n\n".join(line.encode() for line in LINES))
    found = read(place, columns=columns)
    for (line, expected), row in zip(LINES.items(), found, strict=True):
        assert np.array_equal(row, expected, equal_nan=True), line[:50]
    for line, row in zip(LINES, found, strict=True):
        place.write_bytes(line.encode())
        assert np.array_equal(read(place, columns=columns), [row], equal_nan=True), line[:50]


TEXTS = {
    "rows.csv": [
        b"a,b\n1,2\n3,4\n5,6\n",
        b"a,b\r\n1,2\r\n\r\n3,4\r\n5,6",
        b'\n\n"a","b"\n\n\n"1",2\n"3\n5,6\n7,"8"\n',
        b"a,b\n",
        b"a,b",
        b"a,b\n" + b"12345678901234567890,1\n" * 3 + b"x,y,z\n4,5\n",
    ],
    "rows.jsonl": [b'{"a":1}\n{"a":2}\n\n{"a":3}\n', b'{"a":1}\r\nx\r\n{"a":3}', b"", b"\n\n", b'{"a":1}'],
}


@pytest.mark.parametrize("size", [1, 2, 3, 7, 16, 1000])
@pytest.mark.parametrize("name", TEXTS)
def test_pieces_of_any_size_hold_every_line_once(name, size, tmp_path, monkeypatch):
    place = tmp_path / name
    for content in TEXTS[name]:
        place.write_bytes(content)
        expected = read(place, ["a"])
        monkeypatch.setattr(_files, "PIECE_BYTES", size)
        pieces = list(_files.find_files("test", str(place), ["a"]).pieces)
        found = np.concatenate([np.empty((0, 1)), *(block for piece in pieces for block in piece.blocks())])
        assert np.array_equal(found, expected, equal_nan=True)
        assert all(before.stop == after.start for before, after in itertools.pairwise(pieces))
        assert len(pieces) > 1 or size > len(content) // 2 or content.count(b"\n") < 2
        monkeypatch.undo()


# -- files that are damaged ------------------------------------------------------------------------------------------------


@pytest.mark.fast("rows.csv.gz", "rows.jsonl.zst", "rows.parquet")
@pytest.mark.parametrize("name", [name for name in KINDS if format_of(name).compression or not format_of(name).is_text])
def test_a_file_that_is_damaged_is_reported_by_name_and_without_a_value(name, tmp_path, generator):
    place = tmp_path / name
    people = [{**PEOPLE[0], "age": float(age)} for age in generator.normal(size=20_000)]
    KINDS[name](place, people)
    content = place.read_bytes()
    ends = [b"", content[:-20]] if name == "rows.parquet" else []  # where it says what it holds
    for damaged in (b"junk", content[: len(content) // 2], content[: len(content) // 3] + bytes(100), *ends):
        place.write_bytes(damaged)
        with pytest.raises(DataError, match=rf"the file '{name}' cannot be read \(\w+\)\. Check that it is whole") as caught:
            read(place, columns=["age"])
        assert "f,True" not in str(caught.value)


# -- one more line changes no other ----------------------------------------------------------------------------------------

DIALECTS = {
    "commas": {},
    "semicolons": {"delimiter": ";", "decimal": ","},
    "tabs": {"delimiter": "\t"},
    "bars": {"delimiter": "|", "encoding": "latin-1"},
    "spaces": {"delimiter": " ", "encoding": "cp1252", "decimal": ","},
}
ENTRY = st.one_of(
    st.sampled_from(
        ["", "NA", "nan", "NULL", "f", " f ", "F", "m", "ä", "yes", "No", "1", "0", "-0", "1e400", "1,5", "1.5", "1.234,5"]  # noqa: RUF005
        + ["2020-01-31", "2020-01-31T12:00:00+02:00", "20200131", '"', '"f"', '"1,5"', ",", ";", "\t", "|", " ", "\r", "\x00"]
    ),
    st.text(max_size=4).filter(lambda text: "\n" not in text),
    st.floats().map(repr),
)
DECLARED = {"a": Number(0, 1), "b": Category(["f", "m", "NA", "ä"]), "c": Flag(), "d": Date("2000-01-01", "2030-01-01")}


def encoded(text):
    return text.encode("utf-8", "surrogatepass")


@QUICK
@given(
    dialect=st.sampled_from(sorted(DIALECTS)),
    columns=st.sampled_from([DECLARED, list(DECLARED), {"b": DECLARED["b"]}]),
    lines=st.lists(st.lists(ENTRY, min_size=3, max_size=5), min_size=1, max_size=6),
    chunk=st.sampled_from([1, 5, 30, 1 << 22]),
)
def test_a_row_of_a_csv_file_is_a_function_of_its_own_line(dialect, columns, lines, chunk, tmp_path, monkeypatch):
    options = {**DIALECTS[dialect], "columns": columns, "rows": "lines"}
    mark = options.get("delimiter", ",").encode()
    place = tmp_path / "rows.csv.gz" if chunk == 30 else tmp_path / "rows.csv"
    raw = [mark.join(map(encoded, entries)) for entries in lines]
    check_lines(place, raw, chunk, monkeypatch, head=[mark.join([b"a", b"b", b"c", b"d"])], **options)


def check_lines(place, lines, chunk, monkeypatch, *, head=(), columns, **options):
    """Each line that is not blank is read as it is by itself; text is read so many bytes at a time."""

    def rows_of(some):
        content = b"".join(line + b"\n" for line in (*head, *some))
        place.write_bytes(gzip.compress(content, 1) if place.suffix == ".gz" else content)
        return bits(place, columns, **options)

    raw = [line for line in lines if line.rstrip(b"\r")]
    monkeypatch.setattr(_records, "CHUNK_BYTES", 1 << 22)
    alone = [rows_of([line]) for line in raw]
    monkeypatch.setattr(_records, "CHUNK_BYTES", chunk)
    assert all(len(part) == 1 for part in alone)
    assert np.array_equal(rows_of(raw), np.concatenate([np.empty((0, len(columns)), np.int64), *alone]))


VALUE = st.one_of(
    st.sampled_from([None, True, False, "f", "yes", "7.5", "2020-01-31", [], {}, {"a": 1}, 10**30, "\ud800", ""]),
    st.floats(),
    st.integers(),
    st.text(max_size=4),
)
JSON_LINE = st.one_of(
    st.dictionaries(st.sampled_from("abcdx"), VALUE, max_size=5).map(lambda one: json.dumps(one).encode()),
    st.binary(max_size=10),
    st.text('{}[]":,ab1 \r\t\\', max_size=12).map(str.encode),
)


@QUICK
@given(lines=st.lists(JSON_LINE, min_size=1, max_size=8), chunk=st.sampled_from([1, 9, 1 << 22]))
def test_a_row_of_json_lines_is_a_function_of_its_own_line(lines, chunk, tmp_path, monkeypatch):
    place = tmp_path / "rows.jsonl.gz" if chunk == 9 else tmp_path / "rows.jsonl"
    check_lines(place, [line for line in lines if b"\n" not in line], chunk, monkeypatch, columns=DECLARED)


def test_words_in_a_csv_file_are_read_as_in_a_frame(tmp_path, generator):
    words = ["f", "m", "NA", "", " f", "other", "nan"]
    frame = pd.DataFrame({"b": generator.choice(words, size=500), "c": generator.choice(["yes", "NO", "x", "1"], size=500)})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    columns = {name: DECLARED[name] for name in "bc"}
    assert np.array_equal(bits(tmp_path / "rows.csv", columns=columns), bits(frame, columns=columns))
