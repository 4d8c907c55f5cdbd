# SPDX-License-Identifier: Apache-2.0
"""Rows that a PrivateScaler has scaled: still private, and with a note of what was paid to find where they lie."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from cloister.domain import Box
from cloister.privacy import SAME, Receipt

__all__ = ["ScaledRows"]


class ScaledRows(np.ndarray[Any, np.dtype[np.float64]]):
    """Rows with the public box that they lie in and the receipt of the scaler.

    What NumPy computes from them (slices, copies, sums, stacks) may lie elsewhere, so `bounds` is lost. It depends on what the
    scaler found, too, so `receipt` stays; of several scalers, both count. A plain array (``np.asarray``) has neither.
    """

    bounds: Box | None
    receipt: Receipt | None

    def __array_finalize__(self, other: object) -> None:
        self.bounds, self.receipt = None, getattr(other, "receipt", None)

    def __array_function__(
        self, func: Callable[..., Any], types: Iterable[type], args: Iterable[Any], kwargs: Any
    ) -> Any:  # stacks of subclasses come out as plain arrays otherwise
        found = super().__array_function__(func, types, args, kwargs)
        if not isinstance(found, np.ndarray) or found.ndim == 0:
            return found
        return _noted(found.view(ScaledRows), None, _receipt_of([*args, *kwargs.values()]))

    def __reduce__(self) -> tuple[Any, ...]:
        return _noted, (np.asarray(self), self.bounds, self.receipt)


def _noted(rows: npt.NDArray[Any], bounds: Box | None, receipt: Receipt | None) -> ScaledRows:
    scaled = rows.view(ScaledRows)
    scaled.bounds, scaled.receipt = bounds, receipt
    return scaled


def _receipt_of(values: Iterable[Any]) -> Receipt | None:
    """Return what all scalers of some arrays have paid; each is counted once."""
    found: dict[Receipt, None] = {}
    for value in values:
        receipt = _receipt_of(value) if isinstance(value, list | tuple) else getattr(value, "receipt", None)
        if isinstance(value, list | tuple | ScaledRows) and receipt is not None:
            found[receipt] = None
    return Receipt.cover(list(found), SAME) if len(found) > 1 else next(iter(found), None)
