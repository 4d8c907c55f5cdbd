# SPDX-License-Identifier: Apache-2.0
"""A vault over rows, and the ledger that pays for its answers; and a ledger of which a refused fit spends nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from cloister import Ball, Ledger
from cloister.columns import Relation
from cloister.data import open_rows
from cloister.privacy import GDP, Cost, Entropy, Guarantee
from cloister.vault import Vault

TEN = GDP(10.0)


def open_vault(
    rows: Any,
    budget: Guarantee = TEN,
    *,
    cost: Cost | None = None,
    relation: Relation = Relation.ADD_REMOVE,
    seed: int | Entropy | None = None,
    **options: Any,
) -> tuple[Vault, Ledger]:
    """Set a cost aside, the whole budget by default; rows are seen in the unit ball, unless `frame` says otherwise."""
    ledger = Ledger(budget, neighbours=relation.value)
    account = ledger.reserve(cost or budget, purpose="test", relation=relation)
    source = rows if hasattr(rows, "fold") else open_rows(rows, n_jobs=1)
    given = {"frame": Ball(1.0).spread(source.schema.n_features).frame(), **options}
    entropy = seed if isinstance(seed, Entropy) else Entropy(seed)
    return Vault(source, relation=relation, account=account, entropy=entropy, **given), ledger


@contextmanager
def refusal(error: type[Exception] | tuple[type[Exception], ...], match: str, **budget: Any) -> Iterator[Ledger]:
    """Expect an error before anything is set aside: yield a ledger that must hold its budget and nothing else."""
    ledger = Ledger(**({"epsilon": 5.0, "delta": 1e-6} | budget))
    with pytest.raises(error, match=match):
        yield ledger
    assert len(ledger.lines) == 1
    assert ledger.spent.empty
