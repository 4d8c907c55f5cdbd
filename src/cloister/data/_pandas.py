# SPDX-License-Identifier: Apache-2.0
"""Rows of a pandas frame: each column by its own type, a column of Python objects value by value.

The type of a column is declared, hence public, and may be refused. Nothing is inferred from values: what a value becomes
depends on the value and the type of its column alone. Imported by ``open_rows`` and by the workers of Dask.
"""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cloister.columns import IntArray
from cloister.data._backend import Block, MemoryRows, beside
from cloister.data._columns import NUMBERS, Chosen, Column, Declared, Holds, IdColumn, ReadAs, choose_columns
from cloister.data._decode import decode_array, decode_arrow, decode_moments, decode_objects, gap_of
from cloister.data._table import cast_to_doubles, holds_of
from cloister.data._values import as_numbers, spread

Values: TypeAlias = npt.NDArray[Any] | pa.ChunkedArray

HOLDS = {  # by the kind of a type of NumPy
    "b": Holds.BOOL,
    "i": Holds.INTEGER,
    "u": Holds.INTEGER,
    "f": Holds.FRACTION,
    "M": Holds.TIME,
    "O": Holds.ANYTHING,
}


def open_frame(where: str, frame: Any, columns: Chosen, ids: IdColumn | None, n_jobs: int) -> MemoryRows:
    """Open a pandas frame in memory; its index is no column."""
    table = [describe_column(name, dtype) for name, dtype in zip(frame.columns, frame.dtypes, strict=True)]
    chosen = choose_columns(where, table, columns, ids=ids)
    read = [_read(frame.iloc[:, index], one) for index, one in zip(chosen.places, chosen.declared, strict=True)]
    return MemoryRows(len(frame), chosen.schema, n_jobs, lambda which: beside([_some(column, which) for column in read]))


def describe_column(name: object, dtype: Any) -> Column:
    """Say what a column of a pandas type holds; one of Python objects might hold anything, hence also numbers."""
    encoded = False
    if isinstance(dtype, np.dtype) or _is_nullable_number(dtype):
        holds = HOLDS.get(dtype.kind, Holds.OTHER)
    elif hasattr(dtype, "pyarrow_dtype"):
        holds, encoded = holds_of(dtype.pyarrow_dtype), pa.types.is_dictionary(dtype.pyarrow_dtype)
    else:
        # Of a categorical, the categories may come from rows: they decide nothing.
        kinds = {"storage": Holds.TEXT, "tz": Holds.TIME, "categories": Holds.ANYTHING}
        holds = next((found for mark, found in kinds.items() if hasattr(dtype, mark)), Holds.OTHER)
        encoded = hasattr(dtype, "categories")
    return Column(str(name), str(dtype), holds, inferred=True, encoded=encoded)


def matrix_of_frame(frame: Any, declared: Declared) -> Block:
    """Return all columns of a part of a larger frame; one of another type than was declared is read value by value."""
    return beside([_some(_read(frame.iloc[:, index], one), slice(None)) for index, one in enumerate(declared)])


def _read(series: Any, declared: ReadAs) -> Values:
    """Return a column as NumPy or Arrow numbers, or decoded as it is declared."""
    dtype, described = series.dtype, describe_column("", series.dtype)
    if not (declared.as_is and described.holds in NUMBERS and not described.encoded):
        return decode_series(series, declared)
    if hasattr(dtype, "pyarrow_dtype"):
        return pa.chunked_array(series.array.__arrow_array__())
    if not isinstance(dtype, np.dtype):
        return np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan))
    return as_numbers(series.to_numpy())


def decode_series(series: Any, declared: ReadAs) -> npt.NDArray[np.float64]:
    """Return a column as it is declared: by its type where pandas has one for it, otherwise value by value."""
    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        return decode_array(series.to_numpy(), declared)
    if hasattr(dtype, "pyarrow_dtype") or getattr(dtype, "storage", None) == "pyarrow":
        return decode_arrow(pa.chunked_array(series.array.__arrow_array__()), declared)
    missing = series.isna().to_numpy()
    if hasattr(dtype, "tz"):
        return decode_moments(np.asarray(series.array.view("i8")), dtype.unit, missing, declared)
    if hasattr(dtype, "categories"):
        places, entries = series.cat.codes.to_numpy(), dtype.categories
        if len(entries) > len(series):  # a few rows of many: most entries are not theirs
            places, entries = np.where(missing, -1, np.arange(len(series))), entries.take(places)
        return spread(decode_series(entries.to_series(), declared), places, gap_of(declared))
    if _is_nullable_number(dtype):
        known = decode_array(series.to_numpy(dtype=dtype.numpy_dtype, na_value=0), declared)
        return spread(known, np.where(missing, -1, np.arange(len(known))), gap_of(declared))
    return decode_objects(series.to_numpy(dtype=object), declared)


def _is_nullable_number(dtype: Any) -> bool:
    return hasattr(dtype, "numpy_dtype") and getattr(dtype, "kind", "O") in "fiub"


def _some(column: Values, which: slice | IntArray) -> npt.NDArray[Any]:
    if isinstance(column, pa.ChunkedArray):
        return cast_to_doubles(column[which] if isinstance(which, slice) else column.take(which))
    return column[which]
