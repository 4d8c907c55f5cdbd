# SPDX-License-Identifier: Apache-2.0
"""Rows in Arrow form: tables and streams that have a schema, and files read batch by batch.

Column names and types are public; values are not. A null, or what cannot be read as its column is declared, becomes a missing
value: a single row can neither raise an error nor change a branch.
"""

from collections.abc import Iterator

import pyarrow as pa

from cloister.columns import IntArray
from cloister.data._backend import KEPT_NUMBERS, Block, LocalRows, MemoryRows, Rows, Watch
from cloister.data._bound import Bounding
from cloister.data._bounded import bound_pieces
from cloister.data._columns import Chosen, IdColumn, choose_columns, hidden_of
from cloister.data._draw import sample_pieces
from cloister.data._files import DOUBLE, FileSet
from cloister.data._table import columns_of, take_rows, to_matrix
from cloister.privacy import Coins

__all__ = ["FileRows", "TableRows"]

LONG_NUMBER = 64  # bytes of text: few numbers take more, names and unused columns beside them included


class TableRows(MemoryRows):
    """Rows of an Arrow table in memory."""

    def __init__(self, where: str, table: pa.Table, *, columns: Chosen, n_jobs: int, ids: IdColumn | None = None) -> None:
        chosen = choose_columns(where, columns_of(table.schema, inferred=True), columns, ids=ids)
        super().__init__(table.num_rows, chosen.width, chosen.names, n_jobs, nullable=chosen.nullable)
        self.n_hidden = hidden_of(chosen.declared)
        self._table = table.select(list(chosen.places))
        self._declared = chosen.declared

    def block(self, start: int, stop: int) -> Block:
        """Return some of the rows as a matrix."""
        return to_matrix(self._table.slice(start, stop - start), self._declared)

    def pick(self, positions: IntArray) -> Block:
        """Return the rows at some positions, which ascend."""
        return to_matrix(take_rows(self._table, positions), self._declared)


class FileRows(LocalRows):
    """Rows of one or more files, read a little ahead of the search: for every question, unless they are few and kept."""

    reads_ahead = True
    kept_numbers = KEPT_NUMBERS // 2  # nothing of them is in memory otherwise

    def __init__(self, files: FileSet, *, n_jobs: int) -> None:
        super().__init__(files.width, files.names, n_jobs, nullable=files.nullable)
        self.n_hidden = files.n_hidden
        self._files = files

    @property
    def n_blocks(self) -> int:
        """About how many blocks there are."""
        return sum(piece.n_blocks for piece in self._files.whole)

    @property
    def n_numbers(self) -> int | None:
        """How many numbers there are, where the files say so."""
        return None if self._files.size is None else self._files.size // DOUBLE

    @property
    def may_be_kept(self) -> bool:
        """Whether there may be few enough numbers to keep them. A file of text that is not very large may hold few."""
        numbers = sum(piece.size // (LONG_NUMBER if piece.is_text else DOUBLE) for piece in self._files.whole)
        return numbers <= self.kept_numbers

    def blocks(self) -> Iterator[Block]:
        """Yield blocks of raw rows, in order."""
        for piece in self._files.whole:
            yield from piece.blocks()

    def sample(self, coins: Coins, *, watch: Watch | None = None) -> Rows:
        """Read the files once and keep the rows whose coins show heads in memory, unless they are too many for that."""
        return sample_pieces(list(self._files.pieces()), coins, like=self, watch=watch)

    def bounded(self, bounding: Bounding, *, watch: Watch | None = None) -> LocalRows:
        """Read the files once, their pieces side by side, and keep at most so many rows of each person."""
        return bound_pieces(list(self._files.pieces()), bounding, like=self, watch=watch)

    def held(self) -> LocalRows:
        """Return the files as one fit sees them: read once, if they are small."""
        from cloister.data._held import HeldFiles

        return HeldFiles(self, self._files) if self.may_be_kept else self
