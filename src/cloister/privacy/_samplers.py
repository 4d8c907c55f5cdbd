# SPDX-License-Identifier: Apache-2.0
"""Exact draws, vectorised: the rounded Gaussian, the discrete Laplace, and the exponential mechanism.

Both kinds of noise are made in two steps, in integer arithmetic throughout.

1. A standard deviate ``k + x``: k a whole number, x in (0, 1) given by its binary digits. The half-normal deviate follows
   Karney (2016, Algorithm N): k has weight exp(-k^2/2), and x is kept with probability exp(-x (2k + x) / 2). The exponential
   deviate has k with weight exp(-k) and keeps x with probability exp(-x). Whole parts come from a table of the distribution
   function. A coin of probability exp(-q) is von Neumann's: toss coins of probability q/1, q/2, q/3, ... until one fails; the
   number of tosses is odd with probability exp(-q).
2. ``floor(scale (k + x) + offset)`` for a scale that is a whole number times a power of two.

Only 64 digits of x are drawn. Where a comparison or the final floor is not decided by them (once in about 2^30 draws or
fewer) more digits are drawn until it is. So the samplers follow the stated distributions exactly, not up to rounding.
Rounding a normal deviate, ``round(N(0, sigma^2))``, is post-processing of the Gaussian mechanism on integers, hence its GDP
guarantee holds as it stands; the floor of a scaled exponential deviate is exactly geometric, hence the Laplace mechanism on
integers is exactly (l1/scale)-DP.

**The exponential mechanism** chooses one index with probability proportional to exp(-cost / scale). Costs are integers, so the
gap between a cost and the smallest one, divided by the scale, is a whole number w and a rest r with 0 <= r < 1, both
exact. An index is proposed uniformly and kept with probability exp(-w) exp(-r): the first factor by a geometric number that is
at least w, the second by a coin of probability exp(-r) made of coins of probability r. The first index that is kept is the
answer. Integer arithmetic throughout, no number of digits is cut off, so the probabilities hold exactly.

Proof of its cost. Let the costs of one table be u and of its neighbour u + c, where the largest and the smallest entry of c
differ by at most s. The probability of index i changes by the factor exp(c_i / scale) Z(u + c) / Z(u), with Z the sum of
exp(-u / scale), and Z(u + c) <= exp(-min(c) / scale) Z(u): a factor of at most exp(s / scale). So it is (s / scale)-DP.
What counts is how unevenly the costs move: a move that all of them share is free.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Context, Decimal, localcontext
from functools import cache

import numpy as np
import numpy.typing as npt

from cloister import validate
from cloister.columns import IntArray
from cloister.privacy._entropy import Entropy

WORD_BITS = 64
ONE, LARGEST_WORD = np.uint64(1), np.uint64((1 << 64) - 1)
DIGIT_BITS = 30  # digits of x that enter the first product
FACTOR_BITS = 28  # significant bits of a scale
LARGEST_WHOLE = 31  # beyond it (probability below 1e-13) a deviate is scaled with Python integers
SMALLEST_EXPONENT = DIGIT_BITS - 63  # so that a 64-bit word holds the product and half a step
LARGEST_SCALE = 2.0**48
CHUNK = 1 << 16  # proposals at a time: the arrays stay in the processor's cache
FEWEST_PROPOSALS = 1 << 8  # of an index at a time
EXPONENTIAL, HALF_NORMAL = 1, 2  # deviates, by the power p of their whole parts k, which have weight exp(-k**p / p)
LARGEST_QUOTIENT = 1 << 20  # beyond it (kept with probability below exp(-2**20)) a gap is divided with Python integers

Words = npt.NDArray[np.uint64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Scale:
    """A noise scale that is exactly ``factor * 2**exponent``; rounding goes up, towards more noise."""

    factor: int
    exponent: int

    @classmethod
    def at_least(cls, value: float) -> "Scale":
        """Return the smallest representable scale not below `value`: within 1 part in 2**27, or 2**-33 if that is more."""
        checked = validate.number(
            "noise.scale", value, low=0.0, high=LARGEST_SCALE, open_low=True, remedy="Spend more on this question."
        )
        exponent = max(math.frexp(checked)[1] - FACTOR_BITS, SMALLEST_EXPONENT)
        factor = math.ceil(math.ldexp(checked, -exponent))  # a double times a power of two is exact here
        if factor == 1 << FACTOR_BITS:
            factor, exponent = factor >> 1, exponent + 1
        return cls(factor, exponent)

    def __float__(self) -> float:
        return math.ldexp(self.factor, self.exponent)


def rounded_gaussian(entropy: Entropy, scale: Scale, size: int) -> IntArray:
    """Draw `size` independent values of ``round(N(0, scale**2))``."""
    draws = _Draws(entropy)
    magnitude = _magnitudes(draws, size, scale, HALF_NORMAL)
    return np.where(draws.coins(size), magnitude, -magnitude)


def discrete_laplace(entropy: Entropy, scale: Scale, size: int) -> IntArray:
    """Draw `size` independent integers y with probability proportional to ``exp(-abs(y) / scale)``."""
    draws = _Draws(entropy)
    kept: list[IntArray] = []
    missing = size
    while missing > 0:
        magnitude = _magnitudes(draws, missing + missing // 8 + 8, scale, EXPONENTIAL)
        positive = draws.coins(len(magnitude))
        signed = np.where(positive, magnitude, -magnitude)[positive | (magnitude > 0)]  # minus zero would count zero twice
        kept.append(signed[:missing])
        missing -= len(kept[-1])
    return np.concatenate([np.empty(0, dtype=np.int64), *kept])


def exponential_choice(entropy: Entropy, scale: Scale, costs: IntArray) -> int:
    """Draw an index i with probability proportional to ``exp(-costs[i] / scale)``; the costs span less than 2**63."""
    draws = _Draws(entropy)
    gaps = costs - costs.min()
    count = FEWEST_PROPOSALS
    while True:
        proposed = draws.below(len(gaps), count).astype(np.int64)
        kept = np.flatnonzero(_keep(draws, gaps[proposed], scale))
        if kept.size:
            return int(proposed[kept[0]])
        count = min(2 * count, CHUNK)


@dataclass
class _Draws:
    """Uniform words and the coins made of them. Tests shorten the words so that ties become frequent."""

    entropy: Entropy
    bits: int = WORD_BITS

    def words(self, count: int) -> Words:
        words = self.entropy.words(count)
        return words if self.bits == WORD_BITS else words >> np.uint64(WORD_BITS - self.bits)

    def word(self) -> int:
        return int(self.words(1)[0])

    def coins(self, count: int) -> Bools:
        octets = self.entropy.words(-(-count // WORD_BITS)).view(np.uint8)
        return np.unpackbits(octets, count=count).astype(bool)

    def below(self, bounds: Words | int, count: int) -> Words:
        """Draw uniform integers in [0, bound), of one bound or of `count` bounds."""
        if isinstance(bounds, int):
            if bounds == 1:
                return np.zeros(count, dtype=np.uint64)
            bounds = np.array([bounds], dtype=np.uint64)
        words = self.entropy.words(count)
        # The last word that does not favour small remainders, 2**64 - 1 less the remainder of 2**64.
        last = np.broadcast_to(LARGEST_WORD - (LARGEST_WORD % bounds + ONE) % bounds, count)
        late = np.flatnonzero(words > last)
        while late.size:
            words = words.copy()
            words[late] = self.entropy.words(late.size)
            late = late[words[late] > last[late]]
        return words % bounds


@dataclass
class _Deviates:
    """Numbers ``whole + fraction``; the digits behind the first word of a fraction are drawn when they are needed."""

    whole: IntArray
    fraction: Words
    tails: dict[int, list[int]] = field(default_factory=dict)

    def take(self, index: IntArray) -> "_Deviates":
        moved = {int(old): new for new, old in enumerate(index)} if self.tails else {}
        tails = {moved[old]: tail for old, tail in self.tails.items() if old in moved}
        return _Deviates(self.whole[index], self.fraction[index], tails)

    def digit(self, draws: _Draws, index: int, place: int) -> int:
        if place == 0:
            return int(self.fraction[index])
        tail = self.tails.setdefault(index, [])
        while len(tail) < place:
            tail.append(draws.word())
        return tail[place - 1]

    def coin_of_fraction(self, draws: _Draws, index: IntArray) -> Bools:
        """Toss, for each index, a coin whose probability is that deviate's fraction."""
        words, digits = draws.words(len(index)), self.fraction[index]
        heads, ties = words < digits, words == digits
        for tie in np.flatnonzero(ties) if ties.any() else ():
            place, left, right = 0, 0, 0
            while left == right:
                place += 1
                left, right = draws.word(), self.digit(draws, int(index[tie]), place)
            heads[tie] = left < right
        return np.asarray(heads)


def _exp_coins(draws: _Draws, count: int, toss: Callable[[IntArray], Bools]) -> Bools:
    """Toss `count` coins of probability exp(-q), where ``toss(index)`` gives coins of probability q."""
    heads = np.zeros(count, dtype=bool)
    active, turn = np.arange(count), 1
    while active.size:
        passed = active if turn == 1 else active[draws.below(turn, active.size) == 0]
        going_on = passed[toss(passed)]
        if turn % 2 == 1:  # what ends at an odd toss is heads
            heads[active] = True
            heads[going_on] = False
        active = going_on
        turn += 1
    return heads


@cache
def _whole_thresholds(power: int, bits: int) -> list[int]:
    """Return floor(2**bits P(K < j)) for j = 1, 2, ... up to the first that is 2**bits - 1.

    The whole part K is k with weight exp(-k**power / power).
    """
    with localcontext(Context(prec=60 + bits)) as context:  # far more digits than the floors need: bits * log10(2) + guard
        weights: list[Decimal] = []
        while not weights or weights[-1] > Decimal(2) ** (-3 * bits - 60):
            weights.append(context.exp(-Decimal(len(weights) ** power) / power))
        total, below, thresholds = sum(weights), Decimal(0), []
        for weight in weights:
            below += weight
            thresholds.append(int(below / total * (1 << bits)))
            if thresholds[-1] == (1 << bits) - 1:
                break
    return thresholds


def _wholes(draws: _Draws, count: int, power: int) -> IntArray:
    """Draw whole parts k with weight exp(-k**power / power) by inverting the distribution function, exactly."""
    table = np.array([*_whole_thresholds(power, draws.bits), (1 << draws.bits) - 1], dtype=np.uint64)
    words = draws.words(count)
    wholes = np.searchsorted(table, words).astype(np.int64)  # how many thresholds lie below the word
    for tie in np.flatnonzero(table[wholes] == words):
        digits, bits = int(words[tie]), draws.bits
        while digits in (thresholds := _whole_thresholds(power, bits)):
            digits, bits = (digits << draws.bits) | draws.word(), bits + draws.bits
        wholes[tie] = sum(threshold < digits for threshold in thresholds)
    return wholes


def _magnitudes(draws: _Draws, size: int, scale: Scale, power: int) -> IntArray:
    """Draw standard deviates, times the scale: half-normal ones are rounded, exponential ones rounded down.

    Deviates are proposed until `size` of them have been accepted.
    """
    accept = _accept_normal if power == HALF_NORMAL else _accept_exponential
    parts, missing = [np.empty(0, dtype=np.int64)], size
    while missing > 0:
        count = min(missing + missing // 2 + 16, CHUNK)
        proposed = _Deviates(_wholes(draws, count, power), draws.words(count))
        chosen = proposed.take(accept(draws, proposed)[:missing])
        parts.append(_scaled_floor(draws, chosen, scale, half_up=accept is _accept_normal))
        missing -= len(parts[-1])
    return np.concatenate(parts)


def _accept_exponential(draws: _Draws, proposed: _Deviates) -> IntArray:
    """Keep x with probability exp(-x)."""
    count = len(proposed.whole)
    return np.flatnonzero(_exp_coins(draws, count, lambda index: proposed.coin_of_fraction(draws, index)))


def _accept_normal(draws: _Draws, proposed: _Deviates) -> IntArray:
    """Keep x with probability exp(-x (2k + x) / 2), as k + 1 coins of probability exp(-x (2k + x) / (2k + 2)), all at once."""
    owners = np.repeat(np.arange(len(proposed.whole)), proposed.whole + 1)
    heads = _exp_coins(draws, len(owners), _slope_coins(draws, proposed, owners))
    alive = np.ones(len(proposed.whole), dtype=bool)
    alive[owners[~heads]] = False
    return np.flatnonzero(alive)


def _slope_coins(draws: _Draws, proposed: _Deviates, owners: IntArray) -> Callable[[IntArray], Bools]:
    """Coins of probability x (2k + x) / (2k + 2): one coin x, and a choice among 2k + 2 of which 2k win and one is a coin x."""

    def toss(inner: IntArray) -> Bools:
        index = owners[inner]
        heads = proposed.coin_of_fraction(draws, index)
        up = np.flatnonzero(heads)
        wins = 2 * proposed.whole[index[up]].astype(np.uint64)
        choice = draws.below(wins + np.uint64(2), len(wins))
        heads[up] = choice < wins
        open_choice = up[choice == wins]
        heads[open_choice] = proposed.coin_of_fraction(draws, index[open_choice])
        return heads

    return toss


def _scaled_floor(draws: _Draws, deviates: _Deviates, scale: Scale, *, half_up: bool) -> IntArray:
    """Return floor(scale * deviate + offset), offset one half or zero.

    The product is counted in units of 2**(exponent - 30). With x = (high + low / 2**34 + rest) / 2**30, where high has 30
    digits and low 34, it is ``factor * (whole * 2**30 + high) + factor * low / 2**34`` plus less than ``unsure`` units for
    what the digits beyond the word and the dropped remainder can add.
    """
    factor, shift = np.uint64(scale.factor), DIGIT_BITS - scale.exponent
    padded = deviates.fraction << np.uint64(WORD_BITS - draws.bits)
    high, low = padded >> np.uint64(WORD_BITS - DIGIT_BITS), padded & np.uint64((1 << (WORD_BITS - DIGIT_BITS)) - 1)
    whole = np.minimum(deviates.whole, LARGEST_WHOLE).astype(np.uint64)
    units = factor * ((whole << np.uint64(DIGIT_BITS)) + high) + ((factor * low) >> np.uint64(WORD_BITS - DIGIT_BITS))
    units += np.uint64(1 << (shift - 1) if half_up else 0)
    unsure = np.uint64(2 + ((scale.factor << (WORD_BITS - draws.bits)) >> (WORD_BITS - DIGIT_BITS)))
    result = (units >> np.uint64(shift)).astype(np.int64)
    latest = (units + unsure) >> np.uint64(shift)
    for index in np.flatnonzero((result != latest.astype(np.int64)) | (deviates.whole > LARGEST_WHOLE)):
        result[index] = _exact_floor(draws, deviates, int(index), scale, half_up=half_up)
    return result


def _exact_floor(draws: _Draws, deviates: _Deviates, index: int, scale: Scale, *, half_up: bool) -> int:
    """Decide one floor with as many digits as it takes."""
    digits, places = int(deviates.whole[index]), 0
    while True:
        digits = (digits << draws.bits) | deviates.digit(draws, index, places)
        places += 1
        # The value lies strictly between `first` and `last`, counted in units of 2**-point.
        point = places * draws.bits - scale.exponent
        if point < 1:
            continue
        first, last = scale.factor * digits, scale.factor * (digits + 1)
        half = 1 << (point - 1) if half_up else 0
        low, high = (first + half) >> point, (last + half - 1) >> point
        if low == high:
            return low


def _keep(draws: _Draws, gaps: IntArray, scale: Scale) -> Bools:
    """Toss coins of probability exp(-gap / scale)."""
    # gap / scale = gap 2**shift / whole_scale, where whole_scale has at most 28 bits if there is a shift, of at most 33.
    whole_scale, shift = scale.factor << max(scale.exponent, 0), max(-scale.exponent, 0)
    quotients, rests = np.divmod(gaps, whole_scale)
    steps, rests = np.divmod(rests << shift, whole_scale)
    wholes = (np.minimum(quotients, LARGEST_QUOTIENT) << shift) + steps
    reached = _wholes(draws, len(gaps), EXPONENTIAL)  # at least w with probability exp(-w)
    kept = reached >= wholes
    for index in np.flatnonzero(kept & (quotients > LARGEST_QUOTIENT)):
        kept[index] = int(reached[index]) >= (int(gaps[index]) << shift) // whole_scale
    alive = np.flatnonzero(kept)
    rest_of = rests[alive].astype(np.uint64)
    kept[alive] = _exp_coins(draws, len(alive), lambda index: draws.below(whole_scale, len(index)) < rest_of[index])
    return np.asarray(kept)
