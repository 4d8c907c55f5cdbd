# SPDX-License-Identifier: Apache-2.0
"""Whoever uses a guarantee, a cost or a mechanism asks it, and never which one it is: so one more is added in one place."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from cloister import GDP, ZCDP, ApproxDP, KMeans, PureDP
from cloister.columns import Relation
from cloister.exceptions import ParameterError
from cloister.privacy import KINDS, MECHANISMS, Composition, Cost, Entropy, Guarantee, Ledger, Receipt, Tally

from ._paid import event as paid

GUARANTEES = [PureDP(0.7), ApproxDP(0.7, 0.0), ApproxDP(0.7, 1e-6), ZCDP(0.1), GDP(0.6)]
COSTS = [PureDP(0.7), GDP(0.6)]


@pytest.mark.parametrize("guarantee", GUARANTEES, ids=str)
def test_strength_is_the_one_number_that_scales(guarantee: Guarantee) -> None:
    assert guarantee.strength == getattr(guarantee, guarantee.parameter)
    assert guarantee.with_strength(guarantee.strength) == guarantee
    weaker = guarantee.with_strength(2 * guarantee.strength)
    assert type(weaker) is type(guarantee)
    assert weaker.strength == 2 * guarantee.strength
    assert weaker.stated_delta == guarantee.stated_delta


@pytest.mark.parametrize("guarantee", GUARANTEES, ids=str)
def test_a_budget_for_noise_satisfies_the_guarantee(guarantee: Guarantee) -> None:
    budget = guarantee.noise_budget()
    assert isinstance(budget, PureDP if guarantee.is_pure else GDP)
    ledger = Ledger(guarantee)
    ledger.reserve(budget, purpose="all of it", relation=Relation.ADD_REMOVE)
    assert ledger.left == pytest.approx(0.0, abs=1e-4)
    assert guarantee.spent(Tally.of([budget]), Composition()) == pytest.approx(guarantee.strength)


@pytest.mark.parametrize("cost", COSTS, ids=str)
def test_weights_add_up_and_noise_falls_with_the_share(cost: Cost) -> None:
    assert sum(cost.share(part).weight for part in (0.2, 0.3, 0.5)) == pytest.approx(cost.weight)
    share = cost.share_for_noise(0.5)
    whole = cost.deviation(l1=3.0, l2=2.0)
    assert cost.share(share).deviation(l1=3.0, l2=2.0) == pytest.approx(2 * whole)
    event = paid(cost.share(1e-3), l1=3.0, l2=2.0)
    assert event.mechanism == cost.mechanism
    assert event.cost.is_gaussian == cost.is_gaussian
    assert event.standard_deviation == pytest.approx(cost.share(1e-3).deviation(l1=3.0, l2=2.0), rel=1e-3)


@pytest.mark.parametrize("cost", COSTS, ids=str)
def test_a_quantile_is_exceeded_as_often_as_it_says(cost: Cost, seed: int) -> None:
    event = paid(cost.share(1e-3), l1=3.0, l2=2.0, size=40_000, unit=0.5)
    noise = event.draw(Entropy(seed)) * event.unit
    assert np.mean(noise <= event.quantile(0.9)) == pytest.approx(0.9, abs=0.01)  # six standard deviations
    assert event.quantile(0.4) == 0.0


@dataclass(frozen=True)
class Half(GDP):
    """A guarantee as a stranger would add it: mu-GDP, counted in halves of mu."""

    kind: ClassVar[str] = "half"

    def gaussian_budget(self) -> GDP:
        return GDP(self.mu / 2)

    def spent(self, tally, composition) -> float:
        return 2 * tally.all_mu


def test_one_more_guarantee_works_wherever_a_guarantee_does(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="expected kind to be one of"):
        Receipt.from_dict({"guarantee": Half(1.0).to_dict(), "neighbours": "replace", "events": []})
    monkeypatch.setitem(KINDS, "half", Half)
    with Ledger.create(tmp_path / "budget.sqlite", Half(4.0)) as ledger:
        rows = np.linspace(0, 1, 100).reshape(-1, 2)
        model = KMeans(2, guarantee=Half(2.0), bounds=(0, 1), random_state=0, n_jobs=1, ledger=ledger).fit(rows)
        assert ledger.left == pytest.approx(math.sqrt(12.0), rel=1e-6)
    receipt = model.privacy_receipt_
    assert Receipt.from_dict(receipt.to_dict()) == receipt
    assert receipt.spent.describe(receipt.guarantee) == "mu 2"
    with Ledger.open(tmp_path / "budget.sqlite", Half(4.0)) as ledger:
        assert ledger.summary()["spent"] == "mu 2"


@pytest.mark.parametrize("scale", [1e3, 1e15, 1e16, 1e19, 1e150])
def test_the_deviation_of_a_large_scale_is_that_of_the_continuous_law(scale: float) -> None:
    assert MECHANISMS["discrete_laplace"].deviation(scale) == pytest.approx(math.sqrt(2) * scale, rel=0.2)
