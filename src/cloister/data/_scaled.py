# SPDX-License-Identifier: Apache-2.0
"""Rows that a PrivateScaler has scaled: still private, and with a note of what was paid to find where they lie."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from cloister.columns import Box
from cloister.privacy import SAME, Receipt

__all__ = ["ScaledRows", "scaled_by"]


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
