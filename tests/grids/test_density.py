# SPDX-License-Identifier: Apache-2.0
"""Clusters of any shape on noisy grids: shapes that k-means cannot see, no claims about noise, labels by cell."""

import json
import math

import numpy as np
import pytest
from sklearn.datasets import make_circles, make_moons
from sklearn.metrics import adjusted_rand_score

from cloister import Box, Date, GridSynopsis, Number
from cloister.algorithms._density import chance_bound
from cloister.exceptions import DataError

SHAPES = {
    "moons": (lambda seed: make_moons(5000, noise=0.06, random_state=seed), ([-1.5, -1.0], [2.5, 1.5])),
    "rings": (lambda seed: make_circles(5000, noise=0.05, factor=0.45, random_state=seed), (-1.3, 1.3)),
}


def laplace(generator, sigma, shape):
    """Draw discrete Laplace noise with the standard deviation `sigma`."""
    ratio = 1 + sigma**-2 - math.sqrt((1 + sigma**-2) ** 2 - 1)  # of neighbouring probabilities
    return generator.geometric(1 - ratio, shape) - generator.geometric(1 - ratio, shape)


# -- what is found -------------------------------------------------------------------------------------------------------


@pytest.mark.fast("moons-rugnik-0.5", "rings-20-2.0")
@pytest.mark.parametrize(
    ("shape", "rule", "epsilon"), [("moons", "rugnik", 0.5), ("rings", "rugnik", 2.0), ("rings", 20, 2.0), ("moons", 40, 2.0)]
)
def test_shapes_are_found_that_k_means_does_not_see(shape, rule, epsilon, seed):
    make, bounds = SHAPES[shape]
    rows, truth = make(seed % 1000)
    synopsis = GridSynopsis(2, epsilon=epsilon, bounds=bounds, rule=rule, random_state=seed).fit(rows).synopsis_
    found = synopsis.density_clusters()
    labels = found.predict(rows)
    inside = labels >= 0
    assert found.n_clusters == 2
    assert adjusted_rand_score(truth[inside], labels[inside]) > 0.97
    assert inside.mean() > 0.7
    assert adjusted_rand_score(truth, synopsis.cut(2, random_state=seed).predict(rows)) < 0.7
    errors = found.count_errors
    assert np.abs(found.cluster_counts - np.bincount(labels[inside])).max() < 6 * errors.max()


def test_clusters_are_found_in_three_columns(generator):
    turn = generator.uniform(0, 2 * np.pi, 20_000)
    ring = np.column_stack([0.7 * np.cos(turn), 0.7 * np.sin(turn), np.zeros(20_000)])
    rows = np.vstack([ring, np.zeros((10_000, 3))]) + 0.05 * generator.normal(size=(30_000, 3))
    found = GridSynopsis(2, epsilon=2.0, bounds=(-1, 1), rule=15).fit(rows).synopsis_.density_clusters()
    assert found.n_clusters == 2
    assert found.predict([[0.7, 0.0, 0.0], [-0.5, 0.5, 0.0], [0.0, 0.0, 0.0]]).tolist() == [0, 0, 1]
    assert found.predict([[0.9, 0.9, 0.9]]).tolist() == [-1]


def test_windows_help_where_single_cells_drown_in_noise(by_hand, generator):
    counts = np.zeros((40, 40))
    counts[5:15, 5:15] = counts[25:35, 25:35] = 8.0
    noisy = counts + laplace(generator, 4.0, counts.shape)
    synopsis = by_hand(noisy, sigma=4.0)
    found = synopsis.density_clusters()
    assert found.radius == (2, 2)
    assert found.n_clusters == 2
    assert (found.cell_labels[counts > 0] >= 0).mean() > 0.85
    assert (found.cell_labels[counts == 0] >= 0).mean() < 0.15
    assert (synopsis.density_clusters(radius=0).cell_labels[counts > 0] >= 0).mean() < 0.1


def test_neighbours_share_a_side_or_a_corner(by_hand):
    counts = np.zeros((9, 9))
    counts[1, 1], counts[2, 2], counts[3, 1] = 900.0, 800.0, 700.0
    counts[6, 6] = counts[6, 8] = 1000.0
    found = by_hand(counts).density_clusters(radius=0)
    assert found.n_clusters == 3
    assert found.cell_labels[1, 1] == found.cell_labels[2, 2] == found.cell_labels[3, 1] == 0
    assert {found.cell_labels[6, 6], found.cell_labels[6, 8]} == {1, 2}
    assert found.n_cells.tolist() == [3, 1, 1]
    assert found.cluster_counts.tolist() == [2400.0, 1000.0, 1000.0]
    assert found.count_errors == pytest.approx(np.sqrt([3, 1, 1]))
    assert (found.outside_count, found.outside_error) == (0.0, pytest.approx(math.sqrt(76)))
    assert found.extents[0] == pytest.approx(np.array([[1 / 9, 4 / 9], [1 / 9, 3 / 9]]))


def test_the_order_of_columns_does_not_matter(by_hand, generator):
    counts = 30.0 * (generator.random((14, 9, 12)) < 0.05) + laplace(generator, 2.0, (14, 9, 12))
    one, other = (by_hand(np.transpose(counts, axes), sigma=2.0).density_clusters() for axes in ((0, 1, 2), (2, 0, 1)))
    assert one.n_clusters == other.n_clusters > 1
    same = np.transpose(one.cell_labels, (2, 0, 1))
    assert adjusted_rand_score(same.ravel(), other.cell_labels.ravel()) == 1.0
    assert one.cluster_counts.tolist() == other.cluster_counts.tolist() == sorted(one.cluster_counts, reverse=True)


def test_what_is_dense_is_the_callers_choice(by_hand):
    counts = np.full((10, 10), 50.0)
    counts[2:4, 2:4], counts[7:9, 7:9] = 120.0, 900.0
    synopsis = by_hand(counts)
    assert [synopsis.density_clusters(min_density=one).n_clusters for one in (0.0, 0.8, 5.0, 50.0)] == [1, 2, 1, 0]
    low, high = (synopsis.density_clusters(false_alarm=one) for one in (0.5, 1e-9))
    assert low.threshold < high.threshold
    assert low.level == high.level


# -- what is not claimed -------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("n_rows", "delta"), [(300, 1e-6), (20_000, 0.0)])
def test_nothing_is_claimed_about_evenly_spread_rows(n_rows, delta, generator):
    model = GridSynopsis(4, epsilon=1.0, delta=delta, bounds=(0, 1))
    found = (model.fit(table).synopsis_.density_clusters() for table in generator.random((40, n_rows, 2)))
    assert sum(one.n_clusters > 0 for one in found) <= 4  # at most 0.4 expected


@pytest.mark.slow
@pytest.mark.parametrize("false_alarm", [0.01, 0.3])
def test_the_chance_of_a_false_alarm_is_as_stated(false_alarm, by_hand, generator):
    repeats = 400
    made = (by_hand(noise, sigma=3.0, total=0.0) for noise in laplace(generator, 3.0, (repeats, 16, 16)))
    alarms = sum(one.density_clusters(false_alarm=false_alarm).n_clusters > 0 for one in made)
    assert alarms <= repeats * false_alarm + 5 * math.sqrt(repeats * false_alarm)


@pytest.mark.parametrize(
    ("n_cells", "density", "sigma"), [(1, 0.0, 0.3), (1, 0.0, 5.0), (9, 0.0, 1.4), (9, 3.0, 1.4), (25, 0.2, 20.0)]
)
def test_the_bound_holds_and_is_not_idle(n_cells, density, sigma, generator):
    draws = laplace(generator, sigma, (n_cells, 200_000)).sum(axis=0) + generator.poisson(n_cells * density, 200_000)
    for chance in (0.1, 0.01, 0.001):
        bound = chance_bound(n_cells, density=density, sigma=sigma, log_chance=-math.log(chance))
        assert np.mean(draws > bound) <= chance
        assert bound - n_cells * density <= 2.5 * max(np.quantile(draws, 1 - chance) - n_cells * density, 1.0)


@pytest.mark.parametrize("sigma", [1e-100, 1e-3, 1e6, 1e100])
def test_any_noise_has_a_bound(sigma, by_hand):
    bound = chance_bound(4, density=2.0, sigma=sigma, log_chance=5.0)
    assert math.isfinite(bound)
    assert bound > 8.0
    assert by_hand(np.zeros((5, 5)), sigma=sigma).density_clusters().n_clusters == 0


@pytest.mark.parametrize("cells", [(1,), (1, 1, 1), (2,) * 14, (300, 1)])
def test_any_grid_will_do(cells, by_hand):
    counts = np.zeros(cells)
    counts.flat[0] = 1e6
    found = by_hand(counts).density_clusters(min_density=0.5)
    assert found.n_clusters == 1
    assert found.cell_labels.flat[0] == 0


# -- labels and plain data -----------------------------------------------------------------------------------------------


def test_rows_have_the_label_of_their_cell(generator):
    rows = generator.uniform(-2, 4, (3000, 2))
    rows[:1500] = 0.3 + 0.05 * generator.normal(size=(1500, 2))
    model = GridSynopsis(epsilon=2.0, bounds=([0, -1], [1, 3]), rule=(10, 20), scaling="bounds").fit(rows)
    synopsis = model.synopsis_
    found = synopsis.density_clusters()
    place = np.clip(((rows - [0, -1]) / [1, 4] * [10, 20]).astype(int), 0, [9, 19])
    assert np.array_equal(found.predict(rows), found.cell_labels[tuple(place.T)])
    assert found.predict(np.empty((0, 2))).shape == (0,)
    assert found.predict([[np.nan, 0.3]]).shape == (1,)
    assert found.cluster_counts.sum() + found.outside_count == pytest.approx(synopsis.noisy_counts.sum())
    with pytest.raises(DataError, match=r"DensityClusters\.predict: expected a table of 2 columns"):
        found.predict(np.zeros((3, 3)))


def test_declared_columns_are_read_by_name(generator):
    import pandas as pd

    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(generator.integers(0, 30, 2000), unit="D")
    table = pd.DataFrame({"note": "x", "day": days.strftime("%Y-%m-%d"), "age": generator.normal(40, 2, 2000)})
    bounds = {"age": Number(0, 100), "day": Date("2020-01-01", "2026-12-31")}
    found = GridSynopsis(epsilon=2.0, bounds=bounds, rule=14).fit(table).synopsis_.density_clusters()
    assert found.n_clusters == 1
    assert found.predict(table).tolist().count(0) > 1500
    assert found.predict(pd.DataFrame({"day": ["2021-01-01"], "age": [40.0]})).tolist() == [-1]
    assert "2024-01-01 to" in repr(found) or "2023-" in repr(found)


def test_it_is_plain_data_and_fits_on_a_screen(by_hand, generator):
    counts = 500.0 * (generator.random((60, 60)) < 0.03)
    found = by_hand(counts, domain=Box([0, -5], [1, 5])).density_clusters(radius=0)
    data = found.to_dict()
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert np.array_equal(np.reshape(data["cell_labels"], data["cells"]), found.cell_labels)
    assert [one["rows"] for one in data["clusters"]] == found.cluster_counts.tolist()
    assert data["outside"] == {"rows": found.outside_count, "rows_error": found.outside_error}
    lines = repr(found).splitlines()
    assert found.n_clusters > 20
    assert len(lines) <= 20
    assert max(map(len, lines)) <= 100
    assert lines[0] == f"{found.n_clusters} clusters of dense cells in a grid of 3,600 cells"
    assert found._repr_html_().count("<tr>") == 21
    assert "Nothing stands out of the noise" in repr(by_hand(np.zeros((5, 5))).density_clusters())
