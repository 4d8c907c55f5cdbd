# SPDX-License-Identifier: Apache-2.0
"""The noise of an answer is the noise that was paid for: its own draw, at its own scale, whether asked alone or together.

What the vault adds is compared with what the ledger recorded. Statistical tests have a false-alarm rate of 1e-6 each.
"""

from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats
from tests.vaults import open_vault

from cloister.privacy import GDP, Cost, Entropy, PureDP
from cloister.questions import DistanceHistogram, NearestCounts, NearestSums, Question, RowCount
from cloister.rivals import SetCosts
from cloister.vault import Vault

from ._laws import choice_law, discrete_laplace_law, fit_of, rounded_gaussian_law

FALSE_ALARM = 1e-6
KINDS = {"gaussian": GDP, "laplace": PureDP}


class Remembered(Entropy):
    """Words of the operating system that can be given out once more, to draw the same noise again."""

    def __init__(self, *, again: list[np.ndarray] | None = None) -> None:
        super().__init__()
        self.given: list[np.ndarray] = []
        self._again = again

    def words(self, count: int) -> np.ndarray:
        words = super().words(count) if self._again is None else self._again.pop(0)
        assert len(words) == count
        self.given.append(words)
        return words


def questions_about(n_features: int, n_points: int) -> list[Question]:
    """Return questions that are asked together in practice; in one dimension, counts and sums have equally many numbers."""
    points = np.zeros((n_points, n_features))
    points[:, 0] = np.linspace(-0.9, 0.9, n_points)
    edges = np.linspace(0.01, 1.0, n_points - 1)
    return [NearestCounts(points=points), NearestSums(points=points, radius=1.0), DistanceHistogram(edges=edges), RowCount()]


def noise_of(vault: Vault, questions: Sequence[Question], costs: Sequence[Cost], *, together: bool) -> list[np.ndarray]:
    """Return the whole numbers that were added; there are no rows, so all that comes out is noise."""
    if together:
        answers = vault.ask(questions, costs)
    else:
        answers = tuple(vault.ask(*pair) for pair in zip(questions, costs, strict=True))
    steps = [np.rint(answer.value / question.unit).ravel() for answer, question in zip(answers, questions, strict=True)]
    return [one.astype(np.int64) for one in steps]


@pytest.mark.parametrize("together", [False, True], ids=["alone", "together"])
@pytest.mark.parametrize("n_features", [1, 2, 5])
@pytest.mark.parametrize("kind", KINDS)
def test_every_word_of_entropy_serves_one_answer(kind: str, n_features: int, together: bool) -> None:
    # Drawn one after the other from the very same words, the events that the ledger recorded give the very same noise. Words
    # used twice, from elsewhere, or for another scale or size would not.
    entropy = Remembered()
    vault, ledger = open_vault(np.empty((0, n_features)), KINDS[kind](10.0), seed=entropy)
    questions = questions_about(n_features, 12)
    costs = [KINDS[kind](size) for size in (0.5, 0.01, 0.1, 0.02)]
    added = noise_of(vault, questions, costs, together=together)
    replayed = Remembered(again=list(entropy.given))
    for event, question, noise in zip(ledger.events, questions, added, strict=True):
        assert event.question_name == question.name
        assert np.array_equal(event.draw(replayed), noise)
    assert len(replayed.given) == len(entropy.given)


@pytest.mark.parametrize("together", [False, True], ids=["alone", "together"])
@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("kind", KINDS)
def test_answers_have_the_scale_that_was_paid(kind: str, order: int, together: bool) -> None:
    # Where steps are fine, they are counted by the tenth of a scale.
    law = {"gaussian": rounded_gaussian_law, "laplace": discrete_laplace_law}[kind]
    vault, ledger = open_vault(np.empty((0, 1)), KINDS[kind](10.0))
    questions, costs = questions_about(1, 2_000)[:2], [KINDS[kind](0.5), KINDS[kind](0.05)][::order]
    for noise, event in zip(noise_of(vault, questions, costs, together=together), ledger.events, strict=True):
        cost = costs[event.question_name == "nearest_sums"]
        assert event.scale == pytest.approx(event.sensitivity / cost.strength, rel=1e-6)
        coarse = 2 * int(event.scale / 20) + 1
        coarsely = (noise + coarse // 2) // coarse
        assert fit_of(coarsely, law(2 * event.scale / coarse)) < FALSE_ALARM  # so many draws would tell
        assert fit_of(coarsely, law(event.scale / coarse)) > FALSE_ALARM


# -- a choice --


def test_a_choice_has_the_probabilities_that_were_paid() -> None:
    # Five sets of one centre each; the rows lie at the first. At half the scale the last would be twenty times rarer.
    question = SetCosts(sets=np.array([0.0, 0.2, 0.28, 0.34, 0.4]).reshape(5, 1, 1), cap=0.16)
    rows, times = np.zeros((3, 1)), 800
    vault, ledger = open_vault(rows, PureDP(times * 1.01))
    answers = [vault.ask(question, PureDP(1.0)) for _ in range(times)]  # each time paid for anew
    event = ledger.events[0]
    assert {answer.event.scale for answer in answers} == {one.scale for one in ledger.events} == {event.scale}
    assert event.sensitivity * (1 - 1e-12) <= event.scale <= event.sensitivity * (1 + 1e-6)
    expected = times * np.array(choice_law(question.exact(rows), event.scale), dtype=float)
    assert expected.min() > 10
    chosen = np.bincount([answer.index[0] for answer in answers], minlength=5)
    assert stats.chisquare(chosen, expected).pvalue > FALSE_ALARM
