# SPDX-License-Identifier: Apache-2.0
"""Weighted k-means of points or cells, with the errors of the centres; and cells put together where all take too long."""

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from cloister.algorithms import (
    CellNoise,
    LastStep,
    NoisyPoints,
    TotalErrors,
    add_beyond,
    cut_loss,
    judge_solution,
    nearest_of,
    nearest_squares,
    place_of_rows,
    unknown_errors,
    weighted_kmeans,
)
from cloister.columns import FloatArray, IntArray

if TYPE_CHECKING:
    from cloister.synopsis._points import Points

MOST_POINTS = 256
MOST_CELLS = 1 << 14  # beyond it even putting cells together takes long


@dataclass(frozen=True, kw_only=True, eq=False)
class Cut:
    """Centres with their errors, in the coordinates of the unit ball."""

    centers: FloatArray  # of shape (n_clusters, n_features)
    counts: FloatArray
    noise: FloatArray  # standard errors of the centres that noise alone makes
    count_noise: FloatArray
    total: TotalErrors | None  # None: of a grid too large to be drawn again
    losses: dict[str, float]  # mean squared distance to the centres, its error, and that to the mean


def cut(points: "Points", n_clusters: int, *, n_init: int, representatives: str, generator: np.random.Generator) -> Cut:
    """Cluster the points, weighted by their counts.

    Where there are fewer points with rows than clusters, points are listed again; cells of a grid leave room elsewhere, so that
    further centres are spread in its box.
    """
    frame, whole = points.frame, points.cloud(representatives)
    filled = whole.filled()
    # The noise of cells without rows is in all sums; points that the noise explains away are no places at all.
    counted = filled if points.grid is None else whole
    n_found = min(n_clusters, len(filled.points))
    found = frame.clip_unit(filled.cut(n_found, generator=generator, restarts=n_init))
    judged = _judge(counted, points.noise, found, points.n_rows_error, n_clusters)
    again = judged.found[n_found:]
    one = np.average(filled.points, axis=0, weights=np.maximum(filled.weights, 1e-300))[None]
    total = None
    if points.grid is None or len(whole.points) <= MOST_CELLS:
        total = _total_errors(points, filled, found, judged, one, generator)
    squares = nearest_squares(counted.points, found) + np.sum(counted.variances, axis=1)
    noise_of_loss = float(points.noise.of_sums(squares)[0]) / counted.n_rows
    beyond = 0.0 if total is None else total.loss
    return Cut(
        centers=np.vstack([found, found[again] if points.grid is None else frame.draw(generator, len(again))]),
        counts=judged.counts,
        noise=judged.errors,
        count_noise=judged.count_errors,
        total=total,
        losses={
            "loss": loss_of(points, counted, found),
            "loss_error": math.hypot(noise_of_loss, beyond, filled.scatter_error),
            "loss_of_one_centre": loss_of(points, counted, one),
        },
    )


def loss_of(points: "Points", counted: NoisyPoints, centers: FloatArray) -> float:
    """Return the mean squared distance to the centres.

    That of cells is by their noisy counts as they are: the noise of empty cells far off, made non-negative, would add up. It is
    at least what even rows scatter within their cells.
    """
    if points.grid is None:
        return cut_loss(counted, centers)
    squares = nearest_squares(counted.points, centers) + np.sum(counted.variances, axis=1)
    return max(float(counted.counts @ squares) / counted.n_rows, counted.scatter)


@dataclass(frozen=True, eq=False)
class _Judged:
    """Counts of clusters, and the errors that the noise of their points makes; also of those that are listed again."""

    found: IntArray  # which one a cluster is; those that were found come first
    counts: FloatArray  # zero of what is listed again
    count_errors: FloatArray
    errors: FloatArray  # of shape (n_clusters, n_features)


def _judge(points: NoisyPoints, noise: CellNoise, centers: FloatArray, n_rows_error: float, n_clusters: int) -> _Judged:
    """Return counts and errors: to first order, errors of points and those of their counts move a weighted mean.

    Counts add up to the number of rows: what they differ by is spread evenly over the points, with the error of that number.
    """
    owner, size, weights = nearest_of(points.points, centers), len(centers), points.weights
    counts = np.bincount(owner, weights=weights, minlength=size).astype(np.float64)
    moved = (weights * points.errors) ** 2
    offsets = (points.points - centers[owner]).T
    errors = np.stack([noise.of_sums(column, owner, size, besides=moved) for column in offsets], axis=1)
    part = np.bincount(owner, minlength=size) / len(weights)
    variances = noise.variances_of_sums(np.ones(len(owner)), owner, size)
    count_errors = np.sqrt(variances * (1 - part) + (part * n_rows_error) ** 2)
    again = np.argsort(-counts, kind="stable")[np.arange(n_clusters - size) % size]
    found = np.concatenate([np.arange(size), again])
    return _Judged(
        found,
        np.concatenate([counts, np.zeros(len(again))]),
        np.maximum(count_errors, noise.sigma)[found],
        np.minimum(errors / np.maximum(counts, noise.sigma)[:, None], 1.0)[found],
    )


def _total_errors(
    points: "Points", filled: NoisyPoints, centers: FloatArray, judged: _Judged, one: FloatArray, generator: np.random.Generator
) -> TotalErrors:
    """Return errors with the choice among solutions; `one` is the mean."""
    frame, rows = points.frame, points.few(generator)
    offsets = place_of_rows(rows.filled(), centers, generator) - centers
    flat = np.sqrt(np.mean(judged.errors[: len(centers)] ** 2, axis=1))
    last = LastStep(offsets=offsets, errors=flat, errors_before=flat)
    beyond = judge_solution(rows, centers, last=last, generator=generator)
    beyond = replace(beyond, center_errors=np.hypot(beyond.center_errors, offsets))  # rows at borders, taken point by point
    hidden = unknown_errors(frame)
    if points.stand_out:
        hidden = np.full(frame.n_features, math.sqrt(cut_loss(filled, one) / frame.n_features))
    total = add_beyond(
        judged.errors, judged.counts, judged.count_errors, beyond, n_rows=rows.n_rows, hidden=hidden, frame=frame
    )
    if points.grid is None:
        return total
    within = _within_cells(filled, centers)[judged.found]
    return replace(total, centers=np.minimum(np.hypot(total.centers, within), unknown_errors(frame)))


def _within_cells(cells: NoisyPoints, centers: FloatArray) -> FloatArray:
    """Return the standard error of centres that comes from not knowing where in their cell rows lie.

    Rows of a single cell may all lie at one place of it. Of clusters that spread over several cells, what is too far in one is
    nearly made up for in the next: the error falls with the chance that two rows share a cell.
    """
    owner, size, mass, inside = nearest_of(cells.points, centers), len(centers), cells.weights, np.sqrt(cells.variances)
    total = np.maximum(np.bincount(owner, weights=mass, minlength=size), 1e-150)
    parts = [np.bincount(owner, weights=mass**2 * column, minlength=size) / total**2 for column in inside.T]
    return np.asarray(np.where(total[:, None] > 1e-150, np.stack(parts, axis=1), inside.max(axis=0)))


def put_together(cells: NoisyPoints, noise: CellNoise, generator: np.random.Generator) -> NoisyPoints:
    """Return at most 256 points; each stands for the cells that are nearest to it, the empty ones with their noise included."""
    weights, filled = cells.weights, cells.filled()
    places = filled.points
    if len(places) > MOST_POINTS:
        places = weighted_kmeans(places, filled.weights, MOST_POINTS, generator=generator, restarts=1)
    owner, size = nearest_of(cells.points, places), len(places)
    total = np.bincount(owner, weights=weights, minlength=size)
    share = np.where(total[owner] > 0, weights / np.maximum(total[owner], 1e-300), 0.0)

    def means(values: FloatArray, without_rows: FloatArray) -> FloatArray:
        found = np.stack([np.bincount(owner, weights=share * column, minlength=size) for column in values.T], axis=1)
        return np.asarray(np.where(total[:, None] > 0, found, without_rows))

    centers = means(cells.points, places)
    return NoisyPoints(
        points=centers,
        errors=np.zeros(size),
        counts=np.bincount(owner, weights=cells.counts, minlength=size).astype(np.float64),
        count_errors=noise.of_counts(owner, size),
        variances=means((cells.points - centers[owner]) ** 2 + cells.variances, cells.variances.mean(axis=0)),
        n_rows=cells.n_rows,
        resolution=cells.resolution,
    )
