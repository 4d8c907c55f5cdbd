# SPDX-License-Identifier: Apache-2.0
"""Choosing columns by name: names and types are public, so messages may tell them. Imported by the backends."""

from collections.abc import Sequence
from dataclasses import dataclass

from cloister.exceptions import DataError

__all__ = ["Column", "choose_columns", "find_columns"]

LISTED = 50  # names in a message


@dataclass(frozen=True)
class Column:
    """What a table says of one of its columns."""

    name: str
    kind: str  # the type, in the words of the library that holds it
    is_number: bool


def choose_columns(place: str, table: Sequence[Column], columns: Sequence[str] | None) -> tuple[int, ...]:
    """Check that the columns exist, once each, and hold numbers; return where they stand in the table."""
    names = [column.name for column in table]
    found = find_columns(place, names, names if columns is None else columns)
    for index in found:
        if not table[index].is_number:
            raise DataError(
                f"{place}: expected numbers in column {names[index]!r}, got {table[index].kind}. Name the numeric columns with "
                "columns=[...]; argument must be numeric."
            )
    return found


def find_columns(place: str, names: Sequence[str], columns: Sequence[str]) -> tuple[int, ...]:
    """Check that the columns exist, once each; return where they stand."""
    wanted = [str(name) for name in columns]
    if not wanted:
        raise DataError(f"{place}: 0 feature(s) found while a minimum of 1 is required. Pass a table with columns.")
    for name in wanted:
        times = names.count(name)
        if times != 1:
            problem = f"occurs {times} times" if times else "is not in the table"
            raise DataError(f"{place}: column {name!r} {problem}. The columns are: {', '.join(names[:LISTED])}.")
    if len(set(wanted)) != len(wanted):
        raise DataError(f"{place}: expected every column once, got one twice. Check columns=[...].")
    return tuple(names.index(name) for name in wanted)
