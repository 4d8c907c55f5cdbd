# SPDX-License-Identifier: Apache-2.0
"""Points spread in the unit ball: the sphere packing of Su et al. (2016), for a ball instead of a cube."""

import numpy as np
from scipy.spatial.distance import cdist

from cloister.columns import FloatArray

PROPOSALS = 256


def uniform_ball(generator: np.random.Generator, size: int, dimension: int) -> FloatArray:
    """Draw points uniformly from the unit ball."""
    directions = generator.standard_normal((size, dimension))
    directions /= np.maximum(np.linalg.norm(directions, axis=1, keepdims=True), 1e-300)
    return np.asarray(directions * generator.random((size, 1)) ** (1 / dimension))


def uniform_box(generator: np.random.Generator, size: int, half_widths: FloatArray) -> FloatArray:
    """Draw points uniformly from the box around the origin."""
    return np.asarray((2 * generator.random((size, len(half_widths))) - 1) * half_widths)


def pack_sphere(
    generator: np.random.Generator,
    size: int,
    dimension: int,
    *,
    half_widths: FloatArray | None = None,
    radius: float = 0.5,
    tries: int = 100,
) -> FloatArray:
    """Return `size` points of the unit ball that keep their distance from each other and from the boundary.

    A random point is kept if it is at least `radius` away from the boundary and twice that from the points kept so far. After
    `tries` failures in a row the radius is halved. With `half_widths` the points fill a box instead of the ball, and keep from
    each face `radius` times the half width of the box along that axis.
    """
    kept = np.empty((size, dimension))
    count = failures = 0
    while count < size:
        inside = 1 - radius
        if half_widths is None:
            proposals = inside * uniform_ball(generator, PROPOSALS, dimension)
        else:
            proposals = inside * uniform_box(generator, PROPOSALS, half_widths)
        free = np.ones(PROPOSALS, dtype=bool)
        if count:
            free = np.asarray((cdist(proposals, kept[:count], "sqeuclidean") >= 4 * radius**2).all(axis=1))
        among = cdist(proposals, proposals, "sqeuclidean") < 4 * radius**2
        for index in range(PROPOSALS):
            if free[index]:
                kept[count] = proposals[index]
                free &= ~among[index]
                count, failures = count + 1, 0
            else:
                failures += 1
            if count == size or failures >= tries:
                break
        if failures >= tries:
            radius, failures = radius / 2, 0
    return kept
