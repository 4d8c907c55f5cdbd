# SPDX-License-Identifier: Apache-2.0
"""Rows with missing values: predict, transform and a saved release compare them by the columns that are there."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from cloister import Category, Cyclic, KMeans, Number, PEMeans, Release
from cloister.columns import Table
from cloister.nearest import nearest_center, squares_to_centers

COLUMNS = {
    "age": Number(0, 100),
    "ward": Category(["a", "b", "c"]),
    "hour": Cyclic(24),
    "dose": Number(0, 10, missing=0),
    "score": Number(0, 1, missing="own"),
    "middle": Number(-1, 1, missing="middle"),
}
TABLE = Table(tuple(COLUMNS.values()))
LEFT_OUT = (0, 1, 2)  # columns whose missing values stand at a mean


def _frame():
    places = np.concatenate([TABLE.frame().center])
    return TABLE.frame(missing=places)


def _draw(generator, size):
    rows = np.stack(
        [
            generator.uniform(0, 100, size),
            generator.integers(0, 3, size),
            generator.uniform(0, 24, size),
            generator.uniform(0, 10, size),
            generator.random(size),
            generator.uniform(-1, 1, size),
        ],
        axis=1,
    )
    rows[generator.random(rows.shape) < 0.3] = np.nan
    return rows


@given(st.integers(0, 2**32 - 1))
def test_missing_values_that_stand_at_a_mean_do_not_count_in_distances(state):
    generator, frame = np.random.default_rng(state), _frame()
    rows, centers = _draw(generator, 40), frame.from_unit(frame.draw(generator, 4))
    clean, points, cuts = frame.clean(rows), frame.to_unit(centers), frame.domain.frame(missing=frame.missing)._cuts
    expected = np.empty((len(rows), len(centers)))
    for index, row in enumerate(rows):
        gone = [column for column in LEFT_OUT if np.isnan(row[column])]
        there = np.ones(frame.n_features, dtype=bool)
        for column in gone:
            there[cuts[column][1]] = False
        expected[index] = np.sum((clean[index, there] - points[:, there]) ** 2, axis=1)
    found = squares_to_centers(frame, centers, rows)
    assert np.allclose(found, expected, atol=1e-9)
    labels = nearest_center(frame, centers, rows)
    assert np.all(expected[np.arange(len(rows)), labels] <= expected.min(axis=1) + 1e-6)


def test_a_row_that_lacks_everything_lies_at_the_mean_and_others_are_where_they_were(generator):
    table = Table((Number(0, 100), Number(0, 1)))
    frame = table.frame(missing=np.array([80.0, 0.2]))
    centers = np.array([[50.0, 0.5], [78.0, 0.25]])
    assert nearest_center(frame, centers, np.array([[np.nan, np.inf]])).tolist() == [1]
    whole = np.stack([generator.uniform(0, 100, 50), generator.random(50)], axis=1)
    with_gap = np.vstack([whole, [[np.nan, 0.5]]])
    assert np.array_equal(nearest_center(frame, centers, whole), nearest_center(frame, centers, with_gap)[:50])
    assert nearest_center(frame, centers, with_gap)[-1] == 0  # by the second column alone


@pytest.mark.parametrize("bounds", [(-1, 1), {f"c{index}": Number(-1, 1) for index in range(5)}], ids=["plain", "declared"])
@pytest.mark.parametrize("estimator", [KMeans, PEMeans])
def test_every_way_to_labels_leaves_gaps_out(estimator, bounds):
    generator = np.random.default_rng(1)
    middles, owner = generator.uniform(-0.8, 0.8, (4, 5)), generator.integers(0, 4, 8000)
    rows = np.clip(middles[owner] + 0.08 * generator.standard_normal((8000, 5)), -1, 1)
    rows[generator.random(rows.shape) < 0.2] = np.nan
    table = pd.DataFrame(rows, columns=[f"c{index}" for index in range(5)])
    model = estimator(4, epsilon=4.0, bounds=bounds, random_state=0).fit(table)
    labels = model.predict(table)
    partial = np.nansum((rows[:, None] - model.cluster_centers_) ** 2, axis=2)
    partial[np.isnan(rows).all(axis=1)] = np.nan
    known = ~np.isnan(partial[:, 0])
    assert np.mean(labels[known] == partial[known].argmin(axis=1)) > 0.999
    assert np.array_equal(labels, Release.from_dict(model.release_.to_dict()).predict(table))
    if hasattr(model, "labels_"):
        assert np.array_equal(labels, model.labels_)
    distances = model.transform(table)
    assert np.mean(labels == distances.argmin(axis=1)) > 0.999
    assert model.score(table) == pytest.approx(-np.sum(distances.min(axis=1) ** 2))
    if estimator is KMeans:
        assert adjusted_rand_score(owner, labels) > 0.9


def test_where_missing_values_were_said_to_lie_they_count_there():
    """Of a column with a place of its own for what is missing, a missing value is an answer like others."""
    generator = np.random.default_rng(2)
    owner = generator.integers(0, 2, 4000)
    table = pd.DataFrame(
        {"dose": np.where(owner == 1, generator.normal(8, 0.5, 4000), np.nan), "age": 50 + generator.normal(size=4000)}
    )
    columns = {"dose": Number(0, 10, missing=0), "age": Number(0, 100)}
    model = KMeans(2, epsilon=4.0, bounds=columns, scaling="bounds", random_state=0).fit(table)
    assert adjusted_rand_score(owner, model.predict(table)) > 0.95
