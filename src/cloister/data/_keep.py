# SPDX-License-Identifier: Apache-2.0
"""Columns of files as text, to be written beside labels as they are: identifiers, names. Rows come in the order of the files.

What is passed through is the caller's own business, as labels are. As many rows are read as when the same files are opened for
labels, one for each record of text; a record that is malformed has blank entries.
"""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias

from cloister.columns import Category
from cloister.data._columns import Column, Holds
from cloister.data._formats import TextOptions, text_options
from cloister.exceptions import DataError

if TYPE_CHECKING:
    import pyarrow as pa

    from cloister.data._files import Piece

__all__ = ["kept_rows"]

TextRow: TypeAlias = tuple[str, ...]

ANYTHING = Category(["0", "1"])  # stands for a column whose values are not looked at
BATCH_ROWS = 1 << 14


def kept_rows(path: str | os.PathLike[str], names: Sequence[str], *, where: str = "keep", **text: Any) -> Iterator[TextRow]:
    """Return the named columns of files as text, row by row; a missing value is blank. Files are opened and checked at once.

    Parameters
    ----------
    path : str or path
        As for :func:`cloister.open_rows`.
    names : sequence of str
        The columns.
    where : str
        Whose name error messages carry.
    **text
        `delimiter`, `decimal`, `encoding` and `rows` of a CSV file.
    """
    from cloister.data._files import find_files

    options = text_options(where, **text)
    _refuse_nested(where, os.fspath(path), names, options)
    files = find_files(where, os.fspath(path), dict.fromkeys(names, ANYTHING), text=options)
    return (row for piece in files.whole for row in _rows_of(piece))


def _refuse_nested(where: str, path: str, names: Sequence[str], options: TextOptions) -> None:
    from cloister.data._files import describe_files

    described: list[Column] = []
    with suppress(DataError):  # JSON lines say nothing of their columns; what else is wrong is said when the files are found
        described = describe_files(where, path, text=options)
    for column in described:
        if column.name in names and column.holds in (Holds.BYTES, Holds.OTHER):
            raise DataError(f"{where}: expected single values in column {column.name!r}, got {column.kind}. Leave it out.")


def _rows_of(piece: "Piece") -> Iterator[TextRow]:
    try:
        yield from _read(piece)
        return
    except DataError:
        raise
    except (OSError, LookupError, ValueError, EOFError) as error:  # gone, or not the file it was; also what Arrow raises
        kind = type(error).__name__
    raise DataError(f"{piece.where}: the file {piece.place.name!r} cannot be read ({kind}). Check that it is whole.")


def _read(piece: "Piece") -> Iterator[TextRow]:
    if piece.format.kind in ("csv", "tsv"):
        return _csv_rows(piece)
    if piece.format.kind == "json":
        return _json_rows(piece)
    return (row for table in _tables(piece) for row in zip(*map(_texts, table.columns), strict=True))


def _tables(piece: "Piece") -> Iterator["pa.Table"]:
    """Yield the columns of a Parquet or Arrow file, some rows at a time."""
    import pyarrow as pa
    import pyarrow.parquet

    names = list(piece.names)
    with piece.place.open_arrow() as stream:
        if piece.format.kind == "parquet":
            with pyarrow.parquet.ParquetFile(stream, pre_buffer=False) as source:
                for batch in source.iter_batches(batch_size=BATCH_ROWS, columns=names):
                    yield pa.Table.from_batches([batch]).select(names)
            return
        is_file = stream.read(6) == b"ARROW1"
        stream.seek(0)
        reader = pa.ipc.open_file(stream) if is_file else pa.ipc.open_stream(stream)
        batches = (reader.get_batch(index) for index in range(reader.num_record_batches)) if is_file else iter(reader)
        for batch in batches:
            yield pa.Table.from_batches([batch]).select(names)


def _texts(column: "pa.ChunkedArray") -> list[str]:
    """Return a column as text: numbers as Arrow writes them, times by ISO 8601."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not any(name in str(column.type) for name in ("string", "binary")):
        column = pc.cast(column, pa.string(), safe=False)
    # As bytes, because Arrow does not check that text is text.
    entries = pc.cast(column, pa.large_binary()).to_pylist()
    return ["" if entry is None else entry.decode("utf-8", "replace") for entry in entries]


def _csv_rows(piece: "Piece") -> Iterator[TextRow]:
    from cloister.data._csv import csv_entries

    encoding = piece.dialect.encoding
    for entries in csv_entries(piece.where, _text_file(piece), piece.names, piece.declared):
        yield tuple("" if entry is None else entry.decode(encoding, "replace") for entry in entries)


def _json_rows(piece: "Piece") -> Iterator[TextRow]:
    from cloister.data._json_lines import JSON_LINES
    from cloister.data._records import read_records

    for records in read_records(_text_file(piece), JSON_LINES, 0):
        for line in records.split():
            found = _object(line.decode(piece.dialect.encoding, "replace").removeprefix("\ufeff"))
            yield tuple(_value(found.get(name)) for name in piece.names)


def _object(line: str) -> dict[str, Any]:
    try:
        found = json.loads(line, parse_int=str, parse_float=str)  # as they are written
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _value(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _text_file(piece: "Piece") -> Any:
    from cloister.data._places import TextFile

    return TextFile(place=piece.place, dialect=piece.dialect, compression=piece.format.compression)
