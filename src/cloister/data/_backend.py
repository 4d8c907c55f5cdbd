# SPDX-License-Identifier: Apache-2.0
"""The protocol a source of rows implements, and the fold that all local sources share.

A backend says how many columns there are and what they are called, and can map a kernel over its blocks and add the integer
arrays up. That is all: cleaning, questions and noise are none of its business. A block is a 2-d array of raw numbers in any
order; integer sums do not depend on how rows are cut into blocks, so no answer does.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

import joblib
import numpy as np
import numpy.typing as npt
from threadpoolctl import ThreadpoolController

from cloister import validate
from cloister.columns import BLOCK_NUMBERS, AnyDeclaration, Box, IntArray, quiet
from cloister.data._ahead import read_ahead
from cloister.data._cache import BlockCache
from cloister.privacy import Coins, Receipt

if TYPE_CHECKING:
    from cloister.data._bound import Bounding

__all__ = [
    "Block",
    "Integers",
    "Kernel",
    "LocalRows",
    "MemoryRows",
    "Rows",
    "Source",
    "Watch",
    "blank_block",
    "block_rows",
    "count_jobs",
    "empty_block",
    "end_to_end",
    "map_in_order",
    "merge_of",
    "one_blas_thread",
    "reads_values",
    "rows_of_parts",
    "slices",
]

Block: TypeAlias = npt.NDArray[Any]
Integers: TypeAlias = Any  # what a kernel returns for a block: an array of integers, or several
Kernel: TypeAlias = Callable[[Any], Integers]  # of a block, or of what a cache has prepared from one
Watch: TypeAlias = Callable[[float], None]  # called with the part of a pass that is done, from 0 to 1

Result = TypeVar("Result")

SMALLEST_BLOCK, LARGEST_BLOCK = 512, 1 << 16
KEPT_NUMBERS = 1 << 26  # of rows that are in memory as it is: 512 megabytes of doubles
BLOCKS_AHEAD = 2  # read while others are in work
FEW_NUMBERS = 1 << 14  # that one thread reads before another one has started


class Rows(Protocol):
    """What the vault needs of a source of rows."""

    @property
    def n_features(self) -> int:
        """Number of columns."""

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the columns, if they have any."""

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

    def sample(self, coins: Coins, *, watch: Watch | None = None) -> "Rows":
        """Return the rows whose coins show heads. What a row holds, and how rows are cut into blocks, decides nothing.

        Parameters
        ----------
        coins : Coins
            One for each position: a partition and a place in it. The same coins give the same rows again.
        watch : callable, optional
            As in ``fold``, of the pass that draws the sample, if it takes one.
        """

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


class Source:
    """What all sources share: names of columns, a representation without values, and no pickling."""

    declared: tuple[AnyDeclaration, ...] | None = None  # what the columns were declared to be; None: numbers
    privacy_unit: str | None = None  # the column that says whose row it is; empty where ids came beside the table
    bounds: Box | None = None  # of rows that a PrivateScaler has scaled: where they lie
    scaled_by: Receipt | None = None  # of these: what finding it cost
    n_hidden: int = 0  # columns at the end of every block that are no features: whose row it is

    def __init__(
        self, n_features: int, feature_names: tuple[str, ...] | None, *, nullable: tuple[bool, ...] | None = None
    ) -> None:
        self._n_features = n_features  # of a block, hidden columns included
        self._feature_names = feature_names
        self._nullable = (True,) * n_features if nullable is None else nullable

    @property
    def width(self) -> int:
        """Number of columns of a block, those included that say whose row it is."""
        return self._n_features

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self._n_features - self.n_hidden

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the columns, if they have any."""
        return None if self._feature_names is None else self._feature_names[: self.n_features]

    @property
    def nullable(self) -> tuple[bool, ...]:
        """Whether the declared type of each column allows a missing value; a public fact, whatever the values are."""
        return self._nullable[: self.n_features]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} with {self.n_features} columns>"

    def __reduce__(self) -> str | tuple[object, ...]:
        raise TypeError(f"{type(self).__name__}: rows do not leave the process that opened them. Open them again there.")


class LocalRows(Source, ABC):
    """Rows read by this process: subclasses say how to cut them into blocks."""

    reads_ahead: bool = False  # whether getting a block takes time of its own
    kept_numbers: int = KEPT_NUMBERS  # up to so many, prepared blocks are kept from one fold to the next

    def __init__(
        self,
        n_features: int,
        feature_names: tuple[str, ...] | None,
        n_jobs: int,
        *,
        nullable: tuple[bool, ...] | None = None,
    ) -> None:
        super().__init__(n_features, feature_names, nullable=nullable)
        self._n_jobs = n_jobs

    @property
    def n_jobs(self) -> int:
        """Number of threads."""
        return self._n_jobs

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
        if not reads_values(kernel) and self.n_numbers is not None:
            return kernel(blank_block(self.n_numbers // self._n_features, self._n_features))
        if cache is None:
            return self._add_up(kernel, kernel, self._stream(), watch=watch, n_blocks=self.n_blocks)
        if cache.blocks is not None:
            return self._add_up(kernel, kernel, _generate(cache.blocks), watch=watch, n_blocks=len(cache.blocks))
        with cache.filling(self.kept_numbers if self.may_be_kept else 0) as prepare:
            return self._add_up(
                kernel, lambda block: kernel(prepare(block)), self._stream(), watch=watch, n_blocks=self.n_blocks
            )

    def _add_up(
        self, kernel: Kernel, work: Kernel, blocks: Generator[Any, None, None], *, watch: Watch | None, n_blocks: int | None
    ) -> Integers:
        merge = merge_of(kernel)
        total = kernel(empty_block(self._n_features))
        with one_blas_thread(), closing(blocks):
            for number, integers in enumerate(map_in_order(work, blocks, self._n_jobs), start=1):
                total = merge(total, integers)
                if watch is not None and n_blocks:
                    watch(min(number / n_blocks, 1.0))
        return total

    def label(self, find: Callable[[Block], IntArray]) -> IntArray:
        """Return what `find` says of each row, in order, on `n_jobs` threads. For predicting, the caller's own business."""
        with one_blas_thread(), closing(self._stream()) as blocks:
            return np.concatenate([np.empty(0, dtype=np.int64), *map_in_order(find, blocks, self._n_jobs)])

    def sample(self, coins: Coins, *, watch: Watch | None = None) -> Rows:
        """Read the rows once and keep those whose coins show heads, in memory."""
        with closing(self._stream()) as blocks:
            return rows_of_parts([list(self._heads(coins, blocks, watch))], like=self, n_jobs=self._n_jobs)

    def _heads(self, coins: Coins, blocks: Iterator[Block], watch: Watch | None) -> Iterator[Block]:
        tosses = coins.partition(0)
        for number, block in enumerate(blocks, start=1):
            yield block[tosses.take(len(block))]
            if watch is not None and self.n_blocks:
                watch(min(number / self.n_blocks, 1.0))

    def bounded(self, bounding: "Bounding", *, watch: Watch | None = None) -> "LocalRows":
        """Read the rows once and keep at most so many of each person: in memory or, if they are many, in a temporary file."""
        from cloister.data._bounded import bound_blocks

        with closing(self._stream()) as blocks:
            return bound_blocks(blocks, bounding, like=self, watch=watch)

    def _stream(self) -> Generator[Block, None, None]:
        yield from read_ahead(self.blocks(), BLOCKS_AHEAD) if self.reads_ahead else self.blocks()


class MemoryRows(LocalRows):
    """Rows that are in memory: subclasses say how to get some of them as a block."""

    def __init__(
        self,
        n_rows: int,
        n_features: int,
        feature_names: tuple[str, ...] | None,
        n_jobs: int,
        *,
        nullable: tuple[bool, ...] | None = None,
        lengths: Sequence[int] | None = None,
    ) -> None:
        super().__init__(n_features, feature_names, n_jobs, nullable=nullable)
        self._n_rows = n_rows
        self._lengths = [n_rows] if lengths is None else lengths  # of the partitions that the rows are from
        n_turns = -(-n_rows // (n_jobs * block_rows(n_features)))  # every thread has as many blocks as the others
        self._size = max(1, -(-n_rows // max(1, n_turns * n_jobs)))

    @abstractmethod
    def block(self, start: int, stop: int) -> Block:
        """Return the rows from `start` to `stop`, which may be beyond the last one."""

    @abstractmethod
    def pick(self, positions: IntArray) -> Block:
        """Return the rows at some positions, which ascend."""

    @property
    def n_blocks(self) -> int:
        """How many blocks there are."""
        return -(-self._n_rows // self._size)

    @property
    def n_numbers(self) -> int:
        """How many numbers there are."""
        return self._n_rows * self._n_features

    def blocks(self) -> Iterator[Block]:
        """Yield blocks of raw rows, in order."""
        for start in self._starts():
            yield self._doubles(start, start + self._size)

    @quiet
    def _doubles(self, start: int, stop: int) -> Block:
        return np.asarray(self.block(start, stop), dtype=np.float64)

    def _starts(self) -> range:
        return range(0, self._n_rows, self._size)

    def label(self, find: Callable[[Block], IntArray]) -> IntArray:
        """Return what `find` says of each row, in order; a few rows are not worth several threads."""
        if self.n_numbers <= FEW_NUMBERS:
            return np.asarray(find(self._doubles(0, self._n_rows)), dtype=np.int64)
        labels = np.empty(self._n_rows, dtype=np.int64)
        with one_blas_thread():
            for start, found in zip(self._starts(), map_in_order(find, self.blocks(), self._n_jobs), strict=True):
                labels[start : start + self._size] = found
        return labels

    def sample(self, coins: Coins, *, watch: Watch | None = None) -> Rows:
        """Return the rows whose coins show heads; the others are not looked at, and nothing is copied yet."""
        heads = [coins.partition(number).take(length) for number, length in enumerate(self._lengths)]
        return _PickedRows(self, end_to_end(heads, self._lengths), [len(part) for part in heads])


class _PickedRows(MemoryRows):
    """Some of the rows that are in memory, by their positions."""

    def __init__(self, source: MemoryRows, positions: IntArray, lengths: Sequence[int]) -> None:
        given: dict[str, Any] = {"nullable": source.nullable, "lengths": lengths}
        super().__init__(len(positions), source.width, source.feature_names, source.n_jobs, **given)
        self.n_hidden = source.n_hidden
        self._source = source
        self._positions = positions

    def block(self, start: int, stop: int) -> Block:
        """Return some of the rows: a copy."""
        return self._source.pick(self._positions[start:stop])

    def pick(self, positions: IntArray) -> Block:
        """Return the rows at some positions, which ascend."""
        return self._source.pick(self._positions[positions])


def end_to_end(parts: Sequence[IntArray], lengths: Sequence[int]) -> IntArray:
    """Return positions in parts of these lengths as positions in all of them, laid end to end."""
    starts = np.cumsum([0, *lengths])[:-1]
    return np.concatenate([np.empty(0, dtype=np.int64), *(part + start for part, start in zip(parts, starts, strict=True))])


def rows_of_parts(parts: Sequence[Sequence[Block]], *, like: Source, n_jobs: int) -> LocalRows:
    """Return rows in memory: the blocks of every partition, end to end; columns are called as elsewhere."""
    from cloister.data._numpy import ArrayRows

    blocks = [empty_block(like.width), *(block for part in parts for block in part)]
    lengths = [sum(map(len, part)) for part in parts]
    given: dict[str, Any] = {"feature_names": like.feature_names, "nullable": like.nullable, "lengths": lengths}
    rows = ArrayRows(np.concatenate(blocks), n_jobs=n_jobs, **given)
    rows.n_hidden = like.n_hidden
    return rows


def _generate(blocks: Sequence[Any]) -> Generator[Any, None, None]:
    yield from blocks


def map_in_order(kernel: Callable[[Any], Result], blocks: Iterator[Any], n_jobs: int) -> Iterator[Result]:
    """Yield ``kernel(block)`` for each block, in order; one more block than there are threads is in work or done."""
    if n_jobs == 1:
        yield from map(kernel, blocks)
        return
    with ThreadPoolExecutor(n_jobs) as pool:
        waiting: deque[Future[Result]] = deque()
        for block in blocks:
            waiting.append(pool.submit(kernel, block))
            if len(waiting) > n_jobs:
                yield waiting.popleft().result()
        for future in waiting:
            yield future.result()


def merge_of(kernel: Kernel) -> Callable[[Integers, Integers], Integers]:
    """Return the function that joins what a kernel returns for two blocks."""
    merge: Callable[[Integers, Integers], Integers] = getattr(kernel, "merge", partial(np.add, dtype=np.int64))
    return merge


def reads_values(kernel: Kernel) -> bool:
    """Whether a kernel looks into rows; otherwise any block of as many rows will do."""
    return getattr(kernel, "reads_values", True)


def blank_block(n_rows: int, n_features: int) -> Block:
    """Return a block of missing values that takes no memory."""
    return np.broadcast_to(np.float64(np.nan), (n_rows, n_features))


def empty_block(n_features: int) -> Block:
    """Return a block without rows."""
    return np.empty((0, n_features))


def slices(matrix: Block, size: int) -> Iterator[Block]:
    """Yield a matrix in blocks of `size` rows."""
    for start in range(0, len(matrix), size):
        yield matrix[start : start + size]


def block_rows(n_features: int) -> int:
    """Return how many rows a block should have: enough to be fast, few enough to bound memory."""
    return min(LARGEST_BLOCK, max(SMALLEST_BLOCK, BLOCK_NUMBERS // max(n_features, 1)))


def count_jobs(where: str, n_jobs: object) -> int:
    """Return the number of threads: None means all processors this process may use."""
    available = int(joblib.cpu_count())
    if n_jobs is None:
        return available
    number = validate.integer(where, n_jobs, low=-available, remedy="Pass None for all processors, or how many to use.")
    if number == 0:
        validate.refuse(where, "a number of threads other than 0", 0, remedy="Pass None for all processors.")
    return number if number > 0 else max(1, available + 1 + number)


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def one_blas_thread() -> Any:
    """Blocks run side by side, so each matrix product keeps to its own thread."""
    return _controller().limit(limits=1, user_api="blas")
