# SPDX-License-Identifier: Apache-2.0
"""A real vault over made-up rows, with a budget that does not run out, for the statistical checks."""

from cloister.audit._tables import PersonTable
from cloister.columns import Ball, FloatArray, Neighbours, PrivacyUnit, Relation
from cloister.data import open_rows
from cloister.privacy import Cost, Entropy, Ledger
from cloister.vault import Vault

__all__ = ["HUGE", "open_vault"]

HUGE = 1e5  # of a budget, in epsilon or mu: the rows are made up


def open_vault(
    rows: FloatArray | PersonTable,
    cost: Cost,
    *,
    relation: Relation,
    entropy: Entropy,
    privacy_unit: PrivacyUnit | None = None,
    strength: float = HUGE,
) -> Vault:
    """Return a vault over rows of the unit ball, or of persons, that pays `strength` for answers of the kind of `cost`."""
    whole, near = cost.with_strength(strength), Neighbours(relation, privacy_unit)
    account = Ledger(whole, neighbours=near.value, unit=near.unit).reserve(whole, purpose="audit", relation=near)
    table, ids = (rows.rows, rows.ids) if isinstance(rows, PersonTable) else (rows, None)
    frame = Ball(1.0, 0.0).spread(table.shape[1]).frame()
    return Vault(open_rows(table, privacy_unit=ids, n_jobs=1), frame=frame, relation=near, account=account, entropy=entropy)
