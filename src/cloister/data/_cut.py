# SPDX-License-Identifier: Apache-2.0
"""Choosing from piles of rows that may be too large for memory: cut first, then chosen from. Imported by the bounding of rows.

A pile is cut by its lanes, which keeps the rows of a person together and persons in order. The rows of one person are cut by
content, which keeps copies together; of each part the rows with the smallest numbers are kept, then of all of them. If a person
has one row very many times over, its copies are counted. So nothing depends on how a pile was cut. Its rows are in canonical
form.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce
from typing import TypeAlias

import numpy as np

from cloister.data._backend import KEPT_NUMBERS, Block
from cloister.data._bound import Bounding, Chosen, Words, choose_canonical, contents_of, number_copies
from cloister.data._spill import Pile, Shuffle, split_block
from cloister.data._threads import map_in_order

Measure: TypeAlias = Callable[[Block], Words]  # what rows are cut by

AT_ONCE = KEPT_NUMBERS // 16  # numbers that a thread sorts
FEW_AT_ONCE = 1 << 18  # small piles are joined up to here: each costs something
MOST_THREADS = 4  # each has rows of its own in memory
N_PARTS = 64


def choose_piles(piles: Sequence[Pile], bounding: Bounding, *, n_jobs: int = 1) -> Iterator[Chosen]:
    """Yield what is kept of piles, which hold whole persons and are in the order of lanes; so is what is kept."""
    return map_in_order(partial(_choose, bounding=bounding), _whole_persons(piles), min(n_jobs, MOST_THREADS))


def _whole_persons(piles: Sequence[Pile]) -> Iterator[Pile]:
    """Yield the rows in piles of a good size; only one with the rows of a single person may be larger."""
    waiting: Pile | None = None
    for part in (part for pile in piles for part in _cut(pile)):
        if waiting is not None and waiting.n_numbers + part.n_numbers > FEW_AT_ONCE:
            yield waiting
            waiting = None
        waiting = part if waiting is None else waiting + part
    if waiting is not None:
        yield waiting


def _cut(pile: Pile) -> Iterator[Pile]:
    if pile.n_numbers > AT_ONCE:
        for measure in (partial(_lane, place=-2), partial(_lane, place=-1)):
            low, high = _span(pile, measure)
            if low < high:
                for part in _parts(pile, measure, low, high):
                    yield from _cut(part)
                return
    yield pile


def _choose(pile: Pile, *, bounding: Bounding) -> Chosen:
    """Return what is kept of a pile that fits into memory, or holds the rows of one person."""
    if pile.n_numbers <= AT_ONCE:
        return choose_canonical(pile.load(), bounding)
    measure = partial(contents_of, bounding=bounding)
    low, high = _span(pile, measure)
    if low == high:
        return _choose_of_copies(pile, low, bounding)
    found = (_choose(part, bounding=bounding) for part in _parts(pile, measure, low, high))
    return reduce(lambda kept, more: _smallest([kept, more], bounding), found)


def _choose_of_copies(pile: Pile, content: int, bounding: Bounding) -> Chosen:
    """Return what is kept of very many rows of one person that are all equal: there is nothing to know but their number."""
    row = next(pile.blocks())[:1]
    if not all(np.array_equal(block, np.broadcast_to(row, block.shape), equal_nan=True) for block in pile.blocks()):
        return choose_canonical(pile.load(), bounding)  # different rows with the same content, once in 2**64 pairs
    kept = choose_canonical(row, bounding)
    for start in range(1, len(pile), AT_ONCE):
        before = np.arange(start, min(start + AT_ONCE, len(pile)))
        numbers = number_copies(np.full(len(before), content, dtype=np.uint64), before, bounding)
        numbers = np.sort(numbers)[: bounding.limit]
        copies = Chosen(np.repeat(kept.rows[:1], len(numbers), axis=0), numbers, kept.lengths)
        kept = _smallest([kept, copies], bounding)
    return kept


def _smallest(parts: Sequence[Chosen], bounding: Bounding) -> Chosen:
    """Join what is kept of parts of the rows of one person. Equal numbers stay in the order of contents."""
    numbers = np.concatenate([part.numbers for part in parts])
    order = np.argsort(numbers, kind="stable")[: bounding.limit]
    rows = np.concatenate([part.rows for part in parts])[order]
    rows[:, -2], rows[:, -1] = np.arange(len(rows)), len(rows)
    return Chosen(rows, numbers[order], np.minimum(parts[0].lengths, 1) * len(rows))


def _parts(pile: Pile, measure: Measure, low: int, high: int) -> Iterator[Pile]:
    """Yield a pile in parts of equal width of what it is measured by."""
    step = np.uint64((high - low) // N_PARTS + 1)
    shuffle = Shuffle(pile.width, N_PARTS, waiting=AT_ONCE)
    for block in pile.blocks():
        parts = ((measure(block) - np.uint64(low)) // step).astype(np.uint8)
        shuffle.add(split_block(block, parts, N_PARTS))
    return filter(len, shuffle.piles())


def _span(pile: Pile, measure: Measure) -> tuple[int, int]:
    found = [(int(each.min()), int(each.max())) for each in map(measure, pile.blocks())]
    return min(low for low, _ in found), max(high for _, high in found)


def _lane(block: Block, *, place: int) -> Words:
    return block[:, place].astype(np.uint64)
