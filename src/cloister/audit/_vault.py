# SPDX-License-Identifier: Apache-2.0
"""A real vault over made-up rows, with a budget that does not run out, for the statistical checks."""

from cloister.data import open_rows
from cloister.domain import Ball, FloatArray, Relation
from cloister.privacy import Cost, Entropy, Ledger
from cloister.vault import Vault

__all__ = ["HUGE", "open_vault"]

HUGE = 1e5  # of a budget, in epsilon or mu: the rows are made up


def open_vault(rows: FloatArray, cost: Cost, *, relation: Relation, entropy: Entropy) -> Vault:
    """Return a vault over rows of the unit ball that pays for answers of the kind of `cost`."""
    whole = cost.with_strength(HUGE)
    account = Ledger(whole, neighbours=relation.value).reserve(whole, purpose="audit", relation=relation)
    frame = Ball(1.0, 0.0).spread(rows.shape[1]).frame()
    return Vault(open_rows(rows, n_jobs=1), frame=frame, relation=relation, account=account, entropy=entropy)
