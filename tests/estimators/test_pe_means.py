# SPDX-License-Identifier: Apache-2.0
"""PEMeans' own laws; and, on this one for all, what does not depend on the method: files, processes and memory."""

import pickle
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from cloister import Ball, PEMeans, open_rows
from cloister.cluster import plan_fit
from cloister.exceptions import DataError

from ..common._cases import MIDDLES, draw_rows

QUICK = {"n_rounds": 3, "n_variations": 10, "n_init": 1}


def make(n_clusters=3, **parameters):
    return PEMeans(n_clusters, **{"epsilon": 5.0, "bounds": (-1, 1), **QUICK, **parameters})


@pytest.fixture
def rows(generator):
    return draw_rows(generator)


# -- its own laws --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("projection", ["auto", None, 1, 5, 40, 100])
@pytest.mark.parametrize("options", [{"epsilon": 1.0}, {"epsilon": 1.0, "delta": 0}, {"neighbours": "replace"}], ids=str)
def test_many_dimensions_with_and_without_projection(projection, options, generator):
    rows = generator.normal(size=(100, 40)) / 10
    model = make(3, projection=projection, **options).fit(rows)
    assert model.cluster_centers_.shape == (3, 40)
    assert np.abs(model.cluster_centers_).max() <= 1 + 1e-12
    names = [event.question_name for event in model.privacy_receipt_.events]
    projected = projection in (1, 5)  # with 100 rows the lift would be nothing but noise, so "auto" does not
    assert names == ["row_count", *["nearest_counts"] * 3, *(["nearest_counts", "nearest_sums"] if projected else [])]


@pytest.mark.parametrize("options", [{}, {"delta": 0}, {"neighbours": "replace"}, {"n_rounds": 3}], ids=str)
@pytest.mark.parametrize(("n_features", "n_clusters"), [(32, 5), (33, 5), (128, 5), (64, 32)])
def test_the_projection_is_decided_by_the_noise_that_the_lift_would_have(options, n_features, n_clusters):
    sizes = np.geomspace(100, 1e7, 40).astype(int).tolist()
    decided = []
    for n_rows in sizes:
        given = {"epsilon": 1.0, "delta": 1e-9, "bounds": (-1, 1), "n_rows": n_rows, **options}
        lift = plan_fit(PEMeans(n_clusters, projection=16, **given), n_features).average
        error = n_features**0.5 * lift.sigma("sums") / (n_rows / n_clusters)
        plan = plan_fit(PEMeans(n_clusters, **given), n_features)
        assert (plan.average is not None) == (plan.dimension == 16) == (n_features > 32 and error <= 0.18)  # as documented
        decided.append(plan.average is not None)
    assert decided == sorted(decided)
    assert set(decided) == {False, n_features > 32}


@pytest.mark.parametrize(("n_rows", "projection"), [(60, None), (30_000, 16)])
@pytest.mark.parametrize("public", [True, False])
def test_a_wide_fit_is_that_of_the_variant_that_is_chosen(n_rows, projection, public, generator, seed):
    # Where the number of rows is not public, the noisy one decides: before it is known the plan is the plain one.
    rows = generator.normal(size=(n_rows, 40)) / 20
    given = {"n_rounds": 2, "n_variations": 4, "random_state": seed, "n_rows": n_rows if public else None}
    chosen, explicit = (make(3, projection=one, **given).fit(rows) for one in ("auto", projection))
    assert (plan_fit(chosen, 40).average is not None) == (public and projection is not None)
    assert chosen.plan_ == explicit.plan_
    assert np.array_equal(chosen.cluster_centers_, explicit.cluster_centers_)


@pytest.mark.parametrize(("projection", "rounds"), [(1, 2), (2, 3), (5, 6), (16, 14), (30, 19), (40, 25)])
@pytest.mark.parametrize("epsilon", [0.25, 1.0, 4.0])
def test_a_projection_keeps_two_of_the_rounds_for_the_way_back(projection, rounds, epsilon):
    # Algorithm 3 calls PE-means with T - 2 rounds, T = int(4 sqrt(p)); of 40 columns, 40 is no projection.
    votes = plan_fit(PEMeans(3, epsilon=epsilon, bounds=(-1, 1), n_rows=1000, projection=projection), 40).votes
    assert len(votes) == (int(25 * max(epsilon, 1)) if projection == 40 else rounds)


def test_noise_vanishes_as_epsilon_grows(rows):
    centers = make(epsilon=1e9, n_rounds=8, n_variations=30, random_state=0).fit(rows).cluster_centers_
    assert np.linalg.norm(centers[:, None] - MIDDLES, axis=2).min(axis=0).max() < 0.1


def test_scaled_distances_are_in_half_widths_whatever_the_bounds(rows):
    for high in (1.0, 5.0):
        model = make(bounds=([-1, -1], [1, high]), scaling="bounds").fit(rows)
        half = np.array([1.0, (high + 1) / 2])
        distances = np.linalg.norm((rows / half)[:, None] - model.cluster_centers_ / half, axis=2)
        assert np.allclose(model.transform(rows), distances, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("n_rows", [None, 20_000])
def test_without_noise_the_loss_is_that_of_k_means(n_rows, seed):
    rows, _ = make_blobs(n_samples=20_000, n_features=4, centers=4, random_state=1)
    rows = np.round(rows, 4) - np.round(rows, 4).mean(axis=0)
    rows /= np.linalg.norm(rows, axis=1).max()
    best = KMeans(4, n_init=10, random_state=0).fit(rows).inertia_
    model = PEMeans(4, epsilon=1e6, bounds=Ball(1.0), n_rows=n_rows, random_state=seed).fit(rows)
    assert -model.score(rows) <= 1.01 * best
    assert np.abs(np.sort(model.cluster_counts_) - 5000).max() < 250


# -- files ---------------------------------------------------------------------------------------------------------------


def test_files_are_predicted_by_name_and_not_by_place(rows, tmp_path):
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


# -- processes and memory ------------------------------------------------------------------------------------------------


def test_the_rows_are_neither_kept_nor_copied_by_a_fit(generator):
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
