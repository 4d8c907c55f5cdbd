# SPDX-License-Identifier: Apache-2.0
"""Weighted k-means of the points of a synopsis as a release, with total errors and stability."""

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from cloister import validate
from cloister.algorithms import (
    LastStep,
    NoisyPoints,
    add_beyond,
    cut_loss,
    judge_solution,
    nearest_of,
    place_of_rows,
    squares_between,
    unknown_errors,
)
from cloister.columns import FloatArray, Frame
from cloister.privacy import Entropy
from cloister.release import Release, library_versions
from cloister.synopsis._common import LARGEST_N_CLUSTERS

if TYPE_CHECKING:
    from cloister.synopsis._weighted import WeightedPoints

__all__ = ["cut_points"]

WHERE = "Synopsis.cut"


def cut_points(
    synopsis: "WeightedPoints", n_clusters: int, *, n_init: int, random_state: int | None, method: str = "PointSynopsis"
) -> Release:
    """Cluster the points of a synopsis, weighted by their counts."""
    count = validate.integer(f"{WHERE}.n_clusters", n_clusters, low=1, high=LARGEST_N_CLUSTERS)
    restarts = validate.integer(f"{WHERE}.n_init", n_init, low=1)
    generator = Entropy(random_state, where=f"{WHERE}.random_state").public_generator()
    frame, points = synopsis.frame, synopsis.noisy
    filled = points.filled()
    n_found = min(count, len(filled.points))
    found = frame.clip_unit(filled.cut(n_found, generator=generator, restarts=restarts))
    noise = _noise(filled, found, synopsis.n_rows_error)
    offsets = place_of_rows(filled, found, generator) - found
    flat = np.sqrt(np.mean(noise.centers**2, axis=1))
    beyond = judge_solution(points, found, last=LastStep(offsets=offsets, errors=flat, errors_before=flat), generator=generator)
    beyond = replace(beyond, center_errors=np.hypot(beyond.center_errors, offsets))  # rows at borders, taken point by point
    again = np.argsort(-noise.counts, kind="stable")[np.arange(count - n_found) % n_found]
    noise = noise.with_repeated(again)
    one = np.average(filled.points, axis=0, weights=filled.weights)[None]
    hidden = _hidden(filled, one, frame)
    total = add_beyond(
        noise.centers, noise.counts, noise.count_errors, beyond, n_rows=points.n_rows, hidden=hidden, frame=frame
    )
    centers = np.vstack([found, found[again]])
    squares = np.min(squares_between(filled.points, found), axis=1)
    noise_of_loss = math.sqrt(float(np.sum((filled.count_errors * squares) ** 2))) / points.n_rows
    unit = frame.distance_unit**2
    return Release(
        method=method,
        parameters={"n_clusters": count, "n_points": synopsis.n_points, "max_clusters": synopsis.max_clusters},
        cluster_centers=frame.from_unit(centers),
        center_errors=frame.errors_from_unit(total.centers, centers),
        cluster_counts=noise.counts,
        count_errors=total.counts,
        center_noise=frame.errors_from_unit(noise.centers, centers),
        count_noise=noise.count_errors,
        stability=total.stability,
        domain=synopsis.domain,
        scaling=synopsis.scaling,
        receipt=synopsis.receipt,
        feature_names=synopsis.feature_names,
        cells=synopsis.column_cells,
        steps=synopsis.steps,
        details={
            "loss": unit * cut_loss(filled, found),
            "loss_error": unit * math.hypot(noise_of_loss, total.loss, filled.scatter_error),
            "loss_of_one_centre": unit * cut_loss(filled, one),
        },
        versions=synopsis.versions or library_versions(),
    )


@dataclass(frozen=True, eq=False)
class _Noise:
    """Counts of clusters, and the errors that the noise of their points makes."""

    centers: FloatArray  # of shape (n_clusters, n_features)
    counts: FloatArray
    count_errors: FloatArray

    def with_repeated(self, again: np.ndarray) -> "_Noise":
        """Return the same with some clusters listed again, without rows of their own."""
        return _Noise(
            np.vstack([self.centers, self.centers[again]]),
            np.concatenate([self.counts, np.zeros(len(again))]),
            np.concatenate([self.count_errors, self.count_errors[again]]),
        )


def _noise(points: NoisyPoints, centers: FloatArray, n_rows_error: float) -> _Noise:
    """Return counts and errors: to first order, errors of points and those of their counts move a weighted mean.

    Counts add up to the number of rows: what they differ by is spread evenly over the points, with the error of that number.
    """
    owner, size, weights = nearest_of(points.points, centers), len(centers), points.weights

    def add(values: FloatArray) -> FloatArray:
        return np.stack([np.bincount(owner, weights=column, minlength=size) for column in values.T], axis=1)

    counts = np.bincount(owner, weights=weights, minlength=size).astype(np.float64)
    offsets = points.points - centers[owner]
    moved = add((points.count_errors[:, None] * offsets) ** 2 + (weights * points.errors)[:, None] ** 2)
    part = np.bincount(owner, minlength=size) / len(weights)
    variances = np.bincount(owner, weights=points.count_errors**2, minlength=size)
    count_errors = np.sqrt(variances * (1 - part) + (part * n_rows_error) ** 2)
    smallest = float(np.min(points.count_errors))
    errors = np.sqrt(moved) / np.maximum(counts, smallest)[:, None]
    return _Noise(np.minimum(errors, 1.0), counts, np.maximum(count_errors, smallest))


def _hidden(points: NoisyPoints, mean: FloatArray, frame: Frame) -> FloatArray:
    """Return the standard error of a coordinate of a cluster that was not seen: how far rows lie from their mean."""
    if not points.stand_out:
        return unknown_errors(frame)
    return np.full(frame.n_features, math.sqrt(cut_loss(points, mean) / frame.n_features))
