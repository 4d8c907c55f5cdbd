# SPDX-License-Identifier: Apache-2.0
"""The grid that coordinates are rounded to, what a neighbour is, and names of arrays.

The grid is chosen so that squared distances between grid points are exact in double precision: 2 (b + 2) + log2(d) bits
are at most 53. So a nearest centre is a fact, not a matter of rounding, and no order of rows, blocks or threads can change
an answer. Anyone may import this module.
"""

import enum
import math
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from cloister import validate

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]

EXACT_BITS = 53  # significant bits of a double
quiet = np.errstate(all="ignore")  # decorates what computes with raw rows: a warning would reveal that one is odd or large
BLOCK_NUMBERS = 1 << 18  # numbers in work at a time: two megabytes of doubles stay in the processor's cache
EXTENTS = (1e-100, 1e100)  # of a domain: their squares neither overflow nor vanish
RESOLUTION = 1e-10  # a domain narrower than this part of its largest coordinate drowns in the rounding of doubles


class Relation(enum.Enum):
    """Which tables count as neighbours: the privacy guarantee is about telling two neighbours apart."""

    ADD_REMOVE = "add-remove"
    REPLACE = "replace"

    @classmethod
    def parse(cls, where: str, value: object) -> "Relation":
        """Read ``"add-remove"`` or ``"replace"``."""
        if isinstance(value, cls):
            return value
        return cls(validate.one_of(where, value, [relation.value for relation in cls]))


def grid_step(n_features: int) -> float:
    """Return the step of the public grid in `n_features` dimensions: the finest on which squared distances are exact.

    Coordinates of the difference of two points are below 4, so they have b + 2 bits for a step of 2**-b; their squares have
    twice as many, and the sum of d of them log2(d) more.

    Examples
    --------
    >>> grid_step(16) == 2.0**-22
    True
    """
    carry = math.ceil(math.log2(max(n_features, 1)))
    return 2.0 ** -((EXACT_BITS - carry) // 2 - 2)


def snap(points: npt.ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
    """Round points to the nearest point of the grid of their dimension."""
    array = np.asarray(points, dtype=np.float64)
    step = grid_step(array.shape[-1])
    snapped = np.multiply(array, 1 / step, out=out)  # exact: the step is a power of two
    np.rint(snapped, out=snapped)
    return np.multiply(snapped, step, out=snapped)


def clip_to_unit_ball(points: FloatArray) -> FloatArray:
    """Pull points outside the unit ball to its surface, along the ray from the origin."""
    norms = np.sqrt(np.sum(points * points, axis=1, keepdims=True))
    return np.asarray(points / np.maximum(norms, 1.0))


def row_blocks(n_rows: int, size: int) -> Iterator[slice]:
    """Yield slices that cut `n_rows` rows into blocks of `size`."""
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


def pull_in(points: FloatArray) -> FloatArray:
    """Pull, in place, points of the grid that lie outside the unit ball to points of the grid inside.

    Rounding, to the grid and of coordinates far from zero, can take a row out. Squared lengths are exact, multiples of step^2.
    A point outside is scaled to length 1, which is good to a few units of 2^-53, and rounded towards zero: its squared length
    is below 1 + 2^-49, hence, with step^2 of at least 2^-48, at most 1.
    """
    squares = np.einsum("ij,ij->i", points, points)
    outside = np.flatnonzero(squares > 1.0)
    if outside.size:
        step = grid_step(points.shape[1])
        points[outside] = np.trunc(clip_to_unit_ball(points[outside]) / step) * step
    return points


def refuse_narrow(where: str, extent: Any, size: Any) -> None:
    if np.any(extent < np.maximum(EXTENTS[0], RESOLUTION * size)):
        rule = f"a width of at least {EXTENTS[0]:g}, and of {RESOLUTION:g} times the coordinates"
        validate.refuse(where, rule, float(np.min(extent)), remedy="Move the origin or change the unit of the column.")
