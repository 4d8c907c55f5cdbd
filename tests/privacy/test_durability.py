# SPDX-License-Identifier: Apache-2.0
"""A debit is on the disk before it returns: how a ledger's file is written, by every connection that writes to it.

SQLite's own words for it: ``synchronous = EXTRA`` (3) flushes the file before a commit returns, and the folder after the
journal is gone, so that no power cut brings the journal back and undoes the debit. With OFF (0) all tests of killed processes
pass, and a power cut loses debits. A journal in memory, or none, would lose the file itself.
"""

import pickle
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cloister import Ledger
from cloister.privacy import GDP

from ._paid import event, reserve

EXTRA = 3
JOURNALS_ON_DISK = {"delete", "truncate", "persist"}


@pytest.fixture
def connections(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[sqlite3.Connection]]:
    """Every connection that is made."""
    made: list[Watched] = []
    connect = sqlite3.connect

    def watched(*args: object, **options: object) -> sqlite3.Connection:
        connection = connect(*args, factory=Watched, **options)
        made.append(connection)
        return connection

    monkeypatch.setattr(sqlite3, "connect", watched)
    yield made
    for connection in made:
        connection.close()


class Watched(sqlite3.Connection):
    """A connection that looks at its own settings before it writes a line."""

    def __init__(self, *args: object, **options: object) -> None:
        super().__init__(*args, **options)
        self.settings: list[tuple[int, str]] = []

    def execute(self, statement: str, *args: object) -> sqlite3.Cursor:
        if statement.startswith("INSERT"):
            (level,), (journal,) = (super(Watched, self).execute(f"PRAGMA {name}").fetchone() for name in SETTINGS)
            self.settings.append((level, journal))
        return super().execute(statement, *args)


SETTINGS = ("synchronous", "journal_mode")


WAYS: dict[str, Callable[[Ledger], Ledger]] = {
    "created": lambda ledger: ledger,
    "opened": lambda ledger: ledger.close() or Ledger.open(ledger.path),
    "used again": lambda ledger: ledger.close() or ledger,
    "unpickled": lambda ledger: pickle.loads(pickle.dumps(ledger)),
}


@pytest.mark.parametrize("way", WAYS)
def test_every_line_is_flushed_to_the_disk(way: str, path: Path, connections: list[Watched]) -> None:
    ledger = WAYS[way](Ledger.create(path, GDP(1.0)))
    before = sum(len(connection.settings) for connection in connections)
    with reserve(ledger, GDP(0.1)) as account:
        for _ in range(2):
            account.debit(event(GDP(0.05)))
    settings = [pair for connection in connections for pair in connection.settings]
    assert len(settings) == before + 4  # a reservation, two debits, the end
    assert all(level == EXTRA and journal in JOURNALS_ON_DISK for level, journal in settings)


def test_a_debit_is_committed_when_it_returns(path: Path) -> None:
    with Ledger.create(path, GDP(1.0)) as ledger:
        account = reserve(ledger, GDP(0.1))
        for number in (1, 2):
            account.debit(event(GDP(0.05)))
            with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as other:
                assert other.execute("SELECT count(*) FROM ledger WHERE line LIKE '%\"debit\"%'").fetchone() == (number,)
            other.close()
        assert not list(path.parent.glob("*-journal"))  # nothing is left that would undo it
