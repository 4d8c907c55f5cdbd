# SPDX-License-Identifier: Apache-2.0
"""Reading what columns are: declarations, or what stands for one. Anyone may import this module."""

import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from cloister import validate
from cloister.columns._category import Category
from cloister.columns._column import KINDS, MEAN, PRIVATE, Declaration
from cloister.columns._date import KNOWN, Date
from cloister.columns._number import Number
from cloister.columns._values import days_of

REMEDY = (
    'Pass (low, high), "private", Number(low, high), Category(levels), Flag() or Date(low, high), or in a file '
    '{"type": "category", "levels": ["f", "m"]}.'
)


def declare_columns(where: str, columns: Mapping[Any, Any], *, missing: str = MEAN) -> dict[str, Declaration]:
    """Read a mapping of columns to declarations, or to what stands for one: a pair, a word, plain data of a schema file.

    `missing` is where missing values are placed in columns of which this is not said.

    Examples
    --------
    >>> declare_columns("bounds", {"age": (0, 120), "income": "private", "smoker": {"type": "flag"}})["smoker"]
    Flag()
    """
    if not columns:
        validate.refuse(where, "at least one column", dict(columns), remedy='Pass {"age": (0, 120)}.')
    found: dict[str, Declaration] = {}
    for name, value in columns.items():
        if not isinstance(name, str) or not name:
            validate.refuse(where, "names of columns as keys", name, remedy='Pass {"age": (0, 120)}.')
        one = _declare(f"{where}[{name!r}]", value)
        says_missing = isinstance(value, Declaration) or (isinstance(value, Mapping) and "missing" in value)
        found[name] = one if says_missing or missing == MEAN else replace(one, missing=missing)
    return found


def _declare(where: str, value: object) -> Declaration:
    if isinstance(value, Declaration):
        return value
    if validate.is_word(value, PRIVATE):
        return Number(PRIVATE)
    if isinstance(value, str) and value in KINDS and not KINDS[value].needs:
        return KINDS[value]()
    if isinstance(value, Mapping):
        return _from_plain(where, value)
    pair = _as_pair(value)
    if pair is None:
        validate.refuse(where, "what the column is", value, remedy=REMEDY)
    if _are_dates(pair):
        return Date(*pair)
    low, high = (validate.number(where, end, remedy="Pass two numbers or two dates.") for end in pair)
    if not low < high:
        validate.refuse(where, "low < high", (low, high), remedy="Swap the two, or widen the interval.")
    return Number(low, high)


def _from_plain(where: str, data: Mapping[Any, Any]) -> Declaration:
    """Read the plain data of a schema file."""
    given = {str(key): value for key, value in data.items()}
    kind = validate.one_of(f"{where}.type", given.pop("type", _kind_of(given)), tuple(KINDS))
    chosen = KINDS[kind]
    bounds = given.pop("bounds", None)
    if validate.is_word(bounds, PRIVATE) and chosen.can_be_private:
        given["low"] = PRIVATE
    elif bounds is not None:
        pair = _as_pair(bounds)
        if pair is None or "high" not in chosen.needs:
            remedy = KNOWN if validate.is_word(bounds, PRIVATE) and "high" in chosen.needs else REMEDY
            validate.refuse(f"{where}.bounds", "a pair [low, high]", bounds, remedy=remedy)
        given["low"], given["high"] = pair
    allowed = {one.name for one in fields(chosen)}
    needed = [name for name in chosen.needs if not (name == "high" and chosen.can_be_private)]
    if odd := set(given) - allowed:
        remedy = f"A {kind} has: {', '.join(sorted(allowed))}."
        validate.refuse(where, f"what belongs to a {kind}", sorted(odd)[0], remedy=remedy)
    if lacking := set(needed) - set(given):
        remedy = KNOWN if validate.is_word(given.get("low"), PRIVATE) else REMEDY
        validate.refuse(where, f"{' and '.join(sorted(needed))} for a {kind}", f"no {sorted(lacking)[0]}", remedy=remedy)
    return chosen(**given)


def _kind_of(given: Mapping[str, Any]) -> str:
    """Return the type of a column that does not say it: what has levels is a category, what lies between dates is one."""
    if "levels" in given:
        return Category.kind
    ends = _as_pair(given.get("bounds")) or (given.get("low"), given.get("high"))
    return Date.kind if _are_dates(ends) else Number.kind


def _are_dates(ends: tuple[Any, Any]) -> bool:
    return all(not isinstance(end, numbers.Real) and not math.isnan(days_of(end)) for end in ends)


def _as_pair(value: object) -> tuple[Any, Any] | None:
    if isinstance(value, Sequence) and not isinstance(value, str | bytes) and len(value) == 2:
        return value[0], value[1]
    if hasattr(value, "tolist") and hasattr(value, "shape") and tuple(value.shape) == (2,):
        low, high = value.tolist()
        return low, high
    return None
