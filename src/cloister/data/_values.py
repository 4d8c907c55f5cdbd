# SPDX-License-Identifier: Apache-2.0
"""Many values as numbers: arrays and Python objects as doubles, columns of Arrow by their entries. Imported by the readers."""

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cloister.columns import quiet, to_number

DOUBLE = 8  # bytes
VIEWS = {"string_view": pa.large_string(), "binary_view": pa.large_binary()}


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


def is_text(kind: pa.DataType) -> bool:
    """Whether a type of Arrow holds text, or bytes, which may be text that was not checked."""
    return any(name in str(kind) for name in ("string", "binary")) and not pa.types.is_nested(kind)


def without_views(values: Any) -> Any:
    """Return a column, or a part of one, in a form that Arrow can take values from: from views of text it cannot."""
    return values.cast(VIEWS[str(values.type)]) if str(values.type) in VIEWS else values


def read_entries(
    chunk: pa.DictionaryArray, read: Callable[[pa.Array], npt.NDArray[np.float64]], gap: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Return what is read of a dictionary: each entry once or, of a few rows of many entries, their own; the gap for nulls."""
    entries = without_views(chunk.dictionary)
    if len(entries) > len(chunk):
        return read(entries.take(chunk.indices))
    places = np.asarray(chunk.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False))
    return spread(read(entries), places, gap)


def spread(found: npt.NDArray[np.float64], places: npt.NDArray[Any], gap: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return what was found at each place, and the gap at the place -1."""
    return np.asarray(np.concatenate([found, gap])[places])
