# SPDX-License-Identifier: Apache-2.0
"""How much of the dependence between the columns of a table a set of clusters explains, whatever the units or weights.

Two sets of centres found in two geometries cannot be compared by their loss, since each has its own distances. What they tell
about the columns can be: the sum over columns of the information that the cluster of a row gives about its value, less the
entropy of the clusters (the classification likelihood of a mixture of independent columns over that of a single cluster;
"total correlation explained", Ver Steeg and Galstyan 2014). If columns have nothing to do with each other, that is at most 0
however they are cut: clusters that are a function of independent columns say no more of all of them together than their own
entropy. Of a number the information is that of a normal distribution whose variance falls by what lies between the clusters,
so that several separate heaps in one column count for something, too.
"""

import math
from dataclasses import dataclass

import numpy as np

from cloister.columns import FloatArray, Frame, cuts_of

LEAST_WITHIN = 0.01  # part of a column's variance within clusters: to be closer together says no more


@dataclass(frozen=True, eq=False)
class Measured:
    """Noisy mean squares in each coordinate of the unit ball, and their standard error."""

    values: FloatArray
    error: float


def explained_dependence(
    frame: Frame, centers: FloatArray, *, errors: FloatArray, counts: FloatArray, total: Measured, within: Measured
) -> float:
    """Return how much clusters explain, in nats per row, from noisy answers about them in the coordinates of the unit ball.

    `errors` are the standard errors of a coordinate of each centre, `total` the variances of all rows,
    and `within` those around the centres.
    """
    parts = np.maximum(counts, 0.0)
    parts = parts / max(float(parts.sum()), 1e-300)
    noise = np.repeat(errors[:, None], frame.n_features, axis=1)
    places, deviations = frame.from_unit(frame.clip_unit(centers)), frame.errors_from_unit(noise, centers)
    found = -_entropy(parts)
    for column, cut, published in zip(frame.domain.columns, cuts_of(frame.widths), frame.domain.slices(), strict=True):
        if column.has_levels:
            levels = slice(published.start, published.start + column.size)
            found += _of_levels(parts, places[:, levels], deviations[:, levels])
        else:
            squares = Measured(total.values[cut], total.error), Measured(within.values[cut], within.error)
            found += _of_number(parts, centers[:, cut], noise[:, cut], *squares)
    return found


def _entropy(parts: FloatArray) -> float:
    return -float(np.sum(parts * np.log(np.where(parts > 0, parts, 1.0))))


def _between(parts: FloatArray, values: FloatArray, errors: FloatArray) -> tuple[FloatArray, float]:
    """Return the offsets of clusters from the mean of all rows, and which part of their mean square is no noise."""
    offsets = values - parts @ values
    squares, noise = (float(parts @ np.sum(one**2, axis=1)) for one in (offsets, errors))
    return offsets, max(1 - noise / squares, 0.0) if squares > 0 else 0.0


def _of_number(parts: FloatArray, places: FloatArray, errors: FloatArray, total: Measured, within: Measured) -> float:
    """Return the information about a number, whose variance within clusters is known in two ways, each by its error."""
    offsets, part = _between(parts, places, errors)
    between = part * float(parts @ np.sum(offsets**2, axis=1))
    known = np.array([float(total.values.sum()) - between, float(within.values.sum())])
    noise = math.sqrt(len(total.values)) * np.maximum([total.error, within.error], 1e-300)
    weights = noise.min() ** 2 / noise**2
    left, error = float(weights @ known / weights.sum()), float(noise.min() / math.sqrt(weights.sum()))
    return 0.5 * math.log1p(between / max(left, error, LEAST_WITHIN * between, 1e-300))


def _of_levels(parts: FloatArray, shares: FloatArray, errors: FloatArray) -> float:
    """Return the information about levels; the share of yes stands for both levels of a flag."""
    if shares.shape[1] == 1:
        shares, errors = np.hstack([1 - shares, shares]), np.hstack([errors, errors])
    offsets, part = _between(parts, shares, errors)
    means = parts @ shares
    likely = np.clip(means + math.sqrt(part) * offsets, 0.0, 1.0)
    likely /= np.maximum(likely.sum(axis=1, keepdims=True), 1e-300)
    return _entropy(parts @ likely) - float(parts @ [_entropy(one) for one in likely])
