# SPDX-License-Identifier: Apache-2.0
"""Opening the table whose rows a release is to label, with the columns of the release, read as they were declared."""

import os

import numpy as np

from cloister.columns import Declaration, Table
from cloister.data import ArrayRows, LocalRows, Rows, open_rows
from cloister.exceptions import DataError

Names = tuple[str, ...] | None


def columns_to_open(domain: Table, names: Names) -> dict[str, Declaration] | list[str] | None:
    """Return the columns to open a table with: what each of them is, or their names alone; None where they have no names."""
    if names is None:
        return None
    return dict(zip(names, domain.columns, strict=True)) if domain.is_declared else list(names)


def open_for(table: object, domain: Table, names: Names, *, where: str = "Release.predict", **source: object) -> LocalRows:
    """Open a table with the columns of a result, which lie in `domain`; `source` says how, as for ``open_rows``.

    An array of numbers is taken as it is.
    """
    if type(table) is np.ndarray and table.dtype.kind in "fiub":
        if table.ndim != 2 or table.shape[1] != domain.n_columns:
            raise _other_columns(where, domain.n_columns)
        return ArrayRows(table)
    # Columns can be chosen by name in files, in frames, and in what Arrow can read.
    marks = ("columns", "__arrow_c_stream__", "__arrow_c_array__", "__dask_graph__")
    has_names = isinstance(table, str | os.PathLike) or any(hasattr(type(table), mark) for mark in marks)
    columns = columns_to_open(domain, names) if has_names and not isinstance(table, Rows) else None
    # Levels, flags and dates can be read of a table with names only.
    if columns is None and domain.has_words and not isinstance(table, Rows):
        raise DataError(
            f"{where}: expected a table with column names, as levels, flags or dates are to be read, got one without. Pass a "
            "data frame or a file."
        )
    rows = open_rows(table, columns, where=where, **source)  # type: ignore[arg-type]
    if rows.n_features != domain.n_columns:
        raise _other_columns(where, domain.n_columns, rows.n_features)
    if not isinstance(rows, LocalRows):
        raise DataError(
            f"{where}: expected rows of this machine, got rows of a cluster. Send release.predict to where they are, as "
            "docs/scale.md shows."
        )
    return rows


def _other_columns(where: str, wanted: int, got: int | None = None) -> DataError:
    found = "" if got is None else f", got {got}"
    return DataError(f"{where}: expected a table of {wanted} columns{found}. Pass the columns of the release.")
