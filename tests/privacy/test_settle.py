# SPDX-License-Identifier: Apache-2.0
"""Settling: accounts of processes that are gone count with what their answers cost; a fit that runs never leaves one unpaid."""

import copy
import os
import pickle
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cloister import KMeans
from cloister.exceptions import BudgetExceeded, DataError, LedgerError, ParameterError
from cloister.privacy import GDP, Account, ApproxDP, Ledger, PureDP
from cloister.privacy._lease import HELD
from cloister.privacy._ledger_store import LedgerStore

from ._paid import event, reserve
from ._processes import Child, die, dies, needs_fork, run_together


def leases(path: Path) -> list[str]:
    return [file.name for file in path.parent.iterdir() if file.suffix == ".lease"]


def half_a_fit(path: Path, *, debits: int, answers: Path | None = None) -> Callable[[Child], None]:
    """Reserve 0.9 of mu, debit 0.3 a few times, wait, and debit once more."""

    def work(child: Child) -> None:
        with Ledger.open(path) as ledger:
            account = reserve(ledger, GDP(0.9))
            for _ in range(debits):
                account.debit(event(GDP(0.3)))
            child.wait()
            account.debit(event(GDP(0.3)))
            if answers is not None:
                answers.touch()

    return work


def told(child: Child) -> str:
    """Let a process go on; return what it says in the end."""
    child.tell()
    return child.end()


# -- processes that are gone --


@pytest.mark.fast("False-1", "True-3")
@needs_fork
@pytest.mark.parametrize("debits", [0, 1, 3])
@pytest.mark.parametrize("planned", [False, True])
def test_a_killed_fit_counts_with_its_debits(path: Path, debits: int, planned: bool) -> None:
    Ledger.create(path, ApproxDP(5.0, 1e-6), planned=planned).close()
    child = Child(half_a_fit(path, debits=debits))
    assert child.hear() == "here"
    child.kill()
    with Ledger.open(path) as ledger:
        assert ledger.spent.mu == pytest.approx(0.9)
        (account,) = ledger.settle()
        # Where costs are planned, whatever was asked counts with all that was reserved: settling changes no rule.
        spent = (0.9 if debits else 0.0) if planned else 0.3 * debits**0.5
        assert ledger.spent.mu == pytest.approx(spent)
        assert ledger.lines[-1] == {**ledger.lines[-1], "kind": "close", "account": account, "settled": True}
        assert set(ledger.lines[-1]) == {"v", "kind", "account", "when", "settled"}
        assert ledger.lines[-1]["when"] == ledger.lines[1]["when"]  # the day of the fit: no time is written
        assert [one.get("settled") for one in ledger.summary()["accounts"]] == [True]
        assert ledger.settle() == ledger.settle(account) == ()
        reserve(ledger, GDP(0.4)).close()
    assert leases(path) == []


DEATHS = {
    "before the reservation is written": ("insert", 0, 0),
    "while the reservation is committed": ("insert", 0, 0),
    "after the reservation": ("debit", 0, 1),
    "after a debit": ("debit", 1, 1),
    "before the account is closed": ("close", 3, 1),
    "after the account is closed": ("release", 3, 0),
}


@pytest.mark.fast("after the reservation", "after a debit", "before the account is closed")
@needs_fork
@pytest.mark.parametrize("death", DEATHS)
def test_killed_at_any_point_a_fit_can_be_settled(path: Path, death: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Ledger.create(path, GDP(1.0)).close()
    place, debits, settled = DEATHS[death]

    def late(function: Callable[..., Any], after: int) -> Callable[..., Any]:
        calls = iter(range(after))

        def run(*args: Any) -> Any:
            return function(*args) if next(calls, None) is not None else die()

        return run

    def work() -> None:
        ledger, insert = Ledger.open(path), LedgerStore.insert
        target = {"insert": (LedgerStore, "insert"), "debit": (Account, "debit"), "close": (Account, "close")}.get(place)
        if death.startswith("while"):
            monkeypatch.setattr(LedgerStore, "insert", lambda *given: (insert(*given), die()))
        elif target is None:
            monkeypatch.setattr("cloister.privacy._lease.Lease.release", die)
        else:
            monkeypatch.setattr(*target, late(getattr(*target), debits if place == "debit" else 0))
        with reserve(ledger, GDP(0.9)) as account:
            for _ in range(3):
                account.debit(event(GDP(0.3)))

    assert dies(work)
    with Ledger.open(path) as ledger:
        assert len(ledger.settle()) == settled
        assert ledger.spent.mu == pytest.approx(0.3 * debits**0.5)
        assert len(ledger.events) == debits
        reserve(ledger, GDP(0.8)).close()  # refused while the killed one counts with all it reserved
    assert leases(path) == []


@needs_fork
def test_killed_while_settling_nothing_or_all_is_written(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Ledger.create(path, GDP(2.0)) as ledger:
        for _ in range(2):
            reserve(ledger, GDP(0.5)).debit(event(GDP(0.1)))
    insert = LedgerStore.insert
    with monkeypatch.context() as patch:
        patch.setattr(LedgerStore, "insert", lambda *given: (insert(*given), die()))
        assert dies(lambda: Ledger.open(path).settle())
    with Ledger.open(path) as ledger:
        assert len(ledger.lines) == 5
        assert len(ledger.settle()) == 2
        assert ledger.spent.mu == pytest.approx(0.1 * 2**0.5)


@needs_fork
def test_of_two_that_settle_at_once_each_account_is_closed_by_one(path: Path) -> None:
    with Ledger.create(path, GDP(9.0)) as ledger:
        for _ in range(6):
            reserve(ledger, GDP(0.5)).debit(event(GDP(0.1)))

    def settle() -> None:
        with Ledger.open(path) as ledger:
            ledger.settle()

    assert run_together(3, settle) == ["done"] * 3
    with Ledger.open(path) as ledger:
        closed = [line["account"] for line in ledger.lines if line["kind"] == "close"]
        assert len(closed) == len(set(closed)) == 6


# -- processes that run --


@needs_fork
def test_a_fit_that_runs_is_left_alone(path: Path) -> None:
    Ledger.create(path, GDP(1.0)).close()
    child = Child(half_a_fit(path, debits=1))
    assert child.hear() == "here"
    with Ledger.open(path) as ledger:
        (account,) = [line["account"] for line in ledger.lines if line["kind"] == "reserve"]
        assert ledger.settle() == ()
        with pytest.raises(
            LedgerError, match=r"got '\w{12}', a test whose process runs still\. Wait for it, or pass force=True"
        ):
            ledger.settle(account)
        assert ledger.spent.mu == pytest.approx(0.9)
        assert told(child) == "done"
        assert len(ledger.events) == 2


@needs_fork
def test_a_settled_account_takes_no_debit_of_another_process(path: Path, tmp_path: Path) -> None:
    """Whatever the lease says: no answer leaves once the account is closed."""
    Ledger.create(path, GDP(1.0)).close()
    answers = tmp_path / "answers"
    child = Child(half_a_fit(path, debits=1, answers=answers))
    assert child.hear() == "here"
    with Ledger.open(path) as ledger:
        (account,) = [line["account"] for line in ledger.lines if line["kind"] == "reserve"]
        assert ledger.settle(account, force=True) == (account,)
        reserve(ledger, GDP(0.9)).close()  # what is free again can be used at once
        lines = ledger.lines
        assert told(child).startswith("LedgerError: Ledger.debit: this account was settled while its fit was still running")
        assert ledger.lines == lines
        ledger.settle()
    assert not answers.exists()
    assert leases(path) == []


@needs_fork
def test_a_forked_child_does_not_hold_the_lease_of_its_parent(path: Path) -> None:
    Ledger.create(path, GDP(1.0)).close()

    def work(child: Child) -> None:
        account = reserve(Ledger.open(path), GDP(0.5))
        grandchild = Child(outlive)
        grandchild.hear()
        child.say(str(grandchild.number))
        os.read(child._listen, 1)
        account.close()

    def outlive(grandchild: Child) -> None:
        grandchild.say("here")
        signal.pause()

    child = Child(work)
    grandchild = int(child.hear())
    try:
        with Ledger.open(path) as ledger:
            assert ledger.settle() == ()
            child.kill()
            assert len(ledger.settle()) == 1
    finally:
        os.kill(grandchild, signal.SIGKILL)


# -- leases --


@contextmanager
def unlockable(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def refused(descriptor: int) -> None:
        raise OSError(95, "not supported")

    with monkeypatch.context() as patch:
        patch.setattr("cloister.privacy._lease._lock", refused)
        yield


def test_an_account_without_a_lease_is_closed_by_force_alone(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Ledger.create(path, GDP(1.0)) as ledger:
        with unlockable(monkeypatch):
            account = reserve(ledger, GDP(0.5))
        assert leases(path) == []
        assert ledger.settle() == ()
        with pytest.raises(LedgerError, match=r"may still run: there is no lock beside the ledger that would say so"):
            ledger.settle(account.identity)
        assert ledger.settle(account.identity, force=True) == (account.identity,)
        reserve(ledger, GDP(0.4))
        with unlockable(monkeypatch):  # a lease that cannot be tried is respected
            assert ledger.settle() == ()
        assert len(ledger.settle()) == 1
        reserve(ledger, GDP(0.5))
        (path.parent / leases(path)[0]).unlink()  # somebody has tidied up
        assert ledger.settle() == ()


def test_a_copied_ledger_settles_its_own_accounts(path: Path, tmp_path: Path) -> None:
    with Ledger.create(path, GDP(1.0)) as ledger:
        account = reserve(ledger, GDP(0.5))
        twin = tmp_path / "copy" / "budget.sqlite"
        twin.parent.mkdir()
        twin.write_bytes(path.read_bytes())
        with Ledger.open(twin) as other:
            assert other.settle() == ()
            assert other.settle(account.identity, force=True) == (account.identity,)
        account.debit(event(GDP(0.5)))  # the original knows nothing of it
        account.close()


def test_a_ledger_opened_by_another_name_knows_the_same_leases(path: Path, tmp_path: Path) -> None:
    with Ledger.create(path, GDP(1.0)) as ledger:
        (tmp_path / "link.sqlite").symlink_to(path)
        account = reserve(ledger, GDP(0.5))
        with Ledger.open(tmp_path / "link.sqlite") as other:
            with pytest.raises(LedgerError, match="process runs still"):
                other.settle(account.identity)
            linked = reserve(other, GDP(0.5))
        assert sorted(leases(path)) == sorted(f"budget.sqlite-{one.identity}.lease" for one in (account, linked))
        linked.close()
        account.close()
    assert leases(path) == []


def test_lock_files_that_were_left_behind_are_removed_and_others_are_not(path: Path) -> None:
    with Ledger.create(path, GDP(1.0)) as ledger:
        kept = ["budget.sqlite-backup.lease", "other.sqlite-0123456789ab.lease", "xbudget.sqlite-0123456789ab.lease"]
        for name in [*kept, "budget.sqlite-0123456789ab.lease"]:
            (path.parent / name).touch()
        running = reserve(ledger, GDP(0.5))
        ledger.settle()
        assert sorted(leases(path)) == sorted([*kept, f"budget.sqlite-{running.identity}.lease"])
        running.close()


def test_a_refused_reservation_leaves_no_lock(path: Path) -> None:
    with Ledger.create(path, GDP(1.0)) as ledger:
        for wrong in (GDP(1.1), "soup"):
            with pytest.raises((BudgetExceeded, ParameterError)):
                reserve(ledger, wrong)
    assert (leases(path), HELD) == ([], set())


@pytest.mark.parametrize("place", ["memory", "file"])
def test_an_account_that_everybody_has_lost_is_settled(place: str, path: Path) -> None:
    ledger = Ledger(GDP(1.0)) if place == "memory" else Ledger.create(path, GDP(1.0))
    account = reserve(ledger, GDP(0.9))
    account.debit(event(GDP(0.3)))
    assert ledger.settle() == ()
    del account
    assert len(ledger.settle()) == 1
    assert ledger.spent.mu == pytest.approx(0.3)
    ledger.close()


def test_a_copy_of_an_account_holds_no_lease(path: Path) -> None:
    with Ledger.create(path, GDP(1.0)) as ledger:
        account = reserve(ledger, GDP(0.5))
        copies = [copy.copy(account._lease), pickle.loads(pickle.dumps(account._lease))]
        for one in copies:
            one.release()
        assert ledger.settle() == ()
        account.close()


# -- what ends a fit --


@pytest.mark.parametrize("error", [KeyboardInterrupt, DataError])
@pytest.mark.parametrize(
    ("victim", "debits"),
    [
        ("cloister.cluster._base.Vault", 0),
        ("cloister.data._backend.LocalRows.fold", 1),
        ("cloister.privacy._events.Event.draw", 1),
    ],
)
def test_a_fit_that_is_interrupted_closes_its_account(
    path: Path, victim: str, debits: int, error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*args: object, **options: object) -> None:
        raise error

    with Ledger.create(path, epsilon=1.0, delta=1e-6) as ledger:
        with monkeypatch.context() as patch:
            patch.setattr(victim, stop)
            with pytest.raises(error):
                KMeans(2, bounds=(-1, 1), ledger=ledger, n_jobs=1).fit(np.zeros((5, 2)))
        assert [line["kind"] for line in ledger.lines] == ["budget", "reserve", *["debit"] * debits, "close"]
    assert leases(path) == []


# -- parameters --


def test_wrong_accounts_are_refused() -> None:
    ledger = Ledger(PureDP(1.0))
    with pytest.raises(ParameterError, match=r"Ledger\.settle\.account: expected an account of this ledger, got 'soup'"):
        ledger.settle("soup")
    with pytest.raises(ParameterError, match=r"Ledger\.settle\.force: expected an account with it, got None"):
        ledger.settle(force=True)
    with pytest.raises(ParameterError, match=r"Ledger\.settle\.force"):
        ledger.settle(force="yes")
