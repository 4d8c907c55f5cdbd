# SPDX-License-Identifier: Apache-2.0
"""What the lines of a ledger add up to: the budget, the accounts, and whether a further cost fits. Knows no file."""

from dataclasses import dataclass, field
from typing import Any

from cloister.domain import Relation
from cloister.exceptions import BudgetExceeded, LedgerError
from cloister.privacy._accounting import Tally, left_of
from cloister.privacy._events import LINE_VERSION, Cost, event_from_line
from cloister.privacy._guarantees import GDP, Guarantee, PureDP, guarantee_from_dict

__all__ = ["AccountState", "LedgerState", "refuse_unless_it_fits"]


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

    def takes(self, cost: Cost) -> bool:
        """Whether a further debit fits into the reservation."""
        return (self.debits + Tally.of([cost])).fits(self.cost)

    def counts_as(self) -> Tally:
        """Return what counts against the budget: all that is reserved while the account is open, then what was debited."""
        return self.debits if self.closed else Tally.of([self.cost])

    def to_dict(self, budget: Guarantee) -> dict[str, Any]:
        """Return the account as plain data, in the currency of the budget."""
        tally = self.counts_as()
        return {
            "account": self.identity,
            "purpose": self.purpose,
            "when": self.when,
            "events": self.events,
            "cost": "nothing" if tally.empty else tally.describe(budget),
            "open": not self.closed,
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
        kind, identity = line.get("kind"), line.get("account", "")
        if line.get("v") != LINE_VERSION or kind not in ("budget", "reserve", "debit", "close"):
            raise LedgerError(f"Ledger: cannot read a line of kind {kind!r}. Upgrade cloister to read this ledger.")
        if kind == "budget":
            self.first = line
            self.budget = guarantee_from_dict(line["budget"])
            self.relation = Relation(line["neighbours"])
            self.name = str(line["name"])
            self.planned = bool(line.get("planned", False))
        elif kind == "reserve":
            cost = guarantee_from_dict(line["cost"])
            if not isinstance(cost, GDP | PureDP):
                raise TypeError("a reservation is GDP or PureDP")
            self.accounts[identity] = AccountState(identity, line["purpose"], cost, line["when"])
        elif kind == "debit":
            account = self.accounts[identity]
            account.debits.add(event_from_line(line).cost)
            account.events += 1
        else:
            self.accounts[identity].closed = True

    def spent(self) -> Tally:
        """Add up what counts against the budget."""
        total = Tally()
        for account in self.accounts.values():
            total = total + account.counts_as()
        return total


def refuse_unless_it_fits(state: LedgerState, cost: Cost) -> None:
    """Raise the error that names the cost and what is left, if a further cost does not fit."""
    spent = state.spent()
    if (spent + Tally.of([cost])).fits(state.budget, planned=state.planned):
        return
    if isinstance(state.budget, PureDP) and isinstance(cost, GDP):
        raise BudgetExceeded(
            f"Ledger.reserve: the budget is {state.budget}, which Gaussian noise cannot satisfy. Pass delta=0 to the fit."
        )
    wanted = Tally.of([cost]).describe(state.budget)
    left = left_of(state.budget, spent, planned=state.planned)
    currency = wanted.split()[0]
    total = getattr(state.budget, currency)
    raise BudgetExceeded(
        f"Ledger.reserve: this fit costs {wanted} but {currency} {left:.4g} of {total:.4g} is left. "
        f"Ask for no more than is left, or open another budget."
    )
