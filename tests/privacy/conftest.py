# SPDX-License-Identifier: Apache-2.0
"""Where a ledger may lie, where words are drawn from, and what was paid."""

import hashlib
from pathlib import Path

import pytest

from cloister.privacy import Cost, Entropy, Event
from cloister.questions import Question
from cloister.vault import Vault

Paid = list[tuple[Question, Event]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a ledger may lie."""
    return tmp_path / "budget.sqlite"


@pytest.fixture
def entropy(request: pytest.FixtureRequest, seed: int) -> Entropy:
    """A stream of its own for each test."""
    name = hashlib.sha256(f"{seed} {request.node.nodeid}".encode()).digest()
    return Entropy(int.from_bytes(name[:8], "little"))


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
