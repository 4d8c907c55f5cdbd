# SPDX-License-Identifier: Apache-2.0
"""Every method among scikit-learn's tools: clones, pickles, parameters, pipelines, searches, frames and seeds."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

from cloister import Ledger, load_release, load_synopsis
from cloister.exceptions import BudgetExceeded, LedgerError

from ._cases import RELATIONS, every_clusterer, every_method, same


def reserved(ledger):
    return [line for line in ledger.lines if line["kind"] == "reserve"]


# -- using a fitted model ------------------------------------------------------------------------------------------------


@every_clusterer
def test_predictions_distances_and_score_agree(case, rows):
    model = case.fit(rows, random_state=1)
    distance = np.linalg.norm(rows[:, None] - model.cluster_centers_, axis=2)
    assert np.allclose(model.transform(rows), distance, atol=1e-6)
    assert np.array_equal(model.predict(rows), distance.argmin(axis=1))
    assert np.array_equal(model.labels_, model.predict(rows))
    assert model.score(rows) == pytest.approx(-np.sum(distance.min(axis=1) ** 2), rel=1e-5)
    assert np.array_equal(case.make(random_state=1).fit_predict(rows), model.labels_)
    assert case.make().fit_transform(rows).shape == (len(rows), 3)
    assert model.predict(rows[:0]).shape == (0,)
    assert model.transform(rows[:0]).shape == (0, 3)
    assert model.score(rows[:0]) == 0


@every_clusterer
def test_using_a_model_costs_nothing(case, rows):
    ledger = Ledger(epsilon=5.0, delta=1e-6)
    model = case.fit(rows, ledger=ledger)
    before = ledger.lines
    model.predict(rows), model.transform(rows), model.score(rows), model.release_.predict(rows)
    assert ledger.lines == before


# -- parameters, clones, pipelines, searches -----------------------------------------------------------------------------


@every_method
def test_parameters_can_be_read_set_and_cloned(case, rows):
    model = case.make(random_state=2)
    assert type(model)(**model.get_params()).get_params() == model.get_params()
    assert model.set_params(n_clusters=2, epsilon=7.0) is model
    assert (model.get_params()["n_clusters"], model.epsilon) == (2, 7.0)
    fitted = case.fit_to(model, rows)
    again = clone(fitted)
    assert again.get_params() == fitted.get_params()
    assert not hasattr(again, "privacy_receipt_")
    assert same(case.fit_to(again, rows), fitted)
    words = repr(case.method.estimator(3, bounds=(0, 1)))
    assert words == f"{case.name}(bounds=(0, 1), n_clusters=3)"


@every_method
def test_a_clone_shares_the_ledger_and_nothing_else(case, rows):
    # Fault 2: an accountant passed as a parameter was deep-copied by clone.
    ledger = Ledger(epsilon=1.0, delta=1e-6)
    copy = clone(case.fit(rows, ledger=ledger, epsilon=0.4))
    assert copy.ledger is ledger
    case.fit_to(copy, rows)
    assert len(reserved(ledger)) == 2


@pytest.mark.fast("KMeans")
@every_clusterer
def test_a_search_pays_for_every_fit_and_cannot_overspend(case, rows):
    ledger = Ledger(epsilon=100.0, delta=1e-6)
    search = GridSearchCV(case.make(ledger=ledger, epsilon=1.0), {"n_clusters": [2, np.int64(3)]}, cv=2).fit(rows)
    assert len(reserved(ledger)) == 2 * 2 + 1
    assert search.best_estimator_.release_.to_json()
    small = Ledger(epsilon=1.0, delta=1e-6)
    with pytest.raises(BudgetExceeded, match="is left"):
        cross_val_score(case.make(ledger=small, epsilon=0.8), rows, cv=3, error_score="raise")
    assert small.spent.fits(small.budget)


# -- pickles and files ---------------------------------------------------------------------------------------------------


@every_method
def test_a_pickle_holds_the_same_and_cannot_spend_a_ledger_in_memory(case, rows):
    model = case.fit(rows, ledger=Ledger(epsilon=5.0, delta=1e-6))
    again = pickle.loads(pickle.dumps(model))
    assert same(again, model)
    assert not hasattr(again, "labels_")
    assert hasattr(model, "labels_") == case.has_centers, "pickling must not change the model"
    if case.kind != "synopsis":
        assert np.array_equal(again.predict(rows), model.predict(rows))
        assert again.release_.to_json() == model.release_.to_json()
    with pytest.raises(LedgerError, match="a copy of a ledger in memory"):
        case.fit_to(again, rows)


@every_method
def test_what_is_published_is_saved_and_read_as_it_is(case, rows, tmp_path):
    model = case.fit(rows, np.int64(3), epsilon=np.float32(2.0))
    path = tmp_path / "published.json"
    case.published(model).save(path)
    if case.kind == "synopsis":
        assert np.array_equal(load_synopsis(path).noisy_counts, model.synopsis_.noisy_counts)
        return
    again = load_release(path)
    assert again.method == case.name
    assert again.parameters["n_clusters"] == 3
    assert np.array_equal(again.cluster_centers, model.cluster_centers_)
    assert np.array_equal(again.predict(rows), model.predict(rows))


# -- seeds ---------------------------------------------------------------------------------------------------------------


@pytest.mark.fast("KMeans-*", "GridSynopsis-replace", "SourceTargetKMedoids-add-remove")
@pytest.mark.parametrize("neighbours", RELATIONS)
def test_a_seed_repeats_a_fit_and_stamps_the_receipt(case, neighbours, rows, seed):
    first, second = (case.fit(rows, random_state=seed, neighbours=neighbours) for _ in range(2))
    assert same(first, second)
    assert first.privacy_receipt_.seeded
    assert all(event.seeded for event in first.privacy_receipt_.events)


@every_method
def test_fits_without_a_seed_differ(case, rows):
    first, second = (case.fit(rows, epsilon=0.5) for _ in range(2))
    assert not same(first, second)
    assert not first.privacy_receipt_.seeded
    assert not same(first, case.fit(rows, epsilon=0.5, random_state=1))


@every_method
def test_progress_goes_to_standard_error_alone(case, rows, capsys):
    case.fit(rows, progress=True)
    assert capsys.readouterr().out == ""
