# SPDX-License-Identifier: Apache-2.0
"""Weighted points that stand for a table: noisy counts at places that are known up to noise. Arithmetic on public numbers."""

import math
from dataclasses import dataclass, replace

import numpy as np

from cloister.algorithms._grid import project_to_total
from cloister.algorithms._kmeans import weighted_kmeans
from cloister.columns import FloatArray, IntArray

AT_ENDS = 0.9  # of the largest variance that a mean leaves room for: from it on values are taken to be one of two
PIECE = 1 << 16  # points whose distances are computed together


@dataclass(frozen=True, kw_only=True, eq=False)
class NoisyPoints:
    """Points with noisy numbers of rows, and what the noise may have done to both; in the coordinates of the unit ball."""

    points: FloatArray  # where the rows of each lie on average, (n_points, n_features)
    errors: FloatArray  # standard error of each coordinate of a point
    counts: FloatArray  # noisy numbers of rows
    count_errors: FloatArray  # standard deviation of their noise
    variances: FloatArray  # how far the rows of a point scatter around it, (n_points, n_features)
    n_rows: float  # public or noisy
    scatter_error: float = 0.0  # standard error of the mean squared distance of a row from its point
    given: FloatArray | None = None  # weights; by default the nearest to the counts that are not negative and add up to n_rows
    ends: FloatArray | None = None  # how far from 0 values lie at most in each coordinate; infinite where that is not known
    resolution: float = 0.0  # mean squared distance that is too small to be seen: rows may lie anywhere in a cell

    @property
    def weights(self) -> FloatArray:
        """The counts, moved to the nearest ones that are not negative and add up to the number of rows, or as given."""
        return project_to_total(self.counts, max(self.n_rows, 1.0)) if self.given is None else self.given

    def filled(self) -> "NoisyPoints":
        """Return the points whose weight is above zero: those that the noise does not explain away; at least one."""
        kept = np.flatnonzero(self.weights > 0)
        return self.select(kept if kept.size else np.array([int(np.argmax(self.counts))]))

    @property
    def scatter(self) -> float:
        """Mean squared distance of the rows from their point."""
        return float(np.average(self.variances.sum(axis=1), weights=np.maximum(self.weights, 1e-300)))

    def select(self, chosen: IntArray) -> "NoisyPoints":
        """Return some of the points; their weights keep their sum."""
        parts = {name: getattr(self, name)[chosen] for name in ("points", "errors", "counts", "count_errors", "variances")}
        return replace(self, **parts, given=None if self.given is None else self.given[chosen])

    def resample(self, generator: np.random.Generator) -> "NoisyPoints":
        """Return what might have been released as well: other noise, and counts of another sample of as many rows."""
        noise = np.hypot(self.count_errors, np.sqrt(self.weights))
        return replace(
            self,
            points=self.points + self.errors[:, None] * generator.standard_normal(self.points.shape),
            counts=self.counts + noise * generator.standard_normal(len(self.counts)),
        )

    def scattered(self, generator: np.random.Generator, size: int) -> FloatArray:
        """Return `size` places for each point, in opposite pairs around it, with the scatter of its rows.

        In a coordinate in which rows scatter nearly as far as its ends allow, all of them lie at one of the two.
        """
        n_points, n_features = self.points.shape
        offsets = generator.standard_normal((n_points, size // 2, n_features)) * np.sqrt(self.variances)[:, None]
        places = self.points[:, None] + np.concatenate([offsets, -offsets], axis=1)
        if self.ends is not None:
            means = np.clip(self.points, -self.ends, self.ends)
            at_ends = np.flatnonzero(np.average(self.variances >= AT_ENDS * (self.ends**2 - means**2), axis=0) > 0.5)
            ends, means = self.ends[at_ends], means[:, None, at_ends]
            above = generator.random((n_points, size, len(at_ends))) < (1 + means / ends) / 2
            places[:, :, at_ends] = np.where(above, ends, -ends)
        return np.asarray(places.reshape(-1, n_features))

    def cut(self, n_clusters: int, *, generator: np.random.Generator, restarts: int) -> FloatArray:
        """Return centres by weighted k-means; where there are not more points than clusters, the points, heaviest first."""
        weights = self.weights
        if np.count_nonzero(weights) > n_clusters:
            kept = weights > 0
            return weighted_kmeans(self.points[kept], weights[kept], n_clusters, generator=generator, restarts=restarts)
        heaviest = np.argsort(-weights, kind="stable")[: max(1, np.count_nonzero(weights))]
        return np.asarray(self.points[heaviest[np.arange(n_clusters) % len(heaviest)]])


def squares_between(points: FloatArray, centers: FloatArray) -> FloatArray:
    """Return the squared distance of each point to each centre."""
    squares = np.sum(points**2, axis=1)[:, None] - 2 * points @ centers.T + np.sum(centers**2, axis=1)
    return np.asarray(np.maximum(squares, 0.0))


def nearest_of(points: FloatArray, centers: FloatArray) -> IntArray:
    """Return the nearest centre of each point."""
    return np.concatenate([np.argmin(squares_between(piece, centers), axis=1) for piece in _pieces(points)])


def nearest_squares(points: FloatArray, centers: FloatArray) -> FloatArray:
    """Return the squared distance of each point to its nearest centre."""
    return np.concatenate([np.min(squares_between(piece, centers), axis=1) for piece in _pieces(points)])


def _pieces(points: FloatArray) -> list[FloatArray]:
    """Return the points in pieces: a grid may have millions of cells."""
    return np.array_split(points, max(1, math.ceil(len(points) / PIECE)))
