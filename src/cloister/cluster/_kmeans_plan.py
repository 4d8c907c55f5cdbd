# SPDX-License-Identifier: Apache-2.0
"""How :class:`cloister.KMeans` divides its budget: a function of public numbers, computed before the first question."""

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial

import numpy as np

from cloister.algorithms import LocateSteps, Round
from cloister.cluster._kmeans_recipe import GAUSSIAN, PURE, Recipe
from cloister.cluster._plan import Plan, Planner
from cloister.columns import Neighbours, grid_step
from cloister.privacy import SMALLEST_SHARE, Cost, Step
from cloister.questions import (
    DistanceHistogram,
    NearestCounts,
    NearestSquares,
    NearestSums,
    SecondMoments,
    deviation,
    spectral_edge,
)

MOST_WORK = 2.0**30  # rows times candidates of a vote; beyond it votes get fewer candidates, though not fewer than the first
FINE = 40.0  # standard deviations of a count from which the first histogram of distances is fine
FEWEST_CANDIDATES = 256  # that a plan allows, however few the clusters are
LARGEST_START = 4096  # centres before extra ones are joined
N_MEANS = 3  # how often the mean may be asked: each time closer, see algorithms/_origin.py
MOST_AXES = 512  # columns beyond which a matrix of second moments takes too long
LARGEST_SAMPLE = 1 / 3  # of the rows: a larger one is not worth drawing
MOST_SAMPLED = 2.0**26  # numbers in a sample, which is kept in memory
POINTS_PER_CLUSTER = 2  # of a synopsis
POINT_SNR = 10.0  # standard deviations of a count's noise, at the whole budget, that a point of average weight stands out by
FEWEST_POINTS = 4
MAX_NOISE = 2.0**46  # steps of the mean or of a square: later answers are at most four times as noisy, and 2**48 can be drawn
SMALLEST_SETTLING = 0.005  # share of a round in which centres settle
JOINING = "How far rows lie from their centre; then counts and sums of offsets, clipped accordingly"
SETTLING = "Counts and sums of offsets, clipped by the distances of the round before: k centres settle"


@dataclass(frozen=True, kw_only=True)
class KMeansPlan(Plan):
    """What a fit will ask, in order, and at what share of the budget."""

    n_rows: float
    n_features: int
    n_clusters: int
    row_share: float  # part of the rows that all but the last counts and sums are asked of
    locate_steps: LocateSteps  # the first half: where the mass is
    rounds: tuple[float, ...]  # shares of the second half
    sizes: tuple[int, ...]  # centres before the first round and after each
    n_settling: int  # rounds before the last in which k centres settle
    squares: float  # part of the last round that tells how far the rows of each centre scatter; 0: not asked
    recipe: Recipe
    planner: Planner

    @property
    def steps(self) -> tuple[Step, ...]:
        """What will be asked, in order."""
        first = self.locate_steps
        axes = () if first.axes is None else (first.axes,)
        return (*first.origin, *axes, *first.votes, *(one.step for one in self.refine_rounds))

    @property
    def dimension(self) -> int:
        """In which votes are cast, at most."""
        return self.locate_steps.dimension

    @property
    def n_sampled(self) -> float:
        """About how many rows are asked until the last counts and sums."""
        return self.row_share * self.n_rows

    @property
    def can_be_drawn(self) -> bool:
        """Whether the noise of all answers can be drawn, also of the plan for a number of rows that is not known yet."""
        if self.locate_steps.origin[0]["sums"].sigma > MAX_NOISE * grid_step(self.n_features):
            return False
        if not self.squares:
            return True
        # In many columns a square has more steps than a sum.
        return self.refine_rounds[-1].step["squares"].sigma <= MAX_NOISE * _squares(self.n_features).unit

    def sum_noise(self, share: float) -> float:
        """Return the standard deviation of a coordinate of a sum that gets `share`, per unit of radius."""
        return deviation(_probes(self.n_features)[1], self.planner.budget.share(share), self.planner.relation)

    @cached_property
    def refine_rounds(self) -> tuple[Round, ...]:
        """The second half: where the centres are."""
        counts, sums, distances = _probes(self.n_features)
        rounds, last = [], len(self.rounds) - 1
        joining = last - self.n_settling
        for index, share in enumerate(self.rounds):
            settling = joining <= index < last
            of_distances = 0.0 if settling else self.recipe.distances * share
            of_squares = self.squares * share if index == last else 0.0
            rest = share - of_distances - of_squares
            of_counts = rest / (1 + self.recipe.counts * math.sqrt(self.n_features))
            step = self.planner.step(
                f"settling {index - joining + 1}" if settling else f"round {min(index, joining) + 1}",
                SETTLING if settling else JOINING,
                n_points=self.sizes[index],
                row_share=self.row_share,
                **({} if settling else {"distances": (distances, of_distances)}),
                counts=(counts, of_counts),
                sums=(sums, rest - of_counts),
                **({"squares": (_squares(self.n_features), of_squares)} if of_squares else {}),
            )
            if index == last and self.recipe.ends_on_all_rows:
                step = step.with_all_rows("counts", "sums", "squares")
            projected = self.dimension < self.n_features and index < self.recipe.projected
            rounds.append(Round(step=step, n_left=self.sizes[index + 1], projected=projected, settling=settling))
        return tuple(rounds)

    def rounds_without(self, left_out: tuple[Step, ...]) -> tuple[Round, ...]:
        """Return the second half with what steps that were not asked have left over."""
        spare = sum(step.share for step in left_out) / self.planner.part
        factor = 1 + spare / sum(self.rounds)
        return tuple(replace(one, step=one.step.times(factor)) for one in self.refine_rounds)


def make_plan(
    n_rows: float,
    n_features: int,
    n_clusters: int,
    *,
    planner: Planner,
    squares: float = 0.0,
    recipe: Recipe | None = None,
) -> KMeansPlan:
    """Return the plan for these public numbers; `n_rows` may be a noisy count that has been paid for.

    `squares` is the part of the last round that tells how far the rows of each centre scatter; without a `recipe` it is that of
    the noise.
    """
    budget, relation = planner.budget, planner.relation
    recipe = recipe or (GAUSSIAN if budget.is_gaussian else PURE)
    row_share = _row_share(recipe, n_rows, n_features, n_clusters, planner)
    asked = row_share * n_rows
    dimension = recipe.project_to if n_features > recipe.project_above else n_features
    scale = _share(recipe.distance_snr, asked, planner, low=recipe.scale_low, high=recipe.scale_high)
    scales = (scale,) + (min(scale, recipe.scale_later),) * (N_MEANS - 1)
    axes = _axes_share(recipe, asked, n_features, planner)
    vote = _share(recipe.vote_snr, asked / n_clusters, planner, low=recipe.vote_low, high=recipe.vote_high)
    vote_noise = _count_noise(budget.share(vote), relation)
    start = max(n_clusters, min(LARGEST_START, int(recipe.extra_start * n_clusters)))
    snr = asked / n_clusters / _count_noise(budget, relation)  # the less an average cluster stands out, the fewer rounds
    n_rounds = int(min(recipe.n_rounds_high, max(recipe.n_rounds_low, snr / recipe.round_snr)))
    rest = 1 - N_MEANS * recipe.mean - sum(scales) - axes - recipe.n_votes * vote
    settling = _settling_shares(recipe, rest, asked, n_features, n_clusters, planner)
    weights = [recipe.growth**index for index in range(n_rounds)]
    joining = [(rest - sum(settling)) * weight / sum(weights) for weight in weights]
    ratio = n_clusters / start  # centres are joined from start to k in equal ratios
    left = [max(n_clusters, int(0.5 + start * ratio ** (index / (n_rounds - 1)))) for index in range(1, n_rounds - 1)]
    counts, sums, distances = _probes(n_features)
    step, words = partial(planner.step, row_share=row_share), "The mean of the rows, and how far they lie from it"
    return KMeansPlan(
        n_rows=n_rows,
        n_features=n_features,
        n_clusters=n_clusters,
        row_share=row_share,
        locate_steps=LocateSteps(
            origin=tuple(
                step(f"mean {index}", words, n_points=1, sums=(sums, recipe.mean), distances=(distances, share))
                for index, share in enumerate(scales, start=1)
            ),
            axes=step("axes", "In which directions the rows vary most", n_points=1, moments=(_moments(n_features), axes))
            if axes
            else None,
            votes=tuple(
                step(f"vote {index}", "Votes for the nearest candidate", n_points=size, counts=(counts, vote))
                for index, size in enumerate(
                    _candidates(recipe, asked, n_clusters, vote_noise, flat=dimension <= recipe.flat), start=1
                )
            ),
            fineness=3 if asked > FINE * _count_noise(budget.share(scale), relation) else 1,
            dimension=dimension,
            n_points=start,
        ),
        rounds=(*joining[:-1], *settling, joining[-1]),
        sizes=(start, *left, *(n_clusters,) * (len(settling) + 1 + (n_rounds > 1))),
        n_settling=len(settling),
        squares=squares,
        recipe=recipe,
        planner=planner,
    )


def choose_n_points(n_rows: float, max_clusters: int, planner: Planner) -> int:
    """Return how many points a synopsis has: two for each cluster that is looked for, but no more than rows and noise carry."""
    carried = n_rows / (POINT_SNR * _count_noise(planner.budget, planner.relation))
    return int(min(POINTS_PER_CLUSTER * max_clusters, max(FEWEST_POINTS, carried)))


def _row_share(recipe: Recipe, n_rows: float, n_features: int, n_clusters: int, planner: Planner) -> float:
    """Return the part of the rows to look for clusters in: 1 unless far fewer than all would tell as much.

    In the sample a cluster of average size has enough rows for its place, and stands out of the noise of the least vote. Where
    the rows of a person are many, the noise of all questions is as many times larger, and so are the rows it takes.
    """
    noise = _count_noise(planner.budget.share(recipe.vote_low), planner.relation)
    privacy_unit = planner.relation.privacy_unit
    each = 1.0 if privacy_unit is None else privacy_unit.factor / privacy_unit.steps
    wanted = max(each * recipe.sample_least, n_clusters * max(each * recipe.sample_rows, recipe.sample_snr * noise))
    if wanted > LARGEST_SAMPLE * n_rows or wanted * n_features > MOST_SAMPLED:
        return 1.0
    return max(wanted / n_rows, SMALLEST_SHARE)


def _settling_shares(
    recipe: Recipe, rest: float, n_rows: float, n_features: int, n_clusters: int, planner: Planner
) -> tuple[float, ...]:
    """Return the shares of the rounds in which k centres settle.

    Centres of rows without sharp clusters go on moving for many rounds. Each of these rounds gets what keeps its noise small,
    as long as the others are left enough. There are none for a table larger than a sample may be: each would read it again.
    """
    if n_clusters == 1 or n_rows * n_features > MOST_SAMPLED:
        return ()
    noise = deviation(_probes(n_features)[1], planner.budget, planner.relation) * n_clusters / max(n_rows, 1.0)
    share = max(SMALLEST_SETTLING, planner.budget.share_for_noise(noise / recipe.settling_noise))
    return (share,) * min(recipe.n_settling, int(recipe.settling_part * rest / share))


def _candidates(recipe: Recipe, n_rows: float, n_clusters: int, noise: float, *, flat: bool) -> tuple[int, ...]:
    """Return the candidates of each vote: as many as the noise of a vote allows, within the work that a vote may take."""
    most = recipe.max_candidates_flat if flat else recipe.max_candidates
    per_cluster = recipe.per_cluster_flat if flat else recipe.per_cluster
    most = min(most, max(FEWEST_CANDIDATES, per_cluster * n_clusters))
    wanted = max(16, 2 * n_clusters, min(most, int(n_rows / (recipe.density * noise))))
    if flat:
        return (wanted,) * recipe.n_votes
    first = min(wanted, max(recipe.max_first, 2 * n_clusters))
    return (first,) + (min(wanted, max(first, int(MOST_WORK / n_rows))),) * (recipe.n_votes - 1)


def _axes_share(recipe: Recipe, n_rows: float, n_features: int, planner: Planner) -> float:
    """Return the share at which eigenvalues of the noise are a small part of the squared radius; 0 where none is enough."""
    if not 1 < n_features <= MOST_AXES:
        return 0.0
    noise = deviation(_moments(n_features), planner.budget, planner.relation)
    edge = spectral_edge(noise, n_features) / max(n_rows, 1.0)
    if planner.budget.share_for_noise(edge / recipe.axes_edge_most) > recipe.axes_high:
        return 0.0
    share = planner.budget.share_for_noise(edge / recipe.axes_edge)
    return float(min(recipe.axes_high, max(recipe.axes_low, share)))


@lru_cache(maxsize=8)
def _probes(n_features: int) -> tuple[NearestCounts, NearestSums, DistanceHistogram]:
    """Return questions of the sensitivity that those of a fit have; sums are clipped at 1."""
    point = np.zeros((1, n_features))
    edges = np.ones(1)
    return NearestCounts(points=point), NearestSums(points=point, radius=1.0), DistanceHistogram(edges=edges, points=point)


@lru_cache(maxsize=8)
def _squares(n_features: int) -> NearestSquares:
    """Return the question for the scatter of rows, clipped at 1."""
    return NearestSquares(points=np.zeros((1, n_features)), radius=1.0)


@lru_cache(maxsize=8)
def _moments(n_features: int) -> SecondMoments:
    """Return the question for the axes, clipped at 1."""
    return SecondMoments(center=np.zeros(n_features), radius=1.0)


def _share(snr: float, n_rows: float, planner: Planner, *, low: float, high: float) -> float:
    """Return the share at which so many rows stand out of the noise of a count by `snr` standard deviations."""
    ratio = snr * _count_noise(planner.budget, planner.relation) / max(n_rows, 1e-9)
    return float(min(high, max(low, planner.budget.share_for_noise(ratio))))


def _count_noise(cost: Cost, relation: Neighbours) -> float:
    return deviation(_probes(1)[0], cost, relation)
