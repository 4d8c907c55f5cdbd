# SPDX-License-Identifier: Apache-2.0
"""Leases: what tells an account whose fit still runs from one whose process is gone.

Each open account of a ledger in a file has an empty lock file beside it, which its process keeps locked. The operating system
drops the lock when the process ends, however it ends, so that nothing about times or processes is written down. A lease is a
courtesy to fits that run; that nothing unpaid leaves rests on the ledger alone, which takes no debits of a closed account.
"""

import os
import re
import sys
import weakref
from collections.abc import Container
from contextlib import suppress
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

HELD: set[int] = set()  # descriptors of the locks that this process holds


class Lease:
    """The lock on one account: held from the moment it is taken until it is released, forgotten, or the process ends."""

    def __init__(self, place: Path | None) -> None:
        self._place = place

    def take(self) -> None:
        """Make the lock file and lock it; where that cannot be done, the account has no lease."""
        if self._place is None:
            return
        with suppress(OSError):
            descriptor = os.open(self._place, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
            HELD.add(descriptor)
            self._drop = weakref.finalize(self, _drop, descriptor)
            try:
                _lock(descriptor)
            except OSError:  # a file system without locks
                self.release()

    def release(self) -> None:
        """Drop the lock and remove its file."""
        if hasattr(self, "_drop") and self._place is not None:
            self._drop()
            with suppress(OSError):
                self._place.unlink()

    def __reduce__(self) -> tuple[type["Lease"], tuple[None]]:
        return Lease, (None,)  # a copy holds nothing


class Leases:
    """The leases on the accounts of one ledger."""

    def __init__(self, ledger: Path | None) -> None:
        self._ledger = None if ledger is None else Path(os.path.realpath(ledger))
        self._in_memory: weakref.WeakValueDictionary[str, Lease] = weakref.WeakValueDictionary()

    def new(self, account: str) -> Lease:
        """Return the lease on a new account, not yet taken."""
        lease = Lease(None if self._ledger is None else self._place(self._ledger, account))
        if self._ledger is None:
            self._in_memory[account] = lease
        return lease

    def is_held(self, account: str) -> bool | None:
        """Whether somebody holds the lease on an account; None where there is none, or it cannot be tried."""
        if self._ledger is None:
            return account in self._in_memory
        return _is_locked(self._place(self._ledger, account))

    def clear(self, open_accounts: Container[str]) -> None:
        """Remove the lock files of accounts that are not open, as killed processes leave them behind."""
        if self._ledger is None:
            return
        name = re.compile(rf"{re.escape(self._ledger.name)}-([0-9a-f]{{12}})\.lease")
        with suppress(OSError):
            for place in list(self._ledger.parent.iterdir()):
                found = name.fullmatch(place.name)
                if found is not None and found[1] not in open_accounts and _is_locked(place) is False:
                    place.unlink()

    @staticmethod
    def _place(ledger: Path, account: str) -> Path:
        return ledger.with_name(f"{ledger.name}-{account}.lease")


def _lock(descriptor: int) -> None:
    """Lock an open file, or raise at once."""
    if sys.platform == "win32":
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _is_locked(place: Path) -> bool | None:
    """Whether somebody has locked a file; None where there is no such file, or it cannot be tried."""
    try:
        descriptor = os.open(place, os.O_RDWR)
    except OSError:
        return None
    try:
        _lock(descriptor)
    except (BlockingIOError, PermissionError):
        return True
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return False


def _drop(descriptor: int) -> None:
    if descriptor in HELD:
        HELD.remove(descriptor)
        os.close(descriptor)


def _forget() -> None:
    """Close a forked child's copies of its parent's locks: else it would hold them when the parent is gone."""
    for descriptor in tuple(HELD):
        _drop(descriptor)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
