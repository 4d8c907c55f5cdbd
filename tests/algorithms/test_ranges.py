# SPDX-License-Identifier: Apache-2.0
"""Bounds that nobody knows: whatever the answers are, an interval comes out; where rows stand out of the noise, theirs."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

from cloister.algorithms import N_LOOKS, find_ranges
from cloister.algorithms._ranges import UNKNOWN
from cloister.cluster import Request, plan_first
from cloister.columns import Box, Neighbours, Number, Relation, Table
from cloister.privacy import GDP, Entropy, PureDP
from cloister.questions import Answer, ColumnIntervals, ColumnMagnitudes, price_question

N_ROWS, BUDGET = 5000, GDP(2.0)


def steps_for(known, guarantee=BUDGET, *, share=0.05):
    """Return the steps of a fit that looks for the bounds of some columns and the spread of the others."""
    domain = Table(tuple(Number("private") if pair is None else Number(*pair) for pair in known.values()))
    request = Request(
        n_clusters=1,
        guarantee=guarantee,
        cost=guarantee.noise_budget(),
        relation=Neighbours(Relation.ADD_REMOVE),
        n_rows=N_ROWS,
        entropy=Entropy(0),
    )
    options = {"scaling": "spread", "n_rows": None, "counts": False, "bounds_share": share, "cells": False}
    return plan_first(request, domain, **options).ranges


class Told:
    """An `ask` that answers with what `answers` makes of a question, and remembers it."""

    def __init__(self, answers):
        self.answers, self.asked = answers, []

    def __call__(self, question, query):
        self.asked.append(question)
        event = price_question(question, query.cost, Relation.ADD_REMOVE, seeded=True, step=query.step)
        return Answer(np.asarray(self.answers(question, event), dtype=float).reshape(question.shape), event)


def noisy(rows, seed):
    """Return an `ask` about raw rows."""
    entropy = Entropy(seed)
    return Told(lambda question, event: question.exact(rows) + event.draw(entropy).reshape(question.shape))


def check(found, known):
    """What is found can be used as bounds and as a spread, always."""
    assert set(found) == set(known)
    for one in found.values():
        assert -math.inf < one.low < one.high < math.inf
        assert 0 < one.spread < math.inf
    for index, pair in known.items():
        assert pair is None or max(found[index].low, pair[0]) < min(found[index].high, pair[1])
    bounds = {index: (found[index].low, found[index].high) for index, pair in known.items() if pair is None}
    domain = Table(tuple(Number("private") if pair is None else Number(*pair) for pair in known.values()))
    spreads = np.array([found[index].spread for index in known])
    frame = domain.with_bounds(bounds, spreads).frame(scaling="spread")
    clean = frame.clean(np.array([[math.nan] * len(known), [1e300] * len(known), [0.0] * len(known)]))
    assert np.isfinite(clean).all()


# -- whatever the answers are ----------------------------------------------------------------------------------------------

STEPS = steps_for({0: None, 1: None, 2: (-3.0, 8.0)})
PEAKS = st.lists(st.tuples(st.integers(0, 400), st.floats(-1e15, 1e15)), max_size=6)


@examples(80)
@given(
    st.lists(PEAKS, min_size=1, max_size=10), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 1.0, 30.0, 1e6]), st.booleans()
)
def test_no_answer_makes_it_fail(peaks, seed, noise, known_rows):
    generator, turn = np.random.default_rng(seed), iter(peaks * N_LOOKS)

    def answers(question, event):
        counts = np.zeros(question.shape) + noise * generator.standard_normal(question.shape)
        for column in counts:
            for place, height in next(turn, ()):
                column[place % len(column)] += height
        return counts

    known = {0: None, 1: None, 2: (-3.0, 8.0)}
    ask = Told(answers)
    check(find_ranges(ask, STEPS, known, n_rows=float(N_ROWS) if known_rows else None), known)
    assert len(ask.asked) <= 1 + N_LOOKS


@pytest.mark.parametrize("guarantee", [GDP(1.0), PureDP(1.0)], ids=lambda one: one.kind)
def test_where_nothing_stands_out_the_stated_interval_is_used(guarantee, seed):
    """With a chance of a thousandth noise alone stands out."""
    known = {0: None, 1: None}
    for rows in (np.empty((0, 2)), np.full((N_ROWS, 2), math.nan), np.array([[3.0, 1e9]])):
        ask = noisy(rows, seed)
        found = find_ranges(ask, steps_for(known, guarantee), known)
        assert [(one.low, one.high, one.seen) for one in found.values()] == [(*UNKNOWN, False)] * 2
        assert len(ask.asked) == 1  # nothing is looked at closer
        check(found, known)


# -- where the rows are ----------------------------------------------------------------------------------------------------


def columns(generator):
    """Columns from a thousandth to a billion wide, around zero and far from it."""
    even, normal = generator.random((N_ROWS, 20)), generator.normal(size=(N_ROWS, 20))
    return {
        "a thousandth": 1e-3 * even[:, 0],
        "a billion": 1e9 * even[:, 1],
        "negative": -40 - 2 * even[:, 2],
        "around zero": normal[:, 3],
        "one in a million": 1e6 + even[:, 4],
        "one in minus a million": -1e6 + even[:, 5],
        "a thousand in a billion": 1e9 + 1e3 * even[:, 6],
        "years": 1900 + 125 * even[:, 7],
        "a hundred millions apart": np.where(even[:, 8] < 0.5, 0.0, 1e8) + normal[:, 9],
    }


@pytest.mark.parametrize("guarantee", [GDP(2.0), PureDP(30.0)], ids=lambda one: one.kind)
@pytest.mark.parametrize("known_rows", [True, False])
def test_bounds_hold_the_rows_and_not_much_more(guarantee, known_rows, generator, seed):
    table = columns(generator)
    known = dict.fromkeys(range(len(table)))
    rows = np.column_stack(list(table.values()))
    found = find_ranges(noisy(rows, seed), steps_for(known, guarantee), known, n_rows=float(N_ROWS) if known_rows else None)
    check(found, known)
    for (name, values), one in zip(table.items(), found.values(), strict=True):
        inside = np.mean((values >= one.low) & (values <= one.high))
        assert one.seen, name
        assert inside > 0.97, name
        assert one.high - one.low < 6 * np.ptp(np.quantile(values, [0.02, 0.98])), name
        assert 0.4 < one.spread / np.std(values) < 2.5, name


def test_a_few_rows_far_out_are_left_outside(generator, seed):
    rows = generator.normal(50, 5, (N_ROWS, 1))
    rows[:3] = [[1e12], [-1e30], [math.inf]]
    (found,) = find_ranges(noisy(rows, seed), steps_for({0: None}), {0: None}).values()
    assert -100 < found.low < 40
    assert 60 < found.high < 200


def test_constant_columns_and_columns_of_zeros_are_found(seed):
    rows = np.tile([0.0, 7.25, -1e9, 1e-12], (N_ROWS, 1))
    known = dict.fromkeys(range(4))
    found = find_ranges(noisy(rows, seed), steps_for(known), known)
    check(found, known)
    for value, one in zip(rows[0], found.values(), strict=True):
        assert one.low <= value <= one.high
        assert one.high - one.low <= max(1e-4 * abs(value), 1e-4)


@pytest.mark.parametrize("n_far", [100, 500])
def test_small_clusters_far_away_are_kept(n_far, generator, seed):
    """What noise does not hide stays inside: 2 % of the rows, far from the others, where the noise is 0.1 %."""
    rows = np.concatenate([generator.normal(0, 1, N_ROWS - n_far), generator.normal(400, 1, n_far)])[:, None]
    (found,) = find_ranges(noisy(rows, seed), steps_for({0: None}), {0: None}, n_rows=float(N_ROWS)).values()
    cut_off = np.mean((rows < found.low) | (rows > found.high))
    assert cut_off <= 0.025 if n_far == 100 else cut_off == 0


@pytest.mark.parametrize("odd", [0.0, 0.002, 0.05])
def test_the_spread_of_known_bounds_is_that_of_the_rows_inside(odd, generator, seed):
    """No column has values a thousand spreads away: rows outside of what is looked at count, or the bounds are narrowed."""
    values = np.where(generator.random(N_ROWS) < odd, generator.uniform(0, 1e6, N_ROWS), 5.0)
    (found,) = find_ranges(
        noisy(values[:, None], seed), steps_for({0: (0.0, 1e6)}), {0: (0.0, 1e6)}, n_rows=float(N_ROWS)
    ).values()
    low, high = (found.low, found.high) if found.narrowed else (0.0, 1e6)
    assert found.narrowed or odd > 0
    assert (high - low) / found.spread < 200
    if odd == 0.05:
        assert not found.narrowed
        assert found.spread == pytest.approx(np.std(values), rel=0.3)


def test_missing_values_do_not_matter(generator, seed):
    rows = generator.uniform(10, 20, (N_ROWS, 2))
    rows[generator.random((N_ROWS, 2)) < 0.5] = math.nan
    known = {0: None, 1: None}
    for one in find_ranges(noisy(rows, seed), steps_for(known), known, n_rows=float(N_ROWS)).values():
        assert 0 <= one.low < 10.5
        assert 19.5 < one.high < 40


def test_known_bounds_stay_and_their_spread_is_found(generator, seed):
    rows = np.column_stack([generator.normal(30, 2, N_ROWS), generator.uniform(0, 100, N_ROWS)])
    known = {0: (0.0, 100.0), 1: (0.0, 100.0)}
    ask = noisy(rows, seed)
    found = find_ranges(ask, steps_for(known), known)
    assert not any(isinstance(question, ColumnMagnitudes) for question in ask.asked)
    assert found[0].spread == pytest.approx(2.0, rel=0.5)
    assert found[1].spread == pytest.approx(100 * 12**-0.5, rel=0.2)


def test_columns_that_are_fine_enough_are_not_looked_at_again(generator, seed):
    rows = np.column_stack([generator.random(N_ROWS), 1e9 + generator.random(N_ROWS)])
    ask = noisy(rows, seed)
    find_ranges(ask, steps_for({0: None, 1: None}), {0: None, 1: None})
    looks = [question.columns for question in ask.asked if isinstance(question, ColumnIntervals)]
    assert looks[0] == (0, 1)
    assert looks[-1] == (1,)
    assert len(looks) <= N_LOOKS


def test_steps_are_those_that_may_be_asked():
    private, known = steps_for({0: None, 1: (0.0, 1.0)}), steps_for({0: (0.0, 1.0)})
    assert [step.name for step in private] == ["magnitudes", *(f"intervals {number + 1}" for number in range(N_LOOKS))]
    assert [step.name for step in known] == [f"intervals {number + 1}" for number in range(N_LOOKS)]
    for steps in (private, known):
        assert math.fsum(step.share for step in steps) == pytest.approx(0.05)


def test_nothing_is_asked_where_nothing_is_to_be_found():
    request = SimpleNamespace(cost=GDP(1.0), relation=Neighbours(Relation.ADD_REMOVE))
    options = {"n_rows": None, "counts": False, "bounds_share": 0.05, "cells": False}
    for domain in (Box(0, 1).spread(2), Table((Number(0, 1),))):
        first = plan_first(request, domain, scaling="bounds", **options)
        assert (first.ranges, first.steps, first.share) == ((), (), 0.0)
