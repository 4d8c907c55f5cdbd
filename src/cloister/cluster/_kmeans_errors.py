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


def first_points(refined: Refined, frame: Frame, *, n_rows: float, loss: float) -> NoisyPoints:
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
    scatter = max(loss - between, LEAST_SCATTER * loss)
    return replace(found, ends=(frame.reach/frame.distance_unit if max(frame.widths)==1 else None), variances=divide_scatter(scatter, found.points, weights, frame))


def divide_scatter(scatter: float, points: FloatArray, weights: FloatArray, frame: Frame) -> FloatArray:
    """Return the variances of the rows of points, by coordinate, whose weighted mean adds up to a mean squared distance.

    Rows whose mean is m, in a column whose values lie within a distance r of its centre, have a variance of at most r^2 - m^2;
    the levels of a category, and yes and no, all lie at that distance, so that theirs is as large. Other columns have equal
    variances as far as that allows.
    """
    widths = np.repeat(frame.widths, frame.widths)
    owner = np.repeat(np.arange(len(frame.widths)), frame.widths)
    squares = np.stack([np.bincount(owner, weights=row) for row in points**2])[:, owner]
    most = np.maximum((frame.reach / frame.distance_unit) ** 2 - squares, 0.0) / widths
    levels = np.array([one.has_levels for one in frame.domain.columns])[owner] if len(frame.domain.columns) else np.zeros(len(owner), dtype=bool)
    levels = np.broadcast_to(levels, owner.shape)
    whole = weights / weights.sum()
    fixed = np.where(levels, most, 0.0)
    fixed *= min(1.0, scatter / max(float(whole @ fixed.sum(axis=1)), 1e-300))
    left = scatter - float(whole @ fixed.sum(axis=1))
    level = left / max(len(owner) - np.count_nonzero(levels), 1)
    for _ in range(20):
        free = np.where(levels, 0.0, np.minimum(most, level))
        level *= left / max(float(whole @ free.sum(axis=1)), 1e-300) if left > 0 else 0
        level = min(level, 4.0)
    return fixed + free


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
        beyond = replace(beyond, count_errors=beyond.count_errors / self.row_share)
        noise, counts, count_noise = outcome.center_errors, outcome.counts, outcome.count_errors
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
