# SPDX-License-Identifier: Apache-2.0
"""The protocol a source of rows implements, and the fold that all local sources share.

A backend says how many columns there are and what they are called, and can map a kernel over its blocks and add the integer
arrays up. That is all: cleaning, questions and noise are none of its business. A block is a 2-d array of raw numbers in any
order; integer sums do not depend on how rows are cut into blocks, so neither does any answer.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import Any, Protocol, TypeAlias

import joblib
import numpy as np
import numpy.typing as npt
from threadpoolctl import ThreadpoolController

from cloister import validate
from cloister.domain import IntArray

__all__ = ["Block", "Kernel", "LocalRows", "Rows", "block_rows", "count_jobs", "merge_of"]

Block: TypeAlias = npt.NDArray[Any]
Kernel: TypeAlias = Callable[[Block], IntArray]

BLOCK_NUMBERS = 1 << 21  # 16 megabytes of doubles in work per thread
SMALLEST_BLOCK, LARGEST_BLOCK = 512, 1 << 16


class Rows(Protocol):
    """What the vault needs of a source of rows."""

    @property
    def n_features(self) -> int:
        """Number of columns."""

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the columns, if they have any."""

    def fold(self, kernel: Kernel) -> IntArray:
        """Return the sum of ``kernel(block)`` over all blocks; a table without rows has one empty block.

        A kernel with a method ``merge(left, right)`` is joined by that instead of by adding.
        """


class LocalRows(ABC):
    """Rows read by this process: subclasses say how to cut them into blocks."""

    def __init__(self, n_features: int, feature_names: tuple[str, ...] | None, n_jobs: int) -> None:
        self._n_features = n_features
        self._feature_names = feature_names
        self._n_jobs = n_jobs

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self._n_features

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the columns, if they have any."""
        return self._feature_names

    @abstractmethod
    def blocks(self) -> Iterator[Block]:
        """Yield blocks of raw rows, in order. For predicting, which is the caller's own business, and for ``fold``."""

    def fold(self, kernel: Kernel) -> IntArray:
        """Add up the kernel over all blocks, on `n_jobs` threads; few blocks are in memory at a time."""
        total = np.array(kernel(np.empty((0, self._n_features))), dtype=np.int64)
        merge = merge_of(kernel)
        with _one_blas_thread():
            if self._n_jobs == 1:
                for block in self.blocks():
                    total = merge(total, kernel(block))
                return total
            with ThreadPoolExecutor(self._n_jobs) as pool:
                waiting: deque[Future[IntArray]] = deque()
                for block in self.blocks():
                    waiting.append(pool.submit(kernel, block))
                    if len(waiting) > self._n_jobs:
                        total = merge(total, waiting.popleft().result())
                for future in waiting:
                    total = merge(total, future.result())
        return total

    def __repr__(self) -> str:
        return f"<{type(self).__name__} with {self._n_features} columns>"

    def __reduce__(self) -> str | tuple[object, ...]:
        raise TypeError(f"{type(self).__name__}: rows do not leave the process that opened them. Open them again there.")


def merge_of(kernel: Kernel) -> Callable[[IntArray, IntArray], IntArray]:
    """Return how two answers of a kernel are joined."""
    merge: Callable[[IntArray, IntArray], IntArray] = getattr(kernel, "merge", np.add)
    return merge


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


def _one_blas_thread() -> Any:
    """Blocks run side by side, so each matrix product keeps to its own thread."""
    return _controller().limit(limits=1, user_api="blas")
