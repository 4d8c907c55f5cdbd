# SPDX-License-Identifier: Apache-2.0
"""``--bounds``: where rows may lie, as a pair for all columns, as ``column=low:high``, or in a file. Also ranges of a query."""

import csv
import json
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cloister.exceptions import ParameterError

__all__ = ["Bounds", "read_bounds", "read_query"]

Pair = tuple[float, float]

NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
ALL_COLUMNS = re.compile(rf"\s*({NUMBER})\s*[,:;\s]\s*({NUMBER})\s*")
ONE_COLUMN = re.compile(rf"\s*(.+?)\s*=\s*({NUMBER})\s*:\s*({NUMBER})\s*(?:[,;\s]\s*|$)")
QUERY = "QUERY"
LARGEST_FILE = 16 << 20  # bytes; a table passed by mistake is not read as bounds


@dataclass(frozen=True)
class Bounds:
    """Public intervals: one for all columns, one for some, or both (then the named ones win)."""

    default: Pair | None = None
    named: dict[str, Pair] = field(default_factory=dict)
    option: str = "--bounds"

    def pairs(self, columns: Sequence[str]) -> list[Pair]:
        """Return one interval per column; a column without one is named in the error."""
        missing = [name for name in columns if name not in self.named]
        if missing and self.default is None:
            raise ParameterError(
                f"{self.option}: no bounds for {_list(missing)}. Add {missing[0]}=low:high, or a pair low,high for the rest."
            )
        return [self.named.get(name, self.default or (0.0, 0.0)) for name in columns]

    def refuse_unknown(self, columns: Sequence[str]) -> None:
        """Refuse bounds for columns that do not exist."""
        unknown = [name for name in self.named if name not in columns]
        if unknown:
            # Where none is known, the first line of a CSV file may be somebody's row instead of names.
            certain = self.option == QUERY or len(unknown) < len(self.named)
            remedy = f"The columns are: {_list(columns)}." if certain else "Check the names of its columns."
            raise ParameterError(f"{self.option}: {_list(unknown)} not in the table. {remedy}")


def read_bounds(values: Sequence[str]) -> Bounds:
    """Read all values of ``--bounds``.

    Examples
    --------
    >>> read_bounds(["0,1"]).default
    (0.0, 1.0)
    >>> read_bounds(["age=0:120, body mass index=10:60"]).named
    {'age': (0.0, 120.0), 'body mass index': (10.0, 60.0)}
    """
    if not values:
        raise ParameterError(
            "--bounds: expected where rows may lie, known without looking at them. Pass --bounds low,high or column=low:high."
        )
    default: Pair | None = None
    named: dict[str, Pair] = {}
    for value in values:
        for name, pair in _read_value(value):
            if name is None:
                if default is not None:
                    raise ParameterError(
                        "--bounds: expected one pair low,high for all columns, got two. Name the columns: column=low:high."
                    )
                default = pair
            elif name in named:
                raise ParameterError(f"--bounds: column {name!r} has bounds twice. Keep one of them.")
            else:
                named[name] = pair
    return Bounds(default, named)


def read_query(value: str) -> Bounds:
    """Read a range query: intervals of some columns, or one for all.

    Examples
    --------
    >>> read_query("age=18:65,bmi=25:30").named
    {'age': (18.0, 65.0), 'bmi': (25.0, 30.0)}
    """
    named: dict[str, Pair] = {}
    if matched := ALL_COLUMNS.fullmatch(value):
        return Bounds(_pair("all columns", matched[1], matched[2], option=QUERY), option=QUERY)
    for name, pair in _read_columns(value, option=QUERY):
        if name in named:
            raise ParameterError(f"{QUERY}: column {name!r} is named twice. Keep one of them.")
        named[name] = pair
    return Bounds(None, named, QUERY)


def _read_value(value: str) -> Iterator[tuple[str | None, Pair]]:
    if matched := ALL_COLUMNS.fullmatch(value):
        yield None, _pair("all columns", matched[1], matched[2])
    elif _is_file(value):
        yield from _read_file(Path(value))
    elif ONE_COLUMN.match(value):
        yield from _read_columns(value)
    else:
        raise ParameterError(
            f"--bounds: expected low,high or column=low:high or a JSON or CSV file, got {value!r}. See 'cloister fit --help'."
        )


def _read_columns(value: str, *, option: str = "--bounds") -> Iterator[tuple[str, Pair]]:
    position = 0
    while position < len(value) or not value:
        matched = ONE_COLUMN.match(value, position)
        if matched is None:
            where = "synopsis query" if option == QUERY else "fit"
            raise ParameterError(
                f"{option}: expected column=low:high, got {value[position:]!r}. See 'cloister {where} --help'."
            )
        yield matched[1], _pair(f"column {matched[1]!r}", matched[2], matched[3], option=option)
        position = matched.end()


def _is_file(value: str) -> bool:
    try:
        return Path(value).is_file()
    except (OSError, ValueError):
        return False


def _read_file(path: Path) -> Iterator[tuple[str, Pair]]:
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise ParameterError(f"--bounds: {path.name!r} is too large to be a file of bounds. Pass a small JSON or CSV file.")
        text = path.read_text(encoding="utf-8-sig")
        entries = list(_json_entries(text) if text.lstrip().startswith(("{", "[")) else _csv_entries(text))
    except ParameterError:
        raise
    except (OSError, ValueError, TypeError, KeyError, AttributeError, csv.Error):
        entries = []
    if not entries:
        raise ParameterError(
            f'--bounds: {path.name!r} holds no bounds. Write JSON {{"age": [0, 120]}}, or CSV with the header column,low,high.'
        )
    for name, low, high in entries:
        yield name, _pair(f"column {name!r}", low, high)


def _json_entries(text: str) -> Iterator[tuple[str, Any, Any]]:
    def refuse_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        if twice := [name for name in names if names.count(name) > 1]:
            raise ParameterError(f"--bounds: column {twice[0]!r} has bounds twice. Keep one of them.")
        return dict(pairs)

    for name, value in json.loads(text, object_pairs_hook=refuse_twice).items():
        low, high = (value["low"], value["high"]) if isinstance(value, dict) else value
        yield str(name), low, high


def _csv_entries(text: str) -> Iterator[tuple[str, Any, Any]]:
    for row in csv.DictReader(text.splitlines(), skipinitialspace=True):
        yield row["column"].strip(), row["low"], row["high"]


def _pair(owner: str, low: Any, high: Any, *, option: str = "--bounds") -> Pair:
    pair = None
    with suppress(TypeError, ValueError):
        pair = (float(low), float(high))
    if pair is None:
        raise ParameterError(f"{option}: expected two numbers for {owner}, got {low!r} and {high!r}. Pass low:high.")
    if not (math.isfinite(pair[0]) and math.isfinite(pair[1]) and pair[0] < pair[1]):
        raise ParameterError(
            f"{option}: expected low < high for {owner}, got {pair[0]:g} and {pair[1]:g}. Swap the two, or widen them."
        )
    return pair


def _list(names: Sequence[str]) -> str:
    first = ", ".join(repr(name) for name in names[:20])
    return first if len(names) <= 20 else f"{first} and {len(names) - 20} more"
