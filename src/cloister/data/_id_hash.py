# SPDX-License-Identifier: Apache-2.0
"""The keyed hash of ids: two lanes of 52 bits for bytes of any length, the same on every platform. Imported by ``_ids``.

An id of b bytes is read as words of 32 bits, w1 to wL, the last one filled up with zeros. A lane is the value of the polynomial

    b r + w1 r^2 + ... + wL r^(L+1)        modulo the prime p = 2^61 - 1

at a secret point r, without its 9 lowest bits. The two lanes have two points, drawn independently by SHAKE-256 of the key.

Two different ids of at most L words fall together in a lane with a probability below (L + 1) 2^10 / (p - 3) over the key. If
they do, the values of their polynomials differ by an integer d with ``|d| < 2^9``, so that r is a root of the difference of the
polynomials minus d. That is not the zero polynomial: the ids differ in their lengths, or else in a word, all of which are below
p and stand at powers of r from 1 on, where d changes nothing. Its degree is at most L + 1, so it has at most L + 1 roots; there
are 2^10 - 1 such d, and p - 3 points. Both lanes agree with the square of this: for ids of 16 letters less than 2^-96, so that
among 10^8 of them no two fall together, except with a probability below 2^-43.

Words are read in two halves, and powers of r are cut into two parts, so that all products and their sums are whole numbers that
a double holds exactly: the polynomial is a product of matrices, in whatever order it is added up.
"""

import hashlib
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Words: TypeAlias = npt.NDArray[np.uint64]
Places: TypeAlias = npt.NDArray[np.int64]

LANES = 2
PRIME = (1 << 61) - 1
DROPPED_BITS = 9  # of 61: the others fit into a double
POINT_BYTES = 16  # taken modulo p - 3: no point is more likely than another by more than one part in 2^67
LABEL = b"cloister/ids/"
CHUNK = 1 << 12  # ids that are hashed at a time: what they need stays in the cache of a processor
WORD_BYTES = 4
PANEL_WORDS = 10  # read at a time: 21 products below 2^47 add up to less than 2^52
PANEL_BYTES = WORD_BYTES * PANEL_WORDS
LONG_BYTES = 100 * PANEL_BYTES  # longer ids are hashed one by one
HALF_BITS = 16  # of a word
PART_BITS = 31  # of a power

_P = np.uint64(PRIME)
_30, _31, _61 = (np.uint64(bits) for bits in (30, 31, 61))
_LOW_30 = np.uint64((1 << 30) - 1)


def hash_bytes(data: npt.NDArray[np.uint8], offsets: Places, key: bytes) -> npt.NDArray[np.float64]:
    """Return the lanes of ids whose bytes lie end to end, each between two of n_ids + 1 offsets: whole numbers below 2**52."""
    powers = _Powers(key)
    lanes = np.empty((len(offsets) - 1, LANES))
    for start in range(0, len(lanes), CHUNK):
        lanes[start : start + CHUNK] = _hash_chunk(data, offsets[start : start + CHUNK + 1], powers)
    return lanes


class _Powers:
    """The secret points and what is made of them for each panel of words."""

    def __init__(self, key: bytes) -> None:
        drawn = hashlib.shake_256(LABEL + key).digest(LANES * POINT_BYTES)
        parts = (drawn[lane * POINT_BYTES : (lane + 1) * POINT_BYTES] for lane in range(LANES))
        self.points = [2 + int.from_bytes(part, "little") % (PRIME - 3) for part in parts]
        self._panels: list[npt.NDArray[np.float64]] = []

    def panel(self, number: int) -> npt.NDArray[np.float64]:
        """Return the factors of the halves of the words of a panel, lowest half first, and of the length, in the last row."""
        while number >= len(self._panels):
            first = 2 + PANEL_WORDS * len(self._panels)
            self._panels.append(np.hstack([_factors(point, first) for point in self.points]))
        return self._panels[number]


def _factors(point: int, first: int) -> npt.NDArray[np.float64]:
    """Return powers of a point from the `first` on, each also for the upper half of its word, in two parts."""
    power, found = pow(point, first, PRIME), []
    for _ in range(PANEL_WORDS):
        found += [power, (power << HALF_BITS) % PRIME]
        power = power * point % PRIME
    return np.array([divmod(factor, 1 << PART_BITS) for factor in (*found, point)], dtype=np.float64)


def _hash_chunk(data: npt.NDArray[np.uint8], offsets: Places, powers: _Powers) -> Words:
    """Return the lanes of some ids: the beginning of all of them, then what follows of those that are longer."""
    starts, lengths = offsets[:-1] - offsets[0], np.diff(offsets)
    padded = np.zeros(int(offsets[-1] - offsets[0]) + PANEL_BYTES, dtype=np.uint8)
    padded[:-PANEL_BYTES] = data[offsets[0] : offsets[-1]]
    halves = _halves(padded, starts, lengths)
    factors = powers.panel(0)
    values = _join(np.column_stack([halves, lengths]) @ np.vstack([factors[: halves.shape[1]], factors[-1:]]))
    for number in range(1, -(-min(int(lengths.max()), LONG_BYTES) // PANEL_BYTES)):
        some = np.flatnonzero(lengths > number * PANEL_BYTES)
        halves = _halves(padded, starts[some] + number * PANEL_BYTES, lengths[some] - number * PANEL_BYTES)
        values[some] = _fold(values[some] + _join(halves @ powers.panel(number)[: halves.shape[1]]))
    for index in np.flatnonzero(lengths > LONG_BYTES).tolist():
        values[index] = _hash_long(padded[starts[index] : starts[index] + lengths[index]].tobytes(), powers.points)
    return np.where(values >= _P, values - _P, values) >> np.uint64(DROPPED_BITS)


def _halves(padded: npt.NDArray[np.uint8], starts: Places, left: Places) -> npt.NDArray[np.float64]:
    """Return the halves of the words from some places on, of ids that have so many bytes left, up to the width of a panel."""
    width = WORD_BYTES * -(-min(max(int(left.max()), 1), PANEL_BYTES) // WORD_BYTES)
    anywhere = np.ndarray((len(padded) - width + 1,), dtype=f"V{width}", buffer=padded, strides=(1,))
    found = anywhere[starts].view(np.uint8).reshape(-1, width)
    found *= np.arange(width, dtype=np.uint8) < np.minimum(left, width).astype(np.uint8)[:, None]
    return found.view("<u2").astype(np.float64)


def _join(sums: npt.NDArray[np.float64]) -> Words:
    """Return sums of products in two parts, of each lane, as a number of at most p + 1, equal to them modulo p.

    Of the upper part, which counts 2^31, the bits from the 30th on count 2^61, which is 1.
    """
    upper, lower = (sums[:, part::2].astype(np.uint64) for part in range(2))
    return _fold((upper >> _30) + ((upper & _LOW_30) << _31) + lower)


def _fold(values: Words) -> Words:
    return (values & _P) + (values >> _61)


def _hash_long(text: bytes, points: list[int]) -> list[int]:
    """Return the lanes of one id, by the rule of Horner with the integers of Python."""
    words = np.frombuffer(text + bytes(-len(text) % WORD_BYTES), dtype="<u4").tolist()
    lanes = []
    for point in points:
        value = 0
        for word in reversed(words):
            value = (value * point + word) % PRIME
        lanes.append((value * point + len(text)) * point % PRIME)
    return lanes
