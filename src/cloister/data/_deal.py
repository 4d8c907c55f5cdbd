# SPDX-License-Identifier: Apache-2.0
"""What a worker does to bound rows: deal its part out by bucket, choose from what all have dealt. For the backends of clusters.

Buckets that follow one another are a range, and a range is chosen from in one place, so that rows move once. A part that cannot
be read makes a failure and no error, as in answering: engines write the arguments of what fails to their logs.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from cloister.data._backend import KEPT_NUMBERS, Block, block_rows, empty_block, slices
from cloister.data._bound import N_BUCKETS, Bounding, Chosen, buckets_of, make_canonical, with_id
from cloister.data._bounded import split_by_bucket
from cloister.data._columns import Declared
from cloister.data._cut import choose_piles
from cloister.data._files import Piece
from cloister.data._share import Failure, Sampled, explain_part, failure_of, hold, keep_freed_memory
from cloister.data._spill import Pile, Shuffle, split_block
from cloister.exceptions import DataError

__all__ = ["choose_buckets", "choose_range", "count_ranges", "deal_block", "deal_part", "shuffle_part"]

WAITING_NUMBERS = KEPT_NUMBERS // 8  # in the memory of a process that is one of several
RANGE_BYTES = 1 << 25  # of rows that a task chooses from, where it is known how many there are


def count_ranges(*, n_cores: int, n_parts: int, size: int | None) -> int:
    """Return into how many ranges to deal rows: few, because each is a task for every question, but all cores have work."""
    enough = n_parts if size is None else -(-size // RANGE_BYTES)
    return min(N_BUCKETS, max(1, n_cores, enough))


def deal_block(block: Block, n_ranges: int) -> list[Block]:
    """Return the rows of a block whose id is known by range, in canonical form."""
    block = with_id(block)
    split = split_block(block, (buckets_of(block).astype(np.int64) * n_ranges // N_BUCKETS).astype(np.uint8), n_ranges)
    make_canonical(split.rows)
    return [split.part(number) for number in range(n_ranges)]


def deal_part(where: str, part: Any, n_ranges: int, width: int, *, declared: Declared = None) -> list[Block | Failure]:
    """Return a part of the rows by range."""
    keep_freed_memory()
    try:
        dealt = [deal_block(block, n_ranges) for block in (empty_block(width), *_blocks_of(where, part, declared))]
        return [np.concatenate(blocks) for blocks in zip(*dealt, strict=True)]
    except Exception as error:
        return [explain_part(where, error)] * n_ranges


def choose_range(where: str, dealt: Sequence[Block | Failure], bounding: Bounding, width: int) -> Sampled | Failure:
    """Return what is kept of a range, from what all parts dealt to it."""
    keep_freed_memory()
    failure = failure_of(dealt)
    if failure is not None:
        return failure
    try:
        pile = Pile(width, [block for block in dealt if not isinstance(block, Failure) and len(block)])
        return _joined([portion.chosen for portion in choose_piles([pile], bounding)], width)
    except Exception as error:
        return explain_part(where, error)


def shuffle_part(where: str, part: Any, shuffle: Shuffle, *, declared: Declared = None) -> Failure | None:
    """Bring a part of the rows to where this process collects them."""
    try:
        for block in _blocks_of(where, part, declared):
            shuffle.add(split_by_bucket(block))
        return None
    except Exception as error:
        return explain_part(where, error)


def choose_buckets(blocks: Iterable[Block], bounding: Bounding, width: int) -> Iterator[Sampled]:
    """Yield what is kept of some buckets, none of them cut in two: samples are drawn from whole ones."""
    keep_freed_memory()
    shuffle = Shuffle(width, N_BUCKETS, waiting=WAITING_NUMBERS)
    for block in blocks:
        shuffle.add(split_by_bucket(block))
    waiting: list[Chosen] = []
    for portion in choose_piles(shuffle.piles(), bounding):
        if waiting and _buckets(waiting[-1])[-1:] != _buckets(portion.chosen)[:1]:
            yield _joined(waiting, width)
            waiting = []
        waiting.append(portion.chosen)
    if waiting:
        yield _joined(waiting, width)


def _blocks_of(where: str, part: Any, declared: Declared) -> Iterator[Block]:
    if isinstance(part, Piece):
        return part.blocks()
    matrix = part.rows if isinstance(part, Sampled) else hold(where, part, declared=declared)
    if isinstance(matrix, Failure):
        raise DataError(matrix.message)
    return slices(matrix, block_rows(matrix.shape[1]))


def _joined(parts: Sequence[Chosen], width: int) -> Sampled:
    lengths = sum((part.lengths for part in parts), np.zeros(N_BUCKETS, dtype=np.int64))
    rows = np.concatenate([empty_block(width), *(part.rows for part in parts)])
    return Sampled(rows, {bucket: int(lengths[bucket]) for bucket in np.flatnonzero(lengths).tolist()})


def _buckets(chosen: Chosen) -> list[int]:
    found: list[int] = np.flatnonzero(chosen.lengths).tolist()
    return found
