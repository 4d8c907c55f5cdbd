# SPDX-License-Identifier: Apache-2.0
"""The nearest of some public points: what ``predict`` and the clustering of public rows need. Imports columns and questions."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cloister.columns import FloatArray, Frame, IntArray, row_blocks, snap
from cloister.questions import Nearest

__all__ = ["NearestPoint", "nearest_center", "nearest_point"]

BLOCK_NUMBERS = 1 << 21  # distances in work at a time


def nearest_center(frame: Frame, centers: FloatArray, rows: npt.NDArray[Any]) -> IntArray:
    """Return, for raw rows, the index of the nearest centre, both given in the units of the input."""
    return Nearest(snap(frame.to_unit(centers)), longest_row=1.0)(frame.clean(rows))


@dataclass(frozen=True, eq=False)
class NearestPoint:
    """For each of some rows, the nearest of some points."""

    indices: IntArray
    distances: FloatArray  # infinite where there are no points


def nearest_point(rows: FloatArray, points: FloatArray, metric: str) -> NearestPoint:
    """Return the nearest of public points for each row, by any metric of scikit-learn, a block at a time."""
    found = NearestPoint(np.zeros(len(rows), dtype=np.int64), np.full(len(rows), np.inf))
    size = max(1, BLOCK_NUMBERS // max(len(points), 1))
    search = _nearest_euclidean if metric == "euclidean" else _nearest_other
    for part in row_blocks(len(rows) if len(points) else 0, size):
        found.indices[part], found.distances[part] = search(rows[part], points, metric)
    return found


def _nearest_euclidean(rows: FloatArray, points: FloatArray, _: str) -> tuple[IntArray, FloatArray]:
    """Find by a matrix product, around the points' mean so that it does not cancel; measure by difference."""
    middle = points.mean(axis=0)
    around = points - middle
    scores = (rows - middle) @ (-2 * around.T)
    scores += np.sum(around * around, axis=1)
    indices = np.argmin(scores, axis=1)
    offsets = rows - points[indices]
    return indices, np.sqrt(np.sum(offsets * offsets, axis=1))


def _nearest_other(rows: FloatArray, points: FloatArray, metric: str) -> tuple[IntArray, FloatArray]:
    from sklearn.metrics import pairwise_distances

    table = np.nan_to_num(pairwise_distances(rows, points, metric=metric), nan=np.inf, posinf=np.inf)
    indices = np.argmin(table, axis=1)
    return indices, table[np.arange(len(table)), indices]
