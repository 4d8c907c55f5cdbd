# SPDX-License-Identifier: Apache-2.0
"""Signalling NaNs: computing with one makes the processor report an invalid operation, which NumPy turns into a warning."""

import numpy as np

__all__ = ["PATTERNS", "plant", "signalling"]

PATTERNS = {  # by their bits: with the smallest payload, with a sign and the largest one, and the NA of R
    16: (0x7C01, 0xFDFF),
    32: (0x7F800001, 0xFFBFFFFF),
    64: (0x7FF0000000000001, 0xFFF7FFFFFFFFFFFF, 0x7FF00000000007A2),
}


def signalling(bits, pattern, order="="):
    """Return an array with this one number."""
    return np.array([pattern], f"{order}u{bits // 8}").view(f"{order}f{bits // 8}")


def plant(table, bits, pattern, places, order="="):
    """Return a table of numbers of so many bits, with a signalling NaN in some places."""
    found = table.astype(f"{order}f{bits // 8}")
    for place in places:
        found.view(f"{order}u{bits // 8}")[place] = pattern
    return found
