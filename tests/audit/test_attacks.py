# SPDX-License-Identifier: Apache-2.0
"""Threshold attacks on the path from rows to answer: they prove no more than the claim, come close to it, and catch faults.

An honest vault fails an attack with probability at most 1e-6.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cloister.audit._attacks import ATTACKS, CHOICE, Attack, attack_once
from cloister.audit._plants import wrapped
from cloister.columns import Relation
from cloister.privacy import PureDP, Scale, discrete_laplace

pytestmark = pytest.mark.slow

FALSE_ALARM = 1e-6
# Many choices take long: those on a choice are in the check itself, and its exact law in tests/privacy/test_exponential.py.
NAMED = {attack.name: attack for attack in ATTACKS if attack.questions != (CHOICE,)}


def proven(attack: Attack, seed: int) -> float:
    """Return the epsilon that 60,000 answers prove."""
    return attack_once(attack, asks=60, seed=seed, level=FALSE_ALARM)


@pytest.mark.parametrize("name", NAMED)
def test_an_honest_vault_keeps_its_promise(name: str, seed: int) -> None:
    attack = NAMED[name]
    assert 0.7 * attack.claimed < proven(attack, seed) <= attack.claimed


@pytest.mark.parametrize("name", NAMED)
def test_less_noise_than_stated_is_caught(name: str, seed: int) -> None:
    def weaker(draw: Any) -> object:
        return lambda event, entropy: draw(replace(event, scale=0.8 * event.scale), entropy)

    with wrapped(("cloister.privacy:Event.draw", weaker)):
        assert proven(NAMED[name], seed) > NAMED[name].claimed


@pytest.mark.parametrize("name", ["a row that changes cells", "a row that changes sides"])
def test_the_sensitivity_of_the_wrong_relation_is_caught(name: str, seed: int) -> None:
    # Fault 6.
    def of_adding(bound: Any) -> object:
        return lambda question, relation: bound(question, Relation.ADD_REMOVE)

    with wrapped(*((f"cloister.questions:{kind}.l2_sensitivity", of_adding) for kind in ("Counts", "ClippedSums"))):
        assert proven(NAMED[name], seed) > NAMED[name].claimed


def test_noise_cut_towards_zero_is_caught(seed: int) -> None:
    # Fault 7: zero has the mass of both signs, which adds up to ln 2 to the loss.
    def cut(draw: Any) -> object:
        def drawn(event: Any, entropy: Any) -> Any:
            fine: Any = discrete_laplace(entropy, Scale.at_least(event.scale * 2**20), event.size)
            return np.trunc(fine / 2**20).astype(np.int64)

        return drawn

    attack = replace(NAMED["a row in a count, pure"], cost=PureDP(0.5), look=lambda answers: (answers[0] == 1).astype(float))
    with wrapped(("cloister.privacy:Event.draw", cut)):
        assert proven(attack, seed) > attack.claimed + 0.3
