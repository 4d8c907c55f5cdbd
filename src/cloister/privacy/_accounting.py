# SPDX-License-Identifier: Apache-2.0
"""What a collection of events costs together, when each may be chosen after seeing the answers to the earlier ones.

**Gaussian events**: the squares of their mu add up. **Pure events**: their epsilons add up. **Both kinds in one (epsilon,
delta) budget**: a pure event counts as its tight Gaussian cost, mu = 2 Phi^-1(e^eps / (1 + e^eps)), and squares add up: given
the past, each event is a randomised function of a stretch of one Brownian path, and the likelihood ratio of two paths depends
on their end point alone. Runs in which only pure events occur may instead spend epsilons that add up to epsilon: there p is at
most e^epsilon q, which adds nothing to delta. **A split fixed beforehand** (`pure_epsilon`): Gaussian events within
(epsilon - pure_epsilon, delta), pure ones within pure_epsilon. It is not enough that both add up to epsilon at every point:
where answers decide which kind comes next, they choose the split, and delta grows.

**Costs that were all fixed before the first answer** (`planned`) can be composed more tightly, with Google's `dp-accounting`
by privacy loss distributions, pessimistically rounded; a pure event enters as randomised response, which dominates every
epsilon-DP mechanism. It is wrong for costs chosen on the way.

The proofs are in ``docs/proofs/composition``: ``gaussian``, ``pure``, ``mixed`` and ``planned``. What a tally amounts to in a
guarantee's own terms, and whether it fits, is said by the guarantee.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from typing import Any

from cloister import validate
from cloister.privacy._calibrate import gdp_delta, gdp_epsilon, pure_mu
from cloister.privacy._guarantees import GDP, TOLERANCE, Cost, Guarantee, PureDP

DISCRETIZATION = 1e-4  # smallest step of the privacy loss distributions; losses are rounded up to it
FINE_STEPS, COARSE_STEPS = 34, 17  # of a bisection: where a look is cheap, and where it composes distributions
LARGEST_GRID = 50_000  # steps from the smallest to the largest loss that matters: a few tenths of a second to compose


@dataclass(frozen=True)
class Composition:
    """How the costs that share a budget are added up. Fixed when the budget is made, before the first answer."""

    planned: bool = False  # kind and cost of every event are fixed before the first answer
    pure_epsilon: float = 0.0  # the part of an (epsilon, delta) budget that is set aside for pure events


ADAPTIVE = Composition()


@dataclass
class Tally:
    """A running sum of costs. Addition is all it does; the questions about it are answered on demand."""

    mu_squared: float = 0.0
    pure: Counter[float] = field(default_factory=Counter)

    @classmethod
    def of(cls, costs: Iterable[Cost]) -> "Tally":
        """Add up costs."""
        tally = cls()
        for cost in costs:
            tally.add(cost)
        return tally

    def add(self, cost: Cost) -> None:
        """Add one cost."""
        if not isinstance(cost, Cost):
            validate.refuse("cost", "GDP or PureDP", cost, remedy="Pass guarantee.noise_budget().")
        if cost.is_gaussian:
            self.mu_squared += cost.weight
        else:
            self.pure[cost.weight] += 1

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(self.mu_squared + other.mu_squared, self.pure + other.pure)

    @property
    def empty(self) -> bool:
        """Whether nothing has been spent."""
        return self.mu_squared == 0.0 and not self.pure

    @property
    def mu(self) -> float:
        """Gaussian part, as mu."""
        return math.sqrt(self.mu_squared)

    @property
    def epsilon_sum(self) -> float:
        """Pure part, as the sum of its epsilons."""
        return math.fsum(epsilon * times for epsilon, times in self.pure.items())

    @property
    def rho(self) -> float:
        """All events together, as zCDP."""
        return self.mu_squared / 2 + math.fsum(times * epsilon**2 / 2 for epsilon, times in self.pure.items())

    @property
    def all_mu(self) -> float:
        """All events together, as GDP."""
        pure = math.fsum(times * pure_mu(epsilon) ** 2 for epsilon, times in self.pure.items())
        return float((self.mu_squared + pure) ** 0.5)

    def delta_at(self, epsilon: float, *, composition: Composition = ADAPTIVE) -> float:
        """Return a delta such that all events together are (epsilon, delta)-DP."""
        if not self.mu_squared and self.epsilon_sum <= epsilon * (1 + TOLERANCE):
            return 0.0
        if composition.pure_epsilon:
            left = epsilon - composition.pure_epsilon
            spare = self.epsilon_sum <= composition.pure_epsilon * (1 + TOLERANCE)
            return gdp_delta(self.mu, left) if spare and left >= 0 else 1.0
        if composition.planned and self.pure:
            return float(self._distribution().get_delta_for_epsilon(epsilon))
        return gdp_delta(self.all_mu, epsilon)

    def epsilon_at(self, delta: float, *, composition: Composition = ADAPTIVE) -> float:
        """Return an epsilon such that all events together are (epsilon, delta)-DP."""
        if not self.mu_squared and delta == 0.0:
            return self.epsilon_sum
        if composition.pure_epsilon:
            return gdp_epsilon(self.mu, delta) + self.epsilon_sum
        if composition.planned and self.pure:
            found = float(self._distribution().get_epsilon_for_delta(delta))
        else:
            found = gdp_epsilon(self.all_mu, delta)
        return found if self.mu_squared else min(found, self.epsilon_sum)

    def fits(self, budget: Guarantee, *, composition: Composition = ADAPTIVE) -> bool:
        """Whether all events together satisfy `budget`."""
        return budget.allows(self, composition)

    def describe(self, like: Guarantee, *, composition: Composition = ADAPTIVE) -> str:
        """Say what was spent in the terms of `like`, or that it is nothing."""
        return "nothing" if self.empty else like.describe(self, composition)

    def _distribution(self) -> Any:
        return _compose(self.mu, tuple(sorted(self.pure.items())))


def _worst(name: str) -> property:
    """Return the property of several tallies that is the largest of theirs."""
    return property(lambda spent: max(getattr(tally, name) for tally in spent.tallies))


@dataclass(frozen=True)
class WorstTally:
    """What was spent where people took part in different fits: of every number, the largest over people.

    `tallies` holds what one person may have spent, one for each way of taking part. Every question is answered by the worst of
    them in the terms of that question: the tally that is worst for one guarantee need not be worst for another.
    """

    tallies: tuple[Tally, ...]

    mu_squared = _worst("mu_squared")
    epsilon_sum = _worst("epsilon_sum")
    rho = _worst("rho")
    all_mu = _worst("all_mu")

    def delta_at(self, epsilon: float) -> float:
        """Return a delta such that all events together are (epsilon, delta)-DP."""
        return max(tally.delta_at(epsilon) for tally in self.tallies)

    def epsilon_at(self, delta: float) -> float:
        """Return an epsilon such that all events together are (epsilon, delta)-DP."""
        return max(tally.epsilon_at(delta) for tally in self.tallies)

    def plus(self, cost: Cost) -> "WorstTally":
        """Return what is spent once everybody has also spent `cost`."""
        return WorstTally(tuple(tally + Tally.of([cost]) for tally in self.tallies))

    def strength(self, like: Guarantee) -> float:
        """Return what was spent as an epsilon (at its delta), rho or mu of `like`."""
        return max(like.spent(tally, ADAPTIVE) for tally in self.tallies)

    def fits(self, budget: Guarantee) -> bool:
        """Whether all events together satisfy `budget`, for everybody."""
        return all(tally.fits(budget) for tally in self.tallies)

    def describe(self, like: Guarantee) -> str:
        """Say what was spent in the terms of `like`."""
        return max(self.tallies, key=lambda tally: like.spent(tally, ADAPTIVE)).describe(like)


def undominated(tallies: Iterable[Tally]) -> tuple[Tally, ...]:
    """Leave out every tally that is at most another one in each of four numbers.

    All that is read off a tally (composed as `ADAPTIVE` says) grows with these four, and the four of a sum of tallies are sums;
    of all_mu, squares add up. So what is left out is never the worst, whatever is added later.
    """
    kept: dict[tuple[float, ...], Tally] = {}
    numbers = ((tally.all_mu, tally.mu_squared, tally.rho, tally.epsilon_sum, tally) for tally in tallies)
    for *four, tally in sorted(numbers, key=lambda one: one[:4], reverse=True):
        if not any(all(a <= b for a, b in zip(four, other, strict=True)) for other in kept):
            kept[tuple(four)] = tally
    return tuple(kept.values())


def left_of(budget: Guarantee, spent: Tally, *, composition: Composition = ADAPTIVE, pure: bool = False) -> float:
    """Return the largest further cost that still fits, rounded down: of a Gaussian fit, or of a pure one.

    That of a Gaussian fit is in the terms of `budget` (epsilon at its delta, rho or mu), that of a pure fit is an epsilon.
    """

    def fits(cost: Cost) -> bool:
        return (spent + Tally.of([cost])).fits(budget, composition=composition)

    steps = COARSE_STEPS if composition.planned and budget.stated_delta else FINE_STEPS
    if pure or budget.is_pure:
        return _largest(lambda epsilon: fits(PureDP(epsilon)), budget.pure_budget().epsilon, steps=steps)
    mu = _largest(lambda mu: fits(GDP(mu)), budget.gaussian_budget().mu, steps=steps)
    return budget.spent(Tally(mu * mu), ADAPTIVE)


def _largest(fits: Callable[[float], bool], high: float, *, steps: int) -> float:
    """Return the largest value up to `high` that fits, to `steps` binary digits, by bisection; 0 where none does."""
    if fits(high):
        return high
    low = 0.0
    for _ in range(steps):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


@lru_cache(maxsize=64)
def _compose(mu: float, pure: tuple[tuple[float, int], ...]) -> Any:
    from dp_accounting.pld import common, privacy_loss_distribution

    # Losses of the Gaussian beyond ten deviations weigh less than 1e-22. A wider step only rounds losses up by more.
    span = mu * mu / 2 + 10 * mu + sum(epsilon * times for epsilon, times in pure)
    step = max(DISCRETIZATION, span / LARGEST_GRID)
    parts = [
        privacy_loss_distribution.from_privacy_parameters(
            common.DifferentialPrivacyParameters(epsilon, 0.0), value_discretization_interval=step
        ).self_compose(times)
        for epsilon, times in pure
    ]
    if mu:
        parts.append(
            privacy_loss_distribution.from_gaussian_mechanism(
                1.0 / mu, value_discretization_interval=step, pessimistic_estimate=True
            )
        )
    return reduce(lambda whole, part: whole.compose(part), parts)
