# SPDX-License-Identifier: Apache-2.0
"""The engine of this process: arrays, frames, Arrow tables and files, opened by what they are."""

from typing import TYPE_CHECKING, cast

from cloister import validate
from cloister.data._backend import Rows
from cloister.data._columns import Chosen, refuse_mapping
from cloister.data._numpy import ArrayRows, as_matrix

if TYPE_CHECKING:
    from cloister.data._files import FileSet

__all__ = ["open_collection", "open_files"]


def open_files(where: str, files: "FileSet", *, scheduler: str | None, n_jobs: int) -> Rows:
    """Open files that this process reads."""
    from cloister.data._arrow import FileRows

    return FileRows(files, n_jobs=n_jobs)


def open_collection(where: str, data: object, columns: Chosen, *, n_jobs: int) -> Rows:
    """Open a table in memory, or rows that are open already."""
    if hasattr(type(data), "fold") and hasattr(data, "n_features"):
        if columns is not None:
            validate.refuse(f"{where}.columns", "None for rows already open", columns, remedy="Name them in open_rows.")
        return cast(Rows, data)
    if all(hasattr(type(data), name) for name in ("iloc", "columns", "dtypes")):  # before Arrow, which would infer types
        from cloister.data._pandas import FrameRows

        return FrameRows(where, data, columns=columns, n_jobs=n_jobs)
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        from cloister.data._arrow import TableRows
        from cloister.data._table import table_of

        return TableRows(where, table_of(where, data), columns=columns, n_jobs=n_jobs)
    refuse_mapping(where, columns, data)
    matrix = as_matrix(where, data)
    if columns is not None:
        validate.refuse(f"{where}.columns", "None for a table without column names", columns, remedy="Pass data[:, columns].")
    return ArrayRows(matrix, n_jobs=n_jobs)
