# SPDX-License-Identifier: Apache-2.0
"""Rows in parts that threads read side by side: pieces of files, buckets of a temporary file, slices of what is in memory.

Each part is read in order, and what is kept of it depends on its own coins and rows alone. A part is a partition, the same one
for every engine, so that the same coins give the same sample everywhere.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import closing
from threading import Event, Lock

import numpy as np

from cloister.data._backend import Block, LocalRows, Part, Watch, block_rows, empty_block, rows_of_parts
from cloister.data._threads import READER
from cloister.privacy import Coins

__all__ = ["SampledParts", "read_parts", "sample_parts"]

LOOK_SECONDS = 0.25


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
            yield from _gather(part.blocks(self._coins.partition(number)), self.width)


def _gather(blocks: Iterator[Block], width: int) -> Generator[Block, None, None]:
    """Yield the rows of small blocks in blocks of a good size."""
    waiting, size = [empty_block(width)], block_rows(width)
    for block in blocks:
        waiting.append(block)
        if sum(map(len, waiting)) >= size:
            yield np.concatenate(waiting)
            waiting = waiting[:1]
    if len(waiting) > 1:
        yield np.concatenate(waiting)
