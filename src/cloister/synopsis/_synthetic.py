# SPDX-License-Identifier: Apache-2.0
"""Synthetic rows as a table with the columns of the original one: levels, flags and dates in place of coordinates."""

from typing import TYPE_CHECKING

import numpy as np

from cloister.columns import Domain, FloatArray

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["table_of_rows"]


def table_of_rows(rows: FloatArray, domain: Domain, names: tuple[str, ...], generator: np.random.Generator) -> "pa.Table":
    """Return rows of coordinates as a table; the shares of levels are chances, from which one level is drawn."""
    import pyarrow as pa

    parts = zip(names, domain.columns, domain.slices(), strict=True)
    return pa.table({name: declared.synthetic(rows[:, cut], generator) for name, declared, cut in parts})
