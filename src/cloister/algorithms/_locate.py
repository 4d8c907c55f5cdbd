# SPDX-License-Identifier: Apache-2.0
"""The first half of :class:`cloister.KMeans`: find where the mass is, by votes.

A vote has sensitivity 1 whatever the size of the domain, so votes are the cheapest way to learn where rows are. In order: the
mean of the rows and how far they lie from it; their principal axes; then a few rounds in which rows vote for the nearest of
many candidates, each round with candidates drawn where the round before found votes. The first candidates have the lengths and
the axes that the rows have. Of many dimensions, votes are cast in a few, leading axes first. What comes out is a small set of
weighted points, several per cluster. Rows are reached through ``ask`` alone.

**The mean.** Its noise grows with the radius at which offsets are clipped, which at first is that of the domain. Where the rows
fill a small part of it, the mean is asked again, clipped at the distance within which nearly all rows were seen, and so is the
histogram: each time the noise shrinks by the ratio of the two radii, so that bounds a thousand times too wide cost two more
small steps.

**The axes.** Noise of standard deviation s in the entries of a symmetric matrix of d columns has eigenvalues up to 2 s sqrt(d)
(Wigner). What stands out beyond that edge is a direction in which the rows do vary; how much of such an eigenvalue is noise is
known (Benaych-Georges and Nadakuditi 2011), and is taken away. Other directions share what is left of the trace.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from cloister.algorithms._grid import project_to_total
from cloister.algorithms._kmeans import weighted_kmeans
from cloister.algorithms._points import squares_between
from cloister.algorithms._refine import Lengths, quantile, shrinkage
from cloister.algorithms._space import Space
from cloister.columns import FloatArray, Frame
from cloister.questions import (
    Answer,
    Ask,
    DistanceHistogram,
    NearestCounts,
    NearestSums,
    SecondMoments,
    Spend,
    Step,
    spectral_edge,
    symmetric,
)

AXES_PART = 0.95  # of the rows lie within the distance at which second moments are clipped
ENERGY = 0.95  # part of the variance that axes must hold for votes to be cast in them alone
ROUND_PART = 0.25  # of the first candidates, drawn alike in all directions: rows far out may lie off the axes
APART_PART = 0.5  # of later candidates at votes that stand out, drawn more where these lie far apart: rows far out weigh more
STANDING_OUT = 2.0  # standard deviations of noise that such votes exceed
TREE_DIMENSIONS = 8  # up to here a k-d tree finds nearest neighbours of candidates faster than a matrix product
SEEN = 2.5  # standard deviations of noise that a bin of distances must exceed to get candidates
SURE = 4.0  # to get more of them than it has rows: of some fifty bins, noise alone lifts one in 600 fits
RESTARTS = 3
OCTAVES = 18  # that a fine histogram covers, below the domain's radius: as far as the grid resolves
OCTAVES_COARSE = 12  # that a coarse one covers: few rows, so that every further bin adds noise
NEARLY_ALL = 0.9  # of the rows lie within the distance at which the next mean is clipped
ROOM = 2.0  # times that distance
USUAL = 0.5  # of a radius: a mean is rarely farther from where it is looked for, so noise is not taken for more than that
NARROW = 0.25  # of the last radius: below, the next step is worth its price
BEYOND_THE_EDGE = 1.1  # times the edge of the noise's spectrum: in finite dimensions it is not sharp


@dataclass(frozen=True, kw_only=True)
class LocateSteps:
    """What this half asks, in order, and what public numbers decide about it."""

    origin: tuple[Step, ...]  # "sums" and "distances"; those after the first only where rows fill little of the domain
    axes: Step | None  # "moments"; None where noise would hide every axis
    votes: tuple[Step, ...]  # "counts", of as many candidates as the step has points
    fineness: int  # bins an octave of distances has
    dimension: int  # in which votes are cast, at most
    n_points: int  # to return at most


@dataclass(frozen=True, eq=False)
class Origin:
    """The mean of the rows and the histogram of their distances from it."""

    point: FloatArray
    profile: Lengths
    n_asked: int  # steps


@dataclass(frozen=True, eq=False)
class Axes:
    """Orthogonal directions, those with the largest spread first."""

    directions: FloatArray  # (n_features, n_features), one per column
    spreads: FloatArray  # standard deviation of the rows along each


@dataclass(frozen=True, eq=False)
class Located:
    """Where the mass is, in the space of the votes."""

    points: FloatArray
    origin: Origin
    space: Space  # of the votes
    candidates: FloatArray  # of the last vote
    votes: Answer


def locate(ask: Ask, steps: LocateSteps, frame: Frame, *, n_rows: float, generator: np.random.Generator) -> Located:
    """Return points that lie where the rows are, in the space of the votes; `n_rows` is public or noisy."""
    full = Space(frame)
    origin = find_origin(ask, steps.origin, full, n_rows=n_rows, fineness=steps.fineness)
    axes = None
    if steps.axes is not None:
        radius = quantile(origin.profile, n_rows=n_rows, part=AXES_PART)
        axes = find_axes(ask, steps.axes["moments"], origin.point, radius=radius, n_rows=n_rows)
    space = _voting_space(generator, full, origin, axes, dimension=steps.dimension)
    first, *later = steps.votes
    candidates = space.clip(_first_candidates(generator, origin, axes, space, size=first.n_points))
    votes = ask(NearestCounts(points=candidates, projection=space.projection), first["counts"])
    for step in later:
        mass = project_to_total(votes.value, n_rows)
        candidates = space.clip(_vary(generator, candidates, mass, votes.sigma, step.n_points))
        votes = ask(NearestCounts(points=candidates, projection=space.projection), step["counts"])
    points = _reduce(generator, candidates, project_to_total(votes.value, n_rows), steps.n_points)
    return Located(points, origin, space, candidates, votes)


def find_origin(ask: Ask, steps: Sequence[Step], space: Space, *, n_rows: float, fineness: int) -> Origin:
    """Ask the steps, each for sums and distances, as long as rows turn out to fill a small part of what was looked at."""
    octaves = OCTAVES if fineness > 1 else OCTAVES_COARSE
    edges = 2.0 ** (np.arange(-octaves * fineness, 1) / fineness)
    point, radius = np.zeros(space.n_features), 1.0
    for n_asked, step in enumerate(steps, 1):
        sums = ask(NearestSums(points=point[None], radius=radius), step["sums"])
        offset, variance = sums.value / max(n_rows, 1.0), np.array([(sums.sigma / max(n_rows, 1.0)) ** 2])
        part = shrinkage(offset, variance, longest=USUAL * radius)  # as far as the noise demands
        point = space.clip(point[None] + part[:, None] * offset)[0]
        histogram = ask(DistanceHistogram(edges=edges, points=point[None]), step["distances"])
        origin = Origin(point, Lengths(edges, histogram.value, histogram.sigma), n_asked)
        within = ROOM * quantile(origin.profile, n_rows=n_rows, part=NEARLY_ALL)
        if within > NARROW * radius:
            break
        radius = within
    return origin


def find_axes(ask: Ask, query: Spend, origin: FloatArray, *, radius: float, n_rows: float) -> Axes:
    """Ask for the second moments of the offsets from `origin`, clipped at `radius`."""
    answer = ask(SecondMoments(center=origin, radius=radius), query)
    n_features = len(origin)
    values, vectors = np.linalg.eigh(symmetric(answer.value, n_features) / max(n_rows, 1.0))
    values, vectors = values[::-1], vectors[:, ::-1]
    edge = spectral_edge(answer.sigma, n_features) / max(n_rows, 1.0)
    n_seen = int(np.count_nonzero(values > BEYOND_THE_EDGE * edge))
    seen = (values[:n_seen] + np.sqrt(values[:n_seen] ** 2 - edge**2)) / 2
    rest = max(float(values.sum() - seen.sum()), edge / 2) / max(n_features - n_seen, 1)
    variances = np.concatenate([seen, np.full(n_features - n_seen, min(rest, *seen) if n_seen else rest)])
    return Axes(vectors, np.sqrt(variances))


def _voting_space(generator: np.random.Generator, full: Space, origin: Origin, axes: Axes | None, *, dimension: int) -> Space:
    """Return where votes are cast: all dimensions if they are few, else the leading axes if these hold nearly all variance.

    Otherwise half of the dimensions are leading axes and half a random projection of all others: clusters may differ in these
    alone, and a random projection leaves something of every difference.
    """
    if dimension >= full.n_features:
        return full
    directions, n_axes = np.eye(full.n_features), 0
    if axes is not None:
        parts = np.cumsum(axes.spreads**2)
        n_leading = int(np.searchsorted(parts, ENERGY * parts[-1])) + 1
        directions, n_axes = axes.directions, n_leading if n_leading <= dimension else dimension // 2
        dimension = min(dimension, n_leading)
    others = directions[:, n_axes:]
    mixed = others @ np.linalg.qr(generator.standard_normal((others.shape[1], dimension - n_axes)))[0]
    return Space(full.frame, np.hstack([directions[:, :n_axes], mixed]), origin.point)


def _first_candidates(
    generator: np.random.Generator, origin: Origin, axes: Axes | None, space: Space, *, size: int
) -> FloatArray:
    """Draw candidates around the mean, with the lengths that the rows have, along the axes that they have."""
    if axes is None and space.projection is None:
        offsets = space.draw(generator, size)  # in directions that the domain allows
    else:
        offsets = generator.standard_normal((size, space.n_features))
        if axes is not None:
            offsets[round(ROUND_PART * size) :] *= axes.spreads / np.sqrt(np.mean(axes.spreads**2))
            offsets = offsets @ axes.directions.T
    norms = np.maximum(np.linalg.norm(offsets, axis=1), 1e-300)
    offsets *= (_draw_lengths(generator, origin.profile, size) / norms)[:, None]
    return np.asarray(space.project(origin.point + offsets))


def _draw_lengths(generator: np.random.Generator, profile: Lengths, size: int) -> FloatArray:
    """Draw distances from the mean: half of them as the rows have them, half of them more often far out."""
    edges = np.concatenate([[0.0], profile.edges, 2 * profile.edges[-1:]])  # the mean may lie at the edge of the domain
    seen, sure = (np.where(profile.counts > least * profile.sigma, profile.counts, 0.0) for least in (SEEN, SURE))
    shares = seen if seen.any() else np.ones(len(seen))  # most octaves are close to the mean, which is safer than far out
    if sure.any():
        far_out = _for_least_loss(sure, (edges[1:] + edges[:-1]) / 2)
        shares = shares / shares.sum() + far_out / far_out.sum()
    bins = generator.choice(len(shares), size=size, p=shares / shares.sum())
    return np.asarray(edges[bins] + generator.random(size) * (edges[bins + 1] - edges[bins]))


def _for_least_loss(counts: FloatArray, lengths: FloatArray) -> FloatArray:
    """Return how to divide candidates among regions with so many rows and of such sizes, for the least loss.

    Divided among n points, the squared error e of a region of p dimensions falls with n^(-2/p), so that of several regions the
    best share of points is in proportion to e^(p / (p + 2)). Rows far out lie in few directions: p = 2.
    """
    return np.asarray(np.sqrt(counts) * lengths)


def _vary(generator: np.random.Generator, candidates: FloatArray, mass: FloatArray, sigma: float, size: int) -> FloatArray:
    """Draw candidates where votes fell, each moved by up to the distance to its nearest neighbour.

    They are drawn in proportion to votes, but where votes stand out of the noise a part is drawn for the least loss: more where
    candidates lie far apart.
    """
    dimension, spacing = candidates.shape[1], _nearest_distances(candidates)
    chances = mass if mass.any() else np.ones(len(mass))
    apart = _for_least_loss(np.maximum(mass - STANDING_OUT * sigma, 0.0), spacing)
    if apart.any():
        part = np.where(apart > 0, APART_PART * chances, 0.0)
        chances = chances - part + part.sum() * apart / apart.sum()
    drawn = generator.choice(len(candidates), size=size, p=chances / chances.sum())
    steps = generator.standard_normal((size, dimension))
    steps /= np.maximum(np.linalg.norm(steps, axis=1, keepdims=True), 1e-300)
    lengths = generator.random(size) ** (1 / dimension) * spacing[drawn]
    return np.asarray(candidates[drawn] + steps * lengths[:, None])


def _nearest_distances(points: FloatArray) -> FloatArray:
    if len(points) < 2:
        return np.zeros(len(points))
    if points.shape[1] <= TREE_DIMENSIONS:
        return np.asarray(np.asarray(cKDTree(points).query(points, k=2)[0])[:, 1])
    squares = squares_between(points, points)
    np.fill_diagonal(squares, np.inf)
    return np.asarray(np.sqrt(squares.min(axis=1)))


def _reduce(generator: np.random.Generator, candidates: FloatArray, mass: FloatArray, n_points: int) -> FloatArray:
    kept = mass > 0
    if not kept.any():
        return np.asarray(candidates[:1])
    if np.count_nonzero(kept) <= n_points:
        return np.asarray(candidates[kept])
    return weighted_kmeans(candidates[kept], mass[kept], n_points, generator=generator, restarts=RESTARTS)
