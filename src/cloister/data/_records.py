# SPDX-License-Identifier: Apache-2.0
"""Text cut into records: which bytes are one row. Imported by the readers of CSV and JSON lines.

A record is what RFC 4180 says. A quote opens a field where the field begins; inside, two quotes are one, and a quote before a
delimiter, a line break or the end of the file closes the field. Line breaks inside belong to the record. A line where no such
record begins is malformed: it is a row by itself, and reading goes on with the next line.

So a line with an even number of quotes is a row by itself wherever a record may begin, well formed or not. One with an odd
number opens a field that only the next such line can close: the two and all lines between them are one record if every quote in
them is well placed. No line is looked at more than twice, and rows are the same wherever the text is cut between two records.

What is longer than ``RECORD_BYTES`` is a row of missing values, and is never in memory as a whole.
"""

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import BinaryIO, TypeAlias

import numpy as np
import numpy.typing as npt

from cloister.data._formats import RECORD_BYTES
from cloister.data._places import TextFile
from cloister.privacy import CoinStream

Bytes: TypeAlias = npt.NDArray[np.uint8]
Bools: TypeAlias = npt.NDArray[np.bool_]
Places: TypeAlias = npt.NDArray[np.int64]

CHUNK_BYTES = 1 << 22
WHOLE = sys.maxsize
AHEAD = 2  # bytes behind a quote that say whether it closes a field
NEWLINE, RETURN, QUOTE = b'\n\r"'
QUOTED = re.compile(rb'"(?:[^"]++|"")*+"')


@dataclass(frozen=True, kw_only=True)
class Grammar:
    """What a record is."""

    missing: bytes  # a line that is read as a row of missing values
    delimiter: bytes | None = None  # of CSV files; None: quotes mean nothing
    joins: bool = False  # whether line breaks in quotes belong to the record


@dataclass(frozen=True)
class Records:
    """Records end to end, all well formed, none empty, each ended by a newline."""

    data: bytes
    ends: Places  # behind each of them

    def __len__(self) -> int:
        return len(self.ends)

    def split(self) -> list[bytes]:
        """Return the records without what ends them."""
        return [self.data[start : end - 1] for start, end in pairwise([0, *self.ends.tolist()])]

    def take(self, chosen: Places) -> "Records":
        """Return the records with these numbers."""
        lengths = np.diff(self.ends, prepend=0)[chosen]
        starts = self.ends[chosen] - lengths
        spans = zip(starts.tolist(), self.ends[chosen].tolist(), strict=True)
        return Records(b"".join(self.data[start:end] for start, end in spans), np.cumsum(lengths))


def read_records(
    file: TextFile, grammar: Grammar, start: int, stop: int = WHOLE, *, tosses: CoinStream | None = None
) -> Iterator[Records]:
    """Yield the records of a range of bytes that begins and ends between two records, some megabytes at a time.

    With `tosses`, only those whose coins show heads.
    """
    for stretch in _stretches(file, grammar, start, stop):
        records = _clean(stretch, grammar)
        yield records if tosses is None else records.take(tosses.take(len(records)))
    yield Records(b"", np.empty(0, dtype=np.int64))  # so that there is no range without a block, for those who count them


def find_cuts(file: TextFile, grammar: Grammar, start: int, stop: int, step: int) -> list[int]:
    """Return places between two records, one behind every `step` bytes where there is one.

    Where records have no line breaks, little is read for that; otherwise the file is searched for quotes, once.
    """
    cuts, target = list[int](), step
    if grammar.joins:
        for stretch in _stretches(file, grammar, start, stop):
            while target < stretch.start + len(stretch.data):
                cuts.append(stretch.boundary(target))
                target = (cuts[-1] // step + 1) * step
    else:
        with file.open() as stream:
            text = _Text(stream, start, stop)
            for target in range(step, stop, step):
                if target > text.at:
                    text.skip_to(target - 1)
                    _follow(text, None, inside=False)
                    cuts.append(text.at)
    return [cut for cut in cuts if cut < stop]


# -- text ------------------------------------------------------------------------------------------------------------------


class _Text:
    """The bytes of a range that have been read and not been used."""

    def __init__(self, stream: BinaryIO, start: int, stop: int) -> None:
        self.data = b""
        self.at = 0  # where they begin in the file
        self.ended = False
        self._stream = stream
        self._stop = stop
        self.skip_to(start)

    def more(self) -> bool:
        """Read on, unless a record of any length that is read is here already; return whether anything is here."""
        if not self.ended and len(self.data) <= max(RECORD_BYTES, AHEAD):
            read = self._stream.read(max(0, min(CHUNK_BYTES, self._stop - self.at - len(self.data))))
            self.data += read
            self.ended = not read
            if self.ended and self.data and not self.data.endswith(b"\n"):
                self.data += b"\n"
        return bool(self.data)

    def drop(self, size: int) -> None:
        """Go on behind that many bytes."""
        self.data = self.data[size:]
        self.at += size

    def skip_to(self, place: int) -> None:
        """Go on at a later place of the file."""
        left = place - self.at - len(self.data)
        self.data, self.at = self.data[place - self.at :], place
        if left > 0 and self._stream.seekable():
            self._stream.seek(place)
            return
        while left > 0 and (read := self._stream.read(min(CHUNK_BYTES, left))):
            left -= len(read)


@dataclass(frozen=True)
class _Stretch:
    """Text from the beginning of a record to the end of one, as it stands in the file."""

    start: int  # in the file
    data: bytes  # empty for one record that is too long
    ends: Places | None = None  # of the records; None: every line is one, and well formed
    alone: Bools | None = None  # which of them are malformed lines

    def boundary(self, place: int) -> int:
        """Return the first place from this one on where a record ends, or where the first one begins."""
        inside = place - self.start
        if inside <= 0:
            return self.start
        if self.ends is None:
            return self.start + self.data.index(b"\n", inside - 1) + 1
        return self.start + int(self.ends[np.searchsorted(self.ends, inside)])


def _stretches(file: TextFile, grammar: Grammar, start: int, stop: int) -> Iterator[_Stretch]:
    with ExitStack() as opened:
        text = _Text(opened.enter_context(file.open()), start, stop)

        @lru_cache(maxsize=1)
        def scout() -> _Text:
            return _Text(opened.enter_context(file.open()), text.at, stop)

        while text.more():
            stretch = _cut(text, grammar)
            if stretch.data:
                yield stretch
                text.drop(len(stretch.data))
            elif len(text.data) > RECORD_BYTES:
                yield _Stretch(text.at, b"")
                _skip_record(text, grammar, scout)


# -- boundaries ------------------------------------------------------------------------------------------------------------


def _cut(text: _Text, grammar: Grammar) -> _Stretch:
    """Return the records at the beginning of the text whose end is known."""
    size = text.data.rfind(b"\n") + 1
    if grammar.delimiter is None or text.data.find(b'"', 0, size) < 0:
        return _Stretch(text.at, text.data[:size])
    data = np.frombuffer(text.data, dtype=np.uint8, count=size)
    breaks, quotes = np.flatnonzero(data == NEWLINE), np.flatnonzero(data == QUOTE)
    until = np.searchsorted(quotes, breaks)  # quotes before the end of each line
    outside = until & 1 == 0  # of quotes, if all of them are well placed
    may_fit = (outside[-1] or (outside.any() and not text.ended)) if grammar.joins else outside.all()
    if may_fit:  # in almost every file, quotes that open and close fields in turn are all well placed
        turns = quotes[: until[outside][-1]]
        opens = _may_open(data, turns[::2], grammar.delimiter, NEWLINE)
        if opens.all() and _may_close(data, turns[1::2], grammar.delimiter).all():
            ends = breaks[outside] + 1
            return _Stretch(text.at, text.data[: ends[-1]], ends)
    return _cut_one_by_one(text, size, *_patterns(grammar.delimiter, grammar.joins))


def _cut_one_by_one(text: _Text, size: int, record: re.Pattern[bytes], opened: re.Pattern[bytes]) -> _Stretch:
    """Return the same where some quotes are misplaced: a line where no record begins is malformed."""
    ends, alone = [0], list[bool]()
    while ends[-1] < size:
        found = record.match(text.data, ends[-1], size)
        if found is None and not text.ended and opened.match(text.data, ends[-1], size):
            break
        ends.append(found.end() if found else text.data.index(b"\n", ends[-1]) + 1)
        alone.append(found is None)
    return _Stretch(text.at, text.data[: ends[-1]], np.array(ends[1:], dtype=np.int64), np.array(alone, dtype=bool))


@lru_cache(maxsize=16)
def _patterns(delimiter: bytes, joins: bool) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """Return the pattern of a record, and that of one whose end is not in the text."""
    mark, inside = re.escape(delimiter), rb'(?:[^"]++|"")*+' if joins else rb'(?:[^"\n]++|"")*+'
    field = rb'(?:"%b"|[^"\n%b]*+)' % (inside, mark)
    return re.compile(rb"%b(?:%b%b)*+\r?\n" % (field, mark, field)), re.compile(rb'(?:%b%b)*+"%b\Z' % (field, mark, inside))


def _may_open(data: Bytes, quotes: Places, delimiter: bytes, before: int) -> Bools:
    """Return which quotes may open a field, or be the second of two in it; `before` precedes the data."""
    previous = data[quotes - 1]
    previous[:1] = np.where(quotes[:1] == 0, before, previous[:1])
    return _is_beside(previous, delimiter)


def _may_close(data: Bytes, quotes: Places, delimiter: bytes) -> Bools:
    """Return which quotes may close a field, or be the first of two in it."""
    following = data[np.minimum(quotes + 1, len(data) - 1)]
    closes = _is_beside(following, delimiter)
    returns = quotes[following == RETURN]
    closes[following == RETURN] = data[np.minimum(returns + AHEAD, len(data) - 1)] == NEWLINE
    return closes


def _is_beside(found: Bytes, delimiter: bytes) -> Bools:
    """Return which bytes may stand beside a quote outside its field."""
    return np.isin(found, np.array([NEWLINE, QUOTE, *delimiter], dtype=np.uint8), kind="table")


# -- records that are too long ---------------------------------------------------------------------------------------------


def _skip_record(text: _Text, grammar: Grammar, scout: Callable[[], _Text]) -> None:
    """Go on behind a record that is too long: behind its end, or behind its first line where it is malformed.

    Another stream over the same file finds out which: what lies between has to be read if it is malformed.
    """
    is_open = _follow(text, grammar.delimiter if grammar.joins else None, inside=False)
    if is_open:
        ahead = scout()
        ahead.skip_to(text.at)  # never back: where it last stopped, one line with an odd number of quotes has passed since
        if _follow(ahead, grammar.delimiter, inside=True):
            text.skip_to(ahead.at)


def _follow(text: _Text, delimiter: bytes | None, *, inside: bool) -> bool:
    """Go on behind the end of a line, and return whether it leaves a field open, all of its quotes being well placed.

    From within quotes, go on behind the end of the record instead, and return whether it has one.
    """
    n_quotes, fits, before = int(inside), True, NEWLINE
    while text.more():
        size = max(0, len(text.data) - (0 if text.ended else AHEAD))
        data = np.frombuffer(text.data, dtype=np.uint8)
        breaks = np.flatnonzero(data[:size] == NEWLINE)
        quotes = breaks[:0] if delimiter is None else np.flatnonzero(data[:size] == QUOTE)
        if inside:
            breaks = breaks[(np.searchsorted(quotes, breaks) + n_quotes) & 1 == 0]
        end = int(breaks[0]) + 1 if len(breaks) else size
        quotes = quotes[quotes < end]
        if len(quotes):
            opens, closes = _may_open(data, quotes, delimiter or b"", before), _may_close(data, quotes, delimiter or b"")
            fits &= bool(np.where((np.arange(len(quotes)) + n_quotes) & 1, closes, opens).all())
        n_quotes += len(quotes)
        if inside and not fits:
            return False
        before = text.data[end - 1] if end else before
        text.drop(end)
        if len(breaks):
            return fits and (inside or n_quotes & 1 == 1)
    return False


# -- what is read of them --------------------------------------------------------------------------------------------------


def _clean(stretch: _Stretch, grammar: Grammar) -> Records:
    """Return records with one newline at the end of each and without blank lines; what cannot be read is missing."""
    if not stretch.data:
        return Records(grammar.missing, np.array([len(grammar.missing)]))
    data, ends = stretch.data, stretch.ends
    if len(data) > RECORD_BYTES or (stretch.alone is not None and stretch.alone.any()):
        data, ends = _without_malformed(stretch, grammar), None
    if grammar.delimiter is None or b'"' not in data:
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b" ")
        if data.startswith(b"\n") or b"\n\n" in data:
            data = b"".join(line + b"\n" for line in data.split(b"\n") if line)
        return Records(data, np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == NEWLINE) + 1)
    if b"\r" in data:
        data, ends = _without_returns(data), None
    if ends is None:
        breaks, is_outside = _find(data, NEWLINE)
        ends = breaks[is_outside] + 1
    records = Records(data, ends)
    is_blank = np.diff(ends, prepend=0) == 1
    return records.take(np.flatnonzero(~is_blank)) if is_blank.any() else records


def _without_malformed(stretch: _Stretch, grammar: Grammar) -> bytes:
    """Return the records with a line in place of each that is malformed or too long."""
    data, ends = stretch.data, stretch.ends
    if ends is None:
        ends = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == NEWLINE) + 1
    is_long = np.diff(ends, prepend=0) > RECORD_BYTES
    parts, last = list[bytes](), 0
    for index in np.flatnonzero(is_long if stretch.alone is None else is_long | stretch.alone).tolist():
        start, end = int(ends[index - 1]) if index else 0, int(ends[index])
        parts += [data[last:start], grammar.missing if is_long[index] else _by_itself(data[start:end], grammar)]
        last = end
    return b"".join([*parts, data[last:]])


def _by_itself(line: bytes, grammar: Grammar) -> bytes:
    """Return a malformed line as a well-formed one: quotes in a field that begins without one are letters like others."""
    mark, fields, at = grammar.delimiter or b"", list[bytes](), 0
    line = line.removesuffix(b"\n").removesuffix(b"\r")
    while at <= len(line):
        quoted = QUOTED.match(line, at)
        end = quoted.end() if quoted else line.find(mark, at) % (len(line) + 1)
        if line[at : at + 1] == b'"' and (quoted is None or line[end : end + 1] not in (b"", mark)):
            return grammar.missing
        field = line[at:end]
        fields.append(field if quoted else b'"' + field.replace(b"\r", b" ").replace(b'"', b'""') + b'"')
        at = end + 1
    return mark.join(fields) + b"\n"


def _without_returns(data: bytes) -> bytes:
    """Return records with line breaks of one byte between them, and blanks for other carriage returns outside quotes."""
    array = np.frombuffer(bytearray(data), dtype=np.uint8)
    places, is_outside = _find(data, RETURN)
    places = places[is_outside]
    is_end = array[places + 1] == NEWLINE
    array[places[~is_end]] = ord(" ")
    return np.delete(array, places[is_end]).tobytes()


def _find(data: bytes, mark: int) -> tuple[Places, Bools]:
    """Return where a byte is in well-formed records, and whether outside quotes."""
    array = np.frombuffer(data, dtype=np.uint8)
    places = np.flatnonzero(array == mark)
    return places, np.searchsorted(np.flatnonzero(array == QUOTE), places) & 1 == 0
