# SPDX-License-Identifier: Apache-2.0
"""``--bounds``: what columns are and where rows may lie, for all columns, one by one, or in a file. Also ranges of a query."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from cloister.cli._schema_file import Pair, pair_of, read_column, read_schema
from cloister.exceptions import ParameterError

__all__ = ["Bounds", "read_bounds", "read_query"]

Inside: TypeAlias = Any  # a Pair of numbers, "private", or a declaration

PRIVATE = "private"
NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
DAY = r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?Z?)?"
LEVEL = r"[^|,;:=\s]+"
ALL_COLUMNS = re.compile(rf"\s*({NUMBER})\s*[,:;\s]\s*({NUMBER})\s*")
END = r"\s*(?:[,;\s]\s*|$)"
ONE_RANGE = re.compile(rf"\s*(.+?)\s*=\s*(?P<low>{NUMBER})\s*:\s*(?P<high>{NUMBER}){END}")
ONE_COLUMN = re.compile(
    rf"\s*(.+?)\s*=\s*(?:(?P<low>{NUMBER})\s*:\s*(?P<high>{NUMBER})|(?P<first>{DAY})\s*:\s*(?P<last>{DAY})"
    rf"|(?P<word>(?i:flag|private))|(?P<levels>{LEVEL}(?:\|{LEVEL})+)){END}"
)
ONE_CATEGORY = re.compile(r"\s*([^=]+?)\s*=\s*([^=,;:]*\|[^=,;:]*)")  # alone, its levels may hold spaces
QUERY = "QUERY"
FILES = (".json", ".toml", ".csv")
FORMS = "Columns may also be sex=f|m, smoker=flag, admitted=2020-01-01:2026-12-31, income=private."


@dataclass(frozen=True)
class Bounds:
    """Public facts: one interval or word for all columns, what some of them are, or both (then the named ones win)."""

    default: Pair | str | None = None  # "private" where bounds are to be found with noise
    named: dict[str, Inside] = field(default_factory=dict)
    option: str = "--bounds"

    @property
    def are_pairs(self) -> bool:
        """Whether all columns are numbers with bounds, and nothing else is said of them."""
        return self.default != PRIVATE and all(isinstance(one, tuple) for one in self.named.values())

    def of(self, columns: Sequence[str]) -> dict[str, Inside]:
        """Return what each column is; a column of which nothing is said is named in the error."""
        missing = [name for name in columns if name not in self.named]
        if missing and self.default is None:
            raise ParameterError(
                f"{self.option}: no bounds for {_list(missing)}. Add {missing[0]}=low:high, or a pair low,high for the rest."
            )
        return {name: self.named.get(name, self.default) for name in columns}

    def pairs(self, columns: Sequence[str]) -> list[Pair]:
        """Return one interval per column, where all are numbers with bounds."""
        return list(self.of(columns).values())

    def refuse_declared(self, command: str) -> None:
        """Refuse what is no number with bounds, where a command takes nothing else."""
        if not self.are_pairs:
            raise ParameterError(
                f"{self.option}: 'cloister {command}' takes columns of numbers with bounds. Pass low,high or column=low:high."
            )

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
    >>> read_bounds(["sex=f|m", "smoker=flag"]).named
    {'sex': Category(('f', 'm')), 'smoker': Flag()}
    """
    if not values:
        raise ParameterError(
            "--bounds: expected where rows may lie, known without looking at them. Pass --bounds low,high or column=low:high, "
            "a file of 'cloister schema', or --bounds private to find bounds with noise."
        )
    default: Pair | str | None = None
    named: dict[str, Inside] = {}
    for value in values:
        for name, inside in _read_value(value):
            if name is None:
                if default is not None:
                    raise ParameterError(
                        "--bounds: expected one pair low,high for all columns, got two. Name the columns: column=low:high."
                    )
                default = inside
            elif name in named:
                raise ParameterError(f"--bounds: column {name!r} has bounds twice. Keep one of them.")
            else:
                named[name] = inside
    return Bounds(default, named)


def read_query(value: str) -> Bounds:
    """Read a range query: intervals of some columns, or one for all.

    Examples
    --------
    >>> read_query("age=18:65,bmi=25:30").named
    {'age': (18.0, 65.0), 'bmi': (25.0, 30.0)}
    """
    named: dict[str, Inside] = {}
    if matched := ALL_COLUMNS.fullmatch(value):
        return Bounds(pair_of("all columns", matched[1], matched[2], option=QUERY), option=QUERY)
    for name, pair in _read_columns(value, option=QUERY):
        if name in named:
            raise ParameterError(f"{QUERY}: column {name!r} is named twice. Keep one of them.")
        named[name] = pair
    return Bounds(None, named, QUERY)


def _read_value(value: str) -> Iterator[tuple[str | None, Inside]]:
    if matched := ALL_COLUMNS.fullmatch(value):
        yield None, pair_of("all columns", matched[1], matched[2])
    elif value.strip().lower() == PRIVATE:
        yield None, PRIVATE
    elif _is_file(value):
        yield from read_schema(Path(value)).items()
    elif ONE_COLUMN.match(value) or ONE_CATEGORY.fullmatch(value):
        yield from _read_columns(value)
    elif value.lower().endswith(FILES) and "=" not in value:
        raise ParameterError(f"--bounds: there is no file {value!r}. Check the path, or draft one with 'cloister schema'.")
    else:
        raise ParameterError(
            f"--bounds: expected low,high or column=low:high or a JSON, TOML or CSV file, got {value!r}. {FORMS}"
        )


def _read_columns(value: str, *, option: str = "--bounds") -> Iterator[tuple[str, Inside]]:
    if option != QUERY and (matched := ONE_CATEGORY.fullmatch(value)):
        yield matched[1], read_column(matched[1], {"levels": [level.strip() for level in matched[2].split("|")]})
        return
    position = 0
    while position < len(value) or not value:
        matched = (ONE_RANGE if option == QUERY else ONE_COLUMN).match(value, position)
        if matched is None:
            remedy = "See 'cloister synopsis query --help'." if option == QUERY else FORMS
            raise ParameterError(f"{option}: expected column=low:high, got {value[position:]!r}. {remedy}")
        yield matched[1], _inside(matched, option)
        position = matched.end()


def _inside(matched: re.Match[str], option: str) -> Inside:
    """Return what one column is, from the part of the pattern that it matched."""
    name, found = matched[1], matched.groupdict()
    if found["low"] is not None:
        return pair_of(f"column {name!r}", found["low"], found["high"], option=option)
    if found["first"] is not None:
        return read_column(name, [found["first"], found["last"]])
    return read_column(name, found["word"].lower() if found["word"] else {"levels": found["levels"].split("|")})


def _is_file(value: str) -> bool:
    with suppress(OSError, ValueError):
        return Path(value).is_file()
    return False


def _list(names: Sequence[str]) -> str:
    first = ", ".join(repr(name) for name in names[:20])
    return first if len(names) <= 20 else f"{first} and {len(names) - 20} more"
