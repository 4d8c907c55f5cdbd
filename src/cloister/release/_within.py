# SPDX-License-Identifier: Apache-2.0
"""Where the values of a cluster lie inside the bins of a noisy histogram, and beyond those distinguishable from noise."""

import math
from dataclasses import dataclass

import numpy as np

from cloister.columns import FloatArray, project_to_simplex
from cloister.release._shares import Shares

STEEPEST, FLAT = 20.0, 1e-2  # changes of the logarithm of a density over a bin: the largest; below which it is even
ALIKE = 0.2  # part of a bin's width by which values may lie off in all bins alike, such as whole numbers at their lower ends
LEAST = 0.15  # of a bin's width, that a quantile may be off at least
REACH = 2.0  # standard errors to each side of a share at which a quantile is looked up, to tell its own error
FEWEST = 2  # bins back from the last one, over which the fall of the density is taken
HEAVY = 1.5  # scales of the fall by which their mean may be off: most tails are heavier than they look
FAR = 8.0  # scales of the fall, within which the rows beyond the last bin would lie
MOST = 600.0  # of a logarithm, so that what an edited file holds has an exponential
EVEN = math.sqrt(12)  # widths of a bin for each standard deviation of values spread evenly over it


@dataclass(frozen=True, eq=False)
class Within:
    """What a noisy histogram says of one cluster: rows, means and variances of its bins, and of two tails that noise hides.

    The logarithm of the density in a bin is taken to be linear, as steep as from neighbour to neighbour. What a bin holds more
    or less than its neighbours explain may lie anywhere in it, such as a value that many rows share: the errors say so. Beyond
    the bins that count, the density is taken to fall as it did before, as far as the counts there allow.
    """

    edges: FloatArray
    tilts: FloatArray  # by which logarithms of the density grow over each bin
    unexplained: FloatArray  # part of each bin, from 0 to 1
    # Of the bins, then of the two tails:
    rows: FloatArray
    noise: FloatArray  # standard errors of the rows
    means: FloatArray
    mean_errors: FloatArray
    variances: FloatArray
    variance_errors: FloatArray

    @classmethod
    def of(cls, cluster: Shares, edges: FloatArray) -> "Within":
        """Return what neighbouring bins tell."""
        kept, widths, middles = cluster.kept[:-1], np.diff(edges), (edges[:-1] + edges[1:]) / 2
        rows = np.where(kept, cluster.counts, 0.0)
        # Where noise may hide all rows of a bin, it may hold as many.
        logs = np.log(np.maximum(rows, max(cluster.sigma, 1e-9 * rows.sum())) / widths)
        tilts, unexplained = _explain(logs, middles, widths)
        tails = [_tail(cluster, edges, logs, side) for side in (0, 1)]
        own = np.where(np.abs(tilts) < FLAT, FLAT, tilts)
        offsets = np.where(np.abs(tilts) < FLAT, tilts / 12, 0.5 / np.tanh(own / 2) - 1 / own)
        variances = widths**2 * (1 / own**2 - 0.25 / np.sinh(own / 2) ** 2)
        hidden, errors, means, scales, doubts = np.array(tails).T
        return cls(
            edges,
            tilts,
            unexplained,
            rows=np.append(rows, hidden),
            noise=np.append(np.where(kept, cluster.sigma, 0.0), errors),
            means=np.append(middles + widths * offsets, means),
            mean_errors=np.append(widths * unexplained / EVEN, HEAVY * doubts),
            variances=np.append(variances, scales**2),
            variance_errors=np.append(widths**2 * np.hypot(unexplained, ALIKE) / 12, (HEAVY * doubts) ** 2),
        )

    @property
    def total(self) -> float:
        """Noisy number of rows whose value is not missing."""
        return float(self.rows.sum())

    def error(self, moves: FloatArray) -> float:
        """Return the standard error of a ratio to the total that each further row moves by `moves` over the total."""
        return float(np.linalg.norm(self.noise * moves)) / self.total

    def unknown(self, moves: FloatArray) -> float:
        """Return the standard error of a ratio to the total that moves by so much for each row whose value moves by one."""
        weights = np.maximum(self.rows, 0.0) / self.total * moves
        alike = ALIKE * float(weights[:-2] @ np.diff(self.edges)) / EVEN
        return math.hypot(float(np.linalg.norm(weights * self.mean_errors)), alike)

    def mean(self) -> tuple[float, float]:
        """Return the mean and its error."""
        mean = float(self.means @ self.rows) / self.total
        return mean, math.hypot(self.error(self.means - mean), self.unknown(np.ones(len(self.rows))))

    def spread(self) -> tuple[float, float]:
        """Return the standard deviation and its error."""
        away = self.means - self.mean()[0]
        squares = away**2 + self.variances
        shares = np.maximum(self.rows, 0.0) / self.total
        variance = float(squares @ self.rows) / self.total
        spread = math.sqrt(max(variance, float(self.variances @ shares)))
        parts = self.error(squares - variance), 2 * self.unknown(away), float(shares @ self.variance_errors)
        return spread, float(np.linalg.norm(parts)) / max(2 * spread, 1e-300)

    def quantile(self, part: float) -> tuple[float, float]:
        """Return a quantile and its error."""
        shares = project_to_simplex(self.rows[None, :-2] / self.total)[0]
        ends, full = np.cumsum(shares), np.flatnonzero(shares)

        def find(part: float) -> tuple[float, int, float]:
            """Return where a part of the values lies below, in which bin, and which part of that."""
            place = int(np.clip(np.searchsorted(ends, part), full[0], full[-1]))
            below = float(np.clip((part - ends[place] + shares[place]) / shares[place], 0.0, 1.0))
            tilt = float(self.tilts[place])
            way = math.log1p(below * math.expm1(tilt)) / tilt if abs(tilt) > FLAT else below
            return float(self.edges[place] + way * (self.edges[place + 1] - self.edges[place])), place, below

        value, place, below = find(part)
        moves = np.zeros(len(self.rows))
        moves[:place], moves[place], moves[-2] = 1.0, below, 1.0
        reach = REACH * self.error(moves - part)
        low, high = (find(min(max(part + step, 0.0), 1.0))[0] for step in (-reach, reach))
        width = float(self.edges[place + 1] - self.edges[place])
        within = width * max(float(self.unexplained[place]) / 2, LEAST)
        return value, min(math.hypot(max(value - low, high - value) / REACH, within), float(self.edges[-1] - self.edges[0]))


def _explain(logs: FloatArray, middles: FloatArray, widths: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return how steep the density is in each bin, and which part of the bin its neighbours do not explain."""
    if len(logs) == 1:
        return np.zeros(1), np.ones(1)
    steps = np.diff(logs) / np.diff(middles)
    before, after = np.append(steps[0], steps), np.append(steps, steps[-1])
    # What lies between its neighbours, on a straight line; at the ends, beyond the next two.
    expected = np.empty(len(logs))
    way = (middles[1:-1] - middles[:-2]) / (middles[2:] - middles[:-2])
    expected[1:-1] = logs[:-2] + way * (logs[2:] - logs[:-2])
    first, last = (steps[1], steps[-2]) if len(steps) > 1 else (0.0, 0.0)
    expected[0], expected[-1] = logs[1] - first * (middles[1] - middles[0]), logs[-2] + last * (middles[-1] - middles[-2])
    unexplained = np.minimum(np.abs(np.expm1(np.minimum(expected - logs, STEEPEST))), 1.0)
    # Of what neighbours do not explain they tell no slope either: beside a value that many rows share, or at a peak.
    return (1 - unexplained**4) * np.clip((before + after) / 2 * widths, -STEEPEST, STEEPEST), unexplained


def _tail(cluster: Shares, edges: FloatArray, logs: FloatArray, side: int) -> tuple[float, float, float, float, float]:
    """Return how many rows lie beyond the bins that count, the error of that, their mean, how far they scatter, or may."""
    inside, middles = np.flatnonzero(cluster.kept[:-1]), (edges[:-1] + edges[1:]) / 2
    first, last = (int(inside[0]), int(inside[-1])) if side else (int(inside[-1]), int(inside[0]))
    sign = 1 if side else -1
    beyond = np.arange(last + sign, len(middles) if side else -1, sign)
    end, border = (float(edges[last + 1]), float(edges[-1])) if side else (float(edges[last]), float(edges[0]))
    if not beyond.size:
        return 0.0, 0.0, end, 0.0, 0.0
    width, reach = (
        float(edges[last + 1] - edges[last]),
        min(abs(border - end), abs(float(edges[inside[-1] + 1] - edges[inside[0]]))) / 2,
    )
    back = last - sign * min(FEWEST, abs(last - first))
    fall = float(logs[back] - logs[last]) / abs(float(middles[last] - middles[back])) if back != last else math.inf
    scale = max(min(1 / fall if fall > 0 else math.inf, reach), min(width / 6, reach))
    density = math.exp(min(float(logs[last]) - width / (2 * max(scale, 1e-300)), MOST))  # at the end
    expected = min(density * scale, float(cluster.counts[inside].sum()))
    near = cluster.counts[beyond][np.abs(edges[beyond + (0 if side else 1)] - end) < FAR * scale]
    # Both of what the fall lets expect, which may be all wrong, and of what the counts say.
    doubt, noise = max(expected, cluster.sigma) ** 2, max(cluster.sigma**2 * near.size, 1e-300)
    rows = max((expected * noise + float(near.sum()) * doubt) / (doubt + noise), 0.0)
    own = min(max(rows / max(density, 1e-300), min(width / 6, reach)), reach)  # at which the fall would leave so many rows
    doubtful = max(own, scale)
    own = math.sqrt(own * doubtful)
    return rows, math.sqrt(doubt * noise / (doubt + noise)), end + sign * own, own, doubtful
