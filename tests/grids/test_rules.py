# SPDX-License-Identifier: Apache-2.0
"""How many cells: the printed tables of the RUGNIK paper, Theorem 2, and the definition itself."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from cloister import cell_bounds, cells_per_axis, epsilon_range
from cloister.algorithms import grid_shape
from cloister.exceptions import ParameterError

EPSILONS = (0.1, 0.15, 0.25, 0.4, 0.6, 1.0)

# Table III of Muthukrishnan and Tandon (2026): cells of the whole grid, by (rule, d, K, N), for the six epsilons above.
TABLE_3 = {
    ("eugkm", 2, 2, 100): (1, 1, 4, 4, 4, 9),
    ("eugkm", 2, 2, 200): (1, 4, 4, 9, 9, 16),
    ("eugkm", 2, 2, 400): (4, 4, 9, 16, 25, 36),
    ("eugkm", 2, 4, 200): (1, 4, 4, 9, 9, 16),
    ("eugkm", 2, 4, 400): (4, 4, 9, 16, 25, 36),
    ("eugkm", 2, 4, 800): (9, 9, 16, 36, 49, 81),
    ("eugkm", 2, 8, 400): (4, 4, 9, 16, 25, 36),
    ("eugkm", 2, 8, 800): (9, 9, 16, 36, 49, 81),
    ("eugkm", 2, 8, 1600): (16, 25, 36, 64, 100, 169),
    ("eugkm", 3, 2, 100): (1, 1, 1, 8, 8, 27),
    ("eugkm", 3, 2, 200): (1, 8, 8, 8, 27, 27),
    ("eugkm", 3, 2, 400): (8, 8, 27, 27, 64, 64),
    ("eugkm", 3, 4, 200): (1, 8, 8, 8, 27, 27),
    ("eugkm", 3, 4, 400): (8, 8, 27, 27, 64, 64),
    ("eugkm", 3, 4, 800): (8, 27, 27, 64, 125, 216),
    ("eugkm", 3, 8, 400): (8, 8, 27, 27, 64, 64),
    ("eugkm", 3, 8, 800): (8, 27, 27, 64, 125, 216),
    ("eugkm", 3, 8, 1600): (27, 64, 64, 125, 216, 512),
    ("rugnik", 2, 2, 100): (4, 9, 9, 16, 16, 25),
    ("rugnik", 2, 2, 200): (9, 9, 16, 25, 36, 49),
    ("rugnik", 2, 2, 400): (16, 16, 25, 36, 49, 64),
    ("rugnik", 2, 4, 200): (16, 16, 25, 36, 49, 64),
    ("rugnik", 2, 4, 400): (25, 25, 36, 49, 81, 100),
    ("rugnik", 2, 4, 800): (36, 36, 64, 81, 121, 169),
    ("rugnik", 2, 8, 400): (36, 36, 64, 81, 121, 169),
    ("rugnik", 2, 8, 800): (49, 64, 100, 121, 169, 256),
    ("rugnik", 2, 8, 1600): (81, 100, 144, 196, 289, 400),
    ("rugnik", 3, 2, 100): (8, 8, 8, 27, 27, 27),
    ("rugnik", 3, 2, 200): (8, 8, 27, 27, 64, 64),
    ("rugnik", 3, 2, 400): (27, 27, 27, 64, 64, 125),
    ("rugnik", 3, 4, 200): (8, 27, 27, 64, 64, 125),
    ("rugnik", 3, 4, 400): (27, 27, 64, 64, 125, 216),
    ("rugnik", 3, 4, 800): (27, 64, 64, 125, 216, 343),
    ("rugnik", 3, 8, 400): (27, 64, 64, 125, 125, 216),
    ("rugnik", 3, 8, 800): (64, 64, 125, 216, 343, 512),
    ("rugnik", 3, 8, 1600): (125, 125, 216, 343, 512, 729),
}

# Table I: (K, N): epsilon_0 and epsilon_1 for d = 2, then for d = 3. The paper rounds the lower end up and the upper end down.
TABLE_1 = {
    (2, 100): (0.026, 15.396, 0.039, 78.475),
    (2, 200): (0.014, 21.773, 0.021, 131.979),
    (2, 400): (0.007, 30.792, 0.011, 221.962),
    (4, 200): (0.019, 30.792, 0.029, 186.647),
    (4, 400): (0.010, 43.546, 0.015, 313.901),
    (4, 800): (0.005, 61.584, 0.008, 527.918),
    (8, 400): (0.014, 61.584, 0.021, 443.924),
    (8, 800): (0.008, 87.092, 0.011, 746.588),
    (8, 1600): (0.004, 123.168, 0.006, 1255.607),
}


def bound(m, n_rows, n_features, n_clusters, epsilon):
    """The function h of the paper, as printed."""
    noise = math.sqrt(2) * m ** (n_features / 2) / (epsilon * n_clusters ** (2 / n_features))
    return noise + 2 / (m * n_clusters ** (1 / n_features)) * math.sqrt(n_rows / 3) + n_rows / (3 * m**2)


def test_the_table_is_whole():
    assert sum(map(len, TABLE_3.values())) == 216
    assert 2 * len(TABLE_1) == 18


@pytest.mark.parametrize("setting", TABLE_3)
def test_table_3(setting):
    rule, d, k, n = setting
    found = tuple(cells_per_axis(rule, n_rows=n, n_features=d, n_clusters=k, epsilon=epsilon) ** d for epsilon in EPSILONS)
    assert found == TABLE_3[setting]


@pytest.mark.parametrize("setting", TABLE_1)
def test_table_1(setting):
    k, n = setting
    for d, low, high in ((2, *TABLE_1[setting][:2]), (3, *TABLE_1[setting][2:])):
        found = epsilon_range(n_rows=n, n_features=d, n_clusters=k)
        assert math.ceil(found.low * 1000) / 1000 == low
        assert math.floor(found.high * 1000) / 1000 == high


@pytest.mark.parametrize("setting", [setting for setting in TABLE_3 if setting[0] == "rugnik"])
def test_theorem_2_bounds_the_minimiser(setting):
    _, d, k, n = setting
    sizes = {"n_rows": n, "n_features": d, "n_clusters": k}
    span = epsilon_range(**sizes)
    for epsilon in np.geomspace(span.low * 1.01, min(span.high, 20.0) * 0.99, 12):
        found = cell_bounds(**sizes, epsilon=epsilon)
        # The theorem is about the real minimiser of h, beside which the integer one lies.
        real = math.exp(
            minimize_scalar(lambda x, e=epsilon: bound(math.exp(x), n, d, k, e), bounds=(-3, 9), method="bounded").x
        )
        assert found.low * 0.999 <= real**d <= found.high * 1.001
        chosen = cells_per_axis("rugnik", **sizes, epsilon=epsilon)
        assert math.floor(found.low ** (1 / d)) <= chosen <= math.ceil(found.high ** (1 / d))


@settings(max_examples=150, deadline=None)
@given(
    n_rows=st.floats(0, 1e5),
    n_features=st.integers(1, 12),
    n_clusters=st.integers(1, 100),
    epsilon=st.floats(0.01, 10),
)
def test_rugnik_is_the_integer_minimiser(n_rows, n_features, n_clusters, epsilon):
    found = cells_per_axis("rugnik", n_rows=n_rows, n_features=n_features, n_clusters=n_clusters, epsilon=epsilon)
    values = [bound(m, n_rows, n_features, n_clusters, epsilon) for m in range(1, max(60, 2 * found))]
    assert bound(found, n_rows, n_features, n_clusters, epsilon) <= min(values) * (1 + 1e-12)


@given(n_rows=st.floats(0, 1e9), n_features=st.integers(1, 20), epsilon=st.floats(0.001, 100))
def test_eugkm_is_its_formula_and_at_least_one(n_rows, n_features, epsilon):
    found = cells_per_axis("eugkm", n_rows=n_rows, n_features=n_features, n_clusters=3, epsilon=epsilon)
    assert found == min(1 << 24, max(1, round((n_rows * epsilon / 10) ** (2 / (2 + n_features)))))


def test_a_box_that_is_no_cube_is_cut_in_proportion():
    assert grid_shape(10, np.array([1.0, 1.0, 1.0])) == (10, 10, 10)
    assert grid_shape(10, np.array([4.0, 1.0])) == (20, 5)
    assert grid_shape(10, np.array([1.0, 1e-6])) == (10_000, 1)
    for widths in ([3.0, 1.0], [1.0, 2.0, 5.0]):
        cells = grid_shape(30, np.array(widths))
        assert math.prod(cells) == pytest.approx(30 ** len(widths), rel=0.1)


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"rule": "best"}, r"cells_per_axis\.rule: expected one of 'eugkm', 'rugnik', got 'best'"),
        ({"rule": 3}, r"cells_per_axis\.rule: expected one of"),
        ({"n_rows": -1}, r"cells_per_axis\.n_rows: expected a finite number of at least 0"),
        ({"n_rows": math.nan}, r"cells_per_axis\.n_rows"),
        ({"n_features": 0}, r"cells_per_axis\.n_features: expected an integer from 1"),
        ({"n_clusters": 0}, r"cells_per_axis\.n_clusters"),
        ({"epsilon": 0}, r"cells_per_axis\.epsilon: expected a finite number above 0"),
    ],
)
def test_refusals(changes, match):
    given_ = {"rule": "rugnik", "n_rows": 100, "n_features": 2, "n_clusters": 2, "epsilon": 1.0, **changes}
    with pytest.raises(ParameterError, match=match):
        cells_per_axis(given_.pop("rule"), **given_)


@pytest.mark.parametrize("helper", [cell_bounds, epsilon_range])
def test_the_helpers_refuse_too(helper):
    sizes = {"n_rows": 100, "n_features": 2, "n_clusters": 2} | ({"epsilon": 1.0} if helper is cell_bounds else {})
    for name in sizes:
        with pytest.raises(ParameterError, match=rf"{helper.__name__}\.{name}: expected"):
            helper(**{**sizes, name: 0})
        with pytest.raises(ParameterError, match=rf"{helper.__name__}\.{name}: expected"):
            helper(**{**sizes, name: 10**300})


def test_many_columns_leave_the_epsilons_unbounded():
    assert epsilon_range(n_rows=1000, n_features=2000, n_clusters=2).high == math.inf
    assert cells_per_axis("rugnik", n_rows=1e18, n_features=1 << 20, n_clusters=1, epsilon=1.0) == 1
