# SPDX-License-Identifier: Apache-2.0
"""The plane in which points are drawn: their mean and first two principal axes, with signs that can be compared."""

from dataclasses import dataclass

import numpy as np

from cloister.columns import FloatArray

DECIMALS = 5


@dataclass(frozen=True, eq=False)
class Plane:
    """An origin and two orthonormal axes; in one dimension the second is zero."""

    origin: FloatArray  # (n_features,)
    axes: FloatArray  # (n_features, 2)
    shares: tuple[float, float]  # of the spread, along each axis

    def project(self, points: FloatArray) -> FloatArray:
        """Return where points lie in the plane, as an array of shape (n_points, 2)."""
        return np.asarray((points - self.origin) @ self.axes)

    def place(self, points: FloatArray) -> list[list[float]]:
        """Return where points lie in the plane, rounded for storage."""
        placed: list[list[float]] = np.round(self.project(points), DECIMALS).tolist()
        return placed


def plane_of(points: FloatArray, weights: FloatArray | None = None) -> Plane:
    """Return the plane of public points, each as heavy as the others or by its weight."""
    n_points, n_features = points.shape
    origin = np.average(points, axis=0, weights=weights)
    if n_points == 1:
        return Plane(origin, np.eye(n_features, 2), (0.0, 0.0))
    offsets = points - origin if weights is None else np.sqrt(weights / weights.sum())[:, None] * (points - origin)
    _, lengths, rows = np.linalg.svd(offsets, full_matrices=False)
    axes = np.zeros((n_features, 2))
    axes[:, : len(rows[:2])] = rows[:2].T
    # The sign of an axis is arbitrary: let its largest entry be positive, so that pictures can be compared.
    largest = axes[np.abs(axes).argmax(axis=0), [0, 1]]
    total = float(np.sum(lengths**2))
    parts = [float(length**2) / total if total > 0 else 0.0 for length in (*lengths, 0.0, 0.0)[:2]]
    return Plane(origin, axes * np.where(largest < 0, -1.0, 1.0), (parts[0], parts[1]))
