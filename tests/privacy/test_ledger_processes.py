# SPDX-License-Identifier: Apache-2.0
"""A ledger in a file is shared by processes, survives those that are killed, and never misses the debit of an answer.

Fits that are killed at any moment, and fits that race, are in the check ``kills`` of ``cloister audit``.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from cloister.columns import Ball
from cloister.data import open_rows
from cloister.exceptions import BudgetExceeded, LedgerError
from cloister.privacy import GDP, Entropy, Ledger, PureDP, Tally
from cloister.questions import RowCount
from cloister.vault import Vault

from ._paid import ADD, event, reserve
from ._processes import die, dies, needs_fork, run_together

pytestmark = needs_fork


# -- races --


@pytest.mark.fast("6-4")
@pytest.mark.parametrize(("processes", "fits"), [(2, 1), (6, 4)])
def test_the_last_bit_of_budget_goes_to_one(path: Path, processes: int, fits: int) -> None:
    Ledger.create(path, PureDP(0.1 * fits)).close()

    def race() -> str:
        with Ledger.open(path) as ledger:
            try:
                account = reserve(ledger, PureDP(0.1))
            except BudgetExceeded:
                return "refused"
            account.debit(event(PureDP(0.1)))
            account.close()
            return "won"

    assert sorted(run_together(processes, race)) == ["refused"] * (processes - fits) + ["won"] * fits
    with Ledger.open(path) as ledger:
        assert len(ledger.events) == fits
        assert Tally.of(one.cost for one in ledger.events).fits(ledger.budget)


# -- forks --


def test_a_forked_child_cannot_spend_from_memory() -> None:
    ledger = Ledger(GDP(1.0))
    account = reserve(ledger, GDP(0.5))

    def attempt() -> str:
        said = []
        for try_it in (lambda: reserve(ledger, GDP(0.1)), lambda: account.debit(event(GDP(0.1))), account.close):
            try:
                try_it()
            except LedgerError as error:
                said.append(str(error).startswith("Ledger: a copy of a ledger in memory"))
        return str(said)

    assert run_together(1, attempt) == ["[True, True, True]"]
    account.debit(event(GDP(0.5)))
    assert len(ledger.events) == 1


def test_a_forked_child_shares_the_file(path: Path) -> None:
    with Ledger.create(path, GDP(1.0)) as ledger:
        account = reserve(ledger, GDP(0.6))

        def use() -> None:
            account.debit(event(GDP(0.3)))
            reserve(ledger, GDP(0.5))

        assert run_together(1, use) == ["done"]
        assert len(ledger.lines) == 4
        with pytest.raises(BudgetExceeded, match=r"but mu 0\.62\d* of 1 is left"):
            reserve(ledger, GDP(0.7))


# -- kills --


@pytest.fixture
def vault_of(path: Path) -> Callable[[], Vault]:
    rows = open_rows(np.zeros((5, 2)))

    def build() -> Vault:
        account = reserve(Ledger.create(path, GDP(1.0)), GDP(0.5))
        return Vault(rows, frame=Ball(1.0, [0.0, 0.0]).frame(), relation=ADD, account=account, entropy=Entropy())

    return build


@pytest.mark.parametrize(
    ("victim", "debits"),
    [
        ("cloister.questions._price.price", 0),
        ("cloister.privacy._ledger_store.LedgerStore.append", 0),
        ("cloister.data._backend.LocalRows.fold", 1),
        ("cloister.privacy._events.Event.draw", 1),
        ("cloister.vault.Answer", 1),
    ],
)
def test_killed_inside_the_vault(path, vault_of, victim: str, debits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    answered = path.parent / "answered"

    def work() -> None:
        vault = vault_of()
        monkeypatch.setattr(victim, die)
        vault.ask(RowCount(), GDP(0.5))
        answered.touch()

    assert dies(work)
    assert not answered.exists()
    with Ledger.open(path) as ledger:
        assert len(ledger.events) == debits
        assert ledger.spent.mu == 0.5  # the account was never closed: all it reserved counts
        with pytest.raises(BudgetExceeded, match=r"but mu 0\.866 of 1 is left"):
            reserve(ledger, GDP(0.9))


def test_killed_while_creating(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def work() -> None:
        monkeypatch.setattr("cloister.privacy._ledger_store.LedgerStore.insert", die)
        Ledger.create(path, GDP(1.0))

    assert dies(work)
    assert not path.exists()
    with Ledger.create(path, GDP(1.0)) as ledger:
        assert ledger.left == 1.0
