# SPDX-License-Identifier: Apache-2.0
"""Bounds that nobody knows, and the spread of columns: read off noisy histograms of all of them at once.

First a histogram of magnitudes finds between which powers of two the values of each column lie. Then a histogram of equal
intervals looks inside, again and again for the columns whose values still lie in a small part of it: far from zero, or in
bounds that are far too wide. What comes out are quantiles, not extremes: a few rows far out are left outside. Rows are reached
through ``ask`` alone, and no answer can make it fail: a column in which nothing is distinguishable from noise is unseen.

The spread of a column in known bounds is that of all rows, as far as the noise shows them. Where it shows none outside a
small part of the bounds, that part takes their place: rows that the noise hides are moved to its ends, so that a few of them
cannot lie a million standard deviations from the others.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cloister.algorithms._grid import project_to_total
from cloister.columns import FloatArray
from cloister.questions import Answer, Ask, ColumnIntervals, ColumnMagnitudes, Step

UNKNOWN = (-1.0, 1.0)  # stands for bounds that were not found
N_INTERVALS = 64  # of a look
N_LOOKS = 8  # at most
FALSE_MAGNITUDE = 1e-3  # chance that noise alone makes a power of two of any column stand out: bounds would be far too wide
FALSE_INTERVAL = 0.1  # the same of intervals, once they are fine enough: bounds would be a little wider
UNSEEN = 0.01  # part of the rows that may lie beyond either end of what stands out
UNSURE, SURE = 1.5, 4.0  # standard deviations of noise that may lie there besides: at the end, and while looking closer
WINDOWS = (1, 2, 4, 8, 16)  # bins that may stand out together
REACH = 4.5  # standard deviations from the mean that bounds reach: steadier than the ends that stand out
BEYOND = 1.0  # of the width between these ends, that bounds reach farther at most
RESOLVED = 5  # intervals between the ends, from which on a look is fine enough
CLEAR = 3.0  # standard deviations of noise above which rows outside of what stands out are believed
MOST_HIDDEN = 0.2  # part of the rows that may seem to lie there, however large the noise
TAIL = 3  # powers of two beyond the last one that stands out, which are looked at together
LARGEST_COUNT = 1e18  # no table has more rows
AROUND = 1  # intervals kept on either side when looking closer
LARGEST = 1e6  # a column of nothing but zeros is looked at down to NARROWEST / LARGEST
NARROWEST = 1e-8  # width, in units of the largest coordinate, beyond which nobody looks
NEAR_ZERO = 8.0  # an end so many times smaller than the other one is taken to be zero
UNIFORM = 12**-0.5  # standard deviation of evenly spread values, in units of their width


@dataclass(frozen=True)
class Found:
    """Where the values of a column lie."""

    low: float
    high: float
    spread: float  # standard deviation, about
    seen: bool  # whether anything stood out of the noise
    sign: int = 0  # that all powers of two have which stand out; 0 for both
    within: tuple[float, float] = (math.inf, -math.inf)  # in the outermost powers of two that stand out: bounds hold it
    coarse: "Found | None" = None  # what the look before said, should this one say less
    known: tuple[float, float] | None = None  # bounds, to which rows outside are moved
    narrowed: bool = False  # whether nothing was seen outside a small part of known bounds


def find_ranges(
    ask: Ask, steps: Sequence[Step], known: Mapping[int, tuple[float, float] | None], *, n_rows: float | None = None
) -> dict[int, Found]:
    """Return where the values of some columns lie.

    `known` has these columns by position, each with its bounds where they are known: then only the spread is of interest.
    `steps` are that of the magnitudes, unless all bounds are known, and the looks, which end where no column needs another one.
    `n_rows` is public or noisy; None where nobody knows it.
    """
    found = {index: _of_known(*pair) for index, pair in known.items() if pair is not None}
    unknown = tuple(index for index, pair in known.items() if pair is None)
    looks = iter(steps)
    if unknown:
        answer = ask(ColumnMagnitudes(columns=unknown), next(looks)["counts"])
        threshold = _threshold(answer, FALSE_MAGNITUDE)
        for index, counts in zip(unknown, answer.value, strict=True):
            found[index] = _of_magnitude(counts[:-1], _ends(counts[:-1], threshold), noise=answer.sigma)
    open_columns = tuple(index for index in known if found[index].seen)
    for step in looks:
        if not open_columns:
            break
        low, high = np.array([(found[index].low, found[index].high) for index in open_columns]).T
        question = ColumnIntervals(columns=open_columns, low=low, high=high, n_intervals=N_INTERVALS)
        answer = ask(question, step["counts"])
        resolved = set()
        for index, counts in zip(open_columns, np.clip(answer.value, -LARGEST_COUNT, LARGEST_COUNT), strict=True):
            total = float(counts[:-1].sum()) if n_rows is None else n_rows - max(float(counts[-1]), 0.0)
            before, inside = found[index], _with_moved(found[index], counts[:-1])
            ends = _where(before, answer, inside, total=total, total_is_known=n_rows is not None)
            found[index], fine = _look_closer(before, inside, ends)
            if fine:
                resolved.add(index)
        open_columns = tuple(index for index in open_columns if index not in resolved)
    return found


def _with_moved(before: Found, counts: FloatArray) -> FloatArray:
    """Return counts in which rows outside of known bounds lie at the nearer end, as they will."""
    if before.known is None:
        return counts
    counts = counts.copy()
    for outside, end, at_end in ((0, 1, before.low <= before.known[0]), (-1, -2, before.high >= before.known[1])):
        if at_end:
            counts[end] += counts[outside]
            counts[outside] = 0.0
    return counts


def _threshold(answer: Answer, chance: float) -> float:
    """Return what noise alone exceeds in none of the bins, but for a small chance."""
    return answer.event.quantile(1 - chance / (len(WINDOWS) * answer.value.size))


@dataclass(frozen=True)
class _Ends:
    first: int
    last: int
    n_rows: float  # that lie between them
    narrow: bool = False  # whether so few intervals hold all rows that a closer look pays
    holds_all: bool = True  # whether no rows are seen outside


def _where(before: Found, answer: Answer, counts: FloatArray, *, total: float, total_is_known: bool) -> _Ends | None:
    """Return the first and the last interval in which the values of a column lie, if any stand out.

    Where few intervals hold nearly all rows, none is added that noise may have made. Later, in doubt, more are added. Of known
    bounds none is left outside, so that all intervals are returned where some are.
    """
    is_first = before.coarse is None
    whole = before.known is not None and is_first
    spare = 0.0 if whole else 2 * UNSEEN * max(total, 0.0)

    def inside(ends: tuple[int, int]) -> float:
        return float(counts[ends[0] : ends[1] + 1].sum())

    def holds_all(ends: tuple[int, int]) -> bool:
        width = ends[1] - ends[0] + 1
        noise = answer.sigma * math.sqrt(width + 1 if total_is_known else len(counts) - width)
        return total - inside(ends) <= min(spare + CLEAR * noise, MOST_HIDDEN * total)

    sure = _ends(counts, _threshold(answer, FALSE_MAGNITUDE))
    if sure is not None:
        sure = _with_tails(counts, sure, noise=SURE * answer.sigma, total=total)
        if sure[1] - sure[0] + 1 < RESOLVED and holds_all(sure):
            return _Ends(*sure, inside(sure), narrow=True)
    likely = _ends(counts, _threshold(answer, FALSE_INTERVAL)) or sure
    if likely is None or (sure is None and not is_first):  # a closer look is noisier: what it makes up is no finer
        return None
    ends = likely if sure is None else (min(sure[0], likely[0]), max(sure[1], likely[1]))
    ends = _with_tails(counts, ends, noise=UNSURE * answer.sigma, total=total)
    if holds_all(ends):
        return _Ends(*ends, inside(ends))
    if whole:
        return _Ends(0, len(counts) - 1, total)
    ends = _with_tails(counts, ends, noise=0.0, total=total)
    return _Ends(*ends, inside(ends), holds_all=holds_all(ends))


def _ends(counts: FloatArray, threshold: float) -> tuple[int, int] | None:
    """Return the first and the last bin that stand out of the noise, alone or together with their neighbours, if any do."""
    rest, occupied = counts.copy(), np.zeros(len(counts), dtype=bool)
    for window in WINDOWS:
        sums = np.convolve(rest, np.ones(window), mode="valid")
        for start in np.flatnonzero(sums > threshold * math.sqrt(window)):
            part = slice(start, start + window)
            occupied[part] |= rest[part] > 0
        rest[occupied] = 0.0  # what stands out by itself lends nothing to its neighbours
    places = np.flatnonzero(occupied)
    return (int(places[0]), int(places[-1])) if places.size else None


def _with_tails(counts: FloatArray, ends: tuple[int, int], *, noise: float, total: float) -> tuple[int, int]:
    """Move the ends outwards until hardly more lies beyond them than noise explains."""
    sums = np.concatenate([[0.0], np.cumsum(counts)])
    beyond = np.arange(len(counts) + 1)
    limits = UNSEEN * max(total, 0.0) + noise * np.sqrt(beyond)  # a noisy total may be negative
    before, after = sums <= limits, (sums[-1] - sums)[::-1] <= limits  # of so many bins at either end
    first = int(np.flatnonzero(before[: ends[0] + 1])[-1])
    last = len(counts) - 1 - int(np.flatnonzero(after[: len(counts) - ends[1]])[-1])
    return first, last


def _with_next_powers(counts: FloatArray, ends: tuple[int, int], *, noise: float) -> tuple[int, int]:
    """Move the ends outwards as long as the next powers of two together hold more than noise: long tails thin out slowly."""
    first, last = ends
    while counts[last + 1 : last + 1 + TAIL].sum() > CLEAR * noise * math.sqrt(TAIL):
        last = min(last + TAIL, len(counts) - 1)
    while counts[max(first - TAIL, 0) : first].sum() > CLEAR * noise * math.sqrt(TAIL):
        first = max(first - TAIL, 0)
    return first, last


def _of_known(low: float, high: float) -> Found:
    """Return known bounds, whose values may be spread evenly."""
    return Found(low, high, (high - low) * UNIFORM, seen=True, known=(low, high))


def _of_magnitude(counts: FloatArray, ends: tuple[int, int] | None, *, noise: float) -> Found:
    """Return the interval between the first and the last power of two that stands out, and one more on either side."""
    if ends is None:
        return Found(*UNKNOWN, (UNKNOWN[1] - UNKNOWN[0]) * UNIFORM, seen=False)
    if ends[0] == ends[1] == ColumnMagnitudes.ZERO:
        return Found(-1.0, 1.0, 2 * UNIFORM, seen=True)  # nothing but zeros
    first, last = _with_next_powers(counts, ends, noise=noise)
    low, high = ColumnMagnitudes.edges(max(first - 1, 0), min(last + 1, 2 * ColumnMagnitudes.ZERO))
    sign = int(ends[0] >= ColumnMagnitudes.ZERO) - int(ends[1] <= ColumnMagnitudes.ZERO)
    if sign * low >= 0 and sign * high >= 0 and min(abs(low), abs(high)) < max(abs(low), abs(high)) / NEAR_ZERO:
        # Values near zero may have the other sign, too, in powers of two that do not stand out one by one.
        low, high = -max(abs(low), abs(high)), max(abs(low), abs(high))
    inner, outer = ColumnMagnitudes.edges(ends[0], ends[1])
    within = (0.75 * inner if inner < 0 else math.inf, 0.75 * outer if outer > 0 else -math.inf)  # the middle of a power
    return Found(low, high, (high - low) * UNIFORM, seen=True, sign=sign, within=within)


def _look_closer(before: Found, counts: FloatArray, ends: _Ends | None) -> tuple[Found, bool]:
    """Return where values lie inside an interval, by a histogram of it, and whether that is fine enough."""
    if ends is None:
        return before.coarse or before, True
    first, last = ends.first, ends.last
    inside = counts[first : last + 1]
    if before.coarse is not None and not ends.holds_all:
        return before.coarse, True
    width = (before.high - before.low) / N_INTERVALS
    edges = before.low + width * np.arange(-1, N_INTERVALS + 2)  # of the intervals, and of what lies below and above
    low, high = float(edges[first]), float(edges[last + 1])
    mass = project_to_total(inside, max(ends.n_rows, 1.0))
    middle = edges[first : last + 1] + width / 2
    mean = float(mass @ middle) / float(mass.sum())
    spread = math.sqrt(float(mass @ (middle - mean) ** 2) / float(mass.sum()) + width**2 / 12)
    before = replace(before, narrowed=before.narrowed or (ends.narrow and before.known is not None))
    settled = _settle(before, low, high, mean=mean, spread=spread)
    if not ends.narrow or high - low <= _smallest(low, high):
        return settled, True
    nothing = (math.inf, -math.inf)  # a column far from zero: its power of two says too little
    low, high = low - AROUND * width, high + AROUND * width
    if before.known is not None:
        low, high = max(low, before.known[0]), min(high, before.known[1])
    closer = replace(before, low=low, high=high, spread=spread, within=nothing)
    return replace(closer, coarse=settled), False


def _settle(before: Found, low: float, high: float, *, mean: float, spread: float) -> Found:
    """Return bounds from what a look shows: beyond the ends that stand out, as far as the spread says."""
    one_sign = (before.sign > 0 and low >= 0) or (before.sign < 0 and high <= 0)
    farthest, smallest = BEYOND * (high - low), _smallest(low, high)
    low = min(max(mean - REACH * spread, low - farthest), low - smallest)
    high = max(min(mean + REACH * spread, high + farthest), high + smallest)
    low, high = min(low, before.within[0]), max(high, before.within[1])
    if one_sign:
        low, high = (max(low, 0.0), high) if before.sign > 0 else (low, min(high, 0.0))
    return replace(before, low=low, high=high, spread=max(spread, smallest), coarse=None)


def _smallest(low: float, high: float) -> float:
    """Return the width at which looking closer ends."""
    return NARROWEST * max(abs(low), abs(high), 1 / LARGEST)
