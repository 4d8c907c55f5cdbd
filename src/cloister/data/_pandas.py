# SPDX-License-Identifier: Apache-2.0
"""Rows of a pandas frame: each column by its own type, a column of Python objects value by value.

The type of a column is declared, hence public, and may be refused. Nothing is inferred from values: what a value becomes
depends on the value and the type of its column alone. Imported by ``open_rows`` and by the workers of Dask.
"""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cloister.columns import Declaration, Identifier, IntArray
from cloister.data._backend import Block, MemoryRows, beside
from cloister.data._columns import Chosen, Column, Declared, Holds, IdColumn, choose_columns
from cloister.data._decode import decode_array, decode_arrow, decode_moments, decode_objects, spread_doubles
from cloister.data._ids import hash_array, hash_arrow, hash_objects, masked, spread_ids
from cloister.data._table import cast_to_doubles, holds_of, is_number
from cloister.data._values import as_numbers

Values: TypeAlias = npt.NDArray[Any] | pa.ChunkedArray

HOLDS = {  # by the kind of a type of NumPy
    "b": Holds.BOOL,
    "i": Holds.INTEGER,
    "u": Holds.INTEGER,
    "f": Holds.FRACTION,
    "M": Holds.TIME,
    "O": Holds.ANYTHING,
}


class FrameRows(MemoryRows):
    """Rows of a pandas frame in memory; its index is no column."""

    def __init__(self, where: str, frame: Any, *, columns: Chosen, n_jobs: int, ids: IdColumn | None = None) -> None:
        table = [describe_column(name, dtype) for name, dtype in zip(frame.columns, frame.dtypes, strict=True)]
        chosen = choose_columns(where, table, columns, ids=ids)
        super().__init__(len(frame), chosen.schema, n_jobs)
        declared = chosen.declared or [None] * len(chosen.places)
        self._columns = [_values(frame.iloc[:, index], one) for index, one in zip(chosen.places, declared, strict=True)]

    def some(self, which: slice | IntArray) -> Block:
        return beside([_some(column, which) for column in self._columns])


def describe_column(name: object, dtype: Any) -> Column:
    """Say what a column of a pandas type holds; one of Python objects might hold anything, hence also numbers."""
    if isinstance(dtype, np.dtype):
        kind = dtype.kind
        return Column(str(name), str(dtype), kind in "fiubO", HOLDS.get(kind, Holds.OTHER), inferred=True)
    if hasattr(dtype, "pyarrow_dtype"):
        kind = dtype.pyarrow_dtype
        return Column(str(name), str(dtype), is_number(kind), holds_of(kind), inferred=True)
    if _is_nullable_number(dtype):
        return Column(str(name), str(dtype), is_number=True, holds=HOLDS[dtype.kind], inferred=True)
    # Of a categorical, the categories may come from rows: they decide nothing.
    kinds = {"storage": Holds.TEXT, "tz": Holds.TIME, "categories": Holds.ANYTHING}
    holds = next((found for mark, found in kinds.items() if hasattr(dtype, mark)), Holds.OTHER)
    return Column(str(name), str(dtype), is_number=False, holds=holds, inferred=True)


def matrix_of_frame(frame: Any, declared: Declared = None) -> Block:
    """Return all columns of a part of a larger frame; one of another type than was declared is read value by value."""
    if not frame.shape[1]:
        return np.empty(frame.shape)
    kinds = declared or [None] * frame.shape[1]
    return beside([_some(_values(frame.iloc[:, index], one), slice(None)) for index, one in enumerate(kinds)])


def hash_series(series: Any, ids: Identifier) -> npt.NDArray[np.float64]:
    """Return a column of ids as their hash: by its type where pandas has one for it, otherwise value by value."""
    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        return hash_array(series.to_numpy(), ids)
    if hasattr(dtype, "pyarrow_dtype") or getattr(dtype, "storage", None) == "pyarrow":
        return hash_arrow(pa.chunked_array(series.array.__arrow_array__()), ids)
    if hasattr(dtype, "categories"):
        codes, categories = series.cat.codes.to_numpy(), dtype.categories
        if len(categories) <= len(series):
            return spread_ids(hash_series(categories.to_series(), ids), codes, ids)
        return masked(hash_series(categories.take(codes).to_series(), ids), codes < 0, ids)  # a few rows of many
    if _is_nullable_number(dtype):
        return masked(hash_array(series.to_numpy(dtype=dtype.numpy_dtype, na_value=0), ids), series.isna().to_numpy(), ids)
    return hash_objects(series.to_numpy(dtype=object), ids)


def _values(series: Any, declared: Declaration | Identifier | None = None) -> Values:
    """Return a column as NumPy or Arrow numbers, or decoded as it is declared; ids as two columns."""
    if isinstance(declared, Identifier):
        return hash_series(series, declared)
    dtype = series.dtype
    holds_numbers = describe_column("", dtype).is_number
    if declared is not None and not (declared.as_is and holds_numbers):
        return _decode(series, declared)
    if not holds_numbers:
        return as_numbers(series.to_numpy(dtype=object))
    if hasattr(dtype, "pyarrow_dtype"):
        return pa.chunked_array(series.array.__arrow_array__())
    if not isinstance(dtype, np.dtype):
        return np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan))
    return as_numbers(series.to_numpy())


def _decode(series: Any, declared: Declaration) -> npt.NDArray[np.float64]:
    """Return a column as it is declared: by its type where pandas has one for it, otherwise value by value."""
    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        return decode_array(series.to_numpy(), declared)
    if hasattr(dtype, "pyarrow_dtype") or getattr(dtype, "storage", None) == "pyarrow":
        return decode_arrow(pa.chunked_array(series.array.__arrow_array__()), declared)
    if hasattr(dtype, "tz"):
        missing = series.isna().to_numpy()
        return decode_moments(np.asarray(series.array.view("i8")), dtype.unit, missing, declared)
    if hasattr(dtype, "categories"):
        return spread_doubles(_decode(dtype.categories.to_series(), declared), series.cat.codes.to_numpy())
    if _is_nullable_number(dtype):
        known = decode_array(series.to_numpy(dtype=dtype.numpy_dtype, na_value=0), declared)
        return np.where(series.isna().to_numpy(), np.nan, known)
    return decode_objects(series.to_numpy(dtype=object), declared)


def _is_nullable_number(dtype: Any) -> bool:
    return hasattr(dtype, "numpy_dtype") and getattr(dtype, "kind", "O") in "fiub"


def _some(column: Values, which: slice | IntArray) -> npt.NDArray[Any]:
    if isinstance(column, pa.ChunkedArray):
        return cast_to_doubles(column[which] if isinstance(which, slice) else column.take(which))
    return column[which]
