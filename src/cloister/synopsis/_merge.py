# SPDX-License-Identifier: Apache-2.0
"""Two synopses as one: whether they fit together, and what their receipt is."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cloister import validate
from cloister.privacy import Receipt, StepRecord

if TYPE_CHECKING:
    from cloister.synopsis._synopsis import Synopsis


def refuse_other_grid(first: "Synopsis", second: "Synopsis") -> None:
    """Refuse synopses that cannot be added cell by cell."""
    one, other = first._index("merge"), second._index("merge")
    if one.split is not None or other.split is not None:
        rule, remedy = "grids that are not split", "Cells were split by different noise: merge what `coarse()` returns of both."
        validate.refuse("Synopsis.merge.other", rule, "an adaptive grid", remedy=remedy)
    if first.receipt.neighbours != second.receipt.neighbours:
        rule = "the same neighbouring relation"
        validate.refuse("Synopsis.merge.other", rule, second.receipt.neighbours, remedy="Fit anew.")
    same_box = one.box.to_dict() == other.box.to_dict()
    if not same_box or one.cells != other.cells or first.columns != second.columns:
        validate.refuse("Synopsis.merge.other", "the same box, cells and columns", other.cells, remedy="Fit both on one grid.")


def refuse_other_unit(first: Receipt, second: Receipt, *, same: bool) -> None:
    """Refuse receipts that protect different units, or count them differently; `same` is whether both are of one table."""
    one, other = first.privacy_unit, second.privacy_unit
    if one is None and other is None:
        return
    rule, remedy = "the same unit of privacy", "Fit both with the same privacy_unit and weighting."
    if one is None or other is None or one.name != other.name:
        validate.refuse("Synopsis.merge.other", rule, second.protects, remedy=remedy)
    if one.weighting != other.weighting:
        validate.refuse("Synopsis.merge.other", f"counts of {one.counted}", other.counted, remedy=remedy)
    # Of one table they would count different rows, so that their mean counts neither.
    bounds = [{fit.privacy_unit.max_rows for fit in receipt.fits if fit.privacy_unit} for receipt in (first, second)]
    if same and bounds[0] != bounds[1]:
        rule = f"at most {one.max_rows} rows of a person, as here"
        validate.refuse("Synopsis.merge.other", rule, other.max_rows, remedy="Fit both with the same max_rows_per_unit.")


def join(first: Receipt, second: Receipt, rows: str) -> Receipt:
    """Return the receipt of both, with what was said of both data sets and purposes as far as it fits into one line."""

    def both(one: str, other: str) -> str:
        words = "; ".join(dict.fromkeys(part for part in (one, other) if part))
        return words if len(words) <= validate.LONGEST_TEXT else words[: validate.LONGEST_TEXT - 3] + "..."

    dataset, purpose = both(first.dataset, second.dataset), both(first.purpose, second.purpose)
    return Receipt.cover((first, second), rows, dataset=dataset, purpose=purpose)


def join_steps(first: Sequence[StepRecord], second: Sequence[StepRecord]) -> tuple[StepRecord, ...]:
    """Return the steps of both, by name; of a step that both have, the figures that are the same."""
    others = {step.name: step for step in second}
    joined = []
    for step in first:
        figures = others.pop(step.name, step).figures
        joined.append(replace(step, figures={name: one for name, one in step.figures.items() if figures.get(name) == one}))
    return (*joined, *others.values())
