# SPDX-License-Identifier: Apache-2.0
"""Spaces and steps for tests of algorithms, which get them from a plan otherwise."""

import numpy as np

from cloister.algorithms import Space
from cloister.columns import Ball, Box, Relation, snap
from cloister.privacy import PureDP, Query, Step, price
from cloister.questions import Answer

ADD_REMOVE = Relation.ADD_REMOVE


def ball(dimension, projection=None):
    """Return the space of a unit ball, or of a projection of it."""
    return Space(Ball(1.0, np.zeros(dimension)).frame(), projection)


def box(half_widths):
    """Return the space of a box with these half widths in the unit ball, to which they are scaled."""
    high = np.asarray(half_widths, dtype=float)
    return Space(Box(-high, high).frame())


def step_of(name, cost, *queries, n_points=1, sigma=0.0):
    """Return a step whose questions cost the same each."""
    made = tuple(Query(name, query, cost, 0.1, sigma) for query in queries)
    return Step(name=name, purpose="to test", n_points=n_points, queries=made)


def exact_ask(rows, *, questions=None):
    """Return an `ask` without noise, which notes the questions: the true numbers, and where the lowest cost stands."""

    def answer(question, cost):
        if isinstance(question, tuple):
            return tuple(answer(*each) for each in zip(question, cost, strict=True))
        if questions is not None:
            questions.append(question)
        exact = question.exact(snap(rows))
        common = {"question_name": question.name, "size": exact.size, "relation": ADD_REMOVE, "seeded": False, "unit": 1.0}
        if question.selects:
            place = np.unravel_index(int(np.argmin(exact)), exact.shape)
            return Answer(np.array(place, dtype=float), price(cost, span=1.0, **common))
        return Answer(exact * question.unit, price(PureDP(1e6), l1=1.0, l2=1.0, **common))

    return answer
