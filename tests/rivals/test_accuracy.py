# SPDX-License-Identifier: Apache-2.0
"""Methods of others are as good as they are known to be."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from cloister import Ball
from cloister.rivals import CoresetKMeans, TreeKMeans


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "options"),
    [(CoresetKMeans, {}), (TreeKMeans, {}), (TreeKMeans, {"start": "counts", "neighbours": "replace"})],
)
def test_separated_clusters_are_found(kind, options, generator):
    """The mean loss of five fits at epsilon 1 is at most 10 % above the spread of the blobs.

    About 1 % was measured; one cluster missed in one of the fits would raise it by more than a quarter.
    """
    rows = make_blobs(20_000, n_features=4, centers=4, random_state=1)[0]
    rows -= rows.mean(axis=0)
    bounds = Ball(np.linalg.norm(rows, axis=1).max())
    seeds = generator.integers(2**31, size=5)
    models = [kind(4, epsilon=1.0, bounds=bounds, random_state=int(seed), **options).fit(rows) for seed in seeds]
    assert np.mean([-model.score(rows) / len(rows) for model in models]) < 1.10 * 4.0  # of deviation 1 in four dimensions
