# SPDX-License-Identifier: Apache-2.0
"""What KMeans' own answers tell of its errors: points that stand for the rows, and the last step of the centres."""

from dataclasses import replace

import numpy as np

from cloister.algorithms import Beyond, LastStep, NoisyPoints, Refined, judge_solution, nearest_of

__all__ = ["first_points", "judge_refined"]

LEAST_SCATTER = 0.05  # of the loss, within the points


def first_points(refined: Refined, *, n_rows: float, loss: float) -> NoisyPoints:
    """Return the points of the first round, which are several per cluster, as what stands for the rows.

    Their rows scatter alike in all directions, by what the loss leaves when the points' own distances from the centres are
    taken out.
    """
    first = refined.moves[0]
    n_points, n_features = first.points.shape
    found = NoisyPoints(
        points=first.points,
        errors=first.errors,
        counts=first.counts,
        count_errors=np.full(n_points, first.count_sigma),
        variances=np.zeros((n_points, n_features)),
        n_rows=n_rows,
    )
    offsets = first.points - refined.centers[nearest_of(first.points, refined.centers)]
    weights = np.maximum(found.weights, 1e-300)
    between = float(np.average(np.sum(offsets**2, axis=1), weights=weights))
    scatter = max(loss - between, LEAST_SCATTER * loss) / n_features
    return replace(found, variances=np.full((n_points, n_features), scatter))


def judge_refined(refined: Refined, points: NoisyPoints, *, generator: np.random.Generator) -> Beyond:
    """Return what adds to the noise of the last round."""
    last = LastStep(offsets=refined.last_offsets, errors=refined.errors, errors_before=refined.errors_before)
    return judge_solution(points, refined.centers, last=last, generator=generator)
