# SPDX-License-Identifier: Apache-2.0
"""What the user keeps of a fit: the guarantee it promised, every event, and what they add up to; on what, and what for."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from cloister import validate
from cloister.domain import Neighbours, PrivacyUnit, Relation
from cloister.exceptions import LedgerError, ReleaseError
from cloister.privacy._accounting import Tally
from cloister.privacy._convert import guarantee_from_dict
from cloister.privacy._events import Event, event_from_line
from cloister.privacy._guarantees import Guarantee

__all__ = ["LedgerBalance", "Receipt", "refuse_seeded"]

SEEDED = "SEEDED: the noise can be drawn again from the seed. For tests and benchmarks, not for publication."


@dataclass(frozen=True, kw_only=True)
class LedgerBalance:
    """Where a fit left the ledger that paid for it, in the terms of the ledger's budget. Holds no path.

    Parameters
    ----------
    name : str
        What the ledger is called.
    budget : PureDP, ApproxDP, ZCDP or GDP
        Its total.
    before : str
        What the fits before this one count as.
    fit : str
        What this fit counts as.
    left : float, optional
        The largest further fit that would not have been refused when this one ended; None where nobody computed it.

    Notes
    -----
    **Privacy.** Public numbers: what was spent, never an answer.

    Examples
    --------
    >>> from cloister.privacy import PureDP
    >>> print(LedgerBalance(name="2026", budget=PureDP(2.0), before="epsilon 0.5", fit="epsilon 1", left=0.5).words())
    Ledger 2026: epsilon = 2 (pure) in all. Spent before: epsilon 0.5. This fit: epsilon 1. Left then: epsilon 0.5.
    """

    name: str
    budget: Guarantee
    before: str
    fit: str
    left: float | None = None

    @property
    def left_words(self) -> str:
        """What was left, in the terms of the budget."""
        if self.left is None:
            return "see the ledger"
        at = f" at delta {self.budget.stated_delta:.3g}" if self.budget.stated_delta else ""
        return f"{self.budget.parameter} {self.left:.4g}{at}"

    def words(self) -> str:
        """Say all of it in one line."""
        title = f"Ledger {self.name}" if self.name else "Ledger"
        parts = [f"{self.budget} in all", f"Spent before: {self.before}", f"This fit: {self.fit}"]
        return f"{title}: {'. '.join(parts)}. Left then: {self.left_words}."

    def to_dict(self) -> dict[str, Any]:
        """Return the balance as plain data."""
        return {
            "name": self.name,
            "budget": self.budget.to_dict(),
            "before": self.before,
            "fit": self.fit,
            "left": self.left,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "LedgerBalance":
        """Read what ``to_dict`` wrote."""
        before, fit = (validate.text(f"Receipt.ledger.{name}", data[name]) for name in ("before", "fit"))
        left = data["left"]
        return cls(
            name=validate.text("Receipt.ledger.name", data["name"]),
            budget=guarantee_from_dict(data["budget"]),
            before=before,
            fit=fit,
            left=None if left is None else validate.number("Receipt.ledger.left", left, low=0.0),
        )


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """The privacy receipt of one fit.

    Parameters
    ----------
    guarantee : PureDP, ApproxDP, ZCDP or GDP
        What the fit promised to stay within.
    neighbours : str
        The neighbouring relation.
    events : tuple of Event
        Every noisy answer.
    account : str
        The fit's name in its ledger.
    dataset, purpose : str
        What the data set is called and what the fit is for, in the words of whoever fitted; empty where nobody said.
    ledger : LedgerBalance, optional
        Where the fit left the ledger that paid for it, if it was a shared one.
    privacy_unit : PrivacyUnit, optional
        The persons that are protected, each with all of their rows; None where one row is.

    Notes
    -----
    **Privacy.** A receipt holds public numbers only. ``seeded`` receipts are for tests: whoever knows the seed can subtract
    the noise.

    Examples
    --------
    >>> from cloister.privacy import PureDP
    >>> Receipt(guarantee=PureDP(1.0), neighbours="replace", events=()).seeded
    False
    """

    guarantee: Guarantee
    neighbours: str
    events: tuple[Event, ...]
    account: str = ""
    dataset: str = ""
    purpose: str = ""
    ledger: LedgerBalance | None = None
    privacy_unit: PrivacyUnit | None = None

    def __post_init__(self) -> None:
        if not self.spent.fits(self.guarantee):
            raise LedgerError(
                f"Receipt: the events add up to more than {self.guarantee}. This is a fault of the method; please report it."
            )

    @property
    def spent(self) -> Tally:
        """The events, added up again."""
        return Tally.of(event.cost for event in self.events)

    @property
    def day(self) -> str:
        """The day on which the fit began, in UTC; empty where there was no question."""
        return self.events[0].when if self.events else ""

    @property
    def seeded(self) -> bool:
        """Whether the noise can be drawn again by whoever knows the seed: not for publication."""
        return any(event.seeded for event in self.events)

    @property
    def alert(self) -> str:
        """What is shown in red wherever a seeded result is shown; empty where the noise came from the operating system."""
        return SEEDED if self.seeded else ""

    def explain(self) -> list[str]:
        """Return sentences that say on what and what for, what was promised, which questions were answered, and who paid."""
        lines = [*self._stated(), *self.promise()]
        if self.ledger is not None:
            lines.append(self.ledger.words())
        return [*lines, self.alert] if self.seeded else lines

    def promise(self) -> list[str]:
        """Return sentences: what was promised, to whom, and which questions were answered at what cost."""
        names = Counter(event.question_name for event in self.events)
        questions = ", ".join(f"{times} x {name}" for name, times in names.items())
        return [
            (
                f"Guarantee: {self.guarantee}. This limits how much {self.difference} can change the probability of any "
                "published result."
            ),
            *self._protected(),
            f"Spent: {self.spent.describe(self.guarantee)}, in {len(self.events)} noisy answers ({questions}).",
        ]

    @property
    def difference(self) -> str:
        """What two neighbouring tables differ in, in words."""
        return Neighbours(Relation(self.neighbours), self.privacy_unit).words

    @property
    def unit(self) -> str:
        """What is protected, in one word: a row, or what the column of ids is called."""
        return "row" if self.privacy_unit is None else self.privacy_unit.noun

    @property
    def protects(self) -> str:
        """What is protected, in words: ``one row``, or ``one patient_id, with at most 5 rows each``."""
        return "one row" if self.privacy_unit is None else self.privacy_unit.words

    @property
    def counted(self) -> str:
        """What noisy counts are numbers of: ``rows``, or ``persons`` where every person counts 1."""
        return "rows" if self.privacy_unit is None else self.privacy_unit.counted

    def _protected(self) -> list[str]:
        return [] if self.privacy_unit is None else [f"Protects {self.privacy_unit.words}. {self.privacy_unit.explain()}"]

    def _stated(self) -> list[str]:
        """Return what whoever fitted said of the data set and the purpose."""
        pairs = (("Data set", self.dataset), ("Purpose", self.purpose))
        return [f"{title}: {words}" for title, words in pairs if words]

    def to_dict(self) -> dict[str, Any]:
        """Return the receipt as plain data."""
        stated = {name: words for name, words in (("dataset", self.dataset), ("purpose", self.purpose)) if words}
        return {
            **stated,
            **({} if self.ledger is None else {"ledger": self.ledger.to_dict()}),
            "guarantee": self.guarantee.to_dict(),
            "neighbours": self.neighbours,
            **({} if self.privacy_unit is None else {"privacy_unit": self.privacy_unit.to_dict()}),
            "account": self.account,
            "seeded": self.seeded,
            "events": [event.to_line() for event in self.events],
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Receipt":
        """Read what ``to_dict`` wrote."""
        neighbours = Relation.parse("Receipt.neighbours", data["neighbours"]).value
        events = tuple(event_from_line(line) for line in data["events"])
        if any(event.relation != neighbours for event in events):
            raise LedgerError("Receipt: an event is about other neighbours than the receipt. Was this file edited?")
        return cls(
            guarantee=guarantee_from_dict(data["guarantee"]),
            neighbours=neighbours,
            account=str(data.get("account", "")),
            dataset=validate.text("Receipt.dataset", data.get("dataset", "")),
            purpose=validate.text("Receipt.purpose", data.get("purpose", "")),
            ledger=None if data.get("ledger") is None else LedgerBalance.from_dict(data["ledger"]),
            privacy_unit=None
            if data.get("privacy_unit") is None
            else PrivacyUnit.from_dict(data["privacy_unit"], where="Receipt.privacy_unit"),
            events=events,
        )


def refuse_seeded(where: str, *, seeded: bool, allow_seeded: bool) -> None:
    """Refuse to write what was computed from seeded noise: everything that writes a file asks here first.

    With the same seed, a fit of an empty table returns the noise alone, and subtracting it leaves the exact counts.

    Raises
    ------
    ReleaseError
        If it is seeded and nobody allowed that. `where` names who wanted to write.

    Examples
    --------
    >>> refuse_seeded("Release.save", seeded=True, allow_seeded=False)
    Traceback (most recent call last):
    ...
    cloister.exceptions.ReleaseError: Release.save: expected noise that nobody can draw again, got a seeded fit. Fit again \
without random_state (--seed), or pass allow_seeded=True (--allow-seeded) for tests and benchmarks.
    """
    if not validate.boolean(f"{where}.allow_seeded", allow_seeded) and seeded:
        raise ReleaseError(
            f"{where}: expected noise that nobody can draw again, got a seeded fit. Fit again without random_state (--seed), "
            "or pass allow_seeded=True (--allow-seeded) for tests and benchmarks."
        )
