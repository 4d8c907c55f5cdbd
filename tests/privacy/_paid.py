# SPDX-License-Identifier: Apache-2.0
"""An event, and accounts that debit it: what the tests of ledgers and receipts spend."""

from dataclasses import replace

from cloister.columns import Relation
from cloister.privacy import Account, Cost, Event, Ledger, price

ADD = Relation.ADD_REMOVE


def event(cost: Cost, *, l1: float = 1.0, l2: float = 1.0, size: int = 1, relation: Relation = ADD, **about: object) -> Event:
    """Return an event of `cost`; `about` replaces any of its other fields."""
    found = price(cost, question_name="votes", size=size, l1=l1, l2=l2, unit=1.0, relation=relation, seeded=True)
    return replace(found, **about)


def reserve(ledger: Ledger, cost: Cost, *, relation: Relation = ADD, **stated: str) -> Account:
    return ledger.reserve(cost, purpose="test", relation=relation, **stated)


def spend(ledger: Ledger, cost: Cost) -> None:
    """Reserve, debit and close."""
    account = reserve(ledger, cost)
    account.debit(event(cost))
    account.close()
