# SPDX-License-Identifier: Apache-2.0
"""Receipts of several fits: chains and trees of merges, and fits behind a scaler.

What one person may have spent is computed from the events of the single fits, kept beside them, by arithmetic of our own: all
ways to take part are written out, and the receipt must list the events of all fits and state a guarantee that covers every way.
A fit under another relation or for another unit than the scaler of its rows must be refused before it pays.
"""

import pickle
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from cloister import PrivateScaler
from cloister.audit._findings import CheckResult, Findings, Settings, Step
from cloister.audit._guarantees import GUARANTEES, share_spent
from cloister.audit._methods import DOMAINS, METHODS, make_fit
from cloister.audit._replay import PUBLIC_OF_EVENT
from cloister.audit._tables import PersonTable
from cloister.columns import Relation
from cloister.exceptions import CloisterError, DataError, PrivacyWarning
from cloister.privacy import Entropy, Event, Ledger, Receipt
from cloister.synopsis import Synopsis, read_synopsis

__all__ = ["check_receipts", "count_receipt_cases"]

TITLE = "Receipts of several fits: merges of any shape, and fits behind a scaler"
SLACK = 1e-6  # of a delta: it moves far more than the mu behind it
MOST_LEAVES, USED = 6, 3  # fits of a tree; rows of a person
ADD = Relation.ADD_REMOVE
Ways: TypeAlias = list[list[Event]]  # what one person may have taken part in

CARRIED: dict[str, Callable[[Any], Any]] = {  # what happens to rows between scaler and fit
    "as they are": lambda rows: rows,
    "a slice": lambda rows: rows[::2],
    "stacked": lambda rows: np.vstack([rows, np.zeros((2, rows.shape[1]))]),
    "moved": lambda rows: rows * 0.5,
    "pickled": lambda rows: pickle.loads(pickle.dumps(rows)),  # noqa: S301 - our own
    "a list of rows": list,
}
UNITS = {"rows, behind a scaler of persons": (True, False), "persons, behind a scaler of rows": (False, True)}


def count_receipt_cases(settings: Settings) -> int:
    """Return how many cases the check has."""
    return _n_trees(settings) + len(_scaled_cases(settings)) + 1 + len(UNITS)


def check_receipts(settings: Settings, step: Step) -> CheckResult:
    """Merge fits in random trees, and fit behind scalers."""
    found = Findings("receipts", TITLE, step, settings.first)
    with warnings.catch_warnings(action="ignore", category=PrivacyWarning):  # of several fits the sum promises little
        _check_all(found, settings)
    return found.result()


def _check_all(found: Findings, settings: Settings) -> None:
    generator = Entropy(settings.seed).public_generator()
    pools = [_fits(settings.seed, persons=persons) for persons in (False, True)]
    for number in range(_n_trees(settings)):
        found.begin(f"tree {number}", part="merges")
        tree = _grow(pools[number % 2], generator)
        _check_receipt(found, f"a tree of {tree.shape}", tree.synopsis.receipt, tree.ways)
    for number, (name, kind, relation, carried) in enumerate(_scaled_cases(settings)):
        found.begin(f"{name}, {kind}, {relation.value}, {carried}", part="scalers")
        _check_scaled(found, name, kind, relation, carried, seed=settings.seed + number)
    found.begin("another relation", part="scalers")
    _check_refusal(found, "another relation", behind=(Relation.REPLACE, False), scaler=(ADD, False))
    for words, (first, then) in UNITS.items():
        found.begin(words, part="scalers")
        _check_refusal(found, words, behind=(ADD, then), scaler=(ADD, first))


def _check_receipt(found: Findings, where: str, receipt: Receipt, ways: Ways) -> None:
    """See that a receipt states what covers every way to take part, in its guarantee and in what was spent."""
    for kind, spent in {"promised": receipt.guarantee, "spent": _as_spent(receipt)}.items():
        worst = max(share_spent(events, spent) for events in ways)
        found.check_limit(worst, 1.0, f"{where}: what a person has taken part in, of what is {kind}", slack=SLACK)


def _as_spent(receipt: Receipt) -> Any:
    return receipt.guarantee.with_strength(receipt.spent.strength(receipt.guarantee))


# -- merges --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Tree:
    """A merged synopsis, with what one person may have taken part in."""

    synopsis: Synopsis
    ways: Ways
    shape: str


def _n_trees(settings: Settings) -> int:
    return settings.amount(100, 2000)


def _fits(seed: int, *, persons: bool) -> list[_Tree]:
    """Return fits of a tiny table under all guarantees."""
    table = _table(persons=persons)
    given: dict[str, Any] = {"rule": 2, **({"max_rows_per_unit": USED} if persons else {})}
    fits = []
    for number, (kind, guarantee) in enumerate(GUARANTEES.items()):
        for part in (1.0, 0.3):
            smaller = guarantee.with_strength(part * guarantee.strength)
            options: dict[str, Any] = {"relation": ADD, "domain": DOMAINS["box"](2), "n_features": 2, "seed": seed + number}
            synopsis = make_fit(METHODS["GridSynopsis"], smaller, **options, **given)(table).synopsis_
            fits.append(_Tree(synopsis, [list(synopsis.receipt.events)], kind))
    return fits


def _grow(fits: Sequence[_Tree], generator: np.random.Generator) -> _Tree:
    """Merge random fits in a random order, and write and read what comes out."""
    trees = [fits[int(generator.integers(len(fits)))] for _ in range(int(generator.integers(2, MOST_LEAVES + 1)))]
    while len(trees) > 1:
        left, right = (trees.pop(int(generator.integers(len(trees)))) for _ in range(2))
        same = generator.random() < 0.5
        synopsis = left.synopsis.merge(right.synopsis, rows="same" if same else "disjoint")
        ways = [one + other for one, other in product(left.ways, right.ways)] if same else left.ways + right.ways
        trees.append(_Tree(synopsis, ways, f"({left.shape} {'and' if same else 'or'} {right.shape})"))
    read = read_synopsis(trees[0].synopsis.to_bytes(), name="a file")
    assert isinstance(read, Synopsis)
    return _Tree(read, trees[0].ways, trees[0].shape)


def _table(*, persons: bool) -> Any:
    rows = np.linspace(-0.9, 0.9, 24).reshape(-1, 2)
    return PersonTable(rows, np.arange(len(rows)) // 2) if persons else rows


# -- scalers -------------------------------------------------------------------------------------------------------------


def _scaled_cases(settings: Settings) -> list[tuple[str, str, Relation, str]]:
    """Return method, guarantee, relation and what happens to the rows on their way; they take turns."""
    names = [name for name in METHODS if not settings.methods or name.split(",")[0] in settings.methods]
    names = [name for name in names if min(METHODS[name].dimensions) <= 2]
    ways, relations = list(CARRIED), list(Relation)
    turns = [(name, turn) for name in names for turn in range(1 if settings.quick else len(ways))]
    return [
        (name, METHODS[name].kinds[(at + turn) % len(METHODS[name].kinds)], relations[at % 2], ways[(at + turn) % len(ways)])
        for at, (name, turn) in enumerate(turns)
    ]


def _check_scaled(found: Findings, name: str, kind: str, relation: Relation, carried: str, *, seed: int) -> None:
    guarantee = GUARANTEES[kind]
    scaler = _scaler(guarantee, relation, _table(persons=False), seed=seed)
    ledger = Ledger(guarantee, neighbours=relation.value)
    options: dict[str, Any] = {"relation": relation, "domain": scaler.bounds_, "n_features": 2, "seed": seed, "ledger": ledger}
    rows = CARRIED[carried](scaler.transform(_table(persons=False)))
    receipt = make_fit(METHODS[name], guarantee, **options)(rows).privacy_receipt_
    both = [*scaler.privacy_receipt_.events, *ledger.events]
    where = f"{name}, {guarantee}, behind a scaler, {carried}"
    _check_receipt(found, where, receipt, [both])
    if Counter(map(_public, both)) != Counter(map(_public, receipt.events)):
        found.violation(f"{where}: the receipt does not list the events of the scaler and of the fit")


def _check_refusal(found: Findings, words: str, *, scaler: tuple[Relation, bool], behind: tuple[Relation, bool]) -> None:
    """Fit under another relation or unit than the scaler of the rows: nothing may be paid for."""
    guarantee, (relation, persons) = GUARANTEES["gdp"], behind
    before = _scaler(guarantee, scaler[0], _table(persons=scaler[1]), seed=0)
    rows: Any = before.transform(_table(persons=False))
    ledger = Ledger(guarantee, neighbours=relation.value, unit="person" if persons else "row")
    options: dict[str, Any] = {"relation": relation, "domain": before.bounds_, "n_features": 2, "seed": 0, "ledger": ledger}
    table = PersonTable(rows, np.arange(len(rows)) // 2) if persons else rows
    refused = False
    with suppress(CloisterError):
        try:
            make_fit(METHODS["GridSynopsis"], guarantee, **options)(table)
        except DataError:
            refused = True
            raise
    if not refused or ledger.events:
        found.violation(f"{words}: the fit was not refused before it paid")


def _scaler(guarantee: Any, relation: Relation, table: Any, *, seed: int) -> PrivateScaler:
    rows, ids = (table.rows, {"privacy_unit": table.ids}) if isinstance(table, PersonTable) else (table, {})
    bounded: dict[str, Any] = {"max_rows_per_unit": USED} if ids else {}
    scaler = PrivateScaler(guarantee=guarantee, bounds=(-2, 2), neighbours=relation.value, random_state=seed, **bounded)
    return scaler.fit(rows, **ids)


def _public(event: Event) -> tuple[object, ...]:
    return tuple(getattr(event, name) for name in PUBLIC_OF_EVENT if name != "step")
