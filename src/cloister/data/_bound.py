# SPDX-License-Identifier: Apache-2.0
"""Which rows of a person are used: at most so many of each, chosen by a keyed hash of what stands in them.

The last two columns of a block say whose row it is: whole numbers below 2**52, here called lanes. Imported by all engines, so
that all of them choose the same rows.

Every row has a `content`, 64 bits: a hash of its lanes and its numbers under the key. Rows of one person that are equal are
copies, and each copy has a number of its own, made of the content and how many copies came before it. The rows with the
smallest numbers are kept. Without a number for every copy, a row that a person has often would be kept too rarely.

Rows without an id are left out. Whose they are is unknown, so nothing bounds how many of them one person has: were they used,
somebody with rows under an id and others without one would move answers further than is paid for. Nor are they counted.
"""

import hashlib
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from cloister import validate
from cloister.columns import IntArray, PrivacyUnit, quiet
from cloister.data._backend import Block
from cloister.privacy import Entropy

Words: TypeAlias = npt.NDArray[np.uint64]

KEY_WORDS = 4  # 256 bits
WORD_BYTES = 8
LANE_BITS = 52
N_BUCKETS = 64  # by the first bits of the first lane
HASHED_ROWS = 1 << 13  # at a time: what they need stays close to the processor
N_PERSON_COLUMNS = 2  # of a block of rows that are kept: the rank of a row among those of its person, and how many these are
LARGEST_AUTO = 100  # rows of a person that are looked at while nobody has said how many are used
N_MIXERS = 3  # words of the key that mix, beside those that are multiplied with the numbers


@dataclass(frozen=True)
class Bounding:
    """How many rows of a person are kept, and the key that decides which: plain data, to be sent to where the rows are.

    Notes
    -----
    **Privacy.** Under every key, the rows of a person that are kept are a function of that person's own rows: of how often each
    of them occurs, and of nothing else, neither of other people's rows nor of an order. So take two tables that differ in one
    person, who has come, gone, or been replaced. Everybody else has the same rows in both and keeps the same ones. What is
    kept of the two tables differs in at most `limit` rows of that person where they come or go, and in at most `limit` rows
    that take the place of at most `limit` others where they are replaced. Rows of theirs that have no id are kept in neither.

    This holds for each key and does not need it to be secret. The key is drawn so that nobody can arrange which of their rows
    are kept: the numbers behave as if they were drawn for each row, and each row of a person is as likely to be kept as any.
    """

    key: bytes = field(repr=False)  # secret; drawn once for one table, from the source that noise comes from
    limit: int  # rows of a person

    @classmethod
    def draw(cls, entropy: Entropy, limit: int) -> "Bounding":
        """Return a bound under a new secret key."""
        key = entropy.words(KEY_WORDS).astype("<u8").tobytes()
        return cls(key, validate.integer("max_rows_per_unit", limit, low=1, remedy="Pass how many rows of a person to use."))


@dataclass(frozen=True, eq=False, repr=False)
class Chosen:
    """Rows that are kept, ordered by lanes and number."""

    rows: Block  # the numbers of a row, its place among the kept rows of its person, and how many these are
    numbers: Words
    lengths: IntArray  # how many of the rows are in each bucket

    @property
    def buckets(self) -> list[int]:
        """The buckets that rows are in, in order."""
        found: list[int] = np.flatnonzero(self.lengths).tolist()
        return found


def choose_rows(block: Block, bounding: Bounding) -> Block:
    """Return the rows that are kept of a block with all rows of some persons; its last two columns say whose row it is.

    In what is returned these two are the place of a row among those of its person that are kept (0, 1, ...), and how many are
    kept. Missing values have one form, and there is no negative zero.

    Examples
    --------
    >>> visits = np.array([[0.5, 7, 1], [0.25, 7, 1], [0.5, 3, 1]])
    >>> choose_rows(visits, Bounding(bytes(32), 1))[:, 1:].tolist()
    [[0.0, 1.0], [0.0, 1.0]]
    """
    return choose(block, bounding).rows


def choose(block: Block, bounding: Bounding) -> Chosen:
    """Return the rows that are kept of a block with all rows of some persons, and their numbers."""
    return choose_canonical(make_canonical(np.array(with_id(block), dtype=np.float64, order="C")), bounding)


def choose_canonical(block: Block, bounding: Bounding) -> Chosen:
    """Return the same of a block with one form of missing values and no negative zero."""
    first, second = block[:, -2].astype(np.uint64), block[:, -1].astype(np.uint64)
    contents = contents_of(block, bounding)
    order = _order(first, second, contents)
    first, second, numbers = first[order], second[order], contents[order]
    starts = _starts(first, second)
    copied = ~_starts(first, second, numbers)
    if copied.any():
        _arrange_copies(block, order, numbers, starts=starts, copied=copied, bounding=bounding)
    heads = np.flatnonzero(starts)
    sizes = np.diff(heads, append=len(order))
    ranks = np.arange(len(order)) - np.repeat(heads, sizes)
    kept = np.flatnonzero(ranks < bounding.limit)
    rows = np.take(block, order[kept], axis=0)  # several times as fast as indexing
    rows[:, -2] = ranks[kept]
    counts = np.minimum(sizes, bounding.limit)
    rows[:, -1] = np.repeat(counts, counts)
    return Chosen(rows, numbers[kept], np.bincount(_top_bits(first[kept]), minlength=N_BUCKETS))


def with_id(block: Block) -> Block:
    """Return the rows whose id is known. A missing id is the empty text, both of whose lanes are 0 under every key."""
    known = block[:, -2:].any(axis=1)
    return block if known.all() else block[known]


def buckets_of(block: Block) -> npt.NDArray[np.uint8]:
    """Return the bucket of each row: the first bits of its first lane, so that buckets in order are in the order of lanes."""
    return _top_bits(block[:, -2].astype(np.uint64))


def contents_of(block: Block, bounding: Bounding) -> Words:
    """Return the content of each row of a block in canonical form.

    Two sums of products of the halves of all numbers with words of the key, modulo 2**64; the upper half of each. Of two
    different rows, both contents are uniform and independent of one another if the words are (Lemire and Kaser, Strongly
    universal string hashing is fast, 2014). A bijection that is not linear then hides sums from those who know some of them.
    """
    n_halves = 2 * block.shape[1]
    words = _words_of_key(bounding, 2 * n_halves + 2 + N_MIXERS)
    factors, offsets = words[: 2 * n_halves].reshape(n_halves, 2), words[2 * n_halves : 2 * n_halves + 2]
    contents = np.empty(len(block), dtype=np.uint64)
    for start in range(0, len(block), HASHED_ROWS):
        halves = block[start : start + HASHED_ROWS].astype("<f8", copy=False).view("<u4").astype(np.uint64)
        sums = (halves @ factors + offsets) >> np.uint64(32)
        contents[start : start + HASHED_ROWS] = (sums[:, 0] << np.uint64(32)) | sums[:, 1]
    return _mix(contents, words[-N_MIXERS:])


def _order(first: Words, second: Words, contents: Words) -> IntArray:
    """Return the order by lanes and content: by sorts of single words, which are faster, unless they leave something open."""
    order = np.argsort(first)
    persons = np.cumsum(_starts(first[order])) - 1
    n_bits = int(persons[-1]).bit_length() if len(order) else 0
    keys = (persons.astype(np.uint64) << np.uint64(64 - n_bits)) if n_bits else np.zeros(len(order), dtype=np.uint64)
    keys |= contents[order] >> np.uint64(n_bits)
    within = np.argsort(keys)
    order, keys = order[within], keys[within]
    alike, together = np.flatnonzero(~_starts(keys)), np.flatnonzero(~_starts(first[order]))  # with the row before
    cut_short = contents[order[alike]] != contents[order[alike - 1]]
    mixed = second[order[together]] != second[order[together - 1]]
    return np.lexsort((contents, second, first)) if cut_short.any() or mixed.any() else order


def _arrange_copies(
    block: Block,
    order: IntArray,
    numbers: Words,
    *,
    starts: npt.NDArray[np.bool_],
    copied: npt.NDArray[np.bool_],
    bounding: Bounding,
) -> None:
    """Give every copy its number, and order the rows of persons who have copies by number, in place."""
    persons = np.cumsum(starts) - 1
    concerned = np.zeros(persons[-1] + 1, dtype=bool)
    concerned[persons[copied]] = True
    places = np.flatnonzero(concerned[persons])
    copied, persons, rows, numbers_here = copied[places], persons[places], order[places], numbers[places]
    if (block[rows[copied]].view(np.uint64) != block[rows[np.flatnonzero(copied) - 1]].view(np.uint64)).any():
        # Different rows with the same content, once in 2**64 pairs: what stands in them decides which comes first.
        rows = rows[np.lexsort((*block[rows].view(np.uint64).T[::-1], numbers_here, persons))]
    heads = np.flatnonzero(~copied)
    before = np.arange(len(places)) - np.repeat(heads, np.diff(heads, append=len(places)))
    numbers_here = number_copies(numbers_here, before, bounding)
    again = np.lexsort((numbers_here, persons))  # stable: equal numbers stay in the order of contents
    order[places], numbers[places] = rows[again], numbers_here[again]


@quiet
def make_canonical(block: Block) -> Block:
    """Give missing values one form and zero one sign, in place; return the block."""
    block += 0.0  # a negative zero becomes a positive one
    missing = np.isnan(block)
    if missing.any():
        block[missing] = np.nan
    return block


def number_copies(contents: Words, before: IntArray, bounding: Bounding) -> Words:
    """Return the numbers of rows of which so many copies came before: that of the first is its content."""
    step, *others = _words_of_key(bounding, 1 + N_MIXERS, purpose=b"copies")
    moved = _mix(contents + before.astype(np.uint64) * (step | np.uint64(1)), np.array(others))
    return np.where(before == 0, contents, moved)


def _mix(words: Words, key: Words) -> Words:
    """Return a bijection of words, by multiplications with odd words of the key and shifts."""
    for shift, factor in zip((30, 27, 31), key, strict=True):
        words = (words ^ (words >> np.uint64(shift))) * (factor | np.uint64(1))
    return words ^ (words >> np.uint64(32))


def _words_of_key(bounding: Bounding, count: int, *, purpose: bytes = b"contents") -> Words:
    digest = hashlib.shake_256(b"cloister/bound/" + purpose + b"/" + bounding.key).digest(WORD_BYTES * count)
    return np.frombuffer(digest, dtype="<u8").astype(np.uint64)


def _top_bits(lane: Words) -> npt.NDArray[np.uint8]:
    return ((lane * np.uint64(N_BUCKETS)) >> np.uint64(LANE_BITS)).astype(np.uint8)


def _starts(*columns: Words) -> npt.NDArray[np.bool_]:
    """Return where a row differs from the one before in one of the columns; the first does."""
    starts = np.ones(len(columns[0]), dtype=bool)
    starts[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    return starts


# -- what the rows that are kept weigh -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Persons:
    """Persons whose rows are chosen and counted. Plain data, so that a backend can send it to where the rows are."""

    privacy_unit: PrivacyUnit
    limit: int  # rows of a person that come in blocks; as many as are used, or more

    @classmethod
    def of(cls, privacy_unit: PrivacyUnit | None) -> "Persons | None":
        """Return the persons, if there are any whose rows are to be counted."""
        if privacy_unit is None or privacy_unit.stated:
            return None
        return cls(privacy_unit, LARGEST_AUTO if privacy_unit.max_rows is None else privacy_unit.max_rows)

    def limited(self, max_rows: int) -> "Persons":
        """Return the same persons with so many rows used."""
        return replace(self, privacy_unit=self.privacy_unit.limited(max_rows))


@dataclass(frozen=True, eq=False)
class Cells:
    """The rows of a block that are used: their features, and which of them have which weight, in integer steps."""

    features: Block
    parts: list[tuple[int, slice]] | None  # None: every row counts one


def cells_of(block: Block, persons: Persons | None) -> Cells:
    """Return the rows of a block that are used; where they have weights, those of equal weight stand together."""
    if persons is None:
        return Cells(block, None)
    max_rows = persons.privacy_unit.max_rows
    assert max_rows is not None, "persons are counted before rows are used"
    if max_rows < persons.limit:
        block = block[block[:, -2] < max_rows]
    features = block[:, :-N_PERSON_COLUMNS]
    if not persons.privacy_unit.is_weighted:
        return Cells(features, None)
    if not len(block):
        return Cells(features, [(1, slice(0, 0))])
    sizes = np.minimum(block[:, -1], max_rows).astype(np.int64)
    order = np.argsort(sizes, kind="stable")
    found, starts = np.unique(sizes[order], return_index=True)
    ends = [*starts[1:].tolist(), len(sizes)]
    spans = zip(found.tolist(), starts.tolist(), ends, strict=True)
    parts = [(persons.privacy_unit.weight(size), slice(start, end)) for size, start, end in spans]
    return Cells(features[order], parts)
