# SPDX-License-Identifier: Apache-2.0
"""Where the lines of a ledger lie: one append-only SQLite table, in memory or in a file that processes share.

A file appears under its name as a whole ledger, or not at all, and replaces none. Every write happens inside one
exclusive transaction that first reads what others have written and checks the chain of digests.
"""

import hashlib
import json
import os
import sqlite3
import threading
import uuid
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from cloister import validate
from cloister.exceptions import LedgerError
from cloister.privacy._events import LINE_VERSION
from cloister.privacy._lease import Leases
from cloister.privacy._ledger_state import LedgerState

APPLICATION_ID = 0x434C5354  # "CLST", written into the SQLite header
SCHEMA = (  # one table, to which lines can only be added
    "CREATE TABLE ledger (id INTEGER PRIMARY KEY, line TEXT NOT NULL, digest TEXT NOT NULL)",
    "CREATE TRIGGER no_update BEFORE UPDATE ON ledger BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END",
    "CREATE TRIGGER no_delete BEFORE DELETE ON ledger BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END",
    (
        "CREATE TRIGGER no_replace BEFORE INSERT ON ledger WHEN EXISTS (SELECT 1 FROM ledger WHERE id = NEW.id) "
        "BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END"
    ),
)
BUSY_SECONDS = 120.0
INHERITED: list[sqlite3.Connection] = []  # connections of a parent process: closing one here could undo its transaction


class LedgerStore:
    """The table of a ledger, in a file or (without `path`) in memory, and the state that its lines add up to."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.state = LedgerState()
        self.leases = Leases(path)
        self.is_closed = False  # for good: a ledger in memory that was closed, or a copy of one, takes no debits
        self._pid = os.getpid()
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None

    @classmethod
    def create(cls, place: Path, first: dict[str, Any]) -> None:
        """Make the file of a ledger: under its name a whole one appears, or none where its maker is killed."""
        with as_ledger_errors(place):
            if place.exists() or place.is_symlink():
                raise file_exists(place)
            draft = place.with_name(f".{place.name}.{uuid.uuid4().hex}")
            try:
                maker = cls(draft)
                maker.write_first(first)
                maker.close()
                publish_file(draft, place)
            finally:
                draft.unlink(missing_ok=True)

    @classmethod
    def open(cls, place: Path) -> "LedgerStore":
        """Return the store of a file that is there, and was not cut to nothing."""
        with as_ledger_errors(place):
            if not place.exists():
                raise LedgerError(
                    f"Ledger.open: there is no file {place.name!r}. Create a budget with Ledger.create(path, epsilon=...)."
                )
            if place.is_file() and place.stat().st_size == 0:
                raise LedgerError(f"Ledger.open: the file {place.name!r} is empty: a ledger was cut. Restore it from a backup.")
        return cls(place)

    def write_first(self, first: dict[str, Any]) -> None:
        """Make the table and write its first line, which grants the budget."""
        with as_ledger_errors(self.path):
            connection = self.connect()
            connection.execute("BEGIN EXCLUSIVE")
            for statement in (*SCHEMA, f"PRAGMA application_id = {APPLICATION_ID}"):
                connection.execute(statement)
            self.insert(connection, first)
            connection.execute("COMMIT")

    @contextmanager
    def transaction(self, *, write: bool = True) -> Iterator[tuple[sqlite3.Connection, LedgerState]]:
        """Hold the ledger, exclusively to write, with its state up to date; roll back on any error."""
        with as_ledger_errors(self.path):
            self.connect()
        with self._lock, as_ledger_errors(self.path):
            connection = self.connect()
            connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            try:
                self._catch_up(connection)
                yield connection, self.state
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:  # a full disk ends it by itself, and must be what is reported
                    connection.execute("ROLLBACK")
                raise

    def append(self, line: Callable[[LedgerState], dict[str, Any]]) -> None:
        """Write the line that `line` makes of the state as it is now; the state follows at the next look."""
        with self.transaction() as (connection, state):
            self.insert(connection, {"v": LINE_VERSION, **line(state)})

    def insert(self, connection: sqlite3.Connection, line: dict[str, Any]) -> None:
        """Write one line and its digest, inside the present transaction."""
        text, number = json.dumps(line, sort_keys=True), self.state.last + 1
        digest = _digest(self.state.digest, text)
        connection.execute("INSERT INTO ledger (id, line, digest) VALUES (?, ?, ?)", (number, text, digest))
        connection.execute(f"PRAGMA user_version = {number}")  # in the same transaction: shows if the last line is taken away

    def refresh(self) -> LedgerState:
        """Return the state, up to date."""
        with self.transaction(write=False):
            return self.state

    def lines(self) -> list[dict[str, Any]]:
        """Return every line, oldest first."""
        with self.transaction(write=False) as (connection, _):
            rows = connection.execute("SELECT line FROM ledger ORDER BY id").fetchall()
        return [json.loads(line) for (line,) in rows]

    def check_against(self, checkpoint: str) -> None:
        """Refuse a ledger that does not hold all it held when `checkpoint` was taken."""
        number, _, digest = str(checkpoint).strip().partition(":")
        if not (number.isdecimal() and number.isascii() and digest):
            validate.refuse("Ledger.checkpoint", "what ledger.checkpoint said", checkpoint, remedy="Pass it unchanged.")
        with self.transaction(write=False) as (connection, _):
            found = connection.execute("SELECT digest FROM ledger WHERE id = ?", (min(int(number), 2**62),)).fetchone()
        if found != (digest,):
            raise LedgerError(
                f"Ledger.open: expected line {number} of the checkpoint, got a ledger without it. Lines were cut off or "
                "replaced: restore the file from a backup."
            )

    def close(self) -> None:
        """Close the file; a table in memory is gone."""
        if self._connection is not None and self._pid == os.getpid():
            self._connection.close()
            self._connection = None
            self.is_closed = self.path is None

    # A pickled copy of a table in memory could spend the same budget again, so it is closed; one of a file opens the file.
    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path, "first": self.state.first}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["path"])  # type: ignore[misc]
        self.state.apply(state["first"])
        self.is_closed = self.path is None

    def connect(self) -> sqlite3.Connection:
        """Return this process's connection."""
        if self._pid != os.getpid():  # forked: neither the connection nor the lock may be used here
            if self._connection is not None:
                INHERITED.append(self._connection)
            self._pid, self._lock, self._connection = os.getpid(), threading.RLock(), None
            self.is_closed = self.path is None
            if self.path is not None:
                self.state = LedgerState()
        if self.is_closed:
            raise LedgerError(
                "Ledger: a copy of a ledger in memory, or one that was closed, takes no debits. Use Ledger.open(path) to share "
                "one among processes."
            )
        if self._connection is None:
            target = ":memory:" if self.path is None else str(self.path)
            self._connection = sqlite3.connect(target, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
            weakref.finalize(self, _let_go, self._connection, self._pid)
            self._connection.execute("PRAGMA synchronous = EXTRA")
        return self._connection

    def _catch_up(self, connection: sqlite3.Connection) -> None:
        """Read what has been written since the last look, by this process or another."""
        known = connection.execute("SELECT digest FROM ledger WHERE id = ?", (self.state.last,)).fetchone()
        if self.state.last and known != (self.state.digest,):  # lines this process has seen are gone
            raise _altered(self.state.last)
        query = "SELECT id, line, digest FROM ledger WHERE id > ? ORDER BY id"
        for number, text, digest in connection.execute(query, (self.state.last,)):
            if number != self.state.last + 1 or digest != _digest(self.state.digest, text):
                raise _altered(number)
            applied = False
            with suppress(ArithmeticError, LookupError, TypeError, ValueError):
                self.state.apply(json.loads(text))
                applied = True
            if not applied:
                raise _altered(number)
            self.state.last, self.state.digest = number, digest
        if connection.execute("PRAGMA user_version").fetchone() != (self.state.last,):
            raise _altered(self.state.last + 1)
        if not self.state.first:
            raise LedgerError("Ledger.open: the file holds no budget. Restore it from a backup.")


def ledger_path(path: str | os.PathLike[str]) -> Path:
    """Return where a ledger lies, so that a pickled copy, or a later change of folder, finds the same file."""
    if "\0" in str(path):
        raise LedgerError("Ledger: expected a name that a file can have, got one with a null character. Pass another path.")
    return Path(path).absolute()


def publish_file(draft: Path, place: Path) -> None:
    """Give a finished file its name, unless there is a file of that name by now."""
    try:
        os.link(draft, place)
        return
    except FileExistsError:
        pass
    except OSError:  # a file system without links
        with suppress(FileExistsError):
            place.open("xb").close()  # Windows replaces no file that is open
            os.replace(draft, place)
            return
    raise file_exists(place)


def file_exists(place: Path) -> LedgerError:
    """Return the error that says why a file is not replaced."""
    return LedgerError(
        f"Ledger.create: there is a file {place.name!r} already. A budget is never replaced: use Ledger.open(path), or "
        "choose another name."
    )


@contextmanager
def as_ledger_errors(path: Path | None) -> Iterator[None]:
    """Turn what the database or the disk says into an error that names the file and the true reason."""
    reason = ""
    try:
        yield
    except (sqlite3.Error, OSError, UnicodeError) as error:  # a damaged page may hold no text
        reason = str((error.strerror if isinstance(error, OSError) else error) or type(error).__name__)
    if reason:
        name = "the ledger in memory" if path is None else repr(path.name)
        raise LedgerError(
            f"Ledger: {name} cannot be used ({reason}). Check that it is a ledger file on a local disk that you may write to."
        )


def _let_go(connection: sqlite3.Connection, pid: int) -> None:
    """Close the connection of a store that nobody holds any more (Python 3.13 warns else); keep one that a parent opened."""
    if pid == os.getpid():
        connection.close()
    else:
        INHERITED.append(connection)


def _altered(number: int) -> LedgerError:
    return LedgerError(f"Ledger: line {number} was altered or removed. Restore the file from a backup.")


def _digest(previous: str, text: str) -> str:
    return hashlib.sha256(f"{previous}\n{text}".encode()).hexdigest()
