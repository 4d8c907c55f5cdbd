# SPDX-License-Identifier: Apache-2.0
"""How far released centres may lie from those that k-means on the rows would give, beyond the noise of the last step.

Three things add to that noise, and weighted points that stand for the rows show all of them. **The choice among solutions**:
the points are drawn again with other noise and another sample of rows, each draw is cut anew with restarts, and the centres of
each cut settle on the points as they were released. Where there is one good solution all end at the same place; else they end
wherever k-means might have ended. **What the step before left**: centres were not known exactly when the last sums were asked,
and rows at the borders between clusters carry a part of that error on. **What clipping and too few steps left**: a last step
that is longer than its noise shows that centres were still moving; the same borders tell how far they would have gone on, and
places around the points how much of a mean the clipping of long offsets hid.

The same draws tell how often a cluster comes back. Arithmetic on public numbers: it costs no budget.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from cloister.algorithms._kmeans import settle
from cloister.algorithms._points import NoisyPoints, nearest_of, nearest_squares, squares_between
from cloister.columns import FloatArray, IntArray

DRAWS = 40
RESTARTS = 4
USUAL_WORK = 2.0**23  # distances to compute: beyond it there are fewer draws and no restarts
MOST_WORK = 2.0**27  # beyond it there are no draws
ITERATIONS = 10  # that a cut takes, roughly
FEWEST_DRAWS = 10  # that say something
COMES_BACK = 0.75  # part of the rows of two clusters, taken together, that they must share to be the same one
NUDGES = 20  # of the centres
PLACES = 32  # that stand for the rows of a point
MOST_PLACES = 2.0**17  # times centres; beyond it fewer stand for a point
LARGE_NUDGE = 0.3  # of the scatter of a coordinate: about as far as borders are smooth
MOST_CARRIED = 0.9  # of a step by the next one
FOLLOWED_STEPS = 15  # beyond the last one, until next to nothing is left


@dataclass(frozen=True, kw_only=True, eq=False)
class LastStep:
    """The last step that centres took: how far, and how well it and the place before are known."""

    offsets: FloatArray  # of shape (n_clusters, n_features)
    errors: FloatArray  # standard error of a coordinate of each centre after it
    errors_before: FloatArray  # the same before it
    radius: float = math.inf  # at which the offsets of rows were clipped
    passed: float = 1.0  # part of a small displacement that clipping was taken to leave


@dataclass(frozen=True, kw_only=True, eq=False)
class Beyond:
    """Standard errors beyond the noise of the last step, and how stable clusters are."""

    center_errors: FloatArray  # of shape (n_clusters, n_features)
    count_errors: FloatArray
    loss_error: float
    stability: FloatArray | None  # part of the draws in which a cluster came back; None where there were none


def judge_solution(
    points: NoisyPoints, centers: FloatArray, *, last: LastStep | None, generator: np.random.Generator
) -> Beyond:
    """Return the errors that centres have beyond the noise of the last step.

    The points are finer than the centres. Centres that are a cut of the points, and were not placed by sums, have no last step.
    """
    filled = points.filled()
    draws, restarts = _effort(len(points.points), len(centers))
    cuts = [centers]
    if len(points.points) > len(centers) > 1:
        cuts += [points.resample(generator).cut(len(centers), generator=generator, restarts=restarts) for _ in range(draws)]
    chosen = _compare(filled, settle(filled.points, filled.weights, np.stack(cuts))[0])
    if last is None:
        return chosen
    carried, counts = _carry(filled, centers, last, generator)
    center_errors, count_errors = np.hypot(chosen.center_errors, carried), np.hypot(chosen.count_errors, counts)
    return replace(chosen, center_errors=center_errors, count_errors=count_errors)


def _effort(n_points: int, n_clusters: int) -> tuple[int, int]:
    """Return how many draws are cut, and with how many restarts: fewer of both where there are many centres."""
    cut = n_points * n_clusters * ITERATIONS
    restarts = RESTARTS if FEWEST_DRAWS * RESTARTS * cut <= USUAL_WORK else 1
    draws = int(min(DRAWS, max(FEWEST_DRAWS, USUAL_WORK / (restarts * cut))))
    return (draws if draws * restarts * cut <= MOST_WORK else 0), restarts


def _compare(filled: NoisyPoints, solutions: FloatArray) -> Beyond:
    """Return how far solutions lie from the first one, and how often its clusters come back in the others."""
    first, others = solutions[0], solutions[1:]
    weights, labels = filled.weights, nearest_of(filled.points, first)
    sizes = _sizes(labels, weights, len(first))
    loss = float(np.average(nearest_squares(filled.points, first), weights=weights))
    moved, changed, losses, back = [np.zeros_like(first)], [np.zeros(len(first))], [0.0], []
    for other in others:
        matched = other[linear_sum_assignment(squares_between(first, other))[1]]
        owners = nearest_of(filled.points, matched)
        moved.append((matched - first) ** 2)
        changed.append((_sizes(owners, weights, len(first)) - sizes) ** 2)
        losses.append((float(np.average(nearest_squares(filled.points, matched), weights=weights)) - loss) ** 2)
        back.append(_overlap(labels, owners, weights, len(first)) >= COMES_BACK)
    n_draws = max(len(others), 1)
    return Beyond(
        center_errors=np.sqrt(np.sum(moved, axis=0) / n_draws),
        count_errors=np.sqrt(np.sum(changed, axis=0) / n_draws),
        loss_error=math.sqrt(sum(losses) / n_draws),
        stability=np.mean(back, axis=0) if len(others) else None,
    )


def _overlap(labels: IntArray, owners: IntArray, weights: FloatArray, n_clusters: int) -> FloatArray:
    """Return, for each cluster, what part of the rows it shares with that of the other solution which it shares most with."""
    shared = np.bincount(labels * n_clusters + owners, weights=weights, minlength=n_clusters**2).reshape(n_clusters, -1)
    either = shared.sum(axis=1)[:, None] + shared.sum(axis=0) - shared
    return np.asarray(np.max(shared / np.maximum(either, 1e-300), axis=1))


def _sizes(labels: IntArray, weights: FloatArray, n_clusters: int) -> FloatArray:
    return np.bincount(labels, weights=weights, minlength=n_clusters).astype(np.float64)


def place_of_rows(points: NoisyPoints, centers: FloatArray, generator: np.random.Generator) -> FloatArray:
    """Return the mean of the rows that are nearest to each centre, as the scatter of the points shows them."""
    return _Scattered.of(points, len(centers), generator).step(centers)[0]


@dataclass(frozen=True, eq=False)
class _Scattered:
    """Places that stand for the rows of points, so that borders between clusters cut through these."""

    places: FloatArray
    weights: FloatArray

    @classmethod
    def of(cls, points: NoisyPoints, n_clusters: int, generator: np.random.Generator) -> "_Scattered":
        size = 2 * int(min(PLACES, max(2.0, MOST_PLACES / (len(points.points) * n_clusters))) // 2)
        return cls(points.scattered(generator, size), np.repeat(points.weights / size, size))

    def step(self, centers: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the mean and the number of the rows nearest to each centre; one without rows stays where it is."""
        labels = nearest_of(self.places, centers)
        sizes = _sizes(labels, self.weights, len(centers))
        sums = [_sizes(labels, self.weights * column, len(centers)) for column in self.places.T]
        means = np.stack(sums, axis=1) / np.maximum(sizes, 1e-300)[:, None]
        return np.where(sizes[:, None] > 0, means, centers), sizes

    def hidden_by_clipping(self, centers: FloatArray, last: LastStep) -> FloatArray:
        """Return what clipping the offsets of rows from the centres before the last step hid of it."""
        labels = nearest_of(self.places, centers)
        offsets = self.places - centers[labels]
        kept = np.minimum(1.0, last.radius / np.maximum(np.linalg.norm(offsets, axis=1), 1e-300)) / last.passed
        sizes = np.maximum(_sizes(labels, self.weights, len(centers)), 1e-300)
        hidden = (1 - kept)[:, None] * offsets
        return np.stack([_sizes(labels, self.weights * column, len(centers)) / sizes for column in hidden.T], axis=1)


def _carry(
    filled: NoisyPoints, centers: FloatArray, last: LastStep, generator: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return what errors before the last step, and the way that centres had still to go, leave: in centres and in counts."""
    rows = _Scattered.of(filled, len(centers), generator)
    means, sizes = rows.step(centers)
    left, changed = np.zeros_like(centers), np.zeros(len(centers))
    for _ in range(NUDGES):
        found, counts = rows.step(centers + last.errors_before[:, None] * generator.standard_normal(centers.shape))
        left += (found - means) ** 2 / NUDGES
        changed += (counts - sizes) ** 2 / NUDGES
    way = _way_left(rows, centers, last, length=LARGE_NUDGE * math.sqrt(max(filled.scatter, 1e-300) / centers.shape[1]))
    left += way**2
    changed += (rows.step(centers + way)[1] - sizes) ** 2
    before = centers - last.offsets
    changed += (rows.step(before)[1] - sizes) ** 2  # counts are those of the clusters before the step
    left += rows.hidden_by_clipping(before, last) ** 2
    return np.sqrt(left), np.sqrt(changed)


def _way_left(rows: _Scattered, centers: FloatArray, last: LastStep, *, length: float) -> FloatArray:
    """Return how far centres would still go, from what of their last step the noise does not explain.

    A step moves the borders, and the rows that change hands there pass a part of it on to the next one. The steps add up until
    nothing is left. How much is passed on is a derivative, taken over a distance of about `length`. Errors that centres had
    before the last step are part of the way: the step takes them back, but for what the borders carry on.
    """
    squares = np.sum(last.offsets**2, axis=1)
    beyond_noise = np.maximum(squares - last.offsets.shape[1] * last.errors**2, 0.0) / np.maximum(squares, 1e-300)
    step, way = np.sqrt(beyond_noise)[:, None] * last.offsets, np.zeros_like(centers)
    for _ in range(FOLLOWED_STEPS):
        size = math.sqrt(float(np.mean(step**2)))
        if size == 0:
            break
        nudge = step * (length / size)
        passed_on = (rows.step(centers + nudge)[0] - rows.step(centers - nudge)[0]) * (size / (2 * length))
        part = math.sqrt(float(np.mean(passed_on**2))) / size
        step = passed_on * min(1.0, MOST_CARRIED / max(part, 1e-300))
        way += step
    return way
