# SPDX-License-Identifier: Apache-2.0
"""Files of rows: which ones a path means, whether they belong together, and pieces of them that can be read anywhere.

A path is a file, a folder of one kind of files, or a pattern (``*``, ``?``, ``[...]``, ``**``); so is an address in a store.
Opening reads the schema of every file and no row: of a CSV file the first line, of a JSON-lines file nothing. A piece is plain
data: any process that sees the same files can read it.
"""

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet

from cloister.data._backend import Block, block_rows, explained
from cloister.data._columns import Choice, Chosen, Column, IdColumn, Schema, choose_columns
from cloister.data._csv import CsvReader, csv_names
from cloister.data._formats import Dialect, common_kind, dialect_of
from cloister.data._json_lines import JsonReader
from cloister.data._places import Place, TextFile, find_places
from cloister.data._records import CHUNK_BYTES, WHOLE
from cloister.data._table import columns_of, take_rows, text_rows, to_matrix
from cloister.data._values import DOUBLE
from cloister.exceptions import DataError
from cloister.privacy import CoinStream

Item = TypeVar("Item")

READ_BUFFER = 1 << 20  # bytes of a Parquet column in memory: a row group can be as large as the file
PIECE_BYTES = 1 << 26  # of doubles, or of text: what a worker reads at a time
SHRUNK = 4  # about how much smaller compressed text is
UNREADABLE = (OSError, LookupError, ValueError, EOFError, pa.ArrowException)
END: Any = object()
ARROW_MARK = b"ARROW1"  # begins a file of Arrow, and not a stream that was written to one


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A part of a file: row groups of Parquet, batches of Arrow, or the records of text in a range of bytes."""

    where: str
    place: Place
    chosen: Choice
    dialect: Dialect
    start: int
    stop: int
    size: int  # bytes: of doubles, or of text

    @property
    def width(self) -> int:
        """Columns of a block, those included that say whose row it is."""
        return self.chosen.schema.width

    @property
    def is_text(self) -> bool:
        """Whether it is one of text: then its size says little of how many numbers it has."""
        return self.place.format.is_text

    @property
    def n_blocks(self) -> int:
        """About how many blocks it has."""
        per_block = CHUNK_BYTES if self.is_text else DOUBLE * self.width * block_rows(self.width)
        return -(-self.size // per_block)

    def blocks(self, tosses: CoinStream | None = None) -> Generator[Block, None, None]:
        """Yield blocks of raw rows, in order. With `tosses`, the others than those whose coins show heads are not decoded."""
        return self._guarded(self._read(tosses))

    def texts(self) -> Iterator[tuple[str, ...]]:
        """Yield the entries of all rows as they are written, in the order of the blocks; a missing one is blank."""
        return self._guarded(self._read_texts())

    def cuts(self) -> list[int]:
        """Return places in a text between two records."""
        return _explained(self.where, self.place, lambda: self._reader().cuts(self.stop, PIECE_BYTES))

    def _guarded(self, read: Iterator[Item]) -> Generator[Item, None, None]:
        while (item := _explained(self.where, self.place, lambda: next(read, END))) is not END:
            yield item

    def _read(self, tosses: CoinStream | None) -> Iterator[Block]:
        if self.is_text:
            yield from self._reader().blocks(self.start, self.stop, tosses)
        else:
            for table in self._tables():
                rows = table if tosses is None else take_rows(table, tosses.take(table.num_rows))
                yield to_matrix(rows, self.chosen.declared)

    def _read_texts(self) -> Iterator[tuple[str, ...]]:
        if self.is_text:
            yield from self._reader().texts()
        else:
            for table in self._tables():
                yield from text_rows(table)

    def _reader(self) -> CsvReader | JsonReader:
        reader = JsonReader if self.place.format.kind == "json" else CsvReader
        return reader(self.where, TextFile(self.place, self.dialect), self.chosen.names, self.chosen.declared)

    def _tables(self) -> Iterator[pa.Table]:
        return self._parquet_tables() if self.place.format.kind == "parquet" else self._arrow_tables()

    def _parquet_tables(self) -> Iterator[pa.Table]:
        names = list(self.chosen.names)
        with (
            self.place.open_arrow() as stream,
            pyarrow.parquet.ParquetFile(stream, buffer_size=READ_BUFFER, pre_buffer=False) as source,
        ):
            for batch in source.iter_batches(
                batch_size=block_rows(self.width), row_groups=list(range(self.start, self.stop)), columns=names
            ):
                yield pa.Table.from_batches([batch]).select(names)

    def _arrow_tables(self) -> Iterator[pa.Table]:
        names, size = list(self.chosen.names), block_rows(self.width)
        with self.place.open_arrow() as stream:
            reader = _arrow_reader(stream, names)
            batches = reader if self.stop == WHOLE else map(reader.get_batch, range(self.start, self.stop))
            for batch in batches:
                table = pa.Table.from_batches([batch]).select(names)
                table.validate()
                for start in range(0, table.num_rows, size):
                    yield table.slice(start, size)


@dataclass(frozen=True)
class FileSet:
    """Files of one kind with the same columns."""

    whole: tuple[Piece, ...]  # one per file
    schema: Schema

    @property
    def size(self) -> int | None:
        """Bytes of all doubles, if that can be said without reading them."""
        exact = all(piece.place.format.kind == "parquet" for piece in self.whole)
        return sum(piece.size for piece in self.whole) if exact else None

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """Pieces of about 64 megabytes, for workers that see the same files."""
        absolute = (replace(piece, place=piece.place.absolute()) for piece in self.whole)  # a worker stands elsewhere
        return tuple(part for piece in absolute for part in _cut(piece))


def find_files(where: str, path: str, columns: Chosen, *, ids: IdColumn | None = None, text: Dialect | None = None) -> FileSet:
    """Find the files a path means and check that all of them have the columns."""
    kind, places, dialect = _list_files(where, path, text)
    whole = list[Piece]()
    for place in places:
        described = _describe(where, place, dialect, _with_ids(columns, ids))
        known = _with_ids(columns or [], ids) or []
        # A file surely names its columns, unless it is CSV: the first line may be somebody's row.
        quote = kind not in ("csv", "tsv") or any(column.name in known for column in described.columns)
        owner = where if not whole else f"{where} ({place.name})"
        found = choose_columns(owner, described.columns, columns, ids=ids, quote=quote)
        if columns is None:  # the first file says what all of them have
            columns = found.schema.names
        size = described.n_bytes + described.n_rows * found.schema.width * DOUBLE
        whole.append(Piece(where=where, place=place, chosen=found, dialect=dialect, start=0, stop=described.stop, size=size))
    schemas = [piece.chosen.schema for piece in whole]
    nullable = tuple(map(any, zip(*(schema.nullable or () for schema in schemas), strict=True)))  # in any of the files
    return FileSet(tuple(whole), replace(schemas[0], nullable=nullable))


def describe_files(where: str, path: str, *, text: Dialect | None = None) -> list[Column]:
    """Return what the first of the files says of its columns: names and types, which are public."""
    kind, places, dialect = _list_files(where, path, text)
    if kind == "json":
        raise DataError(
            f"{where}: expected a file that says what its columns are, got {places[0].name!r}: JSON lines declare none, and "
            'keys of rows are not public. Write the schema by hand, as in {"age": [0, 120], "sex": {"levels": ["f", "m"]}}, '
            "for --bounds."
        )
    return _describe(where, places[0], dialect, None).columns


def _list_files(where: str, path: str, text: Dialect | None) -> tuple[str, list[Place], Dialect]:
    found = find_places(where, path)
    kind = common_kind(where, [place.name for place in found.places], found.what)
    return kind, list(found.places), dialect_of(where, kind, text or Dialect())


def _with_ids(columns: Chosen, ids: IdColumn | None) -> list[str] | None:
    """Return the names of all columns that were named; None where all of the table's are."""
    return None if columns is None else [*map(str, columns), *([] if ids is None else [ids.name])]


# -- what files say of themselves ------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Description:
    columns: list[Column]
    stop: int  # row groups, batches, or bytes of text
    n_rows: int = 0  # where the file says so
    n_bytes: int = 0  # of text


def _describe(where: str, place: Place, dialect: Dialect, columns: list[str] | None) -> _Description:
    if place.format.is_text:
        return _explained(where, place, partial(_describe_text, where, place, dialect, columns))
    return _explained(where, place, partial(_describe_parquet if place.format.kind == "parquet" else _describe_arrow, place))


def _describe_text(where: str, place: Place, dialect: Dialect, columns: list[str] | None) -> _Description:
    """Describe text. It might hold anything, as Python objects do: what it is read as is declared."""
    if place.format.kind != "json":
        names = csv_names(where, TextFile(place, dialect), columns)
    elif columns is not None:
        names = columns
    else:
        raise DataError(
            f"{where}: expected the names of the columns of {place.name!r}, got none: JSON lines have no line of names, and "
            "keys of rows are not public. Pass columns=[...] (--columns), or bounds by name."
        )
    size = place.size()
    stop, n_bytes = (size, size) if place.format.compression is None else (WHOLE, size * SHRUNK)
    return _Description(columns=[Column(name, "text") for name in names], stop=stop, n_bytes=n_bytes)


def _describe_parquet(place: Place) -> _Description:
    with place.open_arrow() as stream:
        metadata = pyarrow.parquet.read_metadata(stream)
    columns = columns_of(metadata.schema.to_arrow_schema())
    return _Description(columns=columns, stop=metadata.num_row_groups, n_rows=metadata.num_rows)


def _describe_arrow(place: Place) -> _Description:
    with place.open_arrow() as stream:
        reader = _arrow_reader(stream, None)
        columns = columns_of(reader.schema)
        stop = WHOLE if isinstance(reader, pa.ipc.RecordBatchStreamReader) else reader.num_record_batches
        n_rows = stream.size() // (DOUBLE * max(len(columns), 1))
    return _Description(columns=columns, stop=stop, n_rows=n_rows)


def _arrow_reader(stream: pa.NativeFile, names: list[str] | None) -> pa.RecordBatchFileReader | pa.RecordBatchStreamReader:
    """Return a reader of the named columns: of a file, or of a stream that was written to one."""
    is_file = stream.read(len(ARROW_MARK)) == ARROW_MARK
    stream.seek(0)
    if not is_file:
        return pa.ipc.open_stream(stream)
    if names is None:
        return pa.ipc.open_file(stream)
    wanted = sorted(pa.ipc.open_file(stream).schema.get_field_index(name) for name in names)
    return pa.ipc.open_file(stream, options=pa.ipc.IpcReadOptions(included_fields=wanted))


# -- pieces ----------------------------------------------------------------------------------------------------------------


def _cut(piece: Piece) -> Iterator[Piece]:
    if piece.stop in (0, WHOLE):  # without rows, or can only be read from its beginning
        yield piece
    elif piece.is_text:
        cuts = piece.cuts() if piece.size > PIECE_BYTES else []
        for start, stop in pairwise([piece.start, *cuts, piece.stop]):
            yield replace(piece, start=start, stop=stop, size=stop - start)
    else:  # runs of row groups or batches that together reach the size of a piece
        start = size = 0
        lengths = _explained(piece.where, piece.place, partial(_group_lengths, piece))
        for group, n_rows in enumerate(lengths):
            size += n_rows * piece.width * DOUBLE
            if size >= PIECE_BYTES or group + 1 == len(lengths):
                yield replace(piece, start=start, stop=group + 1, size=size)
                start, size = group + 1, 0


def _group_lengths(piece: Piece) -> list[int]:
    """Return the rows of each row group; those of a batch of Arrow are guessed: they are not written down."""
    if piece.place.format.kind == "arrow":
        n_rows = piece.size // (piece.width * DOUBLE)
        return [-(-n_rows // max(piece.stop, 1))] * piece.stop
    with piece.place.open_arrow() as stream:
        metadata = pyarrow.parquet.read_metadata(stream)
        return [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]


# -- errors ----------------------------------------------------------------------------------------------------------------


def _explained(where: str, place: Place, work: Callable[[], Item]) -> Item:
    """Return what the work makes of a file. Where it is gone, or not the file it was, the error names it and nothing in it."""

    def explain(error: Exception) -> str:
        if isinstance(error, MemoryError):  # that of Arrow is one of its own errors, too
            raise error
        remedy = (
            "Check that it is whole and may be read." if place.address is None else "Check the network and the credentials."
        )
        return f"{where}: the file {place.name!r} cannot be read ({type(error).__name__}). {remedy}"

    return explained(work, explain, UNREADABLE)
