# SPDX-License-Identifier: Apache-2.0
"""A ledger pays first, refuses what does not fit, has one identity, and shows when it was altered."""

import copy
import json
import math
import os
import pickle
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from cloister import PEMeans
from cloister.domain import Relation
from cloister.exceptions import BudgetExceeded, LedgerError, ParameterError
from cloister.privacy import (
    GDP,
    ZCDP,
    Account,
    ApproxDP,
    Cost,
    Event,
    Guarantee,
    Ledger,
    PureDP,
    Tally,
    _ledger,
    gaussian_budget,
    price,
)

ADD = Relation.ADD_REMOVE
MakeLedger = Callable[..., Ledger]


@pytest.fixture(params=["memory", "file"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MakeLedger]:
    made: list[Ledger] = []

    def build(budget: Guarantee, **options: str) -> Ledger:
        if request.param == "memory":
            made.append(Ledger(budget, **options))
        else:
            made.append(Ledger.open(tmp_path / f"ledger{len(made)}.sqlite", budget, **options))
        return made[-1]

    yield build
    for ledger in made:
        ledger.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "budget.sqlite"


def reserve(ledger: Ledger, cost: Cost, *, relation: Relation = ADD) -> Account:
    return ledger.reserve(cost, purpose="test", relation=relation)


def event(cost: Cost, *, relation: Relation = ADD) -> Event:
    return price(cost, asked="votes", size=1, l1=1.0, l2=1.0, unit=1.0, relation=relation, seeded=True)


def spend(ledger: Ledger, cost: Cost) -> None:
    """Reserve, debit and close."""
    account = reserve(ledger, cost)
    account.debit(event(cost))
    account.close()


# -- what it says --


def test_a_new_ledger_has_all_of_its_budget(make: MakeLedger) -> None:
    for budget, total in [(PureDP(2.0), 2.0), (ApproxDP(2.0, 1e-6), 2.0), (ZCDP(0.3), 0.3), (GDP(0.7), 0.7)]:
        ledger = make(budget, name="patients", neighbours="replace")
        assert ledger.left == pytest.approx(total, rel=1e-6)
        assert ledger.spent.empty
        assert (ledger.budget, ledger.name, ledger.neighbours) == (budget, "patients", "replace")
        assert ledger.summary()["spent"] == "nothing"


def test_a_ledger_lists_what_was_asked_and_never_an_answer(make: MakeLedger) -> None:
    ledger = make(ZCDP(1.0))
    account = reserve(ledger, GDP(0.5))
    paid = account.debit(event(GDP(0.25)))
    account.close()
    assert [line["kind"] for line in ledger.lines] == ["budget", "reserve", "debit", "close"]
    assert ledger.events == [paid]
    assert paid.when
    assert set(ledger.lines[2]) == {"v", "kind", "account", *paid.to_line()}
    assert ledger.summary()["accounts"] == [
        {
            "account": account.identity,
            "purpose": "test",
            "when": ledger.lines[1]["when"],
            "events": 1,
            "cost": "rho 0.03125",
            "open": False,
        }
    ]


def test_an_open_account_counts_in_full_and_a_closed_one_what_it_debited(make: MakeLedger) -> None:
    ledger = make(PureDP(1.0))
    account = reserve(ledger, PureDP(0.6))
    assert ledger.left == pytest.approx(0.4)
    account.debit(event(PureDP(0.1)))
    assert ledger.left == pytest.approx(0.4)
    account.close()
    assert ledger.left == pytest.approx(0.9)


def test_an_account_that_asked_nothing_costs_nothing(make: MakeLedger) -> None:
    ledger = make(GDP(1.0))
    reserve(ledger, GDP(1.0)).close()
    assert ledger.spent.empty
    assert ledger.left == 1.0
    assert ledger.summary()["accounts"][0]["cost"] == "nothing"


# -- what it refuses --


@pytest.mark.parametrize(
    ("budget", "first", "second", "words"),
    [
        (PureDP(1.0), PureDP(0.75), PureDP(0.4), "costs epsilon 0.4 but epsilon 0.25 of 1 is left"),
        (ApproxDP(1.0, 0.0), PureDP(0.75), PureDP(0.4), "costs epsilon 0.4 but epsilon 0.25 of 1 is left"),
        (ZCDP(1.0), GDP(math.sqrt(1.5)), GDP(math.sqrt(0.8)), "costs rho 0.4 but rho 0.25 of 1 is left"),
        (GDP(1.0), GDP(0.6), GDP(0.9), "costs mu 0.9 but mu 0.8 of 1 is left"),
    ],
)
def test_a_refusal_names_what_is_left(make: MakeLedger, budget, first, second, words) -> None:
    ledger = make(budget)
    spend(ledger, first)
    before = ledger.lines
    with pytest.raises(BudgetExceeded, match=f"Ledger.reserve: this fit {words}. Ask for no more than is left"):
        reserve(ledger, second)
    assert ledger.lines == before


def test_a_refusal_of_epsilon_and_delta_names_what_is_left(make: MakeLedger) -> None:
    ledger = make(ApproxDP(1.0, 1e-6))
    spend(ledger, gaussian_budget(ApproxDP(0.8, 1e-6)))
    left = f"{ledger.left:.4g}"
    assert 0.4 < ledger.left < 0.8
    with pytest.raises(BudgetExceeded, match=f"costs epsilon 0.8 at delta 1e-06 but epsilon {left} of 1 is left"):
        reserve(ledger, gaussian_budget(ApproxDP(0.8, 1e-6)))
    spend(ledger, gaussian_budget(ApproxDP(ledger.left, 1e-6)))
    assert ledger.left < 1e-3


def test_a_mixed_ledger_refuses_too(make: MakeLedger) -> None:
    ledger = make(ApproxDP(1.0, 1e-6))
    spend(ledger, PureDP(0.6))
    spend(ledger, GDP(0.05))
    with pytest.raises(BudgetExceeded, match=r"costs epsilon 0.5 at delta 1e-06 but epsilon 0\.3\d* of 1 is left"):
        reserve(ledger, PureDP(0.5))


@pytest.mark.parametrize("budget", [PureDP(1.0), ApproxDP(1.0, 0.0)])
def test_gaussian_noise_does_not_fit_a_pure_budget(make: MakeLedger, budget: Guarantee) -> None:
    with pytest.raises(BudgetExceeded, match=r"Ledger.reserve: "):
        reserve(make(budget), GDP(1e-6))


def test_a_debit_beyond_the_reservation_is_refused(make: MakeLedger) -> None:
    ledger = make(GDP(1.0))
    account = reserve(ledger, GDP(0.5))
    account.debit(event(GDP(0.4)))
    before = ledger.lines
    with pytest.raises(BudgetExceeded, match=r"'votes' does not fit into what this fit reserved \(mu = 0.5 \(GDP\)\)"):
        account.debit(event(GDP(0.31)))
    assert ledger.lines == before
    account.debit(event(GDP(0.3)))


def test_a_closed_account_takes_no_debit(make: MakeLedger) -> None:
    account = reserve(make(GDP(1.0)), GDP(0.5))
    account.close()
    account.close()
    with pytest.raises(BudgetExceeded, match=r"'votes' does not fit into what this fit reserved \(closed\)"):
        account.debit(event(GDP(0.1)))


def test_the_other_relation_is_refused(make: MakeLedger) -> None:
    ledger = make(GDP(1.0), neighbours="replace")
    with pytest.raises(LedgerError, match=r"about 'replace' neighbours, the fit about 'add-remove'. Pass neighbours='replace'"):
        reserve(ledger, GDP(0.1))
    account = reserve(ledger, GDP(0.1), relation=Relation.REPLACE)
    with pytest.raises(LedgerError, match="about 'replace' neighbours, the event about 'add-remove'"):
        account.debit(event(GDP(0.05)))
    assert not ledger.events


@pytest.mark.parametrize("cost", [ApproxDP(0.1, 1e-9), ZCDP(0.1), 0.1, None])
def test_a_cost_no_noise_has_is_refused_and_leaves_the_ledger_readable(make: MakeLedger, cost: object) -> None:
    ledger = make(ApproxDP(1.0, 1e-6))
    with pytest.raises(ParameterError, match=r"Ledger.reserve: expected GDP or PureDP, got"):
        reserve(ledger, cost)
    assert len(ledger.lines) == 1
    reserve(ledger, GDP(0.01))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, r"Ledger.epsilon: expected a total to spend, got None"),
        ({"epsilon": 0.0}, r"Ledger.epsilon: expected a finite number above 0, got 0"),
        ({"epsilon": 1.0, "delta": 1.0}, r"Ledger.delta: expected .* below 1, got 1"),
        ({"budget": GDP(1.0), "epsilon": 1.0}, r"Ledger.budget: expected either budget or epsilon and delta"),
        ({"budget": 1.0}, r"Ledger.budget: expected PureDP, ApproxDP, ZCDP or GDP, got 1.0"),
        ({"budget": GDP}, r"Ledger.budget: expected PureDP, ApproxDP, ZCDP or GDP, got <class"),
        ({"budget": Tally()}, r"Ledger.budget: expected PureDP, ApproxDP, ZCDP or GDP, got Tally"),
        ({"epsilon": 1.0, "neighbours": "swap"}, r"Ledger.neighbours: expected one of 'add-remove', 'replace', got 'swap'"),
    ],
)
def test_a_budget_must_make_sense(options: dict[str, object], words: str, path: Path) -> None:
    with pytest.raises(ParameterError, match=words):
        Ledger(**options)
    if options:
        with pytest.raises(ParameterError, match=words):
            Ledger.open(path, **options)
    assert not path.exists()


# -- one identity --


def test_a_copy_is_the_ledger_itself(make: MakeLedger) -> None:
    # Fault 2: an accountant that was deep-copied by clone, so that five folds spent without a record.
    ledger = make(GDP(1.0))
    assert copy.copy(ledger) is copy.deepcopy(ledger) is clone(ledger) is ledger
    assert clone(PEMeans(ledger=ledger)).ledger is ledger
    assert copy.deepcopy({"a": [ledger]})["a"][0] is ledger


def test_a_grid_search_is_recorded_fit_by_fit(make: MakeLedger, generator: np.random.Generator) -> None:
    rows = generator.uniform(-1, 1, (24, 2))
    share = gaussian_budget(ApproxDP(0.1, 1e-6)).mu
    ledger = make(GDP(share * math.sqrt(5)))  # 2 candidates x 2 folds, and the refit
    model = PEMeans(n_clusters=2, bounds=(-1, 1), n_rows=12, n_rounds=1, epsilon=0.1, delta=1e-6, ledger=ledger)
    search = GridSearchCV(model, {"n_clusters": [1, 2]}, cv=2, error_score="raise")
    search.fit(rows)
    assert len(ledger.summary()["accounts"]) == 5
    assert ledger.left < 1e-2 * share
    with pytest.raises(BudgetExceeded, match=r"costs mu .* but mu .* is left"):
        search.best_estimator_.fit(rows)


def test_a_pickled_ledger_in_memory_takes_no_debits() -> None:
    ledger = Ledger(GDP(1.0), name="a")
    account = reserve(ledger, GDP(0.5))
    copied, copied_account = pickle.loads(pickle.dumps((ledger, account)))
    assert (copied.budget, copied.name) == (GDP(1.0), "a")
    for attempt in (
        lambda: reserve(copied, GDP(0.1)),
        lambda: copied_account.debit(event(GDP(0.1))),
        copied_account.close,
        lambda: copied.left,
        lambda: copied.lines,
    ):
        with pytest.raises(LedgerError, match=r"a copy of a ledger in memory.*Use Ledger.open\(path\)"):
            attempt()
    again = pickle.loads(pickle.dumps(copied))
    with pytest.raises(LedgerError, match="a copy of a ledger in memory"):
        reserve(again, GDP(0.1))
    account.debit(event(GDP(0.1)))


def test_a_pickled_ledger_in_a_file_is_the_same_file(path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    with Ledger.open(path.name, GDP(1.0)) as ledger:
        pickled = pickle.dumps((ledger, reserve(ledger, GDP(0.6))))
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        copied, account = pickle.loads(pickled)
        account.debit(event(GDP(0.6)))
        reserve(copied, GDP(0.8))
        copied.close()
        account.ledger.close()
        assert len(ledger.lines) == 4
        with pytest.raises(BudgetExceeded, match="of 1 is left"):
            reserve(ledger, GDP(0.1))
    assert not list((tmp_path / "elsewhere").iterdir())


def test_closing_twice_and_using_again(path: Path) -> None:
    ledger = Ledger.open(path, GDP(1.0))
    ledger.close()
    ledger.close()
    assert ledger.left == 1.0  # a file opens again
    ledger.close()


def test_a_ledger_in_memory_does_not_rise_from_the_dead() -> None:
    ledger = Ledger(GDP(1.0))
    spend(ledger, GDP(1.0))
    ledger.close()
    ledger.close()
    for _ in range(2):
        with pytest.raises(LedgerError, match=r"one that was closed, takes no debits"):
            reserve(ledger, GDP(0.1))


def test_the_repr_tells_place_and_budget(path: Path) -> None:
    assert repr(Ledger(GDP(1.0), name="trial")) == "<Ledger 'trial' in memory: mu = 1 (GDP)>"
    with Ledger.open(path, PureDP(1.0)) as ledger:
        assert repr(ledger) == "<Ledger '' in budget.sqlite: epsilon = 1 (pure)>"


# -- threads --


@pytest.mark.parametrize("fits", [1, 7])
def test_of_twenty_threads_exactly_as_many_win_as_the_budget_allows(make: MakeLedger, fits: int) -> None:
    ledger = make(PureDP(0.1 * fits))
    start = threading.Barrier(20)

    def race(_: int) -> bool:
        start.wait()
        try:
            account = reserve(ledger, PureDP(0.1))
        except BudgetExceeded:
            return False
        account.debit(event(PureDP(0.1)))
        account.close()
        return True

    with ThreadPoolExecutor(20) as pool:
        won = sum(pool.map(race, range(20)))
    assert won == fits
    assert len(ledger.events) == fits
    assert Tally.of(one.cost for one in ledger.events).fits(ledger.budget)


# -- opening --


def refused(path: Path, words: str, **options: object) -> None:
    """Opening fails with one line that has the words and not the folder."""
    with pytest.raises(LedgerError, match=words) as caught:
        Ledger.open(path, **options)
    assert "\n" not in str(caught.value)
    assert str(path.parent) not in str(caught.value)


def test_a_missing_file_is_not_made_by_accident(path: Path) -> None:
    refused(path, r"there is no file 'budget.sqlite'. Pass epsilon= and delta= to create it")
    assert not path.exists()


def test_an_existing_file_keeps_its_budget(path: Path) -> None:
    with Ledger.open(path, epsilon=1.0, delta=1e-6) as ledger:
        spend(ledger, GDP(0.1))
    refused(path, r"'budget.sqlite' holds a budget of epsilon = 1, delta = 1e-06, not epsilon = 2", epsilon=2.0, delta=1e-6)
    refused(path, r"holds a budget of epsilon = 1, delta = 1e-06, not epsilon = 1 \(pure\)", epsilon=1.0)
    with Ledger.open(path) as same, Ledger.open(path, epsilon=1.0, delta=1e-6) as again:
        assert same.lines == again.lines
        assert same.left < 1.0


def test_what_is_no_ledger_is_refused_and_left_alone(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("these are my notes, and they are long enough to be no database header at all" * 20)
    for options in ({}, {"epsilon": 1.0}):
        refused(text, r"'notes.txt' cannot be used \(file is not a database\)", **options)
    assert text.read_text().startswith("these are my notes")
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE people (name TEXT)")
    connection.close()
    for options in ({}, {"epsilon": 1.0}):
        refused(other, r"'other.sqlite' cannot be used \(no such table: ledger\)", **options)
    connection = sqlite3.connect(other)
    assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("people",)]
    connection.close()
    refused(tmp_path, r"cannot be used \(unable to open database file\)")
    refused(tmp_path, r"cannot be used \(unable to open database file\)", epsilon=1.0)
    refused(text / "below.sqlite", r"cannot be used \(unable to open database file\)", epsilon=1.0)


@contextmanager
def as_nobody() -> Iterator[None]:
    """Root may read everything, so become somebody else for a while."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(before)


def test_an_unreadable_file_is_refused(path: Path) -> None:
    Ledger.open(path, GDP(1.0)).close()
    path.chmod(0)
    with as_nobody():
        refused(path, r"Ledger: 'budget.sqlite' cannot be used")


def test_an_empty_file_is_a_ledger_not_yet_written(path: Path) -> None:
    # What a process leaves that was killed while it created the ledger.
    path.touch()
    refused(path, r"there is no file 'budget.sqlite'. Pass epsilon= and delta= to create it")
    with Ledger.open(path, GDP(1.0)) as ledger:
        assert ledger.left == 1.0


def test_a_ledger_held_by_another_is_waited_for_and_then_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_ledger, "BUSY_SECONDS", 0.05)
    with Ledger.open(path, GDP(1.0)) as ledger:
        other = sqlite3.connect(path)
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(LedgerError, match=r"'budget.sqlite' cannot be used \(database is locked\)"):
            reserve(ledger, GDP(0.1))
        other.close()
        reserve(ledger, GDP(0.1))


# -- tampering --


@pytest.fixture
def spent_file(path: Path) -> Path:
    with Ledger.open(path, GDP(1.0)) as ledger:
        for _ in range(3):
            spend(ledger, GDP(0.5))
    return path


def run_sql(path: Path, *statements: str, triggers: bool = False) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        if not triggers:
            connection.execute("DROP TRIGGER no_update")
            connection.execute("DROP TRIGGER no_delete")
        for statement in statements:
            connection.execute(statement)
    finally:
        connection.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE ledger SET line = '{}' WHERE id = 3",
        "DELETE FROM ledger",
        "DELETE FROM ledger WHERE id = 5",
        "INSERT OR REPLACE INTO ledger (id, line, digest) VALUES (3, '{}', '')",
    ],
)
def test_the_table_is_append_only(spent_file: Path, statement: str) -> None:
    with pytest.raises(sqlite3.IntegrityError, match="a ledger is append-only"):
        run_sql(spent_file, statement, triggers=True)
    with Ledger.open(spent_file) as ledger:
        assert len(ledger.lines) == 10


@pytest.mark.parametrize(
    ("number", "statements"),
    [
        (3, ["UPDATE ledger SET line = replace(line, '2.0', '4.0') WHERE id = 3"]),  # a quieter event
        (1, ["UPDATE ledger SET line = replace(line, '1.0', '9.0') WHERE id = 1"]),  # a larger budget
        (4, ["DELETE FROM ledger WHERE id = 3"]),
        (2, ["DELETE FROM ledger WHERE id = 1"]),
        (10, ["DELETE FROM ledger WHERE id = 10"]),  # the last line
        (8, ["DELETE FROM ledger WHERE id >= 8"]),  # the last fit
        (1, ["DELETE FROM ledger"]),
        (3, [f"UPDATE ledger SET id = {new} WHERE id = {old}" for old, new in [(3, 99), (6, 3), (99, 6)]]),  # swapped
        (9, ["DELETE FROM ledger WHERE id = 8", "UPDATE ledger SET id = id - 1 WHERE id > 8"]),
        (11, ["INSERT INTO ledger (line, digest) VALUES ('{}', 'x')"]),
    ],
)  # fmt: skip
def test_an_edit_shows(spent_file: Path, number: int, statements: list[str]) -> None:
    with Ledger.open(spent_file) as watching:
        assert len(watching.lines) == 10
        run_sql(spent_file, *statements)
        refused(spent_file, r"line \d+ was altered or removed. Restore the file from a backup")
        if number > 7:
            with pytest.raises(LedgerError, match=r"line \d+ was altered or removed"):
                reserve(watching, GDP(0.1))


def test_a_chain_forged_with_care_is_still_read_with_care(spent_file: Path) -> None:
    connection = sqlite3.connect(spent_file, isolation_level=None)
    (last,) = connection.execute("SELECT digest FROM ledger WHERE id = 10").fetchone()
    for line in (
        {"v": 1, "kind": "gift", "account": "x"},
        {"v": 1, "kind": "debit", "account": "nobody"},
        {"v": 1, "kind": "reserve"},
    ):
        text = json.dumps(line)
        connection.execute("INSERT INTO ledger VALUES (11, ?, ?)", (text, _ledger._digest(last, text)))
        connection.execute("PRAGMA user_version = 11")
        refused(spent_file, r"cannot read a line of kind 'gift'|line 11 was altered")
        connection.execute("DROP TRIGGER IF EXISTS no_delete")
        connection.execute("DELETE FROM ledger WHERE id = 11")
    connection.close()


# -- any sequence --


class AnySequence(RuleBasedStateMachine):
    """Whatever is reserved, debited and closed, in whatever order: the sum, taken independently, stays within the budget."""

    def __init__(self) -> None:
        super().__init__()
        self.ledger = Ledger(ZCDP(0.5))
        self.accounts: list[tuple[Account, list[float]]] = []  # with the rho of each debit
        self.reserved: dict[str, float] = {}  # of open accounts

    def independent_sum(self) -> float:
        closed = sum(sum(debits) for account, debits in self.accounts if account.identity not in self.reserved)
        return closed + sum(self.reserved.values())

    @rule(mu=st.floats(0.01, 1.2))
    def reserve(self, mu: float) -> None:
        try:
            account = reserve(self.ledger, GDP(mu))
        except BudgetExceeded:
            assert self.independent_sum() + mu**2 / 2 > 0.5 * (1 - 1e-9)
            return
        self.accounts.append((account, []))
        self.reserved[account.identity] = mu**2 / 2

    @precondition(lambda self: self.accounts)
    @rule(data=st.data(), mu=st.floats(0.01, 1.2), pure=st.booleans())
    def debit(self, data: st.DataObject, mu: float, pure: bool) -> None:
        account, debits = data.draw(st.sampled_from(self.accounts))
        asked = event(PureDP(mu) if pure else GDP(mu))
        try:
            account.debit(asked)
        except BudgetExceeded:
            return
        assert account.identity in self.reserved
        debits.append((asked.sensitivity / asked.scale) ** 2 / 2)  # for a pure event too: epsilon^2 / 2
        assert sum(debits) <= self.reserved[account.identity] * (1 + 1e-9)

    @precondition(lambda self: self.accounts)
    @rule(data=st.data())
    def close(self, data: st.DataObject) -> None:
        account, _ = data.draw(st.sampled_from(self.accounts))
        account.close()
        self.reserved.pop(account.identity, None)

    @invariant()
    def never_above_the_budget(self) -> None:
        assert self.independent_sum() <= 0.5 * (1 + 1e-9)
        assert self.ledger.spent.rho == pytest.approx(self.independent_sum(), abs=1e-12)
        assert self.ledger.spent.fits(self.ledger.budget)

    def teardown(self) -> None:
        self.ledger.close()


TestAnySequence = AnySequence.TestCase
TestAnySequence.settings = settings(max_examples=25, stateful_step_count=15, deadline=None)
