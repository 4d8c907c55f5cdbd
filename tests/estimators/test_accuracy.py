# SPDX-License-Identifier: Apache-2.0
"""Where noise vanishes, so does the difference from scikit-learn's KMeans."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from cloister import Ball, PEMeans


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
