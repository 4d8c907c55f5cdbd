# SPDX-License-Identifier: Apache-2.0
"""Rows on their way into parts: in memory while they are few, then in a temporary file. Imported by the bounding of rows.

The file holds rows as they are. On POSIX it has no name from the moment it is made and nobody else can open it, so nothing is
left of it when the process ends, however it ends; elsewhere it goes when it is closed. It lies where temporary files do, in the
folder that TMPDIR names.
"""

import errno
import tempfile
import weakref
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from cloister.data._backend import Block, block_rows, explained
from cloister.data._bound import N_BUCKETS, buckets_of, make_canonical, with_id
from cloister.data._values import DOUBLE
from cloister.exceptions import DataError

NO_ROOM = (errno.ENOSPC, errno.EDQUOT) if hasattr(errno, "EDQUOT") else (errno.ENOSPC,)
SMALLER = 8  # how many times as few rows wait once there is a file: they are written while others are read


class SpillFile:
    """A temporary file of doubles, written at its end and read anywhere, by several threads."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._lock = Lock()
        self._n_rows = 0
        self._file: Any = explained(partial(tempfile.TemporaryFile, prefix="cloister-", buffering=0), _explain, OSError)
        weakref.finalize(self, self._file.close)

    def append(self, block: Block) -> "Segment":
        """Write rows, which are doubles one after the other, and return where they are."""
        with self._lock:
            first, self._n_rows = self._n_rows, self._n_rows + len(block)

            def write() -> None:
                rest = _bytes_of(block)
                self._file.seek(first * self._width * DOUBLE)
                while rest:
                    rest = rest[self._file.write(rest) :]

            explained(write, _explain, OSError)
        return Segment(self, first, len(block))

    def read(self, first: int, n_rows: int) -> Block:
        """Return some of the rows."""
        with self._lock:
            self._file.seek(first * self._width * DOUBLE)
            numbers = np.fromfile(self._file, count=n_rows * self._width)
        if len(numbers) < n_rows * self._width:
            raise DataError("privacy_unit: the temporary file of rows has become shorter. Fit again.")
        return numbers.reshape(n_rows, self._width)


@dataclass(frozen=True, eq=False)
class Segment:
    """Rows that stand in a file one after the other."""

    file: SpillFile
    first: int
    n_rows: int

    def __len__(self) -> int:
        return self.n_rows

    def blocks(self, size: int) -> Generator[Block, None, None]:
        """Yield the rows, so many at a time."""
        for start in range(0, self.n_rows, size):
            yield self.file.read(self.first + start, min(size, self.n_rows - start))


@dataclass(frozen=True, eq=False)
class Pile:
    """Some rows, in any order: a few at a time, or all of them at once."""

    width: int
    segments: Sequence[Segment | Block]

    def __len__(self) -> int:
        return sum(map(len, self.segments))

    @property
    def n_numbers(self) -> int:
        """How many numbers there are."""
        return len(self) * self.width

    def blocks(self) -> Iterator[Block]:
        """Yield the rows in blocks."""
        size = block_rows(self.width)
        for segment in self.segments:
            if isinstance(segment, Segment):
                yield from segment.blocks(size)
            else:
                yield segment

    def load(self) -> Block:
        """Return all rows."""
        whole = np.empty((len(self), self.width))
        start = 0
        for block in self.blocks():
            whole[start : start + len(block)] = block
            start += len(block)
        return whole

    def __add__(self, other: "Pile") -> "Pile":
        return Pile(self.width, [*self.segments, *other.segments])


def split_by_bucket(block: Block, n_ranges: int = N_BUCKETS) -> list[Block]:
    """Return the rows of a block whose id is known by bucket, or by ranges of buckets, in canonical form."""
    block = with_id(block)
    return split_block(block, (buckets_of(block).astype(np.int64) * n_ranges // N_BUCKETS).astype(np.uint8), n_ranges)


def split_block(block: Block, parts: npt.NDArray[np.uint8], n_parts: int) -> list[Block]:
    """Return the rows of a block by the number of the part that each of them goes to, in canonical form."""
    order = np.argsort(parts, kind="stable")  # of bytes: by counting
    rows = make_canonical(np.take(np.asarray(block, dtype=np.float64), order, axis=0))
    ends = np.cumsum(np.bincount(parts, minlength=n_parts)).tolist()
    return [rows[start:end] for start, end in pairwise([0, *ends])]


class Shuffle:
    """Takes rows of `width` numbers in any order and gives them back part by part; up to `waiting` numbers wait in memory."""

    def __init__(self, width: int, n_parts: int, *, waiting: int) -> None:
        self._width = width
        self._limit = waiting
        self._lock = Lock()
        self._waiting: list[list[Block]] = []
        self._n_waiting = 0
        self._file: SpillFile | None = None
        self._segments: list[list[Segment | Block]] = [[] for _ in range(n_parts)]

    def add(self, split: list[Block]) -> None:
        """Take some rows, part by part; several threads may bring them."""
        with self._lock:
            self._waiting.append(split)
            self._n_waiting += _n_numbers(split)
            if self._n_waiting > (self._limit if self._file is None else self._limit // SMALLER):
                self._spill()

    def _spill(self) -> None:
        """Write what waits, part by part, some of it at a time: in long stretches, which any disk writes and reads fast."""
        self._file = self._file or SpillFile(self._width)
        waiting, self._waiting, self._n_waiting = self._waiting, [], 0
        while waiting:
            some, n_numbers = [waiting.pop()], 0
            while waiting and (n_numbers := n_numbers + _n_numbers(some[-1])) < self._limit // SMALLER:
                some.append(waiting.pop())
            parts = [split[number] for number in range(len(self._segments)) for split in some]
            whole = self._file.append(np.concatenate(parts))
            starts = whole.first + np.cumsum([0, *map(len, parts)])[:: len(some)]
            for segments, start, stop in zip(self._segments, starts[:-1].tolist(), starts[1:].tolist(), strict=True):
                segments.append(Segment(self._file, start, stop - start))

    def piles(self) -> list[Pile]:
        """Return the parts; what was written to a file has all of them there, and the memory is free."""
        if self._file is not None:
            self._spill()
        waiting, self._waiting = self._waiting, []
        return [
            Pile(self._width, [one for one in (*segments, *(split[number] for split in waiting)) if len(one)])
            for number, segments in enumerate(self._segments)
        ]


def _n_numbers(split: list[Block]) -> int:
    return sum(part.size for part in split)


def _bytes_of(block: Block) -> memoryview:
    return block.reshape(-1).view(np.uint8).data


def _explain(error: OSError) -> str:
    what = "has no room left" if error.errno in NO_ROOM else f"cannot be written to ({type(error).__name__})"
    return (
        f"privacy_unit: rows are sorted by person in a temporary file, and the folder of temporary files {what}. Set TMPDIR to "
        "a folder with room for two copies of the table."
    )
