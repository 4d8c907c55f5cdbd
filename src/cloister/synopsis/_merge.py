# SPDX-License-Identifier: Apache-2.0
"""Two synopses as one: whether they fit together, and what their receipt is."""

from dataclasses import replace
from typing import TYPE_CHECKING

from cloister import validate
from cloister.domain import PrivacyUnit
from cloister.exceptions import ReleaseError
from cloister.privacy import GDP, PureDP, Receipt

if TYPE_CHECKING:
    from cloister.synopsis._synopsis import Synopsis

__all__ = ["join_disjoint", "join_same", "refuse_other_grid", "refuse_other_unit"]


def refuse_other_grid(first: "Synopsis", second: "Synopsis") -> None:
    """Refuse synopses that cannot be added cell by cell."""
    if first.split is not None or second.split is not None:
        rule, remedy = "grids that are not split", "Cells were split by different noise: merge what `coarse()` returns of both."
        validate.refuse("Synopsis.merge.other", rule, "an adaptive grid", remedy=remedy)
    if first.receipt.neighbours != second.receipt.neighbours:
        rule = "the same neighbouring relation"
        validate.refuse("Synopsis.merge.other", rule, second.receipt.neighbours, remedy="Fit anew.")
    same_box = first.domain.to_dict() == second.domain.to_dict()
    if not same_box or first.cells != second.cells or first.columns != second.columns:
        validate.refuse("Synopsis.merge.other", "the same box, cells and columns", second.cells, remedy="Fit both on one grid.")


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
    # Of one table they would count different rows, so that their mean counts neither. A bound that was stated says whom the
    # guarantee holds for, which one bound for both cannot.
    if (same or one.stated or other.stated) and one.max_rows != other.max_rows:
        rule = f"at most {one.max_rows} rows of a person, as here"
        validate.refuse("Synopsis.merge.other", rule, other.max_rows, remedy="Fit both with the same max_rows_per_unit.")


def join_same(first: Receipt, second: Receipt) -> Receipt:
    """One table counted twice: the events add up, and so does what they cost."""
    both = first.spent + second.spent
    guarantee = GDP(both.all_mu) if both.mu_squared else PureDP(both.epsilon_sum)
    events, privacy_unit = first.events + second.events, _joined_unit(first.privacy_unit, second.privacy_unit)
    joined = Receipt(guarantee=guarantee, neighbours=first.neighbours, events=events, privacy_unit=privacy_unit)
    return _stated(joined, first, second)


def join_disjoint(first: Receipt, second: Receipt) -> Receipt:
    """Tables that share no person: the weaker of the two guarantees holds for everybody (parallel composition)."""
    if first.seeded != second.seeded:  # the stamp of the one would be lost, and its rows with it
        raise ReleaseError("Synopsis.merge: one of the two is seeded, for tests only. Merge synopses of one kind.")
    for receipt, other in ((first, second), (second, first)):
        if other.spent.fits(receipt.guarantee):
            joined = replace(receipt, privacy_unit=_joined_unit(first.privacy_unit, second.privacy_unit))
            return _stated(joined, first, second)
    raise ReleaseError(
        f"Synopsis.merge: neither {first.guarantee} nor {second.guarantee} covers both. Merge synopses of one guarantee."
    )


def _joined_unit(first: PrivacyUnit | None, second: PrivacyUnit | None) -> PrivacyUnit | None:
    """Return persons of either table: with as many rows as any of them, which was stated if it was of one table."""
    if first is None or second is None or first.max_rows is None or second.max_rows is None:
        return first
    return replace(first, max_rows=max(first.max_rows, second.max_rows), stated=first.stated or second.stated)


def _stated(joined: Receipt, first: Receipt, second: Receipt) -> Receipt:
    """Return a receipt with what was said of both data sets and purposes, as far as it fits into one line."""

    def both(one: str, other: str) -> str:
        words = "; ".join(dict.fromkeys(part for part in (one, other) if part))
        return words if len(words) <= validate.LONGEST_TEXT else words[: validate.LONGEST_TEXT - 3] + "..."

    dataset, purpose = both(first.dataset, second.dataset), both(first.purpose, second.purpose)
    return replace(joined, dataset=dataset, purpose=purpose, ledger=None)
