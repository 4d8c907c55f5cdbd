# SPDX-License-Identifier: Apache-2.0
"""Opening the table whose rows a release is to label, with the columns of the release, read as they were declared."""

import os
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from cloister.columns import Declaration, Domain
from cloister.data import ArrayRows, LocalRows, Rows, open_rows
from cloister.exceptions import DataError

__all__ = ["TableColumns", "open_for"]

WHERE = "Release.predict"


class _Described(Protocol):
    @property
    def n_columns(self) -> int: ...

    @property
    def table_columns(self) -> dict[str, Declaration] | list[str] | None: ...

    @property
    def has_words(self) -> bool: ...


@dataclass(frozen=True)
class TableColumns:
    """The columns to open a table with, of a result with this domain and these names."""

    domain: Domain
    feature_names: tuple[str, ...] | None
    n_columns: int

    @property
    def table_columns(self) -> dict[str, Declaration] | list[str] | None:
        """What each of them is, or their names alone; None where they have no names."""
        if self.feature_names is None:
            return None
        if self.domain.is_declared:
            return dict(zip(self.feature_names, self.domain.columns, strict=True))
        return list(self.feature_names)

    @property
    def has_words(self) -> bool:
        """Whether some column holds levels, flags or dates, which only a table with names can be read for."""
        return not all(one.as_is for one in self.domain.columns)


def open_for(release: _Described, table: object, *, where: str = WHERE, **source: object) -> LocalRows:
    """Open a table with the columns of a release; `source` says how, as for ``open_rows``.

    An array of numbers is taken as it is.
    """
    if type(table) is np.ndarray and table.dtype.kind in "fiub":
        if table.ndim != 2 or table.shape[1] != release.n_columns:
            raise _other_columns(where, release.n_columns)
        return ArrayRows(table)
    columns = release.table_columns if _has_names(table) else None
    if columns is None and release.has_words and not isinstance(table, Rows):
        raise DataError(
            f"{where}: expected a table with column names, as levels, flags or dates are to be read, got one without. Pass a "
            "data frame or a file."
        )
    rows = open_rows(table, columns, where=where, **source)  # type: ignore[arg-type]
    if rows.n_features != release.n_columns:
        raise _other_columns(where, release.n_columns, rows.n_features)
    if not isinstance(rows, LocalRows):
        raise DataError(
            f"{where}: expected rows of this machine, got rows of a cluster. Send release.predict to where they are, as "
            "docs/scale.md shows."
        )
    return rows


def _has_names(table: object) -> bool:
    """Whether columns can be chosen by name: those of files, of frames, and of what Arrow can read."""
    kind = type(table)
    if isinstance(table, Rows):
        return False
    return isinstance(table, str | os.PathLike) or any(
        hasattr(kind, name) for name in ("columns", "__arrow_c_stream__", "__arrow_c_array__", "__dask_graph__")
    )


def _other_columns(where: str, wanted: int, got: int | None = None) -> DataError:
    found = "" if got is None else f", got {got}"
    return DataError(f"{where}: expected a table of {wanted} columns{found}. Pass the columns of the release.")
