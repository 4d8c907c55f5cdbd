# SPDX-License-Identifier: Apache-2.0
"""The door: turns whatever holds rows into a source the vault can fold a question over."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from cloister import validate
from cloister.data._backend import Rows, count_jobs
from cloister.data._numpy import ArrayRows, as_matrix

__all__ = ["open_rows"]


def open_rows(
    data: object, columns: Sequence[str] | None = None, *, n_jobs: int | None = None, where: str = "open_rows"
) -> Rows:
    """Open a table for private questions.

    Parameters
    ----------
    data : array-like, data frame, Arrow object, path, or an object with the ``Rows`` protocol
        NumPy arrays of any numeric type and memory order, nested lists, pandas and polars frames, anything with
        ``__arrow_c_stream__``, a ``.parquet`` or ``.csv`` file, or a folder of one of these. Files are read in batches, anew
        for every question; memory does not grow with their size.
    columns : sequence of str, optional
        Names of the columns to use, in order; all of them by default. Only for tables that have names.
    n_jobs : int, optional
        Threads; None uses all processors.
    where : str, default="open_rows"
        Whose name error messages carry.

    Returns
    -------
    Rows
        A source of rows: ``n_features``, ``feature_names`` and ``fold``.

    Raises
    ------
    DataError
        If a file, a column or a type is not what it should be. Rows never raise: missing, infinite and out-of-range values
        are moved into the domain.

    Notes
    -----
    **Privacy.** Names and types of columns are taken as public. Opening reads no value of an array, frame or Parquet file; for
    a CSV file the first entries of each column decide, by majority, whether it holds numbers. Nothing read here is shown.

    Examples
    --------
    >>> open_rows([[1, 2], [3, 4]]).n_features
    2
    """
    jobs = count_jobs(f"{where}.n_jobs", n_jobs)
    if isinstance(columns, str):
        validate.refuse(f"{where}.columns", "a list of column names", columns, remedy=f"Pass columns=[{columns!r}].")
    if isinstance(data, str | os.PathLike):
        from cloister.data._arrow import FileRows

        return FileRows(where, Path(data), columns=columns, n_jobs=jobs)
    if hasattr(data, "fold") and hasattr(data, "n_features"):
        if columns is not None:
            validate.refuse(f"{where}.columns", "None for rows already open", columns, remedy="Name them in open_rows.")
        return cast(Rows, data)
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        from cloister.data._arrow import TableRows, table_of

        return TableRows(where, table_of(where, data, columns), columns=columns, n_jobs=jobs)
    matrix = as_matrix(where, data)
    if columns is not None:
        validate.refuse(f"{where}.columns", "None for a table without column names", columns, remedy="Pass data[:, columns].")
    return ArrayRows(matrix, n_jobs=jobs)
