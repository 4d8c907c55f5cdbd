# SPDX-License-Identifier: Apache-2.0
"""How many clusters weighted points hold: losses for every number, beside those of rows without clusters.

A further cluster lowers the loss of any rows. So losses are compared with those of rows that are spread evenly along the same
principal axes, as far as these rows are: the gap statistic of Tibshirani, Walther and Hastie (2001). Centres are fitted to one
half of the noise and judged on the other, so that clusters made of noise do not pay. Arithmetic on public numbers.
"""

import math
import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from cloister.algorithms._cells import FEW_RESTARTS, RESTARTS, SPLITS, KChoice, choose_number
from cloister.algorithms._points import NoisyPoints, squares_between
from cloister.columns import FloatArray

__all__ = ["compare_point_numbers", "cut_loss", "silhouette", "ward_tree"]

LEFT_OUT = 0.9  # of the scatter within points: no number of clusters removes it, and in many columns it would hide all else
REFERENCES = 2  # tables without clusters
REFERENCE_ROWS = 50  # per point
MOST_AXES = 32  # along which they are spread; what lies across these is the same for every number of clusters
REFERENCE_ROUNDS = 20


def compare_point_numbers(numbers: Sequence[int], points: NoisyPoints, *, generator: np.random.Generator) -> KChoice:
    """Compare numbers of clusters.

    Parameters
    ----------
    numbers : sequence of int
        To compare, increasing.
    points : NoisyPoints
        Stand for the rows.
    generator : Generator
        For restarts, for splitting the noise and for rows without clusters.
    """
    filled, scatter = points.filled(), points.filled().scatter
    halves = [_split(points, generator) for _ in range(SPLITS)]
    references = [_even_losses(numbers, filled, generator) for _ in range(REFERENCES)]
    even_between = np.mean([between for between, _ in references], axis=0)
    even_within = float(np.mean([within for _, within in references]))
    table = []
    for count in numbers:
        judged = [
            (half[1], _squares(half[1], half[0].cut(count, generator=generator, restarts=FEW_RESTARTS))) for half in halves
        ]
        noise = math.sqrt((1 + 1 / SPLITS) * float(np.mean([np.sum((half.count_errors * one) ** 2) for half, one in judged])))
        held_out = float(np.mean([np.sum(half.counts * one) for half, one in judged])) / points.n_rows
        loss = cut_loss(filled, filled.cut(count, generator=generator, restarts=RESTARTS))
        table.append([loss, held_out + scatter, noise / points.n_rows])
    loss, held_out, errors = np.array(table).T
    left_out = (LEFT_OUT * scatter, LEFT_OUT * even_within)
    found = choose_number(numbers, loss, held_out, np.maximum(errors, 1e-300), even_between + even_within, within=left_out)
    return found if points.stand_out else found.without_clusters()


def cut_loss(points: NoisyPoints, centers: FloatArray) -> float:
    """Return the mean squared distance of the rows to their nearest centre: between points and centres, and within points."""
    return float(np.average(_squares(points, centers), weights=np.maximum(points.weights, 1e-300))) + points.scatter


def silhouette(points: NoisyPoints, centers: FloatArray) -> float:
    """Return how much nearer rows are to their own centre than to the next one: from 0 (borders everywhere) to 1.

    The mean of ``(b - a) / b``, where a and b are the root mean square distances of the rows of a point from its own centre and
    from the next one.
    """
    if len(centers) < 2:
        return 0.0
    squares = np.sort(squares_between(points.points, centers), axis=1)[:, :2] + points.variances.sum(axis=1)[:, None]
    own, other = np.sqrt(np.maximum(squares, 1e-300)).T
    return float(np.average((other - own) / other, weights=np.maximum(points.weights, 1e-300)))


def ward_tree(points: FloatArray, weights: FloatArray) -> FloatArray:
    """Return how weighted points are joined one after the other, in SciPy's format: those whose union adds least to the loss.

    Returns
    -------
    array of shape (n_points - 1, 4)
        The two that are joined (numbers from n_points on are earlier unions), the root of twice what the union adds to the sum
        of squared distances, as Ward's method has it, and how many points the union holds.
    """
    n_points = len(points)
    places, masses, sizes = list(points), list(np.maximum(weights, 1e-9)), [1] * n_points
    alive = list(range(n_points))
    tree: list[list[float]] = []
    while len(alive) > 1:
        here, mass = np.array([places[one] for one in alive]), np.array([masses[one] for one in alive])
        costs = squares_between(here, here) * (mass[:, None] * mass / (mass[:, None] + mass))
        np.fill_diagonal(costs, np.inf)
        one, other = sorted(divmod(int(np.argmin(costs)), len(alive)))
        first, second = alive[one], alive[other]
        total = masses[first] + masses[second]
        height = max(math.sqrt(2 * float(costs[one, other])), tree[-1][2] if tree else 0.0)
        tree.append([float(min(first, second)), float(max(first, second)), height, float(sizes[first] + sizes[second])])
        places.append((masses[first] * places[first] + masses[second] * places[second]) / total)
        masses.append(total)
        sizes.append(sizes[first] + sizes[second])
        alive = [kept for kept in alive if kept not in (first, second)] + [len(places) - 1]
    return np.array(tree).reshape(-1, 4)


def _squares(points: NoisyPoints, centers: FloatArray) -> FloatArray:
    return np.asarray(np.min(squares_between(points.points, centers), axis=1))


def _split(points: NoisyPoints, generator: np.random.Generator) -> tuple[NoisyPoints, NoisyPoints]:
    """Return the points twice, with independent noise: what one half adds, the other subtracts."""
    counts = points.count_errors * generator.standard_normal(len(points.counts))
    moves = points.errors[:, None] * generator.standard_normal(points.points.shape)
    seen = replace(points, counts=points.counts + counts, points=points.points + moves)
    return seen, replace(points, counts=points.counts - counts, points=points.points - moves)


def _even_losses(numbers: Sequence[int], points: NoisyPoints, generator: np.random.Generator) -> tuple[FloatArray, float]:
    """Return the losses, between points and within them, of rows spread evenly along the principal axes as far as these."""
    spreads = _axes(points)
    n_points = len(points.points)
    rows = generator.uniform(-1.0, 1.0, (REFERENCE_ROWS * n_points, min(len(spreads), MOST_AXES)))
    rows *= np.sqrt(3 * spreads[:MOST_AXES])
    model = KMeans(n_points, n_init=1, max_iter=REFERENCE_ROUNDS, random_state=int(generator.integers(2**31)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # rows that all lie in one place
        model.fit(rows)
    counts = np.bincount(model.labels_, minlength=n_points).astype(np.float64)
    flat = NoisyPoints(
        points=model.cluster_centers_.astype(np.float64),
        errors=np.zeros(n_points),
        counts=counts,
        count_errors=np.zeros(n_points),
        variances=np.zeros_like(model.cluster_centers_, dtype=np.float64),
        n_rows=float(len(rows)),
    )
    within = float(spreads[MOST_AXES:].sum()) + float(model.inertia_) / len(rows)
    cuts = [flat.cut(count, generator=generator, restarts=FEW_RESTARTS) for count in numbers]
    return np.maximum([cut_loss(flat, centers) for centers in cuts], 1e-300), within


def _axes(points: NoisyPoints) -> FloatArray:
    """Return the variances of the rows along their principal axes, the largest first."""
    weights = np.maximum(points.weights, 1e-300)
    offsets = points.points - np.average(points.points, axis=0, weights=weights)
    within = np.average(points.variances, axis=0, weights=weights)
    matrix = (offsets.T * (weights / weights.sum())) @ offsets + np.diag(within)
    return np.asarray(np.maximum(np.linalg.eigvalsh(matrix)[::-1], 0.0))
