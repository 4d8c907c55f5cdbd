# SPDX-License-Identifier: Apache-2.0
"""Which clusters of weighted points have a gap between them, and which are parts of one. Arithmetic on public numbers.

How far a cluster reaches towards a neighbour is judged by the standard deviation of its rows along the line between the two
centres. Rows that fill it evenly up to the border, halfway along that line, have a standard deviation of at least the distance
of the border over the root of 3, or about 2 where the cluster is rounded off; tails have a larger one. Where the border is
more than ``GAP`` standard deviations away from both centres, rows become fewer between them.
"""

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from scipy.sparse.csgraph import connected_components

from cloister.algorithms._points import NoisyPoints, nearest_of
from cloister.columns import FloatArray

GAP = 2.1  # standard deviations between a centre and the border: 2.5 of two normal clusters that lie 5 apart
SPARSE = 3.0  # times: a cluster so much less dense than another, with no gap between them, is the other's surroundings
SEEN = 4.0  # standard deviations of its count: a lighter cluster may be noise
RESTARTS = 3


def count_separate(
    points: NoisyPoints, n_clusters: int, *, binary: Sequence[slice] = (), generator: np.random.Generator
) -> int:
    """Return how many of `n_clusters` clusters are left when those with no gap between them are counted as one.

    Sparse surroundings of a dense cluster count as part of it, and do not link it to others. `binary` are the coordinates of
    columns with few values, all far apart, such as yes and no: that a single one of these differs is no gap.
    """
    centers = points.cut(n_clusters, generator=generator, restarts=RESTARTS)
    owner = nearest_of(points.points, centers)
    mass, clusters = np.maximum(points.weights, 1e-300), [np.flatnonzero(owner == one) for one in np.unique(owner)]
    clusters = [one for one in clusters if mass[one].sum() > SEEN * np.linalg.norm(points.count_errors[one])]
    if not clusters:
        return 1
    parts, weights = [points.select(one) for one in clusters], [mass[one] for one in clusters]
    shares = [weight / weight.sum() for weight in weights]
    means = [share @ part.points for share, part in zip(shares, parts, strict=True)]
    noise = [float(np.sum((share * part.errors) ** 2)) for share, part in zip(shares, parts, strict=True)]
    n_features = points.points.shape[1]
    most = n_features + math.sqrt(8 * n_features)  # of a chi-square variable: two standard deviations above its mean
    linked, absorbed = np.eye(len(parts), dtype=bool), []
    for one, other in combinations(range(len(parts)), 2):
        line = means[other] - means[one]
        if binary:
            line[max(binary, key=lambda own: float(np.sum(line[own] ** 2)))] = 0.0
        length = max(float(np.linalg.norm(line)), 1e-300)
        spreads = {each: _spread(parts[each], shares[each], line / length) for each in (one, other)}
        apart = math.sqrt(max(length**2 - most * (noise[one] + noise[other]), 0.0))
        if apart / 2 >= GAP * max(spreads.values()):
            continue
        dense, sparse = sorted((one, other), key=lambda each: -float(weights[each].sum()) / spreads[each])
        if weights[dense].sum() / spreads[dense] < SPARSE * weights[sparse].sum() / spreads[sparse]:
            linked[one, other] = True
        else:
            absorbed.append((sparse, dense))
    n_groups, group = connected_components(linked, directed=False)
    return max(1, n_groups - len({group[sparse] for sparse, dense in absorbed if group[sparse] != group[dense]}))


def _spread(points: NoisyPoints, shares: FloatArray, direction: FloatArray) -> float:
    """Return the standard deviation of the rows along a direction, less what the noise of the points adds."""
    offsets = (points.points - shares @ points.points) @ direction
    variances = offsets**2 - (1 - shares) * points.errors**2 + points.variances @ direction**2
    return math.sqrt(max(float(shares @ variances), 1e-300))
