# SPDX-License-Identifier: Apache-2.0
"""All engines: an array, a frame, a file and a cluster lead to the same fit, to the last bit."""

import numpy as np
import pytest

from cloister.audit import AUDIT_ENGINES, installed
from cloister.audit._tables import as_table

from ._cases import every_clusterer, every_method, same


@pytest.fixture
def hostile(rows):
    """Rows with everything that an engine may get wrong."""
    rows[3, 0], rows[5], rows[8, 1] = np.nan, np.inf, 1e300
    return rows


def check(case, table, rows):
    """Fit a table and its rows; names of columns are the table's own, and what is found does not depend on them."""
    model = case.fit(table, random_state=4)
    assert same(model, case.fit(rows, random_state=4))
    assert model.n_features_in_ == 2
    return model


@pytest.mark.fast("*-KMeans", "parquet-GridSynopsis", "csv-SourceTargetKMedoids")
@every_method
@pytest.mark.parametrize("engine", [engine for engine in AUDIT_ENGINES if engine != "spark"])
def test_every_form_gives_the_same_fit(case, engine, hostile, tmp_path):
    if not installed(engine):
        pytest.skip(f"{engine} is not installed")
    check(case, as_table(hostile, engine, tmp_path, "rows"), hostile)


@pytest.mark.slow
@every_method
def test_workers_of_dask_give_the_same_fit(case, hostile, tmp_path, dask_client):
    with dask_client.as_current():
        model = check(case, as_table(hostile, "dask", tmp_path, "rows"), hostile)
    assert not hasattr(model, "labels_")


@pytest.mark.slow
@every_method
def test_spark_gives_the_same_fit_and_rows_stay_where_they_are(case, hostile, tmp_path, spark, monkeypatch):
    frame = as_table(hostile[:30], "spark", tmp_path, "rows")
    for method in ("collect", "toPandas", "toArrow", "toLocalIterator", "take", "head"):
        monkeypatch.setattr(type(frame), method, lambda *_, **__: pytest.fail("rows stay where they are"))
    model = check(case, frame, hostile[:30])
    assert not hasattr(model, "labels_")
    if case.kind != "source-target":  # whose columns are those of the target
        assert model.feature_names_in_.tolist() == ["c0", "c1"]


@pytest.mark.fast("KMeans", "GridSynopsis", "SourceTargetKMedoids")
@every_method
def test_threads_order_and_batches_change_nothing(case, rows, generator, monkeypatch):
    expected = case.fit(rows, random_state=3)
    for n_jobs in (2, 7):
        assert same(expected, case.fit(rows, random_state=3, n_jobs=n_jobs))
    assert same(expected, case.fit(rows[generator.permutation(len(rows))], random_state=3))
    assert same(expected, case.fit(np.asfortranarray(rows), random_state=3))
    monkeypatch.setattr("cloister.data._backend.block_rows", lambda n_features: 13)
    assert same(expected, case.fit(rows, random_state=3))


@every_clusterer
def test_labels_are_for_rows_in_memory_and_do_not_outlive_their_fit(case, rows, tmp_path):
    path = as_table(rows, "parquet", tmp_path, "rows")
    model = case.fit(rows, random_state=1)
    assert model.labels_.shape == (len(rows),)
    assert np.array_equal(model.predict(path), model.labels_)
    model.fit(path)
    assert not hasattr(model, "labels_")
    assert model.feature_names_in_.tolist() == list(model.release_.feature_names) == ["c0", "c1"]
    assert model.fit_predict(path).shape == (len(rows),)
