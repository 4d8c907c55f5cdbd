# SPDX-License-Identifier: Apache-2.0
"""Weighted k-means of the cells of a synopsis as a release, and a warning where there are fewer cells than clusters."""

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from cloister import validate
from cloister.algorithms import (
    Beyond,
    TotalErrors,
    add_beyond,
    cluster_cells,
    cut_loss,
    judge_solution,
    nearest_cell,
    squares_to,
    unknown_errors,
)
from cloister.columns import FloatArray
from cloister.exceptions import AccuracyWarning, warn
from cloister.privacy import Entropy
from cloister.release import Release, library_versions
from cloister.synopsis._cells import CellClusters, judge_clusters
from cloister.synopsis._coarse import MOST_CELLS
from cloister.synopsis._common import LARGEST_N_CLUSTERS

if TYPE_CHECKING:
    from cloister.synopsis._synopsis import Synopsis

__all__ = ["cut_cells", "few_cells_words", "warn_of_few_cells"]

WHERE = "Synopsis.cut"
SEEN_BY_CELLS = 8.0  # standard deviations of the sum of all cells: from so many rows on they tell where rows lie
CELLS_PER_CLUSTER = 4  # of the grid that a warning recommends


def cut_cells(synopsis: "Synopsis", n_clusters: int, *, n_init: int, representatives: str, random_state: int | None) -> Release:
    """Cluster the cells of a synopsis, weighted by their counts."""
    count = validate.integer(f"{WHERE}.n_clusters", n_clusters, low=1, high=LARGEST_N_CLUSTERS)
    restarts = validate.integer(f"{WHERE}.n_init", n_init, low=1)
    generator = Entropy(random_state, where=f"{WHERE}.random_state").public_generator()
    frame, half_widths = synopsis.frame, synopsis.frame.half_widths
    assert half_widths is not None
    mass = np.maximum(synopsis.cell_weights, 0.0)
    points = synopsis.cell_points(representatives)
    centers = cluster_cells(points, mass, count, generator, restarts=restarts, half_widths=half_widths)
    found = judge_clusters(points, mass, centers, noise=synopsis.noise)
    total = _total_errors(synopsis, found, centers, generator, within=_within_cells(synopsis, points, mass, centers))
    losses = _losses(synopsis, points, mass, centers, 0.0 if total is None else total.loss)
    return Release(
        method="GridKMeans",
        parameters={
            "n_clusters": count,
            "cells": list(synopsis.cells),
            **({} if synopsis.split is None else {"rule": "adaptive", "leaves": synopsis.n_cells}),
            "counts": synopsis.counts,
            "representatives": representatives,
        },
        cluster_centers=frame.from_unit(centers),
        center_errors=(found.center_errors if total is None else total.centers) * frame.scale,
        cluster_counts=found.counts,
        count_errors=found.count_errors if total is None else total.counts,
        center_noise=None if total is None else found.center_errors * frame.scale,
        count_noise=None if total is None else found.count_errors,
        stability=None if total is None else total.stability,
        domain=synopsis.table,
        scaling=synopsis.scaling,
        receipt=synopsis.receipt,
        feature_names=synopsis.feature_names,
        cells=synopsis.column_cells,
        steps=synopsis.steps,
        details={name: value * frame.distance_unit**2 for name, value in losses.items()},
        versions=synopsis.versions or library_versions(),
    )


def _losses(synopsis: "Synopsis", points: FloatArray, mass: FloatArray, centers: FloatArray, choice: float) -> dict[str, float]:
    """Return the mean squared distance to the centres with its error, and that to the mean; rows spread evenly in a cell."""
    weights = mass / max(float(mass.sum()), 1.0)
    within = np.broadcast_to(np.sum(synopsis.cell_half_widths**2, axis=-1) / 3, weights.shape)
    inside = float(np.average(within, weights=weights if weights.any() else None))
    squares = squares_to(points, centers)
    noise = float(synopsis.noise.of_sums(squares)[0]) / max(synopsis.n_rows, 1.0)
    around = np.sum((points - weights @ points) ** 2, axis=1)
    return {
        "loss": float(weights @ squares) + inside,
        "loss_error": math.hypot(noise, choice),
        "loss_of_one_centre": float(weights @ around) + inside,
    }


def _total_errors(
    synopsis: "Synopsis", found: CellClusters, centers: FloatArray, generator: np.random.Generator, *, within: FloatArray
) -> TotalErrors | None:
    """Return errors with the choice among solutions; None of a grid too large to be drawn again.

    Where there are fewer cells than clusters there is no choice: those beyond one per cell have no rows, and no place.
    """
    if synopsis.n_cells > MOST_CELLS:
        return None
    points = synopsis.noisy_points(generator)
    if len(centers) > synopsis.n_cells:
        beyond = Beyond(
            center_errors=np.zeros_like(centers), count_errors=np.zeros(len(centers)), loss_error=0.0, stability=None
        )
    else:
        beyond = judge_solution(points, centers, last=None, generator=generator)
    hidden = unknown_errors(synopsis.frame)
    if synopsis.n_rows >= SEEN_BY_CELLS * synopsis.sum_error:
        mean = np.average(points.points, axis=0, weights=np.maximum(points.weights, 1e-300))[None]
        hidden = np.full(centers.shape[1], math.sqrt(cut_loss(points, mean) / centers.shape[1]))
    total = add_beyond(
        found.center_errors,
        found.counts,
        found.count_errors,
        beyond,
        n_rows=points.n_rows,
        hidden=hidden,
        frame=synopsis.frame,
    )
    return replace(total, centers=np.minimum(np.hypot(total.centers, within), unknown_errors(synopsis.frame)))


def _within_cells(synopsis: "Synopsis", points: FloatArray, mass: FloatArray, centers: FloatArray) -> FloatArray:
    """Return the standard error of centres that comes from not knowing where in their cell rows lie.

    Rows of a single cell may all lie at one place of it. Of clusters that spread over several cells, what is too far in one is
    nearly made up for in the next: the error falls with the chance that two rows share a cell.
    """
    owner, size = nearest_cell(points, centers), len(centers)
    halves = np.broadcast_to(synopsis.cell_half_widths, points.shape)
    total = np.maximum(np.bincount(owner, weights=mass, minlength=size), 1e-150)
    parts = [np.bincount(owner, weights=mass**2 * half, minlength=size) / total**2 for half in halves.T]
    widest = halves.max(axis=0)
    return np.asarray(np.where(total[:, None] > 1e-150, np.stack(parts, axis=1), widest) / math.sqrt(3))


def warn_of_few_cells(where: str, synopsis: "Synopsis", n_clusters: int) -> None:
    """Warn, from public numbers alone, where a grid cannot tell so many clusters apart."""
    n_cells = synopsis.n_cells
    if n_cells < n_clusters:
        words = few_cells_words(n_clusters, n_cells, synopsis.n_features)
        warn(f"{where}.n_clusters: {words}", AccuracyWarning)


def few_cells_words(n_clusters: int, n_cells: int, n_features: int) -> str:
    """Say what comes of fewer cells than clusters, and what to do."""
    finer = math.ceil((CELLS_PER_CLUSTER * n_clusters) ** (1 / n_features))
    cells = "1 cell" if n_cells == 1 else f"{n_cells:,} cells"
    return (
        f"{n_clusters:,} clusters of {cells}: the centres beyond one per cell lie at random places. "
        f"Ask for at most {n_cells:,}, or fit a finer grid, such as rule={finer}."
    )
