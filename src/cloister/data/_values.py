# SPDX-License-Identifier: Apache-2.0
"""One value, one number: how Python objects become doubles. Each is read by itself; nothing is inferred over several.

A number is rounded to the nearest double; one beyond the range of doubles is infinite. Text is read as ``float`` reads it.
Everything else (``None``, ``NA``, ``NaT``, a date, a list, a complex number, text that is no number) is missing. No value
raises an error or a warning. Imported by the backends.
"""

import math
import numbers
import warnings
from collections.abc import Iterable
from contextlib import suppress
from decimal import Decimal
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from cloister.columns import quiet

__all__ = ["as_numbers", "doubles_of", "to_number"]

DOUBLE = 8  # bytes
PLAIN = {int, bool, str, bytes, Decimal}
KNOWN = ("builtins", "decimal", "fractions", "numpy")  # modules whose numbers warn of nothing
FOREIGN = Lock()  # one thread at a time changes which warnings are shown
READABLE = (float, int, Decimal, str, bytes, np.bool_, numbers.Real)


def to_number(value: Any) -> float:
    """Return one value as a double, NaN where it is no number."""
    if type(value) is float:  # most are
        return value
    try:
        return float(value) if type(value) in PLAIN else _read(value)
    except OverflowError:
        return _infinite(value)
    except Exception:  # text that is no number, or a number of another library that has no double
        return math.nan


def _read(value: Any) -> float:
    kind = type(value)  # and not what the value says of itself
    if issubclass(kind, np.ndarray) and value.ndim == 0 and not issubclass(kind, np.ma.MaskedArray):
        value = value[()]  # as item would turn times of nanoseconds into numbers
        kind = type(value)
    if not issubclass(kind, READABLE) or issubclass(kind, np.timedelta64):
        return math.nan
    if kind.__module__ in KNOWN:
        return float(value)
    with FOREIGN, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a type of another library warns of would reveal that such a value is there
        return float(value)


def _infinite(value: Any) -> float:
    with suppress(Exception):  # a number of another library may not compare
        return math.inf if value > 0 else -math.inf
    return math.nan


@quiet
def doubles_of(values: Iterable[Any], shape: tuple[int, ...]) -> npt.NDArray[np.float64]:
    """Return Python objects, in C order, as an array of doubles of this shape."""
    return np.fromiter(map(to_number, values), dtype=np.float64, count=math.prod(shape)).reshape(shape)


@quiet
def as_numbers(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return an array as it is, if its type is that of numbers no longer than a double; otherwise its values as doubles."""
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind not in "fiub":
        return doubles_of(array.flat, array.shape)
    return array if size <= DOUBLE else array.astype(np.float64)
