# SPDX-License-Identifier: Apache-2.0
"""How many clusters weighted points hold: losses for every number, beside those of rows without clusters.

A further cluster lowers the loss of any rows. So losses are compared with those of rows that are spread evenly along the same
principal axes, as far as these rows are: the gap statistic of Tibshirani, Walther and Hastie (2001). Centres are fitted to one
half of the noise and judged on the other, so that clusters made of noise do not pay. Arithmetic on public numbers.
"""

import math
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from cloister.algorithms._points import NoisyPoints, nearest_squares, squares_between
from cloister.columns import FloatArray

RESTARTS = 10
FEW_RESTARTS = 3
SPLITS = 3  # of the noise
NEARLY = 3.0  # times the slack by which a peak may be lower than the highest and still be as good
LEAST_GAIN = math.log(1.12)  # what a further cluster must gain over one in evenly spread mass
LEFT_OUT = 0.9  # of the scatter within points: no number of clusters removes it, and in many columns it would hide all else
REFERENCES = 2  # tables without clusters
REFERENCE_ROWS, FEWER_ROWS, ENOUGH_ROWS = 50, 10, 6000  # per point; per point, once there are enough in all
MOST_AXES = 32  # along which they are spread; what lies across these is the same for every number of clusters
REFERENCE_ROUNDS = 20


@dataclass(frozen=True, eq=False)
class KChoice:
    """What comparing numbers of clusters found."""

    n_clusters: tuple[int, ...]
    loss: FloatArray  # mean squared distance of the synopsis' mass to the centres
    held_out: FloatArray  # the same on a half of the noise the centres have not seen
    held_out_error: FloatArray
    even: FloatArray  # the loss of rows spread evenly along the same principal axes: what any k achieves without clusters
    elbow: int  # from here on, further clusters help no more than they help evenly spread rows
    supported: int  # the largest k that lowers the held-out loss by more than two of its errors
    best: int
    as_good: tuple[int, ...] = ()  # numbers at which clusters stand out about as well as at the best one, which is among them

    def to_dict(self) -> dict[str, Any]:
        """Return the choice as plain data."""
        arrays = {name: value.tolist() for name, value in vars(self).items() if isinstance(value, np.ndarray)}
        return {**asdict(self), **arrays, "n_clusters": list(self.n_clusters), "as_good": list(self.as_good)}

    def __str__(self) -> str:
        if self.best == 1:
            return "1 cluster: further ones help no more than on rows without clusters"
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


def compare_numbers(numbers: Sequence[int], points: NoisyPoints, *, generator: np.random.Generator) -> KChoice:
    """Compare increasing numbers of clusters; the generator splits the noise, too, and draws rows without clusters."""
    filled, scatter = points.filled(), points.filled().scatter
    halves = [_split(points, generator) for _ in range(SPLITS)]
    references = [_even_losses(numbers, filled, generator) for _ in range(REFERENCES)]
    even_between = np.mean([between for between, _ in references], axis=0)
    even_within = float(np.mean([within for _, within in references]))
    table = []
    for count in numbers:
        cuts = [(unseen, seen.cut(count, generator=generator, restarts=FEW_RESTARTS)) for seen, unseen in halves]
        judged = [(unseen, nearest_squares(unseen.points, centers)) for unseen, centers in cuts]
        # All halves share the noise that was released; the noise that split them is their own.
        noise = math.sqrt((1 + 1 / SPLITS) * float(np.mean([np.sum((half.count_errors * one) ** 2) for half, one in judged])))
        held_out = float(np.mean([np.sum(half.counts * one) for half, one in judged])) / points.n_rows
        loss = cut_loss(filled, filled.cut(count, generator=generator, restarts=RESTARTS))
        table.append([loss, held_out + scatter, noise / points.n_rows])
    loss, held_out, errors = np.array(table).T
    errors, even = np.maximum(errors, 1e-300), even_between + even_within
    supported, lowest = numbers[0], held_out[0]
    for count, value, error in zip(numbers[1:], held_out[1:], errors[1:], strict=True):
        if value < lowest - 2 * error:
            supported, lowest = count, value
    # When the two are compared, what no number of clusters removes is left out of both, less what is too small to be seen.
    known = np.maximum(held_out - (LEFT_OUT * scatter - points.resolution), errors)  # below its error a loss says no more
    gains = np.log((even - (LEFT_OUT * even_within - points.resolution)) / known)
    top = int(np.argmax(gains))
    slack = max(LEAST_GAIN, float(errors[top] / known[top]))
    elbow = numbers[int(np.flatnonzero(gains >= gains[top] - slack)[0])]
    best = min(elbow, supported)
    # As good as the best: peaks that are nearly as high as the highest, and clearly above the number before.
    before, after = np.concatenate([[0.0], gains[:-1]]), np.concatenate([gains[1:], [-np.inf]])
    peaks = (gains >= gains[top] - NEARLY * slack) & (gains >= before + slack) & (gains >= after - slack / 2)
    others = {number for number, good in zip(numbers, peaks, strict=True) if good and best > 1 and number <= supported}
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


def _even_losses(numbers: Sequence[int], points: NoisyPoints, generator: np.random.Generator) -> tuple[FloatArray, float]:
    """Return the losses, between points and within them, of rows spread evenly along the principal axes as far as these."""
    spreads = _axes(points)
    n_points = len(points.points)
    n_rows = min(REFERENCE_ROWS * n_points, max(ENOUGH_ROWS, FEWER_ROWS * n_points))
    rows = generator.uniform(-1.0, 1.0, (n_rows, min(len(spreads), MOST_AXES)))
    rows *= np.sqrt(3 * spreads[:MOST_AXES])
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
    within = float(spreads[MOST_AXES:].sum()) + float(model.inertia_) / len(rows)
    cuts = [flat.cut(count, generator=generator, restarts=FEW_RESTARTS) for count in numbers]
    return np.maximum([cut_loss(flat, centers) for centers in cuts], 1e-300), within


def _axes(points: NoisyPoints) -> FloatArray:
    """Return the variances of the rows along their principal axes, the largest first."""
    weights = np.maximum(points.weights, 1e-300)
    offsets = points.points - np.average(points.points, axis=0, weights=weights)
    within = np.average(points.variances, axis=0, weights=weights)
    matrix = (offsets.T * (weights / weights.sum())) @ offsets + np.diag(within)
    return np.asarray(np.maximum(np.linalg.eigvalsh(matrix)[::-1], 0.0))
