# SPDX-License-Identifier: Apache-2.0
"""Where TreeKMeans takes distances: the unit ball's coordinates, or a random projection of them."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cloister.algorithms import random_projection
from cloister.domain import FloatArray, Frame

__all__ = ["Space", "auto_dimension", "make_space"]

FEWEST_DIMENSIONS, MOST_DIMENSIONS = 4, 8  # to project to, by default
SMALLEST_RADIUS = 2.0**-7


@dataclass(frozen=True, kw_only=True, eq=False)
class Space:
    """Where distances are taken: the unit ball's coordinates, or a random projection of them."""

    dimension: int
    reach: float  # the cube from minus this to this holds the rows, or nearly all of them where they are projected
    half_widths: FloatArray | None  # of a box that holds them
    projection: FloatArray | None

    def touches(self, low: FloatArray, high: FloatArray) -> npt.NDArray[np.bool_]:
        """Say which boxes meet the domain; projected rows may lie anywhere."""
        if self.projection is not None:
            return np.ones(len(low), dtype=bool)
        if self.half_widths is not None:
            return np.asarray(((low <= self.half_widths) & (high >= -self.half_widths)).all(axis=1))
        return np.asarray(np.sum(np.clip(0.0, low, high) ** 2, axis=1) <= 1.0)

    def radius(self, n_clusters: int) -> float:
        """Return the radius of a ball with 1/k of the volume of one as wide as the domain."""
        return max(float(self.reach * n_clusters ** (-1 / self.dimension)), SMALLEST_RADIUS)


def auto_dimension(n_rows: float, n_features: int) -> int:
    """Return how many dimensions a tree for so many rows can afford."""
    wanted = int(math.log2(max(n_rows, 1.0)) / 2)
    return min(n_features, max(FEWEST_DIMENSIONS, min(wanted, MOST_DIMENSIONS)))


def make_space(frame: Frame, dimension: int, generator: np.random.Generator) -> Space:
    """Return the space of the frame's columns, or a random projection of it."""
    if dimension < frame.n_features:
        projection = random_projection(generator, frame.n_features, dimension)
        return Space(dimension=dimension, reach=1.0, half_widths=None, projection=projection)
    reach = 1.0 if frame.half_widths is None else float(frame.half_widths.max())
    return Space(dimension=dimension, reach=reach, half_widths=frame.half_widths, projection=None)
