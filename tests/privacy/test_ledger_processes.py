# SPDX-License-Identifier: Apache-2.0
"""A ledger in a file is shared by processes, survives those that are killed, and never misses the debit of an answer."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cloister.columns import Ball
from cloister.data import open_rows
from cloister.exceptions import BudgetExceeded, LedgerError
from cloister.privacy import GDP, Account, Entropy, Event, Ledger, PureDP, Tally
from cloister.questions import RowCount
from cloister.vault import Vault

from ._paid import ADD, event, reserve

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the processes of these tests are forked")


class Children:
    """Real processes that start their work at the same moment and report one line each."""

    def __init__(self, count: int, work: Callable[[int], str]) -> None:
        self._go, start = os.pipe()[::-1]
        self.numbers: list[int] = []
        self._reports: list[int] = []
        for index in range(count):
            reading, writing = os.pipe()
            child = os.fork()
            if child == 0:
                os.close(self._go)
                os.read(start, 1)  # until the parent closes its end
                try:
                    report = work(index)
                except Exception as error:
                    report = f"{type(error).__name__}: {error}"
                os.write(writing, report.encode())
                os._exit(0)
            os.close(writing)
            self.numbers.append(child)
            self._reports.append(reading)
        os.close(start)

    def run(self) -> list[str]:
        os.close(self._go)
        reports = []
        for child, reading in zip(self.numbers, self._reports, strict=True):
            with os.fdopen(reading) as stream:
                reports.append(stream.read())
            os.waitpid(child, 0)
        return reports


# -- races --


@pytest.mark.fast("6-4")
@pytest.mark.parametrize(("processes", "fits"), [(2, 1), (6, 1), (6, 4)])
def test_the_last_bit_of_budget_goes_to_one(path: Path, processes: int, fits: int) -> None:
    Ledger.create(path, PureDP(0.1 * fits)).close()

    def race(index: int) -> str:
        with Ledger.open(path) as ledger:
            try:
                account = reserve(ledger, PureDP(0.1))
            except BudgetExceeded:
                return "refused"
            account.debit(event(PureDP(0.1)))
            account.close()
            return "won"

    reports = Children(processes, race).run()
    assert sorted(reports) == ["refused"] * (processes - fits) + ["won"] * fits
    with Ledger.open(path) as ledger:
        assert len(ledger.events) == fits
        assert Tally.of(one.cost for one in ledger.events).fits(ledger.budget)


@pytest.mark.slow
def test_processes_that_start_from_nothing_race_too(path: Path) -> None:
    script = f"""
import pathlib, sys, time
from cloister.columns import Relation
from cloister.exceptions import BudgetExceeded
from cloister.privacy import GDP, Ledger
with Ledger.open({str(path)!r}) as ledger:
    pathlib.Path(sys.argv[1]).touch()
    while not pathlib.Path({str(path.parent / "go")!r}).exists():
        time.sleep(0.001)
    try:
        ledger.reserve(GDP(0.8), purpose="test", relation=Relation.ADD_REMOVE)
        print("won")
    except BudgetExceeded as error:
        print(error)
"""
    Ledger.create(path, GDP(1.0)).close()
    ready = [path.parent / f"ready{index}" for index in range(2)]
    runs = [subprocess.Popen([sys.executable, "-c", script, str(mark)], stdout=subprocess.PIPE, text=True) for mark in ready]
    until = time.monotonic() + 60
    while not all(mark.exists() for mark in ready) and time.monotonic() < until:
        time.sleep(0.01)
    (path.parent / "go").touch()
    said = sorted(run.communicate(timeout=60)[0].strip() for run in runs)
    assert said[1] == "won"
    assert said[0].startswith("Ledger.reserve: this fit costs mu 0.8 but mu 0.6 of 1 is left.")


@pytest.mark.slow
def test_of_many_that_create_a_ledger_at_once_one_does(path: Path) -> None:
    def create(index: int) -> str:
        try:
            with Ledger.create(path, GDP(1.0), name=str(index)) as ledger:
                reserve(ledger, GDP(0.1)).close()
                return "made"
        except LedgerError as error:
            return "refused" if "there is a file 'budget.sqlite' already" in str(error) else str(error)

    for attempt in range(4):
        path.unlink(missing_ok=True)
        assert sorted(Children(5, create).run()) == ["made", *["refused"] * 4], attempt
        with Ledger.open(path) as ledger:
            assert [line["kind"] for line in ledger.lines] == ["budget", "reserve", "close"]
        assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_writers_do_not_lose_each_others_lines(path: Path) -> None:
    Ledger.create(path, GDP(10.0)).close()

    def write(index: int) -> str:
        with Ledger.open(path) as ledger:
            for _ in range(5):
                account = reserve(ledger, GDP(0.1))
                account.debit(event(GDP(0.1)))
                account.close()
        return "done"

    assert Children(3, write).run() == ["done"] * 3
    with Ledger.open(path) as ledger:
        assert len(ledger.lines) == 1 + 3 * 5 * 3
        assert ledger.spent.mu == pytest.approx((15 * 0.01) ** 0.5)


# -- forks --


def test_a_forked_child_cannot_spend_from_memory() -> None:
    ledger = Ledger(GDP(1.0))
    account = reserve(ledger, GDP(0.5))

    def attempt(index: int) -> str:
        said = []
        for try_it in (lambda: reserve(ledger, GDP(0.1)), lambda: account.debit(event(GDP(0.1))), account.close):
            try:
                try_it()
            except LedgerError as error:
                said.append(str(error).startswith("Ledger: a copy of a ledger in memory"))
        return str(said)

    assert Children(1, attempt).run() == ["[True, True, True]"]
    account.debit(event(GDP(0.5)))
    assert len(ledger.events) == 1


def test_a_forked_child_shares_the_file(path: Path) -> None:
    with Ledger.create(path, GDP(1.0)) as ledger:
        account = reserve(ledger, GDP(0.6))

        def use(index: int) -> str:
            account.debit(event(GDP(0.3)))
            reserve(ledger, GDP(0.5))
            return "done"

        assert Children(1, use).run() == ["done"]
        assert len(ledger.lines) == 4
        with pytest.raises(BudgetExceeded, match=r"but mu 0\.62\d* of 1 is left"):
            reserve(ledger, GDP(0.7))


# -- kills --


class Answers:
    """Where a process that will be killed leaves its answers: one line each, written at once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.touch()

    def give(self, value: Any) -> None:
        with self.path.open("a") as file:
            file.write(f"{value}\n")

    def read(self) -> list[str]:
        return [line for line in self.path.read_text().split("\n") if line]


def in_a_process_that_dies(work: Callable[[], None], *, wait: Callable[[], None] | None = None) -> None:
    """Run `work` in a child and kill it after `wait`, or let it kill itself."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(3)
    if wait is not None:
        wait()
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), "the child ended before it was killed"


def die(*args: object, **options: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_killed_at_any_moment_every_answer_has_its_debit(path: Path, generator: np.random.Generator) -> None:
    Ledger.create(path, GDP(100.0)).close()
    answers = Answers(path.parent / "answers")

    def work() -> None:
        ledger = Ledger.open(path)
        while True:
            account = reserve(ledger, GDP(0.1))
            for _ in range(3):
                account.debit(event(GDP(0.05)))
                answers.give(account.identity)
            account.close()

    def an_answer() -> None:
        until = time.monotonic() + 60
        while not answers.read() and time.monotonic() < until:
            time.sleep(0.001)

    waits = [partial(time.sleep, float(seconds)) for seconds in generator.uniform(0.0, 0.08, 12)]
    for wait in [*waits, an_answer]:
        in_a_process_that_dies(work, wait=wait)
        with Ledger.open(path) as ledger:
            paid = Counter(line["account"] for line in ledger.lines if line["kind"] == "debit")
        assert Counter(answers.read()) <= paid
    assert answers.read()


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
    answers = Answers(path.parent / "answers")

    def work() -> None:
        vault = vault_of()
        monkeypatch.setattr(victim, die)
        answers.give(vault.ask(RowCount(), GDP(0.5)).value)

    in_a_process_that_dies(work)
    assert not answers.read()
    with Ledger.open(path) as ledger:
        assert len(ledger.events) == debits
        assert ledger.spent.mu == 0.5  # the account was never closed: all it reserved counts
        with pytest.raises(BudgetExceeded, match=r"but mu 0\.866 of 1 is left"):
            reserve(ledger, GDP(0.9))


def test_killed_between_the_insert_and_the_commit(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Ledger.create(path, GDP(1.0)).close()

    def work() -> None:
        ledger = Ledger.open(path)
        insert = ledger._store.insert

        def insert_and_die(*args: Any) -> None:
            insert(*args)
            die()

        monkeypatch.setattr(ledger._store, "insert", insert_and_die)
        reserve(ledger, GDP(0.5))

    in_a_process_that_dies(work)
    with Ledger.open(path) as ledger:
        assert len(ledger.lines) == 1
        assert ledger.left == 1.0


def test_killed_while_creating(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def work() -> None:
        monkeypatch.setattr("cloister.privacy._ledger_store.LedgerStore.insert", die)
        Ledger.create(path, GDP(1.0))

    in_a_process_that_dies(work)
    assert not path.exists()
    with Ledger.create(path, GDP(1.0)) as ledger:
        assert ledger.left == 1.0


# -- errors on the way to an answer --


def test_an_answer_that_fails_stays_paid(path: Path, vault_of, monkeypatch: pytest.MonkeyPatch) -> None:
    vault = vault_of()

    def fail(*args: object, **options: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr("cloister.data._backend.LocalRows.fold", fail)
        with pytest.raises(MemoryError):
            vault.ask(RowCount(), GDP(0.3))
    assert len(vault.ask(RowCount(), GDP(0.4)).value) == 1
    with pytest.raises(BudgetExceeded, match="'row_count' does not fit into what this fit reserved"):
        vault.ask(RowCount(), GDP(0.1))
    receipt = vault.close(GDP(0.5))
    assert [one.cost.mu for one in receipt.events] == pytest.approx([0.3, 0.4])


def test_no_row_is_read_before_the_debit(vault_of, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    debit, fold = Account.debit, RowCount.exact

    def debited(self: Account, event: Event) -> Event:
        paid = debit(self, event)
        order.append("debit")
        return paid

    def folded(self: RowCount, rows: np.ndarray) -> np.ndarray:
        order.append("rows")
        return fold(self, rows)

    monkeypatch.setattr(Account, "debit", debited)
    monkeypatch.setattr(RowCount, "exact", folded)
    vault_of().ask(RowCount(), GDP(0.1))
    assert order[0] == "debit"
    assert "rows" in order
