# SPDX-License-Identifier: Apache-2.0
"""Arrow tables as matrices: each value is cast by itself, as the type of its column says, here and on workers alike.

Column names and types are public; values are not. A null, or what cannot be read as its column is declared, becomes a missing
value: a single row can neither raise an error nor change a branch.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cloister.columns import IntArray
from cloister.data._backend import Block, MemoryRows, beside, explained
from cloister.data._columns import NUMBERS, Chosen, Column, Declared, Holds, IdColumn, choose_columns
from cloister.data._decode import decode_arrow
from cloister.data._ids import UUID_TYPE
from cloister.data._values import without_views

TEXTS = ("string", "large_string", "string_view")
BYTES = ("binary", "large_binary", "binary_view")


def open_table(where: str, data: Any, columns: Chosen, ids: IdColumn | None, n_jobs: int) -> MemoryRows:
    """Open an Arrow table in memory."""
    whole = _table_of(where, data)
    chosen = choose_columns(where, columns_of(whole.schema, inferred=True), columns, ids=ids)
    table = whole.select(list(chosen.places))

    def some(which: slice | IntArray) -> Block:
        return to_matrix(table[which] if isinstance(which, slice) else take_rows(table, which), chosen.declared)

    return MemoryRows(whole.num_rows, chosen.schema, n_jobs, some)


def _table_of(where: str, data: Any) -> pa.Table:
    """Return an Arrow object as a table; an error quotes no value."""
    if isinstance(data, pa.Table):
        return data
    problem = "expected columns of numbers, got a table Arrow cannot read"
    return explained(
        lambda: pa.table(data), lambda error: f"{where}: {problem} ({type(error).__name__}). Pass numeric columns only."
    )


def columns_of(schema: pa.Schema, *, inferred: bool = False) -> list[Column]:
    """Return what an Arrow schema says of its columns; that of a table in memory may have been inferred from values."""
    never = (Holds.BOOL, Holds.INTEGER, Holds.FRACTION, Holds.TIME)  # missing, where a field says so; text may be blank
    columns = []
    for field in schema:
        kind, holds = field.type, holds_of(field.type)
        nullable = field.nullable or pa.types.is_floating(kind) or holds not in never  # a floating number may be NaN
        columns.append(Column(field.name, str(kind), holds, nullable, inferred, encoded=pa.types.is_dictionary(kind)))
    return columns


def holds_of(kind: pa.DataType) -> Holds:
    """Return what a column of this type can hold."""
    if pa.types.is_dictionary(kind):
        return holds_of(kind.value_type)
    if pa.types.is_null(kind):
        return Holds.ANYTHING
    if pa.types.is_boolean(kind):
        return Holds.BOOL
    if pa.types.is_integer(kind):
        return Holds.INTEGER
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return Holds.FRACTION
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return Holds.TIME
    if str(kind) in BYTES or pa.types.is_fixed_size_binary(kind) or getattr(kind, "extension_name", None) == UUID_TYPE:
        return Holds.BYTES
    return Holds.TEXT if str(kind) in TEXTS else Holds.OTHER


def is_number(kind: pa.DataType) -> bool:
    """Whether a column of this type holds numbers; one of nothing but nulls does, so that this depends on no row."""
    return holds_of(kind) in NUMBERS and not pa.types.is_dictionary(kind)


def cast_to_doubles(column: pa.ChunkedArray) -> npt.NDArray[np.float64]:
    """Return a column of numbers; a null is a missing value."""
    return np.asarray(pc.cast(column, pa.float64(), safe=False).to_numpy())


def take_rows(table: pa.Table, positions: IntArray) -> pa.Table:
    """Return the rows at ascending positions."""
    first, end = (int(positions[0]), int(positions[-1]) + 1) if len(positions) else (0, 0)
    near = table.slice(first, end - first)
    return pa.table([*map(without_views, near.columns)], names=table.column_names).take(pa.array(positions - first))


def text_rows(table: pa.Table) -> Iterator[tuple[str, ...]]:
    """Yield rows as text: numbers as Arrow writes them, times by ISO 8601; a missing value is blank."""
    return zip(*map(_texts, table.columns), strict=True)


def _texts(column: pa.ChunkedArray) -> list[str]:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if holds_of(column.type) is not Holds.TEXT:
        column = pc.cast(column, pa.string(), safe=False)
    # As bytes, because Arrow does not check that text is text.
    return [
        "" if entry is None else entry.decode("utf-8", "replace") for entry in pc.cast(column, pa.large_binary()).to_pylist()
    ]


def to_matrix(table: pa.Table, declared: Declared) -> Block:
    """Return columns as a matrix, each as it is declared. The last one may be of ids."""
    pairs = zip(table.columns, declared, strict=True)
    return beside(
        [cast_to_doubles(one) if kind.as_is and is_number(one.type) else decode_arrow(one, kind) for one, kind in pairs]
    )
