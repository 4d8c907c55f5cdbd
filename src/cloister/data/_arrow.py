# SPDX-License-Identifier: Apache-2.0
"""Rows in Arrow form: tables and streams that have a schema, and Parquet or CSV files read batch by batch.

Column names and types are public; values are not. A null, or text in a CSV file, becomes a missing value, which the frame maps
to the centre of the domain: a single row can neither raise an error nor change a branch.
"""

from collections.abc import Iterator, Sequence

import pyarrow as pa

from cloister.data._backend import Block, LocalRows, block_rows
from cloister.data._columns import choose_columns
from cloister.data._files import FileSet
from cloister.data._table import columns_of, to_matrix

__all__ = ["FileRows", "TableRows"]


class TableRows(LocalRows):
    """Rows of an Arrow table in memory."""

    def __init__(self, where: str, table: pa.Table, *, columns: Sequence[str] | None, n_jobs: int) -> None:
        chosen = choose_columns(where, columns_of(table.schema), columns)
        self._table = table.select(list(chosen))
        super().__init__(len(chosen), tuple(self._table.column_names), n_jobs)

    @property
    def n_blocks(self) -> int:
        """How many blocks there are."""
        return -(-int(self._table.num_rows) // self._size)

    def blocks(self) -> Iterator[Block]:
        """Yield blocks of raw rows, in order."""
        for start in range(0, self._table.num_rows, self._size):
            yield to_matrix(self._table.slice(start, self._size))

    @property
    def _size(self) -> int:
        per_job = -(-int(self._table.num_rows) // self._n_jobs)
        return max(1, min(block_rows(self._n_features), per_job))


class FileRows(LocalRows):
    """Rows of one or more files, read anew for every question, a little ahead of the search."""

    reads_ahead = True

    def __init__(self, files: FileSet, *, n_jobs: int) -> None:
        super().__init__(len(files.names), files.names, n_jobs)
        self._files = files.whole

    @property
    def n_blocks(self) -> int:
        """About how many blocks there are."""
        return sum(piece.n_blocks for piece in self._files)

    def blocks(self) -> Iterator[Block]:
        """Yield blocks of raw rows, in order."""
        for piece in self._files:
            yield from piece.blocks()
