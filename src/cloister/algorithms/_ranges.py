# SPDX-License-Identifier: Apache-2.0
"""Bounds that nobody knows, and the spread of columns: read off noisy histograms of all of them at once.

First a histogram of magnitudes finds between which powers of two the values of each column lie. Then a histogram of equal
intervals looks inside, again and again for the columns whose values still lie in a small part of it: far from zero, or in
bounds that are far too wide. What comes out are quantiles, not extremes: a few rows far out are left outside. Rows are reached
through ``ask`` alone, and no answer can make it fail: where nothing stands out of the noise, a stated interval is used.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from cloister.algorithms._grid import project_to_total
from cloister.domain import FloatArray
from cloister.questions import Answer, Ask, ColumnIntervals, ColumnMagnitudes, Step

__all__ = ["FALLBACK", "N_INTERVALS", "N_LOOKS", "Found", "RangeSteps", "find_ranges"]

FALLBACK = (-1000.0, 1000.0)  # where nothing stands out of the noise
N_INTERVALS = 64  # of a look
N_LOOKS = 8  # at most
FALSE_ALARM = 0.01  # chance that noise alone makes a bin of any column stand out
WINDOWS = (1, 2, 4, 8)  # bins that may stand out together
SURE = 3.0  # standard deviations by which a sum of bins must exceed its noise
TAIL = 0.002  # part of the rows that may lie beyond either end
RESOLVED = 12  # intervals between the ends, from which on a look is fine enough
MARGIN = 0.1  # of the width, added at either end
NARROWEST = 1e-8  # width, in units of the largest coordinate, beyond which nobody looks
NEAR_ZERO = 8.0  # an end so many times smaller than the other one is taken to be zero
UNIFORM = 12**-0.5  # standard deviation of evenly spread values, in units of their width


@dataclass(frozen=True, kw_only=True)
class RangeSteps:
    """What may be asked, in order; a look is left out where no column needs it."""

    magnitudes: Step | None  # "counts"; None where all bounds are known
    looks: tuple[Step, ...]

    @property
    def steps(self) -> tuple[Step, ...]:
        """All of them."""
        return (*(() if self.magnitudes is None else (self.magnitudes,)), *self.looks)


@dataclass(frozen=True)
class Found:
    """Where the values of a column lie."""

    low: float
    high: float
    spread: float  # standard deviation, about
    seen: bool  # whether anything stood out of the noise


def find_ranges(ask: Ask, steps: RangeSteps, known: Mapping[int, tuple[float, float] | None]) -> dict[int, Found]:
    """Return where the values of some columns lie.

    Parameters
    ----------
    ask : Ask
        The way to the rows.
    steps : RangeSteps
        What each question may cost.
    known : mapping of int to (low, high) or None
        The columns, by position, with their bounds where these are known: then only the spread is of interest.
    """
    found = {index: Found(*pair, (pair[1] - pair[0]) * UNIFORM, seen=True) for index, pair in known.items() if pair is not None}
    unknown = tuple(index for index, pair in known.items() if pair is None)
    if unknown:
        assert steps.magnitudes is not None
        answer = ask(ColumnMagnitudes(columns=unknown), steps.magnitudes["counts"])
        threshold = _threshold(answer)
        for index, counts in zip(unknown, answer.value, strict=True):
            found[index] = _of_magnitude(counts[:-1], answer.sigma, threshold)
    open_columns = tuple(index for index in known if found[index].seen)
    for step in steps.looks:
        if not open_columns:
            break
        ends = np.array([(found[index].low, found[index].high) for index in open_columns])
        low, high = ends.T
        question = ColumnIntervals(columns=open_columns, low=low, high=high, n_intervals=N_INTERVALS)
        answer = ask(question, step["counts"])
        resolved = set()
        for index, counts in zip(open_columns, answer.value, strict=True):
            found[index], fine = _look_closer(found[index], counts[:-1], answer.sigma)
            if fine:
                resolved.add(index)
        open_columns = tuple(index for index in open_columns if index not in resolved)
    return {index: _widened(one) for index, one in found.items()}


def _threshold(answer: Answer) -> float:
    """Return what noise alone exceeds in none of the bins, but for a small chance."""
    return answer.event.quantile(1 - FALSE_ALARM / answer.value.size)


def _of_magnitude(counts: FloatArray, sigma: float, threshold: float) -> Found:
    """Return the interval between the first and the last power of two that stands out, and one more on either side."""
    occupied = np.zeros(len(counts), dtype=bool)
    for window in WINDOWS:
        sums = np.convolve(counts, np.ones(window), mode="valid")
        for start in np.flatnonzero(sums > threshold * math.sqrt(window)):
            part = slice(start, start + window)
            occupied[part] |= counts[part] > sigma
    places = np.flatnonzero(occupied)
    zero = ColumnMagnitudes.ZERO
    if not places.size:
        return Found(*FALLBACK, (FALLBACK[1] - FALLBACK[0]) * UNIFORM, seen=False)
    first, last = max(int(places[0]) - 1, 0), min(int(places[-1]) + 1, len(counts) - 1)
    if places[0] == places[-1] == zero:
        return Found(-1.0, 1.0, 2 * UNIFORM, seen=False)  # nothing but zeros
    low, high = ColumnMagnitudes.edges(first, last)
    if 0 < low < high / NEAR_ZERO:
        low = 0.0
    if 0 > high > low / NEAR_ZERO:
        high = 0.0
    return Found(low, high, (high - low) * UNIFORM, seen=True)


def _look_closer(before: Found, counts: FloatArray, sigma: float) -> tuple[Found, bool]:
    """Return where values lie inside an interval, by a histogram of it, and whether that is fine enough."""
    width = (before.high - before.low) / N_INTERVALS
    first, last = _start(counts, sigma), len(counts) - 1 - _start(counts[::-1], sigma)
    if first >= last and not (first == last and 0 < first < len(counts) - 1):
        return before, True  # nothing stands out
    first, last = max(first, 1), min(last, N_INTERVALS)
    low, high = before.low + (first - 1) * width, before.low + last * width
    fine = last - first + 1 >= RESOLVED
    middle = before.low + (np.arange(first, last + 1) - 0.5) * width
    mass = project_to_total(counts[first : last + 1], max(float(counts[first : last + 1].sum()), 1.0))
    mean = float(mass @ middle) / float(mass.sum())
    variance = float(mass @ (middle - mean) ** 2) / float(mass.sum()) + width**2 / 12
    found = Found(low, high, math.sqrt(variance), seen=True)
    if fine:
        return found, True
    wider = Found(max(low - width, before.low), min(high + width, before.high), found.spread, seen=True)
    return wider, high - low <= NARROWEST * max(abs(low), abs(high))


def _start(counts: FloatArray, sigma: float) -> int:
    """Return the bin in which the rows begin, from the left: where their sum leaves what noise and a small tail explain."""
    sums = np.cumsum(counts)
    total = max(float(sums[-1]), 1.0)
    limits = np.maximum(SURE * sigma * np.sqrt(np.arange(1, len(counts) + 1)), TAIL * total)
    clear = np.flatnonzero(sums > limits)
    if not clear.size:
        return len(counts)
    before = np.concatenate([[0.0], sums[: clear[0]]])
    return int(np.flatnonzero(before <= max(float(before.min()), TAIL * total))[-1])


def _widened(found: Found) -> Found:
    """Add a margin: too wide costs little, too narrow cuts rows."""
    if not found.seen:
        return found
    size = max(abs(found.low), abs(found.high))
    margin = max(MARGIN * (found.high - found.low), NARROWEST * size)
    return Found(found.low - margin, found.high + margin, max(found.spread, NARROWEST * size), seen=True)
