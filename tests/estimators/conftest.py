# SPDX-License-Identifier: Apache-2.0
"""Small, fast fits that the tests of the estimators share."""

import numpy as np
import pytest

from cloister import PEMeans

QUICK = {"n_rounds": 3, "n_variations": 10, "n_init": 1}


@pytest.fixture
def make():
    """Return a maker of quick estimators on [-1, 1], unless other options are given."""

    def make_model(n_clusters=3, **parameters):
        return PEMeans(n_clusters, **{"epsilon": 5.0, "bounds": (-1, 1), **QUICK, **parameters})

    return make_model


@pytest.fixture
def rows(generator):
    """Three clusters in the unit square."""
    middles = np.array([[-0.6, -0.6], [0.6, -0.5], [0.0, 0.7]])
    return np.repeat(middles, 100, axis=0) + 0.03 * generator.normal(size=(300, 2))
