# SPDX-License-Identifier: Apache-2.0
"""Reading what columns are, and where rows may lie: declarations and domains, what stands for one, and what files say of them.

Anyone may import this module.
"""

import math
import numbers
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from typing import Any

import numpy as np

from cloister import validate
from cloister.columns._category import Category
from cloister.columns._column import KINDS, MEAN, PRIVATE, Declaration
from cloister.columns._date import KNOWN, Date
from cloister.columns._number import Number
from cloister.columns._shapes import Ball, Box
from cloister.columns._table import Table
from cloister.columns._values import days_of
from cloister.exceptions import ParameterError

COLUMN_REMEDY = (
    'Pass (low, high), "private", Number(low, high), Category(levels), Flag(), Date(low, high) or Cyclic(period), or in a file '
    '{"type": "category", "levels": ["f", "m"]}.'
)
RULE = "a pair (low, high), a Box or a Ball, pairs per column, a mapping of columns, or 'private'"
REMEDY = 'Pass bounds=(low, high), or {"age": (0, 120), ...}, or "private" to find them with noise.'


def declare_columns(where: str, columns: Mapping[Any, Any], *, missing: str = MEAN) -> dict[str, Declaration]:
    """Read a mapping of columns to declarations, or to what stands for one: a pair, a word, plain data of a schema file.

    `missing` is where missing values are placed in columns of which this is not said.
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
        validate.refuse(where, "what the column is", value, remedy=COLUMN_REMEDY)
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
            remedy = KNOWN if validate.is_word(bounds, PRIVATE) and "high" in chosen.needs else COLUMN_REMEDY
            validate.refuse(f"{where}.bounds", "a pair [low, high]", bounds, remedy=remedy)
        given["low"], given["high"] = pair
    allowed = {one.name for one in fields(chosen)}
    needed = [name for name in chosen.needs if not (name == "high" and chosen.can_be_private)]
    if odd := set(given) - allowed:
        remedy = f"A {kind} has: {', '.join(sorted(allowed))}."
        validate.refuse(where, f"what belongs to a {kind}", sorted(odd)[0], remedy=remedy)
    if lacking := set(needed) - set(given):
        remedy = KNOWN if validate.is_word(given.get("low"), PRIVATE) else COLUMN_REMEDY
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


def as_domain(where: str, bounds: Any, n_features: int, *, missing: str = MEAN) -> Table:
    """Read `bounds` as a domain of `n_features` columns.

    A Ball, a Box, a pair (low, high) for all columns, a pair of vectors, a list with a pair for each column, a mapping of
    columns to what they are, or "private" for bounds that are to be found with noise. `missing` is where declared columns
    place missing values of which they do not say it.
    """
    if bounds is None:
        remedy = 'Pass bounds=(low, high), or bounds="private" to find them with noise.'
        validate.refuse(where, "a domain known without looking at the data", None, remedy=remedy)
    if isinstance(bounds, Table):
        return bounds.spread(n_features)
    if isinstance(bounds, Mapping):
        return Table(tuple(declare_columns(where, bounds, missing=missing).values())).spread(n_features)
    if validate.is_word(bounds, PRIVATE):
        return Table((Number(PRIVATE, missing=missing),) * n_features)
    if isinstance(bounds, str) and bounds.strip().lower() == PRIVATE:
        validate.refuse(where, RULE, bounds, remedy=f'Pass bounds="{PRIVATE}", in lower case.')
    entries = bounds.tolist() if isinstance(bounds, np.ndarray) else bounds
    if not isinstance(entries, tuple | list) or not entries:
        validate.refuse(where, RULE, bounds, remedy=REMEDY)
    declared = _per_column(where, entries, n_features, missing)
    if declared is not None:
        return declared
    if len(entries) != 2:
        validate.refuse(where, RULE, bounds, remedy=REMEDY)
    return Box(entries[0], entries[1]).spread(n_features)


def _per_column(where: str, entries: Sequence[Any], n_features: int, missing: str) -> Table | None:
    """Return what a list says of each column, or None where it is a pair (low, high)."""
    if any(entry == PRIVATE if isinstance(entry, str) else isinstance(entry, Declaration) for entry in entries):
        if len(entries) != n_features:
            validate.refuse(where, f"one entry for each of {n_features} columns", len(entries), remedy=REMEDY)
        if odd := [entry for entry in entries if isinstance(entry, Declaration) and not entry.as_is]:
            remedy = 'Pass a mapping, {"sex": Category(["f", "m"]), ...}, and a table with column names.'
            validate.refuse(where, "numbers in a list of columns", odd[0], remedy=remedy)
        return as_domain(where, {str(i): entry for i, entry in enumerate(entries)}, n_features, missing=missing)
    if not all(map(_as_pair, entries)) or (len(entries) == 2 and _is_pair_of_vectors(where, entries, n_features)):
        return None
    if len(entries) != n_features:
        validate.refuse(where, f"a pair for each of {n_features} columns", len(entries), remedy=REMEDY)
    return Box([entry[0] for entry in entries], [entry[1] for entry in entries])


def _is_pair_of_vectors(where: str, entries: Sequence[Any], n_features: int) -> bool:
    """Say whether two pairs are a low and a high vector, which with two columns they might be, or pairs per column.

    A list of tuples is a list of pairs, a tuple of lists or arrays is a pair of vectors. Other forms are read in the one way
    that makes sense; where both do, they are refused.
    """
    if n_features != 2:
        return True  # and refused for their length
    if isinstance(entries, list) and all(isinstance(entry, tuple) for entry in entries):
        return False
    if isinstance(entries, tuple) and not any(isinstance(entry, tuple) for entry in entries):
        return True
    vectors = _is_box(entries[0], entries[1])
    if vectors and _is_box([entry[0] for entry in entries], [entry[1] for entry in entries]):
        rule = "bounds that can be read in one way only; these may be pairs per column, or a low and a high vector"
        remedy = "Pass a list of tuples [(low, high), (low, high)], or Box(low=[...], high=[...])."
        validate.refuse(where, rule, entries, remedy=remedy)
    return vectors


def _is_box(low: Any, high: Any) -> bool:
    with suppress(ParameterError):
        Box(low, high)
        return True
    return False


def as_columns(domain: Table, *, missing: str = MEAN) -> Table:
    """Return a domain of declared columns: of a box, the numbers that it consists of."""
    if domain.is_declared:
        return domain
    return Table(tuple(Number(*one.interval, missing=missing) for one in domain.columns))


def as_box(where: str, value: Any, n_features: int) -> Box:
    """Read a pair (low, high) or a Box as a box of `n_features` columns."""
    if isinstance(value, Box):
        return value.spread(n_features)
    is_pair = isinstance(value, tuple | list) or (isinstance(value, np.ndarray) and value.ndim > 0)
    if not is_pair or len(value) != 2:
        validate.refuse(where, "a pair (low, high) or a Box", value, remedy="Pass (low, high).")
    return Box(value[0], value[1]).spread(n_features)


def domain_from_dict(data: dict[str, Any]) -> Table:
    """Read what ``to_dict`` wrote."""
    if data.get("kind") == "ball":
        return Ball(data["radius"], data["center"])
    if data.get("kind") == "box":
        return Box(data["low"], data["high"])
    if data.get("kind") == "columns":
        return _declared_from_dict(data)
    kinds = "'ball', 'box' or 'columns'"
    raise ParameterError(f"domain: expected kind {kinds}, got {data.get('kind')!r}. Was this file edited?")


def _declared_from_dict(data: dict[str, Any]) -> Table:
    plain = [dict(one) for one in data["columns"]]
    found = tuple(validate.one_of("domain.found", one.pop("found", ""), ("", "noise")) for one in plain)
    spreads = np.array([float(one.pop("spread", math.nan)) for one in plain])
    columns = tuple(declare_columns("domain", {str(index): one for index, one in enumerate(plain)}).values())
    if any(one.is_private for one in columns):
        raise ValueError("bounds")
    if not (np.isnan(spreads) | (spreads > 0)).all():
        raise ValueError("spread")
    return Table(columns, found, None if np.isnan(spreads).all() else spreads)
