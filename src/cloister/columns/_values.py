# SPDX-License-Identifier: Apache-2.0
"""How one value is read: as a number, as the text by which a level is compared, or in days. Nothing is inferred over several.

A number is rounded to the nearest double; one beyond the range of doubles is infinite. Text is read as ``float`` reads it.
Everything else is missing. No value raises an error or a warning. Anyone may import this module.
"""

import math
import numbers
import warnings
from contextlib import suppress
from datetime import UTC, date, datetime, time
from decimal import Decimal
from threading import Lock
from typing import Any

import numpy as np

SECONDS_A_DAY = 86400
LAST_DAY = date.max.toordinal() - date(1970, 1, 1).toordinal()  # that can be written
PLAIN = {int, bool, str, bytes, Decimal}
KNOWN = ("builtins", "decimal", "fractions", "numpy")  # modules whose numbers warn of nothing
FOREIGN = Lock()  # one thread at a time changes which warnings are shown
READABLE = (float, int, Decimal, str, bytes, np.bool_, numbers.Real)
LEVELS_OF_A_FLAG = {
    **dict.fromkeys(("false", "f", "no", "n", "0", "off"), 0.0),
    **dict.fromkeys(("true", "t", "yes", "y", "1", "on"), 1.0),
}


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


def level_key(value: Any) -> str | None:
    """Return the text by which a value of a category is compared to its levels; None where it is missing.

    Spaces around a word do not count. Whole numbers are written without a point, so that 1, 1.0 and "1" are the same level.
    """
    value = as_python(value)
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace").strip() or None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        with suppress(ValueError):  # an integer of very many digits
            return str(value)
        return None
    if isinstance(value, float):
        if math.isnan(value):
            return None
        return str(int(value)) if value.is_integer() and abs(value) < 2**63 else repr(value)
    if isinstance(value, datetime | date):
        with suppress(Exception):  # NaT calls itself a date
            return value.isoformat() if value == value else None
    return None


def days_of(value: Any) -> float:
    """Return a date or a time as days since 1970-01-01, in UTC; NaN where it is none. Text is read by ISO 8601.

    Examples
    --------
    >>> days_of("1970-01-02"), days_of("1970-01-01T12:00:00"), days_of("soon")
    (1.0, 0.5, nan)
    """
    try:
        if isinstance(value, bytes):
            value = value.decode()
        if isinstance(value, str):
            value = datetime.fromisoformat(value.strip())
        elif hasattr(value, "dtype") and getattr(value.dtype, "kind", "") == "M":
            moment = value.astype("datetime64[us]")
            value = moment.item() if moment.astype(value.dtype) == value else None  # beyond its range it wraps around
        if isinstance(value, date) and not isinstance(value, datetime):
            value = datetime.combine(value, time())
        if not isinstance(value, datetime):
            return math.nan
        when = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
        span = when - datetime(1970, 1, 1, tzinfo=UTC)
        return span.days + (span.seconds + span.microseconds / 1e6) / SECONDS_A_DAY
    except Exception:  # whatever it is, it is one value
        return math.nan


def iso_date(days: float) -> str:
    """Return days since 1970-01-01 as a date, or as a time, to the second, where they are no whole number.

    Examples
    --------
    >>> iso_date(20000.0), iso_date(0.5)
    ('2024-10-04', '1970-01-01T12:00:00')
    """
    whole = math.floor(days)
    seconds = round((days - whole) * SECONDS_A_DAY)
    if seconds == SECONDS_A_DAY:
        whole, seconds = whole + 1, 0
    if whole > LAST_DAY:
        whole, seconds = LAST_DAY, SECONDS_A_DAY - 1
    day = date.fromordinal(date(1970, 1, 1).toordinal() + whole).isoformat()
    clock = time(seconds // 3600, seconds // 60 % 60, seconds % 60).isoformat()
    return f"{day}T{clock}" if seconds else day


def as_python(value: object) -> object:
    """Return a scalar of NumPy as one of Python; a masked one, and a span of time, is none."""
    if type(value).__name__ == "MaskedConstant":
        return None
    if hasattr(value, "item") and hasattr(value, "dtype") and getattr(value, "shape", None) == ():
        if getattr(value.dtype, "kind", "") == "m":  # one of nanoseconds would become a number
            return None
        with suppress(Exception):
            return value.item()
    return value
