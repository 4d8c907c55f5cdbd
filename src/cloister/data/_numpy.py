# SPDX-License-Identifier: Apache-2.0
"""Arrays, nested lists, and arrays that a PrivateScaler has scaled. One of a numeric type is read, never copied as a whole.

Objects, masked entries and numbers longer than a double are converted once, each by itself. A list of rows has no declared
width: the length that most rows have is taken for it; with a tie, the larger one. So one row decides nothing unless lengths are
nearly tied, and rows of another length, or none, are missing throughout.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from cloister.columns import Box
from cloister.data._backend import explained
from cloister.data._values import as_numbers, doubles_of
from cloister.exceptions import DataError
from cloister.privacy import SAME, Receipt

ARRAYS = ("__array__", "__array_interface__", "__array_struct__")
NO_ROW = -1


def as_matrix(where: str, data: object) -> npt.NDArray[Any]:
    """Return `data` as a 2-d array of numbers; the declared shape and type may be refused, a value never."""
    if hasattr(data, "toarray") and hasattr(data, "nnz"):
        raise DataError(f"{where}: expected a dense table, got a sparse matrix. Pass data.toarray() if it fits in memory.")
    if isinstance(data, np.ndarray):
        array: npt.NDArray[Any] = data
    elif _is_nested(data):
        array = _matrix_of_lists(data)
    else:
        problem = f"{where}: expected a table, got what NumPy cannot read"
        array = explained(
            lambda: np.asarray(data), lambda error: f"{problem} ({type(error).__name__}). Pass an array or a data frame."
        )
    check_array_type(where, array.dtype)
    if array.ndim != 2:
        raise DataError(
            f"{where}: expected a 2-d table, got {array.ndim} dimension(s). Reshape your data with reshape(-1, 1) if it has "
            "a single column or reshape(1, -1) if it is a single row."
        )
    if array.shape[1] == 0:
        raise DataError(f"{where}: 0 feature(s) found while a minimum of 1 is required. Pass a table with columns.")
    if isinstance(array, np.ma.MaskedArray):
        return np.where(np.ma.getmaskarray(array), np.nan, as_numbers(np.ma.getdata(array)).astype(np.float64))
    return as_numbers(array)


def check_array_type(where: str, dtype: np.dtype[Any]) -> None:
    """Refuse a type of arrays that cannot hold numbers."""
    if dtype.kind == "c":
        raise DataError(f"{where}: expected real numbers, got complex ones. Complex data not supported; pass real columns.")
    if dtype.kind not in "fiubOUST":
        raise DataError(f"{where}: expected numbers, got dtype {dtype}. Pass numeric columns only.")


# -- nested lists ----------------------------------------------------------------------------------------------------------


def _is_nested(data: object) -> bool:
    """Whether `data` is a sequence that is no array: NumPy would infer one type over all its rows."""
    kind = type(data)
    if isinstance(data, Mapping | str | bytes | bytearray | memoryview) or any(hasattr(kind, name) for name in ARRAYS):
        return False
    return hasattr(kind, "__len__") and hasattr(kind, "__getitem__")


def _matrix_of_lists(data: Any) -> npt.NDArray[np.float64]:
    """Return the rows of a sequence as a matrix; where most entries are no rows, the result has one dimension."""
    rows = [_row(entry) for entry in data]
    lengths = Counter(NO_ROW if row is None else len(row) for row in rows)
    width = max(lengths, key=lambda length: (lengths[length], length), default=NO_ROW)
    if width == NO_ROW:
        return np.empty(len(rows))
    gap = [None] * width
    entries = chain.from_iterable(row if row is not None and len(row) == width else gap for row in rows)
    return doubles_of(entries, (len(rows), width))


def _row(entry: Any) -> Sequence[Any] | None:
    """Return the values of one row; an entry that is no row has none."""
    if type(entry) in (list, tuple):  # most are
        return cast(Sequence[Any], entry)
    try:
        if not _is_nested(entry) and not hasattr(entry, "shape"):
            return None
        if len(getattr(entry, "shape", (0,))) != 1:
            return None
        return entry.tolist() if hasattr(entry, "tolist") and not isinstance(entry, np.ndarray) else list(entry)
    except Exception:  # whatever it is, it belongs to one row
        return None


# -- scaled rows -----------------------------------------------------------------------------------------------------------


class ScaledRows(np.ndarray[Any, np.dtype[np.float64]]):
    """Rows with the public box that they lie in and the receipt of the scaler.

    What NumPy computes from them (slices, copies, sums, stacks) may lie elsewhere, so `bounds` is lost. It depends on what the
    scaler found, too, so `receipt` stays; of several scalers, both count. A plain array (``np.asarray``) has neither.
    """

    bounds: Box | None
    receipt: Receipt | None

    def __array_finalize__(self, other: object) -> None:
        self.bounds, self.receipt = None, getattr(other, "receipt", None)

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:  # of sums, products, ...
        found = super().__array_wrap__(array, context, return_scalar)
        return found if context is None or not isinstance(found, ScaledRows) else _noted(found, None, scaled_by(context[1]))

    def __array_function__(
        self, func: Callable[..., Any], types: Iterable[type], args: Iterable[Any], kwargs: Any
    ) -> Any:  # stacks of subclasses come out as plain arrays otherwise
        found = super().__array_function__(func, types, args, kwargs)
        if not isinstance(found, np.ndarray) or found.ndim == 0:
            return found
        return _noted(found.view(ScaledRows), None, scaled_by([*args, *kwargs.values()]))

    def __reduce__(self) -> tuple[Any, ...]:
        return _noted, (np.asarray(self), self.bounds, self.receipt)


def scaled_by(values: Iterable[object]) -> Receipt | None:
    """Return what the scalers of some arrays, also in lists, have paid; each is counted once."""
    found = tuple(dict.fromkeys({id(one): one for one in _receipts(values)}.values()))
    if len(found) < 2:
        return next(iter(found), None)
    each = chain.from_iterable(one.parts if one.joined == SAME else (one,) for one in found)
    return Receipt.cover(list(dict.fromkeys(each)), SAME)


def _receipts(values: Iterable[object]) -> Iterator[Receipt]:
    for value in values:
        if isinstance(value, list | tuple):
            yield from _receipts(value)
        elif isinstance(value, np.ndarray) and isinstance(receipt := getattr(value, "receipt", None), Receipt):
            yield receipt


def _noted(rows: npt.NDArray[Any], bounds: Box | None, receipt: Receipt | None) -> ScaledRows:
    scaled = rows.view(ScaledRows)
    scaled.bounds, scaled.receipt = bounds, receipt
    return scaled
