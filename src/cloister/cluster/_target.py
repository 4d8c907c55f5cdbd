# SPDX-License-Identifier: Apache-2.0
"""The public side of source-target clustering: reading the target, its distances, and what a report draws of it."""

import warnings
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import pairwise_distances

from cloister import validate
from cloister.data import LocalRows, open_rows
from cloister.domain import Ball, FloatArray
from cloister.exceptions import DataError

__all__ = ["Target", "all_pairs", "ball_around", "check_metric", "extent_of", "picture_of", "read_target"]

BLOCK_NUMBERS = 1 << 22
LARGEST_PICTURE = 1500  # target points kept for the report
FITTED_METRICS = {"mahalanobis", "precomputed", "seuclidean"}  # no function of two points: they depend on the other points


@dataclass(frozen=True, eq=False)
class Target:
    """Public points, and the names of their columns if they have any."""

    matrix: FloatArray
    names: tuple[str, ...] | None


def read_target(where: str, target: object) -> Target:
    """Return the public target as finite doubles; unlike private rows, bad ones are named."""
    rows = open_rows(target, n_jobs=1, where=where)
    if not isinstance(rows, LocalRows):
        raise DataError(f"{where}: expected rows of this machine. The target is public and is held in memory.")
    matrix = np.concatenate([np.empty((0, rows.n_features)), *rows.blocks()])
    if not len(matrix):
        validate.refuse(where, "at least one row", matrix.shape, remedy="Pass the public points to choose from.")
    bad = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
    if bad.size:
        raise DataError(
            f"{where}: expected finite numbers, got others in row {bad[0]}. The target is public: drop or fill them."
        )
    return Target(matrix, rows.feature_names)


def all_pairs(points: FloatArray, metric: str, scale: float = 1.0) -> npt.NDArray[np.float32]:
    """Return all distances among points over `scale`, in single precision and a block at a time."""
    table = np.empty((len(points), len(points)), dtype=np.float32)
    size = max(1, BLOCK_NUMBERS // max(len(points), 1))
    around = points - points.mean(axis=0) if metric == "euclidean" else points  # large coordinates would cancel
    for start in range(0, len(points), size):
        table[start : start + size] = pairwise_distances(around[start : start + size], around, metric=metric) / scale
    return table


def extent_of(points: FloatArray, metric: str) -> float:
    """Return how far points lie apart, for single precision to be enough whatever the unit; 1 if they do not."""
    largest = float(np.max(pairwise_distances(points[:1], points, metric=metric)))
    return largest if 0 < largest < np.inf else 1.0


def ball_around(points: FloatArray, margin: float) -> Ball:
    """Return the ball around the mean of public points that holds them, `margin` times as wide."""
    center = points.mean(axis=0)
    radius = margin * float(np.sqrt(np.max(np.sum((points - center) ** 2, axis=1))))
    return Ball(max(radius, 1e-9 * float(np.abs(center).max())) or 1.0, center)


def check_metric(where: str, metric: object, probe: FloatArray) -> None:
    """Refuse what is no distance between two points."""
    rule, remedy = "a distance that scikit-learn knows", 'Pass "euclidean", "manhattan", ...'
    if not isinstance(metric, str) or metric in FITTED_METRICS:
        validate.refuse(where, f"{rule} and that is a function of two points", metric, remedy=remedy)
    with suppress(TypeError, ValueError, KeyError, DataConversionWarning), warnings.catch_warnings():
        warnings.simplefilter("error", DataConversionWarning)  # a distance between truth values, such as Jaccard's
        pairwise_distances(probe, metric=metric)
        return
    validate.refuse(where, rule, metric, remedy=remedy)


def picture_of(target: FloatArray) -> list[list[float]]:
    """Return what a report draws of the target, which is public: evenly picked rows, to a millionth of their spread."""
    picked = np.unique(np.linspace(0, len(target) - 1, min(len(target), LARGEST_PICTURE)).round().astype(np.int64))
    spread = float(np.max(np.ptp(target, axis=0)))
    digits = 6 - int(np.floor(np.log10(spread))) if spread > 0 else 6
    shown: list[list[float]] = (np.round(target[picked], digits) if abs(digits) < 100 else target[picked]).tolist()
    return shown
