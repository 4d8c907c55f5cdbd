# SPDX-License-Identifier: Apache-2.0
"""Bad rows: missing, infinite or out of bounds, none makes a fit fail or look different, and each is one row."""

import numpy as np
import pytest
from tests.rows import PATTERNS, signalling

from ._cases import same

MISSING = {"nan": np.nan, "-inf": -np.inf, "signalling": signalling(64, PATTERNS[64][2])[0]}
OUTSIDE = {"far": 7.0, "1e300": 1e300}


def spoil(rows, value):
    spoilt = rows.copy()
    spoilt[7, 1] = value
    return spoilt


@pytest.mark.fast("KMeans-*", "GridSynopsis-nan", "SourceTargetKMedoids-signalling")
@pytest.mark.parametrize("value", MISSING)
def test_a_missing_value_counts_as_one_in_the_middle_of_its_column(case, value, rows):
    # Fault 11: one NaN row raised an error or changed a branch, so its presence was visible. The row keeps its other values.
    assert same(case.fit(spoil(rows, MISSING[value]), random_state=3), case.fit(spoil(rows, 0.0), random_state=3))


@pytest.mark.fast("KMeans-*", "GridSynopsis-far", "SourceTargetKMedoids-1e300")
@pytest.mark.parametrize("value", OUTSIDE)
def test_a_row_out_of_bounds_counts_as_one_on_their_edge(case, value, rows):
    edge = spoil(rows, np.sign(OUTSIDE[value]))
    assert same(case.fit(spoil(rows, OUTSIDE[value]), random_state=3), case.fit(edge, random_state=3))
