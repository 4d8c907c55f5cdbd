# SPDX-License-Identifier: Apache-2.0
"""PointSynopsis, its product, and KMeans that chooses the number of clusters: one fit, every k."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.cluster.hierarchy import is_valid_linkage
from sklearn.base import clone

from cloister import (
    GDP,
    AccuracyWarning,
    Category,
    Date,
    Flag,
    GridSynopsis,
    KMeans,
    Ledger,
    Number,
    PEMeans,
    PointSynopsis,
    PureDP,
    Release,
    Synopsis,
    load_synopsis,
)
from cloister.exceptions import ParameterError

MIDDLES = np.array([[-6.0, -6, 0, 2], [6, -5, 1, -4], [0, 6, -5, 0], [5, 5, 5, 5]])


def blobs(generator, n_rows=6000):
    return MIDDLES[generator.integers(4, size=n_rows)] + generator.normal(size=(n_rows, 4))


@pytest.fixture(scope="module")
def rows():
    return blobs(np.random.default_rng(3))


@pytest.fixture(scope="module")
def synopsis(rows):
    return PointSynopsis(epsilon=2.0, bounds=(-12, 12), random_state=1).fit(rows).synopsis_


def distance(centers):
    return np.max(np.min(np.linalg.norm(MIDDLES[:, None] - centers, axis=2), axis=1))


def test_it_is_cut_at_any_k(synopsis):
    assert distance(synopsis.cut(4, random_state=0).cluster_centers) < 0.2
    losses = [synopsis.loss(k, random_state=0).value for k in (1, 2, 3, 4)]
    assert losses == sorted(losses, reverse=True)
    for k in (1, 2, 7, 30, 200):
        release = synopsis.cut(k, random_state=0)
        assert release.n_clusters == k
        assert np.isfinite(release.center_errors).all()
        assert release.receipt is synopsis.receipt


def test_however_many_k_are_asked_for_the_events_are_those_of_one_fit(rows):
    ledger = Ledger(epsilon=1.0, delta=1e-6)
    model = PointSynopsis(epsilon=1.0, bounds=(-12, 12), ledger=ledger, random_state=1).fit(rows)
    lines = len(ledger.lines)
    events = model.privacy_receipt_.events
    for k in range(1, 9):
        assert model.synopsis_.cut(k, random_state=0).receipt.events == events
    model.synopsis_.choose_k(random_state=0)
    model.synopsis_.tree()
    model.synopsis_.sample(10, random_state=0)
    assert len(ledger.lines) == lines
    assert sum(event.question_name == "nearest_squares" for event in events) == 1


def test_the_number_of_clusters_is_found_and_so_is_that_there_are_none(synopsis, generator):
    choice = synopsis.choose_k(random_state=0)
    assert (choice.best, choice.as_good) == (4, (4,))
    assert choice.n_clusters == tuple(range(1, 31))
    even = PointSynopsis(epsilon=2.0, bounds=(0, 1), random_state=1).fit(generator.uniform(size=(6000, 3))).synopsis_
    assert even.choose_k(random_state=0).best == 1


def test_one_synopsis_has_one_answer(rows, synopsis, tmp_path):
    best = synopsis.choose_k()
    synopsis.save(tmp_path / "synopsis.json", allow_seeded=True)
    for again in (synopsis, load_synopsis(tmp_path / "synopsis.json")):
        assert np.array_equal(again.choose_k().held_out, best.held_out)
        assert again.choose_k().to_dict()["best"] == best.best
    model = KMeans("auto", epsilon=0.5, bounds=(-12, 12), random_state=4).fit(rows)
    assert np.array_equal(model.choice_.held_out, model.synopsis_.choose_k().held_out)
    assert model.n_clusters_ == model.choice_.best


def test_where_there_is_one_cluster_it_says_that_any_other_number_is_free(generator):
    even = PointSynopsis(epsilon=2.0, bounds=(0, 1), random_state=1).fit(generator.uniform(size=(3000, 2))).synopsis_
    assert "A cut at any other k costs nothing: synopsis.cut(k)" in str(even.choose_k())


@pytest.mark.parametrize("kind", ["triangle", "exponential", "arcsine", "yes and no", "flags"])
def test_shapes_that_are_no_box_have_no_clusters(kind, generator):
    bounds = (-0.1, 1.1)
    if kind == "triangle":
        made = generator.dirichlet(np.ones(3), 12_000)[:, :2]
    elif kind == "exponential":
        made, bounds = generator.exponential(size=(12_000, 5)), (0, 12)
    elif kind == "arcsine":
        made = generator.beta(0.5, 0.5, (12_000, 2))
    else:
        made = (generator.random((12_000, 8)) < generator.uniform(0.3, 0.7, 8)).astype(float)
    if kind == "flags":
        made = pd.DataFrame(made.astype(bool), columns=list("abcdefgh"))
        bounds = dict.fromkeys("abcdefgh", Flag())
    assert PointSynopsis(epsilon=2.0, bounds=bounds, random_state=1).fit(made).synopsis_.choose_k().best == 1


def test_loss_and_silhouette_are_those_of_the_rows(synopsis, rows):
    found = synopsis.loss(4, random_state=0)
    true = np.mean(np.min(np.sum((rows[:, None] - MIDDLES) ** 2, axis=2), axis=1))
    assert abs(found.value - true) < 4 * found.error
    assert found.error < 0.4 * true
    assert synopsis.silhouette(4, random_state=0) > 0.6 > synopsis.silhouette(9, random_state=0)
    assert str(found) == f"{found.value:.4g} ± {found.error:.2g}"


def test_the_tree_is_one_for_scipy(synopsis):
    tree = synopsis.tree()
    assert is_valid_linkage(tree)
    assert tree[-3, 2] > 3 * tree[-4, 2]  # the last three unions join blobs


def test_synthetic_rows_lie_and_spread_as_the_rows(synopsis, rows):
    drawn = synopsis.sample(6000, random_state=0)
    assert np.allclose(drawn.mean(axis=0), rows.mean(axis=0), atol=0.4)
    assert np.allclose(drawn.std(axis=0), rows.std(axis=0), rtol=0.1)
    owner = np.argmin(np.sum((drawn[:, None] - MIDDLES) ** 2, axis=2), axis=1)
    assert 0.7 < np.mean([(drawn[owner == one] - MIDDLES[one]).std() for one in range(4)]) < 1.5
    assert synopsis.sample(0).shape == (0, 4)
    assert np.array_equal(synopsis.sample(5, random_state=2), synopsis.sample(5, random_state=2))


def test_planted_clusters_come_back_and_split_ones_do_not(synopsis):
    assert (synopsis.cut(4, random_state=0).stability > 0.9).all()
    assert np.sort(synopsis.cut(5, random_state=0).stability)[:2].max() < 0.9


def test_the_number_of_points_follows_from_rows_and_budget(rows):
    def n_points(n_rows, **options):
        return PointSynopsis(bounds=(-12, 12), random_state=0, **options).fit(rows[:n_rows]).synopsis_.n_points

    assert n_points(6000, epsilon=4.0) == 60
    assert n_points(6000, epsilon=4.0, max_clusters=5) == 10
    assert n_points(6000, epsilon=4.0, n_points=17) == 17
    assert n_points(300, epsilon=0.5) <= 8


def test_a_table_of_points(synopsis):
    table = synopsis.to_arrow()
    assert table.column_names[:2] == ["x0", "x0_spread"]
    assert len(table) == synopsis.n_points
    assert "Synopsis: 60 points in 4 columns" in repr(synopsis)


def test_declared_columns_and_pure_noise(generator):
    ages = np.r_[generator.normal(30, 3, 3000), generator.normal(70, 3, 3000)]
    wards = np.where(generator.random(6000) < np.repeat([0.9, 0.1], 3000), "a", "b")
    frame = pd.DataFrame({"age": ages, "ward": wards})
    bounds = {"age": Number(0, 100), "ward": Category(["a", "b"])}
    found = PointSynopsis(guarantee=PureDP(4.0), bounds=bounds, random_state=1).fit(frame).synopsis_
    assert found.columns == ("age", "ward=a", "ward=b")
    profile = found.cut(2, random_state=0).profile()
    assert sorted(round(one["columns"]["age"]["value"], -1) for one in profile) == [30, 70]
    assert Synopsis.from_dict(found.to_dict()).to_dict() == found.to_dict()
    assert found.sample(4, random_state=0).shape == (4, 3)


def test_kmeans_chooses_the_number_from_the_same_answers(rows):
    model = KMeans("auto", epsilon=2.0, bounds=(-12, 12), random_state=1).fit(rows)
    assert (model.n_clusters_, len(model.cluster_centers_), model.choice_.best) == (4, 4, 4)
    assert distance(model.cluster_centers_) < 0.2
    assert model.release_.method == "KMeans"
    assert model.release_.parameters["n_clusters"] == "auto"
    assert model.release_.details["choice"]["best"] == 4
    assert model.synopsis_.method == "KMeans"
    assert model.predict(MIDDLES).tolist() == model.release_.predict(MIDDLES).tolist()
    again = clone(model).set_params(n_clusters=3).fit(rows)
    assert not hasattr(again, "choice_")
    model.set_params(n_clusters=2).fit(rows)
    assert (model.n_clusters_, hasattr(model, "synopsis_"), hasattr(model, "choice_")) == (2, False, False)


def test_what_is_described_are_the_chosen_clusters(rows):
    model = KMeans("auto", epsilon=3.0, bounds=(-12, 12), describe=0.2, random_state=1).fit(rows)
    assert model.release_.profiles.columns[0].noisy_counts.shape[0] == model.n_clusters_ == 4
    found = model.release_.profiles.columns[0].noisy_counts.sum(axis=1)
    assert np.allclose(found, model.cluster_counts_, atol=400)


@pytest.mark.parametrize(
    ("kind", "n_clusters", "remedy"),
    [(KMeans, "AUTO", r"Pass a number, or \"auto\""), (PEMeans, "auto", r"Pass a number; KMeans takes \"auto\"")],
)
def test_words_that_choose_no_number_are_refused(kind, n_clusters, remedy, rows):
    with pytest.raises(ParameterError, match=rf"{kind.__name__}\.n_clusters: expected an integer .*, got .*\. {remedy}\."):
        kind(n_clusters, bounds=(-12, 12)).fit(rows)


@pytest.mark.slow
@pytest.mark.parametrize("n_rows", [0, 3])
@pytest.mark.parametrize("n_clusters", [3, "auto"])
def test_of_no_rows_and_of_three_nothing_stands_out(n_rows, n_clusters, generator):
    table = generator.uniform(0, 100, (n_rows, 2))
    seen = []
    for state in range(8):
        release = KMeans(n_clusters, epsilon=1.0, bounds=(0, 100), random_state=state).fit(table).release_
        seen.append(release.stands_out.any())
        assert n_clusters != "auto" or release.n_clusters == 1
        assert np.median(release.center_errors) > 15
        assert not release.stability[~release.stands_out].any()
        assert ("Nothing stands out of the noise" in repr(release)) == (not seen[-1])
    assert np.mean(seen) <= 0.25
    assert "none above the noise" in repr(release)


@pytest.mark.slow
@pytest.mark.parametrize("n_rows", [0, 3])
@pytest.mark.parametrize("estimator", [GridSynopsis, PointSynopsis])
def test_of_a_synopsis_of_few_rows_nothing_stands_out(n_rows, estimator, generator):
    table = generator.uniform(0, 100, (n_rows, 2))
    models = [estimator(n_clusters=2, epsilon=0.5, bounds=(0, 100), random_state=state).fit(table) for state in range(16)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)  # a grid may have a single cell
        releases = [model.synopsis_.cut(2, random_state=0) for model in models]
    assert np.mean([release.stands_out.any() for release in releases]) <= 0.2
    assert all(release.errors_are_total and not release.stability[~release.stands_out].any() for release in releases)
    assert min(release.center_errors[~release.stands_out].min(initial=100) for release in releases) > 10


@pytest.mark.slow
@pytest.mark.parametrize("estimator", [GridSynopsis, PointSynopsis])
def test_the_count_of_a_single_cluster_errs_as_its_error_says(estimator):
    table, scores = np.full((1000, 2), 50.0), []
    for state in range(20):
        release = estimator(epsilon=1.0, bounds=(0, 100), random_state=state).fit(table).synopsis_.cut(1, random_state=0)
        scores.append((release.cluster_counts[0] - 1000) / release.count_noise[0])
    assert 0.5 < np.sqrt(np.mean(np.square(scores))) < 1.6  # false alarms: less than one in a thousand


@pytest.mark.slow
@pytest.mark.parametrize("n_rows", [0, 100, 500])
def test_the_loss_of_a_small_table_is_within_its_error_and_the_domain(n_rows, generator):
    centers = np.array([[20.0, 20.0], [40.0, 30.0], [60.0, 25.0], [80.0, 35.0]])
    rows = centers[generator.integers(4, size=n_rows)] + generator.normal(size=(n_rows, 2)) * [4, 2]
    covered = []
    for seed in range(10):
        fitted = PointSynopsis(epsilon=0.5, bounds=([0, 10], [100, 50]), random_state=seed).fit(rows).synopsis_
        loss = fitted.loss(4, random_state=0)
        assert 0 <= loss.value <= 2.0 + 1e-9
        covered.append(abs(loss.value - 0.016 * (n_rows > 0)) <= 3 * loss.error)
    assert np.mean(covered) >= 0.7


def test_a_single_cluster_always_comes_back(rows):
    release = KMeans(1, epsilon=1.0, bounds=(-12, 12), random_state=0).fit(rows).release_
    assert release.stability.tolist() == [1.0]


def test_synthetic_rows_have_the_columns_of_the_table(generator):
    table = pd.DataFrame(
        {
            "age": generator.normal(40, 5, 2000),
            "ward": generator.choice(["a", "b"], 2000),
            "smoker": generator.random(2000) < 0.3,
            "day": pd.Timestamp("2024-03-01") + pd.to_timedelta(generator.integers(0, 60, 2000), unit="D"),
        }
    )
    columns = {"age": (0, 100), "ward": Category(["a", "b"]), "smoker": Flag(), "day": Date("2024-01-01", "2024-12-31")}
    synopsis = PointSynopsis(epsilon=5.0, bounds=columns, random_state=0).fit(table).synopsis_
    drawn = synopsis.sample_table(3000, random_state=1)
    assert drawn.column_names == list(columns)
    assert [str(field.type) for field in drawn.schema] == ["double", "string", "bool", "date32[day]"]
    frame = drawn.to_pandas()
    assert frame["ward"].value_counts(normalize=True)["a"] == pytest.approx(0.5, abs=0.1)
    assert frame["smoker"].mean() == pytest.approx(0.3, abs=0.1)
    assert abs(frame["ward"].eq("a").corr(frame["smoker"])) < 0.15  # levels and flags are drawn on their own
    few = {name: columns[name] for name in ("age", "smoker")}  # which a grid can cut
    grid = GridSynopsis(epsilon=5.0, bounds=few, random_state=0).fit(table).synopsis_
    assert [str(field.type) for field in grid.sample_table(100, random_state=0).schema] == ["double", "bool"]
    labels = synopsis.cut(2, random_state=0).predict(frame)
    assert labels.shape == (3000,)
    assert np.array_equal(drawn["age"].to_numpy(), synopsis.sample(3000, random_state=1)[:, 0])


def test_of_a_thousand_equal_rows_one_cluster_stands_out():
    release = KMeans(3, epsilon=1.0, bounds=(0, 1), random_state=0).fit(np.full((1000, 2), 0.5)).release_
    assert release.stands_out.sum() == 1
    assert repr(release).count("none above the noise") == 2
    assert "2 of 3 clusters cannot be told from noise." in repr(release)
    assert KMeans("auto", epsilon=1.0, bounds=(0, 1), random_state=0).fit(np.full((1000, 2), 0.5)).n_clusters_ == 1


# -- errors ---------------------------------------------------------------------------------------------------------------


def test_errors_are_those_of_noise_where_clusters_are_clear(rows):
    release = KMeans(4, epsilon=1.0, bounds=(-12, 12), random_state=0).fit(rows).release_
    ratios = release.center_errors / release.center_noise
    assert np.median(ratios) < 1.05
    assert ratios.max() < 1.5
    assert (release.stability == 1).all()
    assert release.errors_are_total


def test_errors_are_larger_where_k_means_might_have_ended_elsewhere(generator):
    release = KMeans(5, epsilon=1.0, bounds=(0, 1), random_state=0).fit(generator.uniform(size=(8000, 2))).release_
    assert np.median(release.center_errors / release.center_noise) > 5
    assert release.stability.mean() < 0.9
    assert (release.count_errors >= release.count_noise).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    "draw", [lambda g: g.uniform(-0.9, 0.9, (8000, 2)), lambda g: np.clip(g.normal(0, 0.25, (8000, 3)), -1, 1)]
)
def test_intervals_cover_kmeans_without_noise(draw):
    from scipy.optimize import linear_sum_assignment
    from sklearn.cluster import KMeans as Exact

    generator = np.random.default_rng(5)
    covered = []
    for state in range(16):
        table = draw(generator)
        release = KMeans(4, epsilon=1.0, bounds=(-1, 1), random_state=state).fit(table).release_
        exact = Exact(4, n_init=20, random_state=0).fit(table).cluster_centers_
        squares = np.sum((release.cluster_centers[:, None] - exact) ** 2, axis=2)
        moved = np.abs(release.cluster_centers - exact[linear_sum_assignment(squares)[1]])
        covered.append(np.mean(moved < 1.96 * release.center_errors))
    assert np.mean(covered) > 0.8  # the noise alone would cover a tenth


def test_total_errors_are_computed_when_the_release_is_read(rows):
    model = KMeans(4, epsilon=1.0, bounds=(-12, 12), random_state=0).fit(rows)
    assert "release_" not in vars(model)
    again = pickle.loads(pickle.dumps(model))
    release = model.release_
    assert isinstance(release, Release)
    assert model.release_ is release is vars(model)["release_"]
    assert release.errors_are_total
    assert again.release_.to_dict() == release.to_dict()
    assert not hasattr(KMeans(4), "release_")


@pytest.mark.parametrize(("n_features", "mu"), [(1, 1.4678e-6), (3000, 2.0e-7)])
def test_a_budget_whose_noise_cannot_be_drawn_is_refused_before_anything_is_spent(n_features, mu, generator):
    rows, seed = generator.random((20, n_features)), int(generator.integers(2**31))
    for model in (PointSynopsis(max_clusters=3), KMeans("auto", max_clusters=3)):
        ledger = Ledger(GDP(mu), neighbours="replace")
        terms = {"guarantee": GDP(mu), "neighbours": "replace", "n_rows": 10**9, "ledger": ledger}
        model.set_params(**terms, bounds=(0, 1), n_init=1, random_state=seed)
        with pytest.raises(ParameterError, match="expected a budget whose noise can be drawn"):
            model.fit(rows)
        assert ledger.summary()["accounts"] == []


def test_what_needs_the_index_of_a_grid_is_refused(synopsis):
    given = {"count": ((0, 1),), "density_clusters": (), "marginal": ([0],), "coarse": (), "merge": (synopsis,)}
    for name, arguments in given.items():
        match = rf"Synopsis\.{name}: expected a synopsis of a grid, got 'one of points'\. Fit a GridSynopsis"
        with pytest.raises(ParameterError, match=match):
            getattr(synopsis, name)(*arguments)
    with pytest.raises(ParameterError, match=r"representatives: expected 'center' for points, got 'slope'"):
        synopsis.cut(3, representatives="slope")
