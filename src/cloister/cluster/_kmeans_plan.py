# SPDX-License-Identifier: Apache-2.0
"""How :class:`cloister.KMeans` divides its budget: a function of public numbers, computed before the first question."""

import math
from dataclasses import dataclass

from cloister.algorithms import LocateCosts, Round
from cloister.domain import Relation
from cloister.privacy import GDP, Cost

__all__ = ["GAUSSIAN", "PURE", "KMeansPlan", "Recipe", "make_plan"]

MOST_WORK = 2.0**30  # rows times candidates of a vote; beyond it votes get fewer candidates, though not fewer than the first
FINE = 40.0  # standard deviations of a count from which the first histogram of distances is fine
LARGEST_START = 4096  # centres before surplus ones are joined


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
    surplus: float  # centres at the start, times k
    n_rounds: int  # rounds of counts and sums; surplus centres are joined after all but the last
    n_rounds_low_snr: int  # the same where clusters are faint
    low_snr: float  # standard deviations of a count, at the whole budget, below which a cluster of average size is faint
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
    surplus=3.0,
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
PURE = Recipe(
    mean=0.02,
    scale_low=0.02,
    scale_high=0.2,
    distance_snr=8.0,
    vote_snr=6.0,
    vote_low=0.08,
    vote_high=0.25,
    n_votes=2,
    n_votes_flat=2,
    flat=4,
    density=0.25,
    max_candidates=2048,
    max_first=1024,
    max_candidates_flat=4096,
    surplus=2.0,
    n_rounds=2,
    n_rounds_low_snr=2,
    low_snr=20.0,
    growth=1.3,
    projected=1,
    distances=0.08,
    counts=0.5,
    project_above=10,
    project_to=8,
)


@dataclass(frozen=True, kw_only=True)
class KMeansPlan:
    """What a fit will ask, in order, and at what share of the budget."""

    n_rows: float
    n_features: int
    n_clusters: int
    dimension: int  # in which votes are cast
    n_candidates: tuple[int, ...]  # of each vote
    n_start: int  # centres before surplus ones are joined
    mean: float
    scale: float
    fineness: int  # bins an octave of distances has in the first histogram
    votes: tuple[float, ...]
    rounds: tuple[float, ...]
    left: tuple[int, ...]  # centres after each round
    recipe: Recipe
    budget: Cost
    relation: Relation

    @property
    def projected(self) -> bool:
        """Whether votes are cast in a random projection."""
        return self.dimension < self.n_features

    @property
    def locate_costs(self) -> LocateCosts:
        """Costs of the first half."""
        share = self.budget.share
        return LocateCosts(mean=share(self.mean), scale=share(self.scale), votes=tuple(share(part) for part in self.votes))

    @property
    def round_costs(self) -> tuple[Round, ...]:
        """Costs of the rounds of the second half."""
        return tuple(self._round(index) for index in range(len(self.rounds)))

    @property
    def n_questions(self) -> int:
        """Steps that the progress bar counts."""
        return 2 + len(self.votes) + len(self.rounds)

    def count_noise(self, share: float) -> float:
        """Return the standard deviation of a count that gets `share` of the budget."""
        return _noise(
            self.budget.share(share), l1=1.0, l2=1.0, replaced=2.0 if self._pure else 2.0**0.5, relation=self.relation
        )

    def sum_noise(self, share: float) -> float:
        """Return the standard deviation of a coordinate of a sum that gets `share`, per unit of radius."""
        return _noise(self.budget.share(share), l1=self.n_features**0.5, l2=1.0, replaced=2.0, relation=self.relation)

    def shares_of(self, index: int) -> tuple[float, float, float]:
        """Return what a round gives to distances, counts and sums."""
        whole = self.rounds[index]
        distances = self.recipe.distances * whole
        counts = (whole - distances) / (1 + self.recipe.counts * math.sqrt(self.n_features))
        return distances, counts, whole - distances - counts

    @property
    def _pure(self) -> bool:
        return not isinstance(self.budget, GDP)

    def _round(self, index: int) -> Round:
        distances, counts, sums = self.shares_of(index)
        return Round(
            distances=self.budget.share(distances),
            counts=self.budget.share(counts),
            sums=self.budget.share(sums),
            sum_noise=self.sum_noise(sums),
            n_left=self.left[index],
            projected=self.projected and index < self.recipe.projected,
        )


def make_plan(
    n_rows: float, n_features: int, n_clusters: int, *, budget: Cost, relation: Relation, recipe: Recipe | None = None
) -> KMeansPlan:
    """Return the plan for these public numbers.

    Parameters
    ----------
    n_rows : float
        Public, or a noisy count that has been paid for.
    n_features, n_clusters : int
        Columns and centres.
    budget : GDP or PureDP
        What the questions may cost together.
    relation : Relation
        Which tables are neighbours.
    recipe : Recipe, optional
        The constants; by default those for the kind of noise.
    """
    recipe = recipe or (GAUSSIAN if isinstance(budget, GDP) else PURE)
    dimension = recipe.project_to if n_features > recipe.project_above else n_features
    flat = dimension <= recipe.flat
    n_votes = recipe.n_votes_flat if flat else recipe.n_votes
    most = recipe.max_candidates_flat if flat else recipe.max_candidates
    scale = _share(recipe.distance_snr, n_rows, budget=budget, relation=relation, low=recipe.scale_low, high=recipe.scale_high)
    vote = _share(
        recipe.vote_snr, n_rows / n_clusters, budget=budget, relation=relation, low=recipe.vote_low, high=recipe.vote_high
    )
    start = max(n_clusters, min(LARGEST_START, int(recipe.surplus * n_clusters)))
    faint = n_rows / n_clusters < recipe.low_snr * _count_noise(budget, relation)
    n_rounds = recipe.n_rounds_low_snr if faint else recipe.n_rounds
    rounds = _refine_shares(1 - recipe.mean - scale - n_votes * vote, n_rounds, growth=recipe.growth)
    noise = _count_noise(budget.share(vote), relation)
    n_candidates = max(16, 2 * n_clusters, min(most, int(n_rows / (recipe.density * noise))))
    if flat:
        n_first = n_candidates
    else:
        n_first = min(n_candidates, max(recipe.max_first, 2 * n_clusters))
        n_candidates = min(n_candidates, max(n_first, int(MOST_WORK / n_rows)))
    return KMeansPlan(
        n_rows=n_rows,
        n_features=n_features,
        n_clusters=n_clusters,
        dimension=dimension,
        n_candidates=(n_first,) + (n_candidates,) * (n_votes - 1),
        n_start=start,
        mean=recipe.mean,
        scale=scale,
        fineness=3 if n_rows > FINE * _count_noise(budget.share(scale), relation) else 1,
        votes=(vote,) * n_votes,
        rounds=rounds,
        left=tuple(_left(index, start, n_clusters, n_rounds - 1) for index in range(1, n_rounds + 1)),
        recipe=recipe,
        budget=budget,
        relation=relation,
    )


def _share(clear: float, n_rows: float, *, budget: Cost, relation: Relation, low: float, high: float) -> float:
    """Return the share at which so many rows stand out of the noise of a count by `clear` standard deviations."""
    ratio = clear * _count_noise(budget, relation) / max(n_rows, 1e-9)
    wanted = ratio**2 if isinstance(budget, GDP) else ratio  # Gaussian noise falls with the root of the share
    return float(min(high, max(low, wanted)))


def _refine_shares(whole: float, n_rounds: int, *, growth: float) -> tuple[float, ...]:
    weights = [growth**index for index in range(n_rounds)]
    return tuple(whole * weight / sum(weights) for weight in weights)


def _left(index: int, start: int, n_clusters: int, joining: int) -> int:
    """Return how many centres are left after round `index`: from start to k in equal ratios."""
    if index >= joining:
        return n_clusters
    return max(n_clusters, int(0.5 + start * (n_clusters / start) ** (index / joining)))


def _count_noise(cost: Cost, relation: Relation) -> float:
    return _noise(cost, l1=1.0, l2=1.0, replaced=2.0**0.5 if isinstance(cost, GDP) else 2.0, relation=relation)


def _noise(cost: Cost, *, l1: float, l2: float, replaced: float, relation: Relation) -> float:
    """Return the standard deviation of noise for sensitivities that grow by `replaced` when a row is replaced."""
    factor = 1.0 if relation is Relation.ADD_REMOVE else replaced
    if isinstance(cost, GDP):
        return float(factor * l2 / cost.mu)
    return float(2.0**0.5 * factor * l1 / cost.epsilon)
