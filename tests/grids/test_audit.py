# SPDX-License-Identifier: Apache-2.0
"""An attack on whole synopses of neighbouring tables: what it proves stays below the epsilon of the receipt, and comes close.

A thousand attacks share a grid of a thousand cells: each cell has a row of its own in one table and none in the other, and the
count of a cell depends on its own row and its own draw alone. False alarms have probability 1e-6.
"""

import numpy as np
import pytest

from cloister import GridSynopsis
from cloister.audit._attacks import proven_epsilon
from cloister.privacy import Event

pytestmark = pytest.mark.slow

CELLS, FITS = 1_000, 60
THRESHOLDS = np.arange(-4.0, 6.0)  # fixed beforehand
LEVEL = {"delta": 0.0, "level": 1e-6}
MIDDLES = (np.arange(CELLS)[:, None] + 0.5) / CELLS


def counts_of(rows, epsilon, neighbours="add-remove"):
    fits = [
        GridSynopsis(epsilon=epsilon, bounds=(0, 1), rule=CELLS, n_rows=0, neighbours=neighbours).fit(rows) for _ in range(FITS)
    ]
    assert {model.privacy_receipt_.guarantee.epsilon for model in fits} == {epsilon}
    return np.array([model.synopsis_.noisy_counts for model in fits])


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_a_row_more_or_less(epsilon):
    proven = proven_epsilon(counts_of(MIDDLES, epsilon), counts_of(np.empty((0, 1)), epsilon), THRESHOLDS, **LEVEL)
    assert 0.75 * epsilon < proven <= epsilon


def test_a_row_that_moves():
    # Replaced rows change two cells by one each: the attacker looks at both, cut to where the likelihood ratio moves.
    left, right = (np.clip(counts_of(MIDDLES[start::2], 1.0, "replace"), 0, 1) for start in (0, 1))
    proven = proven_epsilon(*(table[:, ::2] - table[:, 1::2] for table in (left, right)), THRESHOLDS, **LEVEL)
    assert 0.6 < proven <= 1.0


def test_less_noise_than_stated_is_caught(monkeypatch):
    draw = Event.draw
    monkeypatch.setattr(Event, "draw", lambda self, entropy: np.rint(draw(self, entropy) / 2).astype(np.int64))
    assert proven_epsilon(counts_of(MIDDLES, 1.0), counts_of(np.empty((0, 1)), 1.0), THRESHOLDS, **LEVEL) > 1.1
