# SPDX-License-Identifier: Apache-2.0
"""Where distances are taken: the unit ball's coordinates, or a projection of them. One public object instead of four."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from cloister.columns import FloatArray, Frame, clip_to_unit_ball

SMALLEST_RADIUS = 2.0**-7


@dataclass(frozen=True, eq=False)
class Space:
    """The image of the domain in which rows and public points are compared.

    Examples
    --------
    >>> from cloister.columns import Box
    >>> space = Space(Box([0.0, 0.0], [1.0, 1.0]).frame())
    >>> space.dimension, space.clip(np.array([[5.0, 0.0]])).round(3).tolist()
    (2, [[0.707, 0.0]])
    """

    frame: Frame  # the public map from the units of the input to the unit ball
    projection: FloatArray | None = None  # (n_features, dimension); projected points are kept in the unit ball
    origin: FloatArray | None = None  # what lies in the projection is lifted to the plane through it; None: the middle

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.frame.n_features

    @property
    def dimension(self) -> int:
        """Dimensions in which distances are taken."""
        return self.n_features if self.projection is None else int(self.projection.shape[1])

    @property
    def half_widths(self) -> FloatArray | None:
        """Half the widths of the box that holds all points; None for a ball."""
        return self.frame.half_widths if self.projection is None else None

    @property
    def reach(self) -> float:
        """The cube from minus this to this holds the points, or nearly all of them where they are projected."""
        return 1.0 if self.half_widths is None else float(self.half_widths.max())

    @property
    def full(self) -> "Space":
        """The space without the projection."""
        return self if self.projection is None else replace(self, projection=None, origin=None)

    def clip(self, points: FloatArray) -> FloatArray:
        """Move points into the domain."""
        return self.frame.clip_unit(points) if self.projection is None else clip_to_unit_ball(points)

    def project(self, points: FloatArray) -> FloatArray:
        """Return points of the full space where distances are taken."""
        return points if self.projection is None else points @ self.projection

    def lift(self, points: FloatArray) -> FloatArray:
        """Return points in the unit ball's coordinates; of a projection with orthonormal columns, inside its plane."""
        if self.projection is None:
            return points
        inside = points @ self.projection.T
        return inside if self.origin is None else inside + (self.origin - self.projection @ (self.projection.T @ self.origin))

    def draw(self, generator: np.random.Generator, count: int) -> FloatArray:
        """Draw directions in which rows may lie."""
        if self.projection is not None:
            return generator.standard_normal((count, self.dimension))
        return self.frame.draw(generator, count)

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
