# SPDX-License-Identifier: Apache-2.0
"""Numbers behind the Gaussian mechanism: its exact privacy profile and the largest mu a budget allows.

A mechanism is mu-GDP when telling two neighbours apart is at least as hard as telling N(0, 1) from N(mu, 1). By Dong, Roth and
Su (2022) and Balle and Wang (2018) this is the same as (epsilon, delta(epsilon))-DP for all epsilon >= 0 with

    delta(epsilon) = Phi(-epsilon/mu + mu/2) - e^epsilon Phi(-epsilon/mu - mu/2).

Written with the Mills ratio R(x) = Phi(-x) / phi(x) the second term is phi(a) R(b), because e^epsilon phi(b) = phi(a); nothing
overflows and little cancels. Every search ends on the side of less privacy loss.
Imported by the guarantees and the accounting; knows nothing of rows.
"""

import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import erf, erfcx, erfinv, log_ndtr, ndtr, ndtri_exp

# Relative slack taken off every calibrated value. The profile above is good to about 1e-11 relative over the supported
# range and far beyond (checked against 60-digit arithmetic in the tests): the safe side by two orders of magnitude.
SLACK = 1e-9
SMALL_MU = 0.01  # below it the difference of two Mills ratios is taken as an integral


def gdp_delta(mu: float, epsilon: float) -> float:
    """Return the smallest delta such that mu-GDP implies (epsilon, delta)-DP."""
    if mu == 0.0:
        return 0.0
    if epsilon < 0:  # the two hypotheses may change places
        return -math.expm1(epsilon) + math.exp(epsilon) * gdp_delta(mu, -epsilon)
    near, far = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    if mu < SMALL_MU:
        return _density(near) * _mills_drop(epsilon / mu, mu / 2)
    if near > 0:
        return max(0.0, _density(near) * (_mills(near) - _mills(far)))
    return max(0.0, float(ndtr(-near)) - _density(near) * _mills(far))


def gdp_epsilon(mu: float, delta: float) -> float:
    """Return the smallest epsilon, rounded up, such that mu-GDP implies (epsilon, delta)-DP."""
    if mu == 0.0 or gdp_delta(mu, 0.0) <= delta:
        return 0.0
    high = max(1.0, mu * mu)
    while gdp_delta(mu, high) > delta:
        high *= 2

    def distance(epsilon: float) -> float:
        value = gdp_delta(mu, epsilon)
        return math.log(value / delta) if value > 0 else -1e6

    root = brentq(distance, 0.0, high, xtol=1e-200, rtol=1e-14, maxiter=2000)
    # Where epsilon is small the error of the profile is absolute, and a root of 0 could not be raised by a factor.
    return _nudge_up(root + 1e-14 * min(mu, 1.0), lambda epsilon: gdp_delta(mu, epsilon) <= delta)


def largest_mu(epsilon: float, delta: float) -> float:
    """Return the largest mu, rounded down, such that mu-GDP implies (epsilon, delta)-DP."""
    low, high = 0.0, 1.0
    while gdp_delta(high, epsilon) <= delta:
        low, high = high, high * 2
    for _ in range(1100):  # a double has no more binary digits, tiny or huge
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if gdp_delta(middle, epsilon) <= delta else (low, middle)
    return low * (1 - SLACK)


def pure_mu(epsilon: float) -> float:
    """Return the smallest mu, rounded up, such that epsilon-DP implies mu-GDP.

    The trade-off curve of epsilon-DP is piecewise linear with one kink, at error rates 1/(1+e^epsilon) of both kinds. The
    curve of mu-GDP is convex and shares its end points, so it lies below as soon as it passes through that kink.
    """
    if epsilon < 1:  # e^eps / (1 + e^eps) = (1 + tanh(eps / 2)) / 2: no digit is lost near one half
        return max(2 * math.sqrt(2) * float(erfinv(math.tanh(epsilon / 2))) * (1 + SLACK), epsilon)
    log_error = -float(np.logaddexp(0.0, epsilon))
    return float(-2 * ndtri_exp(log_error)) * (1 + SLACK)


def largest_pure(mu: float) -> float:
    """Return the largest epsilon, rounded down, such that epsilon-DP implies mu-GDP: the inverse of :func:`pure_mu`."""
    near = mu < 1  # as in pure_mu: no digit is lost near one half
    epsilon = 2 * math.atanh(float(erf(mu / 2 / math.sqrt(2)))) if near else float(log_ndtr(mu / 2) - log_ndtr(-mu / 2))
    while pure_mu(epsilon) > mu:
        epsilon *= 1 - SLACK
    return epsilon


def zcdp_epsilon(rho: float, delta: float) -> float:
    """Return an epsilon such that rho-zCDP implies (epsilon, delta)-DP (Canonne, Kamath and Steinke 2020, Proposition 12)."""
    if rho == 0.0:
        return 0.0

    def bound(shift: float) -> float:
        order = 1 + shift
        return rho * order + (math.log(1 / delta) + shift * math.log1p(-1 / order) - math.log(order)) / shift

    return max(0.0, _least_over_orders(bound)) * (1 + SLACK)


def zcdp_delta(rho: float, epsilon: float) -> float:
    """Return a delta such that rho-zCDP implies (epsilon, delta)-DP, by the same bound."""
    if rho == 0.0:
        return 0.0

    def log_bound(shift: float) -> float:
        order = 1 + shift
        return shift * (order * rho - epsilon) + shift * math.log1p(-1 / order) - math.log(order)

    return min(1.0, math.exp(min(0.0, _least_over_orders(log_bound))) * (1 + SLACK))


def _least_over_orders(bound: Callable[[float], float]) -> float:
    """Return the least of a bound that is valid for every order 1 + shift, so that a search that stops early is safe."""
    best = minimize_scalar(lambda x: bound(math.exp(x)), bounds=(-12.0, 25.0), method="bounded", options={"xatol": 1e-10})
    return float(best.fun)


def _mills(x: float) -> float:
    """Phi(-x) / phi(x)."""
    return math.sqrt(math.pi / 2) * float(erfcx(x / math.sqrt(2)))


def _mills_drop(middle: float, half: float) -> float:
    """R(middle - half) - R(middle + half) for a small half: R' = x R - 1, integrated by three Gauss points."""

    def slope(x: float) -> float:
        return 1 - x * _mills(x)

    shift = half * math.sqrt(0.6)
    return half * (5 * slope(middle - shift) + 8 * slope(middle) + 5 * slope(middle + shift)) / 9


def _density(x: float) -> float:
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def _nudge_up(value: float, good: Callable[[float], bool]) -> float:
    """Raise `value` by growing relative steps until `good` holds."""
    step = SLACK
    raised = value * (1 + step)
    while not good(raised):
        step *= 2
        raised = value * (1 + step)
    return raised
