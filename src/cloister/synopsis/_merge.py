# SPDX-License-Identifier: Apache-2.0
"""Two synopses as one: whether they fit together, and what their receipt is."""

from dataclasses import replace
from typing import TYPE_CHECKING

from cloister import validate
from cloister.exceptions import ReleaseError
from cloister.privacy import GDP, PureDP, Receipt

if TYPE_CHECKING:
    from cloister.synopsis._synopsis import Synopsis

__all__ = ["join_disjoint", "join_same", "refuse_other_grid"]


def refuse_other_grid(first: "Synopsis", second: "Synopsis") -> None:
    """Refuse synopses that cannot be added cell by cell."""
    if first.receipt.neighbours != second.receipt.neighbours:
        rule = "the same neighbouring relation"
        validate.refuse("Synopsis.merge.other", rule, second.receipt.neighbours, remedy="Fit anew.")
    same_box = first.domain.to_dict() == second.domain.to_dict()
    if not same_box or first.cells != second.cells or first.columns != second.columns:
        validate.refuse("Synopsis.merge.other", "the same box, cells and columns", second.cells, remedy="Fit both on one grid.")


def join_same(first: Receipt, second: Receipt) -> Receipt:
    """One table counted twice: the events add up, and so does what they cost."""
    both = first.spent + second.spent
    guarantee = GDP(both.all_mu) if both.mu_squared else PureDP(both.epsilon_sum)
    joined = Receipt(guarantee=guarantee, neighbours=first.neighbours, events=first.events + second.events)
    return _stated(joined, first, second)


def join_disjoint(first: Receipt, second: Receipt) -> Receipt:
    """Tables that share no person: the weaker of the two guarantees holds for everybody (parallel composition)."""
    if first.seeded != second.seeded:  # the stamp of the one would be lost, and its rows with it
        raise ReleaseError("Synopsis.merge: one of the two is seeded, for tests only. Merge synopses of one kind.")
    for receipt, other in ((first, second), (second, first)):
        if other.spent.fits(receipt.guarantee):
            return _stated(receipt, first, second)
    raise ReleaseError(
        f"Synopsis.merge: neither {first.guarantee} nor {second.guarantee} covers both. Merge synopses of one guarantee."
    )


def _stated(joined: Receipt, first: Receipt, second: Receipt) -> Receipt:
    """Return a receipt with what was said of both data sets and purposes, as far as it fits into one line."""

    def both(one: str, other: str) -> str:
        words = "; ".join(dict.fromkeys(part for part in (one, other) if part))
        return words if len(words) <= validate.LONGEST_TEXT else words[: validate.LONGEST_TEXT - 3] + "..."

    dataset, purpose = both(first.dataset, second.dataset), both(first.purpose, second.purpose)
    return replace(joined, dataset=dataset, purpose=purpose, ledger=None)
