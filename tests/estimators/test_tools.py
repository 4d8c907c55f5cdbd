# SPDX-License-Identifier: Apache-2.0
"""The estimator among scikit-learn's tools: pipelines, searches, clones, pickles, frames, threads and seeds."""

import pickle
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from cloister import Ledger, PEMeans, load_release, open_rows
from cloister.exceptions import BudgetExceeded, DataError, LedgerError


def nearest(rows, centers):
    return np.linalg.norm(rows[:, None] - centers, axis=2)


# -- using a fitted model ------------------------------------------------------------------------------------------------


def test_predictions_distances_and_score_agree(make, rows):
    model = make().fit(rows)
    distance = nearest(rows, model.cluster_centers_)
    assert np.allclose(model.transform(rows), distance, atol=1e-6)
    assert np.array_equal(model.predict(rows), distance.argmin(axis=1))
    assert np.array_equal(model.labels_, model.predict(rows))
    assert model.score(rows) == pytest.approx(-np.sum(distance.min(axis=1) ** 2), rel=1e-5)
    assert np.array_equal(make(random_state=1).fit_predict(rows), make(random_state=1).fit(rows).labels_)
    assert make(random_state=1).fit_transform(rows).shape == (300, 3)


def test_scaled_distances_are_in_half_widths_whatever_the_bounds(make, rows):
    for high in (1.0, 5.0):
        model = make(bounds=([-1, -1], [1, high]), scaling="bounds").fit(rows)
        half = np.array([1.0, (high + 1) / 2])
        assert np.allclose(model.transform(rows), nearest(rows / half, model.cluster_centers_ / half), atol=1e-6)


def test_no_rows_have_no_labels_and_no_distances(make, rows):
    model = make().fit(rows)
    assert model.predict(rows[:0]).shape == (0,)
    assert model.transform(rows[:0]).shape == (0, 3)
    assert model.score(rows[:0]) == 0


def test_using_a_model_costs_nothing(make, rows):
    ledger = Ledger(epsilon=5.0, delta=1e-6)
    model = make(ledger=ledger).fit(rows)
    before = ledger.lines
    model.predict(rows), model.transform(rows), model.score(rows), model.release_.predict(rows)
    assert ledger.lines == before


# -- frames and files ----------------------------------------------------------------------------------------------------


@pytest.fixture
def forms(rows, tmp_path):
    """One table in many forms, all with the columns left and right."""
    frame = pd.DataFrame(rows, columns=["left", "right"])
    frame.to_parquet(tmp_path / "rows.parquet")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    return {
        "pandas": frame,
        "polars": pl.from_pandas(frame),
        "arrow": pa.Table.from_pandas(frame),
        "parquet": tmp_path / "rows.parquet",
        "csv": str(tmp_path / "rows.csv"),
        "opened": open_rows(tmp_path / "rows.parquet"),
    }


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "parquet", "csv", "opened"])
def test_every_form_gives_the_same_fit(kind, forms, make, rows):
    model = make(random_state=4).fit(forms[kind])
    assert np.array_equal(model.cluster_centers_, make(random_state=4).fit(rows).cluster_centers_)
    assert model.feature_names_in_.tolist() == ["left", "right"]
    assert model.release_.feature_names == ("left", "right")
    for other in forms.values():
        assert np.array_equal(model.predict(other), model.predict(forms["pandas"]))


def test_files_are_predicted_by_name_and_not_by_place(make, rows, tmp_path):
    frame = pd.DataFrame(rows, columns=["left", "right"])
    model = make().fit(frame)
    swapped = tmp_path / "swapped.parquet"
    frame.assign(more=1.0)[["more", "right", "left"]].to_parquet(swapped)
    assert np.array_equal(model.predict(swapped), model.labels_)
    with pytest.raises(DataError, match=r"expected the columns left, right, got others\. Pass the same, in order"):
        model.predict(open_rows(swapped, columns=["right", "left"]))
    frame[["left"]].to_parquet(swapped)
    with pytest.raises(DataError, match=r"column 'right' is not in the table"):
        model.predict(swapped)


def test_a_shuffled_frame_is_the_same_table(make, rows, generator):
    frame = pd.DataFrame(rows, columns=["a", "b"])
    shuffled = frame.sample(frac=1, random_state=int(generator.integers(1000)))
    model = make(random_state=0).fit(shuffled)
    assert model.n_features_in_ == 2
    assert np.array_equal(model.cluster_centers_, make(random_state=0).fit(frame).cluster_centers_)


def test_the_output_can_be_a_frame(make, rows):
    frame = pd.DataFrame(rows, columns=["a", "b"], index=np.arange(300) + 1000)
    model = make().set_output(transform="pandas").fit(frame)
    table = model.transform(frame)
    assert list(table.columns) == list(model.get_feature_names_out()) == ["pemeans0", "pemeans1", "pemeans2"]
    assert table.index.equals(frame.index)
    assert make().set_output(transform="polars").fit(frame).transform(frame).shape == (300, 3)


# -- pipelines, searches, clones -----------------------------------------------------------------------------------------


def test_a_pipeline_carries_it(make, rows):
    halve = FunctionTransformer(lambda table: table / 2)
    pipeline = make_pipeline(halve, make(random_state=1)).fit(rows)
    assert np.array_equal(pipeline.predict(rows), make(random_state=1).fit(rows / 2).predict(rows / 2))


def test_a_clone_shares_the_ledger_and_nothing_else(make, rows):
    # Fault 2: an accountant passed as a parameter was deep-copied by clone.
    ledger = Ledger(epsilon=1.0, delta=1e-6)
    model = make(ledger=ledger, epsilon=0.4).fit(rows)
    copy = clone(model)
    assert copy.ledger is ledger
    assert not hasattr(copy, "cluster_centers_")
    copy.fit(rows)
    assert len([line for line in ledger.lines if line["kind"] == "reserve"]) == 2


def test_a_search_pays_for_every_fit(make, rows):
    ledger = Ledger(epsilon=100.0, delta=1e-6)
    search = GridSearchCV(make(ledger=ledger, epsilon=1.0), {"n_clusters": [2, np.int64(3)]}, cv=3).fit(rows)
    fits = [line for line in ledger.lines if line["kind"] == "reserve"]
    assert len(fits) == 2 * 3 + 1
    assert search.best_estimator_.release_.to_json()
    for fit in fits:
        events = [line for line in ledger.lines if line["kind"] == "debit" and line["account"] == fit["account"]]
        assert len(events) == 4


def test_cross_validation_cannot_overspend(make, rows):
    ledger = Ledger(epsilon=1.0, delta=1e-6)
    with pytest.raises(BudgetExceeded, match="is left"):
        cross_val_score(make(ledger=ledger, epsilon=0.8), rows, cv=5, error_score="raise")
    assert ledger.spent.fits(ledger.budget)


def test_parallel_fits_with_their_own_budget(make, rows):
    for backend in ("threading", "loky"):
        fitted = Parallel(n_jobs=2, backend=backend)(delayed(make(random_state=seed).fit)(rows) for seed in (1, 2))
        for seed, model in zip((1, 2), fitted, strict=True):
            assert np.array_equal(model.cluster_centers_, make(random_state=seed).fit(rows).cluster_centers_)


def test_parallel_fits_share_a_ledger_in_a_file_and_not_one_in_memory(make, rows, tmp_path):
    shared = Ledger.create(tmp_path / "budget.sqlite", epsilon=50.0, delta=1e-6)
    Parallel(n_jobs=2)(delayed(make(ledger=shared, epsilon=1.0).fit)(rows) for _ in range(3))
    assert len([line for line in shared.lines if line["kind"] == "reserve"]) == 3
    with pytest.raises(LedgerError, match="a copy of a ledger in memory"):
        Parallel(n_jobs=2)(delayed(make(ledger=Ledger(epsilon=50.0, delta=1e-6)).fit)(rows) for _ in range(2))


# -- pickles -------------------------------------------------------------------------------------------------------------


def test_a_pickle_predicts_the_same_and_holds_no_labels(make, rows):
    model = make(ledger=Ledger(epsilon=5.0, delta=1e-6)).fit(rows)
    again = pickle.loads(pickle.dumps(model))
    assert not hasattr(again, "labels_")
    assert hasattr(model, "labels_"), "pickling must not change the model"
    assert np.array_equal(again.predict(rows), model.predict(rows))
    assert again.release_.to_json() == model.release_.to_json()
    with pytest.raises(LedgerError, match="a copy of a ledger in memory"):
        again.fit(rows)


def test_an_unfitted_pickle_is_unfitted(make, rows):
    with pytest.raises(NotFittedError):
        pickle.loads(pickle.dumps(make())).predict(rows)


# -- seeds ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("parameters", [{}, {"delta": 0}, {"neighbours": "replace"}, {"projection": 1}, {"n_rows": 300}])
def test_a_seed_repeats_a_fit_and_stamps_the_receipt(parameters, make, rows, seed):
    first, second = (make(random_state=seed, **parameters).fit(rows) for _ in range(2))
    assert np.array_equal(first.cluster_centers_, second.cluster_centers_)
    assert np.array_equal(first.cluster_counts_, second.cluster_counts_)
    assert first.privacy_receipt_.seeded
    assert all(event.seeded for event in first.privacy_receipt_.events)
    assert not np.array_equal(first.cluster_counts_, make(random_state=seed + 1, **parameters).fit(rows).cluster_counts_)


def test_fits_without_a_seed_differ(make, rows):
    first, second = (make().fit(rows) for _ in range(2))
    assert not np.array_equal(first.cluster_centers_, second.cluster_centers_)
    assert not first.privacy_receipt_.seeded


def test_threads_order_and_batches_change_nothing(make, rows, generator, monkeypatch):
    expected = make(random_state=3).fit(rows)
    for n_jobs in (1, 2, 7):
        model = make(random_state=3, n_jobs=n_jobs).fit(rows)
        assert np.array_equal(model.cluster_centers_, expected.cluster_centers_)
    shuffled = make(random_state=3).fit(rows[generator.permutation(300)])
    assert np.array_equal(shuffled.cluster_centers_, expected.cluster_centers_)
    monkeypatch.setattr("cloister.data._numpy.block_rows", lambda n_features: 13)
    assert np.array_equal(make(random_state=3).fit(rows).cluster_centers_, expected.cluster_centers_)


# -- the rest ------------------------------------------------------------------------------------------------------------


def test_progress_goes_to_standard_error_alone(make, rows, capsys):
    make(progress=True).fit(rows)
    assert capsys.readouterr().out == ""


def test_the_release_of_a_fit_is_the_fit(make, rows, tmp_path):
    model = make(n_clusters=np.int64(3), epsilon=np.float32(2.0)).fit(rows)
    model.release_.save(tmp_path / "release.json")
    again = load_release(tmp_path / "release.json")
    assert np.array_equal(again.predict(rows), model.predict(rows))
    assert np.array_equal(again.cluster_centers, model.cluster_centers_)
    assert again.parameters["n_clusters"] == 3


def test_the_rows_are_neither_kept_nor_copied_by_a_fit(make, generator):
    # Fault 10: the raw data kept inside the result object.
    rows = generator.uniform(-1, 1, size=(200_000, 4))
    model = make(n_rounds=1, n_variations=2, n_jobs=1).fit(rows[:1000])
    tracemalloc.start()
    model.fit(rows)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del model.labels_
    assert kept < rows.nbytes / 2
    assert len(pickle.dumps(model)) < 100_000


def test_the_default_estimator_prints_what_was_set():
    assert repr(PEMeans(3, bounds=(0, 1))) == "PEMeans(bounds=(0, 1), n_clusters=3)"
