# SPDX-License-Identifier: Apache-2.0
"""The terms of a budget: its total, its relation, how costs add up; checked, and written as a ledger's first line."""

from typing import Any, TypedDict

from cloister import validate
from cloister.columns import WEIGHTINGS, Relation
from cloister.privacy._accounting import Composition
from cloister.privacy._convert import as_guarantee, names_of_guarantees
from cloister.privacy._events import LINE_VERSION, today
from cloister.privacy._guarantees import Guarantee

__all__ = ["UNITS", "Terms", "first_line", "given_terms"]

UNITS = WEIGHTINGS  # what a budget protects: a row or a person


class Terms(TypedDict, total=False):
    """What a budget is granted for, as parameters of a ledger."""

    epsilon: float | None
    delta: float | None
    neighbours: str
    unit: str
    name: str
    planned: bool
    pure_epsilon: float


def first_line(
    budget: Guarantee | None,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    neighbours: str = "add-remove",
    unit: str = "row",
    name: str = "",
    planned: bool = False,
    pure_epsilon: float = 0.0,
) -> dict[str, Any]:
    """Return the first line of a ledger: the terms of its budget, checked."""
    total = _total(budget, epsilon, delta)
    composition = Composition(
        planned=validate.boolean("Ledger.planned", planned), pure_epsilon=_set_aside(total, pure_epsilon, planned=planned)
    )
    return {
        "v": LINE_VERSION,
        "kind": "budget",
        "budget": total.to_dict(),
        "neighbours": Relation.parse("Ledger.neighbours", neighbours).value,
        "unit": _read_unit(unit),
        "name": str(name),
        "planned": composition.planned,
        "pure_epsilon": composition.pure_epsilon,
        "when": today(),
    }


def given_terms(
    budget: Guarantee | None,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    neighbours: str | None = None,
    unit: str | None = None,
    name: str | None = None,
    planned: bool | None = None,
    pure_epsilon: float | None = None,
) -> dict[str, Any]:
    """Return what the caller expects of a ledger that exists; what is left out may be anything."""
    wanted = {
        "budget": None if budget is None and epsilon is None else _total(budget, epsilon, delta),
        "neighbours": None if neighbours is None else Relation.parse("Ledger.neighbours", neighbours).value,
        "unit": None if unit is None else _read_unit(unit),
        "name": name,
        "planned": None if planned is None else validate.boolean("Ledger.planned", planned),
        "pure_epsilon": pure_epsilon,
    }
    return {word: value for word, value in wanted.items() if value is not None}


def _read_unit(unit: object) -> str:
    return validate.one_of("Ledger.unit", unit, UNITS, remedy="Pass what one fit must not give away: a row, or a person.")


def _total(budget: Guarantee | None, epsilon: float | None, delta: float | None) -> Guarantee:
    if budget is not None:
        if epsilon is not None or delta is not None:
            validate.refuse("Ledger.budget", "either budget or epsilon and delta", budget, remedy="Leave one of them out.")
        if not isinstance(budget, Guarantee):
            validate.refuse("Ledger.budget", names_of_guarantees(), budget, remedy="Pass epsilon= and delta=.")
        return budget
    if epsilon is None:
        validate.refuse("Ledger.epsilon", "a total to spend", None, remedy="Pass epsilon= and delta=, or budget=.")
    return as_guarantee("Ledger", epsilon, 0.0 if delta is None else delta)


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
