# SPDX-License-Identifier: Apache-2.0
"""The shares of one noisy histogram: none negative, one in all, and the errors that noise makes of what follows from them."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cloister.columns import FloatArray, project_to_simplex

CLEAR = 3.0  # standard deviations of its noise from which on a bin stands out
import os
HID=int(os.environ.get('HID','0')); SOFT=float(os.environ.get('SOFT','0'))
TOGETHER = float(os.environ.get('TOG','2.5'))  # standard deviations of their noise from which on bins beyond these stand out together
STEEPEST, FLAT = 20.0, 1e-2  # changes of the logarithm of the density over a bin: the largest; below which it is even
QB=float(os.environ.get('QB','.25'))
UNEVEN = float(os.environ.get('UN','.25'))  # part of a bin that is never taken to be explained by its neighbours


@dataclass(frozen=True, eq=False)
class Shares:
    """One cluster: the shares nearest to the noisy ones that are not negative and add up to one.

    Of numbers and dates, only bins between the first and the last that stand out of the noise count, and one more to each side:
    what noise alone leaves far away would make every spread too large.
    """

    values: FloatArray
    noise: float  # of a share
    kept: npt.NDArray[np.bool_]  # bins that count
    counts: FloatArray  # noisy ones, of what is not missing; zero where a bin does not count
    left_out: FloatArray  # the others
    sigma: float

    @classmethod
    def of(cls, counts: FloatArray, sigma: float, *, ordered: bool) -> "Shares | None":
        """Return the shares of noisy counts; None where those that count add up to nothing."""
        kept, weights = np.ones(len(counts), dtype=bool), np.ones(len(counts))
        clear = np.flatnonzero(counts[:-1] > CLEAR * sigma)
        if ordered and clear.size:  # the last bin, that of missing values, always counts
            weights[: clear[0]] = _weights(counts[: clear[0]][::-1], sigma)[::-1]
            weights[clear[-1] + 1 : -1] = _weights(counts[clear[-1] + 1 : -1], sigma)
            kept = weights > 0
        total = float(counts[kept].sum())
        if total <= 0:
            return None
        values = np.zeros(len(counts))
        values[kept] = project_to_simplex(counts[None, kept] / total)[0]
        own = np.where(kept, counts * weights, 0.0)[:-1]
        return cls(values, sigma / total, kept, own, counts[:-1] - own, sigma)

    @property
    def total(self) -> float:
        """Noisy number of rows whose value is not missing."""
        return float(self.counts.sum())

    def error(self, moves: FloatArray) -> float:
        """Return the standard error of a ratio to the total that each further row in a bin moves by `moves` over the total.

        Of the bins left out on either side, as many rows as their noise may hide, but not more than the last bin that counts
        has, are taken to lie at their near end.
        """
        inside = np.flatnonzero(self.kept[:-1])
        hidden = []
        for side, end in ((slice(0, inside[0]), inside[0]), (slice(inside[-1] + 1, len(moves)), inside[-1])):
            if self.left_out[side].size:
                most = self.sigma * math.sqrt(self.left_out[side].size)
                seen = max(float(self.counts[end]), 0.0)
                order = list(range(side.stop - 1, -1, -1)) if side.start == 0 and end == inside[0] else list(range(side.start, side.stop))
                if HID == 0: hidden.append(min(most, seen) * moves[order[0]])
                elif HID == 1: hidden.append(most * moves[order[0]])
                elif HID == 2: hidden += [self.sigma * moves[one] for one in order[:2]]
                elif HID == 3: hidden += [self.sigma * moves[one] for one in order[:3]]
        return float(np.linalg.norm([*(self.sigma * moves[inside]), *hidden])) / self.total

    def errors(self) -> FloatArray:
        """Return the standard error of every share; where it was cut to zero, what the noise of its count alone makes.

        Around the shares, the projection subtracts from every bin that is positive what these exceed one by, divided by their
        number; and all counts make up the total by which they were divided.
        """
        positive = self.values > 0
        inside = positive.astype(float)
        own = np.diag(inside) - np.outer(inside, inside) / inside.sum()
        by_total = self.values - inside / inside.sum()
        moved = own - np.outer(by_total, self.kept)
        return np.where(positive, self.noise * np.sqrt(np.sum(moved**2, axis=1)), self.noise)


def _weights(counts: FloatArray, sigma: float) -> FloatArray:
    """Return how far bins beyond the last clear one count: as long as the next ones together stand out of the noise.

    They were chosen because their noisy counts are large, so they count the less the closer they are to the noise.
    """
    weights, start = np.zeros(len(counts)), 0
    while start < len(counts):
        sums = np.cumsum(counts[start:]) / (sigma * np.sqrt(np.arange(1, len(counts) - start + 1)) + 1e-300)
        best = int(np.argmax(sums))
        if sums[best] <= TOGETHER:
            break
        weights[start : start + best + 1] = 1 - SOFT * (TOGETHER / sums[best]) ** 2
        start += best + 1
    return weights


@dataclass(frozen=True, eq=False)
class Within:
    """Where the values of one cluster lie inside their bins, as far as the counts of neighbouring bins tell.

    The logarithm of the density in a bin is taken to be linear, as steep as from neighbour to neighbour. What a bin
    holds more or less than its neighbours explain may lie anywhere in it, such as a value that many rows share: the errors say so.
    """

    edges: FloatArray
    shares: FloatArray  # of the bins, of what is not missing
    tilts: FloatArray  # by which logarithms of the density grow over each bin
    unexplained: FloatArray  # part of each bin, from 0 to 1

    @classmethod
    def of(cls, cluster: Shares, edges: FloatArray) -> "Within":
        """Return what neighbouring bins tell."""
        shares, kept, widths = np.zeros(len(cluster.counts)), cluster.kept[:-1], np.diff(edges)
        shares[kept] = project_to_simplex(cluster.counts[None, kept] / cluster.total)[0]
        if len(shares) == 1:
            return cls(edges, shares, np.zeros(1), np.ones(1))
        # Where noise may hide all rows of a bin, it may hold as many.
        density = np.maximum(shares, max(cluster.noise, 1e-9)) / widths
        logs, middles = np.log(density), (edges[:-1] + edges[1:]) / 2
        steps = np.diff(logs) / np.diff(middles)
        left, right = np.append(steps[0], steps), np.append(steps, steps[-1])
        predicted = np.empty(len(logs))
        span = middles[2:] - middles[:-2]
        predicted[1:-1] = logs[:-2] + (logs[2:] - logs[:-2]) * (middles[1:-1] - middles[:-2]) / np.maximum(span, 1e-300)
        inner = (steps[min(1, len(steps) - 1)], steps[max(len(steps) - 2, 0)]) if len(steps) > 1 else (0.0, 0.0)
        predicted[0] = logs[1] - inner[0] * (middles[1] - middles[0])
        predicted[-1] = logs[-2] + inner[1] * (middles[-1] - middles[-2])
        unexplained = np.minimum(np.abs(np.expm1(np.clip(predicted - logs, -30, 30))), 1.0)
        return cls(edges, shares, np.clip((left + right) / 2 * widths, -STEEPEST, STEEPEST), unexplained)

    @property
    def widths(self) -> FloatArray:
        """How wide the bins are."""
        return np.diff(self.edges)

    @property
    def means(self) -> FloatArray:
        """Means of the bins."""
        return (self.edges[:-1] + self.edges[1:]) / 2 + self.widths * self._offsets

    @property
    def _offsets(self) -> FloatArray:
        """Means of the bins, from their middles, in widths."""
        tilts = np.where(np.abs(self.tilts) < FLAT, FLAT, self.tilts)
        return np.where(np.abs(self.tilts) < FLAT, self.tilts / 12, 0.5 / np.tanh(tilts / 2) - 1 / tilts)

    @property
    def variances(self) -> FloatArray:
        """Variances inside the bins."""
        tilts = np.maximum(np.abs(self.tilts), FLAT)
        return self.widths**2 * (1 / tilts**2 - 0.25 / np.sinh(tilts / 2) ** 2)

    @property
    def mean_errors(self) -> FloatArray:
        """Standard errors of the means: those of a value anywhere in the bin, for what is not explained."""
        return self.widths * self.unexplained / math.sqrt(12)

    def mean_error(self, weights: FloatArray) -> float:
        """Return the standard error of a sum of the means with such weights."""
        own = float(np.linalg.norm(weights * self.mean_errors))
        return math.hypot(own, UNEVEN * float(weights @ self.widths) / math.sqrt(12))

    @property
    def variance_errors(self) -> FloatArray:
        """Standard errors of the variances, of which values at one point of a bin would have none."""
        return self.widths**2 * np.hypot(self.unexplained, UNEVEN) / 12

    @property
    def place_errors(self) -> FloatArray:
        """Standard errors of a quantile inside each bin."""
        return self.widths * np.maximum(self.unexplained / 2, QB)

    def quantile(self, part: float) -> tuple[float, int, float]:
        """Return a quantile, its bin, and which part of the bin lies below it."""
        ends, full = np.cumsum(self.shares), np.flatnonzero(self.shares)
        place = int(np.clip(np.searchsorted(ends, part), full[0], full[-1]))
        below = float(np.clip((part - ends[place] + self.shares[place]) / self.shares[place], 0.0, 1.0))
        tilt = float(self.tilts[place])
        way = math.log1p(below * math.expm1(tilt)) / tilt if abs(tilt) > FLAT else below
        return float(self.edges[place] + min(way, 1.0) * self.widths[place]), place, below
