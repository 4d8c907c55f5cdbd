# SPDX-License-Identifier: Apache-2.0
"""Points spread in the unit ball: the sphere packing of Su et al. (2016), for a ball instead of a cube."""

import numpy as np
from scipy.spatial.distance import cdist

from cloister.columns import FloatArray

PROPOSALS = 256
TRIES = 100


def uniform(generator: np.random.Generator, size: int, dimension: int, *, half_widths: FloatArray | None = None) -> FloatArray:
    """Draw points uniformly from the unit ball, or from the box around the origin with these half widths."""
    if half_widths is not None:
        return np.asarray((2 * generator.random((size, dimension)) - 1) * half_widths)
    directions = generator.standard_normal((size, dimension))
    directions /= np.maximum(np.linalg.norm(directions, axis=1, keepdims=True), 1e-300)
    return np.asarray(directions * generator.random((size, 1)) ** (1 / dimension))


def pack_sphere(
    generator: np.random.Generator,
    size: int,
    dimension: int,
    *,
    half_widths: FloatArray | None = None,
) -> FloatArray:
    """Return `size` points of the unit ball that keep their distance from each other and from the boundary.

    A random point is kept if it is at least a radius away from the boundary and twice that from the points kept so far. After
    TRIES failures in a row the radius, at first one half, is halved. With `half_widths` the points fill a box instead of the
    ball, and keep from each face the radius times the half width of the box along that axis.
    """
    kept, radius = np.empty((size, dimension)), 0.5
    count = failures = 0
    while count < size:
        proposals = (1 - radius) * uniform(generator, PROPOSALS, dimension, half_widths=half_widths)
        free = np.asarray((cdist(proposals, kept[:count], "sqeuclidean") >= 4 * radius**2).all(axis=1))
        among = cdist(proposals, proposals, "sqeuclidean") < 4 * radius**2
        for index in range(PROPOSALS):
            if free[index]:
                kept[count] = proposals[index]
                free &= ~among[index]
                count, failures = count + 1, 0
            else:
                failures += 1
            if count == size or failures >= TRIES:
                break
        if failures >= TRIES:
            radius, failures = radius / 2, 0
    return kept
