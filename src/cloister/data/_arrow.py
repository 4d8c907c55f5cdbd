# SPDX-License-Identifier: Apache-2.0
"""Rows in Arrow form: tables and streams that have a schema, and files read batch by batch.

Column names and types are public; values are not. A null, or what cannot be read as its column is declared, becomes a missing
value: a single row can neither raise an error nor change a branch.
"""

from collections.abc import Iterator

import pyarrow as pa

from cloister.data._backend import KEPT_NUMBERS, Block, LocalRows, MemoryRows
from cloister.data._columns import Chosen, choose_columns, declared_of
from cloister.data._files import DOUBLE, FileSet
from cloister.data._table import columns_of, to_matrix
from cloister.domain import IntArray

__all__ = ["FileRows", "TableRows"]


class TableRows(MemoryRows):
    """Rows of an Arrow table in memory."""

    def __init__(self, where: str, table: pa.Table, *, columns: Chosen, n_jobs: int) -> None:
        described = columns_of(table.schema)
        chosen = choose_columns(where, described, columns)
        self._table = table.select(list(chosen))
        self._declared = declared_of(columns)
        nullable = tuple(described[index].nullable for index in chosen)
        super().__init__(table.num_rows, len(chosen), tuple(self._table.column_names), n_jobs, nullable=nullable)

    def block(self, start: int, stop: int) -> Block:
        """Return some of the rows as a matrix."""
        return to_matrix(self._table.slice(start, stop - start), self._declared)

    def pick(self, positions: IntArray) -> Block:
        """Return the rows at some positions, in that order."""
        return to_matrix(self._table.take(positions), self._declared)


class FileRows(LocalRows):
    """Rows of one or more files, read a little ahead of the search: for every question, unless they are few and kept."""

    reads_ahead = True
    kept_numbers = KEPT_NUMBERS // 2  # nothing of them is in memory otherwise

    def __init__(self, files: FileSet, *, n_jobs: int) -> None:
        super().__init__(len(files.names), files.names, n_jobs, nullable=files.nullable)
        self._files = files.whole

    @property
    def n_blocks(self) -> int:
        """About how many blocks there are."""
        return sum(piece.n_blocks for piece in self._files)

    @property
    def n_numbers(self) -> int:
        """About how many numbers there are."""
        return sum(piece.size for piece in self._files) // DOUBLE

    def blocks(self) -> Iterator[Block]:
        """Yield blocks of raw rows, in order."""
        for piece in self._files:
            yield from piece.blocks()
