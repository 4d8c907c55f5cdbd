# SPDX-License-Identifier: Apache-2.0
"""An attack on whole synopses of neighbouring tables: what it proves stays below the epsilon of the receipt, and comes close.

A thousand attacks share a grid of a thousand cells: each cell has a row of its own in one table and none in the other, and the
count of a cell depends on its own row and its own draw alone. False alarms have probability 1e-6.
"""

import numpy as np
import pytest

from cloister import GridSynopsis
from cloister.audit._attacks import proven_epsilon

pytestmark = pytest.mark.slow

CELLS, FITS = 1_000, 60
THRESHOLDS = np.arange(-4.0, 6.0)  # fixed beforehand
LEVEL = {"delta": 0.0, "level": 1e-6}
MIDDLES = (np.arange(CELLS)[:, None] + 0.5) / CELLS


def counts_of(rows, neighbours="add-remove"):
    fits = [GridSynopsis(bounds=(0, 1), rule=CELLS, n_rows=0, neighbours=neighbours).fit(rows) for _ in range(FITS)]
    assert {model.privacy_receipt_.guarantee.epsilon for model in fits} == {1.0}
    return np.array([model.synopsis_.noisy_counts for model in fits])


def test_a_row_more_or_less():
    assert 0.75 < proven_epsilon(counts_of(MIDDLES), counts_of(np.empty((0, 1))), THRESHOLDS, **LEVEL) <= 1.0


def test_a_row_that_moves():
    # Replaced rows change two cells by one each: the attacker looks at both, cut to where the likelihood ratio moves.
    left, right = (np.clip(counts_of(MIDDLES[start::2], "replace"), 0, 1) for start in (0, 1))
    proven = proven_epsilon(*(table[:, ::2] - table[:, 1::2] for table in (left, right)), THRESHOLDS, **LEVEL)
    assert 0.6 < proven <= 1.0
