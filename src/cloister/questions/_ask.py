# SPDX-License-Identifier: Apache-2.0
"""The interface between algorithms and the vault: a question and a cost go in, a noisy answer comes out.

Several questions about the same rows may be asked together: they are answered in one pass.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeAlias, overload

import numpy as np

from cloister import validate
from cloister.columns import FloatArray, IntArray
from cloister.privacy import Cost, Event, Query
from cloister.questions._base import Find, NearestQuestion, Question

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


@dataclass(frozen=True, eq=False)
class Together:
    """The answers of several questions, laid end to end so that blocks add up as those of one question do.

    One search serves those that share their points.
    """

    questions: tuple[Question, ...]  # whose answers add up over blocks

    raw = False
    weighs_rows = True

    @property
    def reads_values(self) -> bool:
        """Whether any of them looks into rows."""
        return any(question.reads_values for question in self.questions)

    def __post_init__(self) -> None:
        for question in self.questions:
            if type(question).merge is not Question.merge or question.raw:
                remedy = "Ask the others one at a time."
                validate.refuse("ask", "questions about clean rows whose answers add up", question.name, remedy=remedy)

    @cached_property
    def _leaders(self) -> tuple[int, ...]:
        """For each question, the first one that gives every row the same label."""
        return tuple(
            next((i for i in range(index) if isinstance(one, NearestQuestion) and one.same_labels(self.questions[i])), index)
            for index, one in enumerate(self.questions)
        )

    def exact(self, rows: FloatArray) -> IntArray:
        """Answer all questions on one block of clean rows."""
        return self.exact_by(rows, lambda question, block: question.labels(block))

    def exact_by(self, rows: FloatArray, find: Find) -> IntArray:
        """Answer as ``exact`` does; the nearest points come from `find`, once for all questions that share their points."""
        labels: dict[int, IntArray] = {}
        parts = []
        for question, leader in zip(self.questions, self._leaders, strict=True):
            if isinstance(question, NearestQuestion):
                if leader not in labels:
                    labels[leader] = find(question, rows)
                parts.append(question.exact_given(rows, labels[leader]).ravel())
            else:
                parts.append(question.exact(rows).ravel())
        return np.concatenate(parts)

    def merge(self, left: IntArray, right: IntArray) -> IntArray:
        """Add up what two blocks answered."""
        return left + right

    def split(self, merged: IntArray) -> list[IntArray]:
        """Return each question's answer, in its own shape."""
        ends = np.cumsum([int(np.prod(question.shape)) for question in self.questions])
        parts = np.split(merged, ends[:-1])
        return [one.finish(part.reshape(one.shape)) for one, part in zip(self.questions, parts, strict=True)]
