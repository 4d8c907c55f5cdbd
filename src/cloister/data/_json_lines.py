# SPDX-License-Identifier: Apache-2.0
"""JSON lines, one object per line: no line can raise an error or change how another line is read.

Columns are those that were declared: keys are not looked for in the lines, because that would publish the keys of a row. A line
that is no object, and an object without the key, is a missing value. Imported by the files' backend.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from cloister.columns import Identifier
from cloister.data._backend import Block, beside
from cloister.data._columns import Declared, ReadAs
from cloister.data._csv import BYTE_ORDER_MARK
from cloister.data._decode import decode_objects
from cloister.data._formats import UTF_8
from cloister.data._places import TextFile
from cloister.data._records import WHOLE, Grammar, find_cuts, read_records
from cloister.privacy import CoinStream

JSON_LINES = Grammar(missing=b"{}\n")
LONGEST_INTEGER = 400  # digits: a longer one is beyond a double anyway
NO_CHARACTER = "\ufffd"  # stands where bytes are no text


class JsonReader:
    """Reads lines of a file as rows: the values of the named keys, as they were declared."""

    def __init__(self, where: str, file: TextFile, names: Sequence[str], declared: Declared) -> None:
        self._file = file
        self._encoding = file.dialect.encoding
        self._names = names
        self._declared = declared

    def blocks(self, start: int = 0, stop: int = WHOLE, tosses: CoinStream | None = None) -> Iterator[Block]:
        """Yield blocks of raw rows, in the order of the lines: of those in a range of bytes.

        With `tosses`, only the lines whose coins show heads are looked into.
        """
        for records in read_records(self._file, JSON_LINES, start, stop, tosses=tosses):
            lines = records.split()
            found = [_object(line, self._encoding) for line in lines]
            yield beside([self._read(*each, found, lines) for each in zip(self._names, self._declared, strict=True)])

    def _read(self, name: str, declared: ReadAs, found: list[dict[str, Any]], lines: list[bytes]) -> npt.NDArray[np.float64]:
        values = [row.get(name) for row in found]
        if isinstance(declared, Identifier):
            values = [_exact(value, line, name, self._encoding) for value, line in zip(values, lines, strict=True)]
        return decode_objects(values, declared)

    def texts(self) -> Iterator[tuple[str, ...]]:
        """Yield the values as they are written, line by line; text without its quotes."""
        for records in read_records(self._file, JSON_LINES, 0):
            for line in records.split():
                found = _object(line, self._encoding, as_written=True)
                values = ("" if (value := found.get(name)) is None else value for name in self._names)
                yield tuple(one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in values)

    def cuts(self, stop: int, step: int) -> list[int]:
        """Return places between two lines where the file may be cut into pieces."""
        return find_cuts(self._file, JSON_LINES, 0, stop, step)


def _exact(value: Any, line: bytes, name: str, encoding: str) -> Any:
    """Return an id as it stands in its line, also where it is no text: no two of those become one."""
    if not isinstance(value, str) or NO_CHARACTER not in value:
        return value
    kept = _object(line, encoding, errors="surrogateescape").get(name, value)
    if encoding == UTF_8 and isinstance(kept, str):
        with suppress(UnicodeError):
            return kept.encode(UTF_8, "surrogateescape")
    return kept


def _object(line: bytes, encoding: str, errors: str = "replace", *, as_written: bool = False) -> dict[str, Any]:
    """Return the object in a line, an empty one where there is none; with `as_written` numbers are texts."""
    parse: dict[str, Any] = {"parse_int": str, "parse_float": str} if as_written else {"parse_int": _integer}
    try:
        found = json.loads(line.removeprefix(BYTE_ORDER_MARK).decode(encoding, errors), **parse)
    except (ValueError, RecursionError):  # no JSON, or too deep
        return {}
    return found if isinstance(found, dict) else {}


def _integer(digits: str) -> int | Decimal:
    return int(digits) if len(digits) <= LONGEST_INTEGER else Decimal(digits)
