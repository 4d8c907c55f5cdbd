# SPDX-License-Identifier: Apache-2.0
"""Spending recomputed: the costs of a fit's events, added up by arithmetic of our own, never exceed its guarantee.

Nothing of the package's accounting is used. What was paid, what the ledger holds, what the receipt lists and what was drawn
must be the same.
"""

from collections.abc import Sequence

from cloister.audit._findings import CheckResult, Findings, Settings, Step
from cloister.audit._guarantees import GUARANTEES, share_spent
from cloister.audit._methods import DOMAINS, METHODS, make_fit
from cloister.audit._replay import PUBLIC_OF_EVENT, Tape, record
from cloister.audit._tables import neighbours
from cloister.domain import Relation
from cloister.privacy import Entropy, Event, Guarantee, Ledger

__all__ = ["check_spending", "spending_cases"]

TITLE = "Spending recomputed from receipts, ledgers and draws"
SLACK = 1e-12  # of floating-point addition


def check_spending(settings: Settings, step: Step) -> CheckResult:
    """Fit every method under every guarantee and relation, each with a ledger that holds just its budget."""
    found = Findings("spending", TITLE, step, settings.first)
    for number, (name, kind, relation, n_features) in enumerate(spending_cases(settings)):
        found.begin(f"{name}, {kind}, {relation.value}, d = {n_features}", part=f"{name}, {kind}")
        _check_fit(found, name, GUARANTEES[kind], relation, n_features=n_features, seed=settings.seed + number)
    return found.result()


def spending_cases(settings: Settings) -> list[tuple[str, str, Relation, int]]:
    """Return method, guarantee, relation and number of columns of every fit; a quick audit takes every other width."""
    names = [name for name in METHODS if not settings.methods or name.split(",")[0] in settings.methods]
    fits = [(name, kind, relation) for name in names for kind in METHODS[name].kinds for relation in Relation]
    return [
        (*fit, n_features)
        for number, fit in enumerate(fits)
        for place, n_features in enumerate(METHODS[fit[0]].dimensions)
        if not settings.quick or (place + number) % 2 == 0 or len(METHODS[fit[0]].dimensions) == 1
    ]


def _check_fit(found: Findings, name: str, guarantee: Guarantee, relation: Relation, *, n_features: int, seed: int) -> None:
    domain = DOMAINS["box"](n_features)
    rows = neighbours(domain, n_features, relation=relation, hostile="edge", generator=Entropy(seed).public_generator()).left
    ledger = Ledger(guarantee, neighbours=relation.value)
    fit = make_fit(METHODS[name], guarantee, relation=relation, domain=domain, n_features=n_features, seed=seed, ledger=ledger)
    tape = record(fit, rows)
    where = f"{name}, {guarantee}, {relation.value}, d = {n_features}"
    if tape.error:
        found.violation(f"{where}: the fit ended with {tape.error}")
        return
    for message in dict.fromkeys(tape.faults):
        found.violation(f"{where}: {message}")
    receipt = tape.model.privacy_receipt_.events
    found.check_limit(share_spent(receipt, guarantee), 1.0, f"{where}: share of the guarantee", slack=SLACK)
    _check_lists(found, where, tape, ledger, receipt)


def _check_lists(found: Findings, where: str, tape: Tape, ledger: Ledger, receipt: Sequence[Event]) -> None:
    """Compare the receipt with the ledger and with the answers."""
    listed = [_public(one) for one in receipt]
    if listed != [_public(one) for one in ledger.events]:
        found.violation(f"{where}: the ledger does not hold the events of the receipt")
    if listed != [_public(call.event) for call in tape.calls]:
        found.violation(f"{where}: the receipt does not list what was answered")
    if any(one.relation != ledger.neighbours for one in receipt):
        found.violation(f"{where}: an event is about another relation")


def _public(event: Event) -> tuple[object, ...]:
    return tuple(getattr(event, name) for name in PUBLIC_OF_EVENT)
