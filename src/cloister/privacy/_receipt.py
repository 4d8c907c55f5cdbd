# SPDX-License-Identifier: Apache-2.0
"""What the user keeps of a fit: the guarantee it promised, every event, and what they add up to; on what, and what for.

**Several fits** are covered by one receipt that keeps theirs apart, as `parts`, and says how their tables belong together:
nobody is in two of them (`disjoint`), or they are the same (`same`). Parts may have parts. What one person may have taken
part in is then one of several collections of events: of a fit, its events; of disjoint parts, any collection of one part; of
parts about the same table, one of each part together, in every combination, since nobody says who is where. The guarantee
covers all of these; the proof is in ``docs/proofs/composition/parallel.md``.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, product
from typing import Any

from cloister import validate
from cloister.columns import Neighbours, PrivacyUnit, Relation
from cloister.exceptions import LedgerError, ReleaseError
from cloister.privacy._accounting import Tally, WorstTally, undominated
from cloister.privacy._convert import guarantee_from_dict
from cloister.privacy._events import Event, event_from_line
from cloister.privacy._guarantees import GDP, HUGEST, TINIEST, Guarantee

DISJOINT, SAME = "disjoint", "same"  # tables that share nobody, or the same table more than once
DEEPEST = 16  # parts within parts
SCALER = "scaler: "  # begins the steps of what was asked in front of a fit
LISTED_FITS = 4  # of so many at most, the guarantee of each is said
MOST_TALLIES = 64  # that one person may have spent, none of them at most another: several of a kind are rare
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
        spent = f"Spent before: {self.before}. This fit: {self.fit}. Left then: {self.left_words}."
        return f"{title}: {self.budget} in all. {spent}"

    def to_dict(self) -> dict[str, Any]:
        """Return the balance as plain data."""
        return {**vars(self), "budget": self.budget.to_dict()}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "LedgerBalance":
        """Read what ``to_dict`` wrote."""
        said = {name: validate.text(f"Receipt.ledger.{name}", data[name]) for name in ("name", "before", "fit")}
        left = None if data["left"] is None else validate.number("Receipt.ledger.left", data["left"], low=0.0)
        return cls(budget=guarantee_from_dict(data["budget"]), left=left, **said)


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
        The persons that are protected, each with all of their rows; None where one row is. Where parts have different
        bounds on their rows, the largest, or the smallest of those that were stated.
    parts : tuple of Receipt
        The receipts of several fits, if this one covers them; `events` are then those of all parts. See :meth:`cover`.
    joined : {"", "disjoint", "same"}
        How the tables of the parts belong together: they share nobody, or are the same.

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
    parts: tuple["Receipt", ...] = ()
    joined: str = ""

    def __post_init__(self) -> None:
        if self.parts:
            object.__setattr__(self, "events", tuple(chain.from_iterable(part.events for part in self.parts)))
        if not (self.spent.fits(self.guarantee) and (not self.parts or self.promised.fits(self.guarantee))):
            raise LedgerError(
                f"Receipt: the events add up to more than {self.guarantee}. This is a fault of the method; please report it."
            )

    @classmethod
    def cover(
        cls,
        parts: Sequence["Receipt"],
        joined: str,
        *,
        guarantee: Guarantee | None = None,
        dataset: str = "",
        purpose: str = "",
    ) -> "Receipt":
        """Return one receipt of several fits, of tables that share nobody ("disjoint") or of the same one ("same").

        Its guarantee holds for everybody. Left out, it is for disjoint tables the first one of the parts that does; otherwise
        what the parts have promised together, in the terms of the first part that can say it, or in GDP.
        """
        if len({part.neighbours for part in parts}) > 1 or not _alike([part.privacy_unit for part in parts]):
            raise LedgerError("Receipt: parts protect different units or relations. Fit all with the same ones.")
        flat = tuple(chain.from_iterable(part.parts if part.joined == joined else (part,) for part in parts))
        weakest = _weakest([part.privacy_unit for part in flat if part.privacy_unit is not None])
        if max(part._depth for part in flat) >= DEEPEST:
            raise LedgerError(f"Receipt: more than {DEEPEST} merges of both kinds in turn. Merge all of one kind first.")
        if guarantee is None:
            promised = _together([part.promised for part in flat], joined)
            guarantee = _covering(promised, [part.guarantee for part in parts], joined)
        return cls(
            guarantee=guarantee,
            neighbours=parts[0].neighbours,
            events=(),
            dataset=dataset,
            purpose=purpose,
            privacy_unit=weakest,
            parts=flat,
            joined=joined,
        )

    @property
    def fits(self) -> tuple["Receipt", ...]:
        """The receipts of the single fits that it covers: of one fit, itself."""
        return tuple(chain.from_iterable(part.fits for part in self.parts)) if self.parts else (self,)

    @property
    def own_events(self) -> tuple[Event, ...]:
        """The events without those of a scaler in front of the fit."""
        return tuple(event for event in self.events if not event.step.startswith(SCALER))

    def in_front(self) -> "Receipt":
        """Return the receipt of a scaler as part of that of the fit behind it: its steps say whose they are."""
        if self.parts:
            return replace(self, parts=tuple(part.in_front() for part in self.parts))
        named = (replace(event, step=SCALER + event.step.removeprefix(SCALER)) for event in self.events)
        return replace(self, events=tuple(named))

    @cached_property
    def spent(self) -> WorstTally:
        """The events, added up again; where people took part in different fits, the worst over people."""
        if self.parts:
            return _together([part.spent for part in self.parts], self.joined)
        return WorstTally((Tally.of(event.cost for event in self.events),))

    @cached_property
    def promised(self) -> WorstTally:
        """What could have been spent at most, as it was fixed before the first answer; the worst over people.

        A fit reserves the `noise_budget` of its guarantee. How much of it a fit spends may depend on its answers, so that a sum
        of what was spent is no guarantee of several fits.
        """
        if self.parts:
            return _together([part.promised for part in self.parts], self.joined)
        budgets = (self.guarantee.noise_budget(), self.guarantee.pure_budget())
        return next((WorstTally((Tally.of([one]),)) for one in budgets if self.spent.fits(one)), self.spent)

    @property
    def _depth(self) -> int:
        return 1 + max((part._depth for part in self.parts), default=0)

    @property
    def day(self) -> str:
        """The day on which the fit began, in UTC, or the last of several; empty where there was no question."""
        return max((event.when for event in self.events), default="")

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
        stated = [f"{title}: {words}" for title, words in (("Data set", self.dataset), ("Purpose", self.purpose)) if words]
        paid = [] if self.ledger is None else [self.ledger.words()]
        return [*stated, *self.promise(), *paid, *([self.alert] if self.seeded else [])]

    def promise(self) -> list[str]:
        """Return sentences: what was promised, to whom, and which questions were answered at what cost."""
        names = Counter(event.question_name for event in self.events)
        questions = ", ".join(f"{times} x {name}" for name, times in names.items())
        unit = self.privacy_unit
        return [
            (
                f"Guarantee: {self.guarantee}. This limits how much {self.difference} can change the probability of any "
                "published result."
            ),
            *([] if unit is None else [f"Protects {unit.words}. {unit.explain()}"]),
            *self._covered(),
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

    def _covered(self) -> list[str]:
        """Say which fits it covers, and on what that rests."""
        if not self.parts:
            return []
        fits = self.fits
        if not self._has(DISJOINT):
            promised = "; ".join(str(fit.guarantee) for fit in fits) if len(fits) <= LISTED_FITS else ""
            scaled = len(self.own_events) < len(self.events)
            what = (
                "the fit and the scaler in front of it" if scaled and len(fits) == 2 else f"{len(fits)} fits of the same rows"
            )
            return [f"Covers {what}, whose costs add up{promised and f' ({promised})'}."]
        unit = self.unit
        stays = f" A {unit} that is replaced stays in its table." if self.neighbours == Relation.REPLACE.value else ""
        largest = f"What was spent is the largest total over the fits that one {unit} can be part of."
        return [f"Merged from {len(fits)} fits. That tables share no {unit} was stated, not checked. {largest}{stays}"]

    def _has(self, joined: str) -> bool:
        return self.joined == joined or any(part._has(joined) for part in self.parts)

    def to_dict(self) -> dict[str, Any]:
        """Return the receipt as plain data."""
        data: dict[str, Any] = {
            "dataset": self.dataset or None,
            "purpose": self.purpose or None,
            "ledger": self.ledger and self.ledger.to_dict(),
            "guarantee": self.guarantee.to_dict(),
            "neighbours": self.neighbours,
            "privacy_unit": self.privacy_unit and self.privacy_unit.to_dict(),
            "account": self.account,
            "seeded": self.seeded,
        }
        if self.parts:
            data |= {"joined": self.joined, "parts": [part.to_dict() for part in self.parts]}
        else:
            data["events"] = [event.to_line() for event in self.events]
        return {name: value for name, value in data.items() if value is not None}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Receipt":
        """Read what ``to_dict`` wrote."""
        stated: dict[str, Any] = {name: validate.text(f"Receipt.{name}", data.get(name, "")) for name in ("dataset", "purpose")}
        guarantee = guarantee_from_dict(data["guarantee"])
        if "parts" in data:
            joined = validate.one_of("Receipt.joined", data["joined"], (DISJOINT, SAME))
            parts = [cls.from_dict(part) for part in data["parts"]]
            if len(parts) < 2:
                raise LedgerError("Receipt: expected two parts or more. Was this file edited?")
            found = cls.cover(parts, joined, guarantee=guarantee, **stated)
            protected = None if found.privacy_unit is None else found.privacy_unit.to_dict()
            if (data["neighbours"], data.get("privacy_unit")) != (found.neighbours, protected):
                raise LedgerError("Receipt: its parts protect others than the receipt says. Was this file edited?")
            return found
        neighbours, unit = Relation.parse("Receipt.neighbours", data["neighbours"]).value, data.get("privacy_unit")
        events = tuple(event_from_line(line) for line in data["events"])
        if any(event.relation != neighbours for event in events):
            raise LedgerError("Receipt: an event is about other neighbours than the receipt. Was this file edited?")
        return cls(
            guarantee=guarantee,
            neighbours=neighbours,
            account=str(data.get("account", "")),
            ledger=None if data.get("ledger") is None else LedgerBalance.from_dict(data["ledger"]),
            privacy_unit=None if unit is None else PrivacyUnit.from_dict(unit, where="Receipt.privacy_unit"),
            events=events,
            **stated,
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


def _together(parts: Sequence[WorstTally], joined: str) -> WorstTally:
    """Return what one person may have spent in several fits: in one of disjoint tables, in the same one every time."""
    if joined == DISJOINT:
        return _few(chain.from_iterable(part.tallies for part in parts))
    found = WorstTally((Tally(),))
    for part in parts:
        found = _few(one + other for one, other in product(found.tallies, part.tallies))
    return found


def _few(tallies: Iterable[Tally]) -> WorstTally:
    found = undominated(tallies)
    if len(found) > MOST_TALLIES:
        remedy = "Merge fits of one kind of noise, or fewer"
        raise LedgerError(f"Receipt: one person may have taken part in too many different ways to compare. {remedy}.")
    return WorstTally(found)


def _covering(promised: WorstTally, guarantees: Sequence[Guarantee], joined: str) -> Guarantee:
    """Return a guarantee that holds for everybody; `guarantees` are those of the parts."""
    if joined == DISJOINT:
        for guarantee in guarantees:
            if promised.fits(guarantee):
                return guarantee
    for guarantee in guarantees:
        strength = promised.strength(guarantee)
        if TINIEST <= strength <= HUGEST and promised.fits(found := guarantee.with_strength(strength)):
            return found
    return GDP(promised.all_mu)


def _alike(units: Sequence[PrivacyUnit | None]) -> bool:
    """Whether all are about rows, or about the same persons; ids that came beside a table have no name."""
    persons = [one for one in units if one is not None]
    return len(persons) in (0, len(units)) and len({one.name for one in persons if one.name}) < 2


def _weakest(units: Sequence[PrivacyUnit]) -> PrivacyUnit | None:
    """Return whom all parts protect, in the words of the first.

    Of bounds that are enforced the largest holds for all. One that was stated is a condition: what is promised to people within
    the smallest of these holds in every part.
    """
    if not units:
        return None
    enforced, stated = ([one.max_rows for one in units if one.max_rows and one.stated is kind] for kind in (False, True))
    bound = min(stated) if stated else max(enforced, default=None)
    name = next((one.name for one in units if one.name), "")
    return replace(units[0], name=name, max_rows=bound, stated=bool(stated))
