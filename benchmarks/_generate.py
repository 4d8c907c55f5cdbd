# SPDX-License-Identifier: Apache-2.0
"""Gaussian clusters with a given degree of separation, after Qiu and Joe (2006): an own generator, no R needed.

The separation of two clusters along a direction a is (gap - spread) / (gap + spread), where gap is the distance of their means
along a and spread is z times the sum of their standard deviations along a, z the 97.5 % point of the normal distribution. 1 is
far apart, 0 touching, negative overlapping. The direction is the one that separates them best. Means are laid out first, then
scaled so that the closest pair of clusters has exactly the separation that is asked for.

Covariances have eigenvalues between 1 and 10 and a random orientation. Means are spread at random (``clusters``), or sit on the
corners of a chain of regular simplexes (``scale``): up to d + 1 clusters are then all neighbours of each other, and more form
a long chain, as in the files that the R package writes.
"""

import numpy as np

from ._arrays import Array

__all__ = ["clusters", "clusters_in_a_public_box", "public_box", "scale"]

REACH = 1.959963984540054
ROWS = 10_000  # of a table of the scale family, about
MOST_OUTLIERS = 100
LARGEST_VARIANCE = 10.0
MARGIN = 5.0  # standard deviations between the means and the faces of a public box
OUTLIER_REACH = 4.0  # standard deviations of a column, over all clusters, on each side of its mean
STEPS = 8  # towards the direction that separates best


def clusters(
    generator: np.random.Generator, sizes: list[int], n_features: int, *, separation: tuple[float, float] = (0.16, 0.26)
) -> Array:
    """Return rows in [-1, 1]^d: a Gaussian cluster of each size, the closest pair separated by a value from `separation`."""
    covariances = _covariances(generator, len(sizes), n_features)
    means = _spread(generator, len(sizes), n_features)
    rows = _draw(generator, means, covariances, sizes, goal=generator.uniform(*separation))
    rows -= (rows.max(axis=0) + rows.min(axis=0)) / 2
    return np.asarray(rows / np.abs(rows).max(axis=0))


def clusters_in_a_public_box(
    generator: np.random.Generator, sizes: list[int], n_features: int, *, separation: tuple[float, float] = (0.16, 0.26)
) -> Array:
    """Return such rows in a box that does not depend on them, scaled to [-1, 1]^d: see :func:`public_box`."""
    covariances = _covariances(generator, len(sizes), n_features)
    means = _spread(generator, len(sizes), n_features)
    goal = generator.uniform(*separation)
    rows = _draw(generator, means, covariances, sizes, goal=goal)
    middle, half = public_box(means * _factor(means, covariances, goal))
    return np.clip((rows - middle) / half, -1, 1)


def public_box(means: Array) -> tuple[Array, Array]:
    """Return the middle and the half-widths of a box around means that leaves room for any of the covariances."""
    low, high = means.min(axis=0), means.max(axis=0)
    return (high + low) / 2, (high - low) / 2 + MARGIN * LARGEST_VARIANCE**0.5


def scale(
    generator: np.random.Generator, n_clusters: int, n_features: int, *, separation: tuple[float, float] = (0.16, 0.26)
) -> Array:
    """Return about 10,000 rows: clusters with sizes 1:2:...:k and at most 100 outliers, drawn evenly from a wide box."""
    n_outliers = int(generator.integers(MOST_OUTLIERS + 1))
    shares = np.arange(1, n_clusters + 1) / (n_clusters * (n_clusters + 1) / 2)
    sizes = np.rint(shares * (ROWS - n_outliers)).astype(int).tolist()
    covariances = _covariances(generator, n_clusters, n_features)
    means = _chain(n_clusters, n_features) @ _rotation(generator, n_features)
    rows = _draw(generator, means, covariances, sizes, goal=generator.uniform(*separation))
    middle, spread = rows.mean(axis=0), OUTLIER_REACH * rows.std(axis=0)
    return np.vstack([rows, generator.uniform(middle - spread, middle + spread, (n_outliers, n_features))])


def _draw(generator: np.random.Generator, means: Array, covariances: Array, sizes: list[int], *, goal: float) -> Array:
    factor = _factor(means, covariances, goal)
    parts = [
        generator.multivariate_normal(mean * factor, covariance, size)
        for mean, covariance, size in zip(means, covariances, sizes, strict=True)
    ]
    return np.vstack(parts)


def _factor(means: Array, covariances: Array, goal: float) -> float:
    """Return what means must be multiplied by."""
    # Along a direction the gap grows with the means while the spread stays, so the best direction does not depend on the
    # scale: the closest pair has separation (s r - z) / (s r + z) at scale s, r its ratio of gap to spread at scale 1.
    return REACH * (1 + goal) / (1 - goal) / _smallest_ratio(means, covariances)


def _covariances(generator: np.random.Generator, count: int, dimension: int) -> Array:
    return np.array([_covariance(generator, dimension) for _ in range(count)])


def _covariance(generator: np.random.Generator, dimension: int) -> Array:
    rotation = _rotation(generator, dimension)
    return np.asarray(rotation * generator.uniform(1, LARGEST_VARIANCE, dimension) @ rotation.T)


def _rotation(generator: np.random.Generator, dimension: int) -> Array:
    return np.linalg.qr(generator.standard_normal((dimension, dimension)))[0]


def _spread(generator: np.random.Generator, count: int, dimension: int) -> Array:
    """Draw means that are not too close to each other: the best of a few candidates, one after another."""
    means = generator.uniform(-1, 1, (1, dimension))
    while len(means) < count:
        drawn = generator.uniform(-1, 1, (8, dimension))
        far = np.min(np.sum((drawn[:, None] - means) ** 2, axis=2), axis=1)
        means = np.vstack([means, drawn[np.argmax(far)]])
    return means


def _chain(count: int, dimension: int) -> Array:
    """Return corners of regular simplexes with edges of length 1, each moved on by its first edge and sharing one corner."""
    corners = _simplex(dimension)
    edge = corners[1] - corners[0]
    links = -(-(count - 1) // dimension)
    return np.vstack([corners[:1], *(corners[1:] + link * edge for link in range(links))])[:count]


def _simplex(dimension: int) -> Array:
    """Return the d + 1 corners of a regular simplex: the unit vectors of one dimension more, seen within their plane."""
    corners = np.eye(dimension + 1) / np.sqrt(2)
    centred = corners - corners.mean(axis=0)
    return np.asarray(centred @ np.linalg.svd(centred)[2][:dimension].T)


def _smallest_ratio(means: Array, covariances: Array) -> float:
    """Return the smallest ratio, over all pairs of clusters, of the gap to the sum of deviations along the best direction."""
    ratios = [np.inf]
    for index in range(1, len(means)):
        gaps = means[:index] - means[index]
        ratios.append(float(_ratios(gaps, covariances[:index], covariances[index]).min()))
    return min(ratios) if len(means) > 1 else 1.0


def _ratios(gaps: Array, ones: Array, two: Array) -> Array:
    """Return a'g / (sqrt(a'Sa) + sqrt(a'Ta)) for each gap g, at the best a found by repeated weighting of S and T."""
    best = np.zeros(len(gaps))
    left = right = np.ones(len(gaps))
    for _ in range(STEPS):
        pooled = ones / left[:, None, None] + two / right[:, None, None]
        directions = np.linalg.solve(pooled, gaps[:, :, None])[:, :, 0]
        left = np.sqrt(np.einsum("pi,pij,pj->p", directions, ones, directions))
        right = np.sqrt(np.einsum("pi,ij,pj->p", directions, two, directions))
        best = np.maximum(best, np.einsum("pi,pi->p", directions, gaps) / (left + right))
    return best
