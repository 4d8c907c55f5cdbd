# SPDX-License-Identifier: Apache-2.0
"""``--bounds``: what columns are and where rows may lie, for all columns, one by one, or in a file. Also ranges of a query.

Files are JSON or TOML, as ``cloister schema`` drafts them, or CSV with the header column,low,high.
"""

import csv
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from cloister.exceptions import ParameterError

Pair: TypeAlias = tuple[float, float]
Inside: TypeAlias = Any  # a Pair of numbers, "private", or a declaration
Entries: TypeAlias = Iterator[tuple[str | None, Inside]]  # without a name: for all columns

PRIVATE = "private"
NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
DAY = r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?Z?)?"
LEVEL = r"[^|,;:=\s]+"
ALL_COLUMNS = re.compile(rf"\s*(?:({NUMBER})\s*[,:;\s]\s*({NUMBER})|(?i:{PRIVATE}))\s*")
ONE_COLUMN = re.compile(  # the name; low and high, a word and its values, or levels
    rf"\s*(.+?)\s*=\s*(?:({NUMBER}|{DAY})\s*:\s*({NUMBER}|{DAY})"
    rf"|((?i:flag|private)|[a-z]+(?=:))((?::[^,;:=|\s]+)*)|({LEVEL}(?:\|{LEVEL})+))\s*(?:[,;\s]\s*|$)"
)
ONE_CATEGORY = re.compile(r"\s*([^=]+?)\s*=\s*([^=,;:]*\|[^=,;:]*)")  # alone, its levels may hold spaces
BOUNDS, QUERY = "--bounds", "QUERY"
EVERY = "all columns"  # what a pair without a name is for
FORMS = {BOUNDS: "low,high or column=low:high or a JSON, TOML or CSV file", QUERY: "column=low:high"}
REMEDIES = {
    BOUNDS: "Columns may also be sex=f|m, smoker=flag, admitted=2020-01-01:2026-12-31, hour=cyclic:24, "
    "dose=number:1:10000:log, income=private.",
    QUERY: "See 'cloister synopsis query --help'.",
}
FILES = (".json", ".toml", ".csv")
LARGEST_FILE = 16 << 20  # bytes; a table passed by mistake is not read as bounds
HELP_KEY = "_help"  # no column, if it holds words
UNKNOWN_TYPE = "?"
NO_BOUNDS = (
    'holds no bounds. Write JSON {"age": [0, 120]}, or CSV with the header column,low,high, or draft it with '
    "'cloister schema'"
)


@dataclass(frozen=True)
class Bounds:
    """Public facts: one interval or word for all columns, what some of them are, or both (then the named ones win)."""

    default: Pair | str | None = None  # "private" where bounds are to be found with noise
    named: dict[str, Inside] = field(default_factory=dict)
    option: str = BOUNDS

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
    """Read all values of ``--bounds``: files, a pair for all columns, and named columns."""
    if not values:
        raise ParameterError(
            "--bounds: expected where rows may lie, known without looking at them. Pass --bounds low,high or column=low:high, "
            "a file of 'cloister schema', or --bounds private to find bounds with noise."
        )
    return _collect((entry for value in values for entry in _read_value(value)), option=BOUNDS)


def read_query(value: str) -> Bounds:
    """Read a range query: intervals of some columns, or one for all.

    Examples
    --------
    >>> read_query("age=18:65,bmi=25:30").named
    {'age': (18.0, 65.0), 'bmi': (25.0, 30.0)}
    """
    found = _collect(_read_inline(value, option=QUERY), option=QUERY)
    if not found.are_pairs:
        raise _unread(value, QUERY)
    return found


def _collect(entries: Iterable[tuple[str | None, Inside]], *, option: str) -> Bounds:
    default: Pair | str | None = None
    named: dict[str, Inside] = {}
    for name, inside in entries:
        if name is None and default is not None:
            raise ParameterError(
                f"{option}: expected one pair low,high for all columns, got two. Name the columns: column=low:high."
            )
        if name is None:
            default = inside
        elif name in named:
            raise _twice(name, option)
        else:
            named[name] = inside
    return Bounds(default, named, option)


def _twice(name: str, option: str = BOUNDS) -> ParameterError:
    return ParameterError(f"{option}: column {name!r} has bounds twice. Keep one of them.")


def _unread(value: str, option: str) -> ParameterError:
    return ParameterError(f"{option}: expected {FORMS[option]}, got {value!r}. {REMEDIES[option]}")


# -- in words -----------------------------------------------------------------------------------------------------------


def _read_value(value: str) -> Entries:
    """Read one value of ``--bounds``: words, or the name of a file."""
    with suppress(OSError, ValueError):  # a null, or a name that is too long
        if not ALL_COLUMNS.fullmatch(value) and Path(value).is_file():
            return _read_file(Path(value))
    if value.lower().endswith(FILES) and "=" not in value:
        raise ParameterError(f"--bounds: there is no file {value!r}. Check the path, or draft one with 'cloister schema'.")
    return _read_inline(value)


def _read_inline(value: str, *, option: str = BOUNDS) -> Entries:
    if matched := ALL_COLUMNS.fullmatch(value):
        yield None, PRIVATE if matched[1] is None else _read_column(EVERY, list(matched.groups()), option=option)
    elif matched := ONE_CATEGORY.fullmatch(value):
        yield matched[1], _read_column(matched[1], {"levels": [level.strip() for level in matched[2].split("|")]})
    else:
        position = 0
        while position < len(value) or not value:
            matched = ONE_COLUMN.match(value, position)
            if matched is None:
                raise _unread(value[position:], option)
            yield matched[1], _read_column(matched[1], _as_in_a_file(*matched.groups()), option=option)
            position = matched.end()


def _as_in_a_file(name: str, low: str, high: str, word: str, values: str, levels: str) -> Any:
    """Return what a file would say of a column, from the parts of the pattern that matched."""
    from cloister.columns import KINDS

    if low is not None:
        return [low, high]
    if levels is not None:
        return {"levels": levels.split("|")}
    if not values:
        return word.lower()
    given, names = values.split(":")[1:], (*KINDS[word].needs, *KINDS[word].inline) if word in KINDS else ()
    if word in KINDS and len(given) > len(names):
        form = ":".join((word, *map(str.upper, names)))
        raise ParameterError(f"--bounds: column {name!r}: expected {name}={form}, got {len(given)} values. Leave some out.")
    return {"type": word, **dict(zip(names, map(_number_or_word, given), strict=False))}


def _number_or_word(value: Any) -> Any:
    """Return text as the number that it says, if it says one, and everything else as it is."""
    with suppress(ValueError):
        return float(value) if isinstance(value, str) else value
    return value


def _list(names: Sequence[str]) -> str:
    first = ", ".join(repr(name) for name in names[:20])
    return first if len(names) <= 20 else f"{first} and {len(names) - 20} more"


# -- in a file ----------------------------------------------------------------------------------------------------------


def _read_file(path: Path) -> Entries:
    """Return what a file says of columns; one that is no file of bounds, or a draft that is not filled in, is refused."""
    entries, problem = list[tuple[str, Any]](), NO_BOUNDS
    try:
        if path.stat().st_size > LARGEST_FILE:
            problem = "is too large to be a file of bounds. Pass a small JSON, TOML or CSV file"
        else:
            entries = [(name, one) for name, one in _entries(path) if not (name == HELP_KEY and isinstance(one, str | list))]
    except ParameterError:
        raise
    except tomllib.TOMLDecodeError as error:
        problem = f"is not TOML: {error}. Correct that line"
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError, csv.Error):
        entries = []
    if not entries:
        raise ParameterError(f"--bounds: {path.name!r} {problem}.")
    for name, value in entries:
        yield name, _read_column(name, value, file=path.name)


def _entries(path: Path) -> Iterable[tuple[str, Any]]:
    text = path.read_text(encoding="utf-8-sig")
    if path.suffix.lower() == ".toml":
        return tomllib.loads(text).items()
    if text.lstrip().startswith(("{", "[")):
        found: dict[str, Any] = json.loads(text, object_pairs_hook=_refuse_twice)
        return found.items()
    rows = csv.DictReader(text.splitlines(), skipinitialspace=True)
    return [(row["column"].strip(), [row["low"].strip(), row["high"].strip()]) for row in rows]


def _refuse_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    if twice := [name for name in names if names.count(name) > 1]:
        raise _twice(twice[0])
    return dict(pairs)


# -- one column ---------------------------------------------------------------------------------------------------------


def _read_column(name: str, value: Any, *, option: str = BOUNDS, file: str | None = None) -> Inside:
    """Return what one column is: a pair of numbers where nothing else is said of it, otherwise a declaration."""
    from cloister.columns import declare_columns

    value = _complete(name, value, file)
    try:
        declared = declare_columns(option, {name: value})[name]
    except ParameterError as error:
        problem = str(error)
    else:
        pair = declared.interval
        return pair if declare_columns(option, {name: pair})[name] == declared else declared
    raise ParameterError(problem if repr(name) in problem else f"{option}: column {name!r}: {problem}")


def _complete(name: str, value: Any, file: str | None) -> Any:
    """Return an entry with its numbers read, of a draft as it was filled in; what was not is refused."""
    from cloister.columns import KINDS

    if isinstance(value, list):
        return [_number_or_word(end) for end in value]
    if not isinstance(value, Mapping):
        return value
    given = {part: _number_or_word(one) if part in ("low", "high") else one for part, one in value.items()}
    lacking = [part for part in ("low", "high", "levels") if part in given and given[part] in (None, "", [])]
    if given.get("low") == "private" and lacking == ["high"]:
        return {part: one for part, one in given.items() if part != "high"}
    if given.get("type") == UNKNOWN_TYPE:
        problem, remedy = "type is '?'", "Write number, category, flag or date, with low and high or levels"
    elif lacking:
        empty = f"{' and '.join(lacking)} {'is' if lacking == [lacking[0]] and lacking[0] != 'levels' else 'are'} empty"
        kind = KINDS.get(str(given.get("type", "")))
        can_be_private = "levels" not in lacking and (kind is None or kind.can_be_private)
        private = ', write "private" for low to find both with noise' if can_be_private else ""
        problem, remedy = empty, f"Fill it in with what is known without looking at the data{private}"
    else:
        return given
    raise ParameterError(f"--bounds: column {name!r} of {file!r} is not filled in: {problem}. {remedy}, or delete the column.")
