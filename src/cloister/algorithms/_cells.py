# SPDX-License-Identifier: Apache-2.0
"""What to make of weighted cells: their k-means, and how many clusters they support. Arithmetic on public numbers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cloister.algorithms._grid import denoise_counts
from cloister.algorithms._kmeans import weighted_kmeans
from cloister.columns import FloatArray, IntArray, snap
from cloister.questions import Nearest

__all__ = ["RESTARTS", "KChoice", "choose_number", "cluster_cells", "compare_numbers", "nearest_cell", "squares_to"]

RESTARTS = 10
FEW_RESTARTS = 3
SPLITS = 3  # of the noise
NEARLY = 3.0  # times the slack by which a peak may be lower than the highest and still be as good
LEAST_GAIN = math.log(1.12)  # what a further cluster must gain over one in evenly spread mass


@dataclass(frozen=True, eq=False)
class KChoice:
    """What comparing numbers of clusters found."""

    n_clusters: tuple[int, ...]
    loss: FloatArray  # mean squared distance of the synopsis' mass to the centres
    held_out: FloatArray  # the same on a half of the noise the centres have not seen
    held_out_error: FloatArray
    even: FloatArray  # the loss of mass that is spread evenly over the box: what any k achieves without clusters
    elbow: int  # from here on, further clusters help no more than they help evenly spread mass
    supported: int  # the largest k that lowers the held-out loss by more than two of its errors
    best: int
    as_good: tuple[int, ...] = ()  # numbers at which clusters stand out about as well as at the best one, which is among them

    def to_dict(self) -> dict[str, Any]:
        """Return the choice as plain data."""
        return {
            "n_clusters": list(self.n_clusters),
            "loss": self.loss.tolist(),
            "held_out": self.held_out.tolist(),
            "held_out_error": self.held_out_error.tolist(),
            "even": self.even.tolist(),
            "elbow": self.elbow,
            "supported": self.supported,
            "best": self.best,
            "as_good": list(self.as_good),
        }

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


def compare_numbers(
    numbers: list[int],
    noisy_counts: FloatArray,
    *,
    sigma: float,
    n_rows: float,
    points: FloatArray,
    half_widths: FloatArray,
    counts: str,
    generator: np.random.Generator,
) -> KChoice:
    """Compare numbers of clusters, by an elbow and by a criterion that knows the noise.

    Parameters
    ----------
    numbers : list of int
        To compare, increasing.
    noisy_counts : array with one axis per column
        Of the cells, with independent noise of standard deviation `sigma`.
    sigma, n_rows : float
        Noise of a count, and the number of rows.
    points : array of shape (n_cells, n_features)
        Where the rows of each cell are taken to be.
    half_widths : array of shape (n_features,)
        The box.
    counts : str
        How noisy counts become weights.
    generator : Generator
        For restarts and for splitting the noise.
    """
    weights = np.maximum(denoise_counts(noisy_counts, counts, total=n_rows).ravel(), 0.0)
    halves = [_split(noisy_counts, sigma, n_rows, counts, generator) for _ in range(SPLITS)]

    def squares(mass: FloatArray, count: int, restarts: int) -> FloatArray:
        return squares_to(points, cluster_cells(points, mass, count, generator, restarts=restarts, half_widths=half_widths))

    table = []
    for count in numbers:
        judged = [(unseen, squares(seen, count, FEW_RESTARTS)) for seen, unseen in halves]
        # All halves share the noise that was released; the noise that split them is their own.
        noise = sigma * math.sqrt((1 + 1 / SPLITS) * float(np.mean([np.sum(one**2) for _, one in judged])))
        loss = np.sum(weights * squares(weights, count, RESTARTS)) / max(weights.sum(), 1.0)
        even = np.mean(squares(np.ones_like(weights), count, FEW_RESTARTS))
        table.append([loss, np.mean([np.sum(unseen * one) for unseen, one in judged]) / n_rows, noise / n_rows, even])
    inside = float(np.sum((half_widths / np.array(noisy_counts.shape)) ** 2))  # what is smaller than a cell is not resolved
    return choose_number(numbers, *np.array(table).T, inside=inside)


def _split(
    noisy_counts: FloatArray, sigma: float, n_rows: float, counts: str, generator: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return weights and counts with (for Gaussian noise exactly, else to second order) independent noise."""
    extra = sigma * generator.standard_normal(noisy_counts.shape)
    seen = denoise_counts(noisy_counts + extra, counts, total=n_rows)
    return np.maximum(seen, 0.0).ravel(), (noisy_counts - extra).ravel()


def cluster_cells(
    points: FloatArray,
    weights: FloatArray,
    n_clusters: int,
    generator: np.random.Generator,
    *,
    restarts: int,
    half_widths: FloatArray,
) -> FloatArray:
    """Weighted k-means of the cells; where fewer cells than clusters have weight, further centres are spread in the box."""
    alive = weights > 0
    if np.count_nonzero(alive) > n_clusters:
        return weighted_kmeans(points[alive], weights[alive], n_clusters, generator=generator, restarts=restarts)
    spare = (2 * generator.random((n_clusters - np.count_nonzero(alive), points.shape[1])) - 1) * half_widths
    return np.vstack([points[alive], spare])


def squares_to(points: FloatArray, centers: FloatArray) -> FloatArray:
    """Return the squared distance of each point to its nearest centre."""
    return np.asarray(np.sum((points - centers[nearest_cell(points, centers)]) ** 2, axis=1))


def nearest_cell(points: FloatArray, centers: FloatArray) -> IntArray:
    """Return the nearest centre of each point."""
    return Nearest(snap(centers))(snap(points))


def choose_number(
    numbers: Sequence[int],
    loss: FloatArray,
    held_out: FloatArray,
    errors: FloatArray,
    even: FloatArray,
    *,
    inside: float = 0.0,
    within: tuple[float, float] = (0.0, 0.0),
) -> KChoice:
    """Return the choice from the losses of all numbers.

    `inside` is what is too small to be resolved. `within` is what is left out of the held-out losses, and of those of evenly
    spread rows, when the two are compared, because no number of clusters removes it.
    """
    supported, lowest = numbers[0], held_out[0]
    for count, value, error in zip(numbers[1:], held_out[1:], errors[1:], strict=True):
        if value < lowest - 2 * error:
            supported, lowest = count, value
    # Without anything too small to be resolved, a loss below its error says no more than that.
    known = np.maximum(held_out, 0.0) + inside if inside else np.maximum(held_out - within[0], errors)
    gains = np.log((even - within[1] + inside) / known)
    top = int(np.argmax(gains))
    slack = max(LEAST_GAIN, float(errors[top] / known[top]))
    elbow = numbers[int(np.flatnonzero(gains >= gains[top] - slack)[0])]
    best = min(elbow, supported)
    peaks = _peaks(numbers, gains, slack) if best > 1 else set()
    as_good = tuple(sorted({best} | {count for count in peaks if count <= supported}))
    return KChoice(tuple(numbers), loss, held_out, errors, even, elbow, supported, best, as_good)


def _peaks(numbers: Sequence[int], gains: FloatArray, slack: float) -> set[int]:
    """Return numbers at which the gain is a peak that is nearly as high as the highest, and clearly above the number before."""
    before = np.concatenate([[0.0], gains[:-1]])
    after = np.concatenate([gains[1:], [-np.inf]])
    high = (gains >= gains.max() - NEARLY * slack) & (gains >= before + slack) & (gains >= after - slack / 2)
    return {number for number, good in zip(numbers, high, strict=True) if good}
