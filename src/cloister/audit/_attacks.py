# SPDX-License-Identifier: Apache-2.0
"""Threshold attacks through the real vault: what the answers prove about the loss must stay below what is claimed.

The attacker knows two neighbouring tables, looks at answers and says which table they are of. Clopper-Pearson bounds on how
often that is right prove an epsilon; one above the claim is a violation. To see many answers in little time a thousand
independent attacks share a question: the answer about a cell depends on the rows of that cell and on its own draw alone.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from cloister.audit._chance import FALSE_ALARM, at_least, at_most
from cloister.audit._findings import CheckResult, Findings, Settings, Step
from cloister.audit._tables import PersonTable
from cloister.audit._vault import open_vault
from cloister.columns import FloatArray, PrivacyUnit, Relation
from cloister.privacy import GDP, Cost, Entropy, PureDP
from cloister.questions import NearestCounts, NearestSquares, NearestSums, Question
from cloister.rivals import SetCosts

__all__ = ["ATTACKS", "CHOICES", "POINTS", "STEP", "Attack", "attack_once", "check_attacks"]

TITLE = "Threshold attacks: what answers prove stays below the claim"
SHARE = 0.4  # of the false-alarm rate
CELLS = 1_000
POINTS = np.linspace(-0.9, 0.9, CELLS)[:, None]
STEP = 2.0**-12  # far less than half the distance of two points
COUNTS, SUMS = NearestCounts(points=POINTS), NearestSums(points=POINTS, radius=STEP)
SQUARES = NearestSquares(points=POINTS, radius=STEP)
UNITS = {SUMS.name: STEP, SQUARES.name: STEP**2}  # what one row at the radius adds; one, to a count or a choice
NO_ROWS = np.empty((0, 1))
THRESHOLDS = np.arange(-6, 6.25, 0.25)
SIDES = 4  # either table first, either side of a threshold
CHOICE = SetCosts(sets=np.array([[[0.0]], [[1.0]]]), cap=1.0)
CROWD = 4  # rows at the first point, so that the second is chosen rarely: then the ratio of chances is largest
ADD, REPLACE = Relation.ADD_REMOVE, Relation.REPLACE
ONE, PURE = GDP(1.0), PureDP(1.0)


def _one(answers: Sequence[FloatArray]) -> FloatArray:
    return answers[0]


@dataclass(frozen=True, eq=False)
class Attack:
    """Two tables that are neighbours cell by cell, the questions answered together, and what the attacker looks at."""

    name: str
    questions: tuple[Question, ...]
    cost: Cost
    relation: Relation
    left: FloatArray | PersonTable
    right: FloatArray | PersonTable
    look: Callable[[Sequence[FloatArray]], FloatArray] = _one  # from answers in units to numbers beside the thresholds
    privacy_unit: PrivacyUnit | None = None  # where persons are protected

    @property
    def delta(self) -> float:
        """At which the Gaussian is attacked: that of an attack by a threshold, which is far from any tail."""
        return 0.05 if self.cost.is_gaussian else 0.0

    @property
    def claimed(self) -> float:
        """The epsilon that the vault claims for all questions together, at the attack's delta."""
        return self.cost.share(len(self.questions)).epsilon_at(self.delta)

    @property
    def _rows(self) -> int:
        """As how many rows one unit of privacy counts, at most."""
        return 1 if self.privacy_unit is None else self.privacy_unit.factor // self.privacy_unit.steps

    def answers(self, rows: FloatArray | PersonTable, entropy: Entropy, asks: int) -> FloatArray:
        """Ask many times and return what the attacker looks at."""
        vault = open_vault(rows, self.cost, relation=self.relation, entropy=entropy, privacy_unit=self.privacy_unit)
        seen = []
        units = [self._rows * UNITS.get(one.name, 1.0) for one in self.questions]
        for _ in range(asks):
            answers = vault.ask(self.questions, [self.cost] * len(self.questions))
            seen.append(self.look([one.value.ravel() / unit for one, unit in zip(answers, units, strict=True)]))
        return np.concatenate(seen)


def _difference(answers: Sequence[FloatArray]) -> FloatArray:
    """Return the difference of the two cells between which a row moves."""
    return np.asarray(answers[0][::2] - answers[0][1::2])


def _likely_difference(answers: Sequence[FloatArray]) -> FloatArray:
    """Return the difference of what matters: the likelihood ratio of a Laplace answer moves between 0 and 1 rows only."""
    return _difference([np.clip(answers[0], 0, 1)])


def _of_both(answers: Sequence[FloatArray]) -> FloatArray:
    """Return the difference of two answers that a row moves in opposite directions: noise that both share cancels."""
    return np.asarray((answers[0] - answers[1]) / 2)


def _likely_of_both(answers: Sequence[FloatArray]) -> FloatArray:
    """Return the same for Laplace answers, of which one moves up and one down."""
    return np.asarray(np.clip(answers[0], 0, 1) - np.clip(answers[1], -1, 0))


_CROWD = np.zeros((CROWD, 1))
ATTACKS = (
    Attack("a row in a count", (COUNTS,), ONE, ADD, POINTS, NO_ROWS, _one),
    Attack("a row that changes cells", (COUNTS,), ONE, REPLACE, POINTS[::2], POINTS[1::2], _difference),
    Attack("a row in a sum", (SUMS,), ONE, ADD, POINTS + STEP, NO_ROWS, _one),
    Attack("a row that changes sides", (SUMS,), ONE, REPLACE, POINTS + STEP, POINTS - STEP, _one),
    Attack("a row in a count and a sum", (COUNTS, SUMS), ONE, ADD, POINTS - STEP, NO_ROWS, _of_both),
    Attack("a row in a sum of squares", (SQUARES,), ONE, ADD, POINTS - STEP, NO_ROWS, _one),
    Attack("a row that takes its square along", (SQUARES,), ONE, REPLACE, POINTS[::2] + STEP, POINTS[1::2] + STEP, _difference),
    Attack("a row in a count, pure", (COUNTS,), PURE, ADD, POINTS, NO_ROWS, _one),
    Attack("a row that changes cells, pure", (COUNTS,), PURE, REPLACE, POINTS[::2], POINTS[1::2], _likely_difference),
    Attack("a row in a sum, pure", (SUMS,), PURE, ADD, POINTS + STEP, NO_ROWS, _one),
    Attack("a row that changes sides, pure", (SUMS,), PURE, REPLACE, POINTS + STEP, POINTS - STEP, _one),
    Attack("a row in a sum of squares, pure", (SQUARES,), PURE, ADD, POINTS - STEP, NO_ROWS, _one),
    Attack(
        "a row that takes its square along, pure",
        (SQUARES,),
        PURE,
        REPLACE,
        POINTS[::2] + STEP,
        POINTS[1::2] + STEP,
        _likely_difference,
    ),
    Attack("a row in a count and a sum, pure", (COUNTS, SUMS), PURE, ADD, POINTS - STEP, NO_ROWS, _likely_of_both),
)
CHOICES = (
    Attack("a row in a choice", (CHOICE,), PURE, ADD, np.vstack([_CROWD, [[0.0]]]), _CROWD, _one),
    Attack(
        "a row that changes a choice",
        (CHOICE,),
        PURE,
        REPLACE,
        np.vstack([_CROWD, [[0.0]]]),
        np.vstack([_CROWD, [[1.0]]]),
        _one,
    ),
)


def check_attacks(settings: Settings, step: Step) -> CheckResult:
    """Attack counts, sums, sums of squares, pairs of answers and choices under both relations."""
    found = Findings("attacks", TITLE, step, settings.first)
    level = FALSE_ALARM * SHARE / (len(ATTACKS) + len(CHOICES))
    best = 0.0
    for index, attack in enumerate((*ATTACKS, *CHOICES)):
        found.begin(attack.name, part=attack.name)
        asks = settings.amount(20, 60) if attack in ATTACKS else settings.amount(700, 4000)
        proven = attack_once(attack, asks=asks, seed=settings.seed + 2 * index, level=level)
        best = max(best, proven / attack.claimed)
        found.check_limit(proven, attack.claimed, f"{attack.name}: epsilon proven by the answers")
    found.notes.append(f"the best attack proves {best:.0%} of the claimed epsilon; false alarms: {FALSE_ALARM * SHARE:.1g}")
    return found.result()


def attack_once(attack: Attack, *, asks: int, seed: int, level: float) -> float:
    """Return the epsilon that the answers to many questions prove; wrong with probability at most `level`."""
    left, right = (attack.answers(rows, Entropy(seed + side), asks) for side, rows in enumerate((attack.left, attack.right)))
    return _proven(left, right, delta=attack.delta, level=level / (2 * SIDES * len(THRESHOLDS)))


def _proven(left: FloatArray, right: FloatArray, *, delta: float, level: float) -> float:
    """Return the best epsilon over thresholds fixed beforehand, either table first, and either side of the threshold."""
    best = 0.0
    for one, other in ((left, right), (right, left)):
        for threshold in THRESHOLDS:
            hits, alarms = (int(np.count_nonzero(table >= threshold)) for table in (one, other))
            for kept, wrong in ((hits, alarms), (one.size - hits, other.size - alarms)):
                surely = at_least(kept, one.size, level) - delta
                if surely > 0:
                    best = max(best, math.log(surely / at_most(wrong, other.size, level)))
    return best
