# SPDX-License-Identifier: Apache-2.0
"""Areas, intervals, ratios and differences."""

import math

import numpy as np
import pytest
from benchmarks._stats import EPSILONS, Estimate, area, area_of, constant_area, differs, mean_of, ratio_of, slope_of
from scipy import stats


def test_the_area_is_that_of_the_trapezoids():
    assert area({0.25: 4.0, 0.5: 2.0, 1.0: 1.0}) == pytest.approx(0.25 * 3 + 0.5 * 1.5)
    assert area({1.0: 1.0, 0.25: 4.0, 0.5: 2.0}) == area({0.25: 4.0, 0.5: 2.0, 1.0: 1.0}), "whatever the order"
    assert area(dict.fromkeys(EPSILONS, 1.0)) == constant_area(EPSILONS) == 3.75


def test_an_area_has_the_variance_of_its_parts():
    losses = {1.0: [1.0, 3.0], 2.0: [5.0, 5.0], 4.0: [0.0, 2.0]}
    weights, variances = (0.5, 1.5, 1.0), (1.0, 0.0, 1.0)
    found = area_of(losses)
    assert found.value == pytest.approx(area({epsilon: np.mean(values) for epsilon, values in losses.items()}))
    assert found.variance == pytest.approx(sum(w**2 * v for w, v in zip(weights, variances, strict=True)))
    assert found.freedom == pytest.approx((0.25 + 1.0) ** 2 / (0.25**2 + 1.0**2)), "Welch and Satterthwaite"


def test_an_interval_is_students():
    values = [1.0, 2.0, 4.0, 5.0]
    low, high = stats.t.interval(0.95, 3, np.mean(values), stats.sem(values))
    found = mean_of(values)
    assert (found.low, found.high) == pytest.approx((low, high))


def test_a_single_run_has_no_interval():
    one = mean_of([3.0])
    assert math.isnan(one.half_width)
    assert (one.low, one.value, one.high) == (3.0, 3.0, 3.0)
    assert math.isnan(area_of({1.0: [1.0], 2.0: [1.0, 2.0]}).half_width)
    assert not differs(one, mean_of([9.0, 9.1]))


def test_a_ratio_and_its_interval(generator):
    one, two = mean_of(generator.normal(2.0, 0.02, 50)), mean_of(generator.normal(4.0, 0.04, 50))
    found = ratio_of(one, two)
    assert found.value == one.value / two.value
    relative = one.variance / one.value**2 + two.variance / two.value**2
    assert found.variance == pytest.approx(found.value**2 * relative), "to first order, relative variances add"
    assert math.isnan(ratio_of(one, Estimate(0.0)).value)


def test_differences_beyond_chance():
    near, far = mean_of([1.0, 1.1, 0.9]), mean_of([3.0, 3.1, 2.9])
    assert differs(near, far)
    assert not differs(near, mean_of([1.05, 1.2, 0.9]))
    assert differs(mean_of([1.0, 1.0]), mean_of([2.0, 2.0])), "without any spread"
    assert not differs(mean_of([1.0, 1.0]), mean_of([1.0, 1.0]))


def test_the_exponent_of_a_power():
    xs = [1.0, 10.0, 100.0]
    assert slope_of(xs, [3 * x**1.5 for x in xs]).value == pytest.approx(1.5)
    assert math.isnan(slope_of([2.0, 2.0], [1.0, 3.0]).value)
