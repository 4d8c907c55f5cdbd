# SPDX-License-Identifier: Apache-2.0
"""Reading `bounds` and files of releases as a domain. Anyone may import this module."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

import numpy as np

from cloister import validate
from cloister.columns._base import Ball, Box
from cloister.columns._column import PRIVATE, AnyDeclaration, Category, Date, Flag, Number, declare_columns
from cloister.columns._table import ColumnDomain
from cloister.exceptions import ParameterError

__all__ = ["Domain", "as_domain", "domain_from_dict"]

Domain: TypeAlias = Ball | Box | ColumnDomain

RULE = "a pair (low, high), a Box or a Ball, pairs per column, a mapping of columns, or 'private'"
REMEDY = 'Pass bounds=(low, high), or {"age": (0, 120), ...}, or "private" to find them with noise.'


def as_domain(where: str, bounds: Any, n_features: int) -> Domain:
    """Read `bounds` as a domain of `n_features` columns.

    A Ball, a Box, a pair (low, high) for all columns, a pair of vectors, a list with a pair for each column, a mapping of
    columns to what they are, or "private" for bounds that are to be found with noise.

    Examples
    --------
    >>> as_domain("KMeans.bounds", [(0, 1), (10, 60)], 2).high.tolist()
    [1.0, 60.0]
    """
    if bounds is None:
        remedy = 'Pass bounds=(low, high), or bounds="private" to find them with noise.'
        validate.refuse(where, "a domain known without looking at the data", None, remedy=remedy)
    if isinstance(bounds, Ball | Box | ColumnDomain):
        return bounds.spread(n_features)
    if isinstance(bounds, Mapping):
        return ColumnDomain(tuple(declare_columns(where, bounds).values())).spread(n_features)
    if validate.is_word(bounds, PRIVATE):
        return ColumnDomain((Number(PRIVATE),) * n_features)
    if isinstance(bounds, str) and bounds.strip().lower() == PRIVATE:
        validate.refuse(where, RULE, bounds, remedy=f'Pass bounds="{PRIVATE}", in lower case.')
    entries = bounds.tolist() if isinstance(bounds, np.ndarray) else bounds
    if not isinstance(entries, tuple | list) or not entries:
        validate.refuse(where, RULE, bounds, remedy=REMEDY)
    declared = _per_column(where, entries, n_features)
    if declared is not None:
        return declared
    if len(entries) != 2:
        validate.refuse(where, RULE, bounds, remedy=REMEDY)
    return Box(entries[0], entries[1]).spread(n_features)


def _per_column(where: str, entries: Sequence[Any], n_features: int) -> Box | ColumnDomain | None:
    """Return what a list says of each column, or None where it is a pair (low, high)."""
    if any(entry == PRIVATE if isinstance(entry, str) else isinstance(entry, AnyDeclaration) for entry in entries):
        if len(entries) != n_features:
            validate.refuse(where, f"one entry for each of {n_features} columns", len(entries), remedy=REMEDY)
        if odd := [entry for entry in entries if isinstance(entry, Category | Date | Flag)]:
            remedy = 'Pass a mapping, {"sex": Category(["f", "m"]), ...}, and a table with column names.'
            validate.refuse(where, "numbers in a list of columns", odd[0], remedy=remedy)
        return ColumnDomain(tuple(declare_columns(where, {str(i): entry for i, entry in enumerate(entries)}).values()))
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
