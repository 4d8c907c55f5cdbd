# SPDX-License-Identifier: Apache-2.0
"""Nested lists as a matrix: a row that is not like the others is a row of missing values. Imported by the NumPy backend.

A list of rows has no declared width. The length that most rows have is taken for it; with a tie, the larger one. So one row
decides nothing unless lengths are nearly tied, and rows of another length, or none, are missing throughout.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from cloister.data._values import doubles_of

__all__ = ["is_nested", "matrix_of_lists"]

ARRAYS = ("__array__", "__array_interface__", "__array_struct__")
NO_ROW = -1


def is_nested(data: object) -> bool:
    """Whether `data` is a sequence that is no array: NumPy would infer one type over all its rows."""
    kind = type(data)
    if isinstance(data, Mapping | str | bytes | bytearray | memoryview) or any(hasattr(kind, name) for name in ARRAYS):
        return False
    return hasattr(kind, "__len__") and hasattr(kind, "__getitem__")


def matrix_of_lists(data: Any) -> npt.NDArray[np.float64]:
    """Return the rows of a sequence as a matrix; where most entries are no rows, the result has one dimension."""
    rows = [_row(entry) for entry in data]
    lengths = Counter(NO_ROW if row is None else len(row) for row in rows)
    width = max(lengths, key=lambda length: (lengths[length], length), default=NO_ROW)
    if width == NO_ROW:
        return np.empty(len(rows))
    return doubles_of(_entries(rows, width), (len(rows), width))


def _row(entry: Any) -> Sequence[Any] | None:
    """Return the values of one row; an entry that is no row has none."""
    if type(entry) in (list, tuple):  # most are
        return cast(Sequence[Any], entry)
    try:
        if not is_nested(entry) and not hasattr(entry, "shape"):
            return None
        if len(getattr(entry, "shape", (0,))) != 1:
            return None
        return entry.tolist() if hasattr(entry, "tolist") and not isinstance(entry, np.ndarray) else list(entry)
    except Exception:  # whatever it is, it belongs to one row
        return None


def _entries(rows: list[Sequence[Any] | None], width: int) -> Iterator[Any]:
    for row in rows:
        yield from row if row is not None and len(row) == width else [None] * width
