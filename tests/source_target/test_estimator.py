# SPDX-License-Identifier: Apache-2.0
"""SourceTargetKMedoids: what it finds, every kind of table, the edges, and every refusal before anything is spent."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.vaults import refusal

from cloister import GDP, Ball, Box, load_release
from cloister.cluster import Progress
from cloister.cluster._target import Target
from cloister.exceptions import DataError, ParameterError

from .conftest import SURE

# -- what it finds ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "extra", [{}, {"delta": 1e-6}, {"epsilon": 30.0, "calibration": "paper", "bounds": Ball(15.0, [10.0, 0.0])}]
)
def test_chosen_points_avoid_what_the_source_covers(make, target, source, extra):
    model = make(4, confidence=SURE, **extra).fit(target, source=source)
    assert (model.cluster_centers_[:, 0] < 10).all()
    assert len(model.sanitized_source_) > 0
    assert (model.sanitized_source_[:, 0] > 10).all()
    details = model.release_.details
    assert details["served_by_source"] >= 55
    assert details["target_cost"] < details["cost_alone"] < details["cost_of_chosen"]


def test_without_a_source_both_groups_are_served(make, target):
    model = make(4, confidence=SURE).fit(target, source=np.empty((0, 2)))
    assert set(model.cluster_centers_[:, 0] > 10) == {True, False}
    assert model.target_cost_ == pytest.approx(model.release_.details["cost_alone"], rel=0.1)


@pytest.mark.parametrize("n_clusters", [1, 3])
def test_a_source_from_afar_covers_nothing(make, target, generator, n_clusters):
    """Rows outside the default domain are moved to its edge, which must not bring them near the target."""
    away = generator.normal((400.0, 0.0), 1, (600, 2))
    model = make(n_clusters, confidence=SURE).fit(target, source=away)
    assert model.release_.details["served_by_source"] == 0
    assert len(model.sanitized_source_) == 0


def test_an_average_at_the_clipping_radius_is_dropped(make):
    # All offsets are clipped: where the source really lies is not known, and it helps nobody.
    grid = np.array([[x, y] for x in range(10) for y in range(10)], dtype=float)
    settings = {"epsilon": 50.0, "confidence": SURE, "coreset_radius": 0.0, "bounds": Box(-50, 50)}
    model = make(20, **settings).fit(grid, source=np.tile([[40.0, 9.0]], (500, 1)))
    assert len(model.sanitized_source_) == 0


@pytest.mark.parametrize("method", ["nna", "nas"])
def test_the_choice_is_never_worse_than_ignoring_the_source(make, target, source, method):
    for state in range(4):
        model = make(3, method=method, epsilon=0.2, random_state=state).fit(target, source=source)
        alone = model._state_problem(Target(target, None), model._request(), Progress("", enabled=False)).alone
        nearest = [
            np.linalg.norm(target[:, None] - np.vstack([centers, model.sanitized_source_])[None], axis=2).min(axis=1).mean()
            for centers in (model.cluster_centers_, target[alone])
        ]
        assert nearest[0] == pytest.approx(model.target_cost_)
        assert nearest[0] <= nearest[1] + 1e-5


def test_fitted_numbers_agree_with_each_other(make, target, source):
    model = make(4).fit(target, source=source)
    assert np.array_equal(target[model.medoid_indices_], model.cluster_centers_)
    labels = model.predict(target)
    counts = np.bincount(labels + 1, minlength=5)
    assert counts[0] == model.release_.details["served_by_source"]
    assert counts[1:].tolist() == model.release_.cluster_counts.tolist()
    assert len(model.sanitized_source_) == len(model.sanitized_counts_)


def test_nas_stands_for_the_source_too(make, target, source):
    model = make(1, method="nas", guarantee=GDP(200.0), n_rows=600, coreset_radius=0.3).fit(target, source=source)
    assert (model.cluster_centers_[:, 0] < 10).all()
    assert np.array_equal(model.sanitized_counts_, np.ones(len(model.sanitized_source_)))


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "cosine"])
def test_other_metrics(make, target, source, metric):
    model = make(2, metric=metric).fit(target + 50, source=source + 50)
    assert model.predict(target + 50).max() <= 1
    assert np.isfinite(model.target_cost_)


@pytest.mark.parametrize("scale", [2.0**-200, 2.0**200])
def test_units_do_not_matter(make, target, source, scale):
    here = make(random_state=1).fit(target, source=source)
    there = make(random_state=1).fit(target * scale, source=source * scale)
    assert np.array_equal(there.medoid_indices_, here.medoid_indices_)
    assert there.sanitized_source_ == pytest.approx(here.sanitized_source_ * scale, rel=1e-12)
    assert there.target_cost_ == pytest.approx(here.target_cost_ * scale, rel=1e-12)
    assert np.array(there.release_.details["target"]) == pytest.approx(target * scale, abs=1e-4 * scale)


def test_coordinates_far_from_zero_do_not_blur_distances(make, target, source):
    shift = 5e6  # metres north of the equator
    here, there = (make(random_state=1).fit(target + far, source=source + far) for far in (0.0, shift))
    assert there.target_cost_ == pytest.approx(here.target_cost_, rel=0.2)  # roundoff may lead to another local optimum
    assert (there.cluster_centers_[:, 0] < shift + 10).sum() >= 2
    assert np.array(there.release_.details["target"]) == pytest.approx(target + shift, rel=1e-15, abs=1e-4)


# -- edges --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "questions"), [("nna", "nearest_counts nearest_sums"), ("nas", "row_count neighbour_means")]
)
def test_the_source_is_asked_twice(make, target, source, method, questions):
    model = make(method=method).fit(target, source=source)
    assert [event.question_name for event in model.privacy_receipt_.events] == questions.split()
    assert "source" not in repr(model)
    public = make(method=method, n_rows=600).fit(target, source=source).privacy_receipt_.events
    assert "row_count" not in [event.question_name for event in public], "a public size saves a question"


@pytest.mark.parametrize("solver", ["auto", "exact", "representatives"])
@pytest.mark.parametrize("k", [5, 6, 1000])
def test_more_clusters_than_targets(make, source, k, solver):
    target = np.arange(10.0).reshape(5, 2)
    model = make(k, solver=solver).fit(target, source=source)
    assert model.medoid_indices_.tolist() == [0, 1, 2, 3, 4]
    assert model.target_cost_ == 0
    assert model.predict(target).tolist() == [0, 1, 2, 3, 4]


def test_representatives_do_not_limit_the_choice(make, generator, source):
    target = generator.normal(size=(300, 2))
    for few in ({"coreset_radius": 1.0}, {"max_representatives": 3}):
        assert len(make(20, solver="representatives", **few).fit(target, source=source).medoid_indices_) == 20


@pytest.mark.parametrize("solver", ["exact", "representatives"])
def test_duplicate_targets(make, source, solver):
    model = make(3, solver=solver).fit(np.repeat([[0.0, 0.0], [1.0, 1.0]], 40, axis=0), source=source)
    assert model.target_cost_ == 0
    for one in (np.ones((10, 2)), np.full((1, 2), 3.0), np.full((4, 2), 1e9)):
        assert make(2, solver=solver).fit(one, source=source).target_cost_ == 0


def test_a_bad_row_of_the_target_is_named(make, target, source):
    target[17, 1] = np.nan
    for data in (target, pd.DataFrame(target), pl.DataFrame(target)):
        with refusal(DataError, r"\.target: expected finite numbers, got others in row 17\. The target is public") as ledger:
            make(ledger=ledger).fit(data, source=source)


# -- kinds of tables ----------------------------------------------------------------------------------------------------


def test_every_kind_of_target(make, target, source, tmp_path):
    """Sources of every kind are tested with all methods in tests/common/test_engines.py."""
    names, expected = ["east", "north"], make(random_state=4).fit(target, source=source).medoid_indices_
    pd.DataFrame(target, columns=names).to_parquet(tmp_path / "target.parquet")
    named = (pd.DataFrame(target, columns=names), pl.DataFrame(target, schema=names), tmp_path / "target.parquet")
    for one in (target.tolist(), *named):
        model = make(random_state=4).fit(one, source=source)
        assert np.array_equal(model.medoid_indices_, expected)
        assert model.release_.feature_names == (None if isinstance(one, list) else tuple(names))


# -- refusals -----------------------------------------------------------------------------------------------------------

BOUNDED = {"method": "nas", "distance_share": 0.1, "metric": "manhattan"}
PAIRS = np.repeat(np.arange(8.0)[:, None], 2, axis=1)
NAMED = [pd.DataFrame(np.eye(3, 2), columns=list(names)) for names in ("xy", "yx")]


@pytest.mark.parametrize(
    ("parameters", "target", "source", "error", "match"),
    [
        ({}, np.eye(3), None, ParameterError, r"source: expected the private table, got None\. Pass fit\(target, source="),
        ({}, np.empty((0, 2)), np.eye(2), ParameterError, r"\.target: expected at least one row"),
        ({}, np.eye(3, 2), np.eye(3, 1), DataError, r"\.source: expected 2 columns, as in the target, got 1\. Pass the same"),
        ({}, *NAMED, DataError, r"\.source: expected the target's columns in the target's order"),
        ({"solver": "exact"}, np.zeros((120, 2)), np.eye(2), ParameterError, r"expected at most 100 target points for 'exact'"),
        ({"metric": "correlation"}, PAIRS, np.eye(2), ParameterError, r"metric: expected a distance between any two target"),
        (BOUNDED, np.eye(3), np.eye(3), ParameterError, r"distance_share: expected 0 for another metric than 'euclidean'"),
    ],
)
def test_other_tables_are_refused_before_anything_is_spent(make, monkeypatch, parameters, target, source, error, match):
    monkeypatch.setattr("cloister.cluster._source_target.LARGEST_EXACT", 100)
    with refusal(error, match) as ledger, np.errstate(all="ignore"):
        make(ledger=ledger, **parameters).fit(target, source=source)


# -- a model as a thing -------------------------------------------------------------------------------------------------


def test_a_release_is_saved_and_predicts_as_the_model(make, target, source, tmp_path, generator):
    for metric in ("euclidean", "manhattan"):
        model = make(4, metric=metric).fit(target, source=source)
        model.release_.save(tmp_path / "release.json", overwrite=True)
        read = load_release(tmp_path / "release.json")
        new = generator.uniform(-10, 40, (300, 2))
        assert np.array_equal(read.predict(new), model.predict(new))
        assert -1 in model.predict(new)
        with pytest.raises(DataError, match=r"SourceTargetKMedoids\.X: expected finite numbers, got others in row 1"):
            model.predict([[0.0, 0.0], [np.nan, 0.0]])
        assert read.details == model.release_.details


def test_the_picture_shows_the_whole_target_evenly(make, source, generator):
    target = np.column_stack([np.arange(2999.0), np.zeros(2999)])
    details = make(2).fit(target, source=source).release_.details
    drawn = np.array(details["target"])[:, 0]
    assert details["n_target"] == 2999
    assert len(drawn) <= 1500
    assert (drawn[0], drawn[-1]) == (0, 2998)
    assert np.diff(drawn).max() <= 3


def test_progress_tells_about_the_long_public_parts(make, target, source, capfd, monkeypatch):
    said = []
    monkeypatch.setattr("cloister.cluster._progress.Progress.say", lambda progress, words: said.append(words))
    make(progress=True).fit(target, source=source)
    parts = ("representing 120 target points", "choosing as if there were no source", ", pass 1", "choosing beside the source")
    for part in (*parts, "Number and mean of the source points near each point", "measuring 120 target points"):
        assert any(part in words for words in said), part
    capfd.readouterr()
    make(progress=False).fit(target, source=source)
    assert capfd.readouterr() == ("", "")


def test_unfitted_models_and_other_columns_are_refused(make, target, source):
    with pytest.raises(ValueError, match="not fitted"):
        make().predict(target)
    with pytest.raises(DataError, match=r"X has 3 features, but SourceTargetKMedoids is expecting 2 features"):
        make().fit(target, source=source).predict(np.zeros((2, 3)))
