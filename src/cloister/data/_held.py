# SPDX-License-Identifier: Apache-2.0
"""Files during one fit: those that turn out to be small are read once. Imported by the files' backend.

What is held belongs to the vault that asked for it and goes with it: the files may be others when they are opened again.
"""

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from cloister.data._backend import Block, Integers, LocalRows, Rows, Watch, rows_of_parts
from cloister.data._bound import Bounding
from cloister.data._files import FileSet
from cloister.privacy import Coins

if TYPE_CHECKING:
    from cloister.data._arrow import FileRows

__all__ = ["HeldFiles"]


def _look(block: Block) -> Integers:
    return np.zeros(1, dtype=np.int64)


class HeldFiles(LocalRows):
    """Files that are read for every question, unless their blocks are few enough to stay in memory as they are."""

    def __init__(self, source: "FileRows", files: FileSet) -> None:
        super().__init__(source.width, source.feature_names, source.n_jobs, nullable=source.nullable)
        self.n_hidden = source.n_hidden
        self.reads_ahead = True
        self.kept_numbers = source.kept_numbers
        self._source = source
        self._files = files
        self._held: list[list[Block]] | None = None  # the blocks of every piece, in order
        self._too_many = False

    @property
    def n_blocks(self) -> int:
        """About how many blocks there are."""
        return self._source.n_blocks if self._held is None else sum(map(len, self._held))

    @property
    def n_numbers(self) -> int | None:
        """How many numbers there are, where the files say so."""
        return self._source.n_numbers

    @property
    def may_be_kept(self) -> bool:
        """Whether there may be few enough numbers to keep them."""
        return not self._too_many

    def blocks(self) -> Iterator[Block]:
        """Yield blocks of raw rows, in order."""
        if self._held is not None:
            return chain.from_iterable(self._held)
        return self._source.blocks() if self._too_many else self._blocks_to_hold()

    def _blocks_to_hold(self) -> Iterator[Block]:
        """Yield all blocks and hold them, all or none: none if there are too many numbers."""
        held, free = list[list[Block]](), self.kept_numbers
        for piece in self._files.pieces():
            held.append([])
            for block in piece.blocks():
                free -= block.size
                if free >= 0:
                    block.setflags(write=False)  # every later question sees them as this one does
                    held[-1].append(block)
                else:
                    held = [[]]
                yield block
        if free >= 0:
            self._held, self.reads_ahead = held, False
        self._too_many = free < 0

    def sample(self, coins: Coins, *, watch: Watch | None = None) -> Rows:
        """Return the rows whose coins show heads: of what is held, or in one pass over files that are too large for that."""
        if self.may_be_kept and self._held is None:
            self.fold(_look, watch=watch)  # other questions will be about all rows
        if self._held is None:
            return self._source.sample(coins, watch=watch)
        streams = [coins.partition(number) for number in range(len(self._held))]
        parts = [[block[toss.take(len(block))] for block in part] for toss, part in zip(streams, self._held, strict=True)]
        return rows_of_parts(parts, like=self, n_jobs=self._n_jobs)

    def bounded(self, bounding: Bounding, *, watch: Watch | None = None) -> LocalRows:
        """Return at most so many rows of each person; all others are not held for that, because nobody asks about them."""
        if self._held is None:
            return self._source.bounded(bounding, watch=watch)
        return super().bounded(bounding, watch=watch)
