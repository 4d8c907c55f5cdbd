# SPDX-License-Identifier: Apache-2.0
"""Text cut into records: as RFC 4180 says, wherever it is cut, and however long a record is."""

import csv
import gzip
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st
from tests.examples import examples
from tests.rows import read

from cloister import open_rows
from cloister.columns import Category, Number
from cloister.data import RECORD_BYTES, Bounding, _files, _records, kept_rows
from cloister.data._csv import CsvReader
from cloister.data._formats import Dialect
from cloister.data._places import Place, TextFile
from cloister.data._records import Grammar, find_cuts, read_records
from cloister.exceptions import DataError, ParameterError
from cloister.privacy import Coins, Entropy

QUICK = examples(300, suppress_health_check=[HealthCheck.function_scoped_fixture])
MARK = b","
GRAMMARS = {
    "records": Grammar(missing=b'"",""\n', delimiter=MARK, joins=True),
    "lines": Grammar(missing=b'"",""\n', delimiter=MARK),
    "json": Grammar(missing=b"{}\n"),
}
LONGEST = 1 << 24


# -- beside a reader that looks at one byte after another ------------------------------------------------------------------


def well_formed(data, start):
    """Return the end of the record that begins here, or None: a strict reading of RFC 4180."""
    at = start
    while True:
        if data[at : at + 1] == b'"':
            at += 1
            while data[at : at + 1] != b'"' or data[at + 1 : at + 2] == b'"':
                if at >= len(data):
                    return None
                at += 2 if data[at : at + 1] == b'"' else 1
            at += 1
            if data[at : at + 2] == b"\r\n":
                at += 1
        else:
            while at < len(data) and data[at : at + 1] not in (MARK, b"\n", b'"'):
                at += 1
        if data[at : at + 1] == b"\n":
            return at + 1
        if data[at : at + 1] != MARK:
            return None
        at += 1


def fields_of(record):
    """Return the fields of a record as the standard library reads them; None for a malformed or a blank row."""
    text = record.removesuffix(b"\n").removesuffix(b"\r").replace(b"\r", b" ").decode("latin-1")
    try:
        fields = next(csv.reader([text], strict=True), [""])
    except csv.Error:
        return None
    return None if fields == ["", ""] else fields


def rows_one_by_one(data, kind, longest):
    """Return the fields of every record; None for those that are missing."""
    at, found = 0, []
    data += b"" if data.endswith(b"\n") else b"\n"
    while at < len(data):
        end = (well_formed(data, at) if kind == "records" else None) or data.index(b"\n", at) + 1
        record = data[at:end]
        if record not in (b"\n", b"\r\n"):
            found.append(fields_of(record) if len(record) <= longest else None)
        at = end
    return found


def rows_read(file, kind, start=0, stop=None):
    found = []
    for records in read_records(file, GRAMMARS[kind], start, _records.WHOLE if stop is None else stop):
        assert len(records) == len(records.split())
        assert records.data == b"".join(one + b"\n" for one in records.split())
        found += map(fields_of, records.split())
    return found


@pytest.fixture
def text_file(tmp_path):
    def write(content, *, compressed=False):
        path = tmp_path / ("rows.csv.gz" if compressed else "rows.csv")
        path.write_bytes(gzip.compress(content, 1) if compressed else content)
        return TextFile(Place(str(path)), Dialect())

    return write


TEXT = st.one_of(
    st.lists(st.sampled_from([b'"', b'"', b'""', b",", b"\n", b"\r\n", b"\r", b"a", b"1", b"\xff"]), max_size=40).map(b"".join),
    st.lists(
        st.sampled_from([b'"a\n', b'b"\n', b'1,"x\ny"\n', b'2,"\n', b"3,4\n", b'5,""\n', b'"",""\r\n', b'a"b,c\n', b'",'])
    ).map(b"".join),
    st.binary(max_size=30),
)


@QUICK
@given(
    content=TEXT,
    kind=st.sampled_from(["records", "lines"]),
    chunk=st.sampled_from([1, 2, 3, 7, 1 << 22]),
    longest=st.sampled_from([4, 9, LONGEST]),
    compressed=st.booleans(),
)
@example(content=b'1,"a\n2,b\n3,"c"\n', kind="records", chunk=3, longest=4, compressed=True)
@example(
    content=b'"a\n' + b"12\n" * 9 + b'"b"c\n"d\n' + b"3\n" * 9 + b'"\n4\n', kind="records", chunk=2, longest=9, compressed=True
)
@example(content=b'"x\ny"\n"a\n,"",\n,""x\ny"\n12"a\n\r\n"', kind="records", chunk=1 << 22, longest=6, compressed=False)
def test_records_are_those_of_a_reader_of_single_bytes(content, kind, chunk, longest, compressed, text_file, monkeypatch):
    expected = rows_one_by_one(content, kind, longest)
    monkeypatch.setattr(_records, "CHUNK_BYTES", chunk)
    monkeypatch.setattr(_records, "RECORD_BYTES", longest)
    assert rows_read(text_file(content, compressed=compressed), kind) == expected


@QUICK
@given(
    content=TEXT,
    kind=st.sampled_from(["records", "lines"]),
    step=st.sampled_from([1, 2, 3, 10]),
    longest=st.sampled_from([4, 9, LONGEST]),
)
@example(content=b'"a\n1,2\n3,4\n', kind="records", step=3, longest=LONGEST)  # what would close the quote is in another piece
def test_rows_of_pieces_are_those_of_the_whole(content, kind, step, longest, text_file, monkeypatch):
    monkeypatch.setattr(_records, "RECORD_BYTES", longest)
    file = text_file(content)
    cuts = find_cuts(file, GRAMMARS[kind], 0, len(content), step)
    assert cuts == sorted(set(cuts))
    assert all(0 < cut < len(content) for cut in cuts)
    ranges = zip([0, *cuts], [*cuts, len(content)], strict=True)
    assert [row for start, stop in ranges for row in rows_read(file, kind, start, stop)] == rows_read(file, kind)


# -- beside the standard library -------------------------------------------------------------------------------------------

WORDS = [
    *(
        "",
        " ",
        "a",
        "ann",
        "NA",
        "7",
        "-1.5",
        "1e5",
        "\u00e9",
        "\u0645\u0631",
        "\U0001f600",
        " x ",
        "#",
        "\\",
        "'",
        "\ufeff",
        "\x00",
    ),
    *('"', '""', '"a"', 'a"', ",", ";", "\t", "|", "a,b", "a;b", '",', ',"', '";"', "\n", "a\nb", "\r\n", "\n\n", '\n"', '"\n'),
    *("5,zoe\n6,zoe\n", '"5","zoe"\r\n', ",,\n,,", '\n",\n"', "\r", "a\rb", "\r\r\n"),
]


def draw_table(random):
    """Return how a table is written, and its records, each with a number in its first field; the first one is the header."""
    quoting = random.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
    given = {"delimiter": random.choice(",;\t|"), "quoting": quoting, "lineterminator": random.choice(["\n", "\r\n"])}
    # Python's writer does not quote a lone carriage return where lines end without one; its own reader refuses that.
    words = [one for one in WORDS if "\r" not in one or quoting != csv.QUOTE_MINIMAL or given["lineterminator"] == "\r\n"]
    names = ["x", *"abc"[: random.randrange(1, 4)]]
    records = [[index, *(random.choice(words) for _ in names[1:])] for index in range(random.randrange(9))]
    return given, names, records


def write_table(path, given, names, records):
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, **given).writerows([names, *records])


def check_tables(path, *, seed, count):
    """Read random tables, and each with one record more, beside the reader of the standard library."""
    random = Random(seed)
    for _ in range(count):
        given, names, records = draw_table(random)
        place, extra = random.randrange(len(records) + 1), [99, *(random.choice(WORDS[:-3]) for _ in names[1:])]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_records, "CHUNK_BYTES", random.choice([16, *[1 << 22] * 9]))
            for one in (records, [*records[:place], extra, *records[place:]]):
                write_table(path, given, names, one)
                with path.open(encoding="utf-8", newline="") as stream:
                    expected = list(csv.reader(stream, delimiter=given["delimiter"]))[1:]
                assert expected == [list(map(str, record)) for record in one]
                check_file(path, names, expected, delimiter=given["delimiter"], step=random.choice([40, *[1 << 26] * 5]))


def check_file(path, names, expected, *, delimiter, step):
    file = TextFile(Place(str(path)), Dialect(delimiter=delimiter))
    assert [list(row) for row in CsvReader("test", file, names, (Category(["0", "1"]),) * len(names)).texts()] == expected
    reader = CsvReader("test", file, ["x"], (Number(0, 1),))
    cuts = reader.cuts(path.stat().st_size, step)
    ranges = zip([0, *cuts], [*cuts, _records.WHOLE], strict=True)
    blocks = [block for start, stop in ranges for block in reader.blocks(start, stop)]
    assert np.concatenate([np.empty((0, 1)), *blocks])[:, 0].tolist() == [float(row[0]) for row in expected]


def test_tables_of_the_standard_library(seed, tmp_path):
    check_tables(tmp_path / "table.csv", seed=seed, count=100)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_thousands_of_tables_of_the_standard_library(part, seed, tmp_path):
    """Of 100,000, ``python -m tests.data.test_records 100000`` takes a quarter of an hour."""
    check_tables(tmp_path / "table.csv", seed=10 * seed + part, count=1_000)


def test_values_and_ids_keep_their_line_breaks(tmp_path):
    levels = ["a\nb", "a\r\nb", "a\rb", 'a"b', "a b", ",\n,"]
    path = tmp_path / "rows.csv"
    write_table(path, {}, ["x", "a"], [[index, word] for index, word in enumerate(levels)])
    assert read(path, {"a": Category(levels)})[:, 0].tolist() == list(range(6))
    with gzip.open(tmp_path / "rows.csv.gz", "wb") as stream:
        stream.write(path.read_bytes())
    assert read(tmp_path / "rows.csv.gz", {"a": Category(levels)})[:, 0].tolist() == list(range(6))
    write_table(path, {}, ["x", "who"], [[1, "a\rb"], [2, "a\r\nb"], [3, "a\nb"], [4, "a b"], [5, "a\nb"]])
    rows = open_rows(path, ["x"], privacy_unit="who", n_jobs=1).bounded(Bounding(bytes(32), 1))
    assert sum(map(len, rows.blocks())) == 4


def test_a_record_whose_text_holds_ids_adds_one_row_of_one_person(tmp_path):
    records = [[index, f"ann-{index % 7}", ""] for index in range(40)]
    note = "".join(f"5,zoe-{index},\n" for index in range(2000))
    before, after = (tmp_path / name for name in ("before.csv", "after.csv"))
    write_table(before, {}, ["x", "who", "note"], records)
    write_table(after, {}, ["x", "who", "note"], [*records[:9], [7, "zoe", note], *records[9:]])

    def counted(path):
        rows = open_rows(path, ["x"], privacy_unit="who", unit_key=bytes(32), n_jobs=1).bounded(Bounding(bytes(32), 3))
        return Counter(row.tobytes() for block in rows.blocks() for row in np.ascontiguousarray(block))

    assert (counted(after) - counted(before)).total() == 1
    assert not counted(before) - counted(after)


def test_each_record_has_one_label_and_one_coin(tmp_path, monkeypatch):
    path = tmp_path / "rows.csv"
    write_table(path, {}, ["x", "who"], [[index, f"n\n{index}\r\n"] for index in range(500)])
    assert list(kept_rows(path, ["x", "who"])) == [(str(index), f"n\n{index}\r\n") for index in range(500)]
    monkeypatch.setattr(_files, "PIECE_BYTES", 900)
    coins = Coins.draw(Entropy(3), 0.3)
    found = _files.find_files("test", str(path), ["x"]).pieces
    pieces = [np.concatenate(list(piece.blocks())) for piece in found]
    heads = [piece[coins.partition(number).take(len(piece))] for number, piece in enumerate(pieces)]
    found = open_rows(path, ["x"], n_jobs=2).sample(coins)
    assert np.array_equal(np.concatenate([*found.blocks()]), np.concatenate(heads))
    assert len(pieces) > 5


# -- malformed stretches ---------------------------------------------------------------------------------------------------

NAN = np.nan
MALFORMED = {
    b'1,"2\n3,4\n5,6\n': [[NAN, NAN], [3, 4], [5, 6]],  # a quote that does not end
    b'1,"2\n3,"4"\n5,6\n': [[NAN, NAN], [3, 4], [5, 6]],  # what follows it is quoted itself
    b'1,2"\n3,"4\n5,"6\n7,8\n': [[1, NAN], [NAN, NAN], [NAN, NAN], [7, 8]],
    b'1,"2"x\n3,4\n': [[NAN, NAN], [3, 4]],
    b'1,"2"x,"\n3,4\n5,"6"\n': [[NAN, NAN], [3, 4], [5, 6]],
    b'1,"\n3,"a\n,4"\n': [[NAN, NAN], [3, NAN]],
    b'1,"a\nb",2\n3,4\n': [[NAN, NAN], [3, 4]],  # well formed, with another number of entries
    b'1,"a\n\nb"\n\n3,4\n': [[1, NAN], [3, 4]],
}


@pytest.mark.parametrize("content", MALFORMED)
@pytest.mark.parametrize("chunk", [1, 4, 1 << 22])
def test_a_malformed_record_is_its_first_line(content, chunk, tmp_path, monkeypatch):
    monkeypatch.setattr(_records, "CHUNK_BYTES", chunk)
    path = tmp_path / "rows.csv"
    path.write_bytes(b"a,b\n" + content)
    assert np.array_equal(read(path, ["a", "b"]), MALFORMED[content], equal_nan=True)


@pytest.mark.parametrize(("rows", "n_between"), [("records", 0), ("lines", 20)])
def test_what_an_unbalanced_quote_can_do_at_most(rows, n_between, tmp_path):
    # Only a later record of several lines whose text begins with a delimiter or a line break can end its field; then the rows
    # between are lost. Lines read by themselves are not.
    path = tmp_path / "rows.csv"
    path.write_bytes(b'a,b\n1,"\n' + b"9,9\n" * 20 + b'2,"\nx",5\n3,4\n')
    found = read(path, ["a", "b"], rows=rows)
    assert [row for row in found.tolist() if row == [9, 9]] == [[9, 9]] * n_between
    assert found[-1].tolist() == [3, 4]


# -- long records ----------------------------------------------------------------------------------------------------------


@pytest.mark.fast('"{}",5*-16777216-*', '"{}",5*-16777217-*')
@pytest.mark.parametrize("rows", ["records", "lines"])
@pytest.mark.parametrize("size", [RECORD_BYTES, RECORD_BYTES + 1])
@pytest.mark.parametrize("form", ["{},5\n", '"{}",5\n', '"{}"",x",5\n', '"{}\n",5\n'])
def test_a_record_of_more_than_the_stated_size_is_missing(form, size, rows, tmp_path):
    if rows == "lines" and form.count("\n") > 1:
        return
    path = tmp_path / "rows.csv"
    record = form.replace("{}", "a" * (size - len(form) + 2))
    path.write_text(f'n,b\nx,1\n{record}"x\n",3\nx,4\n' if rows == "records" else f"n,b\nx,1\n{record}x,3\nx,4\n")
    found = read(path, ["b"], rows=rows)[:, 0]
    assert np.array_equal(found, [1, NAN if size > RECORD_BYTES else 5, 3, 4], equal_nan=True)


LONG = {
    "a line": ("rows.csv", "records", b"a,b\n1,2\n", b"\n3,4\n"),
    "a line by itself": ("rows.csv", "lines", b"a,b\n1,2\n", b"\n3,4\n"),
    "a line that is the last": ("rows.csv", "records", b"a,b\n1,2\n3,4\n", b""),
    "a line with a quote": ("rows.csv", "records", b'a,b\n1,2\n"', b"\n3,4\n"),
    "a record": ("rows.csv", "records", b'a,b\n1,2\n1,"\n', b'\n"\n3,4\n'),
    "a compressed record": ("rows.csv.gz", "records", b'a,b\n1,2\n1,"\n', b'\n"\n3,4\n'),
    "a compressed line with a quote": ("rows.csv.gz", "records", b'a,b\n1,2\n"\n', b'"x\n3,4\n'),
    "a line of JSON": ("rows.jsonl", "records", b'{"a": 1, "b": 2}\n', b'\n{"a": 3, "b": 4}\n'),
}
READ_LONG = """
import resource, sys
import numpy as np
from cloister import open_rows
def read(path):
    return np.concatenate(list(open_rows(path, ["a", "b"], rows=sys.argv[3], n_jobs=1).blocks()))
read(sys.argv[1])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
found = read(sys.argv[2])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, *np.nan_to_num(found, nan=-1).astype(int).ravel().tolist())
"""


def check_long(kind, size, folder):
    """Read a line of so many bytes in a process of its own; return by how many kilobytes its memory grew, and the rows."""
    name, rows, before, after = LONG[kind]
    small, large = folder / f"small-{name}", folder / name
    for path, middle in ((small, 1 << 20), (large, size)):
        with gzip.open(path, "wb", 1) if name.endswith("gz") else path.open("wb") as stream:
            stream.write(before)
            if name.endswith("gz"):
                for _ in range(middle >> 20):
                    stream.write(bytes(1 << 20))
            else:  # zeros that take no room on the disk
                stream.truncate(len(before) + middle)
                stream.seek(0, 2)
            stream.write(after)
    command = [sys.executable, "-c", READ_LONG, small, large, rows]
    grown, *values = map(int, subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    return grown, values


@pytest.mark.fast("a compressed record")
@pytest.mark.parametrize("kind", LONG)
def test_a_long_line_takes_no_memory_and_is_one_missing_row(kind, tmp_path):
    grown, values = check_long(kind, 200 << 20, tmp_path)
    middle = [-1, -1] * (2 if kind == "a compressed line with a quote" else 1)
    assert values == ([1, 2, 3, 4, -1, -1] if kind == "a line that is the last" else [1, 2, *middle, 3, 4])
    assert grown < 150_000


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["a line", "a record", "a line of JSON"])
def test_a_line_of_two_gigabytes_is_one_missing_row(kind, tmp_path):
    grown, values = check_long(kind, (2 << 30) + 5, tmp_path)
    assert values == [1, 2, -1, -1, 3, 4]
    assert grown < 150_000


# -- the first line, and options -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", ['a,"b', '"a\nb",c', '"a"x,b'])
def test_names_end_with_the_first_line(first, tmp_path):
    # Were they looked for in further lines, rows could be published as names.
    path = tmp_path / "rows.csv"
    for rows in ("", "1,2\n", '1,2\n",c\n'):
        path.write_text(f"{first}\n{rows}")
        with pytest.raises(DataError, match=r"the first line of 'rows\.csv' holds no column names\. Check its quotes"):
            open_rows(path)


def test_what_rows_are_is_said_by_one_of_two_words(tmp_path):
    with pytest.raises(ParameterError, match=r"open_rows\.rows: expected one of 'lines', 'records', got 'row'"):
        open_rows(tmp_path / "rows.csv", rows="row")
    with pytest.raises(ParameterError, match=r"open_rows\.rows: expected 'records' for data in memory, got 'lines'"):
        open_rows([[1, 2]], rows="lines")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        check_tables(Path(folder) / "table.csv", seed=int(time.time()), count=int(sys.argv[1]))
