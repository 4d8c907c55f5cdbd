# SPDX-License-Identifier: Apache-2.0
"""Threshold attacks through the real vault: what the answers prove about the loss must stay below what is claimed.

The attacker knows two neighbouring tables, looks at answers and says which table they are of. Clopper-Pearson bounds on how
often that is right prove an epsilon; one above the claim is a violation. To see many answers in little time a thousand
independent attacks share a question: the answer about a cell depends on the rows of that cell and on its own draw alone.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import betainccinv, betaincinv

from cloister.audit._findings import FALSE_ALARM, Case, Check, CheckResult, Settings
from cloister.audit._tables import PersonTable
from cloister.columns import Ball, FloatArray, Neighbours, PrivacyUnit, Relation
from cloister.data import open_rows
from cloister.privacy import GDP, Cost, Entropy, Ledger, PureDP
from cloister.questions import NearestCounts, NearestSquares, NearestSums, Question
from cloister.rivals import SetCosts
from cloister.vault import Vault

SHARE = 0.4  # of the false-alarm rate
POINTS = np.linspace(-0.9, 0.9, 1_000)[:, None]
STEP = 2.0**-12  # far less than half the distance of two points
COUNTS, SUMS = NearestCounts(points=POINTS), NearestSums(points=POINTS, radius=STEP)
SQUARES = NearestSquares(points=POINTS, radius=STEP)
UNITS = {SUMS.name: STEP, SQUARES.name: STEP**2}  # what one row at the radius adds; one, to a count or a choice
NO_ROWS = np.empty((0, 1))
THRESHOLDS = np.arange(-6, 6.25, 0.25)
SIDES = 4  # either table first, either side of a threshold
CHOICE = SetCosts(sets=np.array([[[0.0]], [[1.0]]]), cap=1.0)
CROWD = 1  # rows at the first point: the rarer the second is chosen, the larger is the ratio of chances, and the less is seen
ADD, REPLACE = Relation.ADD_REMOVE, Relation.REPLACE
HUGE = 1e5  # of a budget, in epsilon or mu: the rows are made up


def open_vault(
    rows: FloatArray | PersonTable,
    cost: Cost,
    *,
    relation: Relation,
    entropy: Entropy,
    privacy_unit: PrivacyUnit | None = None,
    strength: float = HUGE,
) -> Vault:
    """Return a vault over rows of the unit ball, or of persons, that pays `strength` for answers of the kind of `cost`."""
    whole, near = cost.with_strength(strength), Neighbours(relation, privacy_unit)
    account = Ledger(whole, neighbours=near.value, unit=near.unit).reserve(whole, purpose="audit", relation=near)
    table, ids = (rows.rows, rows.ids) if isinstance(rows, PersonTable) else (rows, None)
    frame = Ball(1.0, 0.0).spread(table.shape[1]).frame()
    return Vault(open_rows(table, privacy_unit=ids, n_jobs=1), frame=frame, relation=near, account=account, entropy=entropy)


@dataclass(frozen=True, eq=False)
class Attack:
    """Two tables that are neighbours cell by cell, the questions answered together, and what the attacker looks at.

    The attacker looks at numbers beside the thresholds, made of answers that are given as numbers of rows.
    """

    name: str
    questions: tuple[Question, ...]
    cost: Cost
    relation: Relation
    left: FloatArray | PersonTable
    right: FloatArray | PersonTable
    look: Callable[[Sequence[FloatArray]], FloatArray] = lambda answers: answers[0]
    privacy_unit: PrivacyUnit | None = None  # where persons are protected
    asks: tuple[int, int] = (20, 60)  # how often in a quick audit, and in a full one

    @property
    def delta(self) -> float:
        """At which the Gaussian is attacked: that of an attack by a threshold, which is far from any tail."""
        return 0.05 if self.cost.is_gaussian else 0.0

    @property
    def claimed(self) -> float:
        """The epsilon that the vault claims for all questions together, at the attack's delta."""
        return self.cost.share(len(self.questions)).epsilon_at(self.delta)

    def answers(self, rows: FloatArray | PersonTable, entropy: Entropy, asks: int) -> FloatArray:
        """Ask many times and return what the attacker looks at."""
        vault = open_vault(rows, self.cost, relation=self.relation, entropy=entropy, privacy_unit=self.privacy_unit)
        moved = 1 if self.privacy_unit is None else self.privacy_unit.factor // self.privacy_unit.steps  # rows of a unit
        seen = []
        for _ in range(asks):
            answers = vault.ask(self.questions, [self.cost] * len(self.questions))
            rows_of = zip(self.questions, answers, strict=True)
            seen.append(self.look([one.value.ravel() / (moved * UNITS.get(asked.name, 1.0)) for asked, one in rows_of]))
        return np.concatenate(seen)


def _between(answers: Sequence[FloatArray], *, laplace: bool) -> FloatArray:
    """Return the difference of the two cells between which a row moves.

    The likelihood ratio of a Laplace answer moves between 0 and 1 rows only, here and below.
    """
    cells = np.clip(answers[0], 0, 1) if laplace else answers[0]
    return np.asarray(cells[::2] - cells[1::2])


def _of_both(answers: Sequence[FloatArray], *, laplace: bool) -> FloatArray:
    """Return the difference of two answers that a row moves in opposite directions: noise that both share cancels."""
    one, other = answers
    return np.asarray(np.clip(one, 0, 1) - np.clip(other, -1, 0) if laplace else (one - other) / 2)


def _attacks() -> Iterator[Attack]:
    up, down, even, odd = POINTS + STEP, POINTS - STEP, POINTS[::2], POINTS[1::2]
    for cost, words in ((GDP(1.0), ""), (PureDP(1.0), ", pure")):
        between, of_both = (partial(look, laplace=not cost.is_gaussian) for look in (_between, _of_both))
        yield Attack(f"a row in a count{words}", (COUNTS,), cost, ADD, POINTS, NO_ROWS)
        yield Attack(f"a row that changes cells{words}", (COUNTS,), cost, REPLACE, even, odd, between)
        yield Attack(f"a row in a sum{words}", (SUMS,), cost, ADD, up, NO_ROWS)
        yield Attack(f"a row that changes sides{words}", (SUMS,), cost, REPLACE, up, down)
        yield Attack(f"a row in a count and a sum{words}", (COUNTS, SUMS), cost, ADD, down, NO_ROWS, of_both)
        yield Attack(f"a row in a sum of squares{words}", (SQUARES,), cost, ADD, down, NO_ROWS)
        moved = (even + STEP, odd + STEP)
        yield Attack(f"a row that takes its square along{words}", (SQUARES,), cost, REPLACE, *moved, between)
    crowd = np.zeros((CROWD, 1))
    near, far = np.vstack([crowd, [[0.0]]]), np.vstack([crowd, [[1.0]]])
    yield Attack("a row in a choice", (CHOICE,), PureDP(1.0), ADD, near, crowd, asks=(700, 4000))
    yield Attack("a row that changes a choice", (CHOICE,), PureDP(1.0), REPLACE, near, far, asks=(700, 4000))


ATTACKS = tuple(_attacks())


def attack_cases(settings: Settings, attacks: Sequence[Attack], *, share: float) -> Iterator[Case]:
    """Yield attacks as the cases of a check, which divide this share of the rate of false alarms."""

    def check(found: CheckResult, *, attack: Attack, seed: int) -> None:
        asks, level = settings.amount(*attack.asks), FALSE_ALARM * share / len(attacks)
        found.check_limit(
            attack_once(attack, asks=asks, seed=seed, level=level), attack.claimed, "epsilon proven by the answers"
        )

    for number, attack in enumerate(attacks):
        yield Case(attack.name, attack.name, partial(check, attack=attack, seed=settings.seed + 2 * number))


def attack_once(attack: Attack, *, asks: int, seed: int, level: float) -> float:
    """Return the epsilon that the answers to many questions prove; wrong with probability at most `level`."""
    left, right = (attack.answers(rows, Entropy(seed + side), asks) for side, rows in enumerate((attack.left, attack.right)))
    return proven_epsilon(left, right, THRESHOLDS, delta=attack.delta, level=level)


def proven_epsilon(left: FloatArray, right: FloatArray, thresholds: FloatArray, *, delta: float, level: float) -> float:
    """Return the epsilon at `delta` that answers about two tables prove; wrong with probability at most `level`.

    It is the best one over thresholds fixed beforehand, either table first, and either side of the threshold.
    """
    best, each = 0.0, level / (2 * SIDES * len(thresholds))
    for one, other in ((left, right), (right, left)):
        for threshold in thresholds:
            hits, alarms = (int(np.count_nonzero(table >= threshold)) for table in (one, other))
            for kept, wrong in ((hits, alarms), (one.size - hits, other.size - alarms)):
                surely = at_least(kept, one.size, each) - delta
                if surely > 0:
                    best = max(best, math.log(surely / at_most(wrong, other.size, each)))
    return best


def at_least(count: int, total: int, level: float) -> float:
    """Return the lower Clopper-Pearson bound of a probability; wrong with probability at most `level`."""
    return float(betaincinv(count, total - count + 1, level)) if count > 0 else 0.0


def at_most(count: int, total: int, level: float) -> float:
    """Return the upper Clopper-Pearson bound of a probability; wrong with probability at most `level`."""
    return float(betainccinv(count + 1, total - count, level)) if count < total else 1.0


ATTACKING = Check(
    title="Threshold attacks: what answers prove stays below the claim",
    meaning="An attacker who knows two neighbouring tables looks at thousands of answers. The ratio is the largest epsilon "
    "that they prove, with Clopper-Pearson bounds, over the claimed one: close to 1 is a sharp attack, above 1 a broken claim.",
    cases=lambda settings, folder: attack_cases(settings, ATTACKS, share=SHARE),
    false_alarms=SHARE,
)
