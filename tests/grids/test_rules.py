# SPDX-License-Identifier: Apache-2.0
"""How many cells: the printed tables of the RUGNIK paper, Theorem 2, and the definition itself."""

import math

import numpy as np
import pytest
from benchmarks._papers import cells_printed
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from tests.examples import examples

from cloister import plan
from cloister.algorithms import grid_shape
from cloister.exceptions import ParameterError
from cloister.grids import cell_bounds, cells_per_axis, count_deviation, epsilon_range, grid_bound

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


def test_table_3():
    """Cells of the whole grid, for the two rules and the six epsilons of the paper, as printed."""
    assert len(cells_printed()) == 216
    for (d, k, n, rule, epsilon), count in cells_printed().items():
        assert cells_per_axis(rule, n_rows=n, n_features=d, n_clusters=k, epsilon=epsilon) ** d == count


@pytest.mark.parametrize("setting", TABLE_1)
def test_table_1(setting):
    k, n = setting
    for d, low, high in ((2, *TABLE_1[setting][:2]), (3, *TABLE_1[setting][2:])):
        found = epsilon_range(n_rows=n, n_features=d, n_clusters=k)
        assert math.ceil(found.low * 1000) / 1000 == low
        assert math.floor(found.high * 1000) / 1000 == high


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize(("k", "n"), TABLE_1)
def test_theorem_2_bounds_the_minimiser(d, k, n):
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


@examples(150)
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


def test_many_columns_leave_the_epsilons_unbounded():
    assert epsilon_range(n_rows=1000, n_features=2000, n_clusters=2).high == math.inf
    assert cells_per_axis("rugnik", n_rows=1e18, n_features=1 << 20, n_clusters=1, epsilon=1.0) == 1


def test_the_bound_is_the_printed_function_and_the_sum_of_its_terms():
    found = grid_bound(7, n_rows=400, n_features=3, n_clusters=5, epsilon=0.4)
    assert found.total == pytest.approx(bound(7, 400, 3, 5, 0.4))
    assert found.total == found.noise + found.cross + found.rounding
    assert found.rounding == 400 / (3 * 49)
    assert found.objective(2.0) == pytest.approx(3 * 4 / 5 * found.total)
    assert grid_bound(7, n_rows=400, n_features=3, n_clusters=5, epsilon=0.8).noise == pytest.approx(found.noise / 2)


@pytest.mark.parametrize("n_features", [2, 3])
def test_evenly_spread_clusters_stay_below_the_bound(generator, n_features):
    # Its own assumptions, in [-1, 1]^d: clusters of equal size that fill the cube, centres that do not move.
    n_rows, cells, epsilon = 800, 8, 0.5
    k = 2**n_features
    centers = np.stack(np.meshgrid(*[[-0.5, 0.5]] * n_features), axis=-1).reshape(k, n_features)
    moved = []
    for _ in range(60):
        rows = generator.uniform(-1, 1, (n_rows, n_features))
        counts, edges = np.histogramdd(rows, bins=cells, range=[(-1, 1)] * n_features)
        middles = np.stack(np.meshgrid(*[(one[1:] + one[:-1]) / 2 for one in edges], indexing="ij"), axis=-1)
        noisy = counts + generator.laplace(0, 1 / epsilon, counts.shape)
        squares = [((part[..., None, :] - centers) ** 2).sum(axis=-1).min(axis=-1) for part in (rows, middles)]
        moved.append(abs(squares[0].sum() - (noisy * squares[1]).sum()) / k)
    sizes = {"n_rows": n_rows, "n_features": n_features, "n_clusters": k, "epsilon": epsilon}
    assert np.mean(moved) < grid_bound(cells, **sizes).objective()


def test_no_count_errs_more_than_the_tail_says(generator):
    # Discrete Laplace noise: the difference of two geometric numbers. 4,000 grids of 100 cells, at most 5 % beyond (+ 4 sigma).
    ratio = 1 - math.exp(-0.3)
    noise = generator.geometric(ratio, (4000, 100)) - generator.geometric(ratio, (4000, 100))
    reach = math.ceil(count_deviation(100, epsilon=0.3, chance=0.05))
    assert np.mean(np.abs(noise).max(axis=1) > reach) < 0.05 + 4 * math.sqrt(0.05 * 0.95 / 4000)


@pytest.mark.parametrize("method", ["GridKMeans", "GridSynopsis"])
def test_a_plan_says_the_bound_and_warns_of_too_few_cells_before_anything_is_spent(method):
    found = plan(400, 2, 4, method=method, epsilon=1.0)
    h = grid_bound(10, n_rows=400, n_features=2, n_clusters=4, epsilon=math.sqrt(2) / found.plan.grid["counts"].sigma)
    assert f"10 cells along each of 2 columns, 100 in all: its bound h is {h.total:.2g}" in found.verdict[2]
    assert not any("at random places" in line for line in found.advice)
    few = plan(50, 2, 30, method=method, epsilon=0.01)
    assert few.advice[0].startswith("30 clusters of 4 cells: the centres beyond one per cell lie at random places.")


SIZES = {"n_rows": 9, "n_features": 2, "n_clusters": 2}
HUGE = 10**300
RULE = {"rule": "rugnik", **SIZES, "epsilon": 1.0}
REFUSED = [
    (
        cells_per_axis,
        RULE,
        {"rule": ("best", 3), "n_rows": (-1, math.nan), "epsilon": (0,), "n_features": (0,), "n_clusters": (0,)},
    ),
    (grid_bound, {"cells": 2, **SIZES, "epsilon": 1.0}, {"cells": (0,), "epsilon": (0,)}),
    (count_deviation, {"n_cells": 4, "epsilon": 1.0, "chance": 0.1}, {"n_cells": (0,), "chance": (1.0,)}),
    (cell_bounds, {**SIZES, "epsilon": 1.0}, dict.fromkeys((*SIZES, "epsilon"), (0, HUGE))),
    (epsilon_range, SIZES, dict.fromkeys(SIZES, (0, HUGE))),
]


@pytest.mark.parametrize(("function", "fine", "wrong"), REFUSED)
def test_refusals(function, fine, wrong):
    for name, values in wrong.items():
        for value in values:
            with pytest.raises(ParameterError, match=rf"{function.__name__}\.{name}: expected"):
                function(**{**fine, name: value})


def test_18_printed_numbers_of_cells_lie_outside_the_bounds_of_the_real_minimiser():
    outside = 0
    for (d, k, n, rule, epsilon), count in cells_printed().items():
        found = cell_bounds(n_rows=n, n_features=d, n_clusters=k, epsilon=epsilon)
        outside += rule == "rugnik" and not found.low <= count <= found.high
    assert outside == 18
