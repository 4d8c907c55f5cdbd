# SPDX-License-Identifier: Apache-2.0
"""Fewer centres from many: join the pair whose union costs least, again and again (Ward 1963), on public numbers."""

import math
from collections.abc import Iterator

import numpy as np

from cloister.algorithms._points import squares_between
from cloister.columns import FloatArray

LIGHTEST = 1e-9  # a weight of zero would make every union free, and the order of unions arbitrary


def join_closest(points: FloatArray, weights: FloatArray, n_left: int) -> FloatArray:
    """Return `n_left` points: pairs are joined in the order of ``w v / (w + v) |p - q|^2``, what a union adds to the loss.

    A union lies at the weighted mean; weights are not negative.
    """
    points, alive = points.copy(), np.ones(len(points), dtype=bool)
    for _, other, _ in _unions(points, weights, n_left):
        alive[other] = False
    return points[alive]


def ward_tree(points: FloatArray, weights: FloatArray) -> FloatArray:
    """Return how weighted points are joined one after the other, in SciPy's format: those whose union adds least to the loss.

    The height of a join is the root of twice what the union adds to the sum of squared distances, as Ward's method has it.
    """
    n_points, height = len(points), 0.0
    numbers, sizes, tree = list(range(n_points)), [1] * n_points, []
    for one, other, cost in _unions(points.copy(), weights, 1):
        height = max(math.sqrt(2 * cost), height)
        sizes[one] += sizes[other]
        tree.append([*sorted((numbers[one], numbers[other])), height, sizes[one]])
        numbers[one] = n_points + len(tree) - 1
    return np.array(tree, dtype=np.float64).reshape(-1, 4)


def _unions(points: FloatArray, weights: FloatArray, n_left: int) -> Iterator[tuple[int, int, float]]:
    """Join the cheapest pair until `n_left` points remain; yield where the union stands, the other place, and the cost.

    The union's mean and weight are written over its place in `points`.
    """
    weights = np.maximum(weights, LIGHTEST)
    costs = squares_between(points, points) * (weights[:, None] * weights / (weights[:, None] + weights))
    np.fill_diagonal(costs, np.inf)
    partner = np.argmin(costs, axis=1)
    lowest = costs[np.arange(len(points)), partner]
    alive = np.ones(len(points), dtype=bool)
    for _ in range(len(points) - n_left):
        one = int(np.argmin(lowest))
        other, cost = int(partner[one]), float(lowest[one])
        total = weights[one] + weights[other]
        points[one] = (weights[one] * points[one] + weights[other] * points[other]) / total
        weights[one] = total
        alive[other] = False
        costs[other], costs[:, other], lowest[other] = np.inf, np.inf, np.inf
        row = np.sum((points - points[one]) ** 2, axis=1) * (weights * weights[one] / (weights + weights[one]))
        row[~alive] = row[one] = np.inf
        costs[one], costs[:, one] = row, row
        # The cheapest union may be another one now for the united point, and for those that meant either of the two.
        stale = alive & ((partner == one) | (partner == other))
        stale[one] = True
        touched = np.flatnonzero(stale)
        partner[touched] = np.argmin(costs[touched], axis=1)
        lowest[touched] = costs[touched, partner[touched]]
        closer = row < lowest
        partner[closer], lowest[closer] = one, row[closer]
        yield one, other, cost
