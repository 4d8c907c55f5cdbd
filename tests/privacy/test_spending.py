# SPDX-License-Identifier: Apache-2.0
"""Fault 1: whatever moves the shares of a budget, their sum is the budget: never more, and at most 0.1 % less.

The sum is the audit's own. Other methods, guarantees and widths are in ``tests/common/test_budgets.py``, where budgets that are
too small for noise are refused as well; what is asked before a method's own plan is in ``test_spending_first.py``.
"""

import math
from itertools import product
from typing import Any

import numpy as np
import pytest

from cloister import ApproxDP, Ball, KMeans, Ledger, PEMeans, PureDP
from cloister.audit import share_spent
from cloister.privacy import Guarantee

from .conftest import Paid

HALF, WHOLE = ApproxDP(0.5, 1e-9), ApproxDP(1.0, 1e-6)
FEW = {"n_variations": 2, "n_rounds": 3}
SHAPES = product([PureDP(0.5), HALF], [0, 1, 50_000, 10**9], [1, 7, 20])
BUDGETS = [ApproxDP(epsilon, delta) for epsilon in (0.01, 100.0) for delta in (1e-12, 1e-2)]
FITS: dict[str, list[tuple[Any, Guarantee, int, dict[str, Any]]]] = {
    "clusters and rows": [(KMeans, budget, 5, {"n_rows": n_rows, "n_clusters": k}) for budget, n_rows, k in SHAPES],
    # Fault 14: a noise search with a fixed bracket that fails at epsilon = 0.01.
    "small and large budgets": [(kind, one, 33, few) for kind, few in ((KMeans, {}), (PEMeans, FEW)) for one in BUDGETS],
    "rounds": [(PEMeans, HALF, width, {**FEW, "n_rounds": n_rounds}) for width, n_rounds in [(2, 5), (40, 1), (40, 40)]],
    "automatic plans": [(PEMeans, WHOLE, width, {**FEW, "n_rounds": "auto"}) for width in (1, 20)],
    "automatic plans, projected": [(PEMeans, WHOLE, 784, {**FEW, "n_rounds": "auto", "projection": 8})],
}


@pytest.mark.parametrize("moved", FITS)
def test_what_moves_the_shares_does_not_move_their_sum(moved: str, paid: Paid) -> None:
    for kind, guarantee, n_features, options in FITS[moved]:
        paid.clear()
        rows = np.random.default_rng(n_features).uniform(-1, 1, (30, n_features)) / math.sqrt(n_features)
        ledger = Ledger(guarantee)
        given = {"n_clusters": 3, "bounds": Ball(1.0), "missing": "middle", "n_init": 1, "n_jobs": 1, **options}
        model = kind(guarantee=guarantee, ledger=ledger, **given).fit(rows)
        assert tuple(event for _, event in paid) == tuple(ledger.events) == model.privacy_receipt_.events
        assert 1 - 1e-3 <= share_spent(ledger.events, guarantee) <= 1 + 1e-12
        names = [event.question_name for event in ledger.events]
        assert names.count("row_count") == ("n_rows" not in options)
        assert "automatic" not in moved or names.count("nearest_sums") == ("projection" in options)
