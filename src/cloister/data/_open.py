# SPDX-License-Identifier: Apache-2.0
"""``open_rows``: turns whatever holds rows into a source the vault can fold a question over. The engine of this process."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from cloister import validate
from cloister.columns import Category, Identifier, declare_columns, quiet
from cloister.data._backend import ArrayRows, MemoryRows, Rows
from cloister.data._columns import Chosen, Column, Holds, IdColumn, IdValues, refuse_names
from cloister.data._formats import refuse_options, text_options
from cloister.data._numpy import as_matrix, scaled_by
from cloister.data._threads import count_jobs
from cloister.engines import DEFAULT_ENGINE, ENGINES
from cloister.exceptions import DataError, without_sizes
from cloister.privacy import Entropy

if TYPE_CHECKING:
    from cloister.data._files import FileSet

KEY_BYTES, WORD_BYTES = 32, 8


@without_sizes
@quiet
def open_rows(
    data: object,
    columns: Sequence[str] | Mapping[str, Any] | None = None,
    *,
    privacy_unit: Any = None,
    unit_key: bytes | None = None,
    units_bounded: bool = False,
    engine: str | None = None,
    scheduler: str | None = None,
    delimiter: str | None = None,
    decimal: str = ".",
    encoding: str = "utf-8",
    rows: str = "records",
    n_jobs: int | None = None,
    where: str = "open_rows",
) -> Rows:
    """Open a table for private questions.

    Parameters
    ----------
    data : array-like, data frame, Arrow object, path, Dask or Spark collection, or an object with the ``Rows`` protocol
        NumPy arrays of any numeric type and memory order or of Python objects, nested lists, pandas and polars frames,
        anything with ``__arrow_c_stream__``, a file, a folder of files of one kind or a pattern such as ``"2026/*.parquet"``,
        an address such as ``"s3://bucket/rows.parquet"`` (or ``gs://``, ``abfs://``, ``hdfs://``, ``file://``), a Dask array or
        data frame, a Spark data frame. Files are ``.parquet``, ``.csv``, ``.tsv``, ``.feather``, ``.arrow`` or ``.jsonl``, text
        also compressed (``.csv.gz``, ``.zst``, ``.bz2``). They are read in batches. Small ones stay in memory during a fit;
        large ones are read for every question, and memory does not grow with their size.
    columns : sequence of str, or mapping of str to declarations, optional
        The columns to use, in order; all of them by default. Only for tables that have names. Columns that are only named hold
        numbers. A mapping says what each of them is, as in ``{"age": (0, 120), "sex": Category(["f", "m"])}``: a category is
        read as the position of its level, a flag as 1 or 0, a date as days since 1970-01-01; a value of a category or a flag
        that is none of its levels as -1.
    privacy_unit : str or sequence of ids, optional
        Whose row it is, where persons are protected and not rows: the name of a column, which is then none of `columns`; or
        ids, one for each row and in the same order, beside a table in memory (a list, an array, a series, a column of Arrow).
        Text, numbers, truth values, UUIDs and bytes can be ids. Ids are the same if their texts are: 7, 7.0 and "7" are one
        person, "a" and "A" are two. Rows without an id are left out. None: rows have no owners.
    unit_key : bytes, optional
        Secret, of 32 bytes: the key of the hash that ids are read as. None draws one from the operating system.
    units_bounded : bool, default=False
        Whether nobody has more rows than the fit allows for. Then nobody's rows are counted, and ids are left out and not read.
    engine : {"numpy", "dask", "spark"}, optional
        Who reads files: this process, or workers that see them under the same path. Dask and Spark collections know their own.
    scheduler : str, optional
        Address of the Dask scheduler or the Spark master for `engine`. None takes the current Dask client or Spark session, or
        else threads of this process and a local session.
    delimiter : str, optional
        What separates the columns of a CSV file: one character. None is a comma, and a tab in ``.tsv`` files.
    decimal : {".", ","}, default="."
        What stands before the decimals of numbers in a CSV file. The other mark is not read as one of thousands: a number with
        it is missing.
    encoding : str, default="utf-8"
        How a CSV or JSON-lines file is encoded: UTF-8, or any encoding with one byte for every letter, such as "latin-1".
    rows : {"records", "lines"}, default="records"
        What rows of a CSV file are: records, which may hold line breaks in quotes, or lines, for writers that never quote.
    n_jobs : int, optional
        Threads; None uses all processors.
    where : str, default="open_rows"
        Whose name error messages carry.

    Returns
    -------
    Rows
        A source of rows: ``n_features``, ``feature_names``, ``nullable`` and ``fold``.

    Raises
    ------
    DataError
        If a file, a column, a declared type or a shape is not what it should be. Rows never raise: what is no number is a
        missing value, and missing, infinite and out-of-range values are moved into the domain.

    Notes
    -----
    **Privacy.** Names and declared types of columns are taken as public; a list of lists declares no width, and the length that
    most of its rows have is taken for it. Each value is read by itself: no type is inferred over rows, so another row
    changes neither how a row is read nor whether there is an error or a warning. Ids are read as a keyed hash of 104 bits and
    nothing else of them is kept: they are in no message, log or result. The key is secret and goes to workers with what they
    are to read.

    Examples
    --------
    >>> open_rows([[1, 2], [3, 4]]).n_features
    2
    """
    jobs = count_jobs(f"{where}.n_jobs", n_jobs)
    if isinstance(columns, str):
        validate.refuse(f"{where}.columns", "a list of column names", columns, remedy=f"Pass columns=[{columns!r}].")
    if isinstance(columns, Mapping):
        columns = declare_columns(f"{where}.columns", columns)
    chosen = ENGINES[validate.one_of(f"{where}.engine", DEFAULT_ENGINE if engine is None else engine, tuple(sorted(ENGINES)))]
    if scheduler is not None and chosen.library is None:
        clusters = " or ".join(repr(one.name) for one in ENGINES.values() if one.library is not None)
        validate.refuse(f"{where}.scheduler", "an engine of a cluster with it", engine, remedy=f"Pass engine={clusters}.")
    ids = _read_privacy_unit(
        where, privacy_unit, unit_key, columns, read=not validate.boolean(f"{where}.units_bounded", units_bounded)
    )
    text = text_options(where, delimiter=delimiter, decimal=decimal, encoding=encoding, rows=rows)
    if isinstance(data, str | os.PathLike):
        from cloister.data._files import find_files

        if not chosen.is_installed:
            remedy = f"pip install 'cloister[{chosen.name}]'."
            validate.refuse(f"{where}.engine", "an engine that is installed", chosen.name, remedy=remedy)
        if isinstance(ids, IdValues):
            kind = type(ids.values).__name__
            validate.refuse(
                f"{where}.privacy_unit", "the name of a column of the files", kind, remedy="Pass privacy_unit='name'."
            )
        files = find_files(where, os.fspath(data), columns, ids=ids, text=text)
        opened = cast(Rows, chosen.load().open_files(where, files, scheduler=scheduler, n_jobs=jobs))
    else:
        refuse_options(where, text, "data in memory")
        if chosen.library is not None:
            remedy = "Leave it out, or pass a path."
            validate.refuse(f"{where}.engine", "files to read with it", type(data).__name__, remedy=remedy)
        own = next(one for one in ENGINES.values() if one.holds(type(data)))
        opened = cast(Rows, own.load().open_collection(where, data, columns, n_jobs=jobs, ids=ids))
    if isinstance(columns, Mapping):
        opened.declared = tuple(columns.values())
    if privacy_unit is not None:
        opened.privacy_unit = privacy_unit if isinstance(privacy_unit, str) else ""
    if isinstance(data, np.ndarray | list | tuple):
        arrays = [data] if isinstance(data, np.ndarray) else [one for one in data if issubclass(type(one), np.ndarray)]
        # By attribute, not by class: a masked array of scaled rows has what they have.
        opened.bounds, opened.scaled_by = getattr(data, "bounds", None), scaled_by(arrays)
    return opened


def kept_rows(
    path: str | os.PathLike[str], names: Sequence[str], *, where: str = "keep", **text: Any
) -> Iterator[tuple[str, ...]]:
    """Return the named columns of files as text, row by row, as `open_rows` reads them: to be written beside labels.

    What is passed through is the caller's own business, as labels are. There are as many rows as of the same files opened for
    labels; a missing value and the entries of a malformed record are blank. Files are opened and checked at once. `text` says
    how CSV files are written.
    """
    from cloister.data._files import describe_files, find_files

    options, described = text_options(where, **text), list[Column]()
    with suppress(DataError):  # JSON lines say nothing of their columns; what else is wrong is said when the files are found
        described = describe_files(where, os.fspath(path), text=options)
    for column in described:
        if column.name in names and column.holds in (Holds.BYTES, Holds.OTHER):
            raise DataError(f"{where}: expected single values in column {column.name!r}, got {column.kind}. Leave it out.")
    anything = Category(["0", "1"])  # a column whose values are not looked at
    files = find_files(where, os.fspath(path), dict.fromkeys(names, anything), text=options)
    return (row for piece in files.whole for row in piece.texts())


def describe_columns(path: str | os.PathLike[str], *, where: str = "describe_columns", **text: Any) -> list[Column]:
    """Return names and declared types of the columns of a file, or of the first of several; no row is read.

    `text` are `delimiter`, `decimal`, `encoding` and `rows` of a CSV file.

    Notes
    -----
    **Privacy.** Names and types are taken as public. A CSV file declares no types, and its lines are not looked at for them.
    """
    from cloister.data._files import describe_files

    return describe_files(where, os.fspath(path), text=text_options(where, **text))


def _read_privacy_unit(
    where: str, privacy_unit: Any, unit_key: object, columns: Chosen, *, read: bool
) -> IdColumn | IdValues | None:
    """Return how ids are reached, with a key; neither is quoted. Those that are not to be read have no key."""
    if unit_key is not None and not (isinstance(unit_key, bytes) and len(unit_key) == KEY_BYTES):
        kind = "other bytes" if isinstance(unit_key, bytes) else type(unit_key).__name__
        validate.refuse(f"{where}.unit_key", f"{KEY_BYTES} bytes", kind, remedy=f"Pass os.urandom({KEY_BYTES}), or None.")
    if privacy_unit is None:
        return None
    ids = Identifier(Entropy().words(KEY_BYTES // WORD_BYTES).tobytes() if unit_key is None else unit_key)
    if not isinstance(privacy_unit, str):
        return IdValues(privacy_unit, ids) if read else None
    if columns is not None and privacy_unit in map(str, columns):
        remedy = f"Leave {privacy_unit!r} out of columns and bounds, or name another column in privacy_unit."
        validate.refuse(f"{where}.privacy_unit", "a column that is none of those to cluster by", privacy_unit, remedy=remedy)
    return IdColumn(privacy_unit, ids if read else None)


# -- the engine of this process --------------------------------------------------------------------------------------------


def open_files(where: str, files: "FileSet", *, scheduler: str | None, n_jobs: int) -> Rows:
    """Open files that this process reads."""
    from cloister.data._file_rows import FileRows

    return FileRows(files, n_jobs=n_jobs)


def open_collection(where: str, data: object, columns: Chosen, *, n_jobs: int, ids: IdColumn | IdValues | None) -> Rows:
    """Open a table in memory, or rows that are open already."""
    if isinstance(data, Rows):
        if columns is not None:
            validate.refuse(f"{where}.columns", "None for rows already open", columns, remedy="Name them in open_rows.")
        if ids is not None:
            validate.refuse(f"{where}.privacy_unit", "None for rows already open", "ids", remedy="Pass them to open_rows.")
        return data
    if not isinstance(ids, IdValues):
        return _open_table(where, data, columns, ids, n_jobs)
    from cloister.data._given_ids import with_ids

    return with_ids(where, _open_table(where, data, columns, None, n_jobs), ids)


def _open_table(where: str, data: object, columns: Chosen, ids: IdColumn | None, n_jobs: int) -> MemoryRows:
    if all(hasattr(type(data), name) for name in ("iloc", "columns", "dtypes")):  # before Arrow, which would infer types
        from cloister.data._pandas import open_frame

        return open_frame(where, data, columns, ids, n_jobs)
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        from cloister.data._table import open_table

        return open_table(where, data, columns, ids, n_jobs)
    if hasattr(type(data), "fold"):
        rule = "a table, or rows of a class derived from cloister.data.Rows"
        raise DataError(f"{where}: expected {rule}, got a {type(data).__name__}. Derive its class from Rows.")
    refuse_names(where, columns, type(data))
    matrix = as_matrix(where, data)
    if ids is not None:
        rule = "ids, one for each row, beside a table without column names"
        validate.refuse(f"{where}.privacy_unit", rule, ids.name, remedy="Pass a list or an array of ids, or a data frame.")
    return ArrayRows(matrix, n_jobs=n_jobs)
