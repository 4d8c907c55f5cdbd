# SPDX-License-Identifier: Apache-2.0
"""The solver: k-medoids with free centres, by the laws that any such search obeys."""

from itertools import combinations

import kmedoids
import numpy as np
import pytest
from benchmarks.solver import over_optimum
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import pairwise_distances
from tests.examples import examples

from cloister.algorithms import choose_medoids

CLOSE = 1e-5  # single-precision distances, added up in double precision


def cost_of(table, chosen, caps=None, weights=None):
    """The cost by its definition."""
    nearest = table[np.asarray(chosen)].min(axis=0)
    nearest = nearest if caps is None else np.minimum(nearest, caps)
    return float(np.average(nearest, weights=weights))


def optimum(table, k, caps=None, weights=None):
    return min(cost_of(table, chosen, caps, weights) for chosen in combinations(range(len(table)), k))


@st.composite
def problems(draw):
    """Small problems: points in the plane, on a grid coarse enough for ties and duplicates, some with caps and weights."""
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    size = draw(st.integers(2, 14))
    points = generator.integers(0, draw(st.sampled_from([2, 6, 1000])), (size, 2)).astype(float)
    table = pairwise_distances(points)
    caps = draw(st.sampled_from([None, "some", "all", "zero"]))
    drawn = generator.uniform(0, table.max() + 0.1, size)
    caps = {None: None, "all": drawn, "some": np.where(generator.random(size) < 0.5, drawn, np.inf), "zero": 0 * drawn}[caps]
    weights = generator.integers(1, 5, size).astype(float) if draw(st.booleans()) else None
    return table, draw(st.integers(1, size)), caps, weights


@examples(150)
@given(problem=problems(), seed=st.integers(0, 99))
def test_the_outcome_is_a_local_optimum_with_the_cost_it_claims(problem, seed):
    table, k, caps, weights = problem
    found = choose_medoids(table, k, generator=np.random.default_rng(seed), caps=caps, weights=weights)
    assert len(set(found.indices.tolist())) == len(found.indices) == k
    assert found.indices.tolist() == sorted(found.indices)
    assert found.cost == pytest.approx(cost_of(table, found.indices, caps, weights), rel=CLOSE, abs=CLOSE)
    for out in found.indices:
        for one in range(len(table)):
            swapped = [one, *(other for other in found.indices if other != out)]
            assert cost_of(table, swapped, caps, weights) >= found.cost - CLOSE * (1 + table.max())
    assert optimum(table, 1, caps, weights) >= found.cost - CLOSE * (1 + table.max())
    if caps is not None:
        assert found.cost <= np.average(np.minimum(caps, table.max()), weights=weights) + CLOSE


def test_small_problems_with_free_centres_are_solved_nearly_at_best(seed):
    ratios = over_optimum(60, 3, seed=seed)
    assert ratios.min() >= 1 - CLOSE
    assert ratios.mean() <= 1.03
    assert np.mean(ratios < 1 + CLOSE) >= 0.6


def test_more_restarts_are_never_worse(generator):
    table = pairwise_distances(generator.normal(size=(80, 3)))
    costs, seen = [], []
    for count in (1, 2, 5):
        watched = {"restarts": count, "watch": lambda: seen.append(1)}
        costs.append(choose_medoids(table, 7, generator=np.random.default_rng(1), **watched).cost)
    assert costs == sorted(costs, reverse=True)
    assert len(seen) >= 8, "every pass is watched"


def test_a_point_with_its_own_centre_attracts_nobody(generator):
    points = np.vstack([generator.normal(0, 1, (50, 2)), generator.normal(100, 1, (50, 2))])
    table = pairwise_distances(points)
    caps = np.concatenate([np.full(50, np.inf), np.full(50, 0.1)])
    assert (choose_medoids(table, 3, generator=generator, caps=caps).indices < 50).all()


def test_weights_are_repetitions(generator):
    points = generator.normal(size=(30, 2))
    weights = generator.integers(1, 6, 30)
    table = pairwise_distances(points)
    weighed = choose_medoids(table, 4, generator=generator, weights=weights.astype(float), restarts=8)
    repeated = choose_medoids(np.repeat(table, weights, axis=1), 4, generator=generator, restarts=8)
    assert weighed.cost == pytest.approx(repeated.cost, rel=0.02)
    assert weighed.cost == pytest.approx(cost_of(np.repeat(table, weights, axis=1), weighed.indices), rel=CLOSE)


def test_candidates_need_not_be_the_points(generator):
    table = pairwise_distances(generator.normal(size=(6, 2)), generator.normal(size=(40, 2)))
    found = choose_medoids(table, 2, generator=generator, restarts=4)
    assert found.cost == pytest.approx(optimum(table, 2), rel=CLOSE)


@pytest.mark.parametrize("k", [3, 20])
def test_without_caps_it_is_as_good_as_fasterpam(k, generator):
    table = pairwise_distances(generator.normal(size=(600, 4))).astype(np.float32)
    ours = np.mean([choose_medoids(table, k, generator=generator).cost for _ in range(5)])
    theirs = np.mean([kmedoids.fasterpam(table, k, random_state=run, n_cpu=1).loss / 600 for run in range(5)])
    assert ours <= 1.01 * theirs
