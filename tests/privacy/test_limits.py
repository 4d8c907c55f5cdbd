# SPDX-License-Identifier: Apache-2.0
"""A budget holds to the millionth: all of it may be spent, in one fit or in many, and not a millionth more."""

import math
from pathlib import Path

import pytest

from cloister import GDP, ZCDP, ApproxDP, Ledger, PureDP
from cloister.exceptions import BudgetExceeded, LedgerError
from cloister.privacy import Cost, Guarantee, Tally
from cloister.privacy._ledger_store import LedgerStore

from ._paid import reserve

HAIR = 1e-6
LIMITS: list[tuple[Guarantee, Cost]] = [
    (PureDP(0.7), PureDP(0.7)),
    (ApproxDP(0.7, 1e-6), PureDP(0.7)),
    (ApproxDP(0.7, 1e-6), ApproxDP(0.7, 1e-6).gaussian_budget()),
    (ApproxDP(8.0, 1e-9), ApproxDP(8.0, 1e-9).gaussian_budget()),
    (ZCDP(0.08), GDP(0.4)),
    (ZCDP(0.08), PureDP(0.4)),
    (GDP(0.9), GDP(0.9)),
    (GDP(0.9), GDP(0.9).pure_budget()),
]


def adds_up(budget: Guarantee, whole: Cost) -> bool:
    """Whether shares of a cost, or their squares, add up; those of a pure cost in a GDP budget have no such formula."""
    return not (isinstance(budget, GDP) and isinstance(whole, PureDP))


@pytest.mark.parametrize(
    ("budget", "whole", "parts"),
    [(budget, whole, parts) for budget, whole in LIMITS for parts in (1, 3) if parts == 1 or adds_up(budget, whole)],
    ids=str,
)
def test_a_budget_is_exceeded_by_a_millionth(budget: Guarantee, whole: Cost, parts: int) -> None:
    linear = isinstance(whole, PureDP) and not isinstance(budget, ZCDP | GDP)
    share = 1 / parts if linear else 1 / math.sqrt(parts)
    part, more = (whole.with_strength(whole.strength * share * (1 + change)) for change in (-1e-9, HAIR))
    for costs, fits in (([part] * parts, True), ([part] * (parts - 1) + [more], False)):
        ledger = Ledger(budget)
        for cost in costs[:-1]:
            reserve(ledger, cost)
        assert Tally.of(costs).fits(budget) is fits
        if fits:
            reserve(ledger, costs[-1])
        else:
            with pytest.raises(BudgetExceeded, match=r"Ledger\.reserve: this fit costs"):
                reserve(ledger, costs[-1])
            assert len(ledger.lines) == parts


def test_a_ledger_that_appears_while_another_is_made_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, write = tmp_path / "budget.sqlite", LedgerStore.write_first

    def overtaken(self: LedgerStore, first: dict[str, object]) -> None:
        write(self, first)
        monkeypatch.setattr(LedgerStore, "write_first", write)
        with Ledger.create(path, GDP(0.5)) as other:
            reserve(other, GDP(0.4))

    monkeypatch.setattr(LedgerStore, "write_first", overtaken)
    with pytest.raises(LedgerError, match=r"Ledger\.create: there is a file 'budget\.sqlite' already"):
        Ledger.create(path, GDP(1.0))
    with Ledger.open(path) as ledger:
        assert ledger.budget == GDP(0.5)
        assert ledger.spent.mu == pytest.approx(0.4)
    assert [file.name for file in tmp_path.iterdir() if file.suffix != ".lease"] == ["budget.sqlite"]
