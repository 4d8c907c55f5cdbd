# SPDX-License-Identifier: Apache-2.0
"""Reading `bounds` and files of releases as a domain. Anyone may import this module."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from cloister import validate
from cloister.columns._column import MEAN, PRIVATE, Declaration
from cloister.columns._declare import declare_columns
from cloister.columns._number import Number
from cloister.columns._shapes import Ball, Box, Domain
from cloister.columns._table import ColumnDomain
from cloister.exceptions import ParameterError

RULE = "a pair (low, high), a Box or a Ball, pairs per column, a mapping of columns, or 'private'"
REMEDY = 'Pass bounds=(low, high), or {"age": (0, 120), ...}, or "private" to find them with noise.'


def as_domain(where: str, bounds: Any, n_features: int, *, missing: str = MEAN) -> Domain:
    """Read `bounds` as a domain of `n_features` columns.

    A Ball, a Box, a pair (low, high) for all columns, a pair of vectors, a list with a pair for each column, a mapping of
    columns to what they are, or "private" for bounds that are to be found with noise. `missing` is where declared columns
    place missing values of which they do not say it.

    Examples
    --------
    >>> as_domain("KMeans.bounds", [(0, 1), (10, 60)], 2).high.tolist()
    [1.0, 60.0]
    """
    if bounds is None:
        remedy = 'Pass bounds=(low, high), or bounds="private" to find them with noise.'
        validate.refuse(where, "a domain known without looking at the data", None, remedy=remedy)
    if isinstance(bounds, Domain):
        return bounds.spread(n_features)
    if isinstance(bounds, Mapping):
        return ColumnDomain(tuple(declare_columns(where, bounds, missing=missing).values())).spread(n_features)
    if validate.is_word(bounds, PRIVATE):
        return ColumnDomain((Number(PRIVATE, missing=missing),) * n_features)
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


def _per_column(where: str, entries: Sequence[Any], n_features: int, missing: str) -> Domain | None:
    """Return what a list says of each column, or None where it is a pair (low, high)."""
    if any(entry == PRIVATE if isinstance(entry, str) else isinstance(entry, Declaration) for entry in entries):
        if len(entries) != n_features:
            validate.refuse(where, f"one entry for each of {n_features} columns", len(entries), remedy=REMEDY)
        if odd := [entry for entry in entries if isinstance(entry, Declaration) and not entry.as_is]:
            remedy = 'Pass a mapping, {"sex": Category(["f", "m"]), ...}, and a table with column names.'
            validate.refuse(where, "numbers in a list of columns", odd[0], remedy=remedy)
        return as_domain(where, {str(i): entry for i, entry in enumerate(entries)}, n_features, missing=missing)
    if not all(_is_pair(entry) for entry in entries) or (len(entries) == 2 and _is_pair_of_vectors(where, entries, n_features)):
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


def _is_pair(entry: Any) -> bool:
    return isinstance(entry, tuple | list | np.ndarray) and np.shape(entry) == (2,)


def _is_box(low: Any, high: Any) -> bool:
    with suppress(ParameterError):
        Box(low, high)
        return True
    return False


def as_columns(domain: Domain, *, missing: str = MEAN) -> Domain:
    """Return a domain of declared columns: of a box, the numbers that it consists of."""
    if domain.is_declared:
        return domain
    pairs = {name: one.interval for name, one in zip(domain.names(None), domain.columns, strict=True)}
    return ColumnDomain(tuple(declare_columns("bounds", pairs, missing=missing).values()))


def as_box(where: str, value: Any, n_features: int) -> Box:
    """Read a pair (low, high) or a Box as a box of `n_features` columns."""
    if isinstance(value, Box):
        return value.spread(n_features)
    is_pair = isinstance(value, tuple | list) or (isinstance(value, np.ndarray) and value.ndim > 0)
    if not is_pair or len(value) != 2:
        validate.refuse(where, "a pair (low, high) or a Box", value, remedy="Pass (low, high).")
    return Box(value[0], value[1]).spread(n_features)


def domain_from_dict(data: dict[str, Any]) -> Domain:
    """Read what ``to_dict`` wrote."""
    if data.get("kind") == "ball":
        return Ball(data["radius"], data["center"])
    if data.get("kind") == "box":
        return Box(data["low"], data["high"])
    if data.get("kind") == "columns":
        return ColumnDomain.from_dict(data)
    kinds = "'ball', 'box' or 'columns'"
    raise ParameterError(f"domain: expected kind {kinds}, got {data.get('kind')!r}. Was this file edited?")
