# SPDX-License-Identifier: Apache-2.0
"""The engine of this process: arrays, frames, Arrow tables and files, opened by what they are."""

from typing import TYPE_CHECKING, cast

from cloister import validate
from cloister.data._backend import MemoryRows, Rows
from cloister.data._columns import Chosen, IdColumn, IdValues, refuse_mapping
from cloister.data._numpy import ArrayRows, as_matrix

if TYPE_CHECKING:
    from cloister.data._files import FileSet

__all__ = ["open_collection", "open_files"]


def open_files(where: str, files: "FileSet", *, scheduler: str | None, n_jobs: int) -> Rows:
    """Open files that this process reads."""
    from cloister.data._arrow import FileRows

    return FileRows(files, n_jobs=n_jobs)


def open_collection(where: str, data: object, columns: Chosen, *, n_jobs: int, ids: IdColumn | IdValues | None = None) -> Rows:
    """Open a table in memory, or rows that are open already."""
    if hasattr(type(data), "fold") and hasattr(data, "n_features"):
        if columns is not None:
            validate.refuse(f"{where}.columns", "None for rows already open", columns, remedy="Name them in open_rows.")
        if ids is not None:
            validate.refuse(f"{where}.privacy_unit", "None for rows already open", "ids", remedy="Pass them to open_rows.")
        return cast(Rows, data)
    if not isinstance(ids, IdValues):
        return _open_table(where, data, columns, ids, n_jobs)
    from cloister.data._given_ids import with_ids

    return with_ids(where, _open_table(where, data, columns, None, n_jobs), ids)


def _open_table(where: str, data: object, columns: Chosen, ids: IdColumn | None, n_jobs: int) -> MemoryRows:
    if all(hasattr(type(data), name) for name in ("iloc", "columns", "dtypes")):  # before Arrow, which would infer types
        from cloister.data._pandas import FrameRows

        return FrameRows(where, data, columns=columns, n_jobs=n_jobs, ids=ids)
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        from cloister.data._arrow import TableRows
        from cloister.data._table import table_of

        return TableRows(where, table_of(where, data), columns=columns, n_jobs=n_jobs, ids=ids)
    refuse_mapping(where, columns, data)
    matrix = as_matrix(where, data)
    if columns is not None:
        validate.refuse(f"{where}.columns", "None for a table without column names", columns, remedy="Pass data[:, columns].")
    if ids is not None:
        rule = "ids, one for each row, beside a table without column names"
        validate.refuse(f"{where}.privacy_unit", rule, ids.name, remedy="Pass a list or an array of ids, or a data frame.")
    return ArrayRows(matrix, n_jobs=n_jobs)
