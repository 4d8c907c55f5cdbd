# SPDX-License-Identifier: Apache-2.0
"""The ledger: a budget that pays before an answer is computed, in memory or in a SQLite file that processes share.

A ledger is one append-only table of JSON lines. Each line carries the SHA-256 digest of itself and the line before, so an edit
anywhere shows. The kinds of line are

- ``budget``: the first line; the total guarantee and the neighbouring relation it is about;
- ``reserve``: a fit sets aside its whole budget at once, so that two fits cannot each spend half and both be refused;
- ``debit``: one event, written and flushed to disk before its answer is computed;
- ``close``: the fit is over; what it reserved but did not debit is free again.

The lines of a fit carry the day on which it reserved its budget and no time of day: how long an answer took says something
about the rows. An open account counts with all it reserved. So a process that is killed leaves a ledger that says more was
spent than was answered, never less. Every write happens inside one exclusive transaction that first reads what others have
written.
"""

import hashlib
import json
import os
import sqlite3
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from cloister import validate
from cloister.domain import Relation
from cloister.exceptions import BudgetExceeded, LedgerError
from cloister.privacy._accounting import Tally, left_of
from cloister.privacy._events import LINE_VERSION, Event, event_from_line, today
from cloister.privacy._guarantees import Cost, Guarantee
from cloister.privacy._ledger_file import as_ledger_errors, create_table, file_exists, place_of, publish_file, refuse_missing
from cloister.privacy._ledger_state import LedgerState, refuse_unless_it_fits
from cloister.privacy._ledger_terms import first_line, total_of

__all__ = ["Account", "Ledger"]

BUSY_SECONDS = 120.0
INHERITED: list[sqlite3.Connection] = []  # connections of a parent process: closing one here could undo its transaction


class Ledger:
    """A privacy budget that many fits share.

    Parameters
    ----------
    budget : PureDP, ApproxDP, ZCDP or GDP, optional
        The total. `epsilon` and `delta` are the shortcut.
    epsilon, delta : float, optional
        The total as (epsilon, delta); ``delta=0`` is pure differential privacy.
    neighbours : {"add-remove", "replace"}, default="add-remove"
        Which tables count as neighbours. A fit under the other relation is refused.
    name : str, default=""
        What the budget is for; printed with it.
    planned : bool, default=False
        Whether kind and cost of every fit are fixed before the first answer. Then Gaussian and pure fits that share an
        (epsilon, delta) budget are composed more tightly, with `dp-accounting`. Leave it off if results may decide what is
        fitted next.
    pure_epsilon : float, default=0.0
        The part of an (epsilon, delta) budget that is set aside for pure fits (``delta=0``); Gaussian fits share the rest.
        With 0, a pure fit beside Gaussian ones counts as the Gaussian fit it is equivalent to, which is dear: set a part
        aside if you plan fits of both kinds.

    Notes
    -----
    **Privacy.** The total holds for everything debited here together, also when later fits depend on earlier results. One
    ledger should cover one table of people; Cloister cannot know whether two tables hold the same ones. A ledger lists what
    was asked and how noisy the answers were, never an answer. A clone of a ledger is the ledger itself; a pickled copy of
    a ledger in memory is closed to debits, one in a file opens the same file.

    Examples
    --------
    >>> ledger = Ledger(epsilon=1.0, delta=1e-6)
    >>> ledger.budget
    ApproxDP(epsilon=1.0, delta=1e-06)
    >>> round(ledger.left, 3)
    1.0
    """

    _path: Path | None
    _connection: sqlite3.Connection | None
    _state: LedgerState

    def __init__(
        self,
        budget: Guarantee | None = None,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        neighbours: str = "add-remove",
        name: str = "",
        planned: bool = False,
        pure_epsilon: float = 0.0,
    ) -> None:
        first = first_line(total_of(budget, epsilon, delta), neighbours, name, planned=planned, pure_epsilon=pure_epsilon)
        self._setup(path=None)
        self._write_first(first)
        self._refresh()

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        budget: Guarantee | None = None,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        neighbours: str = "add-remove",
        name: str = "",
        planned: bool = False,
        pure_epsilon: float = 0.0,
    ) -> "Ledger":
        """Create a ledger in a new file. A file that exists is never replaced: a budget is granted once.

        Parameters
        ----------
        path : str or path
            Where there is no file yet, on a local disk: network file systems often do not lock.
        budget, epsilon, delta, neighbours, name, planned, pure_epsilon
            As for the class.

        Returns
        -------
        Ledger
            Open for debits.

        Raises
        ------
        LedgerError
            If there is a file already, or none can be written there.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder) / "budget.sqlite"
        ...     with Ledger.create(path, epsilon=2.0, delta=1e-6) as ledger:
        ...         print(ledger.budget)
        epsilon = 2, delta = 1e-06
        """
        first = first_line(total_of(budget, epsilon, delta), neighbours, name, planned=planned, pure_epsilon=pure_epsilon)
        place = place_of(path)
        with as_ledger_errors(place):
            if place.exists() or place.is_symlink():
                raise file_exists(place)
            draft = place.with_name(f".{place.name}.{uuid.uuid4().hex}")
            try:  # a whole ledger appears under its name, or none: a maker that is killed leaves no half of one
                maker = cls.__new__(cls)
                maker._setup(path=draft)
                maker._write_first(first)
                maker.close()
                publish_file(draft, place)
            finally:
                draft.unlink(missing_ok=True)
        return cls.open(place)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        budget: Guarantee | None = None,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        neighbours: str | None = None,
        name: str | None = None,
        planned: bool | None = None,
        pure_epsilon: float | None = None,
        checkpoint: str | None = None,
    ) -> "Ledger":
        """Open the ledger in a file that exists; :meth:`create` makes one.

        Parameters
        ----------
        path : str or path
            The file.
        budget, epsilon, delta, neighbours, name, planned, pure_epsilon
            As for the class. All may be left out; what is given must be what the file says.
        checkpoint : str, optional
            What :attr:`checkpoint` said earlier. The ledger must still hold all it held then, so that lines cut off its
            end are found, too.

        Returns
        -------
        Ledger
            Open for debits.

        Raises
        ------
        LedgerError
            If the file is missing or empty, is no ledger, was altered, or says something else than was given.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder) / "budget.sqlite"
        ...     Ledger.create(path, epsilon=2.0, delta=1e-6).close()
        ...     with Ledger.open(path, neighbours="add-remove") as ledger:
        ...         print(round(ledger.left, 6))
        2.0
        """
        place = place_of(path)
        wanted = {
            "budget": None if budget is None and epsilon is None else total_of(budget, epsilon, delta),
            "neighbours": None if neighbours is None else Relation.parse("Ledger.neighbours", neighbours).value,
            "name": name,
            "planned": None if planned is None else validate.boolean("Ledger.planned", planned),
            "pure_epsilon": pure_epsilon,
        }
        ledger = cls.__new__(cls)
        ledger._setup(path=place)
        with as_ledger_errors(place):
            refuse_missing(place)
        try:
            ledger._refresh()
            ledger._compare(wanted)
            if checkpoint is not None:
                ledger._check_against(checkpoint)
        except BaseException:
            ledger.close()
            raise
        return ledger

    # -- what a ledger says ---------------------------------------------------------------------------------------------

    @property
    def budget(self) -> Guarantee:
        """The total guarantee."""
        return self._state.budget

    @property
    def neighbours(self) -> str:
        """The neighbouring relation the budget is about."""
        return self._state.relation.value

    @property
    def name(self) -> str:
        """What the budget is for."""
        return self._state.name

    @property
    def planned(self) -> bool:
        """Whether all costs are fixed before the first answer."""
        return self._state.composition.planned

    @property
    def pure_epsilon(self) -> float:
        """The part of the budget that is set aside for pure fits."""
        return self._state.composition.pure_epsilon

    @property
    def path(self) -> Path | None:
        """The file, or None in memory."""
        return self._path

    @property
    def spent(self) -> Tally:
        """All that counts against the budget now: debits of closed accounts and reservations of open ones."""
        return self._refresh().spent()

    @property
    def left(self) -> float:
        """The largest further fit that is not refused, in the budget's currency: epsilon (at its delta), rho or mu.

        Of an (epsilon, delta) budget: the largest Gaussian fit; :attr:`left_pure` is the largest pure one.
        """
        return left_of(self.budget, self.spent, composition=self._state.composition)

    @property
    def left_pure(self) -> float:
        """The epsilon of the largest further pure fit (``delta=0``) that is not refused."""
        return left_of(self.budget, self.spent, composition=self._state.composition, pure=True)

    @property
    def checkpoint(self) -> str:
        """The number of the last line and its digest. Keep it elsewhere: ``Ledger.open(path, checkpoint=...)`` finds a cut."""
        state = self._refresh()
        return f"{state.last}:{state.digest}"

    @property
    def lines(self) -> list[dict[str, Any]]:
        """Every line, oldest first, as plain data; the chain of digests is checked on the way."""
        with self._transaction(write=False) as (connection, _):
            rows = connection.execute("SELECT line FROM ledger ORDER BY id").fetchall()
        return [json.loads(line) for (line,) in rows]

    @property
    def events(self) -> list[Event]:
        """Every debit, oldest first."""
        return [event_from_line(line) for line in self.lines if line["kind"] == "debit"]

    def summary(self) -> dict[str, Any]:
        """Return budget, spending and accounts as plain data."""
        state = self._refresh()
        spent, composition = state.spent(), state.composition
        return {
            "name": state.name,
            "budget": state.budget.to_dict(),
            "neighbours": state.relation.value,
            "planned": composition.planned,
            "pure_epsilon": composition.pure_epsilon,
            "spent": spent.describe(state.budget, composition=composition) if not spent.empty else "nothing",
            "left": left_of(state.budget, spent, composition=composition),
            "left_pure": left_of(state.budget, spent, composition=composition, pure=True),
            "digest": state.digest,
            "checkpoint": f"{state.last}:{state.digest}",
            "accounts": [account.to_dict(state.budget, composition) for account in state.accounts.values()],
        }

    # -- what a ledger does ---------------------------------------------------------------------------------------------

    def reserve(self, cost: Cost, *, purpose: str, relation: Relation) -> "Account":
        """Set aside `cost` for one fit and return the account it debits.

        Raises
        ------
        BudgetExceeded
            If it does not fit into what is left; nothing is written then.
        LedgerError
            If the relation is not the ledger's.
        """
        identity = uuid.uuid4().hex[:12]
        if not isinstance(cost, Cost):
            validate.refuse("Ledger.reserve", "GDP or PureDP", cost, remedy="Convert a budget with gaussian_budget first.")

        def lines(state: LedgerState) -> dict[str, Any]:
            if relation is not state.relation:
                raise LedgerError(
                    f"Ledger.reserve: this ledger is about {state.relation.value!r} neighbours, the fit about "
                    f"{relation.value!r}. Pass neighbours={state.relation.value!r} or another ledger."
                )
            refuse_unless_it_fits(state, cost)
            return {"kind": "reserve", "when": today(), "account": identity, "purpose": purpose, "cost": cost.to_dict()}

        self._append(lines)
        return Account(self, identity)

    def close(self) -> None:
        """Close the file; what was debited stays debited."""
        if self._connection is not None and self._pid == os.getpid():
            self._connection.close()
            self._connection = None
            self._orphan = self._path is None

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        place = "memory" if self._path is None else self._path.name
        return f"<Ledger {self.name!r} in {place}: {self._state.budget}>"

    # One identity: a copy that could spend the same budget again must not exist.
    def __sklearn_clone__(self) -> "Ledger":
        return self

    def __copy__(self) -> "Ledger":
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "Ledger":
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {"path": None if self._path is None else str(self._path), "first": self._state.first}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._setup(path=None if state["path"] is None else Path(state["path"]))
        self._state.apply(state["first"])
        self._orphan = self._path is None

    # -- storage --------------------------------------------------------------------------------------------------------

    def _setup(self, path: Path | None) -> None:
        self._path = path
        self._pid = os.getpid()
        self._lock = threading.RLock()
        self._connection = None
        self._state = LedgerState()
        self._orphan = False

    def _write_first(self, first: dict[str, Any]) -> None:
        with as_ledger_errors(self._path):
            connection = self._connect()
            connection.execute("BEGIN EXCLUSIVE")
            create_table(connection)
            self._insert(connection, first)
            connection.execute("COMMIT")

    def _compare(self, wanted: dict[str, Any]) -> None:
        """Refuse to open a ledger that says something else than the caller does."""
        for word, value in wanted.items():
            found = getattr(self, word)
            if value is not None and value != found:
                said, given = (str(found), str(value)) if word == "budget" else (repr(found), repr(value))
                raise LedgerError(
                    f"Ledger.open: expected {word} as in the file ({said}), got {given}. Leave it out, or open another ledger."
                )

    def _check_against(self, checkpoint: str) -> None:
        """Refuse a ledger that does not hold all it held when `checkpoint` was taken."""
        number, _, digest = str(checkpoint).strip().partition(":")
        if not (number.isdecimal() and number.isascii() and digest):
            validate.refuse("Ledger.checkpoint", "what ledger.checkpoint said", checkpoint, remedy="Pass it unchanged.")
        with self._transaction(write=False) as (connection, _):
            found = connection.execute("SELECT digest FROM ledger WHERE id = ?", (min(int(number), 2**62),)).fetchone()
        if found != (digest,):
            raise LedgerError(
                f"Ledger.open: expected line {number} of the checkpoint, got a ledger without it. Lines were cut off or "
                "replaced: restore the file from a backup."
            )

    def _connect(self) -> sqlite3.Connection:
        if self._pid != os.getpid():  # forked: neither the connection nor the lock may be used here
            if self._connection is not None:
                INHERITED.append(self._connection)
            self._pid, self._lock, self._connection = os.getpid(), threading.RLock(), None
            self._orphan = self._path is None
            if self._path is not None:
                self._state = LedgerState()
        if self._orphan:
            raise LedgerError(
                "Ledger: a copy of a ledger in memory, or one that was closed, takes no debits. Use Ledger.open(path) to share "
                "one among processes."
            )
        if self._connection is None:
            target = ":memory:" if self._path is None else str(self._path)
            self._connection = sqlite3.connect(target, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
            self._connection.execute("PRAGMA synchronous = EXTRA")
        return self._connection

    @contextmanager
    def _transaction(self, *, write: bool = True) -> Iterator[tuple[sqlite3.Connection, LedgerState]]:
        """Hold the ledger, exclusively to write, with its state up to date; roll back on any error."""
        with as_ledger_errors(self._path):
            self._connect()
        with self._lock, as_ledger_errors(self._path):
            connection = self._connect()
            connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            try:
                self._catch_up(connection)
                yield connection, self._state
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:  # a full disk ends it by itself, and must be what is reported
                    connection.execute("ROLLBACK")
                raise

    def _append(self, line: Callable[[LedgerState], dict[str, Any]]) -> None:
        """Write the line that `line` makes of the state as it is now; the state follows at the next look."""
        with self._transaction() as (connection, state):
            self._insert(connection, {"v": LINE_VERSION, **line(state)})

    def _insert(self, connection: sqlite3.Connection, line: dict[str, Any]) -> None:
        text, number = json.dumps(line, sort_keys=True), self._state.last + 1
        digest = _digest(self._state.digest, text)
        connection.execute("INSERT INTO ledger (id, line, digest) VALUES (?, ?, ?)", (number, text, digest))
        connection.execute(f"PRAGMA user_version = {number}")  # in the same transaction: shows if the last line is taken away

    def _refresh(self) -> LedgerState:
        with self._transaction(write=False):
            return self._state

    def _catch_up(self, connection: sqlite3.Connection) -> None:
        """Read what has been written since the last look, by this process or another."""
        known = connection.execute("SELECT digest FROM ledger WHERE id = ?", (self._state.last,)).fetchone()
        if self._state.last and known != (self._state.digest,):  # lines this process has seen are gone
            raise _altered(self._state.last)
        query = "SELECT id, line, digest FROM ledger WHERE id > ? ORDER BY id"
        for number, text, digest in connection.execute(query, (self._state.last,)):
            if number != self._state.last + 1 or digest != _digest(self._state.digest, text):
                raise _altered(number)
            applied = False
            with suppress(ArithmeticError, LookupError, TypeError, ValueError):
                self._state.apply(json.loads(text))
                applied = True
            if not applied:
                raise _altered(number)
            self._state.last, self._state.digest = number, digest
        if connection.execute("PRAGMA user_version").fetchone() != (self._state.last,):
            raise _altered(self._state.last + 1)
        if not self._state.first:
            raise LedgerError("Ledger.open: the file holds no budget. Restore it from a backup.")


class Account:
    """What one fit may debit: part of a ledger, set aside at once."""

    def __init__(self, ledger: Ledger, identity: str) -> None:
        self._ledger = ledger
        self._identity = identity

    @property
    def identity(self) -> str:
        """The account's name in the ledger."""
        return self._identity

    @property
    def ledger(self) -> Ledger:
        """The ledger it belongs to."""
        return self._ledger

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
            if account.closed or not account.takes(stamped.cost):
                raise BudgetExceeded(
                    f"Ledger.debit: {stamped.question_name!r} does not fit into what this fit reserved "
                    f"({'closed' if account.closed else account.cost}). This is a fault of the method; please report it."
                )
            written.append(stamped)
            return {**stamped.to_line(), "kind": "debit", "account": self._identity}

        self._ledger._append(line)
        return written[0]

    def close(self) -> None:
        """Give back what was reserved and not debited. Closing twice does nothing."""
        with self._ledger._transaction() as (connection, state):
            account = state.accounts[self._identity]
            if not account.closed:
                line = {"v": LINE_VERSION, "when": account.when, "kind": "close", "account": self._identity}
                self._ledger._insert(connection, line)


def _altered(number: int) -> LedgerError:
    return LedgerError(f"Ledger: line {number} was altered or removed. Restore the file from a backup.")


def _digest(previous: str, text: str) -> str:
    return hashlib.sha256(f"{previous}\n{text}".encode()).hexdigest()
