# SPDX-License-Identifier: Apache-2.0
"""Gaussian clusters with a given degree of separation, after Qiu and Joe (2006): an own generator, no R needed.

The separation of two clusters along a direction a is (gap - spread) / (gap + spread), where gap is the distance of their means
along a and spread is z times the sum of their standard deviations along a, z the 97.5 % point of the normal distribution. 1 is
far apart, 0 touching, negative overlapping. The direction is the one that separates them best. Means are spread at random and
then scaled so that the closest pair of clusters has exactly the separation that is asked for.
"""

import numpy as np

from benchmarks._data import Array

REACH = 1.959963984540054


def clusters(
    generator: np.random.Generator, sizes: list[int], n_features: int, *, separation: tuple[float, float] = (0.16, 0.26)
) -> Array:
    """Return rows in [-1, 1]^d: a Gaussian cluster of each size, the closest pair separated by a value from `separation`."""
    covariances = [_covariance(generator, n_features) for _ in sizes]
    means = _spread(generator, len(sizes), n_features)
    goal = generator.uniform(*separation)
    low, high = 1e-3, 1.0
    while _closest(means * high, covariances) < goal:
        high *= 2
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if _closest(means * middle, covariances) < goal else (low, middle)
    rows = np.vstack(
        [
            generator.multivariate_normal(mean * high, cov, size)
            for mean, cov, size in zip(means, covariances, sizes, strict=True)
        ]
    )
    rows -= (rows.max(axis=0) + rows.min(axis=0)) / 2
    return np.asarray(rows / np.abs(rows).max(axis=0))


def _covariance(generator: np.random.Generator, dimension: int) -> Array:
    rotation = np.linalg.qr(generator.standard_normal((dimension, dimension)))[0]
    return np.asarray(rotation * generator.uniform(1, 10, dimension) @ rotation.T)


def _spread(generator: np.random.Generator, count: int, dimension: int) -> Array:
    """Draw means that are not too close to each other: the best of a few candidates, one after another."""
    means = generator.uniform(-1, 1, (1, dimension))
    while len(means) < count:
        drawn = generator.uniform(-1, 1, (8, dimension))
        far = np.min(np.sum((drawn[:, None] - means) ** 2, axis=2), axis=1)
        means = np.vstack([means, drawn[np.argmax(far)]])
    return means


def _closest(means: Array, covariances: list[Array]) -> float:
    pairs = [(i, j) for i in range(len(means)) for j in range(i)]
    return min(_separation(means[i] - means[j], covariances[i], covariances[j]) for i, j in pairs) if pairs else 1.0


def _separation(gap: Array, one: Array, two: Array) -> float:
    direction = np.linalg.solve(one + two, gap)
    best = -1.0
    for _ in range(8):
        left, right = np.sqrt(direction @ one @ direction), np.sqrt(direction @ two @ direction)
        spread, distance = REACH * (left + right), float(direction @ gap)
        best = max(best, (distance - spread) / (distance + spread))
        direction = np.linalg.solve(one / left + two / right, gap)
    return best
