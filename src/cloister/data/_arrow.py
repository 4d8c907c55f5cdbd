# SPDX-License-Identifier: Apache-2.0
"""Rows in Arrow form: data frames, Arrow streams, and Parquet or CSV files read batch by batch.

Column names and types are public; values are not. A null, or text in a CSV column of numbers, becomes a missing value, which
the frame maps to the centre of the domain: a single row can neither raise an error nor change a branch. Whether a CSV column
holds numbers at all is judged by the majority of its first thousand entries.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from cloister.data._backend import Block, LocalRows, block_rows
from cloister.data._csv import csv_blocks, csv_schema
from cloister.exceptions import DataError

__all__ = ["FileRows", "TableRows", "table_of"]

SUFFIXES = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv"}
READ_BUFFER = 1 << 20  # bytes of a Parquet column in memory: a row group can be as large as the file


class TableRows(LocalRows):
    """Rows of an Arrow table in memory."""

    def __init__(self, where: str, table: pa.Table, *, columns: Sequence[str] | None, n_jobs: int) -> None:
        chosen = _choose(where, table.schema, columns)
        super().__init__(len(chosen), chosen, n_jobs)
        self._table = table.select(list(chosen))

    def blocks(self) -> Iterator[Block]:
        """Yield blocks of raw rows, in order."""
        per_job = -(-self._table.num_rows // self._n_jobs)
        size = max(1, min(block_rows(self._n_features), per_job))
        for start in range(0, self._table.num_rows, size):
            yield _to_numpy(self._table.slice(start, size))


class FileRows(LocalRows):
    """Rows of one file or of all files of one kind in a folder, read anew for every question."""

    def __init__(self, where: str, path: Path, *, columns: Sequence[str] | None, n_jobs: int) -> None:
        self._where = where
        self._kind, self._files = _list_files(where, path)
        schema = _schema(where, self._kind, self._files[0])
        chosen = _choose(where, schema, columns)
        super().__init__(len(chosen), chosen, n_jobs)
        for file in self._files[1:]:
            _choose(where, _schema(where, self._kind, file), chosen, file=file)

    def blocks(self) -> Iterator[Block]:
        """Yield blocks of raw rows, in order."""
        size = block_rows(self._n_features)
        names = list(self._feature_names or ())
        for file in self._files:
            try:
                if self._kind == "csv":
                    yield from csv_blocks(self._where, file, names)
                    continue
                with pyarrow.parquet.ParquetFile(file, buffer_size=READ_BUFFER, pre_buffer=False) as source:
                    for batch in source.iter_batches(batch_size=size, columns=names):
                        yield _to_numpy(pa.Table.from_batches([batch]).select(names))
            except (OSError, pa.ArrowException) as error:
                raise _unreadable(self._where, file, error) from None


def table_of(where: str, data: Any, columns: Sequence[str] | None = None) -> pa.Table:
    """Return a data frame or an Arrow stream as a table, without quoting a value where it cannot be done."""
    try:
        if isinstance(data, pa.Table):
            return data
        if isinstance(data, pa.RecordBatch) or not hasattr(data, "__arrow_c_stream__"):
            return pa.Table.from_batches([pa.record_batch(data)])
        if hasattr(data, "iloc") and hasattr(data, "columns"):
            return _table_of_pandas(where, data, columns)
        return pa.RecordBatchReader.from_stream(data).read_all()
    except DataError:
        raise
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        kind = type(error).__name__
        raise DataError(
            f"{where}: expected columns of numbers, got a table Arrow cannot read ({kind}). Pass numeric columns only, "
            "or convert mixed columns first."
        ) from None


def _table_of_pandas(where: str, data: Any, columns: Sequence[str] | None) -> pa.Table:
    """Return the named columns of a pandas frame; its own stream would add the index as a column."""
    names = [str(name) for name in data.columns]
    _find(where, names, names if columns is None else columns)
    chosen = range(len(names)) if columns is None else [names.index(str(name)) for name in columns]
    return pa.Table.from_pandas(data.iloc[:, list(chosen)], preserve_index=False)


def _choose(where: str, schema: pa.Schema, columns: Sequence[str] | None, *, file: Path | None = None) -> tuple[str, ...]:
    """Check that the columns exist, once each, and hold numbers; return their names."""
    place = where if file is None else f"{where} ({file.name})"
    wanted = _find(place, schema.names, schema.names if columns is None else columns)
    for name in wanted:
        kind = schema.field(name).type
        if not _is_number(kind):
            raise DataError(
                f"{place}: expected numbers in column {name!r}, got {kind}. Name the numeric columns with columns=[...]; "
                "argument must be numeric."
            )
    return wanted


def _find(place: str, names: Sequence[str], columns: Sequence[str]) -> tuple[str, ...]:
    """Check that the columns exist, once each; return their names."""
    wanted = tuple(str(name) for name in columns)
    if not wanted:
        raise DataError(f"{place}: 0 feature(s) found while a minimum of 1 is required. Pass a table with columns.")
    for name in wanted:
        times = names.count(name)
        if times != 1:
            problem = f"occurs {times} times" if times else "is not in the table"
            raise DataError(f"{place}: column {name!r} {problem}. The columns are: {', '.join(names[:50])}.")
    if len(set(wanted)) != len(wanted):
        raise DataError(f"{place}: expected every column once, got one twice. Check columns=[...].")
    return wanted


def _is_number(kind: pa.DataType) -> bool:
    # A column of nothing but nulls has no type of its own; whether it has is no reason to tell tables apart.
    kinds = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal, pa.types.is_null)
    return any(is_kind(kind) for is_kind in kinds)


def _to_numpy(table: pa.Table) -> Block:
    block = np.empty((table.num_rows, table.num_columns))
    for index, column in enumerate(table.columns):
        block[:, index] = pc.cast(column, pa.float64(), safe=False).to_numpy()
    return block


def _list_files(where: str, path: Path) -> tuple[str, list[Path]]:
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.suffix.lower() in SUFFIXES and not _hidden(file, path))
        kinds = {SUFFIXES[file.suffix.lower()] for file in files}
        if len(kinds) != 1:
            found = " and ".join(sorted(kinds)) or "neither"
            raise DataError(f"{where}: expected a folder of Parquet or of CSV files, got {found}. Pass a folder of one kind.")
        return kinds.pop(), files
    if not path.is_file():
        raise DataError(f"{where}: there is no file or folder {path.name!r}. Check the path.")
    if path.suffix.lower() not in SUFFIXES:
        raise DataError(f"{where}: expected a .parquet or .csv file, got {path.name!r}. Convert it, or rename it.")
    return SUFFIXES[path.suffix.lower()], [path]


def _hidden(file: Path, root: Path) -> bool:
    return any(part.startswith((".", "_")) for part in file.relative_to(root).parts)


def _schema(where: str, kind: str, file: Path) -> pa.Schema:
    try:
        return pyarrow.parquet.read_schema(file) if kind == "parquet" else csv_schema(where, file)
    except (OSError, pa.ArrowException) as error:
        raise _unreadable(where, file, error) from None


def _unreadable(where: str, file: Path, error: Exception) -> DataError:
    return DataError(
        f"{where}: the file {file.name!r} cannot be read ({type(error).__name__}). Check that it is whole and may be read."
    )
