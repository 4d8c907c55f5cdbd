# SPDX-License-Identifier: Apache-2.0
"""A stand-in for the vault that algorithms can ask, with as much or as little noise as the costs buy."""

from collections.abc import Callable

import pytest

from cloister.columns import FloatArray, Relation, snap
from cloister.privacy import Entropy, Query
from cloister.questions import Answer, Question, Spend, price_question


class OpenVault:
    """Keeps rows of the unit ball, answers one question or several, and remembers what it was asked."""

    def __init__(self, rows: FloatArray, seed: int) -> None:
        self._rows, self._entropy = snap(rows), Entropy(seed)
        self.asked: list[tuple[Question, Spend]] = []

    def ask(self, question, cost):
        if isinstance(question, list | tuple):
            return tuple(self.ask(one, part) for one, part in zip(question, cost, strict=True))
        self.asked.append((question, cost))
        step, price = (cost.step, cost.cost) if isinstance(cost, Query) else ("", cost)
        event = price_question(question, price, Relation.ADD_REMOVE, seeded=True, step=step)
        return Answer((question.exact(self._rows) + event.draw(self._entropy).reshape(question.shape)) * question.unit, event)


@pytest.fixture
def vault_of(seed: int) -> Callable[[FloatArray], OpenVault]:
    return lambda rows: OpenVault(rows, seed)
