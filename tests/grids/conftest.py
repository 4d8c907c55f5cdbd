# SPDX-License-Identifier: Apache-2.0
"""Synopses of small tables, and synopses made by hand whose truth and noise are known."""

import numpy as np
import pytest
from tests.releases import synopsis_by_hand

from cloister import GridSynopsis


@pytest.fixture
def rows(generator):
    """Three clusters in the unit square."""
    middles = np.array([[0.2, 0.2], [0.8, 0.3], [0.5, 0.8]])
    return np.repeat(middles, 400, axis=0) + 0.04 * generator.normal(size=(1200, 2))


@pytest.fixture
def fit(rows, seed):
    """Return a maker of synopses of the rows."""

    def make(table=rows, **parameters):
        given = {"n_clusters": 3, "epsilon": 2.0, "bounds": (0, 1), "n_rows": len(table), "random_state": seed, **parameters}
        return GridSynopsis(**given).fit(table).synopsis_

    return make


@pytest.fixture
def by_hand():
    """Return a maker of synopses from given counts."""
    return synopsis_by_hand
