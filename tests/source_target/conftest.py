# SPDX-License-Identifier: Apache-2.0
"""A target of two groups, and a source that covers one of them."""

import numpy as np
import pytest
from tests.cli.conftest import refused, run  # noqa: F401

from cloister import SourceTargetKMedoids

SURE = 1 - 1e-9  # a confidence at which noise alone is not taken for source points
LEFT, RIGHT = (0.0, 0.0), (20.0, 0.0)


@pytest.fixture
def make():
    """Return a maker of quick estimators."""

    def make_model(n_clusters=3, **parameters):
        return SourceTargetKMedoids(n_clusters, **{"epsilon": 5.0, "n_jobs": 1, "n_init": 1, **parameters})

    return make_model


@pytest.fixture
def target(generator):
    return np.vstack([generator.normal(LEFT, 1, (60, 2)), generator.normal(RIGHT, 1, (60, 2))])


@pytest.fixture
def source(generator):
    return generator.normal(RIGHT, 1, (600, 2))
