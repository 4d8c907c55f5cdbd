# SPDX-License-Identifier: Apache-2.0
"""The table that the tests of clusters share."""

import numpy as np
import pytest


@pytest.fixture
def rows(generator):
    """Three clusters in the unit square, one row of it missing."""
    table = np.repeat([[-0.6, -0.6], [0.6, -0.5], [0.0, 0.7]], 200, axis=0) + 0.03 * generator.normal(size=(600, 2))
    table[17] = np.nan
    return table
