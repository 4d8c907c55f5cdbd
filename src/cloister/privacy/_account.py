# SPDX-License-Identifier: Apache-2.0
"""The account of one fit: every answer is debited from what the fit reserved, before the answer is computed.

An account is closed by its fit or, where the process of that is gone, by settling: then it counts as what its answers cost.
"""

from dataclasses import replace
from typing import Any, Self

from cloister import validate
from cloister.exceptions import BudgetExceeded, LedgerError
from cloister.privacy._events import Event
from cloister.privacy._lease import Lease
from cloister.privacy._ledger_state import LedgerState
from cloister.privacy._ledger_store import LedgerStore


class Account:
    """What one fit may debit: part of a ledger, set aside at once."""

    def __init__(self, store: LedgerStore, identity: str, lease: Lease) -> None:
        self._store = store
        self.identity = identity  # its name in the ledger
        self._lease = lease

    def debit(self, event: Event) -> Event:
        """Write one event; return it with the day of the fit. Nothing is written if it does not fit into the reservation."""
        written: list[Event] = []

        def line(state: LedgerState) -> dict[str, Any]:
            account = state.accounts[self.identity]
            stamped = replace(event, when=account.when)
            if stamped.relation != state.relation.value:
                raise LedgerError(
                    f"Ledger.debit: this ledger is about {state.relation.value!r} neighbours, the event about "
                    f"{stamped.relation!r}. This is a fault of the method; please report it."
                )
            if account.settled:
                raise LedgerError(
                    "Ledger.debit: this account was settled while its fit was still running, so nothing was answered any more. "
                    "Fit again; settle only accounts whose process is gone."
                )
            if account.closed or not account.covers(stamped.cost):
                raise BudgetExceeded(
                    f"Ledger.debit: {stamped.question_name!r} does not fit into what this fit reserved "
                    f"({'closed' if account.closed else account.cost}). This is a fault of the method; please report it."
                )
            written.append(stamped)
            return {**stamped.to_line(), "kind": "debit", "account": self.identity}

        self._store.append(line)
        return written[0]

    def close(self) -> None:
        """Give back what was reserved and not debited. Closing twice does nothing."""
        with self._store.transaction() as (connection, state):
            account = state.accounts[self.identity]
            if not account.closed:
                self._store.insert(connection, account.close_line())
        self._lease.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def settle(store: LedgerStore, account: str | None, *, force: bool) -> tuple[str, ...]:
    """Close an account or, by default, all whose process is known to be gone; return those that were closed."""
    accounts = store.refresh().accounts
    if account is None and force:
        validate.refuse("Ledger.settle.force", "an account with it", None, remedy="Name the account to close.")
    if account is not None and account not in accounts:
        validate.refuse("Ledger.settle.account", "an account of this ledger", account, remedy="See Ledger.summary().")
    named = account is not None
    chosen = [account] if account is not None else [name for name, one in accounts.items() if not one.closed]
    closed = tuple(name for name in chosen if _close(store, name, named=named, force=force))
    with store.transaction() as (_, state):  # in which no fit can take a lease
        store.leases.clear({name for name, one in state.accounts.items() if not one.closed})
    return closed


def _close(store: LedgerStore, name: str, *, named: bool, force: bool) -> bool:
    """Close an account that is open still and whose lease nobody holds; say whether that was done."""
    with store.transaction() as (connection, state):
        account = state.accounts[name]
        if account.closed:
            return False
        held = store.leases.is_held(name)
        if held is not False and not force:
            if not named:
                return False
            state_of = "runs still" if held else "may still run: there is no lock beside the ledger that would say so"
            raise LedgerError(
                f"Ledger.settle: expected an account whose process is gone, got {account.identity!r}, a {account.purpose} "
                f"whose process {state_of}. Wait for it, or pass force=True (--force): a fit that runs then fails at its next "
                "question."
            )
        store.insert(connection, {**account.close_line(), "settled": True})
    return True
