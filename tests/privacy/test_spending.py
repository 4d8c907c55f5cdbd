# SPDX-License-Identifier: Apache-2.0
"""Fault 1: whatever moves the shares of a budget, their sum is the budget: never more, and at most 0.1 % less.

The sum is the audit's own. Other methods, guarantees and widths are in ``tests/common/test_budgets.py``, where budgets that are
too small for noise are refused as well; what is asked before a method's own plan is in ``test_spending_first.py``.
"""

import math
from typing import Any

import numpy as np
import pytest

from cloister import ApproxDP, Ball, KMeans, Ledger, PEMeans, PureDP
from cloister.audit import share_spent
from cloister.privacy import Guarantee

from .conftest import Paid

FEW_STEPS: dict[type, dict[str, Any]] = {KMeans: {}, PEMeans: {"n_variations": 2, "n_rounds": 3}}


def check(
    paid: Paid, guarantee: Guarantee, n_features: int, *, kind: Any = KMeans, n_clusters: int = 3, **options: Any
) -> list[str]:
    """Fit to a few rows and compare the questions, the events, the receipt and the ledger with the budget."""
    paid.clear()
    rows = np.random.default_rng(n_features).uniform(-1, 1, (30, n_features)) / math.sqrt(n_features)
    ledger = Ledger(guarantee)
    given = {"bounds": Ball(1.0), "missing": "middle", "guarantee": guarantee, "ledger": ledger, "n_init": 1, "n_jobs": 1}
    model = kind(n_clusters, **{**given, **FEW_STEPS[kind], **options}).fit(rows)
    assert tuple(event for _, event in paid) == tuple(ledger.events) == model.privacy_receipt_.events
    assert 1 - 1e-3 <= share_spent(ledger.events, guarantee) <= 1 + 1e-12
    return [event.question_name for event in ledger.events]


@pytest.mark.fast("0.0-0-7", "0.0-*-1", "1e-09-50000-20")
@pytest.mark.parametrize("n_clusters", [1, 7, 20])
@pytest.mark.parametrize("n_rows", [0, 1, 50_000, 10**9])
@pytest.mark.parametrize("delta", [0.0, 1e-9])
def test_clusters_and_rows_move_the_shares_and_not_the_sum(n_clusters: int, n_rows: int, delta: float, paid: Paid) -> None:
    guarantee = ApproxDP(0.5, delta) if delta else PureDP(0.5)
    assert "row_count" not in check(paid, guarantee, 5, n_clusters=n_clusters, n_rows=n_rows)


@pytest.mark.parametrize(("n_features", "n_rounds", "n_clusters"), [(2, 5, 7), (40, 1, 1), (40, 40, 7)])
def test_rounds_do_not_change_the_sum(n_features: int, n_rounds: int, n_clusters: int, paid: Paid) -> None:
    check(paid, ApproxDP(0.5, 1e-9), n_features, kind=PEMeans, n_clusters=n_clusters, n_rounds=n_rounds)


@pytest.mark.parametrize("kind", [KMeans, PEMeans])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.01, 1e-12), (0.01, 1e-2), (100.0, 1e-12), (100.0, 1e-2)])
def test_small_and_large_budgets_are_spent_as_they_are(kind: Any, epsilon: float, delta: float, paid: Paid) -> None:
    # Fault 14: a noise search with a fixed bracket that fails at epsilon = 0.01.
    check(paid, ApproxDP(epsilon, delta), 33, kind=kind)


@pytest.mark.parametrize("n_features", [1, 20, 784])
def test_the_automatic_plan_spends_its_budget(n_features: int, paid: Paid) -> None:
    projection = 8 if n_features > 32 else "auto"
    names = check(paid, ApproxDP(1.0, 1e-6), n_features, kind=PEMeans, n_rounds="auto", projection=projection)
    assert names.count("row_count") == 1
    assert names.count("nearest_sums") == (1 if n_features > 32 else 0)
