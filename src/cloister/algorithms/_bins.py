# SPDX-License-Identifier: Apache-2.0
"""Where the bins of a histogram begin and end: narrow where noisy histograms of the whole table say that rows lie.

Pure functions of noisy counts and public numbers.
"""

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


def look_edges(low: float, high: float) -> tuple[FloatArray, FloatArray]:
    """Return public edges of two histograms that show where values lie in bounds that may be much too wide."""
    steps = (high - low) / FINE * 0.5 ** np.arange(1, N_HALVINGS + 1)
    ends, zero = [low + steps, high - steps], [steps, -steps, np.zeros(1)]
    fine = np.concatenate([np.linspace(low, high, FINE + 1), *ends, *zero])
    return np.linspace(low, high, COARSE + 1), np.unique(fine[(fine >= low) & (fine <= high)])


def place_edges(coarse: FloatArray, fine: FloatArray, edges: FloatArray, sigma: float, n_bins: int) -> FloatArray:
    """Return edges of so many bins where rows seem to lie, and of a few wide ones beside these.

    Not knowing where in its bins rows lie adds squares of share times width to the variance of a mean. So the part with the
    largest product is halved again and again, then neighbours are joined where that adds least. Halves are taken to hold as many
    rows, unless the noisy counts differ by more than noise.

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
    at = {float(edge): place for place, edge in enumerate(np.linspace(edges[0], edges[-1], COARSE + 1))}
    places = np.array([at.get(edge, -1) for edge in edges.tolist()])
    whole, width = max(float(sums[0][-1]), sigma), float(edges[-1] - edges[0])

    def count(start: int, stop: int) -> tuple[float, float]:
        """Return a noisy count between two fine edges and its variance, from the histogram that has less noise."""
        first, last = places[start], places[stop]
        if first >= 0 and last >= 0:
            return float(sums[0][last] - sums[0][first]), (last - first) * sigma**2
        return float(sums[1][stop] - sums[1][start]), (stop - start) * sigma**2

    def halves(start: int, stop: int, low: float, high: float, inside: float) -> list[tuple[int, int, float, float, float]]:
        """Halve a part between two fine edges, or a part of that."""
        middle = (low + high) / 2
        if stop - start == 1:
            return [(start, stop, low, middle, inside / 2), (start, stop, middle, high, inside / 2)]
        cut = start + 1 + int(np.argmin(np.abs(edges[start + 1 : stop] - middle)))
        (left, left_noise), (right, right_noise) = count(start, cut), count(cut, stop)
        share = (float(edges[cut]) - low) / (high - low)
        surplus, noise = (1 - share) * left - share * right, math.sqrt((1 - share) ** 2 * left_noise + share**2 * right_noise)
        if abs(surplus) > SIGNIFICANT * noise:
            left, right = (max(one, 0.0) for one in (left, right))
            share = left / (left + right) if left + right else share
            share = 1.0 if right < SIGNIFICANT * math.sqrt(right_noise) else 0.0 if left < SIGNIFICANT * math.sqrt(left_noise) else share
        return [(start, cut, low, float(edges[cut]), share * inside), (cut, stop, float(edges[cut]), high, (1 - share) * inside)]

    parts = [(0, len(edges) - 1, float(edges[0]), float(edges[-1]), whole)]
    while len(parts) < LEAVES * n_bins:
        weights = [(inside + FLOOR * whole * (high - low) / width) * (high - low) for _, _, low, high, inside in parts]
        place = int(np.argmax(weights))
        parts[place : place + 1] = halves(*parts[place])
    ends, shares = np.array([one[2] for one in parts] + [parts[-1][3]]), np.array([one[4] for one in parts])
    return _graded(*_joined(ends, shares, n_bins))


def _joined(ends: FloatArray, shares: FloatArray, n_bins: int) -> tuple[FloatArray, FloatArray]:
    """Join neighbours until so many bins are left."""
    while len(shares) > n_bins:
        own = (shares * np.diff(ends)) ** 2
        both = ((shares[:-1] + shares[1:]) * (ends[2:] - ends[:-2])) ** 2
        place = int(np.argmin(both - own[:-1] - own[1:]))
        shares = np.concatenate([shares[:place], [shares[place] + shares[place + 1]], shares[place + 2 :]])
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
