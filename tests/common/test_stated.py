# SPDX-License-Identifier: Apache-2.0
"""Name of the data set and purpose: kept by release, receipt and ledger, and without any effect on what is found."""

from cloister import Ledger, PrivateScaler, Release, Synopsis

from ._cases import every_method, same

STATED = {"dataset": "Ward 3, <2026>", "purpose": "Planning & staffing"}


@every_method
def test_words_change_no_result(case, rows):
    assert same(case.fit(rows, random_state=1), case.fit(rows, random_state=1, **STATED))


@every_method
def test_words_and_balance_are_kept(case, rows):
    ledger = Ledger(epsilon=4.0, delta=1e-6, name="people")
    case.fit(rows, epsilon=0.5, ledger=ledger)
    found = case.published(case.fit(rows, epsilon=0.5, ledger=ledger, **STATED))
    again = type(found).from_dict(found.to_dict())
    assert isinstance(again, Release | Synopsis)
    for receipt in (found.receipt, again.receipt):
        assert (receipt.dataset, receipt.purpose) == tuple(STATED.values())
        assert receipt.ledger.name == "people"
        assert receipt.ledger.left == ledger.left
        assert receipt.ledger.before == receipt.ledger.fit == ledger.summary()["accounts"][0]["cost"]
    assert "dataset" not in found.to_dict().get("parameters", {})
    first, second = ledger.summary()["accounts"]
    assert "dataset" not in first
    assert (second["dataset"], second["stated_purpose"]) == tuple(STATED.values())


@every_method
def test_nothing_is_added_where_nothing_is_said(case, rows):
    receipt = case.published(case.fit(rows)).receipt
    assert set(receipt.to_dict()) == {"guarantee", "neighbours", "account", "seeded", "events"}
    assert receipt.ledger is None


def test_a_scaler_keeps_them_too():
    ledger = Ledger(epsilon=1.0, delta=1e-6)
    receipt = PrivateScaler(bounds=(0, 1), ledger=ledger, **STATED).fit([[0.0], [1.0]]).privacy_receipt_
    (account,) = ledger.summary()["accounts"]
    assert (receipt.dataset, receipt.purpose) == (account["dataset"], account["stated_purpose"]) == tuple(STATED.values())
