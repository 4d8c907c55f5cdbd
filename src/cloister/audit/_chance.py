# SPDX-License-Identifier: Apache-2.0
"""Exact probabilities for the statistical checks, and how the false-alarm rate of an audit is divided among them.

An audit of correct code raises an alarm with probability at most FALSE_ALARM. Every check has a share of it and divides it
among its tests by the union bound; every test is an exact binomial one, so the rate is a bound and no approximation.
"""

import math
from decimal import Context, Decimal, localcontext

from scipy.special import betainc, betaincc, betainccinv, betaincinv, erfc

__all__ = ["FALSE_ALARM", "at_least", "at_most", "binomial_chance", "gaussian_tail", "laplace_tail", "words_below"]

FALSE_ALARM = 1e-6  # of a whole audit
WORD = 1 << 64


def binomial_chance(count: int, total: int, probability: float) -> float:
    """Return the chance of a count at least as unusual, on its side, among `total` tosses: twice the smaller tail."""
    upper = 1.0 if count <= 0 else float(betainc(count, total - count + 1, probability))
    lower = 1.0 if count >= total else float(betaincc(count + 1, total - count, probability))
    return min(1.0, 2 * min(upper, lower))


def at_least(count: int, total: int, level: float) -> float:
    """Return the lower Clopper-Pearson bound of a probability; wrong with probability at most `level`."""
    return float(betaincinv(count, total - count + 1, level)) if count > 0 else 0.0


def at_most(count: int, total: int, level: float) -> float:
    """Return the upper Clopper-Pearson bound of a probability; wrong with probability at most `level`."""
    return float(betainccinv(count + 1, total - count, level)) if count < total else 1.0


def gaussian_tail(least: int, sigma: float) -> float:
    """P(abs(round(N(0, sigma^2))) >= least), for least >= 1."""
    return float(erfc((least - 0.5) / sigma / math.sqrt(2)))


def laplace_tail(least: int, scale: float) -> float:
    """P(abs(Y) >= least) for P(Y = y) proportional to exp(-abs(y) / scale), for least >= 1."""
    ratio = math.exp(-1 / scale)
    return 2 * ratio**least / (1 + ratio)


def words_below(whole: int, power: int) -> int:
    """Return floor(2**64 P(K < whole)) for a whole number K with weight exp(-k**power / power), from its definition."""
    with localcontext(Context(prec=80)) as context:
        weights = [context.exp(-Decimal(k**power) / power) for k in range(400 if power == 1 else 40)]
        return int(sum(weights[:whole]) / sum(weights) * WORD)
