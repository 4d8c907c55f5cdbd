# SPDX-License-Identifier: Apache-2.0
"""Secret coins that decide which rows are in a sample: one for each position of a table, all independent.

A sample has the sensitivities of the whole table because of three facts, and each of them is lost if coins are made otherwise.

1. A coin belongs to a position, a pair of a partition and a place in it, and never to what stands there. Two rows have two
   positions, hence two independent coins, however the rows came to be where they are.
2. Coins are independent and all of the same probability. So the coins of two neighbouring tables can be coupled: every row that
   both tables hold has the same coin in both, though it may stand at another position. Whatever these coins show, the two
   samples differ in at most the one row that the tables differ in. Coins that are only nearly independent would not do.
3. Nobody knows the coins. Under a key that somebody knows, a row inserted at the front would give every later row the coin of
   its neighbour, and the samples of neighbouring tables would have next to nothing in common.

The coins that show heads are found by the gaps between them, which are geometric numbers: ``floor(scale * E)`` of a standard
exponential deviate E, ``-log(U)``. The logarithm is computed in double precision where its error cannot change the floor,
otherwise (about once in 2^18 draws) in decimal arithmetic with as many digits of U as it takes. So gaps are exactly geometric,
coins exactly independent, and every machine finds the same ones under the same key.
"""

import math
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext

import numpy as np
import numpy.typing as npt

from cloister import validate
from cloister.columns import FloatArray, IntArray
from cloister.privacy._entropy import Entropy, KeyedWords

KEY_WORDS = 4  # 256 bits
WORD_BITS = 64
SMALLEST_SHARE = 2.0**-30  # of the rows that a sample may hold
FIRST_CHUNK, LARGEST_CHUNK = 1 << 6, 1 << 15  # heads found at a time: what a chunk holds depends on its number alone
SMALLEST_WORD = 1 << 46  # below it, the digits that a word leaves open matter too much for double precision
UNSURE = 2.0**-44  # bound on the error of a logarithm in double precision, twice over
GUARD_DIGITS = 15


@dataclass(frozen=True, eq=False, repr=False)
class Coins:
    """The coins of all positions, as plain data: a backend can send it to where the rows are."""

    key: bytes  # secret; drawn once for one sample, from the source that noise comes from
    share: float  # probability of heads, public: the part of the rows that the sample will hold, in expectation

    @classmethod
    def draw(cls, entropy: Entropy, share: float) -> "Coins":
        """Return coins under a new secret key."""
        return cls(entropy.words(KEY_WORDS).astype("<u8").tobytes(), check_share("row_share", share))

    def partition(self, number: int) -> "CoinStream":
        """Return the coins of one partition, from its first position on."""
        return CoinStream(self.key, self.share, number)

    def __repr__(self) -> str:
        return f"<Coins that keep {self.share:.3g} of the rows>"


def check_share(where: str, share: float) -> float:
    """Return the part of the rows that a sample is to hold."""
    remedy = "Pass the part of the rows to ask, or 1.0 for all of them."
    return validate.number(where, share, low=SMALLEST_SHARE, high=1.0, open_high=True, remedy=remedy)


class CoinStream:
    """The coins of one partition, in order of position. How they are taken does not change them."""

    def __init__(self, key: bytes, share: float, partition: int) -> None:
        self._words = KeyedWords(b"cloister/coins/" + key + partition.to_bytes(8, "little"), chunk=FIRST_CHUNK)
        self._scale = -1.0 / math.log1p(-share)
        self._chunk = FIRST_CHUNK
        self._heads: IntArray = np.empty(0, dtype=np.int64)  # positions found and not yet taken, ascending
        self._found = 0  # all heads before this position are found
        self._position = 0  # of the next coin to be taken

    def take(self, count: int) -> IntArray:
        """Return where heads are among the next `count` coins: ascending, counted from the first of them."""
        first, self._position = self._position, self._position + count
        parts = [self._heads]
        while self._found < self._position:
            parts.append(self._found + np.cumsum(_gaps(self._words, self._scale, self._chunk) + 1) - 1)
            self._found, self._chunk = int(parts[-1][-1]) + 1, min(2 * self._chunk, LARGEST_CHUNK)
        heads = np.concatenate(parts)
        taken = int(np.searchsorted(heads, self._position))
        self._heads = heads[taken:]
        return heads[:taken] - first


def _gaps(source: KeyedWords, scale: float, count: int) -> IntArray:
    """Draw `count` independent integers g with probability proportional to ``exp(-g / scale)``, exactly."""
    words = source.take(count)
    products = _products(words, scale)
    gaps = np.floor(products)
    rest, unsure = products - gaps, scale * UNSURE
    for index in np.flatnonzero((rest < unsure) | (rest > 1 - unsure) | (words < SMALLEST_WORD)):
        gaps[index] = _exact_gap(source, scale, int(words[index]))
    return gaps.astype(np.int64)


def _products(words: npt.NDArray[np.uint64], scale: float) -> FloatArray:
    """Return ``-scale * log(U)`` for uniform numbers U of which the first digits are given.

    From `SMALLEST_WORD` on, the digits that are not given change a logarithm by at most 2**-46, rounding the word changes it by
    2**-53, and the logarithm itself, of size at most 12.5, is off by at most four units in its last place, 2**-47. Together
    that is less than 2**-45, in units of the scale.
    """
    return np.asarray(np.log(np.maximum(words, 1).astype(np.float64) * 2.0**-WORD_BITS) * -scale)


def _exact_gap(source: KeyedWords, scale: float, word: int) -> int:
    """Return ``floor(-scale * log(U))`` for a U that begins with the digits of `word`."""
    digits, places = word, 1
    while True:
        # U lies strictly between digits and digits + 1, in units of 2**(-64 * places).
        low, high = _floor(scale, digits + 1, places, slack=-1), _floor(scale, digits, places, slack=1)
        if low is not None and low == high:
            return low
        digits, places = (digits << WORD_BITS) | int(source.take(1)[0]), places + 1


def _floor(scale: float, digits: int, places: int, *, slack: int) -> int | None:
    """Return the floor of a number a little above or below ``-scale * log(digits / 2**(64 * places))``; None of infinity."""
    if digits == 0:
        return None
    precision = 20 * places + 2 * GUARD_DIGITS
    with localcontext(Context(prec=precision)):  # the product is off by a few units in its last place
        product = -Decimal(scale) * (Decimal(digits) / Decimal(1 << WORD_BITS * places)).ln()
        return math.floor(product * (1 + slack * Decimal(10) ** (GUARD_DIGITS - precision)))
