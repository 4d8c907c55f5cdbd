# SPDX-License-Identifier: Apache-2.0
"""The nearest of some public points: what ``predict`` and the clustering of public rows need. Imports columns and questions."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cloister.columns import FloatArray, Frame, IntArray, row_blocks, snap
from cloister.questions import Nearest

__all__ = ["NearestPoint", "nearest_center", "nearest_point", "squares_to_centers"]

BLOCK_NUMBERS = 1 << 21  # distances in work at a time


def nearest_center(frame: Frame, centers: FloatArray, rows: npt.NDArray[Any]) -> IntArray:
    """Return, for raw rows, the index of the nearest centre, both given in the units of the input; see squares_to_centers."""
    points, (clean, gaps) = snap(frame.to_unit(centers)), frame.clean_with_gaps(rows)
    found = Nearest(points, longest_row=1.0)(clean)
    if gaps is not None:
        partly = np.flatnonzero(gaps.any(axis=1) & ~gaps.all(axis=1))
        size = max(1, BLOCK_NUMBERS // len(points))
        for part in row_blocks(len(partly), size):
            chosen = partly[part]
            found[chosen] = np.argmin(_squares(clean[chosen], gaps[chosen], points), axis=1)
    return found


def squares_to_centers(frame: Frame, centers: FloatArray, rows: npt.NDArray[Any]) -> FloatArray:
    """Return squared distances of raw rows to centres, in the unit ball.

    A row that lacks values which stand at a mean is compared by its other columns: centres are means of what is there, and the
    mean of the table says nothing of the row. One that lacks all lies at the mean.
    """
    clean, gaps = frame.clean_with_gaps(rows)
    if gaps is not None:
        gaps[gaps.all(axis=1)] = False
    return _squares(clean, gaps, frame.to_unit(centers))


def _squares(rows: FloatArray, gaps: npt.NDArray[np.bool_] | None, points: FloatArray) -> FloatArray:
    """Return squared distances over the coordinates that are no gaps."""
    seen = rows if gaps is None else np.where(gaps, 0.0, rows)
    lengths = np.sum(points**2, axis=1) if gaps is None else (~gaps).astype(np.float64) @ (points**2).T
    return np.asarray(np.maximum(np.sum(seen**2, axis=1)[:, None] - 2 * seen @ points.T + lengths, 0.0))


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
