# SPDX-License-Identifier: Apache-2.0
"""Files that say what columns are: JSON or TOML, as ``cloister schema`` drafts them, or CSV with the header column,low,high."""

import csv
import json
import math
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from cloister.exceptions import ParameterError

__all__ = ["HELP_KEY", "UNKNOWN_TYPE", "Pair", "pair_of", "read_column", "read_schema"]

Pair = tuple[float, float]

HELP_KEY = "_help"  # no column, if it holds words
UNKNOWN_TYPE = "?"
LARGEST_FILE = 16 << 20  # bytes; a table passed by mistake is not read as bounds
NO_BOUNDS = (
    'holds no bounds. Write JSON {"age": [0, 120]}, or CSV with the header column,low,high, or draft it with '
    "'cloister schema'"
)
FILL_IN = "Fill it in with what is known without looking at the data"


def read_schema(path: Path) -> dict[str, Any]:
    """Return what a file says of columns: a pair of numbers, or a declaration.

    Raises
    ------
    ParameterError
        If there are none in it, or a draft is not filled in; it names the column.
    """
    entries, problem = list[tuple[str, Any]](), ""
    try:
        if path.stat().st_size > LARGEST_FILE:
            problem = "is too large to be a file of bounds. Pass a small JSON, TOML or CSV file"
        else:
            entries = [(name, one) for name, one in _entries(path) if not _is_help(name, one)]
    except ParameterError:
        raise
    except tomllib.TOMLDecodeError as error:
        problem = f"is not TOML: {error}. Correct that line"
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError, csv.Error):
        entries = []
    if not entries:
        raise ParameterError(f"--bounds: {path.name!r} {problem or NO_BOUNDS}.")
    found: dict[str, Any] = {}
    for name, value in entries:
        if name in found:
            raise _twice(name)
        found[name] = read_column(name, value, file=path.name)
    return found


def read_column(name: str, value: Any, *, file: str | None = None) -> Any:
    """Return what one column is: a pair of numbers where nothing else is said of it, otherwise a declaration."""
    value = _complete(name, value, file)
    if (pair := _plain_pair(value)) is not None:
        return pair_of(f"column {name!r}", *pair)
    from cloister.columns import Number, declare_columns

    try:
        declared = declare_columns("--bounds", {name: value})[name]
    except ParameterError as error:
        problem = str(error)
    else:
        if isinstance(declared, Number) and declared == Number(declared.low, declared.high) and not declared.is_private:
            return declared.low, declared.high
        return declared
    raise ParameterError(problem if repr(name) in problem else f"--bounds: column {name!r}: {problem}")


def pair_of(owner: str, low: Any, high: Any, *, option: str = "--bounds") -> Pair:
    """Return two numbers as an interval."""
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


def _entries(path: Path) -> Iterator[tuple[str, Any]]:
    text = path.read_text(encoding="utf-8-sig")
    if path.suffix.lower() == ".toml":
        return iter(tomllib.loads(text).items())
    if text.lstrip().startswith(("{", "[")):
        return iter(json.loads(text, object_pairs_hook=_refuse_twice).items())
    return _csv_entries(text)


def _refuse_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    if twice := [name for name in names if names.count(name) > 1]:
        raise _twice(twice[0])
    return dict(pairs)


def _twice(name: str) -> ParameterError:
    return ParameterError(f"--bounds: column {name!r} has bounds twice. Keep one of them.")


def _csv_entries(text: str) -> Iterator[tuple[str, Any]]:
    for row in csv.DictReader(text.splitlines(), skipinitialspace=True):
        yield row["column"].strip(), [row["low"].strip(), row["high"].strip()]


def _is_help(name: str, value: Any) -> bool:
    return name == HELP_KEY and isinstance(value, str | list)


def _plain_pair(value: Any) -> tuple[Any, Any] | None:
    """Return two ends that are not both text, which might be dates."""
    if not isinstance(value, list | tuple) or len(value) != 2 or any(isinstance(end, bool | Mapping | list) for end in value):
        return None
    numbers = 0
    for end in value:
        with suppress(TypeError, ValueError):
            float(end)
            numbers += 1
    return (value[0], value[1]) if numbers else None


def _complete(name: str, value: Any, file: str | None) -> Any:
    """Return an entry of a draft as it was filled in; what was not is refused."""
    if not isinstance(value, Mapping):
        return value
    given = dict(value)
    if set(given) == {"low", "high"} and None not in given.values():
        return [given["low"], given["high"]]
    lacking = [part for part in ("low", "high", "levels") if part in given and given[part] in (None, "", [])]
    if given.get("low") == "private" and lacking == ["high"]:
        return {part: one for part, one in given.items() if part != "high"}
    if given.get("type") == UNKNOWN_TYPE:
        problem, remedy = "type is '?'", "Write number, category, flag or date, with low and high or levels"
    elif lacking:
        empty = f"{' and '.join(lacking)} {'is' if lacking == [lacking[0]] and lacking[0] != 'levels' else 'are'} empty"
        private = ', write "private" for low to find both with noise' if given.get("type", "number") == "number" else ""
        problem, remedy = empty, f"{FILL_IN}{private if 'levels' not in lacking else ''}"
    else:
        return given
    where = f"column {name!r}" + (f" of {file!r}" if file else "")
    raise ParameterError(f"--bounds: {where} is not filled in: {problem}. {remedy}, or delete the column.")
