# SPDX-License-Identifier: Apache-2.0
"""JSON lines, one object per line: no line can raise an error or change how another line is read.

Columns are those that were declared: keys are not looked for in the lines, because that would publish the keys of a row. A line
that is no object, and an object without the key, is a missing value. Imported by the files' backend.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from cloister.data._backend import Block
from cloister.data._csv import BYTE_ORDER_MARK, WHOLE, line_chunks
from cloister.data._decode import decode_objects
from cloister.data._places import TextFile
from cloister.data._values import doubles_of
from cloister.domain import AnyDeclaration
from cloister.privacy import CoinStream

__all__ = ["json_blocks"]

LONGEST_INTEGER = 400  # digits: a longer one is beyond a double anyway


def json_blocks(
    file: TextFile,
    names: Sequence[str],
    *,
    declared: Sequence[AnyDeclaration] | None = None,
    start: int = 0,
    stop: int = WHOLE,
    tosses: CoinStream | None = None,
) -> Iterator[Block]:
    """Yield blocks of raw rows of the named columns, in the order of the lines: of those that begin in a range of bytes.

    With `tosses`, only the lines whose coins show heads are looked into.
    """
    encoding = file.dialect.encoding
    with file.open() as stream:
        if start > 0:
            stream.seek(start - 1)
            stream.readline()  # the rest of a line that begins before, or the newline that ends it
        for chunk in line_chunks(stream, stop, tosses):
            found = [_object(line, encoding) for line in chunk.split(b"\n")[:-1]]
            block = np.empty((len(found), len(names)))
            for index, name in enumerate(names):
                values = [one.get(name) for one in found]
                block[:, index] = (
                    doubles_of(values, (len(values),)) if declared is None else decode_objects(values, declared[index])
                )
            yield block


def _object(line: bytes, encoding: str) -> dict[str, Any]:
    """Return the object in a line, an empty one where there is none."""
    try:
        found = json.loads(line.removeprefix(BYTE_ORDER_MARK).decode(encoding, "replace"), parse_int=_integer)
    except (ValueError, RecursionError):  # no JSON, or too deep
        return {}
    return found if isinstance(found, dict) else {}


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= LONGEST_INTEGER else float(digits)
