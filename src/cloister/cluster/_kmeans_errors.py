# SPDX-License-Identifier: Apache-2.0
"""What KMeans' own answers tell of its errors: points that stand for the rows, and the last step of the centres."""

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from cloister.algorithms import LastStep, NoisyPoints, Refined, add_beyond, judge_solution, nearest_of
from cloister.columns import FloatArray, Frame
from cloister.privacy import Entropy
from cloister.release import Release

if TYPE_CHECKING:
    from cloister.cluster._plan import Outcome

LEAST_SCATTER = 0.05  # of the loss, within the points
ROUNDS = 10  # until columns that cannot vary as much as the others have left their part to these


def first_points(refined: Refined, frame: Frame, *, n_rows: float, loss: float) -> NoisyPoints:
    """Return the points of the first round, which are several per cluster, as what stands for the rows.

    The centres are known better by now, so points lie as far from theirs as the noise of the first round does not explain.
    Their rows scatter by what the loss leaves when the points' own distances from the centres are taken out.
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
        ends=np.where(np.repeat(frame.widths, frame.widths) == 1, frame.reach / frame.distance_unit, np.inf),
    )
    weights = np.maximum(found.weights, 1e-300)
    between = float(np.average(np.sum(offsets**2, axis=1), weights=weights))
    scatter = max(loss - between, LEAST_SCATTER * loss)
    return replace(found, variances=divide_scatter(scatter, found.points, weights, frame))


def divide_scatter(scatter: float, points: FloatArray, weights: FloatArray, frame: Frame) -> FloatArray:
    """Return the variances of the rows of points, by coordinate: together a mean squared distance from their points.

    In a column whose values lie within r of its centre, rows with the mean m vary by at most r^2 - m^2. Levels of a category,
    yes and no all lie at r, so that theirs vary by as much. The other columns vary alike, as far as their ends allow.
    """
    widths = np.array(frame.widths)
    first = np.cumsum(widths) - widths
    most = np.maximum((frame.reach[first] / frame.distance_unit) ** 2 - np.add.reduceat(points**2, first, axis=1), 0.0)
    levels = np.zeros(len(widths), dtype=bool)
    levels[: len(frame.domain.columns)] = [one.has_levels for one in frame.domain.columns]
    parts = weights / weights.sum()
    known = np.where(levels, most, 0.0)
    known *= min(1.0, scatter / max(float(parts @ known.sum(axis=1)), 1e-300))
    left, each, others = max(scatter - float(parts @ known.sum(axis=1)), 0.0), scatter / len(widths), np.zeros_like(known)
    for _ in range(ROUNDS):
        others = np.where(levels, 0.0, np.minimum(most, each * widths))
        each = min(each * left / max(float(parts @ others.sum(axis=1)), 1e-300), 1.0)
    return np.repeat((known + others) / widths, widths, axis=1)


def as_last_counted(points: NoisyPoints, centers: FloatArray, counts: FloatArray) -> NoisyPoints:
    """Return the points with counts that add up, in each cluster, to its last count, which has far less noise than theirs.

    The centre of a cluster that has no points is added to them.
    """
    counts = np.maximum(counts, 0.0)
    known = counts * (max(points.n_rows, 1.0) / max(float(counts.sum()), 1e-300))  # of the rows that were asked first
    owner, weights = nearest_of(points.points, centers), points.weights
    seen = np.bincount(owner, weights=weights, minlength=len(known))
    lost = np.flatnonzero((seen <= 0) & (known > 0))
    kept = np.where(weights > 0, weights * (known / np.maximum(seen, 1e-300))[owner], np.minimum(points.counts, 0.0))
    return replace(
        points,
        points=np.vstack([points.points, centers[lost]]),
        errors=_and_typical(points.errors, len(lost)),
        counts=np.concatenate([kept, known[lost]]),
        count_errors=_and_typical(points.count_errors, len(lost)),
        variances=np.vstack([points.variances, np.tile(points.variances.mean(axis=0), (len(lost), 1))]),
    )


def _and_typical(values: FloatArray, more: int) -> FloatArray:
    """Return values, and their median as many times more."""
    return np.concatenate([values, np.full(more, float(np.median(values)))])


@dataclass(frozen=True, kw_only=True, eq=False)
class ErrorInputs:
    """Inputs of the total error estimate: public numbers alone."""

    points: NoisyPoints  # stand for the rows
    centers: FloatArray  # as the last round left them
    last: LastStep
    row_share: float  # part of the rows that the points were counted in
    n_rows: float
    hidden: FloatArray  # standard error of a coordinate of a cluster that was not seen
    seed: int  # for drawing again

    def complete(self, release: Release, outcome: "Outcome", frame: Frame) -> Release:
        """Return the release of an outcome, which states the errors of the noise, with total errors; the same every time."""
        generator = Entropy(self.seed).public_generator()
        beyond = judge_solution(self.points, self.centers, last=self.last, generator=generator)
        noise, counts, count_noise = outcome.center_errors, outcome.counts, outcome.count_errors
        counted = as_last_counted(self.points, self.centers, counts[: len(self.centers)])
        stability = judge_solution(counted, self.centers, last=None, generator=generator).stability
        beyond = replace(beyond, count_errors=beyond.count_errors / self.row_share, stability=stability)
        total = add_beyond(noise, counts, count_noise, beyond, n_rows=self.n_rows, hidden=self.hidden, frame=frame)
        error = math.hypot(release.details["loss_error"], total.loss * frame.distance_unit**2)
        return replace(
            release,
            center_errors=frame.errors_from_unit(total.centers, outcome.centers),
            count_errors=total.counts,
            center_noise=release.center_errors,
            count_noise=release.count_errors,
            stability=total.stability,
            details={**release.details, "loss_error": error},
        )
