# SPDX-License-Identifier: Apache-2.0
"""Where the bins of a histogram begin and end: narrow where noisy histograms of the whole table say that rows lie.

Pure functions of noisy counts and public numbers.
"""

import heapq
import math

import numpy as np

from cloister.columns import FloatArray

COARSE, FINE = 32, 512  # equal parts of a column at which the whole table is looked at
N_HALVINGS = 10  # of the fine parts at both ends and beside zero: where bounds are much too wide, rows often lie there
SIGNIFICANT = 3.0  # standard deviations of its noise by which two halves differ before they are taken to differ
LEAVES = 4  # parts that a column is cut into before neighbours are joined, for each bin that it gets
FLOOR = 1e-3  # of all rows, spread evenly: where nothing is known, parts of equal width are left
MORE_BINS = 24  # that a column may get beyond those that are wanted, at most
GROWTH = 4.0  # of the bins beside those that hold rows, outwards

Part = tuple[float, float, float, int, int, float]


def look_edges(low: float, high: float) -> tuple[FloatArray, FloatArray]:
    """Return public edges of two histograms that show where values lie in bounds that may be much too wide."""
    steps = (high - low) / FINE * 0.5 ** np.arange(1, N_HALVINGS + 1)
    ends, zero = [low + steps, high - steps], [steps, -steps, np.zeros(1)]
    fine = np.concatenate([np.linspace(low, high, FINE + 1), *ends, *zero])
    return np.unique(np.linspace(low, high, COARSE + 1)), np.unique(fine[(fine >= low) & (fine <= high)])


def place_edges(coarse: FloatArray, fine: FloatArray, edges: FloatArray, sigma: float, n_bins: int) -> FloatArray:
    """Return the edges of `n_bins` bins where rows seem to lie, and of a few wide ones on either side.

    Not knowing where in its bins rows lie adds squares of share times width to the variance of a mean. So the part with the
    largest product is halved again and again, then neighbours are joined where that adds least. Halves of one width are taken
    to hold as many rows, unless the noisy counts differ by more than noise.

    Parameters
    ----------
    coarse, fine : array
        Noisy counts between the edges of ``look_edges``.
    edges : array of shape (len(fine) + 1,)
        The fine ones.
    sigma : float
        Standard deviation of the noise on each count.
    n_bins : int
        How many bins are wanted.
    """
    sums = [np.concatenate([[0.0], np.cumsum(counts)]) for counts in (coarse, fine)]
    at = {edge: place for place, edge in enumerate(look_edges(float(edges[0]), float(edges[-1]))[0].tolist())}
    places = [at.get(edge, -1) for edge in edges.tolist()]
    whole, width = max(float(sums[0][-1]), sigma, 1.0), float(edges[-1] - edges[0])

    def count(start: int, stop: int) -> tuple[float, float]:
        """Return a noisy count between two fine edges and its standard error, from the histogram that has less noise."""
        first, last = places[start], places[stop]
        if first >= 0 and last >= 0:
            return float(sums[0][last] - sums[0][first]), sigma * math.sqrt(last - first)
        return float(sums[1][stop] - sums[1][start]), sigma * math.sqrt(stop - start)

    def part(start: int, stop: int, low: float, high: float, inside: float) -> Part:
        """Return a part with its place in the queue, in which the one to be halved next is first."""
        return -(inside + FLOOR * whole * (high - low) / width) * (high - low), low, high, start, stop, inside

    def halves(low: float, high: float, start: int, stop: int, inside: float) -> tuple[Part, Part]:
        """Halve a part between two fine edges, or a part of that."""
        middle = (low + high) / 2
        if stop - start == 1:
            return part(start, stop, low, middle, inside / 2), part(start, stop, middle, high, inside / 2)
        cut = int(np.searchsorted(edges, middle))
        cut = min(max(cut - int(middle - edges[cut - 1] < edges[cut] - middle), start + 1), stop - 1)  # the nearest edge
        at = float(edges[cut])
        (left, left_noise), (right, right_noise) = count(start, cut), count(cut, stop)
        share = (at - low) / (high - low)
        surplus, noise = (1 - share) * left - share * right, math.hypot((1 - share) * left_noise, share * right_noise)
        if abs(surplus) > SIGNIFICANT * noise:
            left, right = (one if one > SIGNIFICANT * own else 0.0 for one, own in ((left, left_noise), (right, right_noise)))
            share = left / (left + right) if left + right else float(surplus > 0)
        return part(start, cut, low, at, share * inside), part(cut, stop, at, high, (1 - share) * inside)

    parts = [part(0, len(edges) - 1, float(edges[0]), float(edges[-1]), whole)]
    while len(parts) < LEAVES * n_bins:
        _, low, high, start, stop, inside = heapq.heappop(parts)
        for one in halves(low, high, start, stop, inside):
            heapq.heappush(parts, one)
    parts.sort(key=lambda one: one[1:3])
    ends, shares = np.array([one[1] for one in parts] + [float(edges[-1])]), np.array([one[5] for one in parts])
    return _graded(*_joined(ends, shares, n_bins))


def _joined(ends: FloatArray, shares: FloatArray, n_bins: int) -> tuple[FloatArray, FloatArray]:
    """Join neighbours until `n_bins` bins are left."""
    while len(shares) > n_bins:
        own = (shares * (ends[1:] - ends[:-1])) ** 2
        both = ((shares[:-1] + shares[1:]) * (ends[2:] - ends[:-2])) ** 2
        place = int((both - own[:-1] - own[1:]).argmin())
        shares[place] += shares[place + 1]
        shares = np.delete(shares, place + 1)
        ends = np.delete(ends, place + 1)
    return ends, shares


def _graded(ends: FloatArray, shares: FloatArray) -> FloatArray:
    """Cut the empty ends into bins that grow outwards."""
    full = np.flatnonzero(shares > 0)
    low, high = float(ends[full[0]]), float(ends[full[-1] + 1])
    width = (high - low) / 4
    more = [ends[(ends >= low) & (ends <= high)], ends[[0, -1]]]
    for sign, start, end in ((-1, low, float(ends[0])), (1, high, float(ends[-1]))):
        step, place = width, start + sign * width
        while (end - place) * sign > step:
            more.append(np.array([place]))
            step *= GROWTH
            place += sign * step
    return np.unique(np.concatenate(more))
