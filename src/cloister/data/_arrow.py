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
import pyarrow.csv
import pyarrow.parquet

from cloister.data._backend import Block, LocalRows, block_rows
from cloister.exceptions import DataError

__all__ = ["FileRows", "TableRows", "table_of"]

SUFFIXES = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv"}
JUDGED_ENTRIES = 1000


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
                if self._kind == "parquet":
                    for batch in pyarrow.parquet.ParquetFile(file).iter_batches(batch_size=size, columns=names):
                        yield _to_numpy(pa.Table.from_batches([batch]).select(names))
                else:
                    for batch in _open_csv(file, names):
                        for start in range(0, batch.num_rows, size):
                            yield _to_numpy(pa.Table.from_batches([batch.slice(start, size)]).select(names))
            except (OSError, pa.ArrowException) as error:
                raise _unreadable(self._where, file, error) from None


def table_of(where: str, data: Any) -> pa.Table:
    """Return a data frame or an Arrow stream as a table, without quoting a value where it cannot be done."""
    try:
        if isinstance(data, pa.Table):
            return data
        if isinstance(data, pa.RecordBatch):
            return pa.Table.from_batches([data])
        return pa.RecordBatchReader.from_stream(data).read_all()
    except (pa.ArrowException, TypeError, ValueError) as error:
        kind = type(error).__name__
        raise DataError(
            f"{where}: expected columns of numbers, got a table Arrow cannot read ({kind}). Pass numeric columns only, "
            "or convert mixed columns first."
        ) from None


def _choose(where: str, schema: pa.Schema, columns: Sequence[str] | None, *, file: Path | None = None) -> tuple[str, ...]:
    """Check that the columns exist, once each, and hold numbers; return their names."""
    place = where if file is None else f"{where} ({file.name})"
    wanted = list(schema.names) if columns is None else [str(name) for name in columns]
    if not wanted:
        raise DataError(f"{place}: 0 feature(s) found while a minimum of 1 is required. Pass a table with columns.")
    for name in wanted:
        found = schema.get_all_field_indices(name)
        if len(found) != 1:
            problem = "is not in the table" if not found else f"occurs {len(found)} times"
            raise DataError(f"{place}: column {name!r} {problem}. The columns are: {', '.join(schema.names[:50])}.")
        kind = schema.field(found[0]).type
        if not _is_number(kind):
            raise DataError(
                f"{place}: expected numbers in column {name!r}, got {kind}. Name the numeric columns with columns=[...]; "
                "argument must be numeric."
            )
    if len(set(wanted)) != len(wanted):
        raise DataError(f"{place}: expected every column once, got one twice. Check columns=[...].")
    return tuple(wanted)


def _is_number(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind))


def _to_numpy(table: pa.Table) -> Block:
    block = np.empty((table.num_rows, table.num_columns))
    for index, column in enumerate(table.columns):
        block[:, index] = _numbers(column)
    return block


def _numbers(column: pa.ChunkedArray) -> Any:
    if pa.types.is_string(column.type):
        try:
            column = pc.cast(pc.utf8_trim_whitespace(column), pa.float64())
        except pa.ArrowInvalid:
            return np.array([_lenient(text) for text in column.to_pylist()], dtype=np.float64)
    return pc.cast(column, pa.float64(), safe=False).to_numpy()


def _lenient(text: str | None) -> float:
    try:
        return float(text) if text is not None else float("nan")
    except ValueError:
        return float("nan")


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
        if kind == "parquet":
            return pyarrow.parquet.read_schema(file)
        with _open_csv(file, None) as reader:
            names = reader.schema.names
            first = next(iter(reader), None)
    except (OSError, pa.ArrowException) as error:
        raise _unreadable(where, file, error) from None
    texts = pa.Table.from_batches([] if first is None else [first], schema=reader.schema).slice(0, JUDGED_ENTRIES)
    kinds = [pa.float64() if _mostly_numbers(texts.column(index)) else pa.string() for index in range(len(names))]
    return pa.schema(list(zip(names, kinds, strict=True)))


def _mostly_numbers(column: pa.ChunkedArray) -> bool:
    entries = [text for text in column.to_pylist() if text]
    numbers = sum(not np.isnan(_lenient(text)) or text.strip().lower() == "nan" for text in entries)
    return bool(2 * numbers >= len(entries))


def _open_csv(file: Path, names: list[str] | None) -> pyarrow.csv.CSVStreamingReader:
    """Open a CSV file as text columns; lines with too many or too few fields are left out."""
    header = pyarrow.csv.open_csv(file).schema.names if names is None else names
    return pyarrow.csv.open_csv(
        file,
        read_options=pyarrow.csv.ReadOptions(block_size=1 << 22),
        parse_options=pyarrow.csv.ParseOptions(invalid_row_handler=lambda row: "skip"),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types={name: pa.string() for name in header},
            include_columns=names,
            strings_can_be_null=True,
        ),
    )


def _unreadable(where: str, file: Path, error: Exception) -> DataError:
    return DataError(
        f"{where}: the file {file.name!r} cannot be read ({type(error).__name__}). Check that it is whole and may be read."
    )
