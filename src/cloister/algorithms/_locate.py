# SPDX-License-Identifier: Apache-2.0
"""The first half of :class:`cloister.KMeans`: find where the mass is, by votes.

A vote has sensitivity 1 whatever the size of the domain, so votes are the cheapest way to learn where rows are. In order: the
mean of the rows; how far they lie from it; then a few rounds in which rows vote for the nearest of many candidates, each round
with candidates drawn where the round before found votes. What comes out is a small set of weighted points, several per
cluster. Rows are reached through ``ask`` alone.
"""

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from cloister.algorithms._grid import project_to_total
from cloister.algorithms._kmeans import weighted_kmeans
from cloister.algorithms._refine import Lengths, shrinkage
from cloister.algorithms._space import Space
from cloister.domain import FloatArray
from cloister.questions import Answer, Ask, DistanceHistogram, NearestCounts, NearestSums, Spend, Step

__all__ = ["LocateSteps", "Located", "locate", "orthonormal_projection"]

OCTAVES = 10  # that the first histogram covers, below the domain's radius
TREE_DIMENSIONS = 8  # up to here a k-d tree finds nearest neighbours of candidates faster than a matrix product
SURE_OF_A_BIN = 2.0  # standard deviations of noise that a bin of distances must exceed to get candidates
RESTARTS = 3


@dataclass(frozen=True, kw_only=True)
class LocateSteps:
    """What this half asks, in order, and what public numbers decide about it."""

    mean: Step  # "sums"
    spread: Step  # "distances"
    votes: tuple[Step, ...]  # "counts", of as many candidates as the step has points
    fineness: int  # bins an octave of distances has
    n_points: int  # to return at most


@dataclass(frozen=True, eq=False)
class Located:
    """Where the mass is, in the space of the votes."""

    points: FloatArray
    origin: FloatArray  # the noisy mean, shrunk
    profile: Lengths  # how far rows lie from it
    candidates: FloatArray  # of the last vote
    votes: Answer


def locate(ask: Ask, steps: LocateSteps, space: Space, *, n_rows: float, generator: np.random.Generator) -> Located:
    """Return points that lie where the rows are, in the space of the votes."""
    origin = space.clip(_find_mean(ask, steps.mean["sums"], space, n_rows=n_rows)[None])[0]
    edges = 2.0 ** (np.arange(-OCTAVES * steps.fineness, 1) / steps.fineness)
    distances = DistanceHistogram(edges=edges, points=origin[None], projection=space.projection)
    histogram = ask(distances, steps.spread["distances"])
    profile = Lengths(edges, histogram.value, histogram.sigma)
    first, *later = steps.votes
    candidates = space.clip(origin + _spread(generator, profile, first.n_points, space))
    votes = ask(NearestCounts(points=candidates, projection=space.projection), first["counts"])
    for step in later:
        candidates = space.clip(_vary(generator, candidates, project_to_total(votes.value, n_rows), step.n_points))
        votes = ask(NearestCounts(points=candidates, projection=space.projection), step["counts"])
    points = _reduce(generator, candidates, project_to_total(votes.value, n_rows), steps.n_points)
    return Located(points, origin, profile, candidates, votes)


def orthonormal_projection(generator: np.random.Generator, n_features: int, dimension: int) -> FloatArray:
    """Return a matrix with orthonormal columns that span a random subspace."""
    return np.asarray(np.linalg.qr(generator.standard_normal((n_features, dimension)))[0])


def _find_mean(ask: Ask, query: Spend, space: Space, *, n_rows: float) -> FloatArray:
    """Return the mean of the rows, shrunk towards the middle of the domain as far as its noise demands."""
    sums = ask(NearestSums(points=np.zeros((1, space.dimension)), radius=1.0, projection=space.projection), query)
    total = sums.value if space.projection is None else sums.value @ space.projection
    mean = total / max(n_rows, 1.0)
    variance = np.array([(sums.sigma / max(n_rows, 1.0)) ** 2])
    return np.asarray((shrinkage(mean, variance, longest=1.0)[:, None] * mean)[0])


def _spread(generator: np.random.Generator, profile: Lengths, size: int, space: Space) -> FloatArray:
    """Draw offsets from the mean with the lengths that the rows have, in directions that the domain allows."""
    mass = np.where(profile.counts > SURE_OF_A_BIN * profile.sigma, profile.counts, 0.0)
    if not mass.any():
        mass = np.ones(len(mass))
    edges = np.concatenate([[0.0], profile.edges, 2 * profile.edges[-1:]])  # the mean may lie at the edge of the domain
    bins = generator.choice(len(mass), size=size, p=mass / mass.sum())
    lengths = edges[bins] + generator.random(size) * (edges[bins + 1] - edges[bins])
    directions = space.draw(generator, size)
    norms = np.maximum(np.linalg.norm(directions, axis=1), 1e-300)
    return np.asarray(directions * (lengths / norms)[:, None])


def _vary(generator: np.random.Generator, candidates: FloatArray, mass: FloatArray, size: int) -> FloatArray:
    """Draw candidates in proportion to their votes, each moved by up to the distance to its nearest neighbour."""
    dimension = candidates.shape[1]
    total = mass.sum()
    chances = mass / total if total > 0 else np.full(len(mass), 1 / len(mass))
    drawn = generator.choice(len(candidates), size=size, p=chances)
    steps = generator.standard_normal((size, dimension))
    steps /= np.maximum(np.linalg.norm(steps, axis=1, keepdims=True), 1e-300)
    lengths = generator.random(size) ** (1 / dimension) * _nearest_distances(candidates)[drawn]
    return np.asarray(candidates[drawn] + steps * lengths[:, None])


def _nearest_distances(points: FloatArray) -> FloatArray:
    if len(points) < 2:
        return np.zeros(len(points))
    if points.shape[1] <= TREE_DIMENSIONS:
        return np.asarray(np.asarray(cKDTree(points).query(points, k=2)[0])[:, 1])
    norms = np.sum(points * points, axis=1)
    squares = norms[:, None] - 2 * points @ points.T + norms
    np.fill_diagonal(squares, np.inf)
    return np.asarray(np.sqrt(np.maximum(squares.min(axis=1), 0.0)))


def _reduce(generator: np.random.Generator, candidates: FloatArray, mass: FloatArray, n_points: int) -> FloatArray:
    kept = mass > 0
    if not kept.any():
        return np.asarray(candidates[:1])
    if np.count_nonzero(kept) <= n_points:
        return np.asarray(candidates[kept])
    return weighted_kmeans(candidates[kept], mass[kept], n_points, generator=generator, restarts=RESTARTS)
