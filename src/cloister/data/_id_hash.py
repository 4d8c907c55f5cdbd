# SPDX-License-Identifier: Apache-2.0
"""The keyed hash of ids: two lanes of 52 bits for bytes of any length, the same on every platform. Imported by ``_ids``.

An id of b bytes is read as words of 32 bits, w1 to wL, the last one filled up with zeros. A lane is the value of the polynomial

    b r^(L+1) + w1 r^L + ... + wL r        modulo the prime p = 2^61 - 1

at a secret point r, without its 9 lowest bits. The two lanes have two points, drawn independently by SHAKE-256 of the key.

Two different ids of at most L words fall together in a lane with a probability below (L + 1) 2^10 / (p - 3) over the key. If
they do, the values of their polynomials differ by an integer d with ``|d| < 2^9``, so that r is a root of the difference of the
polynomials minus d. That is not the zero polynomial: the ids differ in their lengths or in a word, all of which are below p and
stand at powers of r from 1 on, where d changes nothing (with unlike numbers of words the longer id has a power that the other
has not, with its length, which is not 0, before it). Its degree is at most L + 1, so it has at most L + 1 roots; there are
2^10 - 1 such d, and p - 3 points. Both lanes agree with the square of this: for ids of 16 letters less than 2^-96, so that
among 10^8 of them no two fall together, except with a probability below 2^-43.
"""

import hashlib
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["LANES", "hash_bytes"]

Words: TypeAlias = npt.NDArray[np.uint64]
Places: TypeAlias = npt.NDArray[np.int64]

LANES = 2
PRIME = (1 << 61) - 1
DROPPED_BITS = 9  # of 61: the others fit into a double
POINT_BYTES = 16  # taken modulo p - 3: no point is more likely than another by more than one part in 2^67
LABEL = b"cloister/ids/"
CHUNK = 1 << 12  # ids that are hashed at a time: what they need stays in the cache of a processor
FEW = 32  # ids so long that few others are: not worth whole arrays
WORD_BYTES = 4
MASKS = np.array([0, 0xFF, 0xFFFF, 0xFFFFFF, 0xFFFFFFFF], dtype=np.uint64)  # of words with so many bytes

_P = np.uint64(PRIME)
_LOW_32, _LOW_29 = np.uint64((1 << 32) - 1), np.uint64((1 << 29) - 1)
_3, _29, _32, _61 = (np.uint64(bits) for bits in (3, 29, 32, 61))


def hash_bytes(data: npt.NDArray[np.uint8], offsets: Places, key: bytes) -> npt.NDArray[np.float64]:
    """Return the lanes of ids that lie end to end: the bytes of each are between two offsets.

    Parameters
    ----------
    data : array of uint8
        The bytes.
    offsets : array of int64 of shape (n_ids + 1,)
        Where ids begin and end in them.
    key : bytes
        Secret.

    Returns
    -------
    array of float64 of shape (n_ids, 2)
        Whole numbers below 2**52.
    """
    points = _points(key)
    lanes = np.empty((len(offsets) - 1, LANES))
    for start in range(0, len(lanes), CHUNK):
        some = offsets[start : start + CHUNK + 1]
        padded = np.zeros(int(some[-1] - some[0]) + WORD_BYTES, dtype=np.uint8)
        padded[:-WORD_BYTES] = data[some[0] : some[-1]]
        lanes[start : start + CHUNK] = _hash_chunk(padded, some[:-1] - some[0], np.diff(some), points)
    return lanes


def _points(key: bytes) -> tuple[int, ...]:
    """Return a secret point of each lane, from 2 to p - 2."""
    drawn = hashlib.shake_256(LABEL + key).digest(LANES * POINT_BYTES)
    parts = (drawn[lane * POINT_BYTES : (lane + 1) * POINT_BYTES] for lane in range(LANES))
    return tuple(2 + int.from_bytes(part, "little") % (PRIME - 3) for part in parts)


def _hash_chunk(padded: npt.NDArray[np.uint8], starts: Places, lengths: Places, points: tuple[int, ...]) -> Words:
    """Return the lanes of some ids: the longest first, so that those with further words are always the first ones."""
    n_words = -(-lengths // WORD_BYTES)
    order = np.argsort(-n_words, kind="stable")
    starts, lengths, ends = starts[order], lengths[order], -n_words[order]
    point = np.array(points, dtype=np.uint64)[:, None]
    values = np.tile(lengths.astype(np.uint64), (LANES, 1))
    for step in range(int(-ends[0])):
        count = int(np.searchsorted(ends, -step))  # ids with more words than have been read
        if count <= FEW:
            _finish_few(values[:, :count], padded, starts[:count] + WORD_BYTES * step, -ends[:count] - step, lengths, points)
            break
        words = _words(padded, starts[:count] + WORD_BYTES * step, lengths[:count] - WORD_BYTES * step)
        values[:, :count] = _multiply(values[:, :count], point, words)
    values = _multiply(values, point, np.uint64(0))
    found = np.empty((len(starts), LANES), dtype=np.uint64)
    found[order] = (np.where(values >= _P, values - _P, values) >> np.uint64(DROPPED_BITS)).T
    return found


def _words(padded: npt.NDArray[np.uint8], places: Places, left: Places) -> Words:
    """Return the words at some places, of which so many bytes are left of the id."""
    every = np.ndarray((len(padded) - WORD_BYTES + 1,), dtype="<u4", buffer=padded, strides=(1,))  # at every byte
    return every[places] & MASKS[np.minimum(left, WORD_BYTES)]


def _multiply(values: Words, point: Words, words: Words | np.uint64) -> Words:
    """Return ``values * point + words`` modulo p, up to a single p; values are at most 2^61 + 2.

    With a = a1 2^32 + a0 and b = b1 2^32 + b0 the product is a1 b1 2^64 + (a1 b0 + a0 b1) 2^32 + a0 b0, and 2^61 is 1. The
    three parts are at most 2^61, 2^61 + 2^33 and 2^61 + 7, so that their sum with a word is below 2^63, and what it is
    folded to at most 2^61 + 2.
    """
    high, low = values >> _32, values & _LOW_32
    point_high, point_low = point >> _32, point & _LOW_32
    middle = high * point_low + low * point_high  # below 2^62
    last = low * point_low
    total = ((high * point_high) << _3) + (middle >> _29) + ((middle & _LOW_29) << _32) + (last & _P) + (last >> _61) + words
    return np.asarray((total & _P) + (total >> _61))


def _finish_few(
    values: Words, padded: npt.NDArray[np.uint8], places: Places, n_words: Places, lengths: Places, points: tuple[int, ...]
) -> None:
    """Read the rest of the words of a few ids, one id after another, with the integers of Python."""
    for index, (place, count) in enumerate(zip(places.tolist(), n_words.tolist(), strict=True)):
        left = int(lengths[index]) % WORD_BYTES or WORD_BYTES  # bytes of the last word
        words = padded[place : place + WORD_BYTES * count].view("<u4").tolist()
        words[-1] &= int(MASKS[left])
        for lane, point in enumerate(points):
            value = int(values[lane, index])
            for word in words:
                value = (value * point + word) % PRIME
            values[lane, index] = value
