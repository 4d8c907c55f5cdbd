# SPDX-License-Identifier: Apache-2.0
"""Exact probabilities of the two kinds of noise, a goodness-of-fit test with a stated false-alarm rate, and what was paid."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from cloister.columns import FloatArray, IntArray
from cloister.privacy import Cost, Event
from cloister.questions import Question
from cloister.vault import Vault

Probabilities = Callable[[IntArray], FloatArray]
Paid = list[tuple[Question, Event]]


def rounded_gaussian_probability(sigma: float) -> Probabilities:
    """P(round(N(0, sigma^2)) = y), taken from the upper tail, where no digits are lost."""

    def probability(values: IntArray) -> FloatArray:
        size = np.abs(values).astype(float)
        two_sided = stats.norm.sf((size - 0.5) / sigma) - stats.norm.sf((size + 0.5) / sigma)
        return np.asarray(two_sided)

    return probability


def discrete_laplace_probability(scale: float) -> Probabilities:
    """P(y) = tanh(1 / (2 scale)) exp(-|y| / scale)."""
    return lambda values: np.asarray(np.tanh(0.5 / scale) * np.exp(-np.abs(values) / scale))


def goodness_of_fit(draws: IntArray, probability: Probabilities, *, bins: int = 60) -> float:
    """Return the p-value of a chi-square test against exact probabilities, in bins that expect at least 10 draws."""
    reach = int(np.abs(draws).max()) + 1
    support = np.arange(-reach, reach + 1)
    inside = probability(support)
    # Equal-mass bins over the support seen; what lies beyond joins the outer ones.
    lower = np.concatenate([[0.0], np.cumsum(inside)[:-1]]) + (1 - inside.sum()) / 2
    owner = np.minimum((lower * bins).astype(int), bins - 1)
    expected = np.bincount(owner, weights=inside, minlength=bins)
    observed = np.bincount(owner[draws + reach], minlength=bins).astype(float)
    expected[0] += (1 - inside.sum()) / 2
    expected[-1] += (1 - inside.sum()) / 2
    order = np.argsort(expected)
    expected, observed = expected[order] * len(draws), observed[order]
    poor = np.cumsum(expected) < 10
    first = int(np.count_nonzero(poor))
    expected = np.concatenate([[expected[: first + 1].sum()], expected[first + 1 :]])
    observed = np.concatenate([[observed[: first + 1].sum()], observed[first + 1 :]])
    if len(expected) < 2:
        return 1.0
    statistic = float(np.sum((observed - expected) ** 2 / expected))
    return float(stats.chi2.sf(statistic, len(expected) - 1))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a ledger may lie."""
    return tmp_path / "budget.sqlite"


@pytest.fixture
def gaussian_law() -> Callable[[float], Probabilities]:
    return rounded_gaussian_probability


@pytest.fixture
def laplace_law() -> Callable[[float], Probabilities]:
    return discrete_laplace_probability


@pytest.fixture
def fit_of() -> Callable[..., float]:
    return goodness_of_fit


@pytest.fixture
def paid(monkeypatch: pytest.MonkeyPatch) -> Paid:
    """Every question that a vault answers, with the event that paid for it."""
    seen: Paid = []
    pay = Vault._pay

    def watched(vault: Vault, question: Question, cost: Cost) -> Event:
        event = pay(vault, question, cost)
        (purpose,) = {line["purpose"] for line in vault._account._store.lines() if line["kind"] == "reserve"}
        if purpose != "rehearsal":  # a fit with a tiny budget is tried out first, on no rows and with a ledger of its own
            seen.append((question, event))
        return event

    monkeypatch.setattr(Vault, "_pay", watched)
    return seen
