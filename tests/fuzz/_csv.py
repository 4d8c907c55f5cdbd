# SPDX-License-Identifier: Apache-2.0
"""CSV files of any bytes: the first line decides whether the file is read, and a row is a function of its own line alone."""

from functools import cache
from typing import Any

import numpy as np
from hypothesis import strategies as st
from tests.fuzz._law import Outcome, attempt, refuse_quotes_in
from tests.fuzz._run import Target, scratch
from tests.fuzz._tables import bits

from cloister.data import open_rows
from cloister.domain import Category, Date, Flag
from cloister.exceptions import DataError

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
    """Draw a first line, further lines, and one more of them."""
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
    return _read_bytes(text.encode("latin-1"), columns, dialect)


@cache
def _path() -> Any:
    return scratch("csv") / "table.csv"


def _read_bytes(content: bytes, columns: Any, dialect: dict[str, str]) -> Outcome:
    _path().write_bytes(content)
    found = attempt(lambda: bits(open_rows(_path(), columns, n_jobs=1, **dialect)))
    assert found.error is None or isinstance(found.error, DataError)
    refuse_quotes_in(found.error)
    return found


TARGET = Target("csv", cases, law, share=0.15)
