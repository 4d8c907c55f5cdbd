# SPDX-License-Identifier: Apache-2.0
"""The plane that shows public points best: their first two principal axes."""

from dataclasses import dataclass

import numpy as np

from cloister.domain import FloatArray

__all__ = ["Plane", "principal_plane"]


@dataclass(frozen=True, eq=False)
class Plane:
    """An origin and two orthonormal axes; in one dimension the second axis is zero."""

    origin: FloatArray  # (n_features,)
    axes: FloatArray  # (n_features, 2)
    shares: tuple[float, float]  # of the spread of the points, along each axis

    def project(self, points: FloatArray) -> FloatArray:
        """Return points as positions in the plane, of shape (n_points, 2)."""
        return np.asarray((points - self.origin) @ self.axes)


def principal_plane(points: FloatArray) -> Plane:
    """Return the plane through the mean of the points in which they are spread most.

    The sign of an axis is arbitrary: its largest entry is made positive, so that pictures can be compared.

    Examples
    --------
    >>> import numpy as np
    >>> principal_plane(np.array([[0.0, 1.0], [0.0, 3.0]])).project(np.array([[0.0, 2.5]])).round(2)
    array([[0.5, 0. ]])
    """
    origin = points.mean(axis=0)
    _, lengths, rows = np.linalg.svd(points - origin, full_matrices=min(points.shape) < 2)
    axes = np.zeros((points.shape[1], 2))
    axes[:, : min(2, len(rows))] = rows[:2].T
    largest = axes[np.abs(axes).argmax(axis=0), [0, 1]]
    variances = lengths**2
    total = float(variances.sum())
    first, second = (float(one / total) if total > 0 else 0.0 for one in [*variances[:2], 0.0][:2])
    return Plane(origin, axes * np.where(largest < 0, -1.0, 1.0), (first, second))
