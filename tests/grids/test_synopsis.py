# SPDX-License-Identifier: Apache-2.0
"""What can be read off a synopsis: range counts, samples, marginals, merges, clusters for any k, and how many there are."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.releases import synopsis_by_hand

from cloister import GDP, Box, GridSynopsis, Ledger, PureDP
from cloister.exceptions import ParameterError

# -- range counts --------------------------------------------------------------------------------------------------------


def test_ranges_along_cells_are_exact_but_for_the_noise(generator):
    ages = generator.integers(0, 121, size=(4000, 2)).astype(float)
    model = GridSynopsis(epsilon=1e6, bounds=(0, 120), rule=(24, 12), n_rows=4000).fit(ages).synopsis_
    for low, high in (([0, 0], [120, 120]), ([20, 30], [65, 70]), ([5, 0], [10, 10]), ([115, 110], [120, 120])):
        found = model.count((low, high))
        ends = np.where(np.array(high) == 120, 121, high)  # the last cell holds its upper face
        truth = np.sum(((ages >= low) & (ages < ends)).all(axis=1))
        assert found.value == pytest.approx(truth, abs=1e-6)
        assert found.edge_error == pytest.approx(0.0, abs=1e-3)


def test_what_a_range_cuts_counts_in_part(by_hand):
    synopsis = by_hand(np.full((2, 2), 8.0))
    found = synopsis.count(Box([0, 0], [0.75, 0.5]))
    assert found.value == pytest.approx(8 + 8 * 0.5)
    assert found.noise_error == pytest.approx(math.sqrt(1 + 0.25))
    assert found.edge_error > 0
    assert found.standard_error == pytest.approx(math.hypot(found.noise_error, found.edge_error))
    assert synopsis.count((-5, 9)).value == 32
    assert synopsis.count((3, 9)).value == 0
    assert str(synopsis.count((0, 1))) == "32 ± 2"


@pytest.mark.parametrize("axis", [0, 1])
def test_a_density_that_is_linear_is_counted_exactly_wherever_it_is_cut(axis, by_hand):
    # density 1 + x, a thousand rows
    steps = np.linspace(0, 1, 9)
    line = 1000 * np.diff(steps + steps**2 / 2) / 1.5
    counts = np.stack([line, line], axis=1 - axis) / 2
    synopsis = by_hand(counts, sigma=1e-6)
    for low, high in ((0.2, 0.71), (0.13, 0.15), (0.0, 0.6)):
        box = np.array([[0.0, 0.0], [1.0, 1.0]])
        box[:, axis] = low, high
        truth = 1000 * (high - low + (high**2 - low**2) / 2) / 1.5
        assert synopsis.count(tuple(box)).value == pytest.approx(truth, rel=2e-3)


@given(
    st.integers(0, 7),
    st.floats(0.01, 0.99),
    st.floats(0.01, 0.99),
    st.lists(st.sampled_from([0.0, 10.0, 40.0]), min_size=8, max_size=8),
)
def test_rows_on_one_place_of_a_cell_are_covered_wherever_it_is(cell, place, border, others):
    """An interval holds all that can be inside where a cell departs from its neighbours by all of its rows."""
    counts = np.array(others)
    counts[cell] = 10_000.0
    found = synopsis_by_hand(counts, sigma=1e-3).count(([0.0], [(cell + border) / 8]))
    truth = counts[:cell].sum() + counts[cell] * (place < border)
    assert abs(found.value - truth) <= 1.96 * 2.1 * found.standard_error  # at worst, between empty cells: 4 differences of 20


def test_values_rounded_to_the_last_digit_of_a_border_may_lie_on_either_side_of_it(by_hand, generator):
    """Nothing in cells of ten ages each tells that they are whole numbers; a border that is one does."""
    ages = np.clip(np.rint(generator.normal(50, 20, 50_000)), 0, 99)
    counts = np.histogram(ages, bins=10, range=(0, 100))[0]
    synopsis = by_hand(counts, domain=Box([0], [100]), sigma=1e-3)
    for high in (23, 37, 64, 81):
        found = synopsis.count(([0], [high]))
        for truth in (np.sum(ages < high), np.sum(ages <= high)):
            assert abs(found.value - truth) < 1.96 * found.standard_error
    assert synopsis.count(([0], [64])).edge_error > synopsis.count(([0], [64.0001])).edge_error
    assert synopsis.count(([20], [60])).edge_error == 0


def ridge(generator, size):
    along = generator.random(size)
    return np.stack([along, 0.5 + 0.3 * np.sin(7 * along)], axis=1) + 0.01 * generator.normal(size=(size, 2))


def towns(generator, size):
    places, heavy = generator.random((300, 2)), generator.dirichlet(np.full(300, 0.2))
    return places[generator.choice(300, size, p=heavy)] + generator.laplace(0, 0.004, (size, 2))


def prices(generator, size):
    return np.rint(generator.exponential(150, (size, 2))) / 1000


def tails(generator, size):
    return 0.5 + 0.05 * generator.standard_t(2, (size, 2))


def stacked(generator, size):
    """A third of the rows on four values."""
    values = generator.beta(2, 5, (size, 2))
    return np.where(generator.random((size, 1)) < 0.35, generator.choice([0.1, 0.33, 0.6, 0.75], (size, 1)), values)


def cube(generator, size):
    return generator.beta(1, 3, (size, 3))


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["rugnik", "adaptive"])
@pytest.mark.parametrize("epsilon", [0.2, 2.0])
@pytest.mark.parametrize("draw", [ridge, towns, prices, tails, stacked, cube])
def test_intervals_of_range_counts_cover_the_truth(draw, epsilon, rule):
    """150 boxes between random rows and around them: no kind of table below 0.85, intervals not needlessly wide."""
    generator = np.random.default_rng(5)
    rows = np.clip(draw(generator, 60_000), 0, 1)
    width = rows.shape[1]
    model = GridSynopsis(8, epsilon=epsilon, bounds=(0, 1), rule=rule, n_rows=len(rows), random_state=3)
    synopsis = model.fit(rows).synopsis_
    errors, stated = [], []
    for step in range(150):
        one, other = rows[generator.integers(len(rows), size=2)]
        if step % 2:
            other = one + generator.uniform(0.02, 0.5, width)
        low, high = np.minimum(one, other), np.minimum(np.maximum(np.maximum(one, other), np.minimum(one, other) + 0.01), 1)
        low = np.minimum(low, 0.99)
        found = synopsis.count((low, high))
        errors.append(found.value - np.sum(((rows >= low) & ((rows < high) | (high == 1))).all(axis=1)))
        stated.append(found.standard_error)
    assert np.mean(np.abs(errors) < 1.96 * np.array(stated)) > 0.85, draw.__name__
    assert math.sqrt(np.mean(np.square(stated)) / np.mean(np.square(errors))) < 4


# -- samples and marginals -----------------------------------------------------------------------------------------------


def test_samples_stay_inside_and_follow_the_weights(by_hand, seed):
    weights = np.array([[5.0, -3.0, 1.0], [0.0, 2.0, 2.0]])
    synopsis = by_hand(weights, domain=Box([-1, 10], [1, 40]))
    rows = synopsis.sample(20_000, random_state=seed)
    assert rows.shape == (20_000, 2)
    assert ((rows >= [-1, 10]) & (rows <= [1, 40])).all()
    found, _, _ = np.histogram2d(rows[:, 0], rows[:, 1], bins=(2, 3), range=[[-1, 1], [10, 40]])
    expected = 20_000 * np.maximum(weights, 0) / 10
    assert (found[expected == 0] == 0).all()
    assert (np.abs(found - expected) < 6 * np.sqrt(expected + 1)).all()
    assert np.array_equal(rows, synopsis.sample(20_000, random_state=seed))
    assert not np.array_equal(synopsis.sample(5), synopsis.sample(5))
    assert synopsis.sample(0).shape == (0, 2)


def test_a_synopsis_without_any_weight_samples_evenly(by_hand):
    rows = by_hand(-np.ones((4, 4))).sample(500)
    assert ((rows >= 0) & (rows <= 1)).all()
    assert rows.std(axis=0).min() > 0.2


def test_marginals_add_up_and_know_their_noise(by_hand, generator):
    counts = generator.integers(-5, 50, size=(2, 3, 4))
    synopsis = by_hand(counts, sigma=2.0, feature_names=("a", "b", "c"), domain=Box([0, 1, 2], [10, 11, 12]))
    one, two = synopsis.marginal(["b"]), synopsis.marginal(["c", 0])
    assert np.array_equal(one.histogram, counts.sum(axis=(0, 2)))
    assert np.array_equal(two.histogram, counts.sum(axis=1).T)
    assert one.sigma == pytest.approx(2 * math.sqrt(8))
    assert two.sigma == pytest.approx(2 * math.sqrt(3))
    assert two.columns == ("c", "a")
    assert two.domain.to_dict()["low"] == [2, 0]
    assert np.array_equal(synopsis.marginal([0, 1, 2]).histogram, counts)
    assert one.count((1, 11)).value == synopsis.count(synopsis.domain).value
    assert one.receipt is synopsis.receipt


def test_the_table_has_a_row_for_each_cell(by_hand):
    table = by_hand([[1.0, -2.0], [3.0, 4.0]], feature_names=("a", "b")).to_arrow()
    assert table.column_names == ["a_low", "a_high", "b_low", "b_high", "noisy_count", "weight"]
    assert table.to_pydict()["noisy_count"] == [1, -2, 3, 4]
    assert table.to_pydict()["weight"] == [1, 0, 3, 4]
    assert table.to_pydict()["a_low"] == [0, 0, 0.5, 0.5]


# -- merging -------------------------------------------------------------------------------------------------------------


def test_disjoint_tables_are_added(fit, rows):
    left, right = fit(rows[::2], rule=8), fit(rows[1::2], rule=8, epsilon=1.0)
    both = left.merge(right)
    assert np.array_equal(both.noisy_counts, left.noisy_counts + right.noisy_counts)
    assert both.sigma == pytest.approx(math.hypot(left.sigma, right.sigma))
    assert both.total == left.total + right.total
    assert both.receipt.guarantee == PureDP(2.0)  # the weaker one holds for everybody
    assert right.merge(left).receipt.guarantee == PureDP(2.0)
    assert both.receipt.seeded


@pytest.mark.parametrize("rows", ["disjoint", "same"])
def test_a_merged_receipt_names_both_data_sets(rows):
    def fit(**stated):
        options = {"epsilon": 1.0, "bounds": (0, 1), "rule": 2, "n_rows": 10, "ledger": Ledger(epsilon=2.0, delta=0.0)}
        return GridSynopsis(2, **options, **stated).fit(np.full((10, 2), 0.5)).synopsis_

    one, other = fit(dataset="north", purpose="planning"), fit(dataset="south", purpose="planning")
    receipt = one.merge(other, rows=rows).receipt
    assert (receipt.dataset, receipt.purpose, receipt.ledger) == ("north; south", "planning", None)
    long = fit(dataset="n" * 200).merge(fit(dataset="s"), rows=rows).receipt.dataset
    assert long == "n" * 197 + "..."


def test_one_table_asked_twice_is_averaged_and_adds_up(fit, rows):
    left, right = (fit(rows, rule=8, epsilon=epsilon, missing="middle") for epsilon in (2.0, 1.0))
    both = left.merge(right, rows="same")
    assert both.sigma < min(left.sigma, right.sigma)
    assert both.sigma == pytest.approx((left.sigma**-2 + right.sigma**-2) ** -0.5)
    expected = (left.noisy_counts / left.sigma**2 + right.noisy_counts / right.sigma**2) * both.sigma**2
    assert np.allclose(both.noisy_counts, expected)
    assert both.receipt.guarantee.epsilon == pytest.approx(3.0)
    assert both.receipt.events == left.receipt.events + right.receipt.events
    gaussian = fit(rows, rule=8, guarantee=GDP(1.0), missing="middle")
    assert gaussian.merge(gaussian, rows="same").receipt.guarantee.mu == pytest.approx(math.sqrt(2), rel=1e-6)


def test_merges_that_make_no_sense_are_refused(fit, rows, by_hand):
    synopsis = fit(rule=8)
    for other in (fit(rule=9), fit(rule=8, bounds=(0, 2))):
        with pytest.raises(ParameterError, match=r"Synopsis\.merge\.other: expected the same box, cells and columns"):
            synopsis.merge(other)
    with pytest.raises(ParameterError, match="the same neighbouring relation, got 'replace'"):
        synopsis.merge(fit(rule=8, neighbours="replace"))
    with pytest.raises(ParameterError, match=r"Synopsis\.merge\.rows: expected one of 'disjoint', 'same'"):
        synopsis.merge(synopsis, rows="some")


# -- clusters ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_clusters", [1, 3, 65, 300])
@pytest.mark.parametrize("representatives", ["center", "slope"])
@pytest.mark.parametrize("counts", ["clip", "none", "nonnegative-total"])
def test_any_number_of_centres_is_finite_and_inside(n_clusters, representatives, counts, fit):
    synopsis = fit(rule=8, counts=counts, bounds=([-1, 0], [1, 3]))
    release = synopsis.cut(n_clusters, representatives=representatives, n_init=1)
    assert release.cluster_centers.shape == (n_clusters, 2)
    assert np.isfinite(release.cluster_centers).all()
    assert ((release.cluster_centers >= [-1, 0]) & (release.cluster_centers <= [1, 3])).all()
    assert np.isfinite(release.center_errors).all()
    assert (release.count_errors > 0).all()
    assert release.cluster_counts.sum() == pytest.approx(np.maximum(synopsis.weights, 0).sum())
    assert release.receipt is synopsis.receipt
    assert release.predict([[0.0, 0.0]]).shape == (1,)


def test_clusters_narrower_than_a_cell_are_not_taken_apart(generator):
    """A few cells hold each cluster: one centre for each cell would explain them all, and says nothing of the rows."""
    middles = np.array([[-0.6, -0.6], [0.6, -0.5], [-0.5, 0.6], [0.6, 0.6]])
    rows = np.repeat(middles, 1000, axis=0) + 0.06 * generator.normal(size=(4000, 2))
    synopsis = GridSynopsis(4, rule=9, epsilon=4.0, bounds=(-1, 1), random_state=0).fit(rows).synopsis_
    assert synopsis.choose_k(range(1, 13), random_state=0).best == 4


def test_three_clusters_are_three(fit):
    choice = fit().choose_k()
    assert choice.best == choice.elbow == 3
    assert choice.supported >= 3
    assert choice.n_clusters == tuple(range(1, 13))
    assert (choice.held_out_error > 0).all()
    names = {"best", "as_good", "elbow", "supported", "loss", "held_out", "held_out_error", "even", "n_clusters"}
    assert names == set(choice.to_dict())
    assert choice.as_good == (3,)
    assert str(choice) == "3 clusters"


@pytest.mark.fast("0-*")
@pytest.mark.parametrize(("n_rows", "n_features", "rule"), [(0, 1, 30), (3000, 2, 12), (1000, 3, 8)])
def test_no_clusters_are_not_many(n_rows, n_features, rule, fit, generator):
    tables = [generator.uniform(size=(n_rows, n_features)) for _ in range(9)]
    synopses = [fit(table, epsilon=1.0, rule=rule, random_state=state) for state, table in enumerate(tables)]
    found = sorted(synopsis.choose_k(range(1, 7)).best for synopsis in synopses)
    assert found[4] <= 2  # the median: a single draw may look like something


def test_the_range_is_sorted_and_may_have_gaps(fit):
    choice = fit().choose_k([5, 1, 3, 3], random_state=0)
    assert choice.n_clusters == (1, 3, 5)
    assert choice.best == 3
    assert fit().choose_k([4]).best == 4


@pytest.mark.slow
def test_the_held_out_error_is_about_right(by_hand):
    # Empty tables: the held-out loss is noise alone, and its spread over 80 synopses is the stated error.
    draws = np.random.default_rng(1).normal(0, 3.0, size=(80, 6, 6))
    choices = [by_hand(noise, sigma=3.0, total=100.0).choose_k([1, 3], random_state=0) for noise in draws]
    values, stated = np.array([one.held_out for one in choices]), np.array([one.held_out_error for one in choices])
    assert np.allclose(values.std(axis=0), stated.mean(axis=0), rtol=0.35)


def test_errors_cover_where_in_their_cell_rows_lie():
    table = np.repeat([[22.0, 31.0], [81.0, 68.0]], 2000, axis=0)
    scores = []
    for state in range(12):
        model = GridSynopsis(n_clusters=2, epsilon=1.0, bounds=(0, 100), rule=9 + state, random_state=state)
        release = model.fit(table).synopsis_.cut(2)
        near = np.argsort(release.cluster_centers[:, 0])
        scores.append((release.cluster_centers[near] - table[[0, -1]]) / release.center_errors[near])
    assert np.mean(np.abs(scores) < 1.96) > 0.85


# -- refusals ------------------------------------------------------------------------------------------------------------

BOXES = (0.5, (0, 1, 2), None, "ab", [[1, [2, [3]]]], np.ma.masked, ((0, 0, 0), (1, 1, 1)), (1, 0))
REFUSED = [
    *(("count", {"box": box}, r"count\.box: expected a pair|Box") for box in BOXES),
    *(("sample", {"n_rows": size}, r"sample\.n_rows: expected an integer of at least 0") for size in (-1, 1.5, "many", None)),
    *(("marginal", {"columns": one}, r"marginal\.columns: .*each once") for one in ([], ["a", "a"], [0, "a"])),
    ("marginal", {"columns": ["z"]}, r"marginal\.columns: expected names of columns, got 'z'\. The columns are: a, b\."),
    ("marginal", {"columns": [2]}, r"marginal\.columns: expected an integer from 0 to 1, got 2\. The columns are: a, b\."),
    ("marginal", {"columns": [-1]}, r"marginal\.columns: expected an integer from 0 to 1"),
    *(("cut", {"n_clusters": k}, r"cut\.n_clusters: expected an integer from 1 to 1048576") for k in (0, 2.5, 10**9)),
    ("cut", {"n_clusters": 2, "n_init": 0}, r"cut\.n_init: expected an integer of at least 1"),
    ("cut", {"n_clusters": 2, "representatives": "corner"}, r"cut\.representatives: expected one of 'center', 'slope'"),
    ("cut", {"n_clusters": 2, "random_state": -1}, r"cut\.random_state: expected an integer from 0"),
    ("choose_k", {"n_clusters": []}, r"choose_k\.n_clusters: expected at least one number"),
    *(("choose_k", {"n_clusters": [k]}, r"choose_k\.n_clusters: expected an integer from 1") for k in (0, 1.5)),
    ("to_bytes", {"kind": "csv"}, r"to_bytes\.kind: expected one of 'json', 'parquet', got 'csv'"),
    ("tree", {"random_state": "x"}, r"tree\.random_state: expected an integer"),
    ("density_clusters", {"min_density": -1}, r"density_clusters\.min_density: expected a finite number of at least 0"),
    ("density_clusters", {"min_density": "high"}, r"density_clusters\.min_density: expected a finite number"),
    *(("density_clusters", {"false_alarm": one}, r"density_clusters\.false_alarm: .* above 0 and below 1") for one in (0, 1.0)),
    *(("density_clusters", {"radius": one}, r"density_clusters\.radius: .* from 0 .* Pass \"auto\"") for one in (-1, "wide")),
]


@pytest.mark.parametrize(("method", "given", "match"), REFUSED)
def test_other_requests_are_refused(method, given, match, by_hand):
    synopsis = by_hand(np.ones((2, 2)), feature_names=("a", "b"))
    with pytest.raises(ParameterError, match=rf"Synopsis\.{match}"):
        getattr(synopsis, method)(**given)


def test_the_noise_of_empty_cells_does_not_add_to_the_loss(by_hand):
    """All rows in one corner: noise of 400 cells made non-negative would make the loss many times too high."""
    generator, exact = np.random.default_rng(0), np.zeros((20, 20))
    exact[2:4, 2:4] = 500
    found = []
    for _ in range(40):
        noisy = exact + np.rint(generator.normal(0, 1, exact.shape))
        found.append(by_hand(noisy, sigma=1.0, rule="nonnegative-total", total=2000.0).cut(1, n_init=1, random_state=0).details)
    truth = 2 * 0.1**2 / 12
    losses, errors = (np.array([one[name] for one in found]) for name in ("loss", "loss_error"))
    assert np.mean(np.abs(losses - truth) < 1.96 * errors) > 0.85
    assert np.median(losses) < 3 * truth
