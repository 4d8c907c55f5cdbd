# SPDX-License-Identifier: Apache-2.0
"""CSV files, one row per line: no line can raise an error or change how another line is read.

The first line holds the names. Every column that is used holds numbers: that is declared by opening it, and never guessed from
the lines. Every further line that is not empty is one row; an entry that is no number becomes a missing value, and a line with
too many or too few entries becomes a row of missing values. So a row is a function of its own line alone, also where the line
holds a stray quote or bytes that are no text. Imported by the files' backend.
"""

import csv
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from cloister.data._backend import Block
from cloister.data._values import doubles_of, to_number
from cloister.exceptions import DataError

__all__ = ["CHUNK_BYTES", "csv_blocks", "csv_schema"]

Entries: TypeAlias = Sequence[bytes | None]

CHUNK_BYTES = 1 << 22
WHOLE = sys.maxsize
OTHER_SEPARATORS = (";", "\t", "|")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def csv_schema(where: str, file: Path, *, declared: bool) -> pa.Schema:
    """Return the columns that the first line names, all of them numbers; no further line is read.

    Unless columns were `declared`, every name must be one that may be published.
    """
    with file.open("rb") as stream:
        names = _header(where, file, stream)
    if not declared and not all(name.strip() for name in names):
        raise DataError(
            f"{where}: expected a name for every column in the first line of {file.name!r}, got a blank one. Add a name, or "
            "choose columns with columns=[...]."
        )
    return pa.schema([(name, pa.float64()) for name in names])


def csv_blocks(where: str, file: Path, names: list[str], *, start: int = 0, stop: int = WHOLE) -> Iterator[Block]:
    """Yield blocks of raw rows of the named columns, in the order of the lines: of those that begin in a range of bytes."""
    with file.open("rb") as stream:
        header = _header(where, file, stream)
        wanted = [header.index(name) for name in names]
        if start > stream.tell():
            stream.seek(start - 1)
            stream.readline()  # the rest of a line that begins before, or the newline that ends it
        for chunk in _chunks(stream, stop):
            block = np.empty((chunk.count(b"\n"), len(names)))
            for index, column in enumerate(_columns(chunk, len(header), wanted)):
                block[:, index] = _numbers(column)
            yield block


def _header(where: str, file: Path, stream: BinaryIO) -> list[str]:
    """Return the names. They are published, so the first row of a file without names must not be taken for them, nor quoted."""
    line = next((line for line in stream if line.strip()), b"").removeprefix(BYTE_ORDER_MARK)
    names = _names(line.decode("utf-8", "replace").rstrip("\r\n"))
    if names is None:
        raise DataError(f"{where}: the first line of {file.name!r} holds no column names. Check the line ends.")
    if not names:
        raise DataError(f"{where}: the file {file.name!r} is empty. Pass a file with a line of column names.")
    if any(_is_number(name) for name in names):
        raise DataError(
            f"{where}: expected column names in the first line of {file.name!r}, got a number. Add a line of names that are no "
            "numbers."
        )
    if len(names) == 1 and any(mark in names[0] for mark in OTHER_SEPARATORS):
        raise DataError(
            f"{where}: expected columns separated by commas in {file.name!r}, got one column with another separator in its "
            "name. Write the file with commas, and decimal points."
        )
    return names


def _names(line: str) -> list[str] | None:
    try:
        return next(csv.reader([line]), [])
    except csv.Error:  # a line without an end, or with one of its own kind: not a line of names
        return None


def _is_number(name: str) -> bool:
    """Whether a name could be somebody's value: what reads as a number, NaN and infinity included, a date, a time."""
    if any(mark.isdigit() for mark in name) and not any(mark.isalpha() for mark in name):
        return True
    return not math.isnan(to_number(name)) or name.strip().lstrip("+-").lower() == "nan"


def _chunks(stream: BinaryIO, stop: int = WHOLE) -> Iterator[bytes]:
    """Yield the whole lines that begin before `stop`, some megabytes at a time, none empty, each ended by one newline."""
    rest = b""
    while read := stream.read(max(0, min(CHUNK_BYTES, stop - stream.tell()))):
        rest += read
        cut = rest.rfind(b"\n") + 1
        if cut:
            yield _tidy(rest[:cut])
            rest = rest[cut:]
    if rest:
        rest += stream.readline()
    yield _tidy(rest + b"\n")


def _tidy(chunk: bytes) -> bytes:
    if b"\r" in chunk:
        chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b" ")
    if chunk.startswith(b"\n") or b"\n\n" in chunk:
        return b"".join(line + b"\n" for line in chunk.split(b"\n") if line)
    return chunk


def _columns(chunk: bytes, width: int, wanted: Sequence[int]) -> list[pa.ChunkedArray]:
    """Return the wanted entries of every line, as bytes: all lines at once, or one by one where some are malformed."""
    table = _parse(chunk, width, wanted)
    if table is not None:
        return list(table.columns)
    lines = chunk.split(b"\n")[:-1]
    parsed = iter(_entries([line for line in lines if b'"' in line], width, wanted))
    rows = [next(parsed) if b'"' in line else _split(line, width, wanted) for line in lines]
    return [pa.chunked_array([[row[index] for row in rows]], pa.binary()) for index in range(len(wanted))]


def _split(line: bytes, width: int, wanted: Sequence[int]) -> Entries:
    entries = line.split(b",")
    return [entries[index] for index in wanted] if len(entries) == width else [None] * len(wanted)


def _entries(lines: list[bytes], width: int, wanted: Sequence[int]) -> list[Entries]:
    """Return the wanted entries of lines that hold quotes, halving them until the malformed ones stand alone."""
    table = _parse(b"".join(line + b"\n" for line in lines), width, wanted)
    if table is not None:
        return list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    if len(lines) == 1:
        return [[None] * len(wanted)]
    half = len(lines) // 2
    return _entries(lines[:half], width, wanted) + _entries(lines[half:], width, wanted)


def _parse(chunk: bytes, width: int, wanted: Sequence[int]) -> pa.Table | None:
    """Return the wanted entries if the parser finds one row in every line, otherwise None."""
    first = b",".join([b"0"] * width) + b"\n"  # the parser refuses to read nothing, and drops a mark at the very beginning
    names, chosen = [str(index) for index in range(width)], [str(index) for index in wanted]
    try:
        table = pyarrow.csv.read_csv(
            pa.BufferReader(first + chunk),
            read_options=pyarrow.csv.ReadOptions(column_names=names, block_size=len(first + chunk) + 1, use_threads=False),
            parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
            convert_options=pyarrow.csv.ConvertOptions(
                include_columns=chosen, column_types={name: pa.binary() for name in chosen}, strings_can_be_null=True
            ),
        )
    except pa.ArrowInvalid:
        return None
    # The parser can join lines, never cut one: as many rows as lines means one row in every line.
    return table.slice(1) if table.num_rows == 1 + chunk.count(b"\n") else None


def _numbers(column: pa.ChunkedArray) -> Any:
    try:
        return pc.cast(pc.ascii_trim_whitespace(pc.cast(column, pa.string())), pa.float64()).to_numpy()
    except pa.ArrowInvalid:
        return doubles_of(map(_text, column.to_pylist()), (len(column),))


def _text(entry: bytes | None) -> str | None:
    return None if entry is None else entry.decode("utf-8", "replace")
