# SPDX-License-Identifier: Apache-2.0
"""An attack on both methods, through the vault: what it proves about the loss stays below the claim, and faults are caught.

NNA's two answers about one row are attacked together, by the likelihood ratio of the pair; NAS by the projection of all its
means on the direction in which one row moves them. An honest vault fails a test with probability at most 1e-6. For NNA a
thousand independent attacks share a question, one in each cell, as in the audit.
"""

import math
from dataclasses import replace

import numpy as np
import pytest

from cloister.audit import _attacks
from cloister.columns import Ball, Relation
from cloister.data import open_rows
from cloister.privacy import GDP, ApproxDP, Entropy, Event, Ledger, PureDP, convert
from cloister.questions import NearestCounts, NearestSums, NeighbourMeans
from cloister.vault import Vault

pytestmark = pytest.mark.slow

FALSE_ALARM = 1e-6
CELLS, ASKS = 1_000, 40
POINTS = np.linspace(-0.9, 0.9, CELLS)[:, None]
STEP = 2.0**-12
COUNTS, SUMS = NearestCounts(points=POINTS), NearestSums(points=POINTS, radius=STEP)
# Sixteen means that move together are the worst case in l2. In l1 a single one is, and shows more to a threshold test.
MEANS = {name: NeighbourMeans(points=np.full((n, 1), 0.75), n_neighbors=1) for name, n in (("laplace", 1), ("gaussian", 16))}
MEAN_ASKS, ASKS_PER_LEDGER = 8_000, 200
TUNED = 1_000  # answers that only choose thresholds
EMPTY = np.empty((0, 1))
COSTS = {"laplace": (PureDP(1.0), 0.0), "gaussian": (GDP(1.0), 0.05)}


def ask_all(rows, relation, questions, seed, asks):
    """Ask questions, each at its cost, many times; return the values of shape (asks, numbers) for each question."""
    whole = questions[0][1].share(1.0)
    whole = PureDP(10.0 * asks) if isinstance(whole, PureDP) else GDP(math.sqrt(10.0 * asks))
    account = Ledger(whole, neighbours=relation.value).reserve(whole, purpose="audit", relation=relation)
    vault = Vault(
        open_rows(rows, n_jobs=1), frame=Ball(1.0, [0.0]).frame(), relation=relation, account=account, entropy=Entropy(seed)
    )
    return [np.array([vault.ask(question, cost).value.ravel() for _ in range(asks)]) for question, cost in questions]


def look(counts, sums, pure, moved):
    """The logarithm of the likelihood ratio, up to a constant factor: a row in the count, and `moved` steps in the sum."""
    counts, sums = counts - 0.5, sums / STEP
    if pure:  # of two Laplace densities it moves between the two means only
        low, high = sorted(moved)
        part = np.clip(sums, low, high) - (low + high) / 2
        return np.clip(counts, -0.5, 0.5) * (0 in moved) + part * (1 if moved[1] > moved[0] else -1)
    return counts * (0 in moved) + (sums - sum(moved) / 2) * np.sign(moved[1] - moved[0])


def proven_epsilon(left, right, delta):
    thresholds = np.quantile(np.concatenate([left.ravel()[:TUNED], right.ravel()[:TUNED]]), np.linspace(0.02, 0.98, 49))
    seen = (left.ravel()[TUNED:], right.ravel()[TUNED:])  # thresholds were chosen on the others
    return _attacks.proven_epsilon(*seen, thresholds, delta=delta, level=FALSE_ALARM)


def claimed(cost, delta):
    return cost.epsilon if isinstance(cost, PureDP) else convert(cost, ApproxDP, delta=delta).epsilon


def attack_nna(kind, relation, seed):
    """A row at one step beside its point is there, or not (or at one step on the other side)."""
    cost, delta = COSTS[kind]
    half = [(COUNTS, cost.share(0.5)), (SUMS, cost.share(0.5))]
    tables = (POINTS + STEP, EMPTY if relation is Relation.ADD_REMOVE else POINTS - STEP)
    moved = (0, 1) if relation is Relation.ADD_REMOVE else (-1, 1)
    seen = [
        look(*ask_all(rows, relation, half, 2 * seed + side, ASKS), kind == "laplace", moved)
        for side, rows in enumerate(tables)
    ]
    # Replacing leaves the count as it is, so only the half of the budget that the sums have can be seen.
    visible = cost if relation is Relation.ADD_REMOVE else cost.share(0.5)
    return proven_epsilon(*seen, delta), claimed(cost, delta), claimed(visible, delta)


def attack_nas(kind, relation, seed):
    """All means move together, from one end of the domain to the other."""
    cost, delta = COSTS[kind]
    far, near = np.array([[-1.0]]), np.array([[1.0]])
    tables = (far, np.vstack([far, near]) if relation is Relation.ADD_REMOVE else near)
    seen = []
    for side, rows in enumerate(tables):
        values = np.concatenate(
            [
                ask_all(rows, relation, [(MEANS[kind], cost)], (2 * seed + side) * MEAN_ASKS + part, ASKS_PER_LEDGER)[0]
                for part in range(MEAN_ASKS // ASKS_PER_LEDGER)
            ]
        )
        offsets = np.clip(values, -1.75, 0.25) if kind == "laplace" else values
        seen.append(offsets.sum(axis=1))
    return proven_epsilon(*seen, delta), claimed(cost, delta), claimed(cost, delta)


ATTACKS = {"nna": attack_nna, "nas": attack_nas}
CASES = [(method, kind, relation) for method in ATTACKS for kind in COSTS for relation in Relation]


@pytest.mark.parametrize(("method", "kind", "relation"), CASES)
def test_an_honest_vault_keeps_its_promise(method, kind, relation, seed):
    proven, promised, visible = ATTACKS[method](kind, relation, seed)
    assert proven <= promised
    assert proven > 0.5 * visible  # the attack is worth its name


@pytest.mark.parametrize(
    ("method", "kind", "relation"), [case for case in CASES if case[0] == "nas" or case[2].value != "replace"]
)
def test_half_the_noise_is_caught(method, kind, relation, seed, monkeypatch):
    draw = Event.draw
    monkeypatch.setattr(Event, "draw", lambda event, entropy: draw(replace(event, scale=event.scale / 2), entropy))
    proven, promised, _ = ATTACKS[method](kind, relation, seed)
    assert proven > promised
