# SPDX-License-Identifier: Apache-2.0
"""Choosing columns by name: names and types are public, so messages may name them. Imported by the backends."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, NoReturn, TypeAlias

import numpy as np

from cloister import validate
from cloister.columns import Declaration, Identifier, Number
from cloister.exceptions import DataError

Chosen: TypeAlias = "Sequence[str] | Mapping[str, Any] | None"  # names, or what each column is; None for all, as numbers
ReadAs: TypeAlias = "Declaration | Identifier"  # what a column is read as
Declared: TypeAlias = "tuple[ReadAs, ...]"  # of each column of a table with names

LISTED = 50  # names in a message


class Holds(Enum):
    """What a column can hold, as far as its type says. Python objects, and nothing but nulls, might be anything."""

    BOOL = "bool"
    INTEGER = "integer"
    FRACTION = "fraction"
    TEXT = "text"
    BYTES = "bytes"
    TIME = "time"
    ANYTHING = "anything"
    OTHER = "other"


NUMBERS = (Holds.BOOL, Holds.INTEGER, Holds.FRACTION, Holds.ANYTHING)
UNDECLARED = Number("private")  # how a column is read of which nothing is said
IDS = (*NUMBERS, Holds.TEXT, Holds.BYTES)
ID_KINDS = "iubfOUST"  # of types of NumPy that hold ids
N_LANES = 2  # columns of a block that the column of ids is read as
REMEDIES = {
    Holds.BOOL: "Declare it as Flag(), or leave it out.",
    Holds.TIME: "Declare it as Date(low, high), or leave it out.",
    **dict.fromkeys((Holds.BYTES, Holds.OTHER), "Convert it to numbers, text or dates first, or leave it out."),
}
USUAL_REMEDY = "Declare it as Number(low, high) or Category(levels), or convert it first."


@dataclass(frozen=True)
class Column:
    """What a table says of one of its columns."""

    name: str
    kind: str  # the type, in the words of the library that holds it
    holds: Holds = Holds.ANYTHING  # what declarations are checked against
    nullable: bool = True  # whether the type allows a missing value
    inferred: bool = False  # whether a single value may have decided the type: then text, and nothing but gaps, are not refused
    encoded: bool = False  # whether it is held as places in a list of values, which is not read as numbers unless declared


@dataclass(frozen=True)
class IdColumn:
    """The column that says whose row it is, by its name. Without `ids` it is left out and not read."""

    name: str
    ids: Identifier | None


@dataclass(frozen=True, eq=False, repr=False)
class IdValues:
    """Ids that come beside a table, one for each row."""

    values: Any
    ids: Identifier


@dataclass(frozen=True)
class Schema:
    """What is public of the columns of a table."""

    n_features: int
    names: tuple[str, ...] | None = None
    nullable: tuple[bool, ...] | None = None  # whether the declared type of each allows a missing value; None where any may
    n_hidden: int = 0  # columns at the end of every block that are no features: whose row it is

    @property
    def width(self) -> int:
        """Number of columns of a block, hidden ones included."""
        return self.n_features + self.n_hidden


@dataclass(frozen=True)
class Choice:
    """The columns that are read of a table: the features in their order, then that of ids, if there is one."""

    places: tuple[int, ...]  # in the table
    names: tuple[str, ...]
    declared: Declared
    schema: Schema


def choose_columns(
    place: str, table: Sequence[Column], columns: Chosen, *, ids: IdColumn | None = None, quote: bool = True
) -> Choice:
    """Check that the columns exist, once each, and are what they are declared; say where they stand in the table.

    Columns that are only named, or not even that, hold numbers. That of ids is none of the others.
    """
    names = [column.name for column in table]
    own = () if ids is None else _find(place, names, [ids.name], quote=quote)
    found = _find(place, names, columns if columns is None else list(columns), quote=quote, leave=own)
    given = columns.values() if isinstance(columns, Mapping) else [None] * len(found)
    declared = tuple(_checked(place, table[index], one) for index, one in zip(found, given, strict=True))
    features = tuple(names[index] for index in found)
    schema = Schema(len(found), features, tuple(table[index].nullable for index in found))
    if ids is None or ids.ids is None:
        return Choice(found, features, declared, schema)
    column = table[own[0]]
    check_id_type(place, f"column {ids.name!r}", column.kind, column.holds)
    return Choice(found + own, (*features, ids.name), (*declared, ids.ids), replace(schema, n_hidden=N_LANES))


def _checked(place: str, column: Column, declared: Declaration | None) -> Declaration:
    """Return what a column is read as; one that cannot be read so is refused by its type, unless values may have decided it."""
    if declared is not None:
        only_gaps = column.inferred and column.holds is Holds.FRACTION  # frames hold a column of nothing but gaps as floats
        if column.holds.value not in declared.fits and not only_gaps:
            raise DataError(
                f"{place}: expected what can be read as a {declared.kind} in column {column.name!r}, declared as {declared!r}, "
                f"got {column.kind}. {REMEDIES.get(column.holds, USUAL_REMEDY)}"
            )
        return declared
    is_number = column.holds in NUMBERS and not column.encoded
    if not is_number and not (column.inferred and column.holds is Holds.TEXT):
        raise DataError(
            f"{place}: expected numbers in column {column.name!r}, got {column.kind}. Say what columns are, as in "
            'bounds={"age": (0, 120), "sex": Category(["f", "m"])} '
            "or in a file that 'cloister schema DATA' drafts, or name those with numbers; argument must be numeric."
        )
    return UNDECLARED


def check_id_type(place: str, what: str, kind: str, holds: Holds) -> None:
    """Refuse a type that holds no ids; it is declared, hence public."""
    if holds not in IDS:
        raise DataError(f"{place}: expected ids in {what}, got {kind}. Convert it to text or whole numbers first.")


def check_id_array(place: str, dtype: np.dtype[Any]) -> None:
    """Refuse a type of NumPy that holds no ids."""
    if dtype.kind not in ID_KINDS:
        raise DataError(f"{place}: expected ids, got dtype {dtype}. Convert them to text or whole numbers first.")


def refuse_id_values(where: str, engine: str) -> NoReturn:
    """Refuse ids that come beside a collection of a cluster."""
    raise DataError(
        f"{where}.privacy_unit: expected the name of a column of a {engine} data frame, got other ids. Make them a column of "
        "the data frame, and pass its name."
    )


def refuse_names(where: str, columns: Chosen, kind: type) -> None:
    """Refuse declarations by name, and names, for a table of a kind that has none."""
    if isinstance(columns, Mapping):
        raise DataError(
            f"{where}: expected a table with column names, got one without ({kind.__name__}). Pass a data frame, or bounds as "
            "pairs per column."
        )
    if columns is not None:
        validate.refuse(f"{where}.columns", "None for a table without column names", columns, remedy="Pass data[:, columns].")


def _find(
    place: str, names: Sequence[str], columns: Sequence[str] | None, *, quote: bool, leave: tuple[int, ...] = ()
) -> tuple[int, ...]:
    """Check that the columns exist, once each; return where they stand. None stands for all of them but those to `leave`.

    Without `quote` no name of the table is quoted: they may not be names.
    """
    rest = [name for index, name in enumerate(names) if index not in leave]
    wanted = rest if columns is None else [str(name) for name in columns]
    if not wanted:
        raise DataError(f"{place}: 0 feature(s) found while a minimum of 1 is required. Pass a table with columns.")
    for name in wanted:
        times = names.count(name)
        if times != 1:
            subject = f"column {name!r}" if quote or columns is not None else "a column name"
            problem = f"occurs {times} times" if times else "is not in the table"
            if quote:
                remedy = "Rename all but one of them" if times else f"The columns are: {', '.join(names[:LISTED])}"
            else:
                remedy = f"Check the names in the first line{', and rename all but one of them' if times else ''}"
            raise DataError(f"{place}: {subject} {problem}. {remedy}.")
    if len(set(wanted)) != len(wanted):
        raise DataError(f"{place}: expected every column once, got one twice. Check columns=[...].")
    return tuple(names.index(name) for name in wanted)
