# SPDX-License-Identifier: Apache-2.0
"""Bins of histograms: they cover the bounds, whatever the noise says, and are narrow where rows lie."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloister.algorithms import MORE_BINS, look_edges, place_edges


def placed(values, low, high, *, sigma=20.0, n_bins=12, generator):
    coarse, fine = look_edges(low, high)
    noisy = [np.histogram(values, one)[0] + generator.normal(0, sigma, len(one) - 1) for one in (coarse, fine)]
    return place_edges(*noisy, fine, sigma, n_bins)


@given(
    st.integers(0, 2**32),
    st.floats(-1e9, 1e9),
    st.floats(-9, 12).map(lambda power: 10.0**power),
    st.sampled_from([0.0, 1.0, 1e3, 1e9]),
    st.integers(5, 48),
)
def test_bins_cover_the_bounds_in_order_whatever_the_counts(seed, low, width, sigma, n_bins):
    high = low + width if low + width > low else math.nextafter(low, math.inf)
    coarse, fine = look_edges(low, high)
    generator = np.random.default_rng(seed)
    counts = [generator.normal(0, 1e3, len(one) - 1) * (generator.random(len(one) - 1) < 0.1) for one in (coarse, fine)]
    edges = place_edges(*counts, fine, sigma, n_bins)
    assert edges[[0, -1]].tolist() == [low, high] == coarse[[0, -1]].tolist() == fine[[0, -1]].tolist()
    assert (np.diff(edges) > 0).all()
    assert len(edges) - 1 <= n_bins + MORE_BINS
    assert set(coarse) <= set(fine)


@pytest.mark.parametrize("center", [0.0, 37.0, -480.0])
def test_rows_in_a_hundredth_of_the_bounds_have_most_of_the_bins(center, generator):
    edges = placed(generator.normal(center, 1.0, 5000), -500.0, 500.0, generator=generator)
    assert np.sum((edges > center - 5) & (edges < center + 5)) >= 8


def test_a_skewed_column_has_narrow_bins_where_rows_are_and_wider_ones_in_its_tail(generator):
    values = generator.lognormal(9, 0.9, 20_000)
    edges = placed(values, 0.0, 1e6, n_bins=24, generator=generator)
    lost = np.histogram(values, edges)[0] / len(values) * np.diff(edges)
    assert np.median(values) / np.diff(edges)[np.searchsorted(edges, np.median(values)) - 1] > 3
    even = np.histogram(values, np.linspace(0, 1e6, 25))[0] / len(values) * (1e6 / 24)
    assert np.linalg.norm(lost) < 0.1 * np.linalg.norm(even)


def test_where_nothing_is_seen_bins_are_even(generator):
    edges = placed(np.zeros(0), 0.0, 64.0, sigma=1e6, n_bins=16, generator=generator)
    assert np.diff(edges) == pytest.approx(4.0)


def test_a_value_that_many_rows_share_has_a_bin_of_its_own(generator):
    values = np.where(generator.random(20_000) < 0.5, 3.0, generator.uniform(0, 10, 20_000))
    edges = placed(values, 0.0, 10.0, generator=generator)
    assert np.diff(edges)[np.searchsorted(edges, 3.0, side="right") - 1] < 0.05
