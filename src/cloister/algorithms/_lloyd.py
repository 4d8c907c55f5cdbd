# SPDX-License-Identifier: Apache-2.0
"""Lloyd's iterations on noisy counts and sums: DPLloyd (Su et al. 2016, 2017) and FastLloyd (Diaa et al. 2025).

Both start from a sphere packing and ask, in every round, how many rows belong to each centre and what they add up to. DPLloyd
adds up the rows themselves; FastLloyd adds up their offsets from the centre, leaves rows beyond a radius out, and so needs
noise for the radius instead of the domain. Rows are reached through ``ask`` alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from cloister.algorithms._space import Space
from cloister.columns import FloatArray, Neighbours, Relation, as_neighbours
from cloister.questions import (
    Answer,
    Ask,
    BoundedCounts,
    BoundedSums,
    Cost,
    NearestCounts,
    NearestSums,
    Step,
    sensitivities,
    step_of,
)

__all__ = ["LloydRound", "LloydSplit", "bounded_radius", "fast_lloyd", "fold", "lloyd", "rounds_within", "split_round"]

SPREAD = 0.225  # rho of Su et al.: how far centres lie from the middle, in widths of the domain
LARGEST_ERROR = 0.004  # of a round, as a squared distance in [-1, 1]^d: beyond it a further round does harm
ROUNDS = (2, 7)  # fewest and most that the rule of Su et al. returns
FEWEST_ROWS = 1.0  # a centre with a smaller noisy count stays where it is


@dataclass(frozen=True, kw_only=True)
class LloydSplit:
    """How the budget of a round is divided between its two questions, and what is left of the noise then."""

    counts: float  # part of the budget; squares of mu add up, epsilons add up
    error: float  # mean squared error of a centre of one row at a budget of one

    @property
    def sums(self) -> float:
        """The other part."""
        return 1 - self.counts


@dataclass(frozen=True, eq=False)
class LloydRound:
    """One round, all of it public."""

    points: FloatArray  # the centres it began with
    counts: FloatArray  # noisy
    sums: FloatArray  # noisy; of rows, or of their offsets from `points`
    centers: FloatArray
    center_errors: FloatArray
    radius: float  # no row moved a sum by more
    count_sigma: float
    sum_sigma: float


Transform = Callable[[FloatArray], FloatArray]


def split_round(cost: Cost, n_features: int, relation: Relation | Neighbours, *, counts: float | None = None) -> LloydSplit:
    """Return the split of Su et al.: the one with the smallest expected error of a centre, for the noise that is drawn.

    The error of a centre is, to first order, the noise of d sums plus the noise of the count times the centre's distance from
    the middle, ``2 rho`` of the domain's radius. Variances fall with the square of the share for Laplace noise (epsilons add
    up) and with the share itself for Gaussian noise (squares of mu add up); Lagrange does the rest. For Laplace noise that is
    the published ratio, ``(4 d rho^2)^(1/3)`` for the count against 1 for each coordinate. A share may be given instead.
    """
    middle = np.zeros((1, n_features))
    count, total = NearestCounts(points=middle), NearestSums(points=middle, radius=1.0)
    if not cost.is_gaussian:
        power, norm = 2, "l1"
    else:
        power, norm = 1, "l2"
    of_count, of_sum = (sensitivities(one, relation)[norm] * step_of(one, as_neighbours(relation)) for one in (count, total))
    for_count, for_sum = (2 * SPREAD * of_count) ** 2, n_features * of_sum**2
    if counts is None:
        root = 1 / (power + 1)
        counts = for_count**root / (for_count**root + for_sum**root)
    # A Laplace variable of scale b has variance 2 b^2, a Gaussian one of deviation b has b^2.
    return LloydSplit(counts=counts, error=power * (for_count / counts**power + for_sum / (1 - counts) ** power))


def rounds_within(
    cost: Cost, split: LloydSplit, *, n_clusters: int, n_rows: float, n_features: int, radius: float = 1.0
) -> int:
    """Return the number of rounds of Su et al.: as many as keep each round's error below 0.004, at least 2, at most 7.

    The error is summed over clusters of ``n_rows / n_clusters`` rows each. Their domain is [-1, 1]^d; in the unit ball squared
    distances are d times smaller. Errors shrink with the square of the `radius` that sums are bounded by.
    """
    error = split.error * radius**2 * n_clusters**3 / max(n_rows, 1.0) ** 2
    allowed = LARGEST_ERROR / n_features / error
    fewest, most = ROUNDS
    bearable = cost.weight * (allowed if cost.is_gaussian else allowed**0.5)
    return int(min(max(bearable, fewest), most))


def bounded_radius(alpha: float, n_clusters: int, n_features: int) -> float:
    """Return the radius of FastLloyd's later rounds: `alpha` times half the diagonal of one of k equal parts of the domain.

    A cube cut into k equal cubes has parts ``k^(-1/d)`` times as wide; half the diagonal of the domain is 1 here.
    """
    return float(alpha * n_clusters ** (-1 / n_features))


def lloyd(ask: Ask, rounds: Sequence[Step], starts: FloatArray, space: Space) -> tuple[LloydRound, ...]:
    """Run DPLloyd: every round asks for "counts" and "sums"."""
    done: list[LloydRound] = []
    points = starts
    for step in rounds:
        done.append(_from_the_middle(ask, step, points, space.clip))
        points = done[-1].centers
    return tuple(done)


def fast_lloyd(ask: Ask, rounds: Sequence[Step], starts: FloatArray, space: Space, *, radius: float) -> tuple[LloydRound, ...]:
    """Run FastLloyd: one round that reaches every row, then rounds of offsets from the centre, of rows within `radius`."""

    def into_domain(points: FloatArray) -> FloatArray:
        return space.clip(fold(points, space.half_widths))

    done: list[LloydRound] = []
    points = starts
    for index, step in enumerate(rounds):
        if index == 0:
            done.append(_from_the_middle(ask, step, points, into_domain))
        else:
            done.append(_from_the_centers(ask, step, points, into_domain, radius=radius))
        points = done[-1].centers
    return tuple(done)


def fold(points: FloatArray, half_widths: FloatArray | None = None) -> FloatArray:
    """Reflect points that left the domain at its boundary: at the faces of a box, or at the unit sphere along their ray."""
    if half_widths is not None:
        return _reflect(points, half_widths)
    lengths = np.sqrt(np.sum(points * points, axis=1, keepdims=True))
    return np.where(lengths <= 1, points, points * (_reflect(lengths, np.ones(1)) / np.maximum(lengths, 1.0)))


def _reflect(values: FloatArray, limits: FloatArray) -> FloatArray:
    """Reflect numbers at plus and minus the limits until they lie between; those between stay exactly as they are."""
    place = np.mod(values + limits, 4 * limits)
    return np.asarray(np.where(np.abs(values) <= limits, values, np.minimum(place, 4 * limits - place) - limits))


def _from_the_middle(ask: Ask, step: Step, points: FloatArray, into_domain: Transform) -> LloydRound:
    """Average the rows of each cell. Measured from the middle of the domain no row is longer than 1."""
    middle = np.zeros_like(points)
    questions = [NearestCounts(points=points), NearestSums(points=points, radius=1.0, anchors=middle)]
    counts, sums = ask(questions, [step["counts"], step["sums"]])
    return _move(points, middle, counts, sums, radius=1.0, into_domain=into_domain)


def _from_the_centers(ask: Ask, step: Step, points: FloatArray, into_domain: Transform, *, radius: float) -> LloydRound:
    """Average the offsets of the rows within `radius` of their centre."""
    questions = [BoundedCounts(points=points, radius=radius), BoundedSums(points=points, radius=radius)]
    counts, sums = ask(questions, [step["counts"], step["sums"]])
    return _move(points, points, counts, sums, radius=radius, into_domain=into_domain)


def _move(
    points: FloatArray, anchors: FloatArray, counts: Answer, sums: Answer, *, radius: float, into_domain: Transform
) -> LloydRound:
    """Divide noisy sums by noisy counts. A centre whose noisy count is below one stays, and nothing is known of its error."""
    sizes = np.maximum(counts.value, FEWEST_ROWS)[:, None]
    offsets = sums.value / sizes
    stays = (counts.value < FEWEST_ROWS)[:, None]
    # Delta method for a quotient: the noise of the sum, and the noise of the count times the quotient.
    errors = np.minimum(np.hypot(sums.sigma, np.minimum(np.abs(offsets), 1.0) * counts.sigma) / sizes, 1.0)
    return LloydRound(
        points=points,
        counts=counts.value,
        sums=sums.value,
        centers=np.where(stays, points, into_domain(anchors + offsets)),
        center_errors=np.where(stays, 1.0, errors),
        radius=radius,
        count_sigma=counts.sigma,
        sum_sigma=sums.sigma,
    )
