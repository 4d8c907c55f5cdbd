# SPDX-License-Identifier: Apache-2.0
"""Hostile values as plain data, so that a case can be written down as one line of JSON and played again.

A value is written as itself where JSON has it (``NaN`` and infinities included). ``{"is": NAME}`` is one of `OBJECTS`;
``{"decimal": TEXT}``, ``{"tuple": [...]}``, ``{"array": [...], "dtype": ...}``, ``{"scalar": ..., "dtype": ...}`` and
``{"call": NAME, "with": ...}`` are made of other values.
"""

import inspect
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st
from tests.fuzz._law import NUMBER_CANARY, TEXT_CANARY

from cloister import GDP, ZCDP, ApproxDP, Ball, Box, PureDP


class Unequal:
    """Compares with nothing."""

    def __eq__(self, other: object) -> bool:
        raise TypeError("no comparison")

    __hash__ = None  # type: ignore[assignment]


OBJECTS: dict[str, Callable[[], Any]] = {
    "object": object,
    "class": lambda: int,
    "function": lambda: math.sqrt,
    "ellipsis": lambda: ...,
    "complex": lambda: 1 + 2j,
    "decimal": lambda: Decimal("0.5"),
    "decimal nan": lambda: Decimal("sNaN"),
    "fraction": lambda: Fraction(1, 3),
    "huge fraction": lambda: Fraction(10**400, 3),
    "huge integer": lambda: 10**400,
    "huge negative": lambda: -(10**400),
    "many digits": lambda: 10**5000,
    "bytes": lambda: b"\x00\xff",
    "long text": lambda: "x" * 5000,
    "set": lambda: {1, 2},
    "dict": lambda: {"a": 1},
    "nested": lambda: [[1, [2, [3]]]],
    "generator": lambda: (number for number in (1, 2)),
    "range": lambda: range(2),
    "random": lambda: np.random.default_rng(0),
    "path": lambda: Path("nowhere/at/all"),
    "unequal": Unequal,
    "masked": lambda: np.ma.masked,
    "time": lambda: np.datetime64("2026-01-01"),
    "span": lambda: np.timedelta64(3, "s"),
    "structured": lambda: np.zeros(2, dtype=[("a", float)]),
    "empty": lambda: np.empty((0, 2)),
    "fine decimal": lambda: Decimal("0.123456789"),
    "huge decimal": lambda: Decimal("1e999999"),
    "long double": lambda: np.longdouble("0.1"),
    "huge long double": lambda: np.longdouble("1e4000"),
    "no time": lambda: np.datetime64("NaT", "D"),
    "large integer": lambda: 2**70,
    "canary": lambda: NUMBER_CANARY,
    "canary text": lambda: TEXT_CANARY,
}
DTYPES = (
    *("float16", "float32", "float64", "longdouble", "int8", "uint8", "int64", "uint64"),
    *("bool", "object", "complex128", "str"),
)
MAKERS = {"Box": Box, "Ball": Ball, "PureDP": PureDP, "ApproxDP": ApproxDP, "ZCDP": ZCDP, "GDP": GDP}


def build(case: Any) -> Any:
    """Return the value that a case describes. What cannot be made is raised by whoever makes it."""
    if isinstance(case, list):
        return [build(one) for one in case]
    if not isinstance(case, dict):
        return case
    if "is" in case:
        return OBJECTS[case["is"]]()
    if "tuple" in case:
        return tuple(build(one) for one in case["tuple"])
    if "decimal" in case:
        return Decimal(case["decimal"])
    if "call" in case:
        return MAKERS[case["call"]](*build(case["with"]))
    with np.errstate(all="ignore"):
        if "scalar" in case:
            return np.dtype(case["dtype"]).type(case["scalar"])
        return np.array(build(case["array"]), dtype=case["dtype"])


@cache
def numbers() -> st.SearchStrategy[Any]:
    """Return numbers of usual and unusual sizes."""
    special = [0, -1, 1, 2, 3, 0.0, -0.0, 0.5, 1.0, math.nan, math.inf, -math.inf, 1e-320, 1e-100, 1e-9, 1e9, 1e100, 1e308]
    return st.one_of(
        st.sampled_from([*special, 2**31, 2**53 + 1, 2**63, 2**64, -(2**63) - 1, 10**30]),
        st.integers(-3, 12),
        st.floats(0.0, 4.0),
        st.floats(),
        st.integers(),
    )


@cache
def decimals() -> st.SearchStrategy[Any]:
    """Return decimal numbers with a few digits, and some with many: one scale for all of them would round some."""
    few = st.integers(0, 99).map(lambda number: {"decimal": f"0.{number:02d}"})
    return st.one_of(few, few, few, st.integers(0, 10**9).map(lambda number: {"decimal": f"0.{number:09d}"}))


@cache
def scalars() -> st.SearchStrategy[Any]:
    """Return single values, of every type one might pass by mistake."""
    kinds = ("float16", "float32", "int8", "uint64", "bool")
    typed = st.sampled_from([{"scalar": value, "dtype": dtype} for value in (0, 1, 2, 5, 100) for dtype in kinds])
    words = st.sampled_from(["", "auto", "none", "bounds", "private", "nan", "1", "replace", "0,1"])
    objects = st.sampled_from([{"is": name} for name in OBJECTS])
    return st.one_of(st.none(), st.booleans(), numbers(), words, st.text(max_size=4), objects, typed)


@cache
def values() -> st.SearchStrategy[Any]:
    """Return hostile values of every kind, nested ones included."""
    several = st.lists(scalars(), max_size=4)
    arrays = st.tuples(st.lists(st.integers(0, 3), max_size=4), st.sampled_from(DTYPES)).map(
        lambda drawn: {"array": drawn[0], "dtype": drawn[1]}
    )
    made = st.sampled_from(sorted(MAKERS)).flatmap(_calls)
    return st.one_of(scalars(), scalars(), several, several.map(lambda items: {"tuple": items}), arrays, made)


@cache
def _calls(name: str) -> st.SearchStrategy[Any]:
    count = len(inspect.signature(MAKERS[name]).parameters)
    return st.lists(numbers(), min_size=count, max_size=count).map(lambda given: {"call": name, "with": given})
