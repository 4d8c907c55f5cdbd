# SPDX-License-Identifier: Apache-2.0
"""Settling: closing the accounts of fits whose process is gone, so that what counts is what their answers cost."""

from cloister import validate
from cloister.exceptions import LedgerError
from cloister.privacy._ledger_state import AccountState
from cloister.privacy._ledger_store import LedgerStore

__all__ = ["settle"]


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
            if named:
                raise _may_run(account, known=held is True)
            return False
        store.insert(connection, {**account.close_line(), "settled": True})
    return True


def _may_run(account: AccountState, *, known: bool) -> LedgerError:
    state = "runs still" if known else "may still run: there is no lock beside the ledger that would say so"
    return LedgerError(
        f"Ledger.settle: expected an account whose process is gone, got {account.identity!r}, a {account.purpose} whose "
        f"process {state}. Wait for it, or pass force=True (--force): a fit that runs then fails at its next question."
    )
