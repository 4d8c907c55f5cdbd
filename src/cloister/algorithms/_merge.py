# SPDX-License-Identifier: Apache-2.0
"""Fewer centres from many: join the pair whose union costs least, again and again (Ward 1963), on public numbers."""

import numpy as np

from cloister.columns import FloatArray, IntArray

__all__ = ["join_closest"]

LIGHTEST = 1e-9  # a weight of zero would make every union free, and the order of unions arbitrary


def join_closest(points: FloatArray, weights: FloatArray, n_left: int) -> FloatArray:
    """Return `n_left` points: pairs are joined in the order of ``w v / (w + v) |p - q|^2``, what a union adds to the loss.

    Parameters
    ----------
    points : array of shape (n_points, n_dimensions)
        Public.
    weights : array of shape (n_points,)
        Not negative. A union lies at the weighted mean.
    n_left : int
        How many points to keep, at least one.
    """
    points, weights = points.copy(), np.maximum(weights, LIGHTEST)
    costs = _all_costs(points, weights)
    partner = np.argmin(costs, axis=1)
    lowest = costs[np.arange(len(points)), partner]
    alive = np.ones(len(points), dtype=bool)
    for _ in range(len(points) - n_left):
        one = int(np.argmin(lowest))
        other = int(partner[one])
        _unite(points, weights, one, other)
        alive[other] = False
        costs[other], costs[:, other], lowest[other] = np.inf, np.inf, np.inf
        row = _costs_of(points, weights, one, alive)
        costs[one], costs[:, one] = row, row
        _refresh(costs, partner, lowest, touched=_touched(partner, one, other, alive))
        closer = row < lowest
        partner[closer], lowest[closer] = one, row[closer]
    return points[alive]


def _all_costs(points: FloatArray, weights: FloatArray) -> FloatArray:
    norms = np.sum(points * points, axis=1)
    squares = np.maximum(norms[:, None] - 2 * points @ points.T + norms, 0.0)
    costs = squares * (weights[:, None] * weights / (weights[:, None] + weights))
    np.fill_diagonal(costs, np.inf)
    return np.asarray(costs)


def _unite(points: FloatArray, weights: FloatArray, one: int, other: int) -> None:
    total = weights[one] + weights[other]
    points[one] = (weights[one] * points[one] + weights[other] * points[other]) / total
    weights[one] = total


def _costs_of(points: FloatArray, weights: FloatArray, one: int, alive: np.ndarray) -> FloatArray:
    squares = np.sum((points - points[one]) ** 2, axis=1)
    row = squares * (weights * weights[one] / (weights + weights[one]))
    row[~alive] = np.inf
    row[one] = np.inf
    return np.asarray(row)


def _touched(partner: IntArray, one: int, other: int, alive: np.ndarray) -> IntArray:
    """Points whose cheapest union may be another one now: the united point, and those that meant either of the two."""
    stale = alive & ((partner == one) | (partner == other))
    stale[one] = True
    return np.flatnonzero(stale)


def _refresh(costs: FloatArray, partner: IntArray, lowest: FloatArray, *, touched: IntArray) -> None:
    partner[touched] = np.argmin(costs[touched], axis=1)
    lowest[touched] = costs[touched, partner[touched]]
