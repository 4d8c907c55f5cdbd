# SPDX-License-Identifier: Apache-2.0
"""How far the rows of each point scatter around it, by column, from noisy sums of squares. Arithmetic on public numbers."""

import math
from dataclasses import dataclass

import numpy as np

from cloister.columns import FloatArray
from cloister.questions import Answer

FEWEST_ROWS = 2.0  # a count below so many standard deviations of its noise is taken as that
LEAST = 0.05  # of the mean variance: no point and no column has less


@dataclass(frozen=True, eq=False)
class Scatter:
    """The variances of the rows around their points, and how well they are known."""

    variances: FloatArray  # of shape (n_points, n_features)
    error: float  # standard error that noise gives the mean squared distance of a row from its point

    def times(self, factor: float) -> "Scatter":
        """Return the scatter of rows that lie farther out, by a factor that may be wrong by half of what it adds."""
        added = (factor - 1) * float(np.mean(np.sum(self.variances, axis=1)))
        return Scatter(self.variances * factor, math.hypot(self.error * factor, added / 2))

    @classmethod
    def even(cls, shape: tuple[int, ...], mean: float, error: float) -> "Scatter":
        """Return a scatter that is the same in all columns of all points."""
        return cls(np.full(shape, mean / shape[1]), error)

    def averaged(self, mean: float, error: float, *, weights: FloatArray) -> "Scatter":
        """Return the same proportions with a mean squared distance that is known from elsewhere too, each by its error."""
        own = float(np.average(np.sum(self.variances, axis=1), weights=weights))
        both = max(self.error, error, 1e-300)
        part = (error / both) ** 2 / max((error / both) ** 2 + (self.error / both) ** 2, 1e-300)
        level = part * own + (1 - part) * mean
        level_error = math.sqrt(part) * self.error
        if own <= 0:
            return Scatter.even(self.variances.shape, level, level_error)
        return Scatter(self.variances * (level / own), level_error)


def find_scatter(squares: Answer, counts: Answer, steps: FloatArray) -> Scatter:
    """Return the variance of the rows of each point in each column, from noisy sums of squared offsets and noisy counts.

    Each point has a scale of its own, and all have the same proportions of columns; both are shrunk towards what all points
    show together as far as their noise demands. Only where the noise is small does a point have proportions of its own. Offsets
    were measured from where points were before they moved by `steps`.
    """
    n_features = steps.shape[1]
    sizes = np.maximum(counts.value, max(FEWEST_ROWS * counts.sigma, 1.0))
    means = squares.value / sizes[:, None] - steps**2
    noise = (squares.sigma / sizes) ** 2
    error = squares.sigma * math.sqrt(means.size) / float(sizes.sum())
    together = np.average(means, axis=0, weights=1 / noise)
    level = float(together.mean())
    if level <= 0:
        return Scatter(np.zeros_like(means), error)
    together = level * _shrink(together / level, np.full(n_features, 1 / float(np.sum(1 / noise)) / level**2))
    scales = _shrink(means.mean(axis=1) / together.mean(), noise / n_features / together.mean() ** 2)
    expected = scales[:, None] * together
    own = _shrink(means / expected, noise[:, None] / expected**2)
    return Scatter(own * expected, error)


def _shrink(ratios: FloatArray, variances: FloatArray) -> FloatArray:
    """Shrink noisy ratios towards one, by how much they vary beyond their noise."""
    noise = np.broadcast_to(variances, ratios.shape)
    spread = max(float(np.average((ratios - 1) ** 2 - noise, weights=noise**-2.0)), 0.0)
    part = spread / (spread + noise) if spread > 0 else np.zeros(ratios.shape)
    return np.asarray(np.maximum(1 + part * (ratios - 1), LEAST))
