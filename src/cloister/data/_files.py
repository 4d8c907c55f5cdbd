# SPDX-License-Identifier: Apache-2.0
"""Files of rows: which ones a path means, whether they belong together, and pieces of them that can be read anywhere.

A path is a file, a folder of one kind of files, or a pattern (``*``, ``?``, ``[...]``, ``**``). Opening reads the schema of
every file and no row of a Parquet file. A piece is plain data: any process that sees the same files can read it.
"""

import glob
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from cloister.data._backend import Block, block_rows
from cloister.data._columns import choose_columns
from cloister.data._csv import CHUNK_BYTES, csv_blocks, csv_schema
from cloister.data._table import columns_of, to_matrix
from cloister.exceptions import DataError

__all__ = ["FileSet", "Piece", "find_files"]

SUFFIXES = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv"}
READ_BUFFER = 1 << 20  # bytes of a Parquet column in memory: a row group can be as large as the file
PIECE_BYTES = 1 << 26  # of doubles, or of CSV text: what a worker reads at a time
DOUBLE = 8


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A part of a file: some row groups of a Parquet file, or the lines that begin in a range of bytes of a CSV file."""

    where: str
    file: Path
    kind: str
    names: tuple[str, ...]
    start: int
    stop: int
    size: int  # bytes: of doubles, or of text

    @property
    def n_blocks(self) -> int:
        """About how many blocks it has."""
        per_block = CHUNK_BYTES if self.kind == "csv" else DOUBLE * len(self.names) * block_rows(len(self.names))
        return -(-self.size // per_block)

    def blocks(self) -> Iterator[Block]:
        """Yield blocks of raw rows, in order."""
        try:
            if self.kind == "csv":
                yield from csv_blocks(self.where, self.file, list(self.names), start=self.start, stop=self.stop)
            else:
                yield from self._parquet_blocks()
            return
        except DataError:
            raise
        except (OSError, LookupError, ValueError, pa.ArrowException) as error:  # gone, or another file than was opened
            kind = type(error).__name__
        raise _unreadable(self.where, self.file, kind)

    def _parquet_blocks(self) -> Iterator[Block]:
        names = list(self.names)
        with pyarrow.parquet.ParquetFile(self.file, buffer_size=READ_BUFFER, pre_buffer=False) as source:
            for batch in source.iter_batches(
                batch_size=block_rows(len(names)), row_groups=list(range(self.start, self.stop)), columns=names
            ):
                yield to_matrix(pa.Table.from_batches([batch]).select(names))


@dataclass(frozen=True)
class FileSet:
    """Files of one kind with the same columns."""

    names: tuple[str, ...]
    whole: tuple[Piece, ...]  # one per file

    def pieces(self) -> Iterator[Piece]:
        """Yield pieces of about 64 megabytes, for workers that see the same files."""
        for piece in self.whole:
            yield from _cut_csv(piece) if piece.kind == "csv" else _cut_parquet(piece)


def find_files(where: str, path: Path, columns: Sequence[str] | None) -> FileSet:
    """Find the files a path means and check that all of them have the columns."""
    kind, files = _list_files(where, path)
    first = _describe(where, kind, files[0], declared=columns is not None)
    chosen = choose_columns(where, columns_of(first.schema), columns, quote=_are_names(kind, first.schema, columns))
    names = tuple(first.schema.names[index] for index in chosen)
    whole = [_whole(where, kind, files[0], names, first)]
    for file in files[1:]:
        described = _describe(where, kind, file, declared=True)
        quote = _are_names(kind, described.schema, names)
        choose_columns(f"{where} ({file.name})", columns_of(described.schema), names, quote=quote)
        whole.append(_whole(where, kind, file, names, described))
    return FileSet(names, tuple(whole))


def _are_names(kind: str, schema: pa.Schema, columns: Sequence[str] | None) -> bool:
    """Whether the file surely names its columns: the first line of a CSV file may be somebody's row."""
    return kind != "csv" or (columns is not None and any(str(name) in schema.names for name in columns))


@dataclass(frozen=True)
class _Description:
    schema: pa.Schema
    n_groups: int  # row groups; 0 for text
    size: int  # rows, or bytes of text


def _describe(where: str, kind: str, file: Path, *, declared: bool) -> _Description:
    try:
        if kind == "csv":
            return _Description(csv_schema(where, file, declared=declared), 0, file.stat().st_size)
        metadata = pyarrow.parquet.read_metadata(file)
        schema = metadata.schema.to_arrow_schema()
        columns_of(schema)  # a damaged file may name a column in bytes that are no text
        return _Description(schema, metadata.num_row_groups, metadata.num_rows)
    except (OSError, UnicodeError, pa.ArrowException) as error:
        problem = type(error).__name__
    raise _unreadable(where, file, problem)


def _whole(where: str, kind: str, file: Path, names: tuple[str, ...], described: _Description) -> Piece:
    if kind == "csv":
        return Piece(where=where, file=file, kind=kind, names=names, start=0, stop=described.size, size=described.size)
    size = described.size * len(names) * DOUBLE
    return Piece(where=where, file=file, kind=kind, names=names, start=0, stop=described.n_groups, size=size)


def _cut_csv(piece: Piece) -> Iterator[Piece]:
    for start in range(piece.start, max(piece.stop, 1), PIECE_BYTES):
        yield _part(piece, start, min(start + PIECE_BYTES, piece.stop), min(PIECE_BYTES, piece.stop - start))


def _cut_parquet(piece: Piece) -> Iterator[Piece]:
    """Yield runs of row groups that together reach the size of a piece."""
    start = size = 0
    lengths = _group_lengths(piece)
    for group, n_rows in enumerate(lengths):
        size += n_rows * len(piece.names) * DOUBLE
        if size >= PIECE_BYTES or group + 1 == len(lengths):
            yield _part(piece, start, group + 1, size)
            start, size = group + 1, 0


def _group_lengths(piece: Piece) -> list[int]:
    try:
        metadata = pyarrow.parquet.read_metadata(piece.file)
        return [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
    except (OSError, pa.ArrowException) as error:
        problem = type(error).__name__
    raise _unreadable(piece.where, piece.file, problem)


def _part(piece: Piece, start: int, stop: int, size: int) -> Piece:
    place = piece.file.absolute()  # a worker stands elsewhere
    return Piece(where=piece.where, file=place, kind=piece.kind, names=piece.names, start=start, stop=stop, size=size)


def _list_files(where: str, path: Path) -> tuple[str, list[Path]]:
    if path.is_dir():
        return _one_kind(where, sorted(_inside(path)), "a folder")
    if path.is_file():
        if path.suffix.lower() not in SUFFIXES:
            raise DataError(f"{where}: expected a .parquet or .csv file, got {path.name!r}. Convert it, or rename it.")
        return SUFFIXES[path.suffix.lower()], [path]
    if not glob.has_magic(str(path)):
        raise DataError(f"{where}: there is no file or folder {path.name!r}. Check the path.")
    found = [Path(match) for match in glob.glob(str(path), recursive=True)]
    files = {file for match in found for file in (_inside(match) if match.is_dir() else _readable([match]))}
    if not files:
        raise DataError(f"{where}: no .parquet or .csv file matches {path.name!r}. Check the pattern.")
    return _one_kind(where, sorted(files), "a pattern")


def _one_kind(where: str, files: list[Path], what: str) -> tuple[str, list[Path]]:
    kinds = {SUFFIXES[file.suffix.lower()] for file in files}
    if len(kinds) != 1:
        found = " and ".join(sorted(kinds)) or "neither"
        raise DataError(f"{where}: expected {what} of Parquet or of CSV files, got {found}. Pass {what} of one kind.")
    return kinds.pop(), files


def _inside(folder: Path) -> Iterator[Path]:
    return (file for file in _readable(folder.rglob("*")) if not _hidden(file, folder))


def _readable(files: "Iterator[Path] | list[Path]") -> Iterator[Path]:
    return (file for file in files if file.suffix.lower() in SUFFIXES and file.is_file())


def _hidden(file: Path, root: Path) -> bool:
    return any(part.startswith((".", "_")) for part in file.relative_to(root).parts)


def _unreadable(where: str, file: Path, kind: str) -> DataError:
    return DataError(f"{where}: the file {file.name!r} cannot be read ({kind}). Check that it is whole and may be read.")
