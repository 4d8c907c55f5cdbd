# SPDX-License-Identifier: Apache-2.0
"""What every estimator with centres publishes: noisy counts, the bounds that were passed, and never the seed of its noise."""

import pickle

import numpy as np
import pytest

from cloister import Box

from ._cases import every_clusterer, every_method

NOISE_SEED = 918_273_645  # in no other number of a release, but by a chance of 1e-6 or less


@every_clusterer
def test_counts_are_the_noisy_ones(case, rows):
    # Noise of several rows on each of three counts, four times: that all of it is zero has a probability below 1e-6.
    for _ in range(4):
        model = case.fit(rows, epsilon=0.5)
        assert np.array_equal(model.cluster_counts_, model.release_.cluster_counts)
        if not np.array_equal(model.cluster_counts_, np.bincount(model.labels_, minlength=3)):
            return
    pytest.fail("the counts of four fits are exact")


@every_method
def test_the_seed_is_in_no_release(case, rows):
    model = case.fit(rows, random_state=NOISE_SEED)
    assert model.privacy_receipt_.seeded
    published = case.published(model)
    for text in (repr(published), repr(model.privacy_receipt_), str(published.to_dict())):
        assert str(NOISE_SEED) not in text
    assert NOISE_SEED.to_bytes(4, "little") not in pickle.dumps(published)


@every_clusterer
@pytest.mark.parametrize("size", [1.0, 1e-3])
def test_bounds_are_those_that_were_passed(case, size, rows):
    model = case.fit(rows * size, bounds=Box([-3.0, -2.0], [3.0, 2.0]))
    assert model.release_.domain.to_dict() == {"kind": "box", "low": [-3.0, -2.0], "high": [3.0, 2.0]}


@every_clusterer
def test_a_pickled_model_holds_no_label(case, rows):
    model = case.fit(rows)
    labels, pickled = model.labels_, pickle.dumps(model)
    assert len(set(labels)) > 1
    for kind in (np.int64, np.int32, np.int8, np.float64):
        assert labels.astype(kind).tobytes() not in pickled
