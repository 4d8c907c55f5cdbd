# SPDX-License-Identifier: Apache-2.0
"""All engines: an array, a frame, a file and a cluster lead to the same fit, to the last bit."""

import numpy as np
import pytest

from cloister.audit import AUDIT_ENGINES, installed
from cloister.audit._tables import as_table

from ._cases import every_clusterer, every_method, same

CLUSTERS = {"dask", "spark"}
HERE = [engine for engine in AUDIT_ENGINES if engine not in CLUSTERS]


@pytest.fixture
def hostile(rows):
    """Rows with everything that an engine may get wrong."""
    rows[3, 0], rows[5], rows[8, 1] = np.nan, np.inf, 1e300
    return rows


def check(case, engine, rows, folder):
    if not installed(engine):
        pytest.skip(f"{engine} is not installed")
    # Names of columns are the rows' own; what is found must not depend on them.
    assert same(case.fit(as_table(rows, engine, folder, "rows"), random_state=4), case.fit(rows, random_state=4))


@every_method
@pytest.mark.parametrize("engine", HERE)
def test_every_form_gives_the_same_fit(case, engine, hostile, tmp_path):
    check(case, engine, hostile, tmp_path)


@pytest.mark.slow
def test_dask_gives_the_same_fit(case, hostile, tmp_path, dask_client):
    with dask_client.as_current():
        check(case, "dask", hostile, tmp_path)


@pytest.mark.slow
@pytest.mark.xdist_group("spark")
@every_method
def test_spark_gives_the_same_fit(case, hostile, tmp_path, spark):
    check(case, "spark", hostile[:30], tmp_path)


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
