# SPDX-License-Identifier: Apache-2.0
"""One value, one number, as its column was declared: how the columns of Arrow, pandas and NumPy become doubles.

A declaration says what its values become. Here many of them are handed to it: each distinct one once, times in days since
1970-01-01. A missing value is NaN. What a value becomes depends on the value and on the declaration alone, not on the library
that holds it, nor on how its column is cut. No value raises an error or a warning. Ids become their hashes instead. Imported by
the readers, here and on workers alike.
"""

import math
from collections.abc import Callable, Iterable
from datetime import date
from decimal import Decimal
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cloister.columns import Declaration, Identifier, days_of, quiet, to_number
from cloister.data._columns import ReadAs
from cloister.data._ids import hash_array, hash_arrow, hash_objects, missing_ids
from cloister.data._values import as_numbers, is_text, read_entries

Doubles: TypeAlias = npt.NDArray[np.float64]
ReadValue: TypeAlias = Callable[[Any], float]

SECONDS_A_DAY = 86400
PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
EPOCH = date(1970, 1, 1).toordinal()
FIRST_DAY, LAST_DAY = date.min.toordinal() - EPOCH, date.max.toordinal() - EPOCH  # of the calendar that Python has
GAP = np.array([math.nan])
DECIMAL_BITS = 128  # of the usual decimals of Arrow
WHOLE_DIGITS = 19  # of a decimal that may be a whole number of 64 bits


# -- columns ---------------------------------------------------------------------------------------------------------------


def decode_arrow(column: pa.ChunkedArray, declared: ReadAs) -> Doubles:
    """Return a column of Arrow; one whose type holds no single values is missing throughout."""
    if isinstance(declared, Identifier):
        return hash_arrow(column, declared)
    parts = [_decode_chunk(chunk, declared) for chunk in column.chunks]
    return np.concatenate([np.empty(0), *parts])


@quiet
def decode_array(array: npt.NDArray[Any], declared: ReadAs) -> Doubles:
    """Return a column of NumPy: by its type, or value by value where that is no type of numbers or times."""
    if isinstance(declared, Identifier):
        return hash_array(array, declared)
    kind = array.dtype.kind
    if kind == "M":
        return declared.from_days(_days_of_datetimes(array))
    if kind not in "fiub":
        return decode_objects(array, declared)
    if declared.are_numbers:
        return declared.from_numbers(as_numbers(array).astype(np.float64))
    distinct, places = np.unique(as_numbers(array), return_inverse=True)
    return decode_objects(distinct.tolist(), declared)[places.ravel()]


@quiet
def decode_objects(values: Iterable[Any], declared: ReadAs) -> Doubles:
    """Return Python objects, each read by itself."""
    if isinstance(declared, Identifier):
        return hash_objects(values, declared)
    read: ReadValue = to_number if declared.are_numbers else partial(_read, declared)
    known: dict[str, float] = {}  # words come again and again

    def one(value: Any) -> float:
        try:
            if type(value) is not str:
                return read(value)
            if value not in known:
                known[value] = read(value)
            return known[value]
        except Exception:  # whatever it is, it is one value
            return math.nan

    return declared.from_numbers(np.fromiter(map(one, values), dtype=np.float64))


def decode_moments(ticks: npt.NDArray[Any], unit: str, missing: npt.NDArray[np.bool_], declared: ReadAs) -> Doubles:
    """Return times that are counted in a unit ("s", "ms", "us" or "ns") since 1970-01-01 in UTC; none of them is an id."""
    if isinstance(declared, Identifier):
        return missing_ids(len(ticks), declared)
    return declared.from_days(_days_of_ticks(ticks.astype(np.int64), PER_SECOND[unit], missing))


def gap_of(declared: ReadAs) -> Doubles:
    """Return what stands for one missing value."""
    return missing_ids(1, declared) if isinstance(declared, Identifier) else GAP


# -- chunks of Arrow -------------------------------------------------------------------------------------------------------


def _decode_chunk(chunk: pa.Array, declared: Declaration) -> Doubles:
    kind = chunk.type
    if pa.types.is_dictionary(kind):
        return read_entries(chunk, partial(_decode_chunk, declared=declared), GAP)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        missing = np.asarray(chunk.is_null().to_numpy(zero_copy_only=False))
        is_32 = pa.types.is_date32(kind)
        whole = chunk.cast(pa.int32() if is_32 else pa.int64()).fill_null(0)
        ticks = np.asarray(whole.to_numpy(zero_copy_only=False)).astype(np.int64)
        if pa.types.is_date(kind):
            return declared.from_days(_known_days(ticks if is_32 else ticks // (SECONDS_A_DAY * 1000), missing))
        return decode_moments(ticks, kind.unit, missing, declared)
    numbers = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal)
    if is_text(kind):
        # As bytes, because Arrow does not check that text is text, and reading one value that is none would raise an error.
        chunk = pc.cast(chunk, pa.large_binary())
    elif not any(is_kind(kind) for is_kind in numbers):
        return np.full(len(chunk), math.nan)
    elif declared.are_numbers:
        return declared.from_numbers(np.asarray(pc.cast(chunk, pa.float64(), safe=False).to_numpy(zero_copy_only=False)))
    elif pa.types.is_decimal(kind) and kind.bit_width < DECIMAL_BITS:  # Arrow has no dictionaries of these
        chunk = chunk.cast(pa.decimal128(kind.precision, kind.scale))
    return read_entries(chunk.dictionary_encode(), partial(_decode_entries, declared=declared), GAP)


def _decode_entries(entries: pa.Array, declared: Declaration) -> Doubles:
    values = entries.to_pylist()
    return decode_objects((one.decode("utf-8", "replace") if isinstance(one, bytes) else one for one in values), declared)


# -- times -----------------------------------------------------------------------------------------------------------------


def _days_of_datetimes(array: npt.NDArray[Any]) -> Doubles:
    """Return times of NumPy, in whatever unit, as days."""
    unit, step = np.datetime_data(array.dtype)
    missing = np.isnat(array)
    if unit in PER_SECOND and step == 1:
        return _days_of_ticks(array.view(np.int64), PER_SECOND[unit], missing)
    return np.array([math.nan if gone else _rare_day(value) for value, gone in zip(array, missing, strict=True)], dtype=float)


def _rare_day(value: np.datetime64) -> float:
    """Return one time in a unit that tables do not have: years, hours, parts of a nanosecond."""
    same = value.astype("datetime64[us]")
    if np.datetime_data(value.dtype)[0] in ("ps", "fs", "as") or same.astype(value.dtype) == value:  # no overflow
        return float(_days_of_datetimes(same.reshape(1))[0])
    return math.nan


def _days_of_ticks(ticks: npt.NDArray[np.int64], per_second: int, missing: npt.NDArray[np.bool_]) -> Doubles:
    """Return counts of a unit as days, to the microsecond, by the very arithmetic of ``days_of``."""
    days, rest = np.divmod(ticks, SECONDS_A_DAY * per_second)
    seconds, rest = np.divmod(rest, per_second)
    micros = rest // (per_second // 10**6) if per_second > 10**6 else rest * (10**6 // per_second)
    return _known_days(days, missing) + (seconds + micros / 1e6) / SECONDS_A_DAY


def _known_days(days: npt.NDArray[np.int64], missing: npt.NDArray[np.bool_]) -> Doubles:
    """Return days as doubles; those beyond the calendar are missing, as they are in text and in Python's own dates."""
    return np.where(missing | (days < FIRST_DAY) | (days > LAST_DAY), math.nan, days.astype(np.float64))


# -- single values ---------------------------------------------------------------------------------------------------------


def _read(declared: Declaration, value: Any) -> float:
    """Return what one value of a column becomes: words and numbers as the column reads them, times by the moment they mean."""
    if isinstance(value, np.ndarray) and not value.ndim:  # a masked entry holds nothing
        value = None if isinstance(value, np.ma.MaskedArray) else value[()]
    if isinstance(value, np.datetime64):
        return declared.from_day(float(_days_of_datetimes(np.array([value]))[0]))
    if isinstance(value, date):
        return declared.from_day(days_of(value))
    if isinstance(value, np.longdouble):
        value = float(value)
    elif isinstance(value, Decimal):
        is_whole = value.is_finite() and value.adjusted() < WHOLE_DIGITS and value == value.to_integral_value()
        value = int(value) if is_whole else float(value)
    return declared.read(value)
