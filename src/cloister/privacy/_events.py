# SPDX-License-Identifier: Apache-2.0
"""What accounting must know of one noisy answer: an event, as frozen data that becomes one ledger line.

An event is priced before the answer is computed. Its scale is the one that is drawn (rounded up to the sampler's
precision), its sensitivity is stated in the same integer steps, and its cost is a theorem about the two:

- ``rounded_gaussian``: adding ``round(N(0, sigma^2))`` to integers whose l2 distance between neighbours is at most l2 is
  (l2/sigma)-GDP;
- ``discrete_laplace``: noise with P(y) proportional to exp(-|y|/scale) on integers at l1 distance at most l1 is
  (l1/scale)-DP;
- ``exponential``: one index, chosen with probability proportional to exp(-cost/scale) among integer costs whose moves between
  neighbours span at most s (the largest move less the smallest), is (s/scale)-DP. Nothing else of the costs is released.
"""

import math
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from typing import Any, TypeAlias

from cloister.domain import IntArray, Relation
from cloister.exceptions import LedgerError
from cloister.privacy._entropy import Entropy
from cloister.privacy._guarantees import GDP, PureDP, pure_budget
from cloister.privacy._samplers import Scale, discrete_laplace, rounded_gaussian
from cloister.privacy._selection import exponential_choice

__all__ = ["Cost", "Event", "coarsened", "event_from_line", "price", "price_choice", "today"]

Cost: TypeAlias = GDP | PureDP

LINE_VERSION = 1
LINE_NAMES = {"mechanism": "event", "question_name": "asked"}  # fields that a line calls otherwise: names in files stay
SMALLEST_DEVIATION = 1e-9  # in steps: never quite zero, so that one may divide by it
EVENTS = ("rounded_gaussian", "discrete_laplace", "exponential")
DAY = len("2026-01-01")
SMALLEST_FIELD, LARGEST_FIELD = 1e-100, 1e100  # scale, sensitivity and unit of an event in a file
GUMBEL_DEVIATION = math.pi / math.sqrt(6)


@dataclass(frozen=True, kw_only=True)
class Event:
    """One noisy answer, as the ledger records it."""

    mechanism: str  # of the noise, one of EVENTS
    question_name: str  # the question's name
    size: int  # how many numbers are released, each with its own independent draw; among how many one index is chosen
    scale: float  # of the noise, in integer steps: sigma of the Gaussian, b of the Laplace, divisor of the costs
    sensitivity: float  # in integer steps: l2 for the Gaussian, l1 for the Laplace, span of the moves for a choice
    unit: float  # what one integer step is worth
    relation: str
    seeded: bool
    step: str = ""  # of the fit's plan that it belongs to
    when: str = (
        ""  # the day on which its fit began: a time of day would tell how long an answer took, hence something of the rows
    )

    def __post_init__(self) -> None:
        if self.mechanism not in EVENTS:
            raise LedgerError(
                f"Event: expected one of {', '.join(EVENTS)}, got {self.mechanism!r}. Upgrade cloister to read it."
            )

    @property
    def cost(self) -> Cost:
        """What the event costs: GDP for the Gaussian, PureDP for the Laplace and for a choice."""
        ratio = self.sensitivity / self.scale
        return GDP(ratio) if self.mechanism == "rounded_gaussian" else PureDP(ratio)

    @property
    def standard_deviation(self) -> float:
        """Standard deviation of each released number, in the question's own unit (of the Gaussian, before rounding).

        A choice is made as if every cost got Gumbel noise and the smallest won; the deviation is that of this noise.
        """
        if self.mechanism == "rounded_gaussian":
            return self.scale * self.unit
        if self.mechanism == "exponential":
            return GUMBEL_DEVIATION * self.scale * self.unit
        ratio = math.exp(-1 / self.scale)  # of the probabilities of neighbouring integers
        return max(math.sqrt(2 * ratio) / (1 - ratio), SMALLEST_DEVIATION) * self.unit

    def dated(self, day: str) -> "Event":
        """Return the event with the day of its fit."""
        return replace(self, when=day)

    def draw(self, entropy: Entropy) -> IntArray:
        """Draw the event's noise: `size` independent integers."""
        if self.mechanism == "exponential":
            raise LedgerError("Event.draw: a choice adds no noise to numbers. This is a fault of the method; please report it.")
        sampler = rounded_gaussian if self.mechanism == "rounded_gaussian" else discrete_laplace
        return sampler(entropy, Scale.at_least(self.scale), self.size)

    def choose(self, entropy: Entropy, costs: IntArray) -> int:
        """Draw the index that the event releases, the better the lower its cost."""
        if self.mechanism != "exponential":
            raise LedgerError("Event.choose: this event was paid for noise. This is a fault of the method; please report it.")
        return exponential_choice(entropy, Scale.at_least(self.scale), costs)

    def to_line(self) -> dict[str, Any]:
        """Return the event as plain data."""
        return {"v": LINE_VERSION, **{LINE_NAMES.get(name, name): value for name, value in asdict(self).items()}}


def price(
    cost: Cost,
    *,
    question_name: str,
    size: int,
    l1: float,
    l2: float,
    unit: float,
    relation: Relation,
    seeded: bool,
    step: str = "",
) -> Event:
    """Return the event that answers a question of the given sensitivities at no more than `cost`."""
    gaussian = isinstance(cost, GDP)
    sensitivity = l2 if gaussian else l1
    scale = float(Scale.at_least(sensitivity / (cost.mu if isinstance(cost, GDP) else cost.epsilon)))
    return Event(
        mechanism=EVENTS[0] if gaussian else EVENTS[1],
        question_name=question_name,
        size=size,
        scale=scale,
        sensitivity=float(sensitivity),
        unit=unit,
        relation=relation.value,
        seeded=seeded,
        step=step,
    )


def price_choice(
    cost: Cost, *, question_name: str, size: int, span: float, unit: float, relation: Relation, seeded: bool, step: str = ""
) -> Event:
    """Return the event that chooses one of `size` costs, whose moves between neighbours span at most `span`, at `cost`."""
    return Event(
        mechanism=EVENTS[2],
        question_name=question_name,
        size=size,
        scale=float(Scale.at_least(span / pure_budget(cost).epsilon)),
        sensitivity=float(span),
        unit=unit,
        relation=relation.value,
        seeded=seeded,
        step=step,
    )


def event_from_line(line: dict[str, Any]) -> Event:
    """Read what ``to_line`` wrote; an unknown event or version is refused, never guessed."""
    if line.get("v") != LINE_VERSION or line.get("event") not in EVENTS:
        raise LedgerError(
            f"ledger: cannot read an event {line.get('event')!r} of version {line.get('v')!r}. Upgrade cloister to read it."
        )
    names = {one.name: LINE_NAMES.get(one.name, one.name) for one in fields(Event)}
    known = {name: line[written] for name, written in names.items() if written in line}
    known["when"] = coarsened(line.get("when", ""))
    wrong = [name for name, value in known.items() if not _fits(name, value)]
    if wrong:
        raise LedgerError(f"ledger: an event holds no usable {names[wrong[0]]!r}. Restore the file from a backup.")
    with suppress(TypeError):
        return Event(**known)
    raise LedgerError("ledger: an event lacks some of its fields. Restore the file from a backup.")


def today() -> str:
    """Return the day, in universal time."""
    return datetime.now(UTC).date().isoformat()


def coarsened(when: object) -> str:
    """Return the day of a time; ledgers and releases written by earlier versions say the time of day."""
    return str(when)[:DAY]


def _fits(name: str, value: object) -> bool:
    """Whether a field of an event holds what its meaning allows."""
    if name == "seeded":
        return isinstance(value, bool)
    if name == "size":
        return type(value) is int and value >= 0
    if name in ("scale", "sensitivity", "unit"):
        return type(value) in (int, float) and SMALLEST_FIELD <= float(value) <= LARGEST_FIELD  # type: ignore[arg-type]
    if name == "relation":
        return value in [relation.value for relation in Relation]
    return isinstance(value, str)
