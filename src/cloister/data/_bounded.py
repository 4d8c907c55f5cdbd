# SPDX-License-Identifier: Apache-2.0
"""Bounding of the rows that this process reads: one pass that sorts them into buckets, then bucket by bucket.

Rows wait in memory while they are few and in a temporary file from then on. What is kept is in memory or, if that is too much,
in a second file. So memory is bounded whatever the table. Imported by the backends.
"""

from collections.abc import Generator, Sequence
from functools import partial

import numpy as np

from cloister.data._backend import (
    KEPT_NUMBERS,
    ArrayRows,
    Block,
    LocalRows,
    Part,
    Schema,
    Stream,
    Watch,
    block_rows,
    empty_block,
)
from cloister.data._bound import N_BUCKETS, Bounding
from cloister.data._cut import choose_piles
from cloister.data._parts import read_parts
from cloister.data._spill import Pile, Segment, Shuffle, SpillFile, split_by_bucket

__all__ = ["SpilledRows", "bound_parts", "new_shuffle", "store"]

WAITING_NUMBERS = KEPT_NUMBERS // 2  # in memory, before they go to a file
STORED_NUMBERS = KEPT_NUMBERS // 2  # in memory, of the rows that are kept
READING = 0.5  # part of the work that the pass is


def bound_parts(parts: Sequence[Part], bounding: Bounding, *, like: LocalRows, watch: Watch | None) -> LocalRows:
    """Return at most so many rows of each person in the parts, which are those of `like` and read side by side."""
    shuffle = new_shuffle(like.width)

    def deal(_: int, block: Block) -> bool:
        shuffle.add(split_by_bucket(block))
        return True

    reading = None if watch is None else lambda part: watch(READING * part)
    read_parts(parts, deal, n_jobs=like.n_jobs, watch=reading)
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
