# SPDX-License-Identifier: Apache-2.0
"""What a question costs and how noisy its answer will be: the same arithmetic for a plan and for the vault."""

import math
from collections.abc import Callable
from contextlib import suppress

from cloister.columns import Neighbours, Relation, as_neighbours
from cloister.exceptions import ParameterError
from cloister.privacy import Cost, Event, Query, price
from cloister.questions._base import Question

LARGEST_EXACT = 2**53


def price_question(
    question: Question, cost: Cost, relation: Relation | Neighbours, *, seeded: bool = False, step: str = ""
) -> Event:
    """Return the event that answers `question` at no more than `cost`."""
    near = as_neighbours(relation)
    moves = {"span": _largest(question, question.span_sensitivity, near)} if question.selects else sensitivities(question, near)
    return price(
        cost,
        question_name=question.name,
        size=math.prod(question.shape),
        unit=step_of(question, near),
        relation=near.relation,
        seeded=seeded,
        step=step,
        **moves,
    )


def sensitivities(question: Question, relation: Relation | Neighbours) -> dict[str, float]:
    """Return how far the answer moves between neighbours, at most, in l1 and in l2, in its integer steps."""
    near = as_neighbours(relation)
    return {"l1": _largest(question, question.l1_sensitivity, near), "l2": _largest(question, question.l2_sensitivity, near)}


def step_of(question: Question, near: Neighbours) -> float:
    """Return what one integer step of the answer is worth: less where rows have weights."""
    return question.unit if near.privacy_unit is None else question.unit / question.person_steps(near.privacy_unit)


def _largest(question: Question, of_a_row: Callable[[Relation], float], near: Neighbours) -> float:
    """Return the largest move between neighbours, for a bound on what one row can do.

    Persons who replace one another may have different numbers of rows, so that some of these come or go.
    """
    if near.privacy_unit is None:
        return of_a_row(near.relation)
    row = max(of_a_row(Relation.ADD_REMOVE), of_a_row(near.relation))
    factor = question.person_factor(near.privacy_unit)
    is_exact = row.is_integer() and factor * row < LARGEST_EXACT
    return factor * row if is_exact or factor == 1 else math.nextafter(factor * row, math.inf)


def deviation(question: Question, cost: Cost, relation: Relation | Neighbours) -> float:
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
    return cost.deviation(**sensitivities(question, relation)) * step_of(question, as_neighbours(relation))


def plan_query(
    step: str,
    name: str,
    question: Question,
    *,
    budget: Cost,
    share: float,
    relation: Relation | Neighbours,
    part: float = 1.0,
    row_share: float = 1.0,
) -> Query:
    """Return the query that asks `question`, or one of the same sensitivity, for a share of `part` of a fit's budget.

    With a `row_share` below 1 it is asked of a random sample of the rows. Cost and noise are the same: nothing is gained from
    sampling but time.
    """
    cost = budget.share(share)
    return Query(step, name, cost, part * share, deviation(question, cost, relation), row_share)
