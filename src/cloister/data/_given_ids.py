# SPDX-License-Identifier: Apache-2.0
"""Ids that come beside a table in memory, one for each row, and the rows of such a table. Imported by the local engine.

They are hashed at once; what is kept is the hash. Types may be refused, values never.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cloister import validate
from cloister.columns import Identifier, IntArray
from cloister.data._backend import Block, MemoryRows, explained
from cloister.data._columns import IdValues, check_id_array, check_id_type
from cloister.data._id_hash import LANES
from cloister.data._ids import hash_array, hash_arrow, hash_objects
from cloister.data._pandas import decode_series, describe_column
from cloister.data._table import holds_of
from cloister.exceptions import DataError

REMEDY = "Pass a list, an array, a series or a column of ids, one for each row."


def with_ids(where: str, source: MemoryRows, given: IdValues) -> MemoryRows:
    """Return the rows with the hashes of their ids beside them; how many there are is quoted nowhere."""
    lanes = hash_given(where, given.values, given.ids)
    if len(lanes) * source.width != source.n_numbers:
        raise DataError(f"{where}.privacy_unit: expected one id for each row, got more or fewer. {REMEDY}")

    def some(which: slice | IntArray) -> Block:
        return np.concatenate([source.some(which), lanes[which]], axis=1, dtype=np.float64)

    return MemoryRows(len(lanes), replace(source.schema, n_hidden=LANES), source.n_jobs, some)


def hash_given(where: str, values: Any, ids: Identifier) -> npt.NDArray[np.float64]:
    """Return the hash of a series of ids, of whatever library."""
    series = _as_series(where, values)
    if series is not None:
        described = describe_column("", series.dtype)
        check_id_type(f"{where}.privacy_unit", "the series", described.kind, described.holds)
        return decode_series(series, ids)
    column = None if isinstance(values, np.ndarray) else _as_column(where, values)
    if column is not None:
        check_id_type(f"{where}.privacy_unit", "the column", str(column.type), holds_of(column.type))
        return hash_arrow(column, ids)
    if isinstance(values, Sequence) and not isinstance(values, bytes | bytearray | memoryview):
        return hash_objects(values, ids)
    if not hasattr(values, "__array__") or hasattr(values, "columns"):
        _refuse(where, type(values).__name__)
    array = values if isinstance(values, np.ndarray) else _read(where, partial(np.asarray, values), "what NumPy cannot read")
    if array.ndim != 1:
        _refuse(where, f"{array.ndim} dimension(s)")
    check_id_array(f"{where}.privacy_unit", array.dtype)
    return hash_array(array, ids)


def _refuse(where: str, kind: str) -> NoReturn:
    validate.refuse(f"{where}.privacy_unit", "the name of a column, or ids in one dimension", kind, remedy=REMEDY)


def _as_series(where: str, values: Any) -> Any:
    """Return a series of pandas, if this is one, or an index or an array of pandas; its own index decides nothing."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(values, pandas.Series | pandas.Index | pandas.api.extensions.ExtensionArray):
        return None
    if getattr(values, "nlevels", 1) > 1:
        _refuse(where, type(values).__name__)
    return values if isinstance(values, pandas.Series) else pandas.Series(values)


def _as_column(where: str, values: Any) -> pa.ChunkedArray | pa.Array | None:
    """Return a column of Arrow, if this is one or says that it can be one."""
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    if hasattr(values, "columns") or not (hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__")):
        return None
    read = pa.chunked_array if hasattr(values, "__arrow_c_stream__") else pa.array
    return _read(where, partial(read, values), "a column that Arrow cannot read")


def _read(where: str, read: Callable[[], Any], what: str) -> Any:
    """Return what the conversion of another library makes of ids."""
    return explained(read, lambda error: f"{where}.privacy_unit: expected ids, got {what} ({type(error).__name__}). {REMEDY}")
