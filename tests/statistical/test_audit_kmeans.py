# SPDX-License-Identifier: Apache-2.0
"""An attack on whole fits of KMeans by somebody who sees every noisy answer: what it proves stays below the guarantee.

The attacker knows both tables and all answers, and computes the exact ratio of the likelihoods of the two tables: no test is
better. False alarms have probability 1e-6, as in the attack on single questions.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from cloister import GDP, ApproxDP, Ball, KMeans, PureDP
from cloister.domain import FloatArray, IntArray, snap
from cloister.privacy import Event, Guarantee, convert
from cloister.questions import Answer, Question
from cloister.vault import Vault

from .test_audit import proven_epsilon

pytestmark = pytest.mark.slow

FITS = 600
DELTA = 0.05
BASE = np.concatenate([np.full((20, 1), -0.5), np.zeros((20, 1))])
OUTLIER, OPPOSITE = np.array([[1.0]]), np.array([[-1.0]])
NEIGHBOURS = {
    "add-remove": (np.concatenate([BASE, OUTLIER]), BASE),
    "replace": (np.concatenate([BASE, OUTLIER]), np.concatenate([BASE, OPPOSITE])),
}

Story = list[tuple[Question, Event, FloatArray]]


@pytest.fixture
def story(monkeypatch: pytest.MonkeyPatch) -> Story:
    """All that left the vault, as the attacker sees it."""
    told: Story = []
    noisy = Vault._noisy

    def overheard(vault: Vault, question: Question, exact: IntArray, event: Event) -> Answer:
        answer = noisy(vault, question, exact, event)
        told.append((question, event, answer.value))
        return answer

    monkeypatch.setattr(Vault, "_noisy", overheard)
    return told


def log_likelihood(story: Story, rows: FloatArray) -> float:
    """The logarithm of the probability of the answers if the table was `rows`, but for a constant."""
    total = 0.0
    for question, event, value in story:
        noise = value / question.unit - question.exact(rows)
        if event.event == "discrete_laplace":
            total -= float(np.abs(noise).sum()) / event.scale
        else:
            size = np.abs(noise)  # both tails are taken from the upper one, where no digits are lost
            upper, lower = (stats.norm.logsf((size + side) / event.scale) for side in (0.5, -0.5))
            total += float(np.sum(lower + np.log(-np.expm1(upper - lower))))
    return total


def losses(story: Story, guarantee: Guarantee, neighbours: str, side: int) -> FloatArray:
    """The privacy loss of many fits on one of the tables: positive where the answers speak for the first one."""
    tables = [snap(table) for table in NEIGHBOURS[neighbours]]
    options: dict[str, Any] = {"bounds": Ball(1.0), "n_rows": 41, "n_init": 1, "n_jobs": 1, "neighbours": neighbours}
    found = []
    for _ in range(FITS):
        story.clear()
        KMeans(2, guarantee=guarantee, **options).fit(tables[side])
        found.append(log_likelihood(story, tables[0]) - log_likelihood(story, tables[1]))
    return np.array(found)


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
def test_no_answers_of_a_pure_fit_speak_louder_than_epsilon(neighbours: str, story: Story) -> None:
    left, right = (losses(story, PureDP(1.5), neighbours, side) for side in (0, 1))
    assert max(np.abs(left).max(), np.abs(right).max()) <= 1.5 * (1 + 1e-9)  # this has no exceptions
    proven = proven_epsilon(left, right, np.arange(-1.5, 1.6, 0.25), 0.0)
    assert 0.3 < proven <= 1.5


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
def test_answers_of_a_gaussian_fit_are_as_hard_to_tell_apart_as_claimed(neighbours: str, story: Story) -> None:
    claimed = convert(GDP(1.0), ApproxDP, delta=DELTA).epsilon
    left, right = (losses(story, GDP(1.0), neighbours, side) for side in (0, 1))
    assert proven_epsilon(left, right, np.arange(-3, 3.25, 0.25), DELTA) <= claimed
    # Under mu-GDP the loss is no more than N(mu^2 / 2, mu^2); the means of 600 are within 5 deviations but for 1e-6.
    for mean in (left.mean(), -right.mean()):
        assert 0.2 < mean <= 0.5 + 5 / FITS**0.5


def halve(draw: Callable[..., IntArray]) -> Callable[..., IntArray]:
    return lambda event, entropy: np.rint(draw(event, entropy) / 2).astype(np.int64)


def test_half_the_noise_is_caught(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Event, "draw", halve(Event.draw))
    left, right = (losses(story, GDP(1.0), "add-remove", side) for side in (0, 1))
    assert proven_epsilon(left, right, np.arange(-3, 3.25, 0.25), DELTA) > convert(GDP(1.0), ApproxDP, delta=DELTA).epsilon
