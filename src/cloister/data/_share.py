# SPDX-License-Identifier: Apache-2.0
"""What a worker does with its part of the rows: answer, draw a sample, bound. Imported by the backends of clusters.

A question travels as bytes and is unpacked once in every process. What comes back are integers of one or more parts. A part
that cannot be read makes a failure that says so instead of an error, because engines write the arguments of what fails, rows
among them, to their logs.

To bound rows, a worker deals its part out by bucket. Buckets that follow one another are a range, and a range is chosen from in
one place, so that rows move once.
"""

import ctypes
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache, reduce, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

import numpy as np

from cloister.columns import Identifier, quiet
from cloister.data._backend import (
    KEPT_NUMBERS,
    Block,
    Integers,
    Kernel,
    block_rows,
    empty_block,
    end_to_end,
    merge_of,
    slices,
)
from cloister.data._bound import N_BUCKETS, Bounding, Chosen
from cloister.data._columns import Declared
from cloister.data._cut import choose_piles
from cloister.data._files import Piece
from cloister.data._ids import hash_array
from cloister.data._numpy import as_matrix
from cloister.data._pandas import matrix_of_frame
from cloister.data._spill import Pile, Shuffle, split_by_bucket
from cloister.data._threads import one_blas_thread
from cloister.data._values import as_numbers
from cloister.exceptions import DataError
from cloister.privacy import Coins

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # the settings' numbers in the GNU C library
KEPT_FREE = 1 << 26  # bytes
WAITING_NUMBERS = KEPT_NUMBERS // 8  # in the memory of a process that is one of several
RANGE_BYTES = 1 << 25  # of rows that a task chooses from, where it is known how many there are


@dataclass(frozen=True)
class Failure:
    """Why a part could not be read: a message without a value."""

    message: str


@dataclass(frozen=True, eq=False)
class Share:
    """What some parts of the rows answer."""

    integers: Integers
    size: int  # bytes of the rows, for deciding whether they fit into memory


@dataclass(frozen=True, eq=False, repr=False)
class Sampled:
    """Rows of a sample: those that were drawn from some parts, end to end."""

    rows: Block
    lengths: dict[int, int]  # how many rows are of the part with this number

    @classmethod
    def of(cls, number: int, width: int, blocks: Iterable[Block]) -> "Sampled":
        """Return the rows that were drawn from the part with this number."""
        rows = np.concatenate([empty_block(width), *blocks])
        return cls(rows, {number: len(rows)})

    def draw(self, coins: Coins) -> "Sampled":
        """Return a sample of the sample; how parts were joined does not change it."""
        heads = {number: coins.partition(number).take(length) for number, length in self.lengths.items()}
        positions = end_to_end(list(heads.values()), list(self.lengths.values()))
        return Sampled(self.rows[positions], {number: len(part) for number, part in heads.items()})


def failure_of(parts: Iterable[Any]) -> Failure | None:
    """Return the first failure, if any part is one."""
    return next((part for part in parts if isinstance(part, Failure)), None)


def _without_errors(
    work: Callable[Concatenate[str, Any, Arguments], Result],
) -> Callable[Concatenate[str, Any, Arguments], Result | Failure]:
    """Have work on a part return why it could not be read instead of raising; of a part that failed already, it is that."""

    @wraps(work)
    @quiet
    def guarded(where: str, part: Any, *arguments: Arguments.args, **named: Arguments.kwargs) -> Result | Failure:
        keep_freed_memory()
        if isinstance(part, Failure):
            return part
        try:
            return work(where, part, *arguments, **named)
        except DataError as error:
            return Failure(str(error))
        except Exception as error:
            return Failure(
                f"{where}: a part of the rows cannot be read ({type(error).__name__}). Check that all parts are alike."
            )

    return cast(Callable[Concatenate[str, Any, Arguments], Result | Failure], guarded)


@cache
def keep_freed_memory() -> None:
    """Have this worker keep some of the memory that blocks free, instead of asking for fresh pages for every block.

    Dask starts its workers with a C library that returns all of it at once, which makes a pass take half as long again.
    """
    with suppress(OSError, AttributeError, TypeError):  # the library of another system may have no such setting
        library = ctypes.CDLL(None)
        library.mallopt(TRIM_THRESHOLD, KEPT_FREE)
        library.mallopt(MMAP_THRESHOLD, KEPT_FREE // 2)


# -- reading ---------------------------------------------------------------------------------------------------------------


def _matrix(where: str, part: Any, declared: Declared = ()) -> Block:
    """Return a part of the rows as a matrix. Of a frame, `declared` says what its columns are.

    The type of a part may have been inferred from its rows: one that was not declared is read value by value, not refused.
    """
    if isinstance(part, Sampled):
        return part.rows
    if isinstance(part, Piece):
        return np.concatenate([empty_block(part.width), *part.blocks()])
    if hasattr(part, "iloc"):
        return matrix_of_frame(part, declared)
    return as_matrix(where, part if isinstance(part, np.ma.MaskedArray) else as_numbers(np.asanyarray(part)))


def _blocks(where: str, part: Any, declared: Declared) -> Iterator[Block]:
    if isinstance(part, Piece):
        return part.blocks()
    matrix = _matrix(where, part, declared)
    return slices(matrix, block_rows(matrix.shape[1]))


@_without_errors
def hold(where: str, part: Any, *, declared: Declared = ()) -> Block:
    """Return a part of the rows as a matrix, to be kept in memory."""
    return _matrix(where, part, declared)


@_without_errors
def identify(where: str, part: Any, values: Any, *, ids: Identifier) -> Block:
    """Return a part of an array as a matrix, with the ids of its rows beside it."""
    return np.concatenate([_matrix(where, part), hash_array(np.asanyarray(values), ids)], axis=1, dtype=np.float64)


# -- answers ---------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=4)
def unpack(packed: bytes) -> Kernel:
    """Return the kernel that was sent."""
    kernel: Kernel = pickle.loads(packed)  # noqa: S301 - sent by the process that reads the answer
    return kernel


def fold_blocks(blocks: Iterable[Block], kernel: Kernel, width: int) -> Integers:
    """Join what the kernel says of each block."""
    keep_freed_memory()
    with one_blas_thread():
        return reduce(merge_of(kernel), map(kernel, blocks), kernel(empty_block(width)))


@_without_errors
def share_of(where: str, part: Any, packed: bytes, width: int, *, declared: Declared = ()) -> Share:
    """Return what one part of the rows answers."""
    rows = part if isinstance(part, Piece) else _matrix(where, part, declared)
    blocks = rows.blocks() if isinstance(rows, Piece) else slices(rows, block_rows(width))
    return Share(fold_blocks(blocks, unpack(packed), width), rows.size if isinstance(rows, Piece) else rows.nbytes)


def join_shares(shares: list[Share | Failure], packed: bytes) -> Share | Failure:
    """Join shares; one that failed makes the whole fail."""
    if failure := failure_of(shares):
        return failure
    found = [share for share in shares if isinstance(share, Share)]
    return Share(reduce(merge_of(unpack(packed)), (share.integers for share in found)), sum(share.size for share in found))


# -- samples ---------------------------------------------------------------------------------------------------------------


@_without_errors
def draw_part(where: str, part: Any, coins: Coins, number: int, *, declared: Declared = ()) -> Sampled:
    """Return the rows of a part whose coins show heads; the others are not read. `number` is that of the part."""
    if isinstance(part, Sampled):
        return part.draw(coins)
    tosses = coins.partition(number)
    if isinstance(part, Piece):
        return Sampled.of(number, part.width, part.blocks(tosses))
    rows = part.iloc if hasattr(part, "iloc") else np.asanyarray(part)
    matrix = _matrix(where, rows[tosses.take(len(part))], declared)
    return Sampled(matrix, {number: len(matrix)})


def join_parts(parts: Iterable[Sampled | Failure]) -> Sampled | Failure:
    """Join parts of a sample; one that failed makes the whole fail."""
    found = list(parts)
    if failure := failure_of(found):
        return failure
    sampled = [part for part in found if isinstance(part, Sampled)]
    lengths = {number: length for part in sampled for number, length in part.lengths.items()}
    return Sampled(np.concatenate([part.rows for part in sampled]), lengths)


# -- bounding --------------------------------------------------------------------------------------------------------------


def count_ranges(*, n_cores: int, n_parts: int, size: int | None) -> int:
    """Return into how many ranges to deal rows: few, because each is a task for every question, but all cores have work."""
    enough = n_parts if size is None else -(-size // RANGE_BYTES)
    return min(N_BUCKETS, max(1, n_cores, enough))


def deal_part(where: str, part: Any, n_ranges: int, width: int, *, declared: Declared = ()) -> list[Block | Failure]:
    """Return a part of the rows by range."""
    dealt = _deal(where, part, n_ranges, width, declared)
    return [dealt] * n_ranges if isinstance(dealt, Failure) else dealt


@_without_errors
def _deal(where: str, part: Any, n_ranges: int, width: int, declared: Declared) -> list[Block | Failure]:
    dealt = [split_by_bucket(block, n_ranges) for block in (empty_block(width), *_blocks(where, part, declared))]
    return [np.concatenate(blocks) for blocks in zip(*dealt, strict=True)]


@_without_errors
def choose_range(where: str, dealt: Sequence[Block | Failure], bounding: Bounding, width: int) -> Sampled:
    """Return what is kept of a range, from what all parts dealt to it."""
    if failure := failure_of(dealt):
        raise DataError(failure.message)
    pile = Pile(width, [block for block in dealt if not isinstance(block, Failure) and len(block)])
    return _joined(list(choose_piles([pile], bounding)), width)


@_without_errors
def shuffle_part(where: str, part: Any, shuffle: Shuffle, *, declared: Declared = ()) -> None:
    """Bring a part of the rows to where this process collects them."""
    for block in _blocks(where, part, declared):
        shuffle.add(split_by_bucket(block))


def choose_buckets(blocks: Iterable[Block], bounding: Bounding, width: int) -> Iterator[Sampled]:
    """Yield what is kept of some buckets, none of them cut in two: samples are drawn from whole ones."""
    keep_freed_memory()
    shuffle = Shuffle(width, N_BUCKETS, waiting=WAITING_NUMBERS)
    for block in blocks:
        shuffle.add(split_by_bucket(block))
    waiting: list[Chosen] = []
    for chosen in choose_piles(shuffle.piles(), bounding):
        if waiting and waiting[-1].buckets[-1:] != chosen.buckets[:1]:
            yield _joined(waiting, width)
            waiting = []
        waiting.append(chosen)
    if waiting:
        yield _joined(waiting, width)


def _joined(parts: Sequence[Chosen], width: int) -> Sampled:
    lengths = sum((part.lengths for part in parts), np.zeros(N_BUCKETS, dtype=np.int64))
    rows = np.concatenate([empty_block(width), *(part.rows for part in parts)])
    return Sampled(rows, {bucket: int(lengths[bucket]) for bucket in np.flatnonzero(lengths).tolist()})
