# SPDX-License-Identifier: Apache-2.0
"""The protocol a source of rows implements, and the fold that all local sources share.

A backend says how many columns there are and what they are called, and can map a kernel over its blocks and add the integer
arrays up. That is all: cleaning, questions and noise are none of its business. A block is a 2-d array of raw numbers in any
order; integer sums do not depend on how rows are cut into blocks, so neither does any answer.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import cache, partial
from typing import Any, Protocol, TypeAlias

import joblib
import numpy as np
import numpy.typing as npt
from threadpoolctl import ThreadpoolController

from cloister import validate
from cloister.data._ahead import read_ahead

__all__ = [
    "Block",
    "Kernel",
    "LocalRows",
    "Rows",
    "Source",
    "Tally",
    "block_rows",
    "count_jobs",
    "empty_block",
    "merge_of",
    "one_blas_thread",
    "single_pass",
    "slices",
    "watched",
]

Block: TypeAlias = npt.NDArray[Any]
Tally: TypeAlias = Any  # what a kernel says of a block: an array of integers, or several
Kernel: TypeAlias = Callable[[Block], Tally]
Watch: TypeAlias = Callable[[float], None]

BLOCK_NUMBERS = 1 << 18  # two megabytes of doubles in work per thread: larger blocks leave the cache, smaller ones cost calls
SMALLEST_BLOCK, LARGEST_BLOCK = 512, 1 << 16
BLOCKS_AHEAD = 2  # read while others are in work


class Rows(Protocol):
    """What the vault needs of a source of rows."""

    @property
    def n_features(self) -> int:
        """Number of columns."""

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the columns, if they have any."""

    def fold(self, kernel: Kernel) -> Tally:
        """Return the sum of ``kernel(block)`` over all blocks; a table without rows has one empty block.

        A kernel with a method ``merge(left, right)`` is joined by that instead of by adding.
        """


class Source:
    """What all sources share: columns, silence, and staying where they are."""

    def __init__(self, n_features: int, feature_names: tuple[str, ...] | None) -> None:
        self._n_features = n_features
        self._feature_names = feature_names
        self.watch: Watch | None = None  # told, during a fold, which part of the rows is done
        self.single_pass = False  # whether one question is all that is to be expected, so that keeping rows does not pay

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self._n_features

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the columns, if they have any."""
        return self._feature_names

    def _tell(self, part: float) -> None:
        if self.watch is not None:
            self.watch(min(max(part, 0.0), 1.0))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} with {self._n_features} columns>"

    def __reduce__(self) -> str | tuple[object, ...]:
        raise TypeError(f"{type(self).__name__}: rows do not leave the process that opened them. Open them again there.")


class LocalRows(Source, ABC):
    """Rows read by this process: subclasses say how to cut them into blocks."""

    reads_ahead = False  # whether getting a block takes time of its own

    def __init__(self, n_features: int, feature_names: tuple[str, ...] | None, n_jobs: int) -> None:
        super().__init__(n_features, feature_names)
        self._n_jobs = n_jobs

    @abstractmethod
    def blocks(self) -> Iterator[Block]:
        """Yield blocks of raw rows, in order. For predicting, which is the caller's own business, and for ``fold``."""

    @property
    def n_blocks(self) -> int | None:
        """About how many blocks there are, if that can be said without reading them. For showing progress."""
        return None

    def fold(self, kernel: Kernel) -> Tally:
        """Add up the kernel over all blocks, on `n_jobs` threads; few blocks are in memory at a time."""
        merge, expected = merge_of(kernel), self.n_blocks
        total = kernel(empty_block(self._n_features))
        with one_blas_thread(), closing(self._stream()) as blocks:
            for number, tally in enumerate(_tallies(kernel, blocks, self._n_jobs), start=1):
                total = merge(total, tally)
                if expected:
                    self._tell(number / expected)
        return total

    def _stream(self) -> Generator[Block, None, None]:
        yield from read_ahead(self.blocks(), BLOCKS_AHEAD) if self.reads_ahead else self.blocks()


def _tallies(kernel: Kernel, blocks: Iterator[Block], n_jobs: int) -> Iterator[Tally]:
    """Yield what the kernel says of each block, in order; one more block than there are threads is in work or done."""
    if n_jobs == 1:
        yield from map(kernel, blocks)
        return
    with ThreadPoolExecutor(n_jobs) as pool:
        waiting: deque[Future[Tally]] = deque()
        for block in blocks:
            waiting.append(pool.submit(kernel, block))
            if len(waiting) > n_jobs:
                yield waiting.popleft().result()
        for future in waiting:
            yield future.result()


def single_pass(rows: Rows) -> Rows:
    """Return `rows`, told that one question is all that is to be expected: keeping them in memory would not pay."""
    if isinstance(rows, Source):
        rows.single_pass = True
    return rows


@contextmanager
def watched(rows: Rows, watch: Watch) -> Iterator[None]:
    """Have `watch` told which part of each pass over the rows is done, where the source can say so."""
    if not isinstance(rows, Source):
        yield
        return
    rows.watch = watch
    try:
        yield
    finally:
        rows.watch = None


def merge_of(kernel: Kernel) -> Callable[[Tally, Tally], Tally]:
    """Return how two answers of a kernel are joined."""
    merge: Callable[[Tally, Tally], Tally] = getattr(kernel, "merge", partial(np.add, dtype=np.int64))
    return merge


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
