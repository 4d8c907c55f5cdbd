# SPDX-License-Identifier: Apache-2.0
"""Spaces and steps for tests of algorithms, which get them from a plan otherwise."""

import numpy as np

from cloister.algorithms import Space
from cloister.columns import Ball, Box
from cloister.privacy import Query, Step

__all__ = ["ball", "box", "step_of"]


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
