# SPDX-License-Identifier: Apache-2.0
"""Bounding of the rows that this process reads: one pass that sorts them into buckets, then bucket by bucket.

Rows wait in memory while they are few and in a temporary file from then on. What is kept is in memory or, if that is too much,
in a second file. So memory is bounded whatever the table. Imported by the backends.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from cloister.data._ahead import Progress, side_by_side
from cloister.data._backend import (
    KEPT_NUMBERS,
    Block,
    LocalRows,
    Rows,
    Source,
    Watch,
    block_rows,
    empty_block,
    map_in_order,
    one_blas_thread,
)
from cloister.data._bound import N_BUCKETS, Bounding, buckets_of, make_canonical, with_id
from cloister.data._cut import Portion, choose_piles
from cloister.data._draw import Drawable, sample_pieces
from cloister.data._numpy import ArrayRows
from cloister.data._spill import Pile, Segment, Shuffle, SpillFile, Split, split_block
from cloister.privacy import Coins, CoinStream

__all__ = ["SpilledRows", "bound_blocks", "bound_pieces", "new_shuffle", "split_by_bucket", "store"]

WAITING_NUMBERS = KEPT_NUMBERS // 2  # in memory, before they go to a file
STORED_NUMBERS = KEPT_NUMBERS // 2  # in memory, of the rows that are kept
READING = 0.5  # part of the work that the pass is


def bound_blocks(blocks: Iterator[Block], bounding: Bounding, *, like: LocalRows, watch: Watch | None) -> LocalRows:
    """Return at most so many rows of each person in the blocks, which are those of `like`."""
    shuffle = new_shuffle(like.width)
    with one_blas_thread():
        for number, split in enumerate(map_in_order(split_by_bucket, blocks, like.n_jobs), start=1):
            shuffle.add(split)
            if watch is not None and like.n_blocks:
                watch(READING * min(number / like.n_blocks, 1.0))
    return store(shuffle.piles(), bounding, like=like, n_jobs=like.n_jobs, watch=watch)


def bound_pieces(pieces: Sequence[Drawable], bounding: Bounding, *, like: LocalRows, watch: Watch | None) -> LocalRows:
    """Return at most so many rows of each person in pieces of files, which are read side by side."""
    shuffle, progress = new_shuffle(like.width), Progress(sum(piece.n_blocks for piece in pieces))

    def deal(number: int, piece: Drawable) -> None:
        for block in piece.blocks():
            shuffle.add(split_by_bucket(block))
            progress.step()
            if progress.stopped:
                break

    with one_blas_thread():
        side_by_side(deal, pieces, progress, n_jobs=like.n_jobs, look=lambda: watch and watch(READING * progress.part))
    return store(shuffle.piles(), bounding, like=like, n_jobs=like.n_jobs, watch=watch)


def new_shuffle(width: int) -> Shuffle:
    """Return what takes the rows of a table."""
    return Shuffle(width, N_BUCKETS, waiting=WAITING_NUMBERS)


def split_by_bucket(block: Block) -> Split:
    """Return the rows of a block whose id is known by bucket, in canonical form."""
    block = with_id(block)
    split = split_block(block, buckets_of(block), N_BUCKETS)
    make_canonical(split.rows)
    return split


def store(piles: Sequence[Pile], bounding: Bounding, *, like: Source, n_jobs: int, watch: Watch | None = None) -> LocalRows:
    """Return what is kept of the buckets, as rows of this process."""
    kept, total, done = _Kept(like.width), sum(map(len, piles)), 0
    for portion in choose_piles(piles, bounding, n_jobs=n_jobs):
        kept.add(portion)
        done += portion.n_rows
        if watch is not None:
            watch(READING + (1 - READING) * done / max(total, 1))
    return kept.rows(like, n_jobs)


class _Kept:
    """Rows that are kept, in order: in memory while they are few."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._blocks = [empty_block(width)]
        self._lengths = np.zeros(N_BUCKETS, dtype=np.int64)
        self._file: SpillFile | None = None

    def add(self, portion: Portion) -> None:
        self._lengths += portion.chosen.lengths
        self._blocks.append(portion.chosen.rows)
        if self._file is not None or sum(self._lengths) * self._width > STORED_NUMBERS:
            self._file = self._file or SpillFile(self._width)
            for block in self._blocks:
                self._file.append(block)
            self._blocks = []

    def rows(self, like: Source, n_jobs: int) -> LocalRows:
        if self._file is not None:
            return SpilledRows(self._file, self._lengths.tolist(), like=like, n_jobs=n_jobs)
        blocks, self._blocks = self._blocks, []
        rows = ArrayRows(
            np.concatenate(blocks),
            feature_names=like.feature_names,
            nullable=like.nullable,
            lengths=self._lengths.tolist(),
            n_jobs=n_jobs,
        )
        rows.n_hidden = like.n_hidden
        return rows


@dataclass(frozen=True, eq=False)
class _Bucket:
    """The kept rows of a bucket, in a file: a partition of which samples are drawn."""

    segment: Segment
    size: int  # of a block, in rows

    @property
    def n_blocks(self) -> int:
        """How many blocks it has."""
        return -(-len(self.segment) // self.size)

    def blocks(self, tosses: CoinStream | None = None) -> Iterator[Block]:
        """Yield the rows, or those whose coins show heads."""
        for block in self.segment.blocks(self.size):
            yield block if tosses is None else block[tosses.take(len(block))]


class SpilledRows(LocalRows):
    """Rows in a temporary file, which goes with the last that reads it."""

    reads_ahead = True
    kept_numbers = KEPT_NUMBERS // 2  # nothing of them is in memory otherwise

    def __init__(self, file: SpillFile, lengths: Sequence[int], *, like: Source, n_jobs: int) -> None:
        super().__init__(like.width, like.feature_names, n_jobs, nullable=like.nullable)
        self.n_hidden = like.n_hidden
        self._whole = Segment(file, 0, sum(lengths))
        starts = np.cumsum([0, *lengths]).tolist()
        size = block_rows(like.width)
        self._buckets = [_Bucket(Segment(file, *each), size) for each in zip(starts, lengths, strict=False)]

    @property
    def n_blocks(self) -> int:
        """How many blocks there are."""
        return -(-len(self._whole) // block_rows(self._n_features))

    @property
    def n_numbers(self) -> int:
        """How many numbers there are."""
        return len(self._whole) * self._n_features

    def blocks(self) -> Iterator[Block]:
        """Yield blocks of rows, in order."""
        return self._whole.blocks(block_rows(self._n_features))

    def sample(self, coins: Coins, *, watch: Watch | None = None) -> Rows:
        """Read the file once and keep the rows whose coins show heads in memory, unless they are too many for that."""
        return sample_pieces(self._buckets, coins, like=self, watch=watch)
