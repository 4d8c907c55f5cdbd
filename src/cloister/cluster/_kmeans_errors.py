# SPDX-License-Identifier: Apache-2.0
"""What KMeans' own answers tell of its errors: points that stand for the rows, and the last step of the centres."""

from dataclasses import dataclass, replace

import numpy as np

from cloister.algorithms import LastStep, NoisyPoints, Refined, TotalErrors, add_beyond, judge_solution, nearest_of
from cloister.columns import FloatArray, Frame
from cloister.privacy import Entropy

__all__ = ["Unjudged", "first_points"]

LEAST_SCATTER = 0.05  # of the loss, within the points


def first_points(refined: Refined, *, n_rows: float, loss: float) -> NoisyPoints:
    """Return the points of the first round, which are several per cluster, as what stands for the rows.

    The centres are known better by now, so points lie as far from theirs as the noise of the first round does not explain.
    Their rows scatter alike in all directions, by what the loss leaves when the points' own distances from the centres are
    taken out.
    """
    first = refined.moves[0]
    n_points, n_features = first.points.shape
    nearest = refined.centers[nearest_of(first.points, refined.centers)]
    offsets = first.points - nearest
    squares = np.maximum(np.sum(offsets**2, axis=1), 1e-300)
    offsets *= np.sqrt(np.maximum(1 - n_features * first.errors**2 / squares, 0.0))[:, None]
    found = NoisyPoints(
        points=nearest + offsets,
        errors=first.errors,
        counts=first.counts,
        count_errors=np.full(n_points, first.count_sigma),
        variances=np.zeros((n_points, n_features)),
        n_rows=n_rows,
    )
    weights = np.maximum(found.weights, 1e-300)
    between = float(np.average(np.sum(offsets**2, axis=1), weights=weights))
    scatter = max(loss - between, LEAST_SCATTER * loss) / n_features
    return replace(found, variances=np.full((n_points, n_features), scatter))


@dataclass(frozen=True, kw_only=True, eq=False)
class Unjudged:
    """What it takes to tell the total errors of a fit: public numbers alone."""

    points: NoisyPoints  # stand for the rows
    centers: FloatArray  # as the last round left them
    last: LastStep
    row_share: float  # part of the rows that the points were counted in
    n_rows: float
    hidden: FloatArray  # standard error of a coordinate of a cluster that was not seen
    seed: int  # for drawing again

    def total(self, noise: FloatArray, counts: FloatArray, count_noise: FloatArray, *, frame: Frame) -> TotalErrors:
        """Return total errors of k centres with these errors of the noise."""
        generator = Entropy(self.seed).public_generator()
        beyond = judge_solution(self.points, self.centers, last=self.last, generator=generator)
        beyond = replace(beyond, count_errors=beyond.count_errors / self.row_share)
        return add_beyond(noise, counts, count_noise, beyond, n_rows=self.n_rows, hidden=self.hidden, frame=frame)
