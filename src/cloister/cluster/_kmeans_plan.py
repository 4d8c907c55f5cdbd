# SPDX-License-Identifier: Apache-2.0
"""How :class:`cloister.KMeans` divides its budget: a function of public numbers, computed before the first question."""

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from cloister.algorithms import LocateSteps, Round
from cloister.cluster._plan import Plan, Planner
from cloister.domain import Relation
from cloister.privacy import Cost, Step
from cloister.questions import DistanceHistogram, NearestCounts, NearestSums, deviation

__all__ = ["GAUSSIAN", "PURE", "KMeansPlan", "Recipe", "make_plan"]

MOST_WORK = 2.0**30  # rows times candidates of a vote; beyond it votes get fewer candidates, though not fewer than the first
FINE = 40.0  # standard deviations of a count from which the first histogram of distances is fine
LARGEST_START = 4096  # centres before extra ones are joined


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """The constants of the plan, all shares being parts of the whole budget."""

    mean: float  # the mean of the rows
    scale_low: float  # how far rows lie from it: least and most
    scale_high: float
    distance_snr: float  # standard deviations that all rows together should stand out by there
    vote_snr: float  # standard deviations that a cluster of average size should stand out by in a vote
    vote_low: float  # least and most that a vote may take
    vote_high: float
    n_votes: int  # rounds of votes
    n_votes_flat: int  # the same in few dimensions, where votes place centres well
    flat: int  # dimensions that are few
    density: float  # rows per candidate, in standard deviations of a vote's noise
    max_candidates: int
    max_first: int  # of the first vote, which need not see details
    max_candidates_flat: int  # of all votes in few dimensions, where a search among many is quick
    extra_start: float  # centres at the start, times k
    n_rounds: int  # rounds of counts and sums; extra centres are joined after all but the last
    n_rounds_low_snr: int  # the same where clusters hardly stand out
    low_snr: float  # standard deviations of a count, at the whole budget, from which a cluster of average size stands out
    growth: float  # of their shares, from round to round
    projected: int  # rounds in which rows belong to centres of the projection
    distances: float  # part of a round for the histogram of distances
    counts: float  # counts get 1 / (1 + counts sqrt(d)) of the rest
    project_above: int
    project_to: int


GAUSSIAN = Recipe(
    mean=0.01,
    scale_low=0.02,
    scale_high=0.08,
    distance_snr=8.0,
    vote_snr=6.0,
    vote_low=0.04,
    vote_high=0.15,
    n_votes=2,
    n_votes_flat=3,
    flat=4,
    density=0.25,
    max_candidates=2048,
    max_first=1024,
    max_candidates_flat=4096,
    extra_start=3.0,
    n_rounds=6,
    n_rounds_low_snr=4,
    low_snr=20.0,
    growth=1.3,
    projected=2,
    distances=0.06,
    counts=0.5,
    project_above=10,
    project_to=8,
)
# Laplace noise adds up faster over rounds (in proportion to their number, not to its root), so there are fewer of them.
PURE = replace(
    GAUSSIAN,
    mean=0.02,
    scale_high=0.2,
    vote_low=0.08,
    vote_high=0.25,
    n_votes_flat=2,
    extra_start=2.0,
    n_rounds=2,
    n_rounds_low_snr=2,
    projected=1,
    distances=0.08,
)


@dataclass(frozen=True, kw_only=True)
class KMeansPlan(Plan):
    """What a fit will ask, in order, and at what share of the budget."""

    n_rows: float
    n_features: int
    n_clusters: int
    dimension: int  # in which votes are cast
    n_candidates: tuple[int, ...]  # of each vote
    n_start: int  # centres before extra ones are joined
    mean: float
    scale: float
    fineness: int  # bins an octave of distances has in the first histogram
    votes: tuple[float, ...]
    rounds: tuple[float, ...]
    left: tuple[int, ...]  # centres after each round
    recipe: Recipe
    planner: Planner

    @property
    def steps(self) -> tuple[Step, ...]:
        """What will be asked, in order."""
        first = self.locate_steps
        return (first.mean, first.spread, *first.votes, *(one.step for one in self.refine_rounds))

    @property
    def projected(self) -> bool:
        """Whether votes are cast in a random projection."""
        return self.dimension < self.n_features

    def sum_noise(self, share: float) -> float:
        """Return the standard deviation of a coordinate of a sum that gets `share`, per unit of radius."""
        return deviation(_probes(self.n_features)[1], self.planner.budget.share(share), self.planner.relation)

    @cached_property
    def locate_steps(self) -> LocateSteps:
        """The first half: where the mass is."""
        counts, sums, distances = _probes(self.n_features)
        step = self.planner.step
        return LocateSteps(
            mean=step("mean", "The mean of the rows", n_points=1, sums=(sums, self.mean)),
            spread=step("spread", "How far rows lie from their mean", n_points=1, distances=(distances, self.scale)),
            votes=tuple(
                step(f"vote {index}", "Votes for the nearest candidate", n_points=size, counts=(counts, share))
                for index, (size, share) in enumerate(zip(self.n_candidates, self.votes, strict=True), start=1)
            ),
            fineness=self.fineness,
            n_points=self.n_start,
        )

    @cached_property
    def refine_rounds(self) -> tuple[Round, ...]:
        """The second half: where the centres are."""
        return tuple(self._round(index) for index in range(len(self.rounds)))

    def _round(self, index: int) -> Round:
        counts, sums, distances = _probes(self.n_features)
        whole = self.rounds[index]
        of_distances = self.recipe.distances * whole
        of_counts = (whole - of_distances) / (1 + self.recipe.counts * math.sqrt(self.n_features))
        step = self.planner.step(
            f"round {index + 1}",
            "How far rows lie from their centre; then counts and sums of offsets, clipped accordingly",
            n_points=(self.n_start, *self.left)[index],
            distances=(distances, of_distances),
            counts=(counts, of_counts),
            sums=(sums, whole - of_distances - of_counts),
        )
        return Round(step=step, n_left=self.left[index], projected=self.projected and index < self.recipe.projected)


def make_plan(n_rows: float, n_features: int, n_clusters: int, *, planner: Planner, recipe: Recipe | None = None) -> KMeansPlan:
    """Return the plan for these public numbers.

    Parameters
    ----------
    n_rows : float
        Public, or a noisy count that has been paid for.
    n_features, n_clusters : int
        Columns and centres.
    planner : Planner
        What the questions may cost together, and which tables are neighbours.
    recipe : Recipe, optional
        The constants; by default those for the kind of noise.
    """
    budget, relation = planner.budget, planner.relation
    recipe = recipe or (GAUSSIAN if budget.is_gaussian else PURE)
    dimension = recipe.project_to if n_features > recipe.project_above else n_features
    flat = dimension <= recipe.flat
    n_votes = recipe.n_votes_flat if flat else recipe.n_votes
    scale = _share(recipe.distance_snr, n_rows, planner, low=recipe.scale_low, high=recipe.scale_high)
    vote = _share(recipe.vote_snr, n_rows / n_clusters, planner, low=recipe.vote_low, high=recipe.vote_high)
    start = max(n_clusters, min(LARGEST_START, int(recipe.extra_start * n_clusters)))
    low_snr = n_rows / n_clusters < recipe.low_snr * _count_noise(budget, relation)
    n_rounds = recipe.n_rounds_low_snr if low_snr else recipe.n_rounds
    rounds = _refine_shares(1 - recipe.mean - scale - n_votes * vote, n_rounds, growth=recipe.growth)
    return KMeansPlan(
        n_rows=n_rows,
        n_features=n_features,
        n_clusters=n_clusters,
        dimension=dimension,
        n_candidates=_candidates(recipe, n_rows, n_clusters, n_votes, _count_noise(budget.share(vote), relation), flat=flat),
        n_start=start,
        mean=recipe.mean,
        scale=scale,
        fineness=3 if n_rows > FINE * _count_noise(budget.share(scale), relation) else 1,
        votes=(vote,) * n_votes,
        rounds=rounds,
        left=tuple(_left(index, start, n_clusters, n_rounds - 1) for index in range(1, n_rounds + 1)),
        recipe=recipe,
        planner=planner,
    )


def _candidates(recipe: Recipe, n_rows: float, n_clusters: int, n_votes: int, noise: float, *, flat: bool) -> tuple[int, ...]:
    """Return the candidates of each vote: as many as the noise of a vote allows, within the work that a vote may take."""
    most = recipe.max_candidates_flat if flat else recipe.max_candidates
    wanted = max(16, 2 * n_clusters, min(most, int(n_rows / (recipe.density * noise))))
    if flat:
        return (wanted,) * n_votes
    first = min(wanted, max(recipe.max_first, 2 * n_clusters))
    return (first,) + (min(wanted, max(first, int(MOST_WORK / n_rows))),) * (n_votes - 1)


@lru_cache(maxsize=8)
def _probes(n_features: int) -> tuple[NearestCounts, NearestSums, DistanceHistogram]:
    """Return questions of the sensitivity that those of a fit have; sums are clipped at 1."""
    point = np.zeros((1, n_features))
    edges = np.ones(1)
    return NearestCounts(points=point), NearestSums(points=point, radius=1.0), DistanceHistogram(edges=edges, points=point)


def _share(snr: float, n_rows: float, planner: Planner, *, low: float, high: float) -> float:
    """Return the share at which so many rows stand out of the noise of a count by `snr` standard deviations."""
    ratio = snr * _count_noise(planner.budget, planner.relation) / max(n_rows, 1e-9)
    return float(min(high, max(low, planner.budget.share_for_noise(ratio))))


def _refine_shares(whole: float, n_rounds: int, *, growth: float) -> tuple[float, ...]:
    weights = [growth**index for index in range(n_rounds)]
    return tuple(whole * weight / sum(weights) for weight in weights)


def _left(index: int, start: int, n_clusters: int, joining: int) -> int:
    """Return how many centres are left after round `index`: from start to k in equal ratios."""
    if index >= joining:
        return n_clusters
    return max(n_clusters, int(0.5 + start * (n_clusters / start) ** (index / joining)))


def _count_noise(cost: Cost, relation: Relation) -> float:
    return deviation(_probes(1)[0], cost, relation)
