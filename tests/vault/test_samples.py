# SPDX-License-Identifier: Apache-2.0
"""A query of part of the rows is answered on a secret random sample: drawn once, paid for like any other, never told."""

import numpy as np
import pytest

from cloister import GDP, Ball, Ledger
from cloister.data import open_rows
from cloister.domain import Relation
from cloister.exceptions import ParameterError
from cloister.privacy import Entropy, Query
from cloister.questions import CellStates, NearestSums, RowCount
from cloister.vault import Vault

FRAME = Ball(1.0).spread(2).frame()
EXACT = GDP(1e6)  # noise of which nothing is seen behind a whole number


def open_vault(data, *, seed=None, watch=None):
    ledger = Ledger(GDP(1e9))
    account = ledger.reserve(ledger.budget, purpose="test", relation=Relation.ADD_REMOVE)
    rows = open_rows(data, n_jobs=2)
    return Vault(rows, frame=FRAME, relation=Relation.ADD_REMOVE, account=account, entropy=Entropy(seed), watch=watch)


def of(share, cost=EXACT):
    return Query("step", "counts", cost, 0.1, 1.0, share)


def size(vault, share):
    return int(np.rint(vault.ask(RowCount(), of(share)).value[0]))


def test_a_sample_is_drawn_once_and_serves_all_questions_of_its_share(generator):
    vault = open_vault(generator.uniform(-1, 1, (5000, 2)))
    sizes = [size(vault, 0.1) for _ in range(5)]
    assert len(set(sizes)) == 1
    assert abs(sizes[0] - 500) < 150
    assert size(vault, 1.0) == 5000


def test_a_smaller_sample_is_drawn_from_a_larger_one(generator):
    vault = open_vault(np.column_stack([np.arange(40_000) / 40_000, np.zeros(40_000)]))
    assert abs(size(vault, 0.5) - 20_000) < 700
    assert abs(size(vault, 0.1) - 4000) < 420  # seven standard deviations: once in 10^11 runs


def test_raw_cells_are_not_sampled():
    vault = open_vault(np.zeros((10, 2)))
    with pytest.raises(ParameterError, match=r"ask: expected a question about clean rows for a sample"):
        vault.ask(CellStates(low=np.zeros(2), high=np.ones(2)), of(0.5))
    assert len(vault.close(GDP(1e9)).events) == 0


def test_questions_asked_together_are_about_the_same_rows():
    vault = open_vault(np.zeros((10, 2)))
    with pytest.raises(ParameterError, match=r"ask: expected one part of the rows for all"):
        vault.ask([RowCount(), RowCount()], [of(0.5), EXACT])
    assert len(vault.close(GDP(1e9)).events) == 0


def test_another_map_keeps_the_sample(generator):
    table = generator.uniform(-0.6, 0.6, (400, 2))
    vault = open_vault(table, seed=1)
    sums = NearestSums(points=np.zeros((1, 2)), radius=1.0)
    before = vault.ask(sums, of(0.5)).value[0]
    vault.use(Ball(2.0).spread(2).frame())
    after = vault.ask(sums, of(0.5)).value[0]
    assert after == pytest.approx(before / 2, abs=1e-2)
