# SPDX-License-Identifier: Apache-2.0
"""Arithmetic on the cells of a synopsis: where their rows are, how clusters of them err, and how many rows a box holds."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cloister import validate
from cloister.algorithms import CellNoise, nearest_cell
from cloister.columns import Box, FloatArray

__all__ = ["REPRESENTATIVES", "CellClusters", "RangeCount", "cell_points", "count_box", "judge_clusters"]

REPRESENTATIVES = ("center", "slope")


@dataclass(frozen=True)
class RangeCount:
    """A noisy number of rows in a box, with what makes it uncertain."""

    value: float
    noise_error: float  # standard deviation of the noise of the cells that were added
    edge_error: float  # standard deviation from cells the box cuts through, whose rows are taken to be spread evenly

    @property
    def standard_error(self) -> float:
        """Both together."""
        return math.hypot(self.noise_error, self.edge_error)

    def __str__(self) -> str:
        return f"{self.value:,.0f} ± {self.standard_error:,.0f}"


def count_box(box: Box, edges: Sequence[FloatArray], noisy_counts: FloatArray, *, noise: CellNoise) -> RangeCount:
    """Add up the cells in a box; those that it cuts through count with the part of them inside it.

    Of a split grid `noisy_counts` are those of the leaves, one after the other, and `edges` those of the finest cells.
    """
    share: FloatArray = np.ones(())
    for axis, ends in enumerate(edges):
        low, high = np.atleast_1d(box.low)[axis], np.atleast_1d(box.high)[axis]
        overlap = np.minimum(ends[1:], high) - np.maximum(ends[:-1], low)
        share = np.multiply.outer(share, np.clip(overlap / np.diff(ends), 0.0, 1.0))
    part = share.ravel() if noise.split is None else noise.split.average(share)
    counts = noisy_counts.ravel()
    cut = np.maximum(counts, 0.0) * part * (1 - part)
    return RangeCount(float(np.sum(part * counts)), float(noise.of_sums(part)[0]), float(np.sqrt(np.sum(cut))))


@dataclass(frozen=True, eq=False)
class CellClusters:
    """What clusters of cells hold, and the errors that the noise of the cells makes."""

    counts: FloatArray
    count_errors: FloatArray
    center_errors: FloatArray  # in the unit ball's coordinates


def judge_clusters(points: FloatArray, weights: FloatArray, centers: FloatArray, *, noise: CellNoise) -> CellClusters:
    """Return counts and errors of centres: to first order, noise moves a weighted mean by that of the sum of offsets / mass."""
    owner, size = nearest_cell(points, centers), len(centers)
    counts = np.bincount(owner, weights=weights, minlength=size).astype(np.float64)
    offsets = (points - centers[owner]).T
    spread = np.stack([noise.of_sums(column, owner, size) for column in offsets], axis=1)
    errors = np.minimum(spread / np.maximum(counts, noise.sigma)[:, None], 1.0)
    return CellClusters(counts, noise.of_counts(owner, size), errors)


def cell_points(half_widths: FloatArray, weights: FloatArray, *, sigma: float, representatives: str) -> FloatArray:
    """Return where the rows of each cell of a uniform grid are taken to be, in the unit ball's coordinates."""
    validate.one_of("Synopsis.cut.representatives", representatives, REPRESENTATIVES)
    axes = [(2 * np.arange(count) + 1) / count * half - half for half, count in zip(half_widths, weights.shape, strict=True)]
    mesh = list(np.meshgrid(*axes, indexing="ij"))
    if representatives == "slope":
        mesh = [place + shift for place, shift in zip(mesh, _slopes(half_widths, weights, sigma), strict=True)]
    return np.stack([part.ravel() for part in mesh], axis=1)


def _slopes(half_widths: FloatArray, weights: FloatArray, sigma: float) -> list[FloatArray]:
    """Return how far the mean of a cell lies from its centre if the density is linear between neighbouring cells."""
    mass = np.maximum(weights, 0.0)
    shifts = []
    for axis, (half, count) in enumerate(zip(half_widths, weights.shape, strict=True)):
        if count == 1:
            shifts.append(np.zeros(weights.shape))
            continue
        slope = np.gradient(mass, axis=axis)
        shifts.append(np.clip(slope / np.maximum(mass, sigma) / 12, -0.25, 0.25) * (2 * half / count))
    return shifts
