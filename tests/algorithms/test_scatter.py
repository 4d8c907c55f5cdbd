# SPDX-License-Identifier: Apache-2.0
"""The scatter of rows around points, from noisy sums of squares."""

from types import SimpleNamespace

import numpy as np
import pytest

from cloister.algorithms import Scatter
from cloister.algorithms._scatter import find_scatter


def answers(variances, counts, *, steps, noise, generator):
    """Return noisy sums of squares and counts of rows with these variances."""
    exact = counts[:, None] * (variances + steps**2)
    squares = SimpleNamespace(value=exact + noise * generator.normal(size=exact.shape), sigma=noise)
    return squares, SimpleNamespace(value=counts.astype(float), sigma=1.0)


def test_without_noise_every_point_and_column_has_its_own_variance(generator):
    variances, counts = generator.uniform(0.5, 2.0, (6, 4)), np.full(6, 1000)
    steps = 0.1 * generator.normal(size=(6, 4))
    found = find_scatter(*answers(variances, counts, steps=steps, noise=1e-6, generator=generator), steps)
    assert np.allclose(found.variances, variances, rtol=1e-3)
    assert found.error == pytest.approx(1e-6 * np.sqrt(24) / 6000)


def test_noise_draws_points_and_columns_together(generator):
    steps, counts = np.zeros((20, 5)), np.full(20, 100)
    variances = np.full((20, 5), 0.01)
    found = find_scatter(*answers(variances, counts, steps=steps, noise=0.5, generator=generator), steps)
    assert np.std(found.variances) < 0.5 / 100 / 4  # far below the noise of one number
    assert found.variances.sum(axis=1).mean() == pytest.approx(0.05, abs=4 * found.error)
    assert (found.variances > 0).all()


def test_its_error_is_what_it_says(generator):
    steps, counts, variances = np.zeros((10, 3)), np.full(10, 200), np.full((10, 3), 0.02)
    drawn = [find_scatter(*answers(variances, counts, steps=steps, noise=0.3, generator=generator), steps) for _ in range(200)]
    totals = np.array([one.variances.sum(axis=1).mean() for one in drawn])
    assert np.std(totals) == pytest.approx(drawn[0].error, rel=0.3)


def test_nothing_but_noise_below_zero_is_no_scatter():
    squares = SimpleNamespace(value=np.full((2, 2), -5.0), sigma=1.0)
    found = find_scatter(squares, SimpleNamespace(value=np.array([10.0, 20.0]), sigma=1.0), np.zeros((2, 2)))
    assert not found.variances.any()
    assert found.error > 0


def test_what_clipping_hid_is_half_uncertain():
    found = Scatter(np.full((2, 2), 1.0), 0.1).times(1.5)
    assert np.allclose(found.variances, 1.5)
    assert found.error == pytest.approx(np.hypot(0.15, 0.5))


def test_two_sources_are_averaged_by_their_errors():
    found = Scatter(np.array([[0.01, 0.03], [0.02, 0.04]]), 0.02)
    equal = np.ones(2)
    both = found.averaged(0.07, 0.02, weights=equal)
    assert both.variances.sum(axis=1).mean() == pytest.approx((0.05 + 0.07) / 2)
    assert both.error == pytest.approx(0.02 / np.sqrt(2))
    assert np.allclose(both.variances / found.variances, both.variances[0, 0] / 0.01)  # the proportions stay
    assert np.allclose(found.averaged(9.0, 1e9, weights=equal).variances, found.variances)
    assert found.averaged(0.07, 1e-9, weights=equal).variances.sum(axis=1).mean() == pytest.approx(0.07)
    assert np.allclose(Scatter(np.zeros((2, 2)), 1.0).averaged(0.08, 1e-6, weights=equal).variances, 0.04)
