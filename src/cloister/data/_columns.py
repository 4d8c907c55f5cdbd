# SPDX-License-Identifier: Apache-2.0
"""Choosing columns by name: names and types are public, so messages may name them. Imported by the backends."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

from cloister.domain import AnyDeclaration, Category, Date, Flag, Number, declare_columns
from cloister.exceptions import DataError

__all__ = ["Chosen", "Column", "Holds", "choose_columns", "declared_of", "refuse_mapping"]

Chosen: TypeAlias = "Sequence[str] | Mapping[str, Any] | None"  # names, or what each column is; None for all, as numbers

LISTED = 50  # names in a message


class Holds(Enum):
    """What a column can hold, as far as its type says. Python objects, and nothing but nulls, might be anything."""

    BOOL = "bool"
    INTEGER = "integer"
    FRACTION = "fraction"
    TEXT = "text"
    TIME = "time"
    ANYTHING = "anything"
    OTHER = "other"


_NUMBERS = (Holds.BOOL, Holds.INTEGER, Holds.FRACTION)
FITTING: dict[type[Any], tuple[Holds, ...]] = {
    Number: (*_NUMBERS, Holds.TEXT, Holds.ANYTHING),
    Category: (*_NUMBERS, Holds.TEXT, Holds.TIME, Holds.ANYTHING),
    Flag: (*_NUMBERS, Holds.TEXT, Holds.ANYTHING),
    Date: (Holds.TIME, Holds.TEXT, Holds.ANYTHING),
}
REMEDIES = {
    Holds.BOOL: "Declare it as Flag(), or leave it out.",
    Holds.TIME: "Declare it as Date(low, high), or leave it out.",
    Holds.OTHER: "Convert it to numbers, text or dates first, or leave it out.",
}
USUAL_REMEDY = "Declare it as Number(low, high) or Category(levels), or convert it first."


@dataclass(frozen=True)
class Column:
    """What a table says of one of its columns."""

    name: str
    kind: str  # the type, in the words of the library that holds it
    is_number: bool
    holds: Holds = Holds.ANYTHING  # what declarations are checked against
    nullable: bool = True  # whether the type allows a missing value


def declared_of(columns: Chosen) -> tuple[AnyDeclaration, ...] | None:
    """Return what each chosen column is; None where all are numbers."""
    return tuple(declare_columns("columns", columns).values()) if isinstance(columns, Mapping) else None


def choose_columns(place: str, table: Sequence[Column], columns: Chosen, *, quote: bool = True) -> tuple[int, ...]:
    """Check that the columns exist, once each, and are what they are declared; return where they stand in the table.

    Columns that are only named, or not even that, hold numbers.
    """
    names = [column.name for column in table]
    found = _find(place, names, columns if columns is None else list(columns), quote=quote)
    declared = declared_of(columns)
    if declared is not None:
        for index, one in zip(found, declared, strict=True):
            _check_declared(place, table[index], one)
        return found
    for index in found:
        if not table[index].is_number:
            raise DataError(
                f"{place}: expected numbers in column {names[index]!r}, got {table[index].kind}. Say what columns are, as in "
                'bounds={"age": (0, 120), "sex": Category(["f", "m"])} '
                "or in a file that 'cloister schema DATA' drafts, or name those with numbers; argument must be numeric."
            )
    return found


def _check_declared(place: str, column: Column, declared: AnyDeclaration) -> None:
    if column.holds not in FITTING[type(declared)]:
        raise DataError(
            f"{place}: expected what can be read as a {declared.kind} in column {column.name!r}, declared as {declared!r}, got "
            f"{column.kind}. {REMEDIES.get(column.holds, USUAL_REMEDY)}"
        )


def refuse_mapping(where: str, columns: Chosen, data: object) -> None:
    """Refuse declarations by name for a table that has no names."""
    if isinstance(columns, Mapping):
        kind = type(data).__name__
        raise DataError(
            f"{where}: expected a table with column names, got one without ({kind}). Pass a data frame, or bounds as pairs per "
            "column."
        )


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
            raise DataError(f"{place}: {subject} {problem}. {_name_remedy(names, is_twice=times > 1, quote=quote)}")
    if len(set(wanted)) != len(wanted):
        raise DataError(f"{place}: expected every column once, got one twice. Check columns=[...].")
    return tuple(names.index(name) for name in wanted)


def _name_remedy(names: Sequence[str], *, is_twice: bool, quote: bool) -> str:
    if is_twice:
        return "Rename all but one of them." if quote else "Check the names in the first line, and rename all but one of them."
    return f"The columns are: {', '.join(names[:LISTED])}." if quote else "Check the names in the first line."
