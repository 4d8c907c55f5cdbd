# SPDX-License-Identifier: Apache-2.0
"""Every conversion that is offered is true and tight, by 60-digit arithmetic; every other one is refused."""

import itertools
import math
from functools import partial
from typing import Any

import mpmath
import numpy as np
import pytest
from dp_accounting.pld import common, privacy_loss_distribution
from hypothesis import given
from hypothesis import strategies as st

from cloister.exceptions import ConversionError, ParameterError
from cloister.privacy import GDP, ZCDP, ApproxDP, Guarantee, PureDP, as_guarantee, convert
from cloister.privacy._calibrate import gdp_delta, gdp_epsilon, largest_mu, pure_mu, zcdp_delta, zcdp_epsilon

EPSILONS = [1e-3, 0.01, 0.1, 0.5, 1.0, 3.0, 10.0, 100.0, 1e3]
DELTAS = [1e-12, 1e-9, 1e-6, 1e-3, 0.01, 0.1]
GRID = list(itertools.product(EPSILONS, DELTAS))
FAR_OUT = [(1e-9, 1e-12), (1e-9, 1e-15), (1e-6, 1e-9), (1e-12, 1e-13), (1e-50, 1e-60), (1e-3, 1e-90), (1e6, 1e-6), (1e20, 0.01)]

precisely = partial(mpmath.workdps, 60)


def true_gdp_delta(mu: float, epsilon: float) -> mpmath.mpf:
    """Corollary 1 of Dong, Roth and Su, as it is printed."""
    wide, loss = mpmath.mpf(mu), mpmath.mpf(epsilon)
    return mpmath.ncdf(-loss / wide + wide / 2) - mpmath.exp(loss) * mpmath.ncdf(-loss / wide - wide / 2)


def true_zcdp_epsilon(rho: float, delta: float, order: mpmath.mpf) -> mpmath.mpf:
    """Proposition 12 of Canonne, Kamath and Steinke at one order."""
    slack = mpmath.log(1 / mpmath.mpf(delta)) + (order - 1) * mpmath.log(1 - 1 / order) - mpmath.log(order)
    return mpmath.mpf(rho) * order + slack / (order - 1)


# -- Gaussian --


@pytest.mark.parametrize(("epsilon", "delta"), [*GRID, *FAR_OUT])
def test_the_largest_mu_is_safe_and_tight(epsilon: float, delta: float) -> None:
    mu = ApproxDP(epsilon, delta).gaussian_budget().mu
    with precisely():
        assert true_gdp_delta(mu, epsilon) <= delta
        assert true_gdp_delta(mu * (1 + 1e-6), epsilon) > delta


@pytest.mark.parametrize(("epsilon", "delta"), [*GRID, *FAR_OUT])
def test_gdp_to_approx_is_safe_and_tight(epsilon: float, delta: float) -> None:
    mu = largest_mu(epsilon, delta)
    back = convert(GDP(mu), ApproxDP, delta=delta)
    assert back.delta == delta
    with precisely():
        assert true_gdp_delta(mu, back.epsilon) <= delta
        assert back.epsilon == pytest.approx(epsilon, rel=1e-4)
        assert true_gdp_delta(mu, back.epsilon * (1 - 1e-6)) > delta


@pytest.mark.parametrize(("epsilon", "delta"), [*GRID, (1e-9, 1e-12), (1e-6, 1e-9)])
@pytest.mark.parametrize("factor", [0.3, 1.0, 3.0])
def test_the_profile_of_gdp_has_eight_digits(epsilon: float, delta: float, factor: float) -> None:
    mu = largest_mu(epsilon, delta) * factor
    with precisely():
        exact = true_gdp_delta(mu, epsilon)
        if exact > 1e-300:
            assert abs(gdp_delta(mu, epsilon) / exact - 1) < 1e-8
        else:
            assert gdp_delta(mu, epsilon) < 1e-290


@pytest.mark.parametrize("mu", [1e-6, 1e-3, 1.0, 5.0])
@pytest.mark.parametrize("below", [0, 1, 2, 10])
def test_an_epsilon_near_zero_is_a_number_on_the_safe_side(mu: float, below: int) -> None:
    delta = gdp_delta(mu, 0.0)
    for _ in range(below):
        delta = math.nextafter(delta, 0.0)
    epsilon = gdp_epsilon(mu, delta)
    assert 0.0 <= epsilon < 1e-12
    with precisely():
        # Double precision cannot tell these deltas apart: the claim holds up to its last digits.
        assert true_gdp_delta(mu, epsilon) <= delta * (1 + mpmath.mpf(10) ** -9)


@pytest.mark.parametrize("mu", [0.01, 1.0, 8.0])
@pytest.mark.parametrize("epsilon", [-5.0, -0.5, -1e-6, 0.0])
def test_the_profile_of_gdp_holds_for_negative_epsilons_too(mu: float, epsilon: float) -> None:
    with precisely():
        assert abs(GDP(mu).delta_at(epsilon) / true_gdp_delta(mu, epsilon) - 1) < 1e-9


@given(st.floats(1e-6, 50.0), st.floats(1e-14, 0.5))
def test_epsilon_and_delta_are_two_readings_of_one_curve(mu: float, delta: float) -> None:
    epsilon = gdp_epsilon(mu, delta)
    assert math.isfinite(epsilon)
    assert epsilon >= 0
    assert gdp_delta(mu, epsilon) <= delta


def test_nothing_costs_nothing() -> None:
    assert gdp_delta(0.0, 1.0) == gdp_epsilon(0.0, 1e-6) == zcdp_delta(0.0, 1.0) == zcdp_epsilon(0.0, 1e-6) == 0.0


def test_gdp_is_the_rho_of_its_gaussian() -> None:
    # The Renyi divergence of order a of N(0, 1) and N(mu, 1) is a mu^2 / 2, so rho = mu^2 / 2 is exact.
    assert convert(GDP(0.3), ZCDP).rho == pytest.approx(0.045, rel=1e-15)
    assert ZCDP(0.045).gaussian_budget().mu == pytest.approx(0.3, rel=1e-15)


# -- pure --


@pytest.mark.parametrize("epsilon", [1e-18, 1e-9, 1e-4, 0.1, 0.999, 1.0, 1.001, 3.0, 10.0, 50.0])
def test_pure_to_gdp_lies_below_the_trade_off_curve_and_touches_it(epsilon: float) -> None:
    mu = convert(PureDP(epsilon), GDP).mu
    with precisely():
        loss = mpmath.mpf(epsilon)
        kink = 1 / (1 + mpmath.exp(loss))

        def pure_curve(error: mpmath.mpf) -> mpmath.mpf:
            return max(0, 1 - mpmath.exp(loss) * error, mpmath.exp(-loss) * (1 - error))

        def gdp_curve(error: mpmath.mpf, mu: float) -> mpmath.mpf:
            quantile = mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * error)
            return mpmath.ncdf(quantile - mu)

        grid = [mpmath.mpf(step) / 40 for step in range(1, 40)] + [kink * mpmath.mpf(step) / 8 for step in range(1, 17)]
        assert all(gdp_curve(error, mu) <= pure_curve(error) for error in grid if error < 1)
        assert gdp_curve(kink, mu * (1 - 1e-8)) > pure_curve(kink)


def test_pure_to_gdp_survives_extreme_epsilons() -> None:
    assert convert(PureDP(1e-99), GDP).mu > 1e-99
    assert 80 < convert(PureDP(1e3), GDP).mu < 90
    assert pure_mu(1e8) == pytest.approx(2 * math.sqrt(2e8), rel=1e-6)


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 2.0, 8.0])
def test_pure_to_zcdp_bounds_every_renyi_divergence_of_randomised_response(epsilon: float) -> None:
    rho = convert(PureDP(epsilon), ZCDP).rho
    assert rho == pytest.approx(epsilon**2 / 2)
    with precisely():
        heads = 1 / (1 + mpmath.exp(-mpmath.mpf(epsilon)))
        for order in (mpmath.mpf(step) / 10 for step in (11, 15, 20, 50, 300)):
            moment = heads**order * (1 - heads) ** (1 - order) + (1 - heads) ** order * heads ** (1 - order)
            assert mpmath.log(moment) / (order - 1) <= rho * order


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 0.9999, 1.0, 1.5])
def test_the_profile_of_pure_is_that_of_randomised_response(epsilon: float) -> None:
    heads = 1 / (1 + math.exp(-1.0))
    exact = max(0.0, heads - math.exp(epsilon) * (1 - heads))
    assert PureDP(1.0).delta_at(epsilon) == pytest.approx(exact, abs=1e-15)


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 0.99, 1.0, 1.5])
def test_the_profile_of_approx_is_that_of_its_dominating_pair(epsilon: float) -> None:
    parameters = common.DifferentialPrivacyParameters(1.0, 0.01)
    pair = privacy_loss_distribution.from_privacy_parameters(parameters, value_discretization_interval=0.01)
    assert ApproxDP(1.0, 0.01).delta_at(epsilon) == pytest.approx(pair.get_delta_for_epsilon(epsilon), abs=1e-9)


def test_pure_is_approx_at_every_delta_and_approx_without_delta_is_pure() -> None:
    assert convert(PureDP(2.0), ApproxDP) == ApproxDP(2.0, 0.0)
    assert convert(PureDP(2.0), ApproxDP, delta=1e-3) == ApproxDP(2.0, 1e-3)
    assert convert(ApproxDP(0.5, 0.0), PureDP) == PureDP(0.5)
    assert convert(ApproxDP(0.5, 0.0), ZCDP) == ZCDP(0.125)
    assert convert(ApproxDP(0.5, 0.0), GDP) == convert(PureDP(0.5), GDP)


# -- zCDP --


@pytest.mark.parametrize("rho", [1e-8, 1e-4, 0.01, 0.5, 10.0, 1e3])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.1])
def test_zcdp_to_approx_is_the_minimum_over_all_orders(rho: float, delta: float) -> None:
    epsilon = convert(ZCDP(rho), ApproxDP, delta=delta).epsilon
    with precisely():
        # The best order is near 1 + sqrt(log(1/delta) / rho); look a factor of 30 to both sides.
        middle = mpmath.sqrt(mpmath.log(1 / mpmath.mpf(delta)) / rho)
        bounds = [true_zcdp_epsilon(rho, delta, 1 + middle * mpmath.exp(mpmath.mpf(k) / 40)) for k in range(-140, 141)]
        best = min(bounds)
        if best > 0:
            assert best * (1 - mpmath.mpf("1e-3")) <= epsilon <= best * (1 + mpmath.mpf("1e-7"))
        else:
            assert epsilon == 1e-100


@pytest.mark.parametrize("rho", [1e-4, 0.05, 2.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-3])
def test_zcdp_never_promises_more_than_the_gaussian_that_has_it(rho: float, delta: float) -> None:
    # N(0, 1) against N(mu, 1) is exactly (mu^2/2)-zCDP, so a conversion that beat its exact profile would be false.
    assert convert(ZCDP(rho), ApproxDP, delta=delta).epsilon >= convert(GDP(math.sqrt(2 * rho)), ApproxDP, delta=delta).epsilon
    assert ZCDP(rho).delta_at(1.0) >= GDP(math.sqrt(2 * rho)).delta_at(1.0)


@pytest.mark.parametrize("rho", [1e-3, 0.1, 3.0])
@pytest.mark.parametrize("delta", [1e-10, 1e-4])
def test_zcdp_epsilon_and_delta_agree(rho: float, delta: float) -> None:
    epsilon = zcdp_epsilon(rho, delta)
    assert zcdp_delta(rho, epsilon) == pytest.approx(delta, rel=1e-5)


# -- what is refused --

FALSE = [
    (ApproxDP(1.0, 1e-6), PureDP),
    (ApproxDP(1.0, 1e-6), ZCDP),
    (ApproxDP(1.0, 1e-6), GDP),
    (ZCDP(0.1), PureDP),
    (ZCDP(0.1), GDP),
    (GDP(0.1), PureDP),
]


@pytest.mark.parametrize(("guarantee", "target"), FALSE, ids=lambda value: getattr(value, "__name__", type(value).__name__))
def test_false_conversions_are_refused(guarantee: Guarantee, target: type) -> None:
    with pytest.raises(ConversionError, match=f"{type(guarantee).__name__} does not imply {target.__name__}"):
        convert(guarantee, target)


@pytest.mark.parametrize("given", [ZCDP(0.1), GDP(0.1), ApproxDP(1.0, 1e-6)])
def test_no_epsilon_without_as_much_delta(given: Guarantee) -> None:
    rule = "can grow but not shrink below 1e-06" if isinstance(given, ApproxDP) else "implies no epsilon at delta 0"
    for delta in (0.0, given.stated_delta / 10):
        with pytest.raises(ConversionError, match=rule):
            convert(given, ApproxDP, delta=delta)
        with pytest.raises(ConversionError, match=rule):
            given.epsilon_at(delta)
    assert convert(ApproxDP(1.0, 1e-6), ApproxDP, delta=1e-5) == ApproxDP(1.0, 1e-5)


@pytest.mark.parametrize("guarantee", [PureDP(1.0), ApproxDP(1.0, 0.0)])
def test_gaussian_noise_is_never_pure(guarantee: Guarantee) -> None:
    with pytest.raises(ConversionError, match="Gaussian noise cannot give pure differential privacy"):
        guarantee.gaussian_budget()


@pytest.mark.parametrize("make", [PureDP, lambda value: ApproxDP(value, 1e-6), ZCDP, GDP])
@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf, "1", None, True, 1 + 0j, 1e-101, 1e101, 5e-324])
def test_a_guarantee_is_a_positive_number_whose_square_is_one(make: type, value: object) -> None:
    with pytest.raises(ParameterError, match=r"expected (a finite number above 0|a number from 1e-100 to 1e\+100), got"):
        make(value)


@pytest.mark.parametrize("delta", [-1e-9, 1.0, math.nan, "0"])
def test_delta_lies_in_the_unit_interval(delta: object) -> None:
    with pytest.raises(ParameterError, match=r"ApproxDP.delta: expected a finite number of at least 0 and below 1"):
        ApproxDP(1.0, delta)
    with pytest.raises(ParameterError, match=r"KMeans.delta: expected .* or 0 for pure"):
        as_guarantee("KMeans", 1.0, delta)


def test_the_shortcut_reads_delta_zero_as_pure() -> None:
    assert as_guarantee("KMeans", 1, 0) == PureDP(1.0)
    assert as_guarantee("KMeans", 1, 1e-6) == ApproxDP(1.0, 1e-6)
    with pytest.raises(ParameterError, match=r"KMeans.epsilon: expected a finite number above 0, got -1"):
        as_guarantee("KMeans", -1, 1e-6)


# -- shares and plain data --


@given(st.lists(st.floats(0.01, 1.0), min_size=1, max_size=8), st.floats(1e-3, 1e3))
def test_shares_add_up_to_the_whole(parts: list[float], size: float) -> None:
    weights = [part / sum(parts) for part in parts]
    assert sum(PureDP(size).share(weight).epsilon for weight in weights) == pytest.approx(size)
    assert sum(GDP(size).share(weight).mu ** 2 for weight in weights) == pytest.approx(size**2)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"guarantee": None}, r"convert\.guarantee: expected PureDP, ApproxDP, ZCDP or GDP, got None\. Pass"),
        ({"target": None}, r"convert\.target: expected PureDP, ApproxDP, ZCDP or GDP, got None\. Pass"),
        ({"target": (GDP, PureDP)}, r"convert\.target: expected"),
        *(
            ({"guarantee": GDP(1.0), "delta": delta}, r"convert\.delta: expected a finite number of at least 0 and below 1")
            for delta in (np.array([]), 1.0, -0.1, math.nan)
        ),
    ],
)
def test_what_is_no_guarantee_is_not_converted(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        convert(**{"guarantee": PureDP(1.0), "target": ApproxDP, **given})
