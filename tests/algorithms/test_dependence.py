# SPDX-License-Identifier: Apache-2.0
"""What clusters explain of the dependence between columns: at most nothing where there is none, whatever units and weights."""

import numpy as np
import pytest

from cloister.algorithms import Measured, explained_dependence
from cloister.columns import Category, Flag, Number, Table

N_ROWS = 20_000


def score(columns, rows, labels, *, scaling="spread", error=0.0):
    """Return the score of a partition whose centres are known exactly."""
    table = Table(columns, (), np.array([np.nan if one.has_levels else 2.0 for one in columns]))
    frame = table.frame(scaling=scaling)
    clean = frame.clean(rows)
    counts = np.bincount(labels).astype(float)
    centers = np.stack([clean[labels == label].mean(axis=0) for label in range(len(counts))])
    return explained_dependence(
        frame,
        centers,
        errors=np.full(len(counts), error),
        counts=counts,
        total=Measured(clean.var(axis=0), 1e-9),
        within=Measured(np.mean((clean - centers[labels]) ** 2, axis=0), 1e-9),
    )


@pytest.fixture
def independent(generator):
    """Two normal numbers, a category and a flag that have nothing to do with each other."""
    numbers = generator.normal(0, 1, (N_ROWS, 2))
    return np.column_stack([numbers, generator.integers(0, 4, N_ROWS), generator.integers(0, 2, N_ROWS)])


COLUMNS = (Number(-8, 8), Number(-8, 8), Category(list("abcd")), Flag())


@pytest.mark.parametrize("column", [0, 1, 2, 3])
def test_independent_columns_are_not_explained_however_they_are_cut(column, independent):
    values = independent[:, column]
    labels = values.astype(int) if column > 1 else np.digitize(values, [-0.5, 0.5])
    assert score(COLUMNS, independent, labels) < 0.01


def test_two_columns_cut_together_explain_no_more_than_each(independent):
    labels = (2 * independent[:, 3] + (independent[:, 2] > 1)).astype(int)
    assert score(COLUMNS, independent, labels) < 0.01


def test_groups_are_explained_by_the_columns_that_tell_them(independent, generator):
    group = generator.integers(0, 2, N_ROWS)
    of_numbers, of_levels = independent.copy(), independent.copy()
    of_numbers[:, :2] += 4 * group[:, None]
    of_levels[:, 2:] = np.where(generator.random((N_ROWS, 2)) < 0.9, group[:, None], independent[:, 2:])
    for rows, wrong in ((of_numbers, independent[:, 3]), (of_levels, independent[:, 0] > 0)):
        assert score(COLUMNS, rows, group) > 0.2
        assert score(COLUMNS, rows, group) > score(COLUMNS, rows, wrong.astype(int)) + 0.2


def test_heaps_in_a_single_column_count(generator):
    group = generator.integers(0, 3, N_ROWS)
    rows = np.column_stack([generator.normal(5 * group - 5, 0.3), generator.integers(0, 2, N_ROWS)])
    assert score((Number(-8, 8), Flag()), rows, group) > 0.5


def test_units_and_weights_do_not_matter(independent, generator):
    group = generator.integers(0, 2, N_ROWS)
    independent[:, 0] += 4 * group
    heavy = (Number(-8, 8, weight=3), COLUMNS[1], Category(list("abcd"), weight=0.1), Flag(weight=5))
    scores = [score(columns, independent, group, scaling=one) for columns in (COLUMNS, heavy) for one in ("spread", "bounds")]
    assert scores == pytest.approx(scores[:1] * 4, abs=1e-3)


def test_what_may_be_noise_explains_nothing(independent):
    labels = (independent[:, 3]).astype(int)
    assert score(COLUMNS, independent, labels, error=1.0) == pytest.approx(-np.log(2), abs=0.01)
