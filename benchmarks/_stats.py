# SPDX-License-Identifier: Apache-2.0
"""Means with confidence intervals, the area under a loss curve, and ratios and differences of two such figures.

Fits at different epsilons have independent seeds, so the variance of an area is the sum of its parts; degrees of freedom
after Welch and Satterthwaite, intervals after Student.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

__all__ = [
    "EPSILONS",
    "Estimate",
    "area",
    "area_from",
    "area_of",
    "constant_area",
    "differs",
    "geometric_mean",
    "log_mean",
    "mean_of",
    "ratio_of",
    "slope_of",
]

EPSILONS = (0.25, 0.5, 1.0, 2.0, 4.0)
LEVEL = 0.95


@dataclass(frozen=True)
class Estimate:
    """A figure, the variance of its mean, and the degrees of freedom of that variance; NaN and 0 for a single run."""

    value: float
    variance: float = math.nan
    freedom: float = 0.0
    n_runs: int = 1

    @property
    def half_width(self) -> float:
        """Half the width of the 95 % interval; NaN if there is none."""
        if not self.freedom or math.isnan(self.variance):
            return math.nan
        return float(stats.t.ppf((1 + LEVEL) / 2, self.freedom)) * math.sqrt(self.variance)

    @property
    def low(self) -> float:
        """The lower end of the interval; the figure itself where there is none."""
        return self.value - (0.0 if math.isnan(self.half_width) else self.half_width)

    @property
    def high(self) -> float:
        """The upper end of the interval; the figure itself where there is none."""
        return self.value + (0.0 if math.isnan(self.half_width) else self.half_width)

    def times(self, factor: float) -> "Estimate":
        """Return the figure in another unit."""
        return Estimate(self.value * factor, self.variance * factor**2, self.freedom, self.n_runs)


def mean_of(values: Sequence[float]) -> Estimate:
    """Return the mean of independent runs."""
    if len(values) < 2:
        return Estimate(float(values[0]), n_runs=1)
    return Estimate(float(np.mean(values)), float(np.var(values, ddof=1) / len(values)), len(values) - 1, len(values))


def area(losses: Mapping[float, float]) -> float:
    """Area under the loss over epsilon, by trapezoids."""
    epsilons = sorted(losses)
    return float(np.trapezoid([losses[epsilon] for epsilon in epsilons], epsilons))


def area_of(losses: Mapping[float, Sequence[float]]) -> Estimate:
    """Return the area under the mean loss, by trapezoids."""
    return area_from({epsilon: mean_of(values) for epsilon, values in losses.items()})


def area_from(means: Mapping[float, Estimate]) -> Estimate:
    """Return the area under means that are known with their variances."""
    parts = [mean.times(weight) for mean, weight in zip(means.values(), _weights(list(means)), strict=True)]
    return _add(parts)


def constant_area(epsilons: Sequence[float]) -> float:
    """Return the area under a loss of 1: 3.75 for the epsilons of Table I."""
    return float(max(epsilons) - min(epsilons))


def ratio_of(one: Estimate, two: Estimate) -> Estimate:
    """Return one over two; the variance to first order."""
    if two.value == 0:
        return Estimate(math.nan)
    ratio = one.value / two.value
    parts = [Estimate(0.0, part.variance / two.value**2, part.freedom) for part in (one, two.times(ratio))]
    total = _add(parts)
    return Estimate(ratio, total.variance, total.freedom, min(one.n_runs, two.n_runs))


def geometric_mean(ratios: Sequence[float]) -> float:
    """Return the geometric mean."""
    return float(np.exp(np.mean(np.log(ratios))))


def log_mean(figures: Sequence[Estimate]) -> Estimate:
    """Return the mean of the logarithms of independent figures: its interval is that of the geometric mean's logarithm."""
    logs = [Estimate(math.log(one.value), one.variance / one.value**2, one.freedom, one.n_runs) for one in figures]
    return _add([one.times(1 / len(logs)) for one in logs])


def differs(one: Estimate, two: Estimate) -> bool:
    """Return whether two figures differ beyond chance at the 5 % level (Welch); False where a variance is unknown."""
    gap = _add([Estimate(one.value, one.variance, one.freedom), Estimate(-two.value, two.variance, two.freedom)])
    if math.isnan(gap.variance):
        return False
    return abs(gap.value) > gap.half_width if gap.variance else gap.value != 0.0


def slope_of(xs: Sequence[float], ys: Sequence[float]) -> Estimate:
    """Return the exponent b of y = a x^b by least squares of the logarithms."""
    logs = np.log(np.asarray(xs, dtype=float)), np.log(np.asarray(ys, dtype=float))
    if len(set(xs)) < 2:
        return Estimate(math.nan)
    fit = stats.linregress(*logs)
    free = len(xs) - 2
    return Estimate(float(fit.slope), float(fit.stderr) ** 2 if free > 0 else math.nan, float(max(free, 0)), len(xs))


def _weights(epsilons: list[float]) -> list[float]:
    order = np.argsort(epsilons)
    gaps = np.diff(np.asarray(epsilons)[order]) / 2
    weights = np.empty(len(epsilons))
    weights[order] = np.concatenate([gaps, [0]]) + np.concatenate([[0], gaps])
    return [float(weight) for weight in weights]


def _add(parts: Sequence[Estimate]) -> Estimate:
    value, variances = sum(part.value for part in parts), [part.variance for part in parts]
    runs = min(part.n_runs for part in parts)
    if any(math.isnan(variance) for variance in variances):
        return Estimate(float(value), n_runs=runs)
    total = sum(variances)
    below = sum(part.variance**2 / part.freedom for part in parts if part.freedom)
    freedom = total**2 / below if below else min(part.freedom for part in parts)
    return Estimate(float(value), float(total), float(freedom), runs)
