# SPDX-License-Identifier: Apache-2.0
"""The terms of a budget: its total, its relation, how costs add up; checked, and written as a ledger's first line."""

from typing import Any

from cloister import validate
from cloister.domain import Relation
from cloister.privacy._accounting import Composition
from cloister.privacy._convert import as_guarantee
from cloister.privacy._events import LINE_VERSION, today
from cloister.privacy._guarantees import Guarantee, names_of_guarantees

__all__ = ["first_line", "total_of"]


def total_of(budget: Guarantee | None, epsilon: float | None, delta: float | None) -> Guarantee:
    if budget is not None:
        if epsilon is not None or delta is not None:
            validate.refuse("Ledger.budget", "either budget or epsilon and delta", budget, remedy="Leave one of them out.")
        if not isinstance(budget, Guarantee):
            validate.refuse("Ledger.budget", names_of_guarantees(), budget, remedy="Pass epsilon= and delta=.")
        return budget
    if epsilon is None:
        validate.refuse("Ledger.epsilon", "a total to spend", None, remedy="Pass epsilon= and delta=, or budget=.")
    return as_guarantee("Ledger", epsilon, 0.0 if delta is None else delta)


def first_line(budget: Guarantee, neighbours: str, name: str, *, planned: bool, pure_epsilon: float) -> dict[str, Any]:
    composition = Composition(
        planned=validate.boolean("Ledger.planned", planned), pure_epsilon=_set_aside(budget, pure_epsilon, planned=planned)
    )
    return {
        "v": LINE_VERSION,
        "kind": "budget",
        "budget": budget.to_dict(),
        "neighbours": Relation.parse("Ledger.neighbours", neighbours).value,
        "name": str(name),
        "planned": composition.planned,
        "pure_epsilon": composition.pure_epsilon,
        "when": today(),
    }


def _set_aside(budget: Guarantee, pure_epsilon: float, *, planned: bool) -> float:
    """Check the part of the budget that is set aside for pure fits."""
    where, part = "Ledger.pure_epsilon", validate.number("Ledger.pure_epsilon", pure_epsilon, low=0.0)
    if not part:
        return part
    if not budget.stated_delta:
        validate.refuse(where, "0 unless the budget is (epsilon, delta)", pure_epsilon, remedy="Leave it out.")
    if part >= budget.strength:
        validate.refuse(where, f"less than the whole epsilon of {budget.strength:g}", pure_epsilon, remedy="Set less aside.")
    if planned:
        validate.refuse(where, "0 if planned=True", pure_epsilon, remedy="Leave one of them out.")
    return part
