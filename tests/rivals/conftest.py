# SPDX-License-Identifier: Apache-2.0
"""The table that rivals are fitted to."""

import numpy as np
import pytest

from ..common._cases import draw_rows


@pytest.fixture
def rows(generator: np.random.Generator) -> np.ndarray:
    return draw_rows(generator)
