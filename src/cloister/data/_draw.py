# SPDX-License-Identifier: Apache-2.0
"""Samples of files: one pass keeps the rows whose coins show heads, and looks into no others. Imported by the files' backend.

A piece of the files is a partition, the same one for every engine, so that the same coins give the same sample everywhere. It
is read in order, and what is kept of it depends on its own coins and rows alone. Pieces are read side by side.
"""

from collections.abc import Iterator, Sequence
from threading import Lock
from typing import Protocol

import numpy as np

from cloister.data._ahead import Progress, side_by_side
from cloister.data._backend import Block, LocalRows, Watch, block_rows, empty_block, rows_of_parts
from cloister.privacy import Coins, CoinStream

__all__ = ["Drawable", "gather", "sample_pieces"]


class Drawable(Protocol):
    """A partition that can be read anew."""

    @property
    def n_blocks(self) -> int:
        """About how many blocks it has."""

    def blocks(self, tosses: CoinStream | None = None) -> Iterator[Block]:
        """Yield blocks of raw rows, in order; with `tosses`, those rows whose coins show heads."""


def sample_pieces(pieces: Sequence[Drawable], coins: Coins, *, like: LocalRows, watch: Watch | None) -> LocalRows:
    """Read all pieces once and keep the rows whose coins show heads in memory, unless they are too many for that."""
    kept = _draw_pieces(pieces, coins, n_jobs=like.n_jobs, limit=like.kept_numbers, watch=watch)
    return ThinnedFiles(pieces, coins, like=like) if kept is None else rows_of_parts(kept, like=like, n_jobs=like.n_jobs)


def _draw_pieces(
    pieces: Sequence[Drawable], coins: Coins, *, n_jobs: int, limit: int, watch: Watch | None
) -> list[list[Block]] | None:
    """Return the rows whose coins show heads, piece by piece; None where they hold more than `limit` numbers."""
    work = _Drawing(coins, limit=limit, n_blocks=sum(piece.n_blocks for piece in pieces))
    kept = side_by_side(work.draw, pieces, work.progress, n_jobs=n_jobs, look=lambda: watch and watch(work.progress.part))
    return None if work.free < 0 else kept


class _Drawing:
    """What the threads of one pass share: how many numbers may still be kept, and how far they are."""

    def __init__(self, coins: Coins, *, limit: int, n_blocks: int) -> None:
        self.progress = Progress(n_blocks)
        self.free = limit
        self._coins = coins
        self._lock = Lock()

    def draw(self, number: int, piece: Drawable) -> list[Block]:
        """Return the rows of one piece whose coins show heads, in its blocks; fewer where the pass has come to nothing."""
        kept = []
        for block in piece.blocks(self._coins.partition(number)):
            self.progress.step()
            with self._lock:
                self.free -= block.size
            if self.progress.stopped or self.free < 0:
                break
            kept.append(block)
        return kept


class ThinnedFiles(LocalRows):
    """The rows of files whose coins show heads, where they are too many to be kept: drawn again for every question."""

    reads_ahead = True

    def __init__(self, pieces: Sequence[Drawable], coins: Coins, *, like: LocalRows) -> None:
        super().__init__(like.width, like.feature_names, like.n_jobs, nullable=like.nullable)
        self.n_hidden = like.n_hidden
        self.kept_numbers = like.kept_numbers
        self._pieces = pieces
        self._coins = coins

    def blocks(self) -> Iterator[Block]:
        """Yield blocks of raw rows, in order."""
        for number, piece in enumerate(self._pieces):
            yield from gather(piece.blocks(self._coins.partition(number)), self._n_features)


def gather(blocks: Iterator[Block], n_features: int) -> Iterator[Block]:
    """Yield the rows of small blocks in blocks of a good size."""
    waiting, size = [empty_block(n_features)], block_rows(n_features)
    for block in blocks:
        waiting.append(block)
        if sum(map(len, waiting)) >= size:
            yield np.concatenate(waiting)
            waiting = waiting[:1]
    if len(waiting) > 1:
        yield np.concatenate(waiting)
