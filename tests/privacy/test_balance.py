# SPDX-License-Identifier: Apache-2.0
"""Where a fit leaves its ledger: what was spent before it, its own part, and what is left; and how a receipt keeps it."""

import json

import pytest

from cloister import GDP, ApproxDP, Ledger, PureDP
from cloister.exceptions import CloisterError, LedgerError
from cloister.privacy import LedgerBalance, Receipt

from ._paid import reserve


def spend(ledger, cost, **stated):
    """Reserve a cost; the account stays open and so counts with all of it."""
    return reserve(ledger, cost, **stated).identity


def test_pure_costs_add_up():
    ledger = Ledger(epsilon=2.0, delta=0.0, name="people")
    spend(ledger, PureDP(0.5))
    account = spend(ledger, PureDP(1.0))
    balance = ledger.balance(account)
    assert (balance.before, balance.fit) == ("epsilon 0.5", "epsilon 1")
    assert balance.left == pytest.approx(0.5)
    assert balance.words() == (
        "Ledger people: epsilon = 2 (pure) in all. Spent before: epsilon 0.5. This fit: epsilon 1. Left then: epsilon 0.5."
    )


def test_only_what_came_before_counts_as_before():
    ledger = Ledger(epsilon=2.0, delta=1e-6)
    first, second = spend(ledger, GDP(0.1)), spend(ledger, GDP(0.2))
    assert ledger.balance(first).before == "nothing"
    assert ledger.balance(second).before == ledger.balance(first).fit
    assert ledger.balance(first).left == ledger.balance(second).left == ledger.left


def test_a_planned_ledger_with_pure_fits_says_where_to_look():
    ledger = Ledger(epsilon=2.0, delta=1e-6, planned=True)
    balance = ledger.balance(spend(ledger, PureDP(0.1)))
    assert balance.left is None
    assert "Left then: see the ledger." in balance.words()


def test_stated_words_are_in_the_line_and_only_there():
    ledger = Ledger(epsilon=2.0, delta=1e-6)
    spend(ledger, GDP(0.1))
    spend(ledger, GDP(0.1), dataset="Ward 3", stated_purpose="planning")
    _, bare, told = ledger.lines
    assert set(bare) == {"v", "kind", "when", "account", "purpose", "cost"}
    assert set(told) == {*bare, "dataset", "stated_purpose"}
    assert told["purpose"] == "test"


def receipt(**more):
    balance = LedgerBalance(name="n", budget=ApproxDP(1.0, 1e-6), before="nothing", fit="epsilon 1 at delta 1e-06", left=0.0)
    return Receipt(guarantee=PureDP(1.0), neighbours="replace", events=(), ledger=balance, **more)


def test_a_receipt_is_read_again():
    found = receipt(dataset="a", purpose="b")
    assert Receipt.from_dict(json.loads(json.dumps(found.to_dict()))) == found
    assert found.explain()[:2] == ["Data set: a", "Purpose: b"]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("dataset",), 3),
        (("dataset",), "x" * 500),
        (("purpose",), "\x1b[31m"),
        (("ledger", "name"), None),
        (("ledger", "before"), "\n"),
        (("ledger", "left"), -1.0),
        (("ledger", "left"), "much"),
        (("ledger", "budget"), {"kind": "none"}),
        (("ledger",), {}),
        (("ledger",), "n"),
    ],
)
def test_an_edited_receipt_is_refused(path, value):
    data = receipt(dataset="a").to_dict()
    place = data
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    with pytest.raises((CloisterError, LookupError, TypeError)):
        Receipt.from_dict(data)


def test_an_account_of_another_ledger_is_no_account_here():
    with pytest.raises(LedgerError, match=r"Ledger.balance: expected an account of this ledger, got 'other'"):
        Ledger(epsilon=1.0, delta=1e-6).balance("other")
