# SPDX-License-Identifier: Apache-2.0
"""An attack on means of neighbours, through the vault: what it proves about the loss stays below the claim.

All means are projected on the direction in which one row moves them. An honest vault fails with probability at most 1e-6. The
count and the sum of the other method are attacked together in tests/audit/test_attacks.py.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.vaults import open_vault

from cloister.audit._attacks import proven_epsilon
from cloister.columns import Relation
from cloister.privacy import GDP, Event, PureDP
from cloister.questions import NeighbourMeans

pytestmark = pytest.mark.slow

FALSE_ALARM = 1e-6
# Sixteen means that move together are the worst case in l2. In l1 a single one is, and shows more to a threshold test.
MEANS = {name: NeighbourMeans(points=np.full((n, 1), 0.75), n_neighbors=1) for name, n in (("laplace", 1), ("gaussian", 16))}
ASKS, ASKS_PER_LEDGER = 5_000, 200
TUNED = 1_000  # answers that only choose thresholds
COSTS = {"laplace": (PureDP(1.0), 0.0), "gaussian": (GDP(1.0), 0.05)}
FAR, NEAR = np.array([[-1.0]]), np.array([[1.0]])


def answers(rows, relation, kind, seed):
    """Ask for means at their cost many times; return what the attacker looks at."""
    cost, _ = COSTS[kind]
    whole = PureDP(10.0 * ASKS_PER_LEDGER) if kind == "laplace" else GDP(math.sqrt(10.0 * ASKS_PER_LEDGER))
    seen = []
    for part in range(ASKS // ASKS_PER_LEDGER):
        vault, _ = open_vault(rows, whole, relation=relation, seed=seed * ASKS + part)
        seen += [vault.ask(MEANS[kind], cost).value.ravel() for _ in range(ASKS_PER_LEDGER)]
    return (np.clip(seen, -1.75, 0.25) if kind == "laplace" else np.array(seen)).sum(axis=1)


def attack(kind, relation, seed):
    """All means move together, from one end of the domain to the other: return what is proven, and what is claimed."""
    cost, delta = COSTS[kind]
    tables = (FAR, np.vstack([FAR, NEAR]) if relation is Relation.ADD_REMOVE else NEAR)
    left, right = (answers(rows, relation, kind, 2 * seed + side) for side, rows in enumerate(tables))
    thresholds = np.quantile(np.concatenate([left[:TUNED], right[:TUNED]]), np.linspace(0.02, 0.98, 49))
    proven = proven_epsilon(left[TUNED:], right[TUNED:], thresholds, delta=delta, level=FALSE_ALARM)
    return proven, cost.epsilon_at(delta)


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("kind", COSTS)
def test_an_honest_vault_keeps_its_promise(kind, relation, seed):
    proven, promised = attack(kind, relation, seed)
    assert 0.5 * promised < proven <= promised  # the attack is worth its name


@pytest.mark.parametrize("kind", COSTS)
def test_half_the_noise_is_caught(kind, seed, monkeypatch):
    draw = Event.draw
    monkeypatch.setattr(Event, "draw", lambda event, entropy: draw(replace(event, scale=event.scale / 2), entropy))
    proven, promised = attack(kind, Relation.ADD_REMOVE, seed)
    assert proven > promised
