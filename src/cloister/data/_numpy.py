# SPDX-License-Identifier: Apache-2.0
"""Rows in memory: NumPy arrays and nested lists. An array of a numeric type is read, never copied as a whole.

Objects, masked entries and numbers longer than a double are converted once, each by itself.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cloister.columns import IntArray
from cloister.data._backend import Block, MemoryRows
from cloister.data._lists import is_nested, matrix_of_lists
from cloister.data._values import as_numbers
from cloister.exceptions import DataError

__all__ = ["ArrayRows", "as_matrix"]


class ArrayRows(MemoryRows):
    """Rows of a 2-d array."""

    def __init__(
        self,
        array: npt.NDArray[Any],
        *,
        feature_names: tuple[str, ...] | None = None,
        n_jobs: int = 1,
        nullable: tuple[bool, ...] | None = None,
        lengths: Sequence[int] | None = None,
    ) -> None:
        super().__init__(array.shape[0], array.shape[1], feature_names, n_jobs, nullable=nullable, lengths=lengths)
        self._array = np.asarray(array)  # of a subclass, what stands in it

    def block(self, start: int, stop: int) -> Block:
        """Return some of the rows: a view."""
        return self._array[start:stop]

    def pick(self, positions: IntArray) -> Block:
        """Return the rows at some positions, which ascend."""
        return np.asarray(self._array[positions])


def as_matrix(where: str, data: object) -> npt.NDArray[Any]:
    """Return `data` as a 2-d array of numbers; the declared shape and type may be refused, a value never."""
    if hasattr(data, "toarray") and hasattr(data, "nnz"):
        raise DataError(f"{where}: expected a dense table, got a sparse matrix. Pass data.toarray() if it fits in memory.")
    array = matrix_of_lists(data) if is_nested(data) else _array_of(where, data)
    _check_type(where, array.dtype)
    _check_shape(where, array.shape)
    if isinstance(array, np.ma.MaskedArray):
        return np.where(np.ma.getmaskarray(array), np.nan, as_numbers(np.ma.getdata(array)).astype(np.float64))
    return as_numbers(array)


def _array_of(where: str, data: object) -> npt.NDArray[Any]:
    """Return what says of itself that it is an array."""
    if isinstance(data, np.ndarray):
        return data
    try:
        return np.asarray(data)
    except Exception as error:  # of another library's conversion
        kind = type(error).__name__
    raise DataError(f"{where}: expected a table, got what NumPy cannot read ({kind}). Pass an array or a data frame.")


def _check_type(where: str, dtype: np.dtype[Any]) -> None:
    if dtype.kind == "c":
        raise DataError(f"{where}: expected real numbers, got complex ones. Complex data not supported; pass real columns.")
    if dtype.kind not in "fiubOUST":
        raise DataError(f"{where}: expected numbers, got dtype {dtype}. Pass numeric columns only.")


def _check_shape(where: str, shape: tuple[int, ...]) -> None:
    if len(shape) != 2:
        raise DataError(
            f"{where}: expected a 2-d table, got {len(shape)} dimension(s). Reshape your data with reshape(-1, 1) if it has "
            "a single column or reshape(1, -1) if it is a single row."
        )
    if shape[1] == 0:
        raise DataError(f"{where}: 0 feature(s) found while a minimum of 1 is required. Pass a table with columns.")
