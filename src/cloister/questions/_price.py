# SPDX-License-Identifier: Apache-2.0
"""What a question costs and how noisy its answer will be: the same arithmetic for a plan and for the vault."""

import math
from contextlib import suppress

from cloister.domain import Relation
from cloister.exceptions import ParameterError
from cloister.privacy import Cost, Event, Query, price, price_choice
from cloister.questions._base import Question

__all__ = ["deviation", "plan_query", "price_question"]


def price_question(question: Question, cost: Cost, relation: Relation, *, seeded: bool = False, step: str = "") -> Event:
    """Return the event that answers `question` at no more than `cost`."""
    about = {
        "question_name": question.name,
        "size": math.prod(question.shape),
        "unit": question.unit,
        "relation": relation,
        "seeded": seeded,
        "step": step,
    }
    if question.selects:
        return price_choice(cost, span=question.span_sensitivity(relation), **about)
    l1, l2 = question.l1_sensitivity(relation), question.l2_sensitivity(relation)
    return price(cost, l1=l1, l2=l2, **about)


def deviation(question: Question, cost: Cost, relation: Relation) -> float:
    """Return the standard deviation of the noise in each number of the answer, as the vault will draw it.

    Where the cost is too small for noise that can be drawn, what it would be.

    Examples
    --------
    >>> from cloister.privacy import GDP
    >>> from cloister.questions import RowCount
    >>> deviation(RowCount(), GDP(0.1), Relation.ADD_REMOVE)
    10.0
    """
    with suppress(ParameterError):
        return price_question(question, cost, relation).standard_deviation
    return cost.deviation(l1=question.l1_sensitivity(relation), l2=question.l2_sensitivity(relation)) * question.unit


def plan_query(
    step: str,
    name: str,
    question: Question,
    *,
    budget: Cost,
    share: float,
    relation: Relation,
    part: float = 1.0,
    row_share: float = 1.0,
) -> Query:
    """Return the query that asks `question`, or one of the same sensitivity, for a share of `part` of a fit's budget.

    With a `row_share` below 1 it is asked of a random sample of the rows. Cost and noise are the same: nothing is gained from
    sampling but time.
    """
    cost = budget.share(share)
    return Query(step, name, cost, part * share, deviation(question, cost, relation), row_share)
