# SPDX-License-Identifier: Apache-2.0
"""Synthetic rows as a table with the columns of the original one: levels, flags and dates in place of coordinates."""

from typing import TYPE_CHECKING, Any

import numpy as np

from cloister.columns import AnyDeclaration, Category, ColumnDomain, Date, Flag, FloatArray

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["table_of_rows"]

SECONDS_A_DAY = 86400


def table_of_rows(
    rows: FloatArray, domain: ColumnDomain | None, names: tuple[str, ...], generator: np.random.Generator
) -> "pa.Table":
    """Return rows of coordinates as a table; the shares of levels are chances, from which one level is drawn."""
    import pyarrow as pa

    if domain is None:
        return pa.table(dict(zip(names, rows.T, strict=True)))
    parts = zip(names, domain.columns, domain.slices(), strict=True)
    return pa.table({name: _column(declared, rows[:, cut], generator) for name, declared, cut in parts})


def _column(declared: AnyDeclaration, values: FloatArray, generator: np.random.Generator) -> "pa.Array":
    """Return one column; the last coordinate of one that tells missing values apart is the chance that it is missing."""
    import pyarrow as pa

    size = len(declared.names) if isinstance(declared, Category) else 1
    absent = generator.random(len(values)) < values[:, size] if values.shape[1] > size else np.zeros(len(values), dtype=bool)
    if isinstance(declared, Category):
        return pa.array(_levels(declared, values[:, :size], generator), mask=absent)
    if isinstance(declared, Flag):
        return pa.array(generator.random(len(values)) < values[:, 0], mask=absent)
    if isinstance(declared, Date):
        return _dates(declared, values[:, 0], absent)
    return pa.array(values[:, 0], mask=absent)


def _levels(declared: Category, shares: FloatArray, generator: np.random.Generator) -> "np.typing.NDArray[Any]":
    """Draw a level for each row, in proportion to its shares."""
    upper = np.cumsum(np.maximum(shares, 0.0) + 1e-300, axis=1)
    drawn = generator.random(len(shares))[:, None] * upper[:, -1:]
    chosen = np.minimum((drawn >= upper).sum(axis=1), len(declared.names) - 1)
    return np.asarray(np.array(declared.names, dtype=object)[chosen])


def _dates(declared: Date, days: FloatArray, absent: "np.typing.NDArray[np.bool_]") -> "pa.Array":
    """Return days, or times to the second where the bounds are times."""
    import pyarrow as pa

    if all(float(end).is_integer() for end in declared.days):
        return pa.array(np.rint(days).astype(np.int32), mask=absent).cast(pa.date32())
    return pa.array(np.rint(days * SECONDS_A_DAY).astype(np.int64), mask=absent).cast(pa.timestamp("s"))
