# SPDX-License-Identifier: Apache-2.0
"""Arrow tables as matrices: the one place where columns of any numeric type become doubles, here and on workers alike."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cloister.data._backend import Block
from cloister.data._columns import Column, find_columns
from cloister.exceptions import DataError

__all__ = ["columns_of", "is_number", "table_of", "to_matrix"]


def columns_of(schema: pa.Schema) -> list[Column]:
    """Return what an Arrow schema says of its columns."""
    return [Column(field.name, str(field.type), is_number(field.type)) for field in schema]


def is_number(kind: pa.DataType) -> bool:
    """Whether a column of this type holds numbers."""
    # A column of nothing but nulls has no type of its own; whether it has is no reason to tell tables apart.
    kinds = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal, pa.types.is_null)
    return any(is_kind(kind) for is_kind in kinds)


def to_matrix(table: pa.Table) -> Block:
    """Return columns of numbers as a matrix; a null is a missing value."""
    block = np.empty((table.num_rows, table.num_columns))
    for index, column in enumerate(table.columns):
        block[:, index] = pc.cast(column, pa.float64(), safe=False).to_numpy()
    return block


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
    find_columns(where, names, names if columns is None else columns)
    chosen = range(len(names)) if columns is None else [names.index(str(name)) for name in columns]
    return pa.Table.from_pandas(data.iloc[:, list(chosen)], preserve_index=False)
