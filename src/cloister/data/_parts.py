# SPDX-License-Identifier: Apache-2.0
"""Rows in parts that threads read side by side: pieces of files, buckets of a temporary file, slices of what is in memory.

Samples: each part is read in order, and what is kept of it depends on its own coins and rows alone. A part is a partition, the
same one for every engine, so that the same coins give the same sample everywhere.

Bounding: one pass sorts rows into buckets, then each bucket is chosen from. Rows wait in memory while they are few and in a
temporary file from then on. What is kept is in memory or, if that is too much, in a second file. So memory is bounded whatever
the table. Imported by the backends.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import closing
from functools import partial
from threading import Event, Lock

import numpy as np

from cloister.data._backend import (
    KEPT_NUMBERS,
    ArrayRows,
    Block,
    LocalRows,
    Part,
    Stream,
    Watch,
    block_rows,
    empty_block,
    runs,
)
from cloister.data._bound import N_BUCKETS, Bounding
from cloister.data._columns import Schema
from cloister.data._cut import choose_piles
from cloister.data._spill import Pile, Segment, Shuffle, SpillFile, split_by_bucket
from cloister.data._threads import READER
from cloister.privacy import Coins

LOOK_SECONDS = 0.25
WAITING_NUMBERS = KEPT_NUMBERS // 2  # in memory, before they go to a file
STORED_NUMBERS = KEPT_NUMBERS // 2  # in memory, of the rows that are kept
READING = 0.5  # part of the work that the pass is


def read_parts(
    parts: Sequence[Part], take: Callable[[int, Block], bool], *, coins: Coins | None = None, n_jobs: int, watch: Watch | None
) -> None:
    """Pass every block to `take`, with the number of its part; several threads call it. Once it returns False all stop.

    With `coins`, only the rows whose coins show heads are read. The first error stops all. `watch` is called from this thread.
    """
    n_blocks, n_read = sum(part.n_blocks for part in parts), [0] * len(parts)
    stopped = Event()

    def read(number: int, part: Part) -> None:
        with closing(part.blocks(None if coins is None else coins.partition(number))) as blocks:
            for block in blocks:
                n_read[number] += 1
                if stopped.is_set() or not take(number, block):
                    stopped.set()
                    return

    with ThreadPoolExecutor(n_jobs, thread_name_prefix=READER) as pool:
        left = {pool.submit(read, number, part) for number, part in enumerate(parts)}
        try:
            while left:
                finished, left = wait(left, timeout=LOOK_SECONDS, return_when=FIRST_EXCEPTION)
                for future in finished:
                    future.result()
                if watch is not None and n_blocks:
                    watch(min(sum(n_read) / n_blocks, 1.0))
        finally:
            stopped.set()
            pool.shutdown(cancel_futures=True)


def sample_parts(parts: Sequence[Part], coins: Coins, *, like: LocalRows, watch: Watch | None) -> LocalRows:
    """Read all parts once and keep the rows whose coins show heads in memory, unless they are too many for that."""
    kept: list[list[Block]] = [[] for _ in parts]
    free, lock = like.kept_numbers, Lock()

    def keep(number: int, block: Block) -> bool:
        nonlocal free
        with lock:
            free -= block.size
        if free >= 0:
            kept[number].append(block)
        return free >= 0

    read_parts(parts, keep, coins=coins, n_jobs=like.n_jobs, watch=watch)
    return SampledParts(parts, coins, like=like) if free < 0 else rows_of_parts(kept, like.schema, like.n_jobs)


def rows_of_parts(parts: Sequence[Sequence[Block]], schema: Schema, n_jobs: int) -> LocalRows:
    """Return rows in memory: the blocks of every partition, end to end."""
    blocks = [empty_block(schema.width), *(block for part in parts for block in part)]
    return ArrayRows(np.concatenate(blocks), schema, n_jobs=n_jobs, lengths=[sum(map(len, part)) for part in parts])


class SampledParts(LocalRows):
    """The rows of parts whose coins show heads, where they are too many to be kept: drawn again for every question."""

    reads_ahead = True

    def __init__(self, parts: Sequence[Part], coins: Coins, *, like: LocalRows) -> None:
        super().__init__(like.schema, like.n_jobs)
        self.kept_numbers = like.kept_numbers
        self._parts = parts
        self._coins = coins

    def blocks(self) -> Iterator[Block]:
        for number, part in enumerate(self._parts):
            yield from map(np.concatenate, runs(part.blocks(self._coins.partition(number)), block_rows(self.width)))


# -- bounding --------------------------------------------------------------------------------------------------------------


def bound_parts(parts: Sequence[Part], bounding: Bounding, *, like: LocalRows, watch: Watch | None) -> LocalRows:
    """Return at most so many rows of each person in the parts, which are those of `like` and read side by side."""
    shuffle = new_shuffle(like.width)

    def deal(_: int, block: Block) -> bool:
        shuffle.add(split_by_bucket(block))
        return True

    read_parts(parts, deal, n_jobs=like.n_jobs, watch=None if watch is None else lambda part: watch(READING * part))
    return store(shuffle.piles(), bounding, schema=like.schema, n_jobs=like.n_jobs, watch=watch)


def new_shuffle(width: int) -> Shuffle:
    """Return what takes the rows of a table."""
    return Shuffle(width, N_BUCKETS, waiting=WAITING_NUMBERS)


def store(piles: Sequence[Pile], bounding: Bounding, *, schema: Schema, n_jobs: int, watch: Watch | None = None) -> LocalRows:
    """Return what is kept of the buckets, as rows of this process: in memory while they are few."""
    blocks, lengths, file = [empty_block(schema.width)], np.zeros(N_BUCKETS, dtype=np.int64), None
    for chosen in choose_piles(piles, bounding, n_jobs=n_jobs):
        lengths += chosen.lengths
        blocks.append(chosen.rows)
        if file is not None or lengths.sum() * schema.width > STORED_NUMBERS:
            file = file or SpillFile(schema.width)
            while blocks:
                file.append(blocks.pop(0))
        if watch is not None and chosen.buckets:
            watch(READING + (1 - READING) * (chosen.buckets[-1] + 1) / N_BUCKETS)  # buckets come in order
    if file is not None:
        return SpilledRows(file, lengths.tolist(), schema, n_jobs)
    return ArrayRows(np.concatenate(blocks), schema, n_jobs=n_jobs, lengths=lengths.tolist())


class SpilledRows(LocalRows):
    """Rows in a temporary file, which goes with the last that reads it. Its buckets are partitions."""

    reads_ahead = True
    kept_numbers = KEPT_NUMBERS // 2  # nothing of them is in memory otherwise

    def __init__(self, file: SpillFile, lengths: Sequence[int], schema: Schema, n_jobs: int) -> None:
        super().__init__(schema, n_jobs)
        starts = np.cumsum([0, *lengths]).tolist()
        self._buckets = [Segment(file, *each) for each in zip(starts, lengths, strict=False)]
        self._whole = Segment(file, 0, starts[-1])

    @property
    def n_blocks(self) -> int:
        return -(-len(self._whole) // block_rows(self.width))

    @property
    def n_numbers(self) -> int:
        return len(self._whole) * self.width

    def blocks(self) -> Generator[Block, None, None]:
        return self._whole.blocks(block_rows(self.width))

    def parts(self) -> Sequence[Part]:
        """Return the buckets."""
        size = block_rows(self.width)
        return [Stream(partial(bucket.blocks, size), -(-len(bucket) // size)) for bucket in self._buckets]
