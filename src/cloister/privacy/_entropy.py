# SPDX-License-Identifier: Apache-2.0
"""Where randomness comes from: the only module that makes generators.

Noise draws on the operating system's cryptographic generator, word by word and without a buffer, so that a forked process
cannot repeat its parent's noise. An integer seed replaces it by SHAKE-256 of the seed and a purpose: reproducible, still
without structure, and stamped ``seeded`` on every receipt, because whoever knows the seed can subtract the noise.
"""

import hashlib
import os

import numpy as np
import numpy.typing as npt

from cloister import validate

WORD_BYTES = 8
CHUNK_WORDS = 1 << 12
KEY_BYTES = 32


class Entropy:
    """Two independent streams: words for noise, and a NumPy generator for public choices.

    A `random_state` of None draws on the operating system. An integer makes both streams reproducible; of a NumPy RandomState
    one integer is drawn.

    Examples
    --------
    >>> bool((Entropy(7).words(4) == Entropy(7).words(4)).all())
    True
    """

    def __init__(self, random_state: object = None, *, where: str = "random_state") -> None:
        self._seed = _read_seed(where, random_state)
        self._noise = None if self._seed is None else KeyedWords(_label(self._seed, "noise"))

    @property
    def seeded(self) -> bool:
        """Whether the noise could be drawn again by whoever knows the seed."""
        return self._noise is not None

    def words(self, count: int) -> npt.NDArray[np.uint64]:
        """Return `count` independent uniform 64-bit words for noise."""
        if self._noise is not None:
            return self._noise.take(count)
        return np.frombuffer(os.urandom(WORD_BYTES * count), dtype="<u8").astype(np.uint64, copy=False)

    def key(self, purpose: str) -> bytes:
        """Return 32 secret bytes for a purpose, independent of the noise."""
        return os.urandom(KEY_BYTES) if self._seed is None else hashlib.shake_256(_label(self._seed, purpose)).digest(KEY_BYTES)

    def public_generator(self) -> np.random.Generator:
        """Return a generator for choices that touch no row: candidates, restarts, projections."""
        return np.random.default_rng(int.from_bytes(self.key("public"), "little"))

    def __reduce__(self) -> str | tuple[object, ...]:
        raise TypeError("Entropy: a source of noise is not copied or pickled. Make a new one from the seed.")


class KeyedWords:
    """A stream of words by SHAKE-256 of a key, in counter mode; what one call leaves over serves the next."""

    def __init__(self, key: bytes, *, chunk: int = CHUNK_WORDS) -> None:
        self._key = key
        self._chunk = chunk
        self._counter = 0
        self._left = np.empty(0, dtype=np.uint64)

    def take(self, count: int) -> npt.NDArray[np.uint64]:
        """Return the next `count` words."""
        if count > len(self._left):
            key = self._key + self._counter.to_bytes(8, "little")
            size = max(self._chunk, count)
            fresh = np.frombuffer(hashlib.shake_256(key).digest(WORD_BYTES * size), dtype="<u8")
            self._left = np.concatenate([self._left, fresh.astype(np.uint64, copy=False)])
            self._counter += 1
        words, self._left = self._left[:count], self._left[count:]
        return words


def _label(seed: int, purpose: str) -> bytes:
    return f"cloister/{purpose}/{seed}/".encode()


def _read_seed(where: str, value: object) -> int | None:
    if value is None:
        return None
    if isinstance(value, np.random.RandomState):
        return int(value.randint(2**31 - 1))
    remedy = "Pass None to publish, or an integer to repeat a run."
    return validate.integer(where, value, low=0, high=2**64 - 1, remedy=remedy)
