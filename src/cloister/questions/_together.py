# SPDX-License-Identifier: Apache-2.0
"""Several questions about the same rows, answered in one pass; one search serves those that share their points."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cloister import validate
from cloister.columns import FloatArray, IntArray
from cloister.questions._base import Find, NearestQuestion, Question

__all__ = ["Together"]


@dataclass(frozen=True, eq=False)
class Together:
    """The answers of several questions, laid end to end so that blocks add up as those of one question do.

    Parameters
    ----------
    questions : tuple of Question
        Their answers must add up over blocks.
    """

    questions: tuple[Question, ...]

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
        return tuple(self._leader(index, question) for index, question in enumerate(self.questions))

    def _leader(self, index: int, question: Question) -> int:
        if not isinstance(question, NearestQuestion):
            return index
        return next(i for i in range(index + 1) if i == index or question.same_labels(self.questions[i]))

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
