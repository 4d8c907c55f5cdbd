# SPDX-License-Identifier: Apache-2.0
"""Rows in memory: NumPy arrays of any numeric type and order, and nested lists. The array is read, never copied as a whole."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from cloister.data._backend import Block, LocalRows, block_rows, slices
from cloister.exceptions import DataError

__all__ = ["ArrayRows", "as_matrix"]


KEPT_BYTES = 1 << 29  # of doubles


class ArrayRows(LocalRows):
    """Rows of a 2-d array.

    Attributes
    ----------
    stays : bool
        Whether the rows are few enough that a copy of each block, made once, may be kept for as long as they are asked about.
    """

    def __init__(self, array: npt.NDArray[Any], *, feature_names: tuple[str, ...] | None = None, n_jobs: int = 1) -> None:
        super().__init__(array.shape[1], feature_names, n_jobs)
        per_job = -(-len(array) // n_jobs)
        self._blocks = list(slices(array, max(1, min(block_rows(array.shape[1]), per_job))))
        self.stays = 8 * array.size <= KEPT_BYTES

    @property
    def n_blocks(self) -> int:
        """How many blocks there are."""
        return len(self._blocks)

    def blocks(self) -> Iterator[Block]:
        """Yield blocks of raw rows, in order: the same objects every time."""
        yield from self._blocks


def as_matrix(where: str, data: object) -> npt.NDArray[Any]:
    """Return `data` as a 2-d array of real numbers; messages name the shape or the type, never a value."""
    if hasattr(data, "toarray") and hasattr(data, "nnz"):
        raise DataError(f"{where}: expected a dense table, got a sparse matrix. Pass data.toarray() if it fits in memory.")
    try:
        array = _unmasked(data) if isinstance(data, np.ndarray) else np.asarray(data)
        if array.dtype.kind in "OUS":
            array = _from_objects(array) if array.dtype.kind == "O" else _refuse_text(where)
    except DataError:
        raise
    except (TypeError, ValueError):
        if getattr(data, "dtype", None) is None and _is_ragged(data):
            raise DataError(f"{where}: expected rows of one length, got rows of several. Pad or drop columns.") from None
        raise DataError(
            f"{where}: expected numbers, got another type. Pass numeric columns only; argument must be numeric."
        ) from None
    if array.dtype.kind == "c":
        raise DataError(f"{where}: expected real numbers, got complex ones. Complex data not supported; pass real columns.")
    if array.dtype.kind not in "fiub":
        raise DataError(f"{where}: expected numbers, got dtype {array.dtype}. Pass numeric columns only.")
    if array.ndim != 2:
        raise DataError(
            f"{where}: expected a 2-d table, got {array.ndim} dimension(s). Reshape your data with reshape(-1, 1) if it has "
            "a single column or reshape(1, -1) if it is a single row."
        )
    if array.shape[1] == 0:
        raise DataError(
            f"{where}: 0 feature(s) (shape={array.shape}) while a minimum of 1 is required. Pass a table with columns."
        )
    return array


def _unmasked(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the array with masked entries missing."""
    if not isinstance(array, np.ma.MaskedArray):
        return array
    return np.where(np.ma.getmaskarray(array), np.nan, np.ma.getdata(array).astype(np.float64))


def _from_objects(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return Python objects as numbers; a missing one, or one too large for a float, must not raise: it belongs to a row."""
    return np.asarray(np.frompyfunc(_from_object, 1, 1)(array)).astype(np.float64)


def _from_object(value: Any) -> Any:
    if value is None or type(value).__name__ == "NAType":
        return np.nan
    if isinstance(value, str | bytes):
        raise TypeError
    try:
        return float(value)
    except OverflowError:
        return np.inf


def _refuse_text(where: str) -> npt.NDArray[Any]:
    raise DataError(f"{where}: expected numbers, got text. Pass numeric columns only; argument must be numeric.")


def _is_ragged(data: object) -> bool:
    if not isinstance(data, list | tuple):
        return False
    return len({len(row) for row in data if hasattr(row, "__len__")}) > 1
