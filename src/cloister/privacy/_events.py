# SPDX-License-Identifier: Apache-2.0
"""What accounting must know of one noisy answer: an event, as frozen data that becomes one ledger line.

An event is priced before the answer is computed. Its scale is the one that is drawn (rounded up to the sampler's
precision), its sensitivity is stated in the same integer steps, and its cost is a theorem about the two: see ``_mechanisms``.
"""

from contextlib import suppress
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any

from cloister.columns import IntArray, Relation
from cloister.exceptions import LedgerError
from cloister.privacy._entropy import Entropy
from cloister.privacy._guarantees import Cost
from cloister.privacy._mechanisms import EXPONENTIAL, MECHANISMS, Mechanism
from cloister.privacy._samplers import Scale

LINE_VERSION = 1
LINE_NAMES = {"mechanism": "event", "question_name": "asked"}  # fields that a line calls otherwise: names in files stay
SMALLEST_FIELD, LARGEST_FIELD = 1e-100, 1e100  # scale, sensitivity and unit of an event in a file


@dataclass(frozen=True, kw_only=True)
class Event:
    """One noisy answer, as the ledger records it."""

    mechanism: str  # name of the noise mechanism
    question_name: str  # the question's name
    size: int  # how many numbers are released, each with its own independent draw; among how many one index is chosen
    scale: float  # of the noise, in integer steps: sigma of the Gaussian, b of the Laplace, divisor of the costs
    sensitivity: float  # in integer steps: l2 for the Gaussian, l1 for the Laplace, span of the moves for a choice
    unit: float  # what one integer step is worth
    relation: str
    seeded: bool
    step: str = ""  # of the fit's plan that it belongs to
    when: str = ""  # the day on which its fit began: a time of day would tell how long an answer took

    def __post_init__(self) -> None:
        if self.mechanism not in MECHANISMS:
            raise LedgerError(
                f"Event: expected one of {', '.join(MECHANISMS)}, got {self.mechanism!r}. Upgrade cloister to read it."
            )

    @property
    def noise(self) -> Mechanism:
        """The mechanism itself."""
        return MECHANISMS[self.mechanism]

    @property
    def cost(self) -> Cost:
        """What the event costs: GDP for the Gaussian, PureDP for the Laplace and for a choice."""
        return self.noise.cost(self.sensitivity / self.scale)

    @property
    def standard_deviation(self) -> float:
        """Standard deviation of each released number, in the question's own unit (of the Gaussian, before rounding).

        A choice is made as if every cost got Gumbel noise and the smallest won; the deviation is that of this noise.
        """
        return self.noise.deviation(self.scale) * self.unit

    @property
    def laplace_epsilon(self) -> float:
        """The epsilon of the Laplace mechanism that is as noisy on counts, for rules that are stated in terms of it."""
        return self.noise.laplace_epsilon(self.scale * self.unit)

    def quantile(self, confidence: float) -> float:
        """Return what the noise on one number stays below with probability `confidence`, in the question's own unit."""
        return max(0.0, self.noise.quantile(self.scale, confidence) * self.unit)

    def draw(self, entropy: Entropy) -> IntArray:
        """Draw the event's noise: `size` independent integers."""
        return self.noise.draw(entropy, Scale.at_least(self.scale), self.size)

    def choose(self, entropy: Entropy, costs: IntArray) -> int:
        """Draw the index that the event releases, the better the lower its cost."""
        return self.noise.choose(entropy, Scale.at_least(self.scale), costs)

    def to_line(self) -> dict[str, Any]:
        """Return the event as plain data."""
        return {"v": LINE_VERSION, **{LINE_NAMES.get(name, name): value for name, value in vars(self).items()}}


def price(
    cost: Cost,
    *,
    question_name: str,
    size: int,
    unit: float,
    relation: Relation,
    seeded: bool,
    step: str = "",
    **sensitivity: float,
) -> Event:
    """Return the event that answers a question at no more than `cost`.

    A question about numbers states how far they move between neighbours as `l1` and `l2`, and noise is added to them. One that
    selects states the `span` of the moves of its `size` costs, and one of these is chosen.
    """
    mechanism = EXPONENTIAL if "span" in sensitivity else MECHANISMS[cost.mechanism]
    move = float(sensitivity[mechanism.norm])
    return Event(
        mechanism=mechanism.name,
        question_name=question_name,
        size=size,
        scale=float(mechanism.scale(cost, move)),
        sensitivity=move,
        unit=unit,
        relation=relation.value,
        seeded=seeded,
        step=step,
    )


def event_from_line(line: dict[str, Any]) -> Event:
    """Read what ``to_line`` wrote; an unknown event or version is refused, never guessed."""
    if line.get("v") != LINE_VERSION or line.get("event") not in tuple(MECHANISMS):
        raise LedgerError(
            f"ledger: cannot read an event {line.get('event')!r} of version {line.get('v')!r}. Upgrade cloister to read it."
        )
    names = {one.name: LINE_NAMES.get(one.name, one.name) for one in fields(Event)}
    known = {name: line[written] for name, written in names.items() if written in line}
    wrong = [name for name, value in known.items() if not _fits(name, value)]
    if wrong:
        raise LedgerError(f"ledger: an event holds no usable {names[wrong[0]]!r}. Restore the file from a backup.")
    with suppress(TypeError):
        return Event(**known)
    raise LedgerError("ledger: an event lacks some of its fields. Restore the file from a backup.")


def today() -> str:
    """Return the day, in universal time."""
    return datetime.now(UTC).date().isoformat()


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
