# SPDX-License-Identifier: Apache-2.0
"""An attack on the whole path from rows to answer: what it proves about the loss stays below the claim, and faults are caught.

The attacker bounds the error rates of threshold tests by Clopper and Pearson. An honest vault fails a test with probability
at most 1e-6. To see many answers about one row in little time, a thousand independent attacks share a question: the answer
about a cell depends on the rows of that cell and on its own draw alone, so each cell has two neighbouring tables of its own.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from cloister.columns import Ball, FloatArray, IntArray, Relation
from cloister.data import open_rows
from cloister.privacy import (
    GDP,
    ApproxDP,
    Cost,
    Entropy,
    Event,
    Ledger,
    PureDP,
    Scale,
    convert,
    discrete_laplace,
    rounded_gaussian,
)
from cloister.questions import NearestCounts, NearestSums, Question
from cloister.vault import Vault

pytestmark = pytest.mark.slow

FALSE_ALARM = 1e-6
CELLS, ASKS = 1_000, 60
POINTS = np.linspace(-0.9, 0.9, CELLS)[:, None]
STEP = 2.0**-12  # far less than half the distance of two points
COUNTS, SUMS = NearestCounts(points=POINTS), NearestSums(points=POINTS, radius=STEP)
EMPTY = np.empty((0, 1))


@dataclass(frozen=True)
class Attack:
    """Two tables that are neighbours cell by cell, and what the attacker looks at: numbers of the shape (asks, attacks)."""

    question: Question
    cost: Cost
    relation: Relation
    left: FloatArray
    right: FloatArray
    look: Callable[[FloatArray], FloatArray]
    delta: float = 0.0

    @property
    def claimed(self) -> float:
        """The epsilon that the vault claims, at the attack's delta."""
        return self.cost.epsilon if isinstance(self.cost, PureDP) else convert(self.cost, ApproxDP, delta=self.delta).epsilon

    def proven(self, seed: int) -> float:
        """The epsilon that the answers prove, but for a false alarm."""
        left, right = (self.look(answers(self, rows, 2 * seed + side)) for side, rows in enumerate(self.tables))
        # The answers move by about one row and the noise is about as wide, in units of 1 for counts and of STEP for sums.
        reach = STEP if isinstance(self.question, NearestSums) else 1.0
        return proven_epsilon(left, right, np.arange(-6, 6.25, 0.25) * reach, self.delta)

    @property
    def tables(self) -> tuple[FloatArray, FloatArray]:
        """Both tables."""
        return self.left, self.right


def single(answer: FloatArray) -> FloatArray:
    return answer


def pair(answer: FloatArray) -> FloatArray:
    return answer[:, ::2] - answer[:, 1::2]


def likely_pair(answer: FloatArray) -> FloatArray:
    """The likelihood ratio of a Laplace moves between 0 and 1 rows only."""
    return pair(np.clip(answer, 0, 1))


ADD, REPLACE = Relation.ADD_REMOVE, Relation.REPLACE
ATTACKS = {
    "a row in a count": Attack(COUNTS, GDP(1.0), ADD, POINTS, EMPTY, single, 0.05),
    "a row that changes cells": Attack(COUNTS, GDP(1.0), REPLACE, POINTS[::2], POINTS[1::2], pair, 0.05),
    "a row in a sum": Attack(SUMS, GDP(1.0), ADD, POINTS + STEP, EMPTY, single, 0.05),
    "a row that changes sides": Attack(SUMS, GDP(1.0), REPLACE, POINTS + STEP, POINTS - STEP, single, 0.05),
    "a row in a count, pure": Attack(COUNTS, PureDP(1.0), ADD, POINTS, EMPTY, single),
    "a row that changes cells, pure": Attack(COUNTS, PureDP(1.0), REPLACE, POINTS[::2], POINTS[1::2], likely_pair),
    "a row that changes sides, pure": Attack(SUMS, PureDP(1.0), REPLACE, POINTS + STEP, POINTS - STEP, single),
}


def answers(attack: Attack, rows: FloatArray, seed: int) -> FloatArray:
    """Ask the same question many times of a vault that pays for each answer."""
    whole = attack.cost.share(2 * ASKS)
    account = Ledger(whole, neighbours=attack.relation.value).reserve(whole, purpose="audit", relation=attack.relation)
    vault = Vault(
        open_rows(rows, n_jobs=1),
        frame=Ball(1.0, [0.0]).frame(),
        relation=attack.relation,
        account=account,
        entropy=Entropy(seed),
    )
    return np.array([vault.ask(attack.question, attack.cost).value.ravel() for _ in range(ASKS)])


def proven_epsilon(left: FloatArray, right: FloatArray, thresholds: FloatArray, delta: float) -> float:
    """Return the best epsilon over thresholds fixed beforehand, either table first, and either side of the threshold."""
    level = FALSE_ALARM / (8 * len(thresholds))
    best = 0.0
    for one, other in ((left, right), (right, left)):
        for threshold in thresholds:
            for said in (np.greater_equal, np.less):
                hits, alarms = (int(np.count_nonzero(said(table, threshold))) for table in (one, other))
                at_least = stats.beta.ppf(level, hits, one.size - hits + 1) if hits else 0.0
                at_most = stats.beta.isf(level, alarms + 1, other.size - alarms) if alarms < other.size else 1.0
                if at_least > delta:
                    best = max(best, math.log((at_least - delta) / at_most))
    return best


@pytest.mark.parametrize("name", ATTACKS)
def test_an_honest_vault_keeps_its_promise(name: str, seed: int) -> None:
    attack = ATTACKS[name]
    proven = attack.proven(seed)
    assert proven <= attack.claimed
    assert proven > 0.75 * attack.claimed  # the attack is worth its name: it comes close


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("part", [0.5, 0.8])
def test_less_noise_than_stated_is_caught(name: str, part: float, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = Event.draw
    monkeypatch.setattr(Event, "draw", lambda event, entropy: draw(replace(event, scale=event.scale * part), entropy))
    assert ATTACKS[name].proven(seed) > ATTACKS[name].claimed


def test_one_draw_for_all_numbers_is_caught(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def shared(event: Event, entropy: Entropy) -> IntArray:
        return np.repeat(rounded_gaussian(entropy, Scale.at_least(event.scale), 1), event.size)

    monkeypatch.setattr(Event, "draw", shared)
    attack = ATTACKS["a row that changes cells"]
    assert attack.proven(seed) > 2 * attack.claimed


@pytest.mark.parametrize("name", ["a row that changes cells", "a row that changes sides"])
def test_the_sensitivity_of_the_wrong_relation_is_caught(name: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # Fault 6.
    attack = ATTACKS[name]
    before = type(attack.question).l2_sensitivity
    monkeypatch.setattr(type(attack.question), "l2_sensitivity", lambda question, _: before(question, ADD))
    assert attack.proven(seed) > attack.claimed


def test_noise_cut_towards_zero_is_caught(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # Fault 7: zero has the mass of both signs, which adds up to ln 2 to the loss.
    def cut(event: Event, entropy: Entropy) -> IntArray:
        fine: Any = discrete_laplace(entropy, Scale.at_least(event.scale * 2**20), event.size)
        return np.trunc(fine / 2**20).astype(np.int64)

    monkeypatch.setattr(Event, "draw", cut)
    attack = replace(ATTACKS["a row in a count, pure"], cost=PureDP(0.5), look=lambda answer: (answer == 1).astype(float))
    assert attack.proven(seed) > attack.claimed + 0.3


def test_sums_and_counts_have_noise_of_their_own(seed: int) -> None:
    # Fault 3: with the same stream for both answers, their difference has no noise. With ours it has that of two draws.
    event = Event(
        mechanism="rounded_gaussian",
        question_name="a",
        size=50_000,
        scale=64.0,
        sensitivity=1.0,
        unit=1.0,
        relation=ADD.value,
        seeded=True,
    )
    entropy = Entropy(seed)
    difference = event.draw(entropy) - event.draw(entropy)
    assert stats.kstest(difference / (64.0 * math.sqrt(2)), "norm").pvalue > FALSE_ALARM
