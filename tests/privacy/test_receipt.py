# SPDX-License-Identifier: Apache-2.0
"""A receipt adds the events up again, refuses a sum above its guarantee, and can be read by anyone."""

import json
from functools import partial

import pytest

from cloister.exceptions import LedgerError, ParameterError
from cloister.privacy import GDP, ZCDP, ApproxDP, Event, Guarantee, PureDP, Receipt

from ._paid import event as paid

event = partial(paid, size=4, seeded=False, when="2026-01-31")


def receipt(guarantee: Guarantee, *events: Event, neighbours: str = "add-remove") -> Receipt:
    return Receipt(guarantee=guarantee, neighbours=neighbours, events=events, account="a1")


@pytest.mark.parametrize("guarantee", [PureDP(1.0), ApproxDP(1.0, 1e-6), ZCDP(0.1), GDP(0.5)])
def test_events_that_exceed_the_guarantee_are_refused(guarantee: Guarantee) -> None:
    half = (guarantee if isinstance(guarantee, PureDP) else guarantee.gaussian_budget()).share(0.5)
    assert receipt(guarantee, event(half), event(half)).spent.fits(guarantee)
    with pytest.raises(LedgerError, match=r"Receipt: the events add up to more than .* This is a fault of the method"):
        receipt(guarantee, event(half), event(half), event(half.share(0.01)))


def test_a_receipt_says_what_was_promised_and_asked() -> None:
    share = ApproxDP(1.0, 1e-6).gaussian_budget().share(0.25)
    promised, spent = receipt(
        ApproxDP(1.0, 1e-6),
        event(share, question_name="row_count"),
        *[event(share, question_name="nearest_counts") for _ in range(3)],
    ).explain()
    assert promised.startswith("Guarantee: epsilon = 1, delta = 1e-06. This limits how much adding or removing any one row can")
    assert spent == "Spent: epsilon 1 at delta 1e-06, in 4 noisy answers (1 x row_count, 3 x nearest_counts)."
    assert "replacing any one row by another" in receipt(PureDP(1.0), event(PureDP(1.0)), neighbours="replace").explain()[0]


def test_a_seeded_receipt_warns() -> None:
    seeded = receipt(PureDP(1.0), event(PureDP(0.5)), event(PureDP(0.5), seeded=True))
    assert seeded.seeded
    assert seeded.explain()[-1].startswith("SEEDED: the noise can be drawn again from the seed.")
    assert not any("SEEDED" in line for line in receipt(PureDP(1.0), event(PureDP(0.5))).explain())


@pytest.mark.parametrize("guarantee", [PureDP(1.0), ApproxDP(1.0, 1e-6), ZCDP(0.1), GDP(0.5)])
def test_a_receipt_survives_plain_data(guarantee: Guarantee) -> None:
    cost = guarantee if isinstance(guarantee, PureDP) else guarantee.gaussian_budget()
    original = receipt(guarantee, event(cost.share(0.5), seeded=True), event(cost.share(0.5)))
    assert Receipt.from_dict(json.loads(json.dumps(original.to_dict()))) == original


def test_an_edited_receipt_is_refused() -> None:
    data = receipt(ApproxDP(1.0, 1e-6), event(ApproxDP(1.0, 1e-6).gaussian_budget())).to_dict()
    louder = json.loads(json.dumps(data))
    louder["events"][0]["scale"] /= 2
    with pytest.raises(LedgerError, match="add up to more than"):
        Receipt.from_dict(louder)
    unknown = json.loads(json.dumps(data))
    unknown["events"][0]["event"] = "magic"
    with pytest.raises(LedgerError, match="cannot read an event 'magic'"):
        Receipt.from_dict(unknown)
    other = json.loads(json.dumps(data))
    other["guarantee"]["kind"] = "hearsay"
    with pytest.raises(ParameterError, match="got 'hearsay'"):
        Receipt.from_dict(other)
