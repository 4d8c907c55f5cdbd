# SPDX-License-Identifier: Apache-2.0
"""What an id means, and how a column of ids becomes a keyed hash. No id goes further than this. Imported by the readers.

An id is its text, and two rows are of one person if their texts are the same, whichever libraries and types hold them:

- text is compared exactly: case, spaces and every other character count. Bytes are the text that they are in UTF-8; bytes that
  are no text are compared as bytes, and no two of them are merged;
- a whole number is its decimal digits, also where it is stored as a float or a decimal: 7, 7.0, Decimal("7.00") and the text
  "7" are one person. The text "7.0" is another one, and so is "007". Integers of any length are exact;
- another number is the shortest text that reads as the same number of its type, such as "0.5" or "inf"; a truth value is "true"
  or "false"; a UUID is its usual text;
- categories and dictionaries are their values;
- a missing id (None, NaN, NA, null, an empty text, and whatever else a Python object may be) is the empty text. So all rows
  without an id are one person. Were each of them one of its own, somebody with several rows and no id would not be protected.

Each id is read by itself: no type is inferred over several, and no value raises an error or a warning. A type that holds no ids
(dates, times, lists) is refused where the column is opened. Where a part of a table is of such a type, its values are missing.
"""

import math
import numbers
from collections.abc import Iterable
from decimal import Decimal
from functools import partial
from itertools import islice
from typing import Any, TypeAlias
from uuid import UUID

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cloister.columns import Identifier, quiet
from cloister.data._id_hash import LANES, hash_bytes
from cloister.data._values import DOUBLE, is_text, read_entries, without_views

Lanes: TypeAlias = npt.NDArray[np.float64]  # (n_ids, 2)

SLICE = 1 << 16  # ids whose texts are in memory at a time
MISSING = b""
NO_TEXT = b"\xff"  # begins no text in UTF-8
UUID_TYPE = "arrow.uuid"
WHOLE_LIMIT = 2.0**63  # from where a float is no integer of 64 bits
LONG_INTEGER = 2000  # bits: Python refuses to write much longer ones
LONG_ZEROS = 10_000  # at the end of a number, or behind its point: more are not written out


# -- columns ---------------------------------------------------------------------------------------------------------------


def hash_arrow(column: pa.ChunkedArray | pa.Array, ids: Identifier) -> Lanes:
    """Return the lanes of a column of Arrow."""
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    parts = [np.empty((0, LANES))]
    for chunk in chunks:
        is_whole = pa.types.is_dictionary(chunk.type)  # so that its entries are hashed once
        size = max(1, len(chunk)) if is_whole else SLICE
        parts += [_hash_chunk(chunk.slice(first, size), ids) for first in range(0, len(chunk), size)]
    return np.concatenate(parts)


@quiet
def hash_array(array: npt.NDArray[Any], ids: Identifier) -> Lanes:
    """Return the lanes of a column of NumPy: by its type, or value by value where that is no type of numbers."""
    if isinstance(array, np.ma.MaskedArray):
        return np.where(np.ma.getmaskarray(array)[:, None], missing_ids(1, ids), hash_array(np.ma.getdata(array), ids))
    kind = array.dtype.kind
    if kind in "iub" or (kind == "f" and array.dtype.itemsize <= DOUBLE):
        return hash_arrow(pa.array(array.astype(array.dtype.newbyteorder("="), copy=False)), ids)
    return hash_objects(array, ids)


@quiet
def hash_objects(values: Iterable[Any], ids: Identifier) -> Lanes:
    """Return the lanes of Python objects, each read by itself."""
    left, parts = iter(values), [np.empty((0, LANES))]
    while some := [_bytes_of(value) for value in islice(left, SLICE)]:
        parts.append(_hash_text(pa.array(some, pa.large_binary()), ids))
    return np.concatenate(parts)


def missing_ids(count: int, ids: Identifier) -> Lanes:
    """Return the lanes of rows without an id."""
    return np.broadcast_to(_hash_text(pa.array([MISSING], pa.large_binary()), ids), (count, LANES))


def utf_8_of(entry: bytes, encoding: str) -> bytes:
    """Return text of another encoding in UTF-8. Bytes that are no text become what no text is, each its own."""
    try:
        return entry.decode(encoding, "surrogateescape").encode("utf-8", "surrogatepass")
    except UnicodeError:
        return NO_TEXT + entry


# -- types -----------------------------------------------------------------------------------------------------------------


def _hash_chunk(chunk: pa.Array, ids: Identifier) -> Lanes:
    kind = chunk.type
    if pa.types.is_dictionary(kind):
        return read_entries(chunk, partial(hash_arrow, ids=ids), missing_ids(1, ids))
    if getattr(kind, "extension_name", None) == UUID_TYPE:
        return hash_objects(chunk.to_pylist(), ids)
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return _hash_text(pc.cast(chunk, pa.large_string()), ids)
    if pa.types.is_floating(kind):
        return _hash_floats(np.asarray(chunk.to_numpy(zero_copy_only=False)), ids)
    if pa.types.is_decimal(kind):
        try:
            return _hash_chunk(pc.cast(chunk, pa.int64()), ids)
        except pa.ArrowException:  # some have a fraction, or are larger
            return hash_objects(chunk.to_pylist(), ids)
    if is_text(kind):
        return _hash_text(without_views(chunk), ids)
    return missing_ids(len(chunk), ids)


def _hash_text(chunk: pa.Array, ids: Identifier) -> Lanes:
    """Return the lanes of text or bytes, from the memory in which they lie."""
    if not len(chunk):
        return np.empty((0, LANES))
    entries = pc.cast(chunk, pa.large_binary())  # as bytes, because Arrow does not check that text is text
    if entries.null_count:
        entries = entries.fill_null(MISSING)
    _, places, data = entries.buffers()
    offsets = np.frombuffer(places, dtype=np.int64)[entries.offset : entries.offset + len(entries) + 1]
    memory = np.frombuffer(data, dtype=np.uint8) if data is not None and data.size else np.empty(0, dtype=np.uint8)
    return hash_bytes(memory, offsets, ids.key)


@quiet
def _hash_floats(array: npt.NDArray[np.floating[Any]], ids: Identifier) -> Lanes:
    """Return whole numbers by their digits, all at once, and others one by one."""
    is_whole = (array == np.floor(array)) & (np.abs(array) < array.dtype.type(WHOLE_LIMIT))
    whole = np.where(is_whole, array, 0).astype(np.int64)
    lanes = _hash_chunk(pa.array(whole, mask=~is_whole), ids)
    rest = np.flatnonzero(~is_whole & ~np.isnan(array))
    lanes[rest] = hash_objects(array[rest], ids)
    return lanes


# -- single values ---------------------------------------------------------------------------------------------------------


def _bytes_of(value: Any) -> bytes:
    """Return the text of one id in UTF-8."""
    try:
        if type(value) is str:  # most are
            return value.encode()
        if type(value) is int:
            return _text_of_integer(value).encode()
        if isinstance(value, bytes | bytearray | memoryview):
            return bytes(value)
        if isinstance(value, np.ndarray):
            return _bytes_of(value[()]) if value.ndim == 0 and not isinstance(value, np.ma.MaskedArray) else MISSING
        return str.encode(value if isinstance(value, str) else _text_of(value))
    except Exception:  # whatever it is, it is one value; half of a pair that makes up a letter is kept as it is
        return str.encode(value, "utf-8", "surrogatepass") if issubclass(type(value), str) else MISSING


def _text_of(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, numbers.Integral):
        return "" if isinstance(value, np.timedelta64) else _text_of_integer(int(value))
    if isinstance(value, Decimal):
        return _text_of_decimal(value)
    if isinstance(value, float | np.floating | numbers.Real):
        return _text_of_real(value)
    return str(value) if isinstance(value, UUID) else ""


def _text_of_integer(value: int) -> str:
    return str(value) if value.bit_length() <= LONG_INTEGER else _text_of_decimal(Decimal(value))


def _text_of_real(value: Any) -> str:
    if isinstance(value, numbers.Rational) and value.denominator == 1:
        return _text_of_integer(int(value.numerator))
    number = value if isinstance(value, np.longdouble) else float(value)
    if math.isnan(number):
        return ""
    if not np.isfinite(number):
        return repr(float(number))
    if number.is_integer():
        return _text_of_integer(int(number))
    is_short = isinstance(value, np.float16 | np.float32)
    return repr(float(np.format_float_scientific(value) if is_short else number))


def _text_of_decimal(value: Decimal) -> str:
    """Return a decimal as an integer or a float that is the same number; others with all of their digits."""
    if not value.is_finite():
        return "" if value.is_nan() else repr(float(value))
    if not value:
        return "0"
    sign, digits, exponent = value.as_tuple()
    shown = "".join(map(str, digits))
    kept = shown.rstrip("0")
    zeros = int(exponent) + len(shown) - len(kept)  # at the end; below zero, digits behind the point
    if 0 <= zeros <= LONG_ZEROS:
        return f"{value:f}".partition(".")[0]
    if Decimal(repr(float(value))) == value:
        return repr(float(value))
    if -LONG_ZEROS <= zeros < 0:
        return f"{value:f}".rstrip("0")
    return f"{'-' if sign else ''}{kept}e{zeros}"
