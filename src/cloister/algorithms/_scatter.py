# SPDX-License-Identifier: Apache-2.0
"""How far the rows of each point scatter around it, by column, from noisy sums of squares. Arithmetic on public numbers."""

import numpy as np

from cloister.domain import FloatArray
from cloister.questions import Answer

__all__ = ["find_variances", "scale_to_loss"]

FEWEST_ROWS = 2.0  # a count below so many standard deviations of its noise is taken as that
LEAST = 0.05  # of the mean variance: no point and no column has less


def find_variances(squares: Answer, counts: Answer, steps: FloatArray) -> FloatArray:
    """Return the variance of the rows of each point in each column.

    Each point has a scale of its own, and all have the same proportions of columns; both are shrunk towards what all points
    show together as far as their noise demands. Only where the noise is small does a point have proportions of its own.

    Parameters
    ----------
    squares : Answer
        Noisy sums of squared offsets, of shape (n_points, n_features).
    counts : Answer
        Noisy numbers of rows.
    steps : array of shape (n_points, n_features)
        How far points moved since: offsets are measured from where they were.
    """
    n_features = steps.shape[1]
    sizes = np.maximum(counts.value, max(FEWEST_ROWS * counts.sigma, 1.0))
    means = squares.value / sizes[:, None] - steps**2
    noise = (squares.sigma / sizes) ** 2
    together = np.maximum(np.average(means, axis=0, weights=1 / noise), 0.0)
    together = np.maximum(together, LEAST * float(together.mean()))
    if not together.any():
        return np.zeros_like(means)
    scales = _shrink(means.mean(axis=1) / together.mean(), noise / n_features / together.mean() ** 2)
    expected = scales[:, None] * together
    own = _shrink(means / expected, noise[:, None] / expected**2)
    return np.asarray(np.maximum(own, LEAST) * expected)


def scale_to_loss(variances: FloatArray, weights: FloatArray, loss: float) -> FloatArray:
    """Return variances that add up to the mean squared distance of the rows from their points: clipping hides a part of it."""
    found = float(np.average(variances.sum(axis=1), weights=np.maximum(weights, 1e-300)))
    if found <= 0:
        return np.full_like(variances, loss / variances.shape[1])
    return variances * (loss / found)


def _shrink(ratios: FloatArray, variances: FloatArray) -> FloatArray:
    """Shrink noisy ratios towards one, by how much they vary beyond their noise."""
    noise = np.broadcast_to(variances, ratios.shape)
    spread = max(float(np.average((ratios - 1) ** 2 - noise, weights=noise**-2.0)), 0.0)
    part = spread / (spread + noise) if spread > 0 else np.zeros(ratios.shape)
    return np.asarray(np.maximum(1 + part * (ratios - 1), LEAST))
