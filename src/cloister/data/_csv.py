# SPDX-License-Identifier: Apache-2.0
"""CSV files, one row per record: no record can raise an error or change how another one is read.

The first line holds the names. What every column holds is declared by opening it, numbers where nothing else is said, and never
guessed from the rows. Every record is one row; an entry that is no number becomes a missing value, and a record with too many
or too few entries becomes a row of missing values. So a row is a function of its own record alone, also where that is malformed
or holds bytes that are no text. Imported by the files' backend.
"""

import csv
import math
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from cloister.columns import Identifier, to_number
from cloister.data._backend import Block, beside
from cloister.data._columns import Declared, ReadAs
from cloister.data._decode import decode_arrow
from cloister.data._formats import COMMA, POINT, RECORD_BYTES, RECORDS, UTF_8
from cloister.data._ids import utf_8_of
from cloister.data._places import TextFile
from cloister.data._records import WHOLE, Grammar, Records, find_cuts, read_records
from cloister.data._values import doubles_of
from cloister.exceptions import DataError
from cloister.privacy import CoinStream

Entries: TypeAlias = Sequence[bytes | None]

SEPARATORS = {COMMA: "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")  # of UTF-16
NULLS = pa.array([word.encode() for word in pyarrow.csv.ConvertOptions().null_values], pa.binary())


def csv_names(where: str, file: TextFile, columns: Collection[str] | None) -> list[str]:
    """Return the columns that the first line names; no further line is read.

    Unless `columns` were declared, every name must be one that may be published.
    """
    names, _ = _header(where, file)
    if len(names) == 1 and (columns is None or names[0] not in columns):
        _refuse_other_separator(where, file, names[0])
    if columns is None and not all(name.strip() for name in names):
        raise DataError(
            f"{where}: expected a name for every column in the first line of {file.name!r}, got a blank one. Add a name, or "
            "choose columns with columns=[...]."
        )
    return names


# -- names -----------------------------------------------------------------------------------------------------------------


def _header(where: str, file: TextFile) -> tuple[list[str], int]:
    """Return the names, and where the rows begin.

    Names are published, so the first row of a file without names must not be taken for them, nor quoted.
    """
    line, begin = _first_line(file)
    text, names, dialect = _decode_names(where, file, line.removeprefix(BYTE_ORDER_MARK)).rstrip("\r\n"), None, file.dialect
    with suppress(csv.Error):  # strictly where a quote that does not end might make names of rows
        names = next(csv.reader([text], delimiter=dialect.delimiter, strict=dialect.rows == RECORDS), [])
    if names is None:
        raise DataError(f"{where}: the first line of {file.name!r} holds no column names. Check its quotes and the line ends.")
    if not names:
        raise DataError(f"{where}: the file {file.name!r} is empty. Pass a file with a line of column names.")
    if any(_is_number(name) for name in names):
        raise DataError(
            f"{where}: expected column names in the first line of {file.name!r}, got a number. Add a line of names that are no "
            "numbers."
        )
    return names, begin


def _first_line(file: TextFile) -> tuple[bytes, int]:
    """Return the first line that is not blank, and where the next one begins. A line of tabs is no blank one between them."""
    mark, begin = file.dialect.delimiter.encode(), 0
    with file.open() as stream:
        for line in iter(lambda: stream.readline(RECORD_BYTES), b""):
            begin += len(line)
            if line.strip() or mark in line:
                return line, begin
    return b"", begin


def _decode_names(where: str, file: TextFile, line: bytes) -> str:
    place, used = f"the first line of {file.name!r}", file.dialect.encoding
    if line.startswith(WIDE_MARKS):
        raise DataError(f"{where}: expected UTF-8, or one byte for every letter, in {place}, got UTF-16. Save it as UTF-8.")
    with suppress(UnicodeError):
        return line.decode(used)
    other = "encoding='latin-1' (--encoding latin-1)" if used == UTF_8 else "another encoding"
    raise DataError(
        f"{where}: expected text in the encoding {used!r} in {place}, got other bytes. Pass {other}, or save it as UTF-8."
    )


def _refuse_other_separator(where: str, file: TextFile, name: str) -> None:
    """Refuse one column whose name holds what separates columns elsewhere."""
    used = file.dialect.delimiter
    mark = max((mark for mark in SEPARATORS if mark != used), key=name.count)
    if mark not in name:
        return
    expected, in_a_shell = SEPARATORS.get(used, repr(used)), "tab" if mark == "\t" else f"'{mark}'"
    raise DataError(
        f"{where}: expected columns separated by {expected} in {file.name!r}, got one column named with {mark!r} in it. "
        f"Pass delimiter={mark!r} (--delimiter {in_a_shell})."
    )


def _is_number(name: str) -> bool:
    """Whether a name could be somebody's value: what reads as a number, NaN and infinity included, a date, a time."""
    if any(mark.isdigit() for mark in name) and not any(mark.isalpha() for mark in name):
        return True
    return not math.isnan(to_number(name)) or name.strip().lstrip("+-").lower() == "nan"


# -- records ---------------------------------------------------------------------------------------------------------------


class CsvReader:
    """Reads records of a file as rows: the named entries of each, as they were declared."""

    def __init__(self, where: str, file: TextFile, names: Sequence[str], declared: Declared) -> None:
        header, self._begin = _header(where, file)
        self._file = file
        self._dialect = file.dialect
        self._delimiter = mark = file.dialect.delimiter.encode()
        self._fields = re.compile(rb'(?:"((?:[^"]++|"")*+)"|([^%b]*+))%b' % (re.escape(mark), re.escape(mark)))
        self._width = len(header)
        self._wanted = [header.index(name) for name in names]
        missing = b'""' + mark * (self._width - 1) + b"\n"
        self._grammar = Grammar(missing=missing, delimiter=mark, joins=file.dialect.rows == RECORDS)
        self._declared = declared
        self._has_words = not all(one.are_numbers for one in declared)

    def blocks(self, start: int = 0, stop: int = WHOLE, tosses: CoinStream | None = None) -> Iterator[Block]:
        """Yield blocks of raw rows, in the order of the records: of those in a range of bytes.

        With `tosses`, only the records whose coins show heads are looked into.
        """
        for records in read_records(self._file, self._grammar, max(start, self._begin), stop, tosses=tosses):
            yield beside([self._read(*each) for each in zip(self._columns(records), self._declared, strict=True)])

    def texts(self) -> Iterator[tuple[str, ...]]:
        """Yield the entries as they are written, row by row; those of a malformed row are blank."""
        for records in read_records(self._file, self._grammar, self._begin):
            for row in zip(*(column.to_pylist() for column in self._columns(records)), strict=True):
                yield tuple("" if entry is None else entry.decode(self._dialect.encoding, "replace") for entry in row)

    def cuts(self, stop: int, step: int) -> list[int]:
        """Return places between two records where the file may be cut into pieces."""
        return find_cuts(self._file, self._grammar, self._begin, stop, step)

    def _read(self, column: pa.ChunkedArray, declared: ReadAs) -> Any:
        if not isinstance(declared, Identifier) and declared.are_numbers:
            return declared.from_numbers(self._numbers(column))
        if self._dialect.encoding != UTF_8:
            column = pa.chunked_array([self._in_utf_8(chunk, declared) for chunk in column.chunks], pa.binary())
        return decode_arrow(column, declared)

    def _columns(self, records: Records) -> list[pa.ChunkedArray]:
        """Return the wanted entries of every record, as bytes: of all at once, or one by one where some have too many."""
        table = self._parse(records.data, len(records))
        if table is not None:
            return list(table.columns)
        rows = [self._split(one) for one in records.split()]
        return [pa.chunked_array([[row[index] for row in rows]], pa.binary()) for index in range(len(self._wanted))]

    def _split(self, record: bytes) -> Entries:
        entries = record.split(self._delimiter)
        if b'"' in record:  # of the two groups, the one that is not in the field is empty
            found = self._fields.findall(record + self._delimiter)
            entries = [quoted.replace(b'""', b'"') or plain for quoted, plain in found]
        return [entries[index] for index in self._wanted] if len(entries) == self._width else [None] * len(self._wanted)

    def _parse(self, chunk: bytes, n_records: int) -> pa.Table | None:
        """Return the wanted entries if all records have as many as there are columns, otherwise None."""
        # The parser refuses to read nothing, and drops a mark at the very beginning.
        first = self._delimiter.join([b"0"] * self._width) + b"\n"
        names, chosen = [str(index) for index in range(self._width)], [str(index) for index in self._wanted]
        try:
            table = pyarrow.csv.read_csv(
                pa.BufferReader(first + chunk),
                read_options=pyarrow.csv.ReadOptions(column_names=names, block_size=len(first + chunk) + 1, use_threads=False),
                parse_options=pyarrow.csv.ParseOptions(
                    delimiter=self._dialect.delimiter, newlines_in_values=True, ignore_empty_lines=False
                ),
                convert_options=pyarrow.csv.ConvertOptions(
                    include_columns=chosen,
                    column_types={name: pa.binary() for name in chosen},
                    strings_can_be_null=not self._has_words,  # "NA" may be a level
                ),
            )
        except pa.ArrowInvalid:
            return None
        return table.slice(1) if table.num_rows == 1 + n_records else None

    def _numbers(self, column: pa.ChunkedArray) -> Any:
        """Return entries as doubles: all at once, or one by one where some are other than Arrow reads."""
        if self._has_words:
            column = _without(pc.is_in(column, NULLS), column)
        try:
            text = pc.ascii_trim_whitespace(pc.cast(column, pa.string()))
            if self._dialect.decimal != POINT:
                text = _without(pc.match_substring(text, POINT), pc.replace_substring(text, COMMA, POINT))
            return pc.cast(text, pa.float64()).to_numpy()
        except pa.ArrowInvalid:
            return doubles_of(map(self._number_text, column.to_pylist()), (len(column),))

    def _number_text(self, entry: bytes | None) -> str | None:
        if entry is None or (self._dialect.decimal != POINT and POINT.encode() in entry):
            return None
        text = entry.decode(self._dialect.encoding, "replace")
        return text if self._dialect.decimal == POINT else text.replace(COMMA, POINT)

    def _in_utf_8(self, chunk: pa.Array, declared: ReadAs) -> pa.Array:
        """Return words in UTF-8. Of ids, bytes that are no text of the encoding are kept apart: no two of them become one."""
        found, encoding = chunk.dictionary_encode(), self._dialect.encoding  # words come again and again
        is_id = isinstance(declared, Identifier)
        words = [
            utf_8_of(word, encoding) if is_id else word.decode(encoding, "replace").encode()
            for word in found.dictionary.to_pylist()
        ]
        return pa.array(words, pa.binary()).take(found.indices)


def _without(gone: pa.ChunkedArray, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column in which some entries are missing."""
    # Not if_else(gone, None, column): before Arrow 24 that cuts the end off the last entries of a slice.
    return pc.if_else(gone, pa.nulls(len(column), column.type), column)
