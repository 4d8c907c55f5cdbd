# SPDX-License-Identifier: Apache-2.0
"""The account of one fit: every answer is debited from what the fit reserved, before the answer is computed."""

from typing import Any, Self

from cloister.exceptions import BudgetExceeded, LedgerError
from cloister.privacy._events import Event
from cloister.privacy._lease import Lease
from cloister.privacy._ledger_state import LedgerState
from cloister.privacy._ledger_store import LedgerStore

__all__ = ["Account"]


class Account:
    """What one fit may debit: part of a ledger, set aside at once."""

    def __init__(self, store: LedgerStore, identity: str, lease: Lease) -> None:
        self._store = store
        self._identity = identity
        self._lease = lease

    @property
    def identity(self) -> str:
        """The account's name in the ledger."""
        return self._identity

    def debit(self, event: Event) -> Event:
        """Write one event; return it with the day of the fit. Nothing is written if it does not fit into the reservation."""
        written: list[Event] = []

        def line(state: LedgerState) -> dict[str, Any]:
            account = state.accounts[self._identity]
            stamped = event.dated(account.when)
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
            return {**stamped.to_line(), "kind": "debit", "account": self._identity}

        self._store.append(line)
        return written[0]

    def close(self) -> None:
        """Give back what was reserved and not debited. Closing twice does nothing."""
        with self._store.transaction() as (connection, state):
            account = state.accounts[self._identity]
            if not account.closed:
                self._store.insert(connection, account.close_line())
        self._lease.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
