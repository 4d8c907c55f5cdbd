# SPDX-License-Identifier: Apache-2.0
"""Labels of rows come in the order of the rows, whatever holds them and however many threads look at them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.vault._files import arrow, written

from cloister import Ball, KMeans, open_rows
from cloister.data._backend import FEW_NUMBERS

SIZES = [0, 1, 50, FEW_NUMBERS // 2, FEW_NUMBERS + 1, 200_000]
HOLDERS = {
    "array": lambda table, path: table,
    "columns side by side": lambda table, path: np.asfortranarray(table),
    "pandas": lambda table, path: pd.DataFrame(table, columns=["a", "b"]),
    "polars": lambda table, path: pl.DataFrame(table, schema=["a", "b"]),
    "arrow": lambda table, path: arrow(table),
    "parquet": lambda table, path: written(table, path, "parquet"),
    "csv": lambda table, path: written(table, path, "csv"),
}


def first_column(block):
    return np.asarray(block)[:, 0].astype(np.int64)


@pytest.mark.fast("array-*", "polars-1-*", "csv-3-*")
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("holder", HOLDERS)
def test_labels_are_in_the_order_of_the_rows(holder, n_jobs, size, tmp_path):
    table = np.stack([np.arange(size), np.ones(size)], axis=1).astype(np.float64)
    rows = open_rows(HOLDERS[holder](table, tmp_path), n_jobs=n_jobs)
    labels = rows.label(first_column)
    assert labels.dtype == np.int64
    assert np.array_equal(labels, np.arange(size))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_fit_labels_its_rows_as_prediction_does(n_jobs, generator):
    middles = np.array([[0.5, 0.0], [-0.5, 0.0], [0.0, 0.5]])
    rows = middles[generator.integers(3, size=40_000)] + 0.05 * generator.normal(size=(40_000, 2))
    model = KMeans(3, epsilon=5.0, bounds=Ball(1.0), n_jobs=n_jobs, random_state=0).fit(rows)
    offsets = rows[:, None, :] - model.cluster_centers_
    assert np.mean(model.labels_ == np.argmin(np.sum(offsets**2, axis=2), axis=1)) > 0.999
    assert np.array_equal(model.labels_, model.predict(rows))
    assert np.array_equal(model.labels_[:7], model.predict(rows[:7]))
    assert np.array_equal(model.labels_, model.predict(pd.DataFrame(rows)))
