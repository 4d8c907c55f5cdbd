# SPDX-License-Identifier: Apache-2.0
"""How many clusters weighted points hold: losses for every number, beside those of rows without clusters.

A further cluster lowers the loss of any rows. So losses are compared with those of rows without clusters: the gap statistic of
Tibshirani, Walther and Hastie (2001). There are two kinds of these, and what either explains is no cluster: rows spread evenly
along the same principal axes, as far as these rows are; and rows whose columns are independent, each with its own mean and
variance. Centres are fitted to one half of the noise and judged on the other, so that clusters made of noise do not pay. At
last, clusters with no gap between them are counted as one. Arithmetic on public numbers.
"""

import math
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from cloister.algorithms._points import NoisyPoints, nearest_squares, squares_between
from cloister.algorithms._separate import count_separate
from cloister.columns import FloatArray

RESTARTS = 10
FEW_RESTARTS = 3
SPLITS = 3  # of the noise
NEARLY = 3.0  # times the slack by which a peak may be lower than the highest and still be as good
LEAST_GAIN = math.log(1.12)  # what a further cluster must gain over one in evenly spread mass
LEFT_OUT = 0.9  # of the scatter within points: no number of clusters removes it, and in many columns it would hide all else
REFERENCE_ROWS, FEWER_ROWS, ENOUGH_ROWS = 50, 10, 6000  # per point; per point, once there are enough in all
MOST_AXES = 32  # along which they are spread; what lies across these is the same for every number of clusters
REFERENCE_ROUNDS = 20
BINARY = 0.6  # of the largest variance that a column can have: half of it is that of an arcsine distribution
LEAST_PART = 1e-4
AROUND = (0.75, 1.25)  # times the number of clusters: cuts in which gaps are looked for


@dataclass(frozen=True, eq=False)
class KChoice:
    """What comparing numbers of clusters found."""

    n_clusters: tuple[int, ...]
    loss: FloatArray  # mean squared distance of the synopsis' mass to the centres
    held_out: FloatArray  # the same on a half of the noise the centres have not seen
    held_out_error: FloatArray
    even: FloatArray  # the loss of rows without clusters, of the kind that loses less: what any k achieves
    elbow: int  # from here on, further clusters help no more than they help rows without clusters
    supported: int  # the largest k that lowers the held-out loss by more than two of its errors
    best: int  # how many of these clusters have a gap between them
    as_good: tuple[int, ...] = ()  # numbers at which clusters stand out about as well as at the best one, which is among them

    def to_dict(self) -> dict[str, Any]:
        """Return the choice as plain data."""
        arrays = {name: value.tolist() for name, value in vars(self).items() if isinstance(value, np.ndarray)}
        return {**asdict(self), **arrays, "n_clusters": list(self.n_clusters), "as_good": list(self.as_good)}

    def __str__(self) -> str:
        if self.best == 1:
            return (
                "1 cluster: no others with gaps between them can be told from the noise. "
                "A cut at any other k costs nothing: synopsis.cut(k), of KMeans synopsis_.cut(k)"
            )
        others = [str(count) for count in self.as_good if count != self.best]
        return f"{self.best} clusters" + (f"; about as good: {', '.join(others)}" if others else "")

    def without_clusters(self) -> "KChoice":
        """Return the same comparison where too few rows are there to claim more than the smallest number."""
        least = self.n_clusters[0]
        return replace(self, elbow=least, supported=least, best=least, as_good=(least,))

    def scaled(self, factor: float) -> "KChoice":
        """Return the same choice with losses in another unit."""
        losses = {name: getattr(self, name) * factor for name in ("loss", "held_out", "held_out_error", "even")}
        return replace(self, **losses)


def compare_numbers(
    numbers: Sequence[int], points: NoisyPoints, *, corners: Sequence[FloatArray], generator: np.random.Generator
) -> KChoice:
    """Compare increasing numbers of clusters; the generator splits the noise, too, and draws rows without clusters.

    `corners` are, for each column, the places whose mixtures its values are: the ends of an interval, the levels of a category.
    """
    filled, scatter = points.filled(), points.filled().scatter
    halves = [_split(points, generator) for _ in range(SPLITS)]
    binary = [one.own for one in _columns(filled, corners) if one.fullness > BINARY] if len(corners) > 1 else []
    without = [_even_rows(filled, generator), *([_independent_rows(filled, corners, generator)] if corners else [])]
    references = [_losses_of(numbers, rows, across, len(filled.points), generator) for rows, across in without]
    moved = points.points.shape[1] * points.errors**2  # what noise adds to the squared distance of a point from any place
    table = []
    for count in numbers:
        cuts = [(unseen, seen.cut(count, generator=generator, restarts=FEW_RESTARTS)) for seen, unseen in halves]
        # A half has twice the noise of the points.
        judged = [(unseen, nearest_squares(unseen.points, centers) - 2 * moved) for unseen, centers in cuts]
        # All halves share the noise that was released; the noise that split them is their own.
        noise = math.sqrt((1 + 1 / SPLITS) * float(np.mean([np.sum((half.count_errors * one) ** 2) for half, one in judged])))
        held_out = float(np.mean([np.sum(half.counts * one) for half, one in judged])) / points.n_rows
        loss = cut_loss(filled, filled.cut(count, generator=generator, restarts=RESTARTS))
        table.append([loss, held_out + scatter, noise / points.n_rows])
    loss, held_out, errors = np.array(table).T
    errors, even = np.maximum(errors, 1e-300), np.min([between + within for between, within in references], axis=0)
    supported, lowest = numbers[0], held_out[0]
    for count, value, error in zip(numbers[1:], held_out[1:], errors[1:], strict=True):
        if value < lowest - 2 * error:
            supported, lowest = count, value
    # When the two are compared, what no number of clusters removes is left out of both, less what is too small to be seen.
    known = np.maximum(held_out - (LEFT_OUT * scatter - points.resolution), errors)  # below its error a loss says no more
    gaps = [np.log((between + (1 - LEFT_OUT) * within + points.resolution) / known) for between, within in references]
    gains = np.min(gaps, axis=0)
    top = int(np.argmax(gains))
    slack = max(LEAST_GAIN, float(errors[top] / known[top]))
    elbow = numbers[int(np.flatnonzero(gains >= gains[top] - slack)[0])]
    separate = partial(count_separate, filled, binary=binary, generator=generator)
    most = min(elbow, supported)
    # Clusters without a gap between them are one. A single cut may happen to hide a gap, so several are looked at.
    apart = max(separate(number) for number in range(math.ceil(AROUND[0] * most), int(AROUND[1] * most) + 1))
    best = max((number for number in numbers if number <= apart), default=numbers[0])
    # As good as the best: peaks that are nearly as high as the highest, and clearly above the number before.
    before, after = np.concatenate([[0.0], gains[:-1]]), np.concatenate([gains[1:], [-np.inf]])
    peaks = (gains >= gains[top] - NEARLY * slack) & (gains >= before + slack) & (gains >= after - slack / 2)
    found = [number for number, good in zip(numbers, peaks, strict=True) if good and best > 1 and number <= supported]
    others = {number for number in found if separate(number) == number}
    as_good = tuple(sorted({best} | others))
    return KChoice(tuple(numbers), loss, held_out, errors, even, elbow, supported, best, as_good)


def cut_loss(points: NoisyPoints, centers: FloatArray) -> float:
    """Return the mean squared distance of the rows to their nearest centre: between points and centres, and within points."""
    squares = nearest_squares(points.points, centers)
    return float(np.average(squares, weights=np.maximum(points.weights, 1e-300))) + points.scatter


def silhouette(points: NoisyPoints, centers: FloatArray) -> float:
    """Return how much nearer rows are to their own centre than to the next one: from 0 (borders everywhere) to 1.

    The mean of ``(b - a) / b``, where a and b are the root mean square distances of the rows of a point from its own centre and
    from the next one.
    """
    if len(centers) < 2:
        return 0.0
    squares = np.sort(squares_between(points.points, centers), axis=1)[:, :2] + points.variances.sum(axis=1)[:, None]
    own, other = np.sqrt(np.maximum(squares, 1e-300)).T
    return float(np.average((other - own) / other, weights=np.maximum(points.weights, 1e-300)))


def _split(points: NoisyPoints, generator: np.random.Generator) -> tuple[NoisyPoints, NoisyPoints]:
    """Return the points twice, with independent noise: what one half adds, the other subtracts."""
    counts = points.count_errors * generator.standard_normal(len(points.counts))
    moves = points.errors[:, None] * generator.standard_normal(points.points.shape)
    seen = replace(points, counts=points.counts + counts, points=points.points + moves)
    return seen, replace(points, counts=points.counts - counts, points=points.points - moves)


def _losses_of(
    numbers: Sequence[int], rows: FloatArray, across: float, n_points: int, generator: np.random.Generator
) -> tuple[FloatArray, float]:
    """Return the losses of rows, between as many points and within them; `across` is what lies across their columns."""
    model = KMeans(n_points, n_init=1, max_iter=REFERENCE_ROUNDS, random_state=int(generator.integers(2**31)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # rows that all lie in one place
        model.fit(rows)
    counts = np.bincount(model.labels_, minlength=n_points).astype(np.float64)
    flat = NoisyPoints(
        points=model.cluster_centers_.astype(np.float64),
        errors=np.zeros(n_points),
        counts=counts,
        count_errors=np.zeros(n_points),
        variances=np.zeros_like(model.cluster_centers_, dtype=np.float64),
        n_rows=float(len(rows)),
    )
    cuts = [flat.cut(count, generator=generator, restarts=FEW_RESTARTS) for count in numbers]
    losses = np.maximum([cut_loss(flat, centers) for centers in cuts], 1e-300)
    return losses, across + float(model.inertia_) / len(rows)


@dataclass(frozen=True, eq=False)
class _Column:
    """What all rows together show of a column."""

    own: slice  # its coordinates
    ends: FloatArray  # the places between which its values lie
    parts: FloatArray  # as which mixture of these the mean is made
    fullness: float  # variance as a part of what it would be if all values lay at the ends


def _columns(points: NoisyPoints, corners: Sequence[FloatArray]) -> list[_Column]:
    """Return the columns; no variance is nothing at all, or all that there can be."""
    weights, start, columns = np.maximum(points.weights, 1e-300), 0, []
    means = np.average(points.points, axis=0, weights=weights)
    variances = np.average((points.points - means) ** 2 + points.variances, axis=0, weights=weights)
    for ends in corners:
        own = slice(start, start := start + ends.shape[1])
        parts = np.linalg.pinv(np.column_stack([ends, np.ones(len(ends))]).T) @ np.append(means[own], 1.0)
        parts = np.maximum(parts, LEAST_PART)
        parts /= parts.sum()
        widest = float(parts @ np.sum((ends - parts @ ends) ** 2, axis=1))
        columns.append(_Column(own, ends, parts, float(np.clip(variances[own].sum() / widest, LEAST_PART, 1 - LEAST_PART))))
    return columns


def _even_rows(points: NoisyPoints, generator: np.random.Generator) -> tuple[FloatArray, float]:
    """Return rows spread evenly along the principal axes, as far as these, and their variance across the first ones."""
    spreads = _axes(points)
    rows = generator.uniform(-1.0, 1.0, (_n_reference_rows(points), min(len(spreads), MOST_AXES)))
    return rows * np.sqrt(3 * spreads[:MOST_AXES]), float(spreads[MOST_AXES:].sum())


def _independent_rows(
    points: NoisyPoints, corners: Sequence[FloatArray], generator: np.random.Generator
) -> tuple[FloatArray, float]:
    """Return rows whose columns are independent, each with its mean and variance here, within its range.

    Values are mixtures of the corners by a Dirichlet distribution: of an interval a beta distribution, which may be even, bent
    to one side, or all at the ends like yes and no.
    """
    n_rows = _n_reference_rows(points)
    drawn = [generator.dirichlet(one.parts / one.fullness - one.parts, n_rows) @ one.ends for one in _columns(points, corners)]
    return np.concatenate(drawn, axis=1), 0.0


def _n_reference_rows(points: NoisyPoints) -> int:
    n_points = len(points.points)
    return min(REFERENCE_ROWS * n_points, max(ENOUGH_ROWS, FEWER_ROWS * n_points))


def _axes(points: NoisyPoints) -> FloatArray:
    """Return the variances of the rows along their principal axes, the largest first."""
    weights = np.maximum(points.weights, 1e-300)
    offsets = points.points - np.average(points.points, axis=0, weights=weights)
    within = np.average(points.variances, axis=0, weights=weights)
    matrix = (offsets.T * (weights / weights.sum())) @ offsets + np.diag(within)
    return np.asarray(np.maximum(np.linalg.eigvalsh(matrix)[::-1], 0.0))
