# SPDX-License-Identifier: Apache-2.0
"""What every estimator with centres publishes: noisy counts, the bounds that were passed, and never the seed of its noise."""

import pickle

import numpy as np
import pytest

import cloister
from cloister import Box

ESTIMATORS = ("CoresetKMeans", "FastLloyd", "GridKMeans", "KMeans", "LloydKMeans", "PEMeans", "TreeKMeans")
NOISE_SEED = 918_273_645  # in no other number of a release, but by a chance of 1e-6 or less


def fitted(name, rows, **parameters):
    return getattr(cloister, name)(3, **{"epsilon": 2.0, "bounds": (-1, 1), **parameters}).fit(rows)


def test_every_estimator_with_centres_is_here():
    public = {name for name in cloister.__all__ if hasattr(getattr(cloister, name), "cluster_centers_")}
    public |= {name for name in cloister.__all__ if name.endswith(("KMeans", "Lloyd", "PEMeans"))}
    assert public == set(ESTIMATORS)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_counts_are_the_noisy_ones(name, rows):
    # Noise of several rows on each of three counts, four times: that all of it is zero has a probability below 1e-6.
    for _ in range(4):
        model = fitted(name, rows, epsilon=0.5)
        assert np.array_equal(model.cluster_counts_, model.release_.cluster_counts)
        if not np.array_equal(model.cluster_counts_, np.bincount(model.labels_, minlength=3)):
            return
    pytest.fail("the counts of four fits are exact")


@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_seed_is_in_no_release(name, rows):
    model = fitted(name, rows, random_state=NOISE_SEED)
    assert model.privacy_receipt_.seeded
    for text in (model.release_.to_json(), repr(model.release_), repr(model.privacy_receipt_), str(model.release_.to_dict())):
        assert str(NOISE_SEED) not in text
    assert NOISE_SEED.to_bytes(4, "little") not in pickle.dumps(model.release_)


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("size", [1.0, 1e-3])
def test_bounds_are_those_that_were_passed(name, size, rows):
    model = fitted(name, rows * size, bounds=Box([-3.0, -2.0], [3.0, 2.0]))
    assert model.release_.domain.to_dict() == {"kind": "box", "low": [-3.0, -2.0], "high": [3.0, 2.0]}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_pickled_model_holds_no_label(name, rows):
    model = fitted(name, rows)
    labels, pickled = model.labels_, pickle.dumps(model)
    assert len(set(labels)) > 1
    for kind in (np.int64, np.int32, np.int8, np.float64):
        assert labels.astype(kind).tobytes() not in pickled
