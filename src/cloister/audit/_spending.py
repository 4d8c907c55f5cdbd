# SPDX-License-Identifier: Apache-2.0
"""Spending recomputed: the costs of a fit's events, added up by arithmetic of our own, never exceed its guarantee.

Nothing of the package's accounting is used. What was paid, what the ledger holds, what the receipt lists and what was drawn
must be the same. An account refuses an answer beyond what was set aside, be it a number or a choice, and nothing is drawn.
"""

from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from cloister.audit._findings import CheckResult, Findings, Settings, Step
from cloister.audit._guarantees import GUARANTEES, share_spent
from cloister.audit._methods import DOMAINS, METHODS, make_fit
from cloister.audit._replay import PUBLIC_OF_EVENT, Tape, record
from cloister.audit._tables import neighbours
from cloister.audit._vault import HUGE, open_vault
from cloister.columns import Relation
from cloister.exceptions import BudgetExceeded
from cloister.privacy import GDP, Cost, Entropy, Event, Guarantee, Ledger, PureDP
from cloister.questions import Question, RowCount
from cloister.rivals import SetCosts

__all__ = ["check_spending", "count_spending_cases", "spending_cases"]

TITLE = "Spending recomputed from receipts, ledgers and draws"
SLACK = 1e-12  # of floating-point addition
_MU, _EPSILON = GDP(1.0), PureDP(1.0)
_CHOICE = SetCosts(sets=np.array([[[0.0]], [[1.0]]]), cap=1.0)
# What is asked, what was set aside, and what is asked for, of which the last is too much.
OVERDRAWN: dict[str, tuple[Question, Cost, Sequence[Cost]]] = {
    "a count beyond a Gaussian account": (RowCount(), _MU, [GDP(1.1)]),
    "one more count than a Gaussian account has": (RowCount(), _MU, [_MU.share(0.5)] * 3),
    "a count beyond a pure account": (RowCount(), _EPSILON, [PureDP(1.1)]),
    "a choice beyond a pure account": (_CHOICE, _EPSILON, [PureDP(1.1)]),
    "one more choice than a pure account has": (_CHOICE, _EPSILON, [_EPSILON.share(0.5)] * 3),
    "a choice beyond a Gaussian account": (_CHOICE, _MU, [PureDP(2.5)]),
}


def check_spending(settings: Settings, step: Step) -> CheckResult:
    """Fit every method under every guarantee and relation, each with a ledger that holds just its budget."""
    found = Findings("spending", TITLE, step, settings.first)
    for number, (name, kind, relation, n_features) in enumerate(spending_cases(settings)):
        found.begin(f"{name}, {kind}, {relation.value}, d = {n_features}", part=f"{name}, {kind}")
        _check_fit(found, name, GUARANTEES[kind], relation, n_features=n_features, seed=settings.seed + number)
    for words, (question, reserved, asked) in OVERDRAWN.items():
        found.begin(words, part="accounts")
        _check_refusal(found, words, question, reserved, asked)
    return found.result()


def _check_refusal(found: Findings, words: str, question: Question, reserved: Cost, asked: Sequence[Cost]) -> None:
    """Ask for more than was set aside: all but the last answer is given, and that one is neither drawn nor debited."""
    vault = open_vault(np.zeros((3, 1)), reserved, relation=Relation.ADD_REMOVE, entropy=Entropy(0), strength=reserved.strength)
    answered = 0
    with suppress(BudgetExceeded):
        for cost in asked:
            vault.ask(question, cost)
            answered += 1
    if answered >= len(asked):
        found.violation(f"{words}: the account gave more than was set aside")
    if len(vault.close(reserved.with_strength(HUGE)).events) != answered:
        found.violation(f"{words}: the receipt does not list what was answered")


def count_spending_cases(settings: Settings) -> int:
    """Return how many cases the check has."""
    return len(spending_cases(settings)) + len(OVERDRAWN)


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
