# SPDX-License-Identifier: Apache-2.0
"""Many values as numbers: arrays and Python objects as doubles. Imported by the backends."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from cloister.columns import quiet, to_number

DOUBLE = 8  # bytes


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
