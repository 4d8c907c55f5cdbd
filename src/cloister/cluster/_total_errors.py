# SPDX-License-Identifier: Apache-2.0
"""Total errors of released centres: beyond noise, also the choice among solutions, and clusters that are not seen at all."""

import math
from dataclasses import dataclass, replace

import numpy as np

from cloister.algorithms import Beyond, LastStep, NoisyPoints, Refined, judge_solution, nearest_of
from cloister.domain import FloatArray, Frame
from cloister.release import stands_out

__all__ = ["TotalErrors", "add_beyond", "first_points", "judge_refined", "unknown_errors"]

WITHIN_RANGE = 0.95 / 1.96  # of half a range: an interval of 1.96 errors around its middle then covers 95 % of it
LEAST_SCATTER = 0.05  # of the loss, within the points


@dataclass(frozen=True, kw_only=True, eq=False)
class TotalErrors:
    """Standard errors against k-means on the same rows, in the coordinates of the unit ball."""

    centers: FloatArray  # of shape (n_clusters, n_features)
    counts: FloatArray
    loss: float  # beyond the noise of the loss itself
    stability: FloatArray | None


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


def add_beyond(
    noise: FloatArray,
    counts: FloatArray,
    count_noise: FloatArray,
    beyond: Beyond,
    *,
    n_rows: float,
    hidden: FloatArray,
    frame: Frame,
) -> TotalErrors:
    """Return total errors of k centres, of which the first are those that were judged and the others are listed again.

    A cluster that does not stand out of the noise may be anywhere among the rows: `hidden`. Those that stand out hold its rows
    besides their own, one of them for each that does not; which of them is not known. Where the whole table does not stand
    out, no cluster does.
    """
    missing = len(counts) - len(beyond.count_errors)
    centers = np.hypot(noise, np.concatenate([beyond.center_errors, np.zeros((missing, noise.shape[1]))]))
    unseen = ~stands_out(np.minimum(counts, n_rows), count_noise)
    n_unseen = int(np.count_nonzero(unseen))
    part = np.where(unseen, 1.0, min(1.0, n_unseen / max(len(unseen) - n_unseen, 1)))
    centers = np.hypot(centers, np.sqrt(part)[:, None] * hidden)
    stability = None
    if beyond.stability is not None:
        stability = np.where(unseen, 0.0, np.concatenate([beyond.stability, np.zeros(missing)]))
    return TotalErrors(
        centers=np.minimum(centers, unknown_errors(frame)),
        counts=np.hypot(count_noise, np.concatenate([beyond.count_errors, np.zeros(missing)])),
        loss=beyond.loss_error,
        stability=stability,
    )


def unknown_errors(frame: Frame) -> FloatArray:
    """Return the standard error, per coordinate, of a point that may be anywhere in the domain."""
    if frame.half_widths is None:
        return np.full(frame.n_features, 1 / math.sqrt(frame.n_features + 2))  # evenly spread in the unit ball
    return np.asarray(WITHIN_RANGE * frame.half_widths)
