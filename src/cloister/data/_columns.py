# SPDX-License-Identifier: Apache-2.0
"""Choosing columns by name: names and types are public, so messages may name them. Imported by the backends."""

from collections.abc import Sequence
from dataclasses import dataclass

from cloister.exceptions import DataError

__all__ = ["Column", "choose_columns"]

LISTED = 50  # names in a message


@dataclass(frozen=True)
class Column:
    """What a table says of one of its columns."""

    name: str
    kind: str  # the type, in the words of the library that holds it
    is_number: bool


def choose_columns(
    place: str, table: Sequence[Column], columns: Sequence[str] | None, *, quote: bool = True
) -> tuple[int, ...]:
    """Check that the columns exist, once each, and hold numbers; return where they stand in the table."""
    names = [column.name for column in table]
    found = _find(place, names, columns, quote=quote)
    for index in found:
        if not table[index].is_number:
            raise DataError(
                f"{place}: expected numbers in column {names[index]!r}, got {table[index].kind}. Name the numeric columns with "
                "columns=[...]; argument must be numeric."
            )
    return found


def _find(place: str, names: Sequence[str], columns: Sequence[str] | None, *, quote: bool = True) -> tuple[int, ...]:
    """Check that the columns exist, once each; return where they stand. None stands for all of them.

    Without `quote` no name of the table is quoted: they may not be names.
    """
    wanted = list(names) if columns is None else [str(name) for name in columns]
    if not wanted:
        raise DataError(f"{place}: 0 feature(s) found while a minimum of 1 is required. Pass a table with columns.")
    for name in wanted:
        times = names.count(name)
        if times != 1:
            subject = f"column {name!r}" if quote or columns is not None else "a column name"
            problem = f"occurs {times} times" if times else "is not in the table"
            remedy = f"The columns are: {', '.join(names[:LISTED])}." if quote else "Check the names in the first line."
            raise DataError(f"{place}: {subject} {problem}. {remedy}")
    if len(set(wanted)) != len(wanted):
        raise DataError(f"{place}: expected every column once, got one twice. Check columns=[...].")
    return tuple(names.index(name) for name in wanted)
