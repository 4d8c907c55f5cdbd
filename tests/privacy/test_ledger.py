# SPDX-License-Identifier: Apache-2.0
"""A ledger pays first, refuses what does not fit, has one identity, and shows when it was altered."""

import copy
import gc
import json
import math
import os
import pickle
import re
import shutil
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from datetime import date
from functools import partial
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from sklearn.base import clone

from cloister import PEMeans
from cloister.columns import Relation
from cloister.exceptions import BudgetExceeded, LedgerError, ParameterError
from cloister.privacy import (
    GDP,
    ZCDP,
    Account,
    ApproxDP,
    Composition,
    Cost,
    Guarantee,
    Ledger,
    PureDP,
    Tally,
    _ledger,
    _ledger_store,
    left_of,
)
from cloister.privacy._ledger_store import LedgerStore

from ._paid import event, reserve, spend

MakeLedger = Callable[..., Ledger]


@pytest.fixture(params=["memory", "file"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MakeLedger]:
    made: list[Ledger] = []

    def build(budget: Guarantee, **options: str) -> Ledger:
        if request.param == "memory":
            made.append(Ledger(budget, **options))
        else:
            made.append(Ledger.create(tmp_path / f"ledger{len(made)}.sqlite", budget, **options))
        return made[-1]

    yield build
    for ledger in made:
        ledger.close()


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
    reserve(ledger, PureDP(0.9)).close()  # no question
    assert ledger.left == pytest.approx(0.9)
    assert [one["cost"] for one in ledger.summary()["accounts"]] == ["epsilon 0.1", "nothing"]


def test_where_costs_are_planned_a_fit_costs_what_was_planned(make: MakeLedger) -> None:
    # What is left must not depend on answers: they may decide into how many questions a fit divides its part, or when it ends.
    left = set()
    for debits in ([PureDP(0.5)], [PureDP(0.05)] * 10, [PureDP(0.1)]):
        ledger = make(ApproxDP(2.0, 1e-6), planned=True)
        account = reserve(ledger, PureDP(0.5))
        for cost in debits:
            account.debit(event(cost))
        account.close()
        reserve(ledger, PureDP(0.3)).close()  # no question
        left.add(ledger.spent.epsilon_sum)
    assert left == {0.5}


# -- what it refuses --


@pytest.mark.parametrize(
    ("budget", "first", "second", "words"),
    [
        (PureDP(1.0), PureDP(0.75), PureDP(0.4), "costs epsilon 0.4 but epsilon 0.25 of 1 is left"),
        (ApproxDP(1.0, 0.0), PureDP(0.75), PureDP(0.4), "costs epsilon 0.4 but epsilon 0.25 of 1 is left"),
        (ZCDP(1.0), GDP(math.sqrt(1.5)), GDP(math.sqrt(0.8)), "costs rho 0.4 but rho 0.25 of 1 is left"),
        (GDP(1.0), GDP(0.6), GDP(0.9), "costs mu 0.9 but mu 0.8 of 1 is left"),
        (
            ApproxDP(1.0, 1e-6),
            ApproxDP(0.8, 1e-6).gaussian_budget(),
            ApproxDP(0.8, 1e-6).gaussian_budget(),
            r"costs epsilon 0.8 at delta 1e-06 but epsilon 0.5\d* of 1 is left",
        ),
    ],
)
def test_a_refusal_names_what_is_left(make: MakeLedger, budget, first, second, words) -> None:
    ledger = make(budget)
    spend(ledger, first)
    before = ledger.lines
    with pytest.raises(BudgetExceeded, match=f"Ledger.reserve: this fit {words}. Ask for no more than is left"):
        reserve(ledger, second)
    assert ledger.lines == before


def test_a_mixed_ledger_refuses_too(make: MakeLedger) -> None:
    ledger = make(ApproxDP(1.0, 1e-6))
    spend(ledger, GDP(0.1))
    spend(ledger, PureDP(0.1))
    words = r"costs epsilon 0.5 \(pure\) but epsilon 0\.1\d* of 1 is left. Beside Gaussian fits .* with pure_epsilon="
    with pytest.raises(BudgetExceeded, match=words):
        reserve(ledger, PureDP(0.5))
    reserve(ledger, PureDP(ledger.left_pure))


def test_a_part_set_aside_is_for_pure_fits_alone(make: MakeLedger) -> None:
    ledger = make(ApproxDP(1.0, 1e-6), pure_epsilon=0.4)
    assert (ledger.left_pure, ledger.left) == (1.0, pytest.approx(0.6))
    spend(ledger, PureDP(0.3))
    spend(ledger, ApproxDP(0.6, 1e-6).gaussian_budget())
    assert ledger.left_pure == pytest.approx(0.1)
    with pytest.raises(BudgetExceeded, match=r"costs epsilon 0.2 \(pure\) but epsilon 0.1 of 1 is left"):
        reserve(ledger, PureDP(0.2))
    with pytest.raises(BudgetExceeded, match=r"Of the budget epsilon 0.4 is set aside for pure fits \(delta=0\)"):
        reserve(ledger, GDP(0.01))
    spend(ledger, PureDP(0.1))


def test_a_ledger_of_pure_fits_alone_spends_all_of_epsilon(make: MakeLedger) -> None:
    ledger = make(ApproxDP(1.0, 1e-6))
    spend(ledger, PureDP(0.75))
    assert ledger.left == 0.0  # of a Gaussian fit
    assert ledger.left_pure == pytest.approx(0.25)
    spend(ledger, PureDP(0.25))


def test_a_debit_beyond_the_reservation_is_refused(make: MakeLedger) -> None:
    ledger = make(GDP(1.0))
    account = reserve(ledger, GDP(0.5))
    account.debit(event(GDP(0.4)))
    before = ledger.lines
    with pytest.raises(BudgetExceeded, match=r"'votes' does not fit into what this fit reserved \(mu = 0.5 \(GDP\)\)"):
        account.debit(event(GDP(0.31)))
    assert ledger.lines == before
    account.debit(event(GDP(0.3)))
    pure = reserve(make(PureDP(1.0)), PureDP(0.5))
    with pytest.raises(BudgetExceeded, match="does not fit into what this fit reserved"):
        pure.debit(event(PureDP(0.6)))


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
        ({"epsilon": 1.0, "unit": "household"}, r"Ledger.unit: expected one of 'person', 'row', got 'household'"),
        ({"epsilon": 1.0, "planned": "yes"}, r"Ledger.planned: expected True or False, got 'yes'"),
        ({"epsilon": 1.0, "pure_epsilon": 0.5}, r"Ledger.pure_epsilon: expected 0 unless the budget is \(epsilon, delta\)"),
        ({"budget": GDP(1.0), "pure_epsilon": 0.5}, r"Ledger.pure_epsilon: expected 0 unless the budget is \(epsilon, delta\)"),
        (
            {"epsilon": 1.0, "delta": 1e-6, "pure_epsilon": 1.0},
            r"Ledger.pure_epsilon: expected less than the whole epsilon of 1",
        ),
        ({"epsilon": 1.0, "delta": 1e-6, "pure_epsilon": -0.1}, r"Ledger.pure_epsilon: expected a finite number of at least 0"),
        (
            {"epsilon": 1.0, "delta": 1e-6, "pure_epsilon": 0.5, "planned": True},
            r"Ledger.pure_epsilon: expected 0 if planned=True",
        ),
    ],
)
def test_a_budget_must_make_sense(options: dict[str, object], words: str, path: Path) -> None:
    with pytest.raises(ParameterError, match=words):
        Ledger(**options)
    with pytest.raises(ParameterError, match=words):
        Ledger.create(path, **options)
    assert not list(path.parent.iterdir())


# -- all of a budget may be spent, in one fit or in many, and not a millionth more --

HAIR = 1e-6
LIMITS: list[tuple[Guarantee, Cost]] = [
    (PureDP(0.7), PureDP(0.7)),
    (ApproxDP(0.7, 1e-6), PureDP(0.7)),
    (ApproxDP(0.7, 1e-6), ApproxDP(0.7, 1e-6).gaussian_budget()),
    (ApproxDP(8.0, 1e-9), ApproxDP(8.0, 1e-9).gaussian_budget()),
    (ZCDP(0.08), GDP(0.4)),
    (ZCDP(0.08), PureDP(0.4)),
    (GDP(0.9), GDP(0.9)),
    (GDP(0.9), GDP(0.9).pure_budget()),
]


def adds_up(budget: Guarantee, whole: Cost) -> bool:
    """Whether shares of a cost, or their squares, add up; those of a pure cost in a GDP budget have no such formula."""
    return not (isinstance(budget, GDP) and isinstance(whole, PureDP))


@pytest.mark.parametrize(
    ("budget", "whole", "parts"),
    [(budget, whole, parts) for budget, whole in LIMITS for parts in (1, 3) if parts == 1 or adds_up(budget, whole)],
    ids=str,
)
def test_a_budget_is_exceeded_by_a_millionth(budget: Guarantee, whole: Cost, parts: int) -> None:
    linear = isinstance(whole, PureDP) and not isinstance(budget, ZCDP | GDP)
    share = 1 / parts if linear else 1 / math.sqrt(parts)
    part, more = (whole.with_strength(whole.strength * share * (1 + change)) for change in (-1e-9, HAIR))
    for costs, fits in (([part] * parts, True), ([part] * (parts - 1) + [more], False)):
        ledger = Ledger(budget)
        for cost in costs[:-1]:
            reserve(ledger, cost)
        assert Tally.of(costs).fits(budget) is fits
        if fits:
            reserve(ledger, costs[-1])
        else:
            with pytest.raises(BudgetExceeded, match=r"Ledger\.reserve: this fit costs"):
                reserve(ledger, costs[-1])
            assert len(ledger.lines) == parts


# -- one identity --


def test_a_copy_is_the_ledger_itself(make: MakeLedger) -> None:
    # Fault 2: an accountant that was deep-copied by clone, so that five folds spent without a record.
    ledger = make(GDP(1.0))
    assert copy.copy(ledger) is copy.deepcopy(ledger) is clone(ledger) is ledger
    assert clone(PEMeans(ledger=ledger)).ledger is ledger
    assert copy.deepcopy({"a": [ledger]})["a"][0] is ledger


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
    with Ledger.create(path.name, GDP(1.0)) as ledger:
        pickled = pickle.dumps((ledger, reserve(ledger, GDP(0.6))))
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        copied, account = pickle.loads(pickled)
        account.debit(event(GDP(0.6)))
        reserve(copied, GDP(0.8))
        copied.close()
        assert len(ledger.lines) == 4
        with pytest.raises(BudgetExceeded, match="of 1 is left"):
            reserve(ledger, GDP(0.1))
    assert not list((tmp_path / "elsewhere").iterdir())


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
    with Ledger.create(path, PureDP(1.0)) as ledger:
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
    for options in ({}, {"epsilon": 1.0, "delta": 1e-6}):
        refused(path, r"there is no file 'budget.sqlite'. Create a budget with Ledger.create\(path, epsilon=...\)", **options)
    assert not path.exists()


def whole_ledger(path: Path) -> None:
    with Ledger.create(path, GDP(1.0)) as ledger:
        spend(ledger, GDP(1.0))


THERE: dict[str, Callable[[Path], object]] = {
    "a ledger": whole_ledger,
    "a ledger cut to nothing": Path.touch,
    "a link to nowhere": lambda path: path.symlink_to(path.parent / "nowhere"),
}
NO_LINKS = pytest.mark.skipif(sys.platform == "win32", reason="few users of Windows may make such a link")


@pytest.mark.parametrize("there", [pytest.param(name, marks=NO_LINKS) if "link" in name else name for name in THERE])
def test_a_file_is_never_replaced(path: Path, there: str) -> None:
    THERE[there](path)
    before = path.read_bytes() if path.exists() else None
    with pytest.raises(
        LedgerError, match=r"Ledger.create: there is a file 'budget.sqlite' already. A budget is never replaced"
    ):
        Ledger.create(path, GDP(1.0))
    assert (path.read_bytes() if path.exists() else None) == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    if before == b"":
        for options in ({}, {"budget": GDP(1.0)}):
            refused(path, r"the file 'budget.sqlite' is empty: a ledger was cut. Restore it from a backup", **options)


def test_a_ledger_that_appears_while_another_is_made_is_not_replaced(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = LedgerStore.write_first

    def overtaken(self: LedgerStore, first: dict[str, object]) -> None:
        write(self, first)
        monkeypatch.setattr(LedgerStore, "write_first", write)
        with Ledger.create(path, GDP(0.5)) as other:
            reserve(other, GDP(0.4))

    monkeypatch.setattr(LedgerStore, "write_first", overtaken)
    with pytest.raises(LedgerError, match=r"Ledger\.create: there is a file 'budget\.sqlite' already"):
        Ledger.create(path, GDP(1.0))
    with Ledger.open(path) as ledger:
        assert ledger.budget == GDP(0.5)
        assert ledger.spent.mu == pytest.approx(0.4)
    assert [file.name for file in path.parent.iterdir() if file.suffix != ".lease"] == ["budget.sqlite"]


def test_a_name_no_file_can_have_is_refused() -> None:
    for open_it in (Ledger.open, partial(Ledger.create, epsilon=1.0)):
        with pytest.raises(LedgerError, match="expected a name that a file can have"):
            open_it("a\0b")


def test_where_there_are_no_links_a_ledger_is_created_all_the_same(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*args: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    with Ledger.create(path, GDP(1.0)) as ledger:
        assert ledger.left == 1.0
    with pytest.raises(LedgerError, match="already"):
        _ledger_store.publish_file(path, path)
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"neighbours": "replace"}, r"expected neighbours as in the file \('add-remove'\), got 'replace'. Leave it out"),
        ({"unit": "person"}, r"expected unit as in the file \('row'\), got 'person'"),
        ({"planned": True}, r"expected planned as in the file \(False\), got True"),
        ({"pure_epsilon": 0.5}, r"expected pure_epsilon as in the file \(0.0\), got 0.5"),
        ({"name": "others"}, r"expected name as in the file \('people'\), got 'others'"),
        ({"budget": GDP(1.0)}, r"expected budget as in the file \(epsilon = 1, delta = 1e-06\), got mu = 1 \(GDP\)"),
        ({"epsilon": 2.0, "delta": 1e-6}, r"budget as in the file \(epsilon = 1, delta = 1e-06\), got epsilon = 2"),
        ({"epsilon": 1.0}, r"budget as in the file \(epsilon = 1, delta = 1e-06\), got epsilon = 1 \(pure\)"),
    ],
)
def test_what_is_said_of_a_file_must_be_true(path: Path, options: dict[str, object], words: str) -> None:
    with Ledger.create(path, epsilon=1.0, delta=1e-6, name="people") as ledger:
        spend(ledger, GDP(0.1))
        lines = ledger.lines
    refused(path, words, **options)
    for senseless in ({"neighbours": "swap"}, {"planned": 1}):
        with pytest.raises(ParameterError, match=r"Ledger\.\w+: expected"):
            Ledger.open(path, **senseless)
    true = {"neighbours": "add-remove", "planned": False, "pure_epsilon": 0.0, "name": "people"}
    for given in ({}, {"epsilon": 1.0, "delta": 1e-6}, {"budget": ApproxDP(1.0, 1e-6), **true}):
        with Ledger.open(path, **given) as ledger:
            assert ledger.lines == lines
            assert ledger.left < 1.0


def test_what_is_no_ledger_is_refused_and_left_alone(tmp_path: Path) -> None:
    text, other = tmp_path / "notes.txt", tmp_path / "other.sqlite"
    text.write_text("these are my notes, and they are long enough to be no database header at all" * 20)
    run_sql(other, "CREATE TABLE people (name TEXT)", triggers=True)
    before = text.read_bytes(), other.read_bytes()
    for options in ({}, {"epsilon": 1.0}):
        refused(text, r"'notes.txt' cannot be used \(file is not a database\)", **options)
        refused(other, r"'other.sqlite' cannot be used \(no such table: ledger\)", **options)
    refused(tmp_path, r"cannot be used \(unable to open database file\)")
    with pytest.raises(LedgerError, match=r"'below.sqlite' cannot be used \((Not a directory|unable to open database file)\)"):
        Ledger.create(text / "below.sqlite", epsilon=1.0)
    assert (text.read_bytes(), other.read_bytes()) == before


def test_a_ledger_held_by_another_is_waited_for_and_then_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_ledger_store, "BUSY_SECONDS", 0.05)
    with Ledger.create(path, GDP(1.0)) as ledger:
        other = sqlite3.connect(path)
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(LedgerError, match=r"'budget.sqlite' cannot be used \(database is locked\)"):
            reserve(ledger, GDP(0.1))
        other.close()
        reserve(ledger, GDP(0.1))


# -- tampering --


@pytest.mark.parametrize("terms", [{}, {"pure_epsilon": 0.4}, {"planned": True}], ids=str)
def test_a_ledger_grants_what_its_own_rule_of_composition_allows(make: MakeLedger, terms: dict[str, float]) -> None:
    ledger, costs, rule = make(ApproxDP(1.0, 1e-6), **terms), [GDP(0.1), PureDP(0.1)], Composition(**terms)
    for cost in costs:
        spend(ledger, cost)
    left, pure = (left_of(ledger.budget, Tally.of(costs), composition=rule, pure=pure) for pure in (False, True))
    assert (ledger.left, ledger.left_pure) == (left, pure)
    with pytest.raises(BudgetExceeded, match="is left"):
        reserve(ledger, PureDP(pure * 1.01))
    reserve(ledger, PureDP(pure))


def test_a_choice_in_a_gaussian_fit_takes_nothing_of_the_part_set_aside(make: MakeLedger) -> None:
    ledger = make(ApproxDP(1.0, 1e-6), pure_epsilon=0.4)
    with reserve(ledger, ApproxDP(0.6, 1e-6).gaussian_budget()) as account:
        account.debit(event(PureDP(0.05)))
    assert not ledger.spent.pure
    spend(ledger, PureDP(0.4))


@pytest.fixture(scope="module")
def spent_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("spent") / "budget.sqlite"
    with Ledger.create(path, GDP(1.0)) as ledger:
        for _ in range(3):
            spend(ledger, GDP(0.5))
    return path


@pytest.fixture
def spent_file(spent_once: Path, path: Path) -> Path:
    return Path(shutil.copy(spent_once, path))


def run_sql(path: Path, *statements: str, triggers: bool = False) -> None:
    dropped = () if triggers else ("DROP TRIGGER no_update", "DROP TRIGGER no_delete")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in (*dropped, *statements):
            connection.execute(statement)


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


def test_a_cut_with_its_counter_is_found_by_a_checkpoint(spent_file: Path) -> None:
    with Ledger.open(spent_file) as ledger:
        checkpoint = ledger.checkpoint
        assert ledger.summary()["checkpoint"] == checkpoint
        spend(ledger, GDP(0.1))
    with Ledger.open(spent_file, checkpoint=checkpoint) as ledger:  # lines were added since: fine
        assert len(ledger.lines) == 13
    run_sql(spent_file, "DELETE FROM ledger WHERE id > 7", "PRAGMA user_version = 7")
    Ledger.open(spent_file).close()  # nothing in the file shows it
    refused(spent_file, r"expected line 10 of the checkpoint, got a ledger without it", checkpoint=checkpoint)
    with Ledger.open(spent_file) as ledger:
        spend(ledger, GDP(0.3))  # other lines in the place of those that were cut
    refused(spent_file, r"expected line 10 of the checkpoint, got a ledger without it", checkpoint=checkpoint)


@pytest.mark.parametrize("checkpoint", ["", "7", "x:y", "7:", ":abc", "-1:abc", "\N{SUPERSCRIPT TWO}:abc"])
def test_a_checkpoint_is_what_was_printed(spent_file: Path, checkpoint: str) -> None:
    with pytest.raises(ParameterError, match=r"Ledger.checkpoint: expected what ledger.checkpoint said, got"):
        Ledger.open(spent_file, checkpoint=checkpoint)


@contextmanager
def files_stop_growing(ledger: Ledger) -> Iterator[None]:
    """Have the operating system refuse to let a file grow: SQLite then ends the transaction by itself."""
    assert ledger.path is not None
    resource = pytest.importorskip("resource", reason="files grow as they like on Windows")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (ledger.path.stat().st_size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_is_told_as_such_and_loses_nothing(path: Path) -> None:
    with Ledger.create(path, GDP(10.0)) as ledger:
        account = reserve(ledger, GDP(9.0))

        def pay_on() -> None:
            for _ in range(200):
                account.debit(event(GDP(0.01)))

        with files_stop_growing(ledger), pytest.raises(LedgerError, match=r"'budget.sqlite' cannot be used \(disk I/O error\)"):
            pay_on()
        paid = len(ledger.events)
        account.debit(event(GDP(0.01)))
    with Ledger.open(path) as again:
        assert len(again.events) == paid + 1


def test_a_ledger_says_no_time_of_day(make: MakeLedger) -> None:
    # Between two debits lies the time it took to read the rows, which one malformed line of a file changes.
    ledger = make(GDP(1.0))
    account = reserve(ledger, GDP(0.5))
    account.debit(event(GDP(0.1)))
    account.close()
    days = [line["when"] for line in ledger.lines]
    assert len(set(days)) == 1
    assert len(date.fromisoformat(days[0]).isoformat()) == len(days[0])
    assert re.search(r"\d\d:\d\d", json.dumps(ledger.lines)) is None


def test_all_lines_of_a_fit_carry_the_day_it_began(make: MakeLedger, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = make(GDP(1.0))
    monkeypatch.setattr(_ledger, "today", lambda: "2026-02-28")
    account = reserve(ledger, GDP(0.5))
    monkeypatch.setattr(_ledger, "today", lambda: "2026-03-01")  # it takes until after midnight
    account.debit(event(GDP(0.1)))
    account.close()
    assert {line["when"] for line in ledger.lines[1:]} == {"2026-02-28"}


def rewrite(path: Path, lines: Sequence[object]) -> None:
    """Write the lines of a ledger by hand, with the chain of digests that belongs to it."""
    digest = ""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DROP TRIGGER IF EXISTS no_delete")
        connection.execute("DELETE FROM ledger")
        for number, line in enumerate(lines, start=1):
            text = json.dumps(line, sort_keys=True)
            digest = _ledger_store._digest(digest, text)
            connection.execute("INSERT INTO ledger (id, line, digest) VALUES (?, ?, ?)", (number, text, digest))
        connection.execute(f"PRAGMA user_version = {len(lines)}")


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
        paid = event(PureDP(mu) if pure else GDP(mu))
        try:
            account.debit(paid)
        except BudgetExceeded:
            return
        assert account.identity in self.reserved
        debits.append((paid.sensitivity / paid.scale) ** 2 / 2)  # for a pure event too: epsilon^2 / 2
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


FORGED = [None, [], "text", *({"v": 1, **line} for line in [
    {"kind": "gift", "account": "x"},
    {"kind": "debit", "account": "nobody"},
    {"kind": "reserve"},
    {"kind": "reserve", "account": "x", "purpose": "", "when": ""},
])]  # fmt: skip


@pytest.mark.parametrize("line", FORGED)
def test_a_chain_forged_with_care_is_still_read_with_care(path: Path, line: object) -> None:
    with Ledger.create(path, GDP(1.0)) as ledger:
        lines = ledger.lines
    for before in ([], lines):
        rewrite(path, [*before, line])
        refused(path, rf"cannot read a line of kind 'gift'|line {len(before) + 1} was altered or removed")


@pytest.mark.parametrize("again", [[1, 3], [0], [2], [3, 2]])
def test_lines_written_again_do_not_give_a_budget_back(path: Path, again: list[int]) -> None:
    # A second reservation of an account would forget its debits, and a checkpoint would not find it: nothing is cut.
    with Ledger.create(path, GDP(1.0)) as ledger:
        spend(ledger, GDP(0.5))
        lines, checkpoint = ledger.lines, ledger.checkpoint
    rewrite(path, [*lines, *(lines[number] for number in again)])
    refused(path, r"line \d+ was altered or removed", checkpoint=checkpoint)


@pytest.mark.parametrize("in_memory", [True, False])
def test_a_ledger_that_nobody_holds_is_closed(path: Path, in_memory: bool) -> None:
    ledger = Ledger(GDP(1.0)) if in_memory else Ledger.create(path, GDP(1.0))
    spend(ledger, GDP(0.1))
    connection = ledger._store.connect()
    del ledger
    gc.collect()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("SELECT 1")


def test_a_ledger_of_a_parent_process_is_not_closed_by_a_child(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[sqlite3.Connection] = []
    monkeypatch.setattr("cloister.privacy._ledger_store.INHERITED", kept)
    ledger = Ledger.create(path, GDP(1.0))
    spend(ledger, GDP(0.1))
    with monkeypatch.context() as child:
        child.setattr(os, "getpid", lambda: -1)
        del ledger
        gc.collect()
    (connection,) = kept
    assert connection.execute("SELECT count(*) FROM ledger").fetchone() > (1,)
    connection.close()
