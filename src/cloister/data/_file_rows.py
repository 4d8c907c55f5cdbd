# SPDX-License-Identifier: Apache-2.0
"""Rows of files that this process reads: for every question, unless they are few and kept.

What is held during a fit belongs to the vault that asked for it and goes with it: the files may be others when they are opened
again.
"""

from collections.abc import Generator, Iterator, Sequence
from functools import partial

from cloister.data._backend import KEPT_NUMBERS, Block, LocalRows, Part, Rows, Stream, Watch
from cloister.data._files import FileSet
from cloister.data._values import DOUBLE
from cloister.privacy import Coins

LONG_NUMBER = 64  # bytes of text: few numbers take more, names and unused columns beside them included


class FileRows(LocalRows):
    """Rows of one or more files, read a little ahead of the search.

    With `holds`, blocks stay in memory as they are from the first pass on, unless they turn out to be too many.
    """

    reads_ahead = True
    kept_numbers = KEPT_NUMBERS // 2  # nothing of them is in memory otherwise

    def __init__(self, files: FileSet, *, n_jobs: int, holds: bool = False) -> None:
        super().__init__(files.schema, n_jobs)
        self._files = files
        self._holds = holds
        self._held: list[list[Block]] | None = None  # the blocks of every piece, in order
        self._too_many = False

    def held(self) -> LocalRows:
        """Return the files as one fit sees them: read once, if they are small."""
        return FileRows(self._files, n_jobs=self.n_jobs, holds=True) if self.may_be_kept else self

    @property
    def n_blocks(self) -> int:
        return sum(piece.n_blocks for piece in self._files.whole) if self._held is None else sum(map(len, self._held))

    @property
    def n_numbers(self) -> int | None:
        return None if self._files.size is None else self._files.size // DOUBLE

    @property
    def may_be_kept(self) -> bool:
        """Whether there may be few enough numbers to keep them. A file of text that is not very large may hold few."""
        numbers = sum(piece.size // (LONG_NUMBER if piece.is_text else DOUBLE) for piece in self._files.whole)
        return numbers <= self.kept_numbers and not self._too_many

    def blocks(self) -> Iterator[Block]:
        if self._held is not None:
            return (block for part in self._held for block in part)
        if self._holds and not self._too_many:
            return self._blocks_to_hold()
        return (block for piece in self._files.whole for block in piece.blocks())

    def _blocks_to_hold(self) -> Iterator[Block]:
        """Yield all blocks and hold them, all or none: none if there are too many numbers."""
        held, free = list[list[Block]](), self.kept_numbers
        for piece in self._files.pieces:
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

    def parts(self) -> Sequence[Part]:
        """Return the pieces of the files, or what is held of them."""
        if self._held is None:
            return self._files.pieces
        return [Stream(partial(_each, blocks), len(blocks)) for blocks in self._held]

    def sample(self, coins: Coins, *, watch: Watch | None = None) -> Rows:
        """Return the rows whose coins show heads: of what is held, or in one pass over files that are too large for that."""
        if self._holds and self._held is None and not self._too_many:
            self.fold(len, watch=watch)  # other questions will be about all rows
        return super().sample(coins, watch=watch)


def _each(blocks: list[Block]) -> Generator[Block, None, None]:
    yield from blocks
