# SPDX-License-Identifier: Apache-2.0
"""Where a ledger may lie, and what was paid."""

from pathlib import Path

import pytest

from cloister.privacy import Cost, Event
from cloister.questions import Question
from cloister.vault import Vault

Paid = list[tuple[Question, Event]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a ledger may lie."""
    return tmp_path / "budget.sqlite"


@pytest.fixture
def paid(monkeypatch: pytest.MonkeyPatch) -> Paid:
    """Every question that a vault answers, with the event that paid for it."""
    seen: Paid = []
    pay = Vault._pay

    def watched(vault: Vault, question: Question, cost: Cost) -> Event:
        event = pay(vault, question, cost)
        (purpose,) = {line["purpose"] for line in vault._account._store.lines() if line["kind"] == "reserve"}
        if purpose != "rehearsal":  # a fit with a tiny budget is tried out first, on no rows and with a ledger of its own
            seen.append((question, event))
        return event

    monkeypatch.setattr(Vault, "_pay", watched)
    return seen
