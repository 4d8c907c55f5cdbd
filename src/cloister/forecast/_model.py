# SPDX-License-Identifier: Apache-2.0
"""What a plan of :class:`cloister.KMeans` can be expected to find: arithmetic on public numbers, no rows.

**A centre's error** is followed through the rounds, in units of the cluster's radius (the root mean squared distance of its
rows). Let u be the squared error before a round. Offsets then are about sqrt(1 + u) long, the round clips them at the radius r
that :func:`cloister.algorithms.choose_radius` picks for them, and the mean offset of n rows carries the squared noise
e = c d (s r / phi n)^2: d coordinates with noise s per unit of radius, c the centres that share a cluster before extra ones
are joined. The step is shrunk, which leaves u e / (u + e), as if the two were averaged by inverse variance, and another
(2 / f) e^2 / (u + e), because the shrinking factor is itself read off f noisy numbers (the risk of James and Stein's
estimate). Joining adds the noise of the counts that weigh the parts.

**Before the first round** a centre that votes have placed is about a radius off. Where votes were cast in a projection, nothing
is known across it: the error there is as large as clusters are apart, taken as `APART` radii.

**The radius** is read off a noisy histogram of distances, in which empty bins seem to hold `RESIDUE` standard deviations of
rows. Where sums are nearly exact this keeps the radius wide, so that the last rounds carry more noise than they need.

**Large tables** are searched on a sample, on which centres are as far off as the mean of the sampled rows is; the last round,
which asks all rows, has to make up for that.

**A cluster is found** when it exceeds the noise of a vote by `CLEAR` standard deviations (`CLEAR_PROJECTED` where votes are
cast in a projection), is not so much smaller than the average that merging it pays (`SMALLEST`), and its centre ends within a
radius.
Measured on generated blobs, most clusters of that size are found, few of half the size, and nearly all of twice the size.
"""

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import gammainc, gammaincinv

from cloister.algorithms import Lengths, choose_radius
from cloister.cluster import FewRowsPlan, KMeansPlan, Plan

FARTHER = 2.0  # the last histogram looks so much farther, see algorithms/_refine.py
APART = 5.0  # radii between a cluster and its neighbours
CLEAR, CLEAR_PROJECTED = 4.0, 7.0  # standard deviations of a vote's noise
SMALLEST = 1 / 25  # of an average cluster: with few columns, extra centres pay more in large clusters than in smaller ones
FILLED = 0.99  # of the rows: bins beyond are empty, but for noise
RESIDUE = 0.2  # standard deviations of a histogram's noise that an empty bin seems to hold, once counts are made positive
RADII = 2.0 ** (np.arange(-18, 7) / 3)  # that a round chooses from, in units of the median distance
FEWEST_ROWS, MOST_ROWS = 1.0, 1e18


@dataclass(frozen=True)
class Outlook:
    """A plan, and what follows from it for clusters of any size."""

    plan: KMeansPlan

    @property
    def average(self) -> float:
        """Rows of a cluster of average size."""
        return self.plan.n_rows / self.plan.n_clusters

    @property
    def mean_error(self) -> float:
        """What the mean of all rows would carry as noise if all rounds asked for it, in units of the domain's radius."""
        return math.sqrt(self.plan.n_features) * self.plan.sum_noise(sum(self.plan.rounds)) / self.plan.n_rows

    @cached_property
    def smallest(self) -> float:
        """Rows of the smallest cluster that is found more often than not."""
        placed = first_success(lambda size: self.error(size) <= 1.0, FEWEST_ROWS, MOST_ROWS) or MOST_ROWS
        clear = CLEAR_PROJECTED if self.plan.dimension < self.plan.n_features else CLEAR
        seen = clear * self.plan.locate_steps.votes[-1]["counts"].sigma / self.plan.row_share
        return max(placed, seen, SMALLEST * self.average)

    def error(self, size: float) -> float:
        """Return the expected error of the centre of a cluster of `size` rows, in units of its radius."""
        square = self._start
        for one, radius in zip(self._rounds, self._radii, strict=True):
            square = one.after(square, radius, size)
        return min(math.sqrt(square), APART)

    @cached_property
    def _radii(self) -> tuple[float, ...]:
        """Clipping radii over phi, round by round; a round chooses one for all clusters, so that of the average one."""
        square, radii, plan = self._start, [], self.plan
        half = plan.n_features / 2
        for index, one in enumerate(self._rounds, start=1):
            # The histogram of distances of a round normal cluster from its centre, and what noise leaves in its empty bins.
            edges = (FARTHER if index == len(self._rounds) else 1.0) * RADII * math.sqrt(gammaincinv(half, 0.5) / half)
            reached = np.concatenate([[0.0], gammainc(half, half * edges**2), [1.0]])
            lengths = Lengths(
                math.sqrt(1 + square) * edges, np.diff(reached) + RESIDUE * one.histogram_noise * (reached[:-1] > FILLED), 0.0
            )
            noise = one.noise / max(plan.n_rows / one.centers, 1.0)
            radius, phi = choose_radius(lengths, n_rows=float(lengths.counts.sum()), noise=noise, n_features=plan.n_features)
            radii.append(radius / phi)
            square = one.after(square, radii[-1], self.average)
        return tuple(radii)

    @property
    def _start(self) -> float:
        return 1.0 + APART**2 * (1 - self.plan.dimension / self.plan.n_features)

    @cached_property
    def _rounds(self) -> tuple["_Round", ...]:
        plan, distances = self.plan, 0.0
        rounds = list[_Round]()
        # Rows are taken to fill a good part of the bounds, so that their mean is asked once.
        for one in plan.rounds_without(plan.locate_steps.origin[1:]):
            distances = one.step.sigma("distances") or distances  # settling rounds use the histogram of the one before
            asked = one.step["sums"].row_share
            rounds.append(
                _Round(
                    centers=one.step.n_points,
                    shared=one.step.n_points / plan.n_clusters,
                    joined=one.step.n_points / one.n_left - 1,
                    noise=math.sqrt(plan.n_features) * one.step["sums"].sigma / asked,
                    count_noise=one.step["counts"].sigma / one.step["counts"].row_share,
                    histogram_noise=distances / max(plan.n_sampled, 1.0),
                    sampling=0.0 if asked == 1 else (1 - asked) / asked,
                    unsure=min(1.0, 2 / (one.step.n_points * plan.n_features)),
                )
            )
        return tuple(rounds)


@dataclass(frozen=True, kw_only=True)
class _Round:
    """What a round does to the error of a centre."""

    centers: int  # before it
    shared: float  # of them, per cluster
    joined: float  # centres that each one left has swallowed
    noise: float  # of a sum of offsets, all coordinates together, per unit of radius
    count_noise: float
    histogram_noise: float  # of the fraction of rows in a bin of distances
    sampling: float  # squared error of the mean of a sample, times the rows of a cluster
    unsure: float  # 2 / f

    def after(self, square: float, radius: float, size: float) -> float:
        """Return the squared error after the round."""
        noise = self.shared * ((self.noise * radius / size) ** 2 + self.sampling / size)
        left = (square + self.unsure * noise) / (1 + square / noise)
        return left + self.joined * self.shared * (self.count_noise / size) ** 2


def outlook_of(plan: Plan) -> Outlook | None:
    """Return what to expect of a plan of KMeans; of few rows, what votes and sums would find at least."""
    votes = plan.otherwise if isinstance(plan, FewRowsPlan) else plan
    return Outlook(votes) if isinstance(votes, KMeansPlan) else None


def first_success(works: Callable[[float], bool], low: float, high: float) -> float | None:
    """Return about the smallest number from `low` to `high` that works, if all larger ones do and any does."""
    if works(low):
        return low
    if not works(high):
        return None
    while high > 1.001 * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if works(middle) else (middle, high)
    return high


def last_success(works: Callable[[int], bool], low: int, high: int) -> int | None:
    """Return the largest integer from `low` to below `high` that works, if all smaller ones do and any does."""
    found = bisect_left(range(low, high), True, key=lambda number: not works(number))
    return low + found - 1 if found else None
