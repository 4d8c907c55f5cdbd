# SPDX-License-Identifier: Apache-2.0
"""The protocol a source of rows implements, and the fold that all local sources share.

A backend says how many columns there are and what they are called, and can map a kernel over its blocks and add the integer
arrays up. That is all: cleaning, questions and noise are none of its business. A block is a 2-d array of raw numbers in any
order; integer sums do not depend on how rows are cut into blocks, so no answer does.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence, Sized
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from cloister.columns import BLOCK_NUMBERS, Box, Declaration, IntArray, quiet, row_blocks
from cloister.data._cache import BlockCache
from cloister.data._columns import Schema
from cloister.data._threads import map_in_order, one_blas_thread, read_ahead
from cloister.exceptions import DataError
from cloister.privacy import Coins, CoinStream, Receipt

if TYPE_CHECKING:
    from cloister.data._bound import Bounding

Block: TypeAlias = npt.NDArray[Any]
Integers: TypeAlias = Any  # what a kernel returns for a block: an array of integers, or several
Kernel: TypeAlias = Callable[[Any], Integers]  # of a block, or of what a cache has prepared from one
Some: TypeAlias = Callable[[slice | IntArray], Block]
Watch: TypeAlias = Callable[[float], None]  # called with the part of a pass that is done, from 0 to 1

Result = TypeVar("Result")

SMALLEST_BLOCK, LARGEST_BLOCK = 512, 1 << 16
KEPT_NUMBERS = 1 << 26  # of rows that are in memory as it is: 512 megabytes of doubles
BLOCKS_AHEAD = 2  # read while others are in work
FEW_NUMBERS = 1 << 14  # that one thread reads before another one has started


class Rows(ABC):
    """What the vault needs of a source of rows. An engine derives its rows from this class.

    Parameters
    ----------
    schema : Schema
        What is public of the columns.
    """

    declared: tuple[Declaration, ...] | None = None  # what the columns were declared to be; None: numbers
    privacy_unit: str | None = None  # the column that says whose row it is; empty where ids came beside the table
    bounds: Box | None = None  # of rows that a PrivateScaler has scaled: where they lie
    scaled_by: Receipt | None = None  # of these: what finding it cost

    def __init__(self, schema: Schema) -> None:
        self.schema = schema

    @property
    def width(self) -> int:
        """Number of columns of a block, those included that say whose row it is."""
        return self.schema.width

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.schema.n_features

    @property
    def n_hidden(self) -> int:
        """Columns at the end of every block that are no features: whose row it is."""
        return self.schema.n_hidden

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the columns, if they have any."""
        return self.schema.names

    @property
    def nullable(self) -> tuple[bool, ...]:
        """Whether the declared type of each column allows a missing value; a public fact, whatever the values are."""
        return (True,) * self.n_features if self.schema.nullable is None else self.schema.nullable

    @abstractmethod
    def fold(self, kernel: Kernel, *, watch: Watch | None = None, cache: BlockCache[Any] | None = None) -> Integers:
        """Return the sum of ``kernel(block)`` over all blocks; a table without rows has one empty block.

        Parameters
        ----------
        kernel : callable
            Takes a block of raw numbers and returns integers. If it has a method ``merge(left, right)``, integers are joined
            by that instead of by adding. If its ``reads_values`` is False, it looks at how many rows there are in a block and
            at nothing else. It can be pickled.
        watch : callable, optional
            Called from time to time with the part of the pass that is done. A source that cannot say never calls it.
        cache : BlockCache, optional
            Passed where further folds are expected, the same one each time; None where this is the only one. A source that this
            process reads keeps prepared blocks in it, if they are few, and passes them to the kernel instead of raw ones. A
            source on a cluster keeps its rows with the workers. Nothing but time depends on it.
        """

    @abstractmethod
    def sample(self, coins: Coins, *, watch: Watch | None = None) -> "Rows":
        """Return the rows whose coins show heads. What a row holds, and how rows are cut into blocks, decides nothing.

        Parameters
        ----------
        coins : Coins
            One for each position: a partition and a place in it. The same coins give the same rows again.
        watch : callable, optional
            As in ``fold``, of the pass that draws the sample, if it takes one.
        """

    @abstractmethod
    def bounded(self, bounding: "Bounding", *, watch: Watch | None = None) -> "Rows":
        """Return at most so many rows of each person, the same ones whatever holds the rows.

        The rows have two hidden columns that say whose they are. In what is returned these two are the place of a row among
        the kept rows of its person (0, 1, ...) and how many rows of that person are kept.

        Parameters
        ----------
        bounding : Bounding
            How many are kept, and the key that decides which.
        watch : callable, optional
            As in ``fold``, of the pass that reads the rows and what follows it.
        """

    def __repr__(self) -> str:
        return f"<{type(self).__name__} with {self.n_features} columns>"

    def __reduce__(self) -> str | tuple[object, ...]:
        raise TypeError(f"{type(self).__name__}: rows do not leave the process that opened them. Open them again there.")


class Part(Protocol):
    """A partition of the rows that can be read again."""

    @property
    def n_blocks(self) -> int:
        """About how many blocks it has; 0 where that is not known."""

    def blocks(self, tosses: CoinStream | None = None) -> Generator[Block, None, None]:
        """Yield blocks of raw rows, in order; with `tosses`, those rows whose coins show heads."""


@dataclass(frozen=True, eq=False)
class Stream:
    """A partition by what yields its blocks."""

    open: Callable[[], Generator[Block, None, None]]
    n_blocks: int

    def blocks(self, tosses: CoinStream | None = None) -> Generator[Block, None, None]:
        """Yield the blocks, in order; with `tosses`, those rows whose coins show heads."""
        with closing(self.open()) as blocks:
            for block in blocks:
                yield block if tosses is None else block[tosses.take(len(block))]


class LocalRows(Rows):
    """Rows read by this process: subclasses say how to cut them into blocks."""

    reads_ahead: bool = False  # whether getting a block takes time of its own
    kept_numbers: int = KEPT_NUMBERS  # up to so many, prepared blocks are kept from one fold to the next

    def __init__(self, schema: Schema, n_jobs: int) -> None:
        super().__init__(schema)
        self.n_jobs = n_jobs

    def held(self) -> "LocalRows":
        """Return the same rows for one fit, which asks many questions: what takes time to read may stay in memory with it."""
        return self

    @abstractmethod
    def blocks(self) -> Iterator[Block]:
        """Yield blocks of raw rows, in order. For predicting, which is the caller's own business, and for ``fold``."""

    @property
    def n_blocks(self) -> int | None:
        """About how many blocks there are, if that can be said without reading them. For showing progress."""
        return None

    @property
    def n_numbers(self) -> int | None:
        """How many numbers there are, if that can be said without reading them."""
        return None

    @property
    def may_be_kept(self) -> bool:
        """Whether there may be few enough numbers to keep them, as far as that can be said without reading them."""
        return (self.n_numbers or 0) <= self.kept_numbers

    def fold(self, kernel: Kernel, *, watch: Watch | None = None, cache: BlockCache[Any] | None = None) -> Integers:
        """Add up the kernel over all blocks, on `n_jobs` threads; few blocks are in memory at a time unless they are kept."""
        if not getattr(kernel, "reads_values", True) and self.n_numbers is not None:
            return kernel(blank_block(self.n_numbers // self.width, self.width))
        if cache is None:
            return self._add_up(kernel, kernel, watch)
        if cache.blocks is not None:
            return self._add_up(kernel, kernel, watch, kept=cache.blocks)
        with cache.filling(self.kept_numbers if self.may_be_kept else 0) as prepare:
            return self._add_up(kernel, lambda block: kernel(prepare(block)), watch)

    def _add_up(self, kernel: Kernel, work: Kernel, watch: Watch | None, *, kept: Sequence[Any] | None = None) -> Integers:
        merge, total = merge_of(kernel), kernel(empty_block(self.width))
        n_blocks = self.n_blocks if kept is None else len(kept)
        with one_blas_thread(), closing(self._stream() if kept is None else (block for block in kept)) as blocks:
            for number, integers in enumerate(map_in_order(work, blocks, self.n_jobs), start=1):
                total = merge(total, integers)
                if watch is not None and n_blocks:
                    watch(min(number / n_blocks, 1.0))
        return total

    def label(self, find: Callable[[Block], IntArray]) -> IntArray:
        """Return what `find` says of each row, in order, on `n_jobs` threads. For predicting, the caller's own business."""
        with one_blas_thread(), closing(self._stream()) as blocks:
            return np.concatenate([np.empty(0, dtype=np.int64), *map_in_order(find, blocks, self.n_jobs)])

    def parts(self) -> Sequence[Part]:
        """Return the partitions that coins are tossed by: all rows are one, unless a subclass knows better."""
        return [Stream(self._stream, self.n_blocks or 0)]

    def sample(self, coins: Coins, *, watch: Watch | None = None) -> Rows:
        """Read the rows once and keep those whose coins show heads in memory, unless they are too many for that."""
        from cloister.data._parts import sample_parts

        return sample_parts(self.parts(), coins, like=self, watch=watch)

    def bounded(self, bounding: "Bounding", *, watch: Watch | None = None) -> "LocalRows":
        """Read the rows once and keep at most so many of each person: in memory or, if they are many, in a temporary file."""
        from cloister.data._parts import bound_parts

        return bound_parts(self.parts(), bounding, like=self, watch=watch)

    def _stream(self) -> Generator[Block, None, None]:
        yield from read_ahead(self.blocks(), BLOCKS_AHEAD) if self.reads_ahead else self.blocks()


class MemoryRows(LocalRows):
    """Rows that are in memory.

    `some` returns those of a slice, which may end beyond the last one, or at some positions, which ascend, as a block.
    """

    def __init__(self, n_rows: int, schema: Schema, n_jobs: int, some: Some, *, lengths: Sequence[int] | None = None) -> None:
        super().__init__(schema, n_jobs)
        self.some = some
        self._n_rows = n_rows
        self._lengths = [n_rows] if lengths is None else lengths  # of the partitions that the rows are from
        n_turns = -(-n_rows // (n_jobs * block_rows(schema.width)))  # every thread has as many blocks as the others
        self._size = max(1, -(-n_rows // max(1, n_turns * n_jobs)))

    @property
    def n_blocks(self) -> int:
        return -(-self._n_rows // self._size)

    @property
    def n_numbers(self) -> int:
        return self._n_rows * self.width

    def blocks(self) -> Iterator[Block]:
        for start in self._starts():
            yield self._doubles(start, self._size)

    @quiet
    def _doubles(self, start: int, size: int) -> Block:
        return np.asarray(self.some(slice(start, start + size)), dtype=np.float64)

    def _starts(self) -> range:
        return range(0, self._n_rows, self._size)

    def label(self, find: Callable[[Block], IntArray]) -> IntArray:
        """Return what `find` says of each row, in order; a few rows are not worth several threads."""
        if self.n_numbers <= FEW_NUMBERS:
            return np.asarray(find(self._doubles(0, self._n_rows)), dtype=np.int64)
        return super().label(find)

    def parts(self) -> Sequence[Part]:
        """Return the blocks: threads look at them side by side. Coins are tossed by the partitions that the rows are from."""
        return [Stream(partial(self._block, start), 1) for start in self._starts()]

    def _block(self, start: int) -> Generator[Block, None, None]:
        yield self._doubles(start, self._size)

    def sample(self, coins: Coins, *, watch: Watch | None = None) -> Rows:
        """Return the rows whose coins show heads; the others are not looked at, and nothing is copied yet."""
        heads = [coins.partition(number).take(length) for number, length in enumerate(self._lengths)]
        positions = end_to_end(heads, self._lengths)
        lengths = [len(part) for part in heads]
        return MemoryRows(len(positions), self.schema, self.n_jobs, lambda which: self.some(positions[which]), lengths=lengths)


class ArrayRows(MemoryRows):
    """Rows of a 2-d array."""

    def __init__(
        self, array: npt.NDArray[Any], schema: Schema | None = None, *, n_jobs: int = 1, lengths: Sequence[int] | None = None
    ) -> None:
        plain = np.asarray(array)  # of a subclass, what stands in it
        schema = Schema(array.shape[1]) if schema is None else schema
        super().__init__(len(plain), schema, n_jobs, plain.__getitem__, lengths=lengths)


def end_to_end(parts: Sequence[IntArray], lengths: Sequence[int]) -> IntArray:
    """Return positions in parts of these lengths as positions in all of them, laid end to end."""
    starts = np.cumsum([0, *lengths])[:-1]
    return np.concatenate([np.empty(0, dtype=np.int64), *(part + start for part, start in zip(parts, starts, strict=True))])


def explained(
    work: Callable[[], Result], explain: Callable[[Any], str], errors: type[Exception] | tuple[type[Exception], ...] = Exception
) -> Result:
    """Return what the work returns. An error of another library becomes one that quotes no value and carries none along."""
    try:
        return work()
    except DataError:
        raise
    except errors as error:
        message = explain(error)
    raise DataError(message)


def merge_of(kernel: Kernel) -> Callable[[Integers, Integers], Integers]:
    """Return the function that joins what a kernel returns for two blocks."""
    merge: Callable[[Integers, Integers], Integers] = getattr(kernel, "merge", partial(np.add, dtype=np.int64))
    return merge


def blank_block(n_rows: int, n_features: int) -> Block:
    """Return a block of missing values that takes no memory."""
    return np.broadcast_to(np.float64(np.nan), (n_rows, n_features))


def empty_block(n_features: int) -> Block:
    """Return a block without rows."""
    return np.empty((0, n_features))


def beside(columns: Sequence[npt.NDArray[Any]]) -> Block:
    """Return columns as a block; of ids, one is two."""
    return np.column_stack(columns).astype(np.float64, copy=False)


def slices(matrix: Block, size: int) -> Iterator[Block]:
    """Return a matrix in blocks of `size` rows."""
    return (matrix[part] for part in row_blocks(len(matrix), size))


def runs(parts: Iterable[Sized], n_rows: int) -> Iterator[list[Any]]:
    """Yield runs of parts that have at least so many rows together, so that small ones become blocks of a good size."""
    waiting: list[Any] = []
    for part in parts:
        waiting.append(part)
        if sum(map(len, waiting)) >= n_rows:
            yield waiting
            waiting = []
    if waiting:
        yield waiting


def block_rows(n_features: int) -> int:
    """Return how many rows a block should have: enough to be fast, few enough to bound memory."""
    return min(LARGEST_BLOCK, max(SMALLEST_BLOCK, BLOCK_NUMBERS // max(n_features, 1)))
