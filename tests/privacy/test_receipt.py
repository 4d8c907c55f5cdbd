# SPDX-License-Identifier: Apache-2.0
"""A receipt adds the events up again, refuses a sum above its guarantee, says where the ledger was left, and can be read."""

import json
from functools import partial

import pytest

from cloister import GDP, ZCDP, ApproxDP, Ledger, PureDP
from cloister.exceptions import CloisterError, LedgerError
from cloister.privacy import Event, Guarantee, LedgerBalance, Receipt

from ._paid import event as paid
from ._paid import reserve

event = partial(paid, size=4, seeded=False, when="2026-01-31")
GUARANTEES = pytest.mark.parametrize("guarantee", [PureDP(1.0), ApproxDP(1.0, 1e-6), ZCDP(0.1), GDP(0.5)])
BALANCE = LedgerBalance(name="n", budget=ApproxDP(1.0, 1e-6), before="nothing", fit="epsilon 1 at delta 1e-06", left=0.0)


def receipt(guarantee: Guarantee, *events: Event, neighbours: str = "add-remove", **stated: object) -> Receipt:
    return Receipt(guarantee=guarantee, neighbours=neighbours, events=events, account="a1", **stated)


@GUARANTEES
def test_events_that_exceed_the_guarantee_are_refused(guarantee: Guarantee) -> None:
    half = guarantee.noise_budget().share(0.5)
    assert receipt(guarantee, event(half), event(half)).spent.fits(guarantee)
    with pytest.raises(LedgerError, match=r"Receipt: the events add up to more than .* This is a fault of the method"):
        receipt(guarantee, event(half), event(half), event(half.share(0.01)))


def test_a_receipt_says_what_was_promised_and_asked() -> None:
    share = ApproxDP(1.0, 1e-6).gaussian_budget().share(0.25)
    asked = [event(share, question_name=name) for name in ("row_count", *["nearest_counts"] * 3)]
    promised, spent = receipt(ApproxDP(1.0, 1e-6), *asked).explain()
    assert promised.startswith("Guarantee: epsilon = 1, delta = 1e-06. This limits how much adding or removing any one row can")
    assert spent == "Spent: epsilon 1 at delta 1e-06, in 4 noisy answers (1 x row_count, 3 x nearest_counts)."
    stated = receipt(PureDP(1.0), event(PureDP(1.0)), neighbours="replace", dataset="a", purpose="b").explain()
    assert stated[:2] == ["Data set: a", "Purpose: b"]
    assert "replacing any one row by another" in stated[2]


def test_a_seeded_receipt_warns() -> None:
    seeded = receipt(PureDP(1.0), event(PureDP(0.5)), event(PureDP(0.5), seeded=True))
    assert seeded.seeded
    assert seeded.explain()[-1].startswith("SEEDED: the noise can be drawn again from the seed.")
    assert not any("SEEDED" in line for line in receipt(PureDP(1.0), event(PureDP(0.5))).explain())


@GUARANTEES
def test_a_receipt_survives_plain_data(guarantee: Guarantee) -> None:
    half = guarantee.noise_budget().share(0.5)
    for stated in ({}, {"dataset": "a", "purpose": "b", "ledger": BALANCE}):
        original = receipt(guarantee, event(half, seeded=True), event(half), **stated)
        assert Receipt.from_dict(json.loads(json.dumps(original.to_dict()))) == original


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("events", 0, "scale"), 1e-3, "add up to more than"),
        (("events", 0, "event"), "magic", "cannot read an event 'magic'"),
        (("guarantee", "kind"), "hearsay", "got 'hearsay'"),
        (("dataset",), 3, "Receipt.dataset"),
        (("dataset",), "x" * 500, "Receipt.dataset"),
        (("purpose",), "\x1b[31m", "Receipt.purpose"),
        (("ledger", "name"), None, "Receipt.ledger.name"),
        (("ledger", "before"), "\n", "Receipt.ledger.before"),
        (("ledger", "left"), -1.0, "Receipt.ledger.left"),
        (("ledger", "left"), "much", "Receipt.ledger.left"),
        (("ledger", "budget"), {"kind": "none"}, "got 'none'"),
        (("ledger",), {}, "name"),
        (("ledger",), "n", "indices"),
    ],
)
def test_an_edited_receipt_is_refused(path: tuple[str | int, ...], value: object, words: str) -> None:
    half = ApproxDP(1.0, 1e-6).gaussian_budget().share(0.5)
    data = place = receipt(ApproxDP(1.0, 1e-6), event(half), dataset="a", ledger=BALANCE).to_dict()
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    with pytest.raises((CloisterError, LookupError, TypeError), match=words):
        Receipt.from_dict(data)


# -- where a fit leaves its ledger: an account that stays open counts with all of its cost --


def test_pure_costs_add_up() -> None:
    ledger = Ledger(epsilon=2.0, delta=0.0, name="people")
    reserve(ledger, PureDP(0.5))
    balance = ledger.balance(reserve(ledger, PureDP(1.0)).identity)
    assert (balance.before, balance.fit) == ("epsilon 0.5", "epsilon 1")
    assert balance.left == pytest.approx(0.5)
    assert balance.words() == (
        "Ledger people: epsilon = 2 (pure) in all. Spent before: epsilon 0.5. This fit: epsilon 1. Left then: epsilon 0.5."
    )


def test_only_what_came_before_counts_as_before() -> None:
    ledger = Ledger(epsilon=2.0, delta=1e-6)
    accounts = [reserve(ledger, GDP(mu)).identity for mu in (0.1, 0.2)]
    first, second = map(ledger.balance, accounts)
    assert first.before == "nothing"
    assert second.before == first.fit
    assert first.left == second.left == ledger.left


def test_a_planned_ledger_with_pure_fits_says_where_to_look() -> None:
    ledger = Ledger(epsilon=2.0, delta=1e-6, planned=True)
    balance = ledger.balance(reserve(ledger, PureDP(0.1)).identity)
    assert balance.left is None
    assert "Left then: see the ledger." in balance.words()


def test_stated_words_are_in_the_line_and_only_there() -> None:
    ledger = Ledger(epsilon=2.0, delta=1e-6)
    reserve(ledger, GDP(0.1))
    reserve(ledger, GDP(0.1), dataset="Ward 3", stated_purpose="planning")
    _, bare, told = ledger.lines
    assert set(bare) == {"v", "kind", "when", "account", "purpose", "cost"}
    assert set(told) == {*bare, "dataset", "stated_purpose"}
    assert told["purpose"] == "test"


def test_an_account_of_another_ledger_is_no_account_here() -> None:
    with pytest.raises(LedgerError, match=r"Ledger.balance: expected an account of this ledger, got 'other'"):
        Ledger(epsilon=1.0, delta=1e-6).balance("other")
