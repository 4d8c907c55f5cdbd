# SPDX-License-Identifier: Apache-2.0
"""CSV files: the first line decides whether one is read, and a row is a function of its own record alone.

Where rows are lines, that holds for any bytes; where they are records, for any fields that a correct writer writes. Pieces of a
file of any bytes have the rows of the whole.
"""

import csv
import io
from functools import cache
from typing import Any

import numpy as np
from hypothesis import strategies as st
from tests.fuzz._law import Outcome
from tests.fuzz._run import Target, scratch
from tests.fuzz._tables import read

from cloister.audit._plants import swapped
from cloister.columns import Category, Date, Flag
from cloister.data._files import find_files

ENDS = ("\n", "\r\n", "")
DIALECTS: list[dict[str, str]] = [
    {},
    {"delimiter": ";", "decimal": ","},
    {"delimiter": "\t", "encoding": "cp1252"},
    {"delimiter": "|", "encoding": "latin-1"},
    {"decimal": ","},
]
DECLARED = {"a": Category(["1", "NA", "é"]), "b": Date("2000-01-01", "2030-01-01")}
HEADERS = [
    *("a,b", "a", '"a","b"', "a,b,c", " a , b ", "\xef\xbb\xbfa,b", "a;b", "a\tb", "a,a", "a,", ","),
    *("1,2", "a,77.123456789", "x\x00,y"),
]
ENTRIES = [
    *("", "0", "1", "-1.5", "1e5", "1e400", "nan", "NaN", "inf", "-Infinity", "NULL", "NA"),
    *(" 2 ", "+3", "1_000", "0x10", "1e", "--1", '"', '""', '"1"', '"1', '1"', '"1,2"', "'1'"),
    *("\r", "\x00", "\xff", "\xef\xbb\xbf", "\xe2\x80\x8b1", "\xd9\xa3", "77.123456789", "Zanthoxylum"),
    *("x" * 300, "1" * 400, "true", "2020-01-01", "\t1", ";", "#", "\\", "\x1a", "\x85", "\x0b", "\x0c"),
]


def cases() -> st.SearchStrategy[Any]:
    """Draw a first line, further lines or records, and one more of them."""
    return st.one_of(_cases_of_lines(), _cases_of_records())


def _cases_of_records() -> st.SearchStrategy[Any]:
    entry = st.one_of(
        st.sampled_from([*ENTRIES, "\n", "1\n2", '"\n"', "\r\n", '",\n', "5,zoe\n6,zoe\n"]), st.text('",;\n\r1a', max_size=6)
    )
    record = st.lists(entry, min_size=1, max_size=4)
    return st.fixed_dictionaries(
        {
            "header": st.sampled_from(HEADERS[:4]),
            "records": st.lists(record, max_size=5),
            "extra": record,
            "place": st.integers(0, 5),
            "end": st.sampled_from(ENDS[:2]),
            "columns": st.sampled_from([None, ["a"]]),
            "dialect": st.one_of(st.just({}), st.sampled_from(DIALECTS)),
        }
    )


def _cases_of_lines() -> st.SearchStrategy[Any]:
    entry = st.one_of(st.sampled_from(ENTRIES), st.sampled_from(ENTRIES[:12]), st.floats().map(repr))
    line = st.one_of(st.lists(entry, max_size=4).map(",".join), st.binary(max_size=12).map(lambda raw: raw.decode("latin-1")))
    clean = line.map(lambda text: text.replace("\n", "~"))
    header = st.one_of(st.sampled_from(HEADERS[:4]), st.sampled_from(HEADERS), clean)
    return st.fixed_dictionaries(
        {
            "header": header.filter(lambda text: text.encode("latin-1").strip()),
            "lines": st.lists(clean, max_size=5),
            "extra": clean,
            "place": st.integers(0, 5),
            "end": st.sampled_from(ENDS),
            "columns": st.sampled_from([None, None, None, ["a"], ["b", "a"], ["zz"]]),
            "declared": st.booleans(),  # where columns are named
            "dialect": st.one_of(st.just({}), st.sampled_from(DIALECTS)),
        }
    )


def law(case: dict[str, Any]) -> str:
    """Return how reading the file ended."""
    return _law_of_records(case) if "records" in case else _law_of_lines(case)


def _law_of_records(case: dict[str, Any]) -> str:
    records, place = case["records"], min(case["place"], len(case["records"]))
    before, after = (_read_records(case, some) for some in (records, [*records[:place], case["extra"], *records[place:]]))
    assert str(before.error) == str(after.error), "a further record decides between a table and an error"
    if after.error is None:
        assert len(after.value) == len(records) + 1, "a record is not one row"
        assert np.array_equal(np.delete(after.value, place, axis=0), before.value), (
            "a record is read in another way beside others"
        )
    return after.label


def _read_records(case: dict[str, Any], records: list[list[str]]) -> Outcome:
    text = io.StringIO(newline="")
    quoting = csv.QUOTE_ALL if case["end"] == "\n" else csv.QUOTE_MINIMAL
    delimiter = case["dialect"].get("delimiter", ",")
    csv.writer(text, delimiter=delimiter, lineterminator=case["end"], quoting=quoting).writerows(records)
    header = case["header"].replace(",", delimiter) + case["end"]
    return _read_bytes((header + text.getvalue()).encode("latin-1"), case["columns"], case["dialect"])


def _law_of_lines(case: dict[str, Any]) -> str:
    lines = case["lines"]
    place = min(case["place"], len(lines))
    more = [*lines[:place], case["extra"], *lines[place:]]
    alone, after = _read(case, []), _read(case, more)
    assert str(alone.error) == str(after.error), "a further line decides between a table and an error"
    if alone.error is not None:
        return after.label
    expected = [_row(case, line) for line in more]
    assert alone.value.shape[0] == 0, "a first line that is a row"
    assert len(after.value) == sum(len(rows) for rows in expected), "the number of rows is not that of lines that are not empty"
    assert np.array_equal(after.value, np.concatenate(expected)), "a line is read in another way beside others"
    return "valid"


def _row(case: dict[str, Any], line: str) -> Any:
    """Return what one line alone is read as: a row, or nothing for an empty line."""
    content = (line + case["end"].removesuffix("\n")).encode("latin-1").removesuffix(b"\r")
    found = _read(case, [line]).value
    assert len(found) == (1 if content else 0), "a line is not one row"
    return found


def _read(case: dict[str, Any], lines: list[str]) -> Outcome:
    end = case["end"] or "\n"
    text = end.join([case["header"], *lines]) + (case["end"] if lines else "")
    dialect = case.get("dialect", {})
    delimiter = dialect.get("delimiter")
    if delimiter is not None:  # so that lines have several entries all the same
        text = text.translate({ord(","): delimiter, ord(delimiter): ","})
    columns = case["columns"]
    if columns and case.get("declared"):
        columns = {name: DECLARED.get(name, Flag()) for name in columns}
    _check_pieces(text.encode("latin-1"))
    return _read_bytes(text.encode("latin-1"), columns, {**dialect, "rows": "lines"})


def _check_pieces(content: bytes) -> None:
    """Hold pieces of a file of any bytes to the rows of the whole, records as they are."""
    _path().write_bytes(b"a,b\n" + content)
    (whole,) = find_files("fuzz", str(_path()), ["a"]).whole
    with swapped("cloister.data._files:PIECE_BYTES", 7):
        pieces = list(find_files("fuzz", str(_path()), ["a"]).pieces)
    rows = [
        np.concatenate([np.empty((0, 1)), *(block for one in some for block in one.blocks())]) for some in (pieces, [whole])
    ]
    assert np.array_equal(*rows, equal_nan=True), "pieces of a file have other rows than the whole"


@cache
def _path() -> Any:
    return scratch("csv") / "table.csv"


def _read_bytes(content: bytes, columns: Any, dialect: dict[str, str]) -> Outcome:
    _path().write_bytes(content)
    return read(_path(), columns, **dialect)


TARGET = Target("csv", cases, law, share=0.15)
