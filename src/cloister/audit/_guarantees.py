# SPDX-License-Identifier: Apache-2.0
"""The guarantees that methods are audited under, and what events use of them by other arithmetic than the package's own.

Squares of mu and sums of epsilon are taken by :func:`math.fsum`, the profile of Gaussian noise from its definition.
"""

import math
from collections.abc import Callable, Sequence

from scipy.special import log_ndtr, ndtri_exp

from cloister.privacy import GDP, ZCDP, ApproxDP, Event, Guarantee, PureDP

__all__ = ["GUARANTEES", "share_spent"]

GUARANTEES: dict[str, Guarantee] = {
    "approx": ApproxDP(3.0, 1e-6),
    "pure": PureDP(4.0),
    "gdp": GDP(1.2),
    "zcdp": ZCDP(0.4),
}


def share_spent(events: Sequence[Event], guarantee: Guarantee) -> float:
    """Return which part of a guarantee the events use: a ratio of epsilons, rhos, mus or, at its epsilon, of deltas.

    Where Gaussian and pure events occur together, the pure ones count as their Gaussian equivalents.
    """
    gaussian = [one.sensitivity / one.scale for one in events if one.cost.is_gaussian]
    pure = [one.sensitivity / one.scale for one in events if not one.cost.is_gaussian]
    if guarantee.is_pure:
        return math.inf if gaussian else math.fsum(pure) / guarantee.strength
    if not guarantee.stated_delta:
        return AMOUNTS[guarantee.kind](gaussian, pure) / guarantee.strength
    if not gaussian:
        return math.fsum(pure) / guarantee.strength
    return _delta(_mu(gaussian, pure), guarantee.strength) / guarantee.stated_delta


def _mu(gaussian: Sequence[float], pure: Sequence[float]) -> float:
    squares = math.fsum(one**2 for one in gaussian) + math.fsum(_as_gaussian(one) ** 2 for one in pure)
    return math.sqrt(squares)


def _rho(gaussian: Sequence[float], pure: Sequence[float]) -> float:
    return math.fsum(one**2 for one in (*gaussian, *pure)) / 2


def _delta(mu: float, epsilon: float) -> float:
    """Phi(-epsilon/mu + mu/2) - e^epsilon Phi(-epsilon/mu - mu/2)."""
    return math.exp(log_ndtr(-epsilon / mu + mu / 2)) - math.exp(epsilon + log_ndtr(-epsilon / mu - mu / 2))


def _as_gaussian(epsilon: float) -> float:
    """Return the mu at which the trade-off curves touch: 2 Phi^-1(1 / (1 + e^-epsilon))."""
    return float(-2 * ndtri_exp(-math.log1p(math.exp(epsilon))))


# What events amount to under the guarantees without delta, by kind.
AMOUNTS: dict[str, Callable[[Sequence[float], Sequence[float]], float]] = {"gdp": _mu, "zcdp": _rho}
