# SPDX-License-Identifier: Apache-2.0
"""What the lines of a ledger say and add up to: the terms of its budget, the accounts, whether a cost fits. Knows no file."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypedDict

from cloister import validate
from cloister.columns import WEIGHTINGS, Relation
from cloister.exceptions import BudgetExceeded, LedgerError
from cloister.privacy._accounting import Composition, Tally, left_of
from cloister.privacy._convert import as_guarantee, guarantee_from_dict, names_of_guarantees
from cloister.privacy._events import LINE_VERSION, event_from_line, today
from cloister.privacy._guarantees import Cost, Guarantee
from cloister.privacy._receipt import LedgerBalance

UNITS = WEIGHTINGS  # what a budget protects: a row or a person
STATED = ("dataset", "stated_purpose", "privacy_unit")  # words of the user and the column of ids, where there are any


class Terms(TypedDict, total=False):
    """What a budget is granted for, as parameters of a ledger."""

    epsilon: float | None
    delta: float | None
    neighbours: str
    unit: str
    name: str
    planned: bool
    pure_epsilon: float


DEFAULTS = {"neighbours": "add-remove", "unit": "row", "name": "", "planned": False, "pure_epsilon": 0.0}
CHECKS: dict[str, Callable[[Any], Any]] = {
    "neighbours": lambda word: Relation.parse("Ledger.neighbours", word).value,
    "unit": partial(
        validate.one_of, "Ledger.unit", allowed=UNITS, remedy="Pass what one fit must not give away: a row, or a person."
    ),
    "name": str,
    "planned": partial(validate.boolean, "Ledger.planned"),
    "pure_epsilon": partial(validate.number, "Ledger.pure_epsilon", low=0.0),
}


def first_line(budget: Guarantee | None, **given: Any) -> dict[str, Any]:
    """Return the first line of a ledger: all terms of its budget."""
    terms = {**DEFAULTS, **checked_terms(budget, **given)}
    if "budget" not in terms:
        validate.refuse("Ledger.epsilon", "a total to spend", None, remedy="Pass epsilon= and delta=, or budget=.")
    granted, part, where = terms["budget"], terms["pure_epsilon"], "Ledger.pure_epsilon"
    if part and not granted.stated_delta:
        validate.refuse(where, "0 unless the budget is (epsilon, delta)", part, remedy="Leave it out.")
    if part and part >= granted.strength:
        validate.refuse(where, f"less than the whole epsilon of {granted.strength:g}", part, remedy="Set less aside.")
    if part and terms["planned"]:
        validate.refuse(where, "0 if planned=True", part, remedy="Leave one of them out.")
    return {"v": LINE_VERSION, "kind": "budget", "when": today(), **terms, "budget": terms["budget"].to_dict()}


def checked_terms(
    budget: Guarantee | None, *, epsilon: float | None = None, delta: float | None = None, **given: Any
) -> dict[str, Any]:
    """Return the terms that are given, by the names that they have as properties of a ledger."""
    if unknown := given.keys() - CHECKS.keys():
        raise TypeError(f"Ledger: expected one of {', '.join(CHECKS)}, got {', '.join(sorted(unknown))}.")
    terms = {word: CHECKS[word](value) for word, value in given.items()}
    if budget is None:
        return (
            terms if epsilon is None else {**terms, "budget": as_guarantee("Ledger", epsilon, 0.0 if delta is None else delta)}
        )
    if epsilon is not None or delta is not None:
        validate.refuse("Ledger.budget", "either budget or epsilon and delta", budget, remedy="Leave one of them out.")
    if not isinstance(budget, Guarantee):
        validate.refuse("Ledger.budget", names_of_guarantees(), budget, remedy="Pass epsilon= and delta=.")
    return {**terms, "budget": budget}


@dataclass
class AccountState:
    """What one account has reserved and debited."""

    identity: str
    purpose: str
    cost: Cost
    when: str
    debits: Tally = field(default_factory=Tally)
    events: int = 0
    closed: bool = False
    settled: bool = False  # closed from outside, as its process was gone
    stated: dict[str, str] = field(default_factory=dict)  # by the names in STATED

    def close_line(self) -> dict[str, Any]:
        """Return the line that closes it."""
        return {"v": LINE_VERSION, "when": self.when, "kind": "close", "account": self.identity}

    def covers(self, cost: Cost) -> bool:
        """Whether a further debit fits into the reservation."""
        return (self.debits + Tally.of([cost])).fits(self.cost)

    def counts_as(self, composition: Composition) -> Tally:
        """Return what counts against the budget: all that is reserved while the account is open, then what was debited.

        Where a part is set aside for pure fits, a choice in a Gaussian fit is not one: it counts as its Gaussian cost. Where
        costs are planned, a fit counts with all it reserved: how it divided that, or that it ended early, may follow answers.
        """
        if not self.closed or (composition.planned and self.events):
            return Tally.of([self.cost])
        return Tally(self.debits.all_mu**2) if composition.pure_epsilon and self.cost.is_gaussian else self.debits

    def to_dict(self, budget: Guarantee, composition: Composition) -> dict[str, Any]:
        """Return the account as plain data, in the terms of the budget."""
        return {
            "account": self.identity,
            "purpose": self.purpose,
            "when": self.when,
            "events": self.events,
            "cost": self.counts_as(composition).describe(budget),
            "open": not self.closed,
            **({"settled": True} if self.settled else {}),
            **self.stated,
        }


class LedgerState:
    """What the lines read so far add up to."""

    def __init__(self) -> None:
        self.first: dict[str, Any] = {}
        self.accounts: dict[str, AccountState] = {}
        self.last = 0
        self.digest = ""

    def apply(self, line: dict[str, Any]) -> None:
        """Take one more line into account; a line of an unknown kind is refused, never guessed."""
        if not isinstance(line, dict):
            raise TypeError("a line is an object")
        kind, identity = line.get("kind"), line.get("account", "")
        if line.get("v") != LINE_VERSION or kind not in ("budget", "reserve", "debit", "close"):
            raise LedgerError(f"Ledger: cannot read a line of kind {kind!r}. Upgrade cloister to read this ledger.")
        if (kind == "budget") != (self.last == 0):
            raise ValueError("a budget is granted once, in the first line")
        if kind == "budget":
            self.first = line
            self.budget = guarantee_from_dict(line["budget"])
            self.relation = Relation(line["neighbours"])
            self.unit = validate.one_of("Ledger.unit", line["unit"], UNITS)
            self.name = str(line["name"])
            self.composition = Composition(planned=bool(line["planned"]), pure_epsilon=float(line["pure_epsilon"]))
        elif kind == "reserve":
            cost = guarantee_from_dict(line["cost"])
            if not isinstance(cost, Cost):
                raise TypeError("a reservation is GDP or PureDP")
            if identity in self.accounts:
                raise ValueError("an account opened again would forget its debits")
            stated = {name: str(line[name]) for name in STATED if line.get(name)}
            self.accounts[identity] = AccountState(identity, line["purpose"], cost, str(line["when"]), stated=stated)
        elif kind == "debit":
            account = self.accounts[identity]
            if account.closed:
                raise ValueError("a closed account takes no debits")
            account.debits.add(event_from_line(line).cost)
            account.events += 1
        else:
            self.accounts[identity].closed = True
            self.accounts[identity].settled |= line.get("settled") is True

    @property
    def checkpoint(self) -> str:
        """The number of the last line and its digest."""
        return f"{self.last}:{self.digest}"

    def spent(self) -> Tally:
        """Add up what counts against the budget."""
        total = Tally()
        for account in self.accounts.values():
            total = total + account.counts_as(self.composition)
        return total

    def left(self, *, pure: bool = False) -> float:
        """Return the largest further fit that is not refused: a Gaussian one, in the terms of the budget, or a pure one."""
        return left_of(self.budget, self.spent(), composition=self.composition, pure=pure)


def balance_of(state: LedgerState, identity: str) -> LedgerBalance:
    """Return where an account stands in its ledger: what was spent before it was opened, its own part, and what is left."""
    before, budget, composition = Tally(), state.budget, state.composition
    for account in state.accounts.values():
        if account.identity == identity:
            break
        before = before + account.counts_as(composition)
    own = state.accounts[identity].counts_as(composition)
    slow = composition.planned and bool(state.spent().pure)  # each look would compose distributions
    left = None if slow else state.left()
    name = "".join(letter for letter in state.name if letter.isprintable())[: validate.LONGEST_TEXT]
    said_before, said_own = (tally.describe(budget, composition=composition) for tally in (before, own))
    return LedgerBalance(name=name, budget=budget, before=said_before, fit=said_own, left=left)


def refuse_larger_delta(state: LedgerState, delta: float) -> None:
    """Refuse a fit that allows itself more delta than the ledger does: it would cost far more than its epsilon says."""
    budget = state.budget
    if budget.stated_delta and delta > budget.stated_delta:
        raise LedgerError(
            f"Ledger.reserve: expected a delta of at most {budget.stated_delta:g}, the ledger's, got {delta:g}: a larger one "
            f"costs more of this budget than the fit's epsilon says. Pass delta={budget.stated_delta:g} (--delta) or less."
        )


def refuse_unless_it_fits(state: LedgerState, cost: Cost) -> None:
    """Raise the error that names the cost and what is left, if a further cost does not fit."""
    budget = state.budget
    if (state.spent() + Tally.of([cost])).fits(budget, composition=state.composition):
        return
    if budget.is_pure and cost.is_gaussian:
        raise BudgetExceeded(
            f"Ledger.reserve: the budget is {budget}, which Gaussian noise cannot satisfy. Pass delta=0 to the fit."
        )
    pure = not cost.is_gaussian
    wanted, parameter = Tally.of([cost]).describe(budget), budget.parameter
    if pure and not budget.is_pure:
        wanted, parameter = f"{cost.parameter} {cost.strength:.4g} (pure)", cost.parameter
    left = state.left(pure=pure)
    total = f" of {budget.strength:.4g}" if parameter == budget.parameter else ""
    remedy = "Ask for no more than is left, or create another budget."
    if pure and budget.stated_delta and not state.composition.planned:
        remedy = (
            "Beside Gaussian fits a pure one is expensive: pass the ledger's delta to the fit, or create a ledger with "
            "pure_epsilon= set aside for pure fits."
        )
    elif state.composition.pure_epsilon:
        remedy = f"Of the budget epsilon {state.composition.pure_epsilon:.4g} is set aside for pure fits (delta=0)."
    raise BudgetExceeded(f"Ledger.reserve: this fit costs {wanted} but {parameter} {left:.4g}{total} is left. {remedy}")
