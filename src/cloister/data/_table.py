# SPDX-License-Identifier: Apache-2.0
"""Arrow tables as matrices: each value is cast by itself, as the type of its column says, here and on workers alike."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cloister.data._backend import Block
from cloister.data._columns import Column
from cloister.exceptions import DataError

__all__ = ["cast_to_doubles", "columns_of", "is_number", "table_of", "to_matrix"]


def columns_of(schema: pa.Schema) -> list[Column]:
    """Return what an Arrow schema says of its columns."""
    return [Column(field.name, str(field.type), is_number(field.type)) for field in schema]


def is_number(kind: pa.DataType) -> bool:
    """Whether a column of this type holds numbers."""
    # A column of nothing but nulls has no type of its own; it counts as numbers, so that this depends on no row.
    kinds = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal, pa.types.is_null)
    return any(is_kind(kind) for is_kind in kinds)


def cast_to_doubles(column: pa.ChunkedArray) -> npt.NDArray[np.float64]:
    """Return a column of numbers; a null is a missing value."""
    return np.asarray(pc.cast(column, pa.float64(), safe=False).to_numpy())


def to_matrix(table: pa.Table) -> Block:
    """Return columns of numbers as a matrix."""
    block = np.empty((table.num_rows, table.num_columns))
    for index, column in enumerate(table.columns):
        block[:, index] = cast_to_doubles(column)
    return block


def table_of(where: str, data: Any) -> pa.Table:
    """Return an Arrow object as a table; an error quotes no value."""
    try:
        if isinstance(data, pa.Table):
            return data
        if isinstance(data, pa.RecordBatch) or not hasattr(data, "__arrow_c_stream__"):
            return pa.Table.from_batches([pa.record_batch(data)])
        return pa.RecordBatchReader.from_stream(data).read_all()
    except Exception as error:  # of the producer of the stream
        kind = type(error).__name__
    raise DataError(f"{where}: expected columns of numbers, got a table Arrow cannot read ({kind}). Pass numeric columns only.")
