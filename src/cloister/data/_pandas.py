# SPDX-License-Identifier: Apache-2.0
"""Rows of a pandas frame: each column by its own type, a column of Python objects value by value.

The type of a column is declared, hence public, and may be refused. Nothing is inferred from values: what a value becomes
depends on the value and the type of its column alone. Imported by ``open_rows`` and by the workers of Dask.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cloister.data._backend import Block, MemoryRows
from cloister.data._columns import Column, choose_columns
from cloister.data._table import cast_to_doubles, is_number
from cloister.data._values import as_numbers

__all__ = ["FrameRows", "describe_column", "matrix_of_frame"]

Values: TypeAlias = npt.NDArray[Any] | pa.ChunkedArray


class FrameRows(MemoryRows):
    """Rows of a pandas frame in memory; its index is no column."""

    def __init__(self, where: str, frame: Any, *, columns: Sequence[str] | None, n_jobs: int) -> None:
        table = [describe_column(name, dtype) for name, dtype in zip(frame.columns, frame.dtypes, strict=True)]
        chosen = choose_columns(where, table, columns)
        super().__init__(len(frame), len(chosen), tuple(table[index].name for index in chosen), n_jobs)
        self._columns = [_values(frame.iloc[:, index]) for index in chosen]

    def block(self, start: int, stop: int) -> Block:
        """Return some of the rows as a matrix."""
        return _matrix([column[start:stop] for column in self._columns])


def describe_column(name: object, dtype: Any) -> Column:
    """Say whether a column of a pandas type holds numbers; one of Python objects might hold anything, hence also numbers."""
    if isinstance(dtype, np.dtype):
        return Column(str(name), str(dtype), dtype.kind in "fiubO")
    if hasattr(dtype, "pyarrow_dtype"):
        return Column(str(name), str(dtype), is_number(dtype.pyarrow_dtype))
    return Column(str(name), str(dtype), _is_nullable_number(dtype))


def matrix_of_frame(frame: Any) -> Block:
    """Return all columns of a part of a larger frame; one of another type than was declared is read value by value."""
    if not frame.shape[1]:
        return np.empty(frame.shape)
    return _matrix([_values(frame.iloc[:, index]) for index in range(frame.shape[1])])


def _values(series: Any) -> Values:
    """Return a column as NumPy or Arrow numbers."""
    dtype = series.dtype
    if not describe_column("", dtype).is_number:
        return as_numbers(series.to_numpy(dtype=object))
    if hasattr(dtype, "pyarrow_dtype"):
        return pa.chunked_array(series.array.__arrow_array__())
    if not isinstance(dtype, np.dtype):
        return np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan))
    return as_numbers(series.to_numpy())


def _is_nullable_number(dtype: Any) -> bool:
    return hasattr(dtype, "numpy_dtype") and getattr(dtype, "kind", "O") in "fiub"


def _matrix(columns: list[Values]) -> Block:
    block = np.empty((len(columns[0]), len(columns)))
    for index, column in enumerate(columns):
        block[:, index] = cast_to_doubles(column) if isinstance(column, pa.ChunkedArray) else column
    return block
