# SPDX-License-Identifier: Apache-2.0
"""The door: turns whatever holds rows into a source the vault can fold a question over."""

import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from cloister import validate
from cloister.data._backend import Rows, count_jobs
from cloister.data._numpy import ArrayRows, as_matrix

__all__ = ["ENGINES", "open_rows"]

ENGINES = ("dask", "numpy", "spark")


def open_rows(
    data: object,
    columns: Sequence[str] | None = None,
    *,
    engine: str | None = None,
    scheduler: str | None = None,
    n_jobs: int | None = None,
    where: str = "open_rows",
) -> Rows:
    """Open a table for private questions.

    Parameters
    ----------
    data : array-like, data frame, Arrow object, path, Dask or Spark collection, or an object with the ``Rows`` protocol
        NumPy arrays of any numeric type and memory order or of Python objects, nested lists, pandas and polars frames,
        anything with ``__arrow_c_stream__``, a ``.parquet`` or ``.csv`` file, a folder of one of these or a pattern such as
        ``"2026/*.parquet"``, a Dask array or data frame, a Spark data frame. Files are read in batches, anew for every
        question; memory does not grow with their size.
    columns : sequence of str, optional
        Names of the columns to use, in order; all of them by default. Only for tables that have names. Columns of a CSV file
        are read as numbers, so name those that hold some: in a column of text every value is missing.
    engine : {"numpy", "dask", "spark"}, optional
        Who reads files: this process, or workers that see them under the same path. Dask and Spark collections know their own.
    scheduler : str, optional
        Address of the Dask scheduler or the Spark master for `engine`. None takes the current Dask client or Spark session, or
        else threads of this process and a local session.
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
        If a file, a column, a declared type or a shape is not what it should be. Rows never raise: what is no number is a
        missing value, and missing, infinite and out-of-range values are moved into the domain.

    Notes
    -----
    **Privacy.** Names and declared types of columns are taken as public; a list of lists declares no width, and the length that
    most of its rows have is taken for it. Each value is read by itself: no type is inferred over rows, so another row
    changes neither how a row is read nor whether there is an error or a warning.

    Examples
    --------
    >>> open_rows([[1, 2], [3, 4]]).n_features
    2
    """
    jobs = count_jobs(f"{where}.n_jobs", n_jobs)
    if isinstance(columns, str):
        validate.refuse(f"{where}.columns", "a list of column names", columns, remedy=f"Pass columns=[{columns!r}].")
    chosen = "numpy" if engine is None else validate.one_of(f"{where}.engine", engine, ENGINES)
    if scheduler is not None and chosen == "numpy":
        validate.refuse(f"{where}.scheduler", "an engine of a cluster with it", engine, remedy="Pass engine='dask' or 'spark'.")
    if isinstance(data, str | os.PathLike):
        return _open_path(where, Path(data), columns, chosen, scheduler, jobs)
    if chosen != "numpy":
        validate.refuse(f"{where}.engine", "files to read with it", type(data).__name__, remedy="Leave it out, or pass a path.")
    return _open_collection(where, data, columns, jobs)


def _open_path(where: str, path: Path, columns: Sequence[str] | None, engine: str, scheduler: str | None, n_jobs: int) -> Rows:
    from cloister.data._files import open_files

    if engine != "numpy":
        _refuse_missing(f"{where}.engine", engine)
    files = open_files(where, path, columns)
    if engine == "dask":
        from cloister.data._dask import open_dask_files

        return open_dask_files(where, files, scheduler=scheduler)
    if engine == "spark":
        from cloister.data._spark import open_spark_files

        return open_spark_files(where, files, scheduler=scheduler, n_jobs=n_jobs)
    from cloister.data._arrow import FileRows

    return FileRows(files, n_jobs=n_jobs)


def _open_collection(where: str, data: object, columns: Sequence[str] | None, n_jobs: int) -> Rows:
    if hasattr(type(data), "__dask_graph__"):
        from cloister.data._dask import open_dask

        return open_dask(where, data, columns)
    if type(data).__module__.partition(".")[0] == "pyspark":  # before Arrow, whose stream would fetch the rows
        from cloister.data._spark import open_spark

        return open_spark(where, data, columns)
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
    matrix = as_matrix(where, data)
    if columns is not None:
        validate.refuse(f"{where}.columns", "None for a table without column names", columns, remedy="Pass data[:, columns].")
    return ArrayRows(matrix, n_jobs=n_jobs)


def _refuse_missing(where: str, engine: str) -> None:
    """Refuse an engine whose library is not installed."""
    library = {"dask": "distributed", "spark": "pyspark"}[engine]
    if importlib.util.find_spec(library) is None:
        remedy = f"pip install 'cloister[{engine}]'."
        validate.refuse(where, "an engine that is installed", engine, remedy=remedy)
