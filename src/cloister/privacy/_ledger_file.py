# SPDX-License-Identifier: Apache-2.0
"""The file of a ledger: its table, how it gets its name, and what is said when it cannot be used."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cloister.exceptions import LedgerError

__all__ = ["as_ledger_errors", "create_table", "file_exists", "ledger_path", "publish_file", "refuse_missing"]

APPLICATION_ID = 0x434C5354  # "CLST", written into the SQLite header
SCHEMA = """
CREATE TABLE ledger (id INTEGER PRIMARY KEY, line TEXT NOT NULL, digest TEXT NOT NULL);
CREATE TRIGGER no_update BEFORE UPDATE ON ledger BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END;
CREATE TRIGGER no_delete BEFORE DELETE ON ledger BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END;
CREATE TRIGGER no_replace BEFORE INSERT ON ledger WHEN EXISTS (SELECT 1 FROM ledger WHERE id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END;
"""


def create_table(connection: sqlite3.Connection) -> None:
    """Make the one table, to which lines can only be added, inside the current transaction."""
    for statement in SCHEMA.strip().split(";\nCREATE"):
        connection.execute(statement if statement.startswith("CREATE") else f"CREATE{statement}")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")


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


def refuse_missing(place: Path) -> None:
    """Refuse to open what is not there, or what was cut to nothing."""
    if not place.exists():
        raise LedgerError(
            f"Ledger.open: there is no file {place.name!r}. Create a budget with Ledger.create(path, epsilon=...)."
        )
    if place.is_file() and place.stat().st_size == 0:
        raise LedgerError(f"Ledger.open: the file {place.name!r} is empty: a ledger was cut. Restore it from a backup.")


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
