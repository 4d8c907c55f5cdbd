# SPDX-License-Identifier: Apache-2.0
"""Rows in the unit ball, pairs of them, radii that offsets are shortened to, and how much of their bounds answers reach."""

import math
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from cloister.columns import snap

RADII = (1e-9, 2.0**-20, 0.1, 0.3, 0.7071067811865476, 1.0, 3.99)


def clean_rows(generator, count, n_features):
    """Return rows in the unit ball, some of them on its surface."""
    rows = generator.normal(size=(count, n_features)) / n_features**0.5
    return np.trunc(rows / np.maximum(1, np.linalg.norm(rows, axis=1, keepdims=True)) * 2**20) / 2**20


def points_of(generator, count, n_features):
    return snap(generator.uniform(-0.3, 0.3, size=(count, n_features)) / n_features**0.5)


def near_the_radius(generator, rows, center, radius):
    """Return the rows, and others about a radius from the centre, or a step off."""
    directions = generator.normal(size=rows.shape)
    near = center + radius * directions / np.linalg.norm(directions, axis=1, keepdims=True)
    return np.vstack([rows, snap(near), snap(center + 0.999 * (near - center))])


def answer_in_any_blocks(question, rows):
    """Return the answer, which is the same for rows in one block and in several, and nothing for none."""
    whole = question.exact(rows)
    for pieces in (2, 5):
        assert np.array_equal(sum(question.exact(part) for part in np.array_split(rows, pieces)), whole)
    assert not question.exact(rows[:0]).any()
    return whole


def parts_of(moves, *, l1, l2):
    """Check that an answer moves within both bounds, in whole numbers; return the part of each that it reaches."""
    steps = [int(step) for step in moves[moves != 0]]
    absolute, squares = sum(abs(step) for step in steps), sum(step * step for step in steps)
    assert absolute <= l1
    assert squares <= Fraction(l2) ** 2
    return absolute / l1, math.sqrt(squares) / l2


def check_within(question, moves, relation):
    """Check that an answer moves within all three bounds."""
    parts = parts_of(moves, l1=question.l1_sensitivity(relation), l2=question.l2_sensitivity(relation))
    assert max(moves.max(), 0) - min(moves.min(), 0) <= question.span_sensitivity(relation)
    return parts


def parts_of_the_bounds(question, left, right, relation):
    """Check how far two answers lie apart, and return which part of the bounds they reach."""
    return check_within(question, question.exact(left) - question.exact(right), relation)


@st.composite
def pairs(draw):
    """Two rows in few or many columns: along axes, along diagonals, opposite, at right angles, or anyhow."""
    n_features = draw(st.sampled_from([1, 2, 3, 4, 16, 33]))
    entries = st.sampled_from([-1.0, 0.0, 1.0]) | st.floats(-1, 1)
    row = st.lists(entries, min_size=n_features, max_size=n_features)
    one, two = np.array(draw(row)), np.array(draw(row))
    if draw(st.booleans()):
        two = two - one * (two @ one) / max(one @ one, 1e-300)
    lengths = [draw(st.sampled_from([1e-3, 0.29, 0.5, 1.0])) / max(np.linalg.norm(row), 1e-300) for row in (one, two)]
    return snap(np.stack([one * lengths[0], two * lengths[1]]))
