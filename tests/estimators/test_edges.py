# SPDX-License-Identifier: Apache-2.0
"""k finite centres inside the domain, whatever the rows and whatever the guarantee; and no row can make a fit fail."""

import numpy as np
import pandas as pd
import pytest

from cloister import (
    GDP,
    ZCDP,
    ApproxDP,
    Ball,
    Box,
    CoresetKMeans,
    FastLloyd,
    GridKMeans,
    GridSynopsis,
    KMeans,
    Ledger,
    LloydKMeans,
    PEMeans,
    PureDP,
    TreeKMeans,
)
from cloister.exceptions import ParameterError

HOSTILE = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf, "1e300": 1e300, "-1e300": -1e300}


def check_centers(model, n_clusters, n_features, *, inside):
    centers = model.cluster_centers_
    assert centers.shape == (n_clusters, n_features)
    assert np.isfinite(centers).all()
    assert np.allclose(inside.clip(centers), centers, rtol=1e-12, atol=1e-12)
    assert model.cluster_counts_.shape == (n_clusters,)
    assert np.isfinite(model.cluster_counts_).all()
    assert model.release_.n_clusters == n_clusters
    assert model.privacy_receipt_.spent.fits(model.privacy_receipt_.guarantee)


TABLES = {
    "no rows": lambda generator: np.empty((0, 2)),
    "one row": lambda generator: np.array([[0.5, -0.5]]),
    "fewer rows than clusters": lambda generator: generator.uniform(-1, 1, size=(3, 2)),
    "constant": lambda generator: np.full((200, 2), 0.25),
    "two points": lambda generator: np.repeat([[0.9, 0.9], [-0.9, -0.9]], 100, axis=0),
    "one column": lambda generator: generator.uniform(-1, 1, size=(100, 1)),
    "everything outside": lambda generator: generator.normal(size=(100, 2)) * 1e6,
    "nothing but missing": lambda generator: np.full((100, 2), np.nan),
    "wide": lambda generator: generator.normal(size=(60, 40)) / 10,
}
GUARANTEES = {
    "epsilon and delta": {"epsilon": 1.0, "delta": 1e-6},
    "pure": {"epsilon": 1.0, "delta": 0},
    "PureDP": {"guarantee": PureDP(2.0)},
    "ApproxDP": {"guarantee": ApproxDP(1.0, 1e-5)},
    "ZCDP": {"guarantee": ZCDP(0.5)},
    "GDP": {"guarantee": GDP(1.0)},
    "replace": {"neighbours": "replace"},
    "public size": {"n_rows": 100},
    "public size zero": {"n_rows": 0},
    "older rule": {"selection": "top-k"},
    "large epsilon": {"epsilon": 1e6},
    "small epsilon": {"epsilon": 1e-3},
    "tiny epsilon": {"epsilon": 1e-6, "delta": 1e-9},
}


@pytest.mark.parametrize("guarantee", GUARANTEES)
@pytest.mark.parametrize("table", TABLES)
def test_k_finite_centres_inside_the_domain(table, guarantee, make, generator):
    rows = TABLES[table](generator)
    model = make(5, **GUARANTEES[guarantee]).fit(rows)
    check_centers(model, 5, rows.shape[1], inside=Box(-1, 1))


@pytest.mark.parametrize("n_clusters", [1, 2, 50])
@pytest.mark.parametrize("bounds", [(-1, 1), Ball(0.7, 0.1), Box([-1, 0], [1, 5]), ([-1, -2], [0.5, 1])])
@pytest.mark.parametrize("scaling", ["none", "bounds"])
def test_domains_of_every_kind_hold_the_centres(n_clusters, bounds, scaling, make, rows):
    model = make(n_clusters, bounds=bounds, scaling=scaling).fit(rows)
    check_centers(model, n_clusters, 2, inside=model.release_.domain)


@pytest.mark.parametrize("projection", ["auto", None, 1, 5, 40, 100])
@pytest.mark.parametrize("guarantee", ["epsilon and delta", "pure", "replace"])
def test_many_dimensions_with_and_without_projection(projection, guarantee, make, generator):
    rows = generator.normal(size=(100, 40)) / 10
    model = make(3, projection=projection, **GUARANTEES[guarantee]).fit(rows)
    check_centers(model, 3, 40, inside=Box(-1, 1))
    asked = [event.question_name for event in model.privacy_receipt_.events]
    projected = projection in ("auto", 1, 5)
    assert asked == ["row_count", *["nearest_counts"] * 3, *(["nearest_counts", "nearest_sums"] if projected else [])]


def form_of(ledger):
    """Return everything a ledger says except when, and the name of the account."""
    return [{key: value for key, value in line.items() if key not in ("when", "account")} for line in ledger.lines]


@pytest.mark.parametrize("n_features", [2, 40])
@pytest.mark.parametrize("value", HOSTILE)
def test_a_hostile_row_changes_neither_shapes_nor_the_form_of_the_ledger(value, n_features, make, generator):
    # Fault 11: one NaN row raised an error or changed a branch, so its presence was visible.
    clean = generator.uniform(-1, 1, size=(60, n_features))
    spoilt = clean.copy()
    spoilt[7, 1] = HOSTILE[value]
    ledgers = [Ledger(epsilon=5.0, delta=1e-6) for _ in range(2)]
    models = [make(ledger=ledger).fit(table) for ledger, table in zip(ledgers, (clean, spoilt), strict=True)]
    check_centers(models[1], 3, n_features, inside=Box(-1, 1))
    assert form_of(ledgers[0]) == form_of(ledgers[1])
    for name in ("cluster_centers_", "cluster_counts_", "labels_"):
        assert getattr(models[0], name).shape == getattr(models[1], name).shape
    frame = pd.DataFrame(spoilt)
    assert make().fit(frame).predict(frame).shape == (60,)


def test_float32_and_integers_are_fitted_as_they_are(make, rows):
    # Fault 15: a fit that breaks on float32.
    for dtype in (np.float32, np.float16, np.int8, np.uint8):
        model = make(random_state=1).fit(rows.astype(dtype))
        again = make(random_state=1).fit(rows.astype(dtype).astype(np.float64))
        assert model.cluster_centers_.dtype == np.float64
        assert np.array_equal(model.cluster_centers_, again.cluster_centers_)


def test_a_second_fit_may_have_other_bounds_and_other_columns(make, rows, generator):
    # Fault 15: a second fit with other bounds broke.
    model = make().fit(rows)
    model.set_params(bounds=Ball(10.0), n_clusters=4).fit(rows * 5)
    check_centers(model, 4, 2, inside=Ball(10.0))
    model.set_params(bounds=(0, 9), n_rounds=2).fit(pd.DataFrame(generator.uniform(0, 9, size=(50, 3)), columns=list("abc")))
    check_centers(model, 4, 3, inside=Box(0, 9))
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    model.fit(generator.uniform(0, 9, size=(50, 5)))
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 5


def test_labels_do_not_outlive_their_fit(make, rows, tmp_path):
    model = make().fit(rows)
    assert model.labels_.shape == (300,)
    path = tmp_path / "rows.parquet"
    pd.DataFrame(rows[:50], columns=["a", "b"]).to_parquet(path)
    model.fit(path)
    assert not hasattr(model, "labels_")
    assert model.fit_predict(path).shape == (50,)


def test_a_refused_fit_leaves_the_fitted_model_as_it_was(make, rows, generator):
    ledger = Ledger(epsilon=5.0, delta=1e-6)
    model = make(ledger=ledger, epsilon=5.0).fit(rows)
    labels = model.predict(rows)
    with pytest.raises(RuntimeError, match=r"Ledger\.reserve: this fit costs"):
        model.fit(generator.uniform(-1, 1, size=(50, 7)))
    assert np.array_equal(model.predict(rows), labels)


def test_noise_vanishes_as_epsilon_grows(make, rows):
    centers = make(epsilon=1e9, n_rounds=8, n_variations=30, random_state=0).fit(rows).cluster_centers_
    middles = np.array([[-0.6, -0.6], [0.6, -0.5], [0.0, 0.7]])
    assert np.linalg.norm(centers[:, None] - middles, axis=2).min(axis=0).max() < 0.1


@pytest.mark.parametrize(
    "estimator", [CoresetKMeans, FastLloyd, GridKMeans, GridSynopsis, KMeans, LloydKMeans, PEMeans, TreeKMeans]
)
@pytest.mark.parametrize("epsilon", [1e-98, 1e-17])
def test_a_budget_whose_noise_cannot_be_drawn_is_refused_before_anything_is_spent(estimator, epsilon):
    ledger = Ledger(epsilon=1.0)
    model = estimator(2, epsilon=epsilon, delta=0.0, bounds=(0, 1), ledger=ledger)
    with pytest.raises(ParameterError, match=r"\.epsilon: expected a budget whose noise can be drawn, got .*\. Spend more\."):
        model.fit(np.zeros((5, 2)))
    assert len(ledger.lines) == 1
    assert not hasattr(model, "n_features_in_")
