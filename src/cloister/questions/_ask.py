# SPDX-License-Identifier: Apache-2.0
"""The interface between algorithms and the vault: a question and a cost go in, a noisy answer comes out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, overload

from cloister.columns import FloatArray
from cloister.privacy import Cost, Event, Query
from cloister.questions._base import Question

__all__ = ["Answer", "Ask", "Spend"]

Spend: TypeAlias = Cost | Query  # what a question may cost; a query also says which step of the plan it belongs to


@dataclass(frozen=True, eq=False)
class Answer:
    """A noisy answer: public from here on."""

    value: FloatArray
    event: Event

    @property
    def sigma(self) -> float:
        """Standard deviation of the noise on each number."""
        return self.event.standard_deviation

    @property
    def index(self) -> tuple[int, ...]:
        """Where the chosen number stands, in the shape of the question; only a selection question is answered so."""
        return tuple(int(place) for place in self.value)


class Ask(Protocol):
    """What an algorithm is given instead of rows."""

    @overload
    def __call__(self, question: Question, cost: Spend) -> Answer: ...

    @overload
    def __call__(self, question: Sequence[Question], cost: Sequence[Spend]) -> tuple[Answer, ...]: ...

    def __call__(self, question: Question | Sequence[Question], cost: Spend | Sequence[Spend]) -> Answer | tuple[Answer, ...]:
        """Answer `question` at no more than `cost`; or several, each at its own cost, in one pass over the rows."""
