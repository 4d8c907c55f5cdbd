# SPDX-License-Identifier: Apache-2.0
"""Whole fits of KMeans as an attacker sees them who knows two neighbouring tables and overhears every noisy answer.

The answers' likelihood under either table is known exactly, so the privacy loss of a fit is a number, not an estimate: it must
not exceed epsilon (Laplace noise), nor the squared distances of the answers over the noise exceed mu^2 (Gaussian noise), in any
fit. That every answer has the noise it was paid for is what ``tests/audit/test_replay.py`` tests.
"""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

from cloister import GDP, Ball, KMeans, PureDP
from cloister.columns import FloatArray, IntArray, snap
from cloister.privacy import Event, Guarantee
from cloister.questions import Answer, Question
from cloister.vault import Vault

pytestmark = pytest.mark.slow

FITS = 20
STEPS = 1e-9  # relative: the scale of the noise is rounded up
Story = list[tuple[Question, Event, FloatArray]]


def tables(neighbours: str, n_features: int) -> tuple[FloatArray, FloatArray]:
    """Two clusters and one row far from both, which is missing from the other table, or stands on the other side."""
    base, outlier = np.zeros((40, n_features)), np.eye(1, n_features)
    base[:20, 0] = -0.5
    other = [base] if neighbours == "add-remove" else [base, -outlier]
    return snap(np.concatenate([base, outlier])), snap(np.concatenate(other))


@pytest.fixture
def story(monkeypatch: pytest.MonkeyPatch) -> Story:
    """All that leaves the vault."""
    transcript: Story = []
    noisy = Vault._noisy

    def overheard(vault: Vault, question: Question, exact: IntArray, event: Event) -> Answer:
        answer = noisy(vault, question, exact, event)
        transcript.append((question, event, answer.value))
        return answer

    monkeypatch.setattr(Vault, "_noisy", overheard)
    return transcript


def fits(story: Story, rows: FloatArray, guarantee: Guarantee, neighbours: str) -> Iterator[Story]:
    """Tell the stories of many fits on one table."""
    options: dict[str, Any] = {"bounds": Ball(1.0), "n_rows": 41, "n_init": 1, "n_jobs": 1, "neighbours": neighbours}
    for _ in range(FITS):
        story.clear()
        KMeans(2, guarantee=guarantee, **options).fit(rows)
        assert story
        yield story


each = pytest.mark.parametrize(("neighbours", "n_features"), [*product(["add-remove", "replace"], [1, 12])])


@each
def test_no_fit_with_laplace_noise_loses_more_than_epsilon(neighbours: str, n_features: int, story: Story) -> None:
    left, right = tables(neighbours, n_features)
    losses = []
    for transcript in fits(story, left, PureDP(1.5), neighbours):
        farther = [
            np.abs(value / question.unit - question.exact(right)) - np.abs(value / question.unit - question.exact(left))
            for question, _, value in transcript
        ]
        losses.append(sum(np.sum(one) / event.scale for one, (_, event, _) in zip(farther, transcript, strict=True)))
    assert max(map(abs, losses)) <= 1.5 * (1 + STEPS)
    assert max(losses) > 0.2, "the attack is worth its name"


@each
def test_no_fit_with_gaussian_noise_tells_neighbours_farther_apart_than_mu(
    neighbours: str, n_features: int, story: Story
) -> None:
    left, right = tables(neighbours, n_features)
    squares = [
        sum(float(np.sum(((q.exact(left) - q.exact(right)) / event.scale) ** 2)) for q, event, _ in transcript)
        for transcript in fits(story, left, GDP(1.0), neighbours)
    ]
    assert max(squares) <= 1 + STEPS
    assert max(squares) > 0.5, "the attack is worth its name"
