# SPDX-License-Identifier: Apache-2.0
"""What a worker does with its part of the rows: answer, and join answers. Imported by the backends of clusters.

A question travels as bytes and is unpacked once in every process. What comes back is a share: the integers of one or more
parts. A part that cannot be read yields a share that says so instead of an error, because engines write the arguments of what
fails, rows among them, to their logs.
"""

import ctypes
import pickle
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache, reduce
from typing import Any

import numpy as np

from cloister.columns import Identifier, quiet
from cloister.data._backend import (
    Block,
    Integers,
    Kernel,
    block_rows,
    empty_block,
    end_to_end,
    merge_of,
    one_blas_thread,
    slices,
)
from cloister.data._columns import Declared
from cloister.data._files import Piece
from cloister.data._ids import hash_array
from cloister.data._numpy import as_matrix
from cloister.data._pandas import matrix_of_frame
from cloister.data._values import as_numbers
from cloister.exceptions import DataError
from cloister.privacy import Coins, CoinStream

__all__ = [
    "Failure",
    "Sampled",
    "Share",
    "draw_part",
    "explain_part",
    "failure_of",
    "fold_blocks",
    "hold",
    "identify",
    "join_parts",
    "join_sampled",
    "join_shares",
    "keep_freed_memory",
    "share_of",
    "unpack",
]


TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # the settings' numbers in the GNU C library
KEPT_FREE = 1 << 26  # bytes


@dataclass(frozen=True)
class Failure:
    """Why a part could not be read: a message without a value."""

    message: str


@dataclass(frozen=True, eq=False)
class Share:
    """What some parts of the rows answer."""

    integers: Integers
    size: int = 0  # bytes of the rows, for deciding whether they fit into memory
    failure: Failure | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Sampled:
    """Rows of a sample: those that were drawn from some parts, end to end."""

    rows: Block
    lengths: dict[int, int]  # how many rows are of the part with this number

    def draw(self, coins: Coins) -> "Sampled":
        """Return a sample of the sample; how parts were joined does not change it."""
        heads = {number: coins.partition(number).take(length) for number, length in self.lengths.items()}
        positions = end_to_end(list(heads.values()), list(self.lengths.values()))
        return Sampled(self.rows[positions], {number: len(part) for number, part in heads.items()})


@lru_cache(maxsize=4)
def unpack(packed: bytes) -> Kernel:
    """Return the kernel that was sent."""
    kernel: Kernel = pickle.loads(packed)  # noqa: S301 - sent by the process that reads the answer
    return kernel


def fold_blocks(blocks: Iterable[Block], kernel: Kernel, n_features: int) -> Integers:
    """Join what the kernel says of each block."""
    keep_freed_memory()
    with one_blas_thread():
        return reduce(merge_of(kernel), map(kernel, blocks), kernel(empty_block(n_features)))


@quiet
def hold(where: str, part: Any, *, declared: Declared = None) -> Block | Failure:
    """Return a part of the rows as a matrix, to be kept in memory. Of a frame, `declared` says what its columns are.

    The type of a part may have been inferred from its rows: one that was not declared is read value by value, not refused.
    """
    if isinstance(part, Failure):
        return part
    try:
        if isinstance(part, Piece):
            return np.concatenate([empty_block(part.width), *part.blocks()])
        if hasattr(part, "iloc"):
            return matrix_of_frame(part, declared)
        return as_matrix(where, part if isinstance(part, np.ma.MaskedArray) else as_numbers(np.asanyarray(part)))
    except Exception as error:
        return explain_part(where, error)


@quiet
def identify(where: str, part: Any, values: Any, *, ids: Identifier) -> Block | Failure:
    """Return a part of an array as a matrix, with the ids of its rows beside it."""
    matrix = hold(where, part)
    try:
        if isinstance(matrix, Failure):
            return matrix
        return np.concatenate([matrix, hash_array(np.asanyarray(values), ids)], axis=1, dtype=np.float64)
    except Exception as error:
        return explain_part(where, error)


def draw_part(where: str, part: Any, coins: Coins, number: int, *, declared: Declared = None) -> Sampled | Failure:
    """Return the rows of a part whose coins show heads; the others are not read. `number` is that of the part."""
    if isinstance(part, Failure):
        return part
    try:
        if isinstance(part, Sampled):
            return part.draw(coins)
        rows = _heads(where, part, coins.partition(number), declared)
        return rows if isinstance(rows, Failure) else Sampled(rows, {number: len(rows)})
    except Exception as error:
        return explain_part(where, error)


def _heads(where: str, part: Any, tosses: CoinStream, declared: Declared) -> Block | Failure:
    if isinstance(part, Piece):
        return np.concatenate([empty_block(part.width), *part.blocks(tosses)])
    if hasattr(part, "iloc"):
        return hold(where, part.iloc[tosses.take(len(part))], declared=declared)
    return hold(where, np.asanyarray(part)[tosses.take(len(part))])


def join_parts(parts: list[Sampled | Failure]) -> Sampled | Failure:
    """Join parts of a sample; one that failed makes the whole fail."""
    return failure_of(parts) or join_sampled([part for part in parts if isinstance(part, Sampled)])


def join_sampled(parts: Sequence[Sampled]) -> Sampled:
    """Join parts of a sample."""
    lengths = {number: length for part in parts for number, length in part.lengths.items()}
    return Sampled(np.concatenate([part.rows for part in parts]), lengths)


def failure_of(parts: Iterable[Any]) -> Failure | None:
    """Return the first failure, if any part is one."""
    return next((part for part in parts if isinstance(part, Failure)), None)


def share_of(where: str, part: Any, packed: bytes, *, declared: Declared = None) -> Share:
    """Return what one part of the rows answers."""
    if isinstance(part, Failure):
        return Share(None, failure=part)
    try:
        kernel = unpack(packed)
        if isinstance(part, Piece):
            return Share(fold_blocks(part.blocks(), kernel, part.width), part.size)
        matrix = part.rows if isinstance(part, Sampled) else hold(where, part, declared=declared)
        if isinstance(matrix, Failure):
            return Share(None, failure=matrix)
        return Share(fold_blocks(_slices(matrix), kernel, matrix.shape[1]), matrix.nbytes)
    except Exception as error:
        return Share(None, failure=explain_part(where, error))


@cache
def keep_freed_memory() -> None:
    """Have this worker keep some of the memory that blocks free, instead of asking for fresh pages for every block.

    Dask starts its workers with a C library that returns all of it at once, which makes a pass take half as long again.
    """
    with suppress(OSError, AttributeError, TypeError):  # the library of another system may have no such setting
        library = ctypes.CDLL(None)
        library.mallopt(TRIM_THRESHOLD, KEPT_FREE)
        library.mallopt(MMAP_THRESHOLD, KEPT_FREE // 2)


def join_shares(shares: list[Share], packed: bytes) -> Share:
    """Join shares; one that failed makes the whole fail."""
    for share in shares:
        if share.failure is not None:
            return share
    integers = reduce(merge_of(unpack(packed)), (share.integers for share in shares))
    return Share(integers, sum(share.size for share in shares))


def _slices(matrix: Block) -> Iterator[Block]:
    return slices(matrix, block_rows(matrix.shape[1]))


def explain_part(where: str, error: Exception) -> Failure:
    """Say why a part could not be read."""
    if isinstance(error, DataError):
        return Failure(str(error))
    return Failure(f"{where}: a part of the rows cannot be read ({type(error).__name__}). Check that all parts are alike.")
