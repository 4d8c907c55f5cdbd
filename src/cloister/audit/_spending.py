# SPDX-License-Identifier: Apache-2.0
"""What was spent, added up again by arithmetic of our own: never more than the guarantee, of one fit or of several.

Nothing of the package's accounting is used: squares of mu and sums of epsilon are taken by :func:`math.fsum`, the profile of
Gaussian noise from its definition. Of one fit, what was paid, what the ledger holds, what the receipt lists and what was drawn
must be the same, and an account refuses an answer beyond what was set aside, be it a number or a choice.

Of several fits, chains and trees of merges and fits behind a scaler, all ways in which one person may have taken part are
written out from the events of the single fits; the receipt must list the events of all and state a guarantee that covers every
way. A fit under another relation or for another unit than the scaler of its rows must be refused before it pays.
"""

import math
import pickle
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from scipy.special import log_ndtr, ndtri_exp

from cloister.audit._attacks import ADD, CHOICE, HUGE, open_vault
from cloister.audit._findings import Case, Check, CheckResult, Settings
from cloister.audit._methods import GUARANTEES, METHODS, make_fit
from cloister.audit._replay import PUBLIC_OF_EVENT, record
from cloister.audit._tables import DOMAINS, PersonTable, neighbours
from cloister.columns import Box, Relation
from cloister.exceptions import BudgetExceeded, CloisterError, DataError
from cloister.privacy import GDP, Cost, Entropy, Event, Guarantee, Ledger, PureDP, Receipt
from cloister.questions import Question, RowCount
from cloister.synopsis import Synopsis, read_synopsis

SLACK = 1e-12  # of floating-point addition
DELTA_SLACK = 1e-6  # of a delta: it moves far more than the mu behind it


# -- our own arithmetic --------------------------------------------------------------------------------------------------


def share_spent(events: Sequence[Event], guarantee: Guarantee) -> float:
    """Return which part of a guarantee the events use: a ratio of epsilons, rhos, mus or, at its epsilon, of deltas.

    Where Gaussian and pure events occur together, the pure ones count as their Gaussian equivalents.
    """
    gaussian = [one.sensitivity / one.scale for one in events if one.cost.is_gaussian]
    pure = [one.sensitivity / one.scale for one in events if not one.cost.is_gaussian]
    if guarantee.is_pure and gaussian:
        return math.inf
    if guarantee.kind == "zcdp":
        return math.fsum(one**2 for one in (*gaussian, *pure)) / 2 / guarantee.strength
    if guarantee.is_pure or (guarantee.stated_delta and not gaussian):
        return math.fsum(pure) / guarantee.strength
    # The mu at which the trade-off curves of an epsilon touch is 2 Phi^-1(1 / (1 + e^-epsilon)).
    as_gaussian = [-2 * float(ndtri_exp(-math.log1p(math.exp(epsilon)))) for epsilon in pure]
    mu = math.sqrt(math.fsum(one**2 for one in (*gaussian, *as_gaussian)))
    return _delta(mu, guarantee.strength) / guarantee.stated_delta if guarantee.stated_delta else mu / guarantee.strength


def _delta(mu: float, epsilon: float) -> float:
    """Phi(-epsilon/mu + mu/2) - e^epsilon Phi(-epsilon/mu - mu/2)."""
    return math.exp(log_ndtr(-epsilon / mu + mu / 2)) - math.exp(epsilon + log_ndtr(-epsilon / mu - mu / 2))


def _public(events: Sequence[Event], *, without: str = "") -> list[tuple[object, ...]]:
    return [tuple(getattr(event, name) for name in PUBLIC_OF_EVENT if name != without) for event in events]


# -- one fit -------------------------------------------------------------------------------------------------------------

_MU, _EPSILON = GDP(1.0), PureDP(1.0)
# What is asked, what was set aside, and what is asked for, of which the last is too much.
OVERDRAWN: dict[str, tuple[Question, Cost, Sequence[Cost]]] = {
    "a count beyond a Gaussian account": (RowCount(), _MU, [GDP(1.1)]),
    "one more count than a Gaussian account has": (RowCount(), _MU, [_MU.share(0.5)] * 3),
    "a count beyond a pure account": (RowCount(), _EPSILON, [PureDP(1.1)]),
    "a choice beyond a pure account": (CHOICE, _EPSILON, [PureDP(1.1)]),
    "one more choice than a pure account has": (CHOICE, _EPSILON, [_EPSILON.share(0.5)] * 3),
    "a choice beyond a Gaussian account": (CHOICE, _MU, [PureDP(2.5)]),
}


def _spending_cases(settings: Settings, folder: Path) -> Iterator[Case]:
    """Yield every method under every guarantee and relation, and accounts; a quick audit takes every other width."""
    fits = [(name, kind, near) for name in settings.wanted(METHODS) for kind in GUARANTEES for near in Relation]
    number = 0
    for place, (name, kind, near) in enumerate(fits):
        widths = METHODS[name].dimensions
        for n_features in widths[place % 2 :: 2] if settings.quick and len(widths) > 1 else widths:
            run = partial(_check_fit, name=name, kind=kind, relation=near, n_features=n_features, seed=settings.seed + number)
            yield Case(f"{name}, {kind}, {near.value}, d = {n_features}", f"{name}, {kind}", run)
            number += 1
    for words, (question, reserved, asked) in OVERDRAWN.items():
        yield Case(words, "accounts", partial(_check_account, question=question, reserved=reserved, asked=asked))


def _check_fit(found: CheckResult, *, name: str, kind: str, relation: Relation, n_features: int, seed: int) -> None:
    """Fit with a ledger that holds just the budget."""
    domain, guarantee = DOMAINS["box"](n_features), GUARANTEES[kind]
    rows, _ = neighbours(domain, n_features, relation=relation, hostile="edge", generator=Entropy(seed).public_generator())
    ledger = Ledger(guarantee, neighbours=relation.value)
    tape = record(
        make_fit(name, guarantee, relation=relation, domain=domain, n_features=n_features, seed=seed, ledger=ledger), rows
    )
    if tape.error:
        found.violation(f"the fit ended with {tape.error}")
        return
    for message in dict.fromkeys(tape.faults):
        found.violation(message)
    receipt = tape.model.privacy_receipt_.events
    found.check_limit(share_spent(receipt, guarantee), 1.0, "share of the guarantee", slack=SLACK)
    if _public(receipt) != _public(ledger.events):
        found.violation("the ledger does not hold the events of the receipt")
    if _public(receipt) != _public([call.event for call in tape.calls]):
        found.violation("the receipt does not list what was answered")
    if any(one.relation != relation.value for one in receipt):
        found.violation("an event is about another relation")


def _check_account(found: CheckResult, *, question: Question, reserved: Cost, asked: Sequence[Cost]) -> None:
    """Ask for more than was set aside: all but the last answer is given, and that one is neither drawn nor debited."""
    vault = open_vault(np.zeros((3, 1)), reserved, relation=ADD, entropy=Entropy(0), strength=reserved.strength)
    answered = 0
    with suppress(BudgetExceeded):
        for cost in asked:
            vault.ask(question, cost)
            answered += 1
    if answered >= len(asked):
        found.violation("the account gave more than was set aside")
    if len(vault.close(reserved.with_strength(HUGE)).events) != answered:
        found.violation("the receipt does not list what was answered")


SPENDING = Check(
    title="Spending recomputed from receipts, ledgers and draws",
    meaning="The costs of all events are added up again by other arithmetic. The ratio is spent over promised; the "
    "receipt, the ledger and the draws must list the same events.",
    cases=_spending_cases,
)

# -- several fits --------------------------------------------------------------------------------------------------------

MOST_LEAVES, USED = 6, 3  # fits of a tree; rows of a person
Ways: TypeAlias = list[list[Event]]  # what one person may have taken part in
ROWS = np.linspace(-0.9, 0.9, 24).reshape(-1, 2)
CARRIED: dict[str, Callable[[Any], Any]] = {  # what happens to rows between scaler and fit
    "as they are": lambda rows: rows,
    "a slice": lambda rows: rows[::2],
    "stacked": lambda rows: np.vstack([rows, np.zeros((2, rows.shape[1]))]),
    "moved": lambda rows: rows * 0.5,
    "pickled": lambda rows: pickle.loads(pickle.dumps(rows)),  # noqa: S301 - our own
    "a list of rows": list,
}
MISFITS = {  # relation and unit (whether persons) of a scaler, and those of the fit behind it
    "another relation": ((ADD, False), (Relation.REPLACE, False)),
    "rows, behind a scaler of persons": ((ADD, True), (ADD, False)),
    "persons, behind a scaler of rows": ((ADD, False), (ADD, True)),
}


@dataclass(frozen=True)
class _Tree:
    """A merged synopsis, with what one person may have taken part in."""

    synopsis: Synopsis
    ways: Ways
    shape: str


def _receipt_cases(settings: Settings, folder: Path) -> Iterator[Case]:
    """Yield random trees of merges, and every method behind a scaler; what happens to the rows on their way takes turns."""
    generator = Entropy(settings.seed).public_generator()
    pools = [_fits(settings.seed, persons=persons) for persons in (False, True)]
    for number in range(settings.amount(100, 2000)):
        yield Case(f"tree {number}", "merges", partial(_check_tree, fits=pools[number % 2], generator=generator))
    names = [name for name in settings.wanted(METHODS) if min(METHODS[name].dimensions) <= 2]
    turns = product(names, range(1 if settings.quick else len(CARRIED)))
    for number, (name, turn) in enumerate(turns):
        kinds, carried = METHODS[name].method.guarantees, list(CARRIED)[(number + turn) % len(CARRIED)]
        kind, near = kinds[(number + turn) % len(kinds)], list(Relation)[number % 2]
        run = partial(_check_scaled, name=name, kind=kind, relation=near, carried=carried, seed=settings.seed + number)
        yield Case(f"{name}, {kind}, {near.value}, {carried}", "scalers", run)
    for words, (scaler, behind) in MISFITS.items():
        yield Case(words, "scalers", partial(_check_misfit, scaler=scaler, behind=behind))


def _check_receipt(found: CheckResult, receipt: Receipt, ways: Ways, what: str) -> None:
    """See that a receipt states what covers every way to take part, in its guarantee and in what was spent."""
    as_spent = receipt.guarantee.with_strength(receipt.spent.strength(receipt.guarantee))
    for kind, spent in {"promised": receipt.guarantee, "spent": as_spent}.items():
        worst = max(share_spent(events, spent) for events in ways)
        found.check_limit(worst, 1.0, f"{what}: what a person has taken part in, of what is {kind}", slack=DELTA_SLACK)


def _fits(seed: int, *, persons: bool) -> list[_Tree]:
    """Return fits of a tiny table under all guarantees."""
    given: dict[str, Any] = {"rule": 2, **({"max_rows_per_unit": USED} if persons else {})}
    fits = []
    for number, (kind, guarantee) in enumerate(GUARANTEES.items()):
        for part in (1.0, 0.3):
            smaller = guarantee.with_strength(part * guarantee.strength)
            fit = make_fit("GridSynopsis", smaller, relation=ADD, domain=DOMAINS["box"](2), seed=seed + number, **given)
            synopsis = fit(_table(ROWS, persons=persons)).synopsis_
            fits.append(_Tree(synopsis, [list(synopsis.receipt.events)], kind))
    return fits


def _check_tree(found: CheckResult, *, fits: Sequence[_Tree], generator: np.random.Generator) -> None:
    """Merge random fits in a random order, and write and read what comes out."""
    trees = [fits[int(generator.integers(len(fits)))] for _ in range(int(generator.integers(2, MOST_LEAVES + 1)))]
    while len(trees) > 1:
        left, right = (trees.pop(int(generator.integers(len(trees)))) for _ in range(2))
        same = generator.random() < 0.5
        synopsis = left.synopsis.merge(right.synopsis, rows="same" if same else "disjoint")
        ways = [one + other for one, other in product(left.ways, right.ways)] if same else left.ways + right.ways
        trees.append(_Tree(synopsis, ways, f"({left.shape} {'and' if same else 'or'} {right.shape})"))
    read = read_synopsis(trees[0].synopsis.to_bytes(), name="a file")
    _check_receipt(found, read.receipt, trees[0].ways, f"a tree of {trees[0].shape}")


def _check_scaled(found: CheckResult, *, name: str, kind: str, relation: Relation, carried: str, seed: int) -> None:
    guarantee = GUARANTEES[kind]
    scaler = _scaler(guarantee, relation, persons=False, seed=seed)
    ledger = Ledger(guarantee, neighbours=relation.value)
    fit = make_fit(name, guarantee, relation=relation, domain=scaler.bounds_, seed=seed, ledger=ledger)
    receipt = fit(CARRIED[carried](scaler.transform(ROWS))).privacy_receipt_
    both = [*scaler.privacy_receipt_.events, *ledger.events]
    _check_receipt(found, receipt, [both], f"{guarantee}")
    if Counter(_public(both, without="step")) != Counter(_public(receipt.events, without="step")):
        found.violation("the receipt does not list the events of the scaler and of the fit")


def _check_misfit(found: CheckResult, *, scaler: tuple[Relation, bool], behind: tuple[Relation, bool]) -> None:
    """Fit under another relation or unit than the scaler of the rows: nothing may be paid for."""
    guarantee, (relation, persons) = GUARANTEES["gdp"], behind
    before = _scaler(guarantee, scaler[0], persons=scaler[1], seed=0)
    ledger = Ledger(guarantee, neighbours=relation.value, unit="person" if persons else "row")
    fit, refused = make_fit("GridSynopsis", guarantee, relation=relation, domain=before.bounds_, seed=0, ledger=ledger), False
    try:
        fit(_table(before.transform(ROWS), persons=persons))
    except CloisterError as error:
        refused = isinstance(error, DataError)
    if not refused or ledger.events:
        found.violation("the fit was not refused before it paid")


def _scaler(guarantee: Guarantee, relation: Relation, *, persons: bool, seed: int) -> Any:
    bounded: dict[str, Any] = {"max_rows_per_unit": USED} if persons else {}
    fit = make_fit("PrivateScaler", guarantee, relation=relation, domain=Box(-2, 2), seed=seed, **bounded)
    return fit(_table(ROWS, persons=persons))


def _table(rows: Any, *, persons: bool) -> Any:
    return PersonTable(rows, np.arange(len(rows)) // 2) if persons else rows


RECEIPTS = Check(
    title="Receipts of several fits: merges of any shape, and fits behind a scaler",
    meaning="Fits are merged in trees of any shape, and fitted behind scalers. What one person may have taken part in is "
    "added up from the events of the single fits; the receipt must state as much. The ratio is found over stated.",
    cases=_receipt_cases,
)
