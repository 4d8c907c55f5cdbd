# SPDX-License-Identifier: Apache-2.0
"""Text cut into records: as RFC 4180 says, wherever it is cut, and however long a record is."""

import csv
import gzip
import io
import resource
import subprocess
import sys
import textwrap
from collections import Counter
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st
from tests.examples import examples

from cloister import open_rows
from cloister.data import RECORD_BYTES, Bounding, _files, _records, kept_rows
from cloister.data._formats import Dialect, format_of
from cloister.data._places import Place, TextFile
from cloister.data._records import Grammar, find_cuts, read_records
from cloister.domain import Category
from cloister.exceptions import DataError, ParameterError

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
        return TextFile(place=Place(str(path)), dialect=Dialect(), compression="gzip" if compressed else None)

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
