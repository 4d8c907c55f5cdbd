# SPDX-License-Identifier: Apache-2.0
"""One small checker per kind of rule, all with one wording.

Each checker takes ``where`` (the owner and the parameter, as in ``"PEMeans.epsilon"``) and the value, returns the value in
its canonical type, and raises :class:`~cloister.exceptions.ParameterError` otherwise. Anyone may import this module.
"""

import math
import numbers
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from typing import Any, NoReturn

from cloister.exceptions import ParameterError

__all__ = ["boolean", "columns", "integer", "is_word", "items", "number", "one_of", "refuse", "text"]

MOST_LISTED = 50  # columns in an error
LONGEST_TEXT = 200  # characters of a name or a purpose


def refuse(where: str, rule: str, value: object, *, remedy: str) -> NoReturn:
    """Raise the error that names the parameter, the rule, the value and the remedy."""
    raise ParameterError(f"{where}: expected {rule}, got {_short(value)}. {remedy}")


def integer(where: str, value: object, *, low: int, high: int | None = None, remedy: str = "") -> int:
    """Return `value` as an int in ``[low, high]``."""
    rule = f"an integer of at least {low}" if high is None else f"an integer from {low} to {high}"
    result = _as_int(value)
    if result is None or result < low or (high is not None and result > high):
        refuse(where, rule, value, remedy=remedy or f"Pass {rule}.")
    return result


def number(
    where: str,
    value: object,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    open_low: bool = False,
    open_high: bool = False,
    remedy: str = "",
) -> float:
    """Return `value` as a finite float between `low` and `high`."""
    rule = _range_rule(low, high, open_low=open_low, open_high=open_high)
    result = _as_float(value) if isinstance(value, numbers.Real) and not isinstance(value, bool) else math.nan
    too_low = result <= low if open_low else result < low
    too_high = result >= high if open_high else result > high
    if too_low or too_high or not math.isfinite(result):
        refuse(where, rule, value, remedy=remedy or f"Pass {rule}.")
    return result


def one_of(where: str, value: object, allowed: Collection[str], *, remedy: str = "") -> str:
    """Return `value` if it is one of the allowed words."""
    words = ", ".join(repr(word) for word in sorted(allowed))
    if not isinstance(value, str) or value not in allowed:
        refuse(where, f"one of {words}", value, remedy=remedy or "Pass one of these words.")
    return value


def items(where: str, value: object, *, rule: str, remedy: str) -> list[Any]:
    """Return what a list, a tuple or another series holds; a word is no series of letters."""
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | dict):
        with suppress(TypeError):  # an array without an axis
            return list(value)
    refuse(where, rule, value, remedy=remedy)


def columns(where: str, value: object, names: Sequence[str]) -> list[int]:
    """Return names or positions of columns as positions, each once."""
    listed = ", ".join(names[:MOST_LISTED]) + (f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else "")
    remedy = f"The columns are: {listed}."
    places = []
    for column in items(where, value, rule="a list of columns", remedy=remedy):
        if isinstance(column, str) and column not in names:
            refuse(where, "names of columns", column, remedy=remedy)
        position = names.index(column) if isinstance(column, str) else column
        places.append(integer(where, position, low=0, high=len(names) - 1, remedy=remedy))
    if not places or len(set(places)) != len(places):
        refuse(where, "one or more columns, each once", value, remedy="Name them once.")
    return places


def is_word(value: object, word: str) -> bool:
    """Return whether `value` is that word; an array, which compares entry by entry, is not."""
    return isinstance(value, str) and value == word


def boolean(where: str, value: object) -> bool:
    """Return `value` if it is a truth value."""
    if not isinstance(value, bool):
        refuse(where, "True or False", value, remedy="Pass True or False.")
    return value


def text(where: str, value: object, *, longest: int = LONGEST_TEXT) -> str:
    """Return `value` if it is text of one line that can be printed; it may be empty."""
    if not isinstance(value, str) or len(value) > longest or not value.isprintable():
        rule = f"text of at most {longest} characters, in one line and without control characters"
        refuse(where, rule, value, remedy="Pass a short text, or leave it out.")
    return str(value)


def _as_int(value: object) -> int | None:
    if not isinstance(value, numbers.Integral) or isinstance(value, bool):
        return None
    try:
        return int(value)
    except TypeError:  # a span of time calls itself an integer
        return None


def _as_float(value: numbers.Real) -> float:
    try:
        return float(value)
    except OverflowError:  # a Python integer or fraction that no float can hold
        return math.inf
    except TypeError:  # a span of time calls itself a number
        return math.nan


def _range_rule(low: float, high: float, *, open_low: bool, open_high: bool) -> str:
    parts = []
    if low > -math.inf:
        parts.append(f"{'above' if open_low else 'of at least'} {low:g}")
    if high < math.inf:
        parts.append(f"{'below' if open_high else 'of at most'} {high:g}")
    return " ".join(["a finite number", " and ".join(parts)]).strip()


def _short(value: object) -> str:
    """Describe a public parameter value in at most about 80 characters."""
    try:
        text = repr(value)
    except Exception:  # an integer of very many digits, or an object that is broken
        return f"a value of type {type(value).__name__}"
    return text if len(text) <= 80 else f"{type(value).__name__} {text[:70]}..."
