# SPDX-License-Identifier: Apache-2.0
"""Neighbours by replay: given the same answers, every method asks both tables the same and publishes the same.

A replay is exact: it compares the integers behind every answer with the sensitivity that was paid for.
"""

import numpy as np
import pytest
from tests.rows import PATTERNS, signalling

from cloister.audit import replay

from ._cases import RELATIONS

HOSTILE = {
    "edge": [1.0, 1.0],
    "outside": [-3.0, 5.0],
    "missing": [np.nan, 0.2],
    "signalling": [signalling(64, PATTERNS[64][2])[0], 0.2],
    "huge": [1e300, -np.inf],
}
MEETINGS = [(hostile, relation) for hostile in ("edge", "missing") for relation in RELATIONS]
MEETINGS += [("outside", "replace"), ("signalling", "add-remove"), ("huge", "replace")]


@pytest.mark.fast(
    "KMeans-edge-*",
    "KMeans-missing-*",
    "GridSynopsis-missing-add-remove",
    "PointSynopsis-edge-replace",
    "SourceTargetKMedoids-edge-replace",
)
@pytest.mark.parametrize(("hostile", "relation"), MEETINGS)
def test_one_row_moves_no_answer_further_than_was_paid_for(case, hostile, relation, generator):
    rows = generator.uniform(-1, 1, size=(20, 2))
    with_it = np.insert(rows, 7, HOSTILE[hostile], axis=0)
    without = rows if relation == "add-remove" else np.insert(rows, 7, [-1.0, -1.0], axis=0)
    found = replay(lambda table: case.fit(table, neighbours=relation, random_state=5, epsilon=4.0), with_it, without)
    assert found.violations == ()
    assert found.calls
    assert found.worst <= 1 + 1e-12
