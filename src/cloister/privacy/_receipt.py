# SPDX-License-Identifier: Apache-2.0
"""What the user keeps of a fit: the guarantee it promised, every event, and what they add up to."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from cloister.domain import Relation
from cloister.exceptions import LedgerError
from cloister.privacy._accounting import Tally
from cloister.privacy._convert import guarantee_from_dict
from cloister.privacy._events import Event, event_from_line
from cloister.privacy._guarantees import Guarantee

__all__ = ["Receipt"]


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

    def explain(self) -> list[str]:
        """Return sentences that say what was promised and which questions were answered."""
        who = {
            "add-remove": "adding or removing any one row",
            "replace": "replacing any one row by another",
        }[self.neighbours]
        names = Counter(event.question_name for event in self.events)
        questions = ", ".join(f"{times} x {name}" for name, times in names.items())
        lines = [
            f"Guarantee: {self.guarantee}. {who.capitalize()} changes the chance of any published result by no more than this.",
            f"Spent: {self.spent.describe(self.guarantee)}, in {len(self.events)} noisy answers ({questions}).",
        ]
        if self.seeded:
            lines.append("SEEDED: the noise can be drawn again from the seed. For tests and benchmarks, not for publication.")
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Return the receipt as plain data."""
        return {
            "guarantee": self.guarantee.to_dict(),
            "neighbours": self.neighbours,
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
            events=events,
        )
