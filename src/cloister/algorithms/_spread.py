# SPDX-License-Identifier: Apache-2.0
"""The sphere packing of Su et al. (2016) with their search: the largest radius for which so many points are found."""

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist

from cloister.algorithms._packing import uniform_ball, uniform_box
from cloister.columns import FloatArray

__all__ = ["pack_widest"]

BISECTIONS = 12


def pack_widest(
    generator: np.random.Generator, size: int, dimension: int, *, half_widths: FloatArray | None = None, tries: int = 100
) -> FloatArray:
    """Return `size` random points that are as far from each other and from the boundary as the search finds.

    Points are to be a radius away from the boundary and two radii from each other. A radius fails when none of `tries` random
    points fits any more; the largest that does not fail is found by bisection. With `half_widths` the points fill a box
    instead of the unit ball; where the box is narrower than the radius they lie in its middle.
    """
    low, high, packed, steps = 0.0, 1.0, None, 0
    while packed is None or steps < BISECTIONS:
        radius = (low + high) / 2
        found = _pack(generator, (size, dimension), radius, half_widths=half_widths, tries=tries)
        low, high, packed = (low, radius, packed) if found is None else (radius, high, found)
        steps += 1
    return packed


def _pack(
    generator: np.random.Generator, shape: tuple[int, int], radius: float, *, half_widths: FloatArray | None, tries: int
) -> FloatArray | None:
    kept, count = np.empty(shape), 0
    while count < len(kept):
        if half_widths is None:
            proposals = (1 - radius) * uniform_ball(generator, tries, shape[1])
        else:
            proposals = uniform_box(generator, tries, np.maximum(half_widths - radius, 0.0))
        free = proposals[_clear(proposals, kept[:count], radius)]
        if not len(free):
            return None
        for point in free:
            if count < len(kept) and _clear(point[None], kept[:count], radius)[0]:
                kept[count] = point
                count += 1
    return kept


def _clear(points: FloatArray, kept: FloatArray, radius: float) -> npt.NDArray[np.bool_]:
    """Say which points are two radii away from all that are kept."""
    return np.asarray((cdist(points, kept, "sqeuclidean") >= 4 * radius**2).all(axis=1))
