# SPDX-License-Identifier: Apache-2.0
"""What a collection of events costs together.

Gaussian events compose exactly: the squares of their mu add up, also when each is chosen after seeing the answers to the
earlier ones (Smith and Thakurta 2022). Pure events add their epsilons, likewise. Where both kinds occur, their epsilons add:
the Gaussian events as (epsilon_g, delta), the pure ones as their sum epsilon_p, all as (epsilon_g + epsilon_p, delta). Proof,
for any interleaving, however it was chosen: move the Gaussian answers from one table to its neighbour first, which costs
(epsilon_g, delta) because the pure answers in between are post-processing with randomness of their own; then move the pure
ones, which costs a factor e^epsilon_p on what is left.

Costs that were all fixed before the first answer can be composed more tightly, with Google's `dp-accounting` by privacy loss
distributions, pessimistically rounded; a pure event enters as randomised response, which dominates every epsilon-DP mechanism.
That is what `planned` stands for. It is wrong for costs chosen on the way: whoever lets an answer decide between a
Gaussian and a pure fit can push delta above that of either choice (we computed a case of 1.85 times).

Sums are compared with a relative tolerance of 1e-12 for floating-point addition, three orders of magnitude below the slack
that calibration leaves.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from cloister import validate
from cloister.privacy._calibrate import gdp_delta, gdp_epsilon, pure_mu
from cloister.privacy._events import Cost
from cloister.privacy._guarantees import GDP, ZCDP, ApproxDP, Guarantee, PureDP, gaussian_budget

__all__ = ["Tally", "left_of"]

TOLERANCE = 1e-12
DISCRETIZATION = 1e-4  # smallest step of the privacy loss distributions; losses are rounded up to it
FINE_STEPS, COARSE_STEPS = 34, 17  # of a bisection: where a look is cheap, and where it composes distributions
LARGEST_GRID = 50_000  # steps from the smallest to the largest loss that matters: a few tenths of a second to compose


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
        if isinstance(cost, GDP):
            self.mu_squared += cost.mu**2
        elif isinstance(cost, PureDP):
            self.pure[cost.epsilon] += 1
        else:
            validate.refuse("cost", "GDP or PureDP", cost, remedy="Convert a budget with gaussian_budget first.")

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
        return sum(epsilon * times for epsilon, times in self.pure.items())

    @property
    def rho(self) -> float:
        """All events together, as zCDP."""
        return self.mu_squared / 2 + sum(times * epsilon**2 / 2 for epsilon, times in self.pure.items())

    @property
    def all_mu(self) -> float:
        """All events together, as GDP."""
        return float((self.mu_squared + sum(times * pure_mu(epsilon) ** 2 for epsilon, times in self.pure.items())) ** 0.5)

    def delta_at(self, epsilon: float, *, planned: bool = False) -> float:
        """Return a delta such that all events together are (epsilon, delta)-DP."""
        if not self.pure:
            return gdp_delta(self.mu, epsilon)
        if not self.mu_squared and self.epsilon_sum <= epsilon * (1 + TOLERANCE):
            return 0.0
        if planned:
            return float(self._distribution().get_delta_for_epsilon(epsilon))
        left = epsilon - self.epsilon_sum
        return gdp_delta(self.mu, left) if self.mu_squared and left >= 0 else 1.0

    def epsilon_at(self, delta: float, *, planned: bool = False) -> float:
        """Return an epsilon such that all events together are (epsilon, delta)-DP."""
        gaussian = gdp_epsilon(self.mu, delta) if self.mu_squared else 0.0
        if not self.pure or not planned or (not self.mu_squared and delta == 0.0):
            return gaussian + self.epsilon_sum
        return min(float(self._distribution().get_epsilon_for_delta(delta)), gaussian + self.epsilon_sum)

    def fits(self, budget: Guarantee, *, planned: bool = False) -> bool:
        """Whether all events together satisfy `budget`."""
        limit = 1 + TOLERANCE
        if isinstance(budget, PureDP):
            return not self.mu_squared and self.epsilon_sum <= budget.epsilon * limit
        if isinstance(budget, ZCDP):
            return self.rho <= budget.rho * limit
        if isinstance(budget, GDP):
            return self.all_mu <= budget.mu * limit
        if not self.mu_squared and self.epsilon_sum <= budget.epsilon * limit:
            return True
        if budget.delta == 0.0:
            return False
        return self.delta_at(budget.epsilon, planned=planned) <= budget.delta

    def describe(self, like: Guarantee, *, planned: bool = False) -> str:
        """Say what was spent in the currency of `like`."""
        if isinstance(like, ApproxDP) and like.delta > 0:
            return f"epsilon {self.epsilon_at(like.delta, planned=planned):.4g} at delta {like.delta:.3g}"
        if isinstance(like, PureDP | ApproxDP):
            return f"epsilon {self.epsilon_sum:.4g}"
        return f"rho {self.rho:.4g}" if isinstance(like, ZCDP) else f"mu {self.all_mu:.4g}"

    def _distribution(self) -> Any:
        return _compose(self.mu, tuple(sorted(self.pure.items())))


def left_of(budget: Guarantee, spent: Tally, *, planned: bool = False) -> float:
    """Return the largest further cost that still fits, in the currency of `budget` (epsilon, rho or mu), rounded down."""
    if isinstance(budget, GDP | ZCDP) or (isinstance(budget, ApproxDP) and budget.delta > 0):
        steps = COARSE_STEPS if planned and spent.pure and isinstance(budget, ApproxDP) else FINE_STEPS
        most = _largest(
            lambda mu: (spent + Tally(mu * mu)).fits(budget, planned=planned), gaussian_budget(budget).mu, steps=steps
        )
        return _currency(budget, most)
    return _largest(lambda epsilon: (spent + Tally.of([PureDP(epsilon)])).fits(budget), budget.epsilon, steps=FINE_STEPS)


def _currency(budget: GDP | ZCDP | ApproxDP, mu: float) -> float:
    if isinstance(budget, GDP):
        return mu
    if isinstance(budget, ZCDP):
        return mu * mu / 2
    return gdp_epsilon(mu, budget.delta) if mu > 0 else 0.0


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
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.compose(part)
    return whole
