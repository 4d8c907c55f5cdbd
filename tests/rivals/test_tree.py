# SPDX-License-Identifier: Apache-2.0
"""TreeKMeans: what its questions mean, how cubes are divided and centres swapped, what a fit spends, and k centres always."""

import itertools
import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from cloister import Ball, Box, Ledger, PureDP
from cloister.columns import Relation, snap
from cloister.exceptions import ParameterError
from cloister.report import report_html
from cloister.rivals import CubeCounts, SetCosts, SwapCosts, TreeKMeans
from cloister.rivals import _tree as tree_room
from cloister.rivals._questions import LARGEST_CHOICE
from cloister.rivals._tree import divide_cubes, local_search, noisy_averages

from ..steps import ball, exact_ask

MIDDLES = np.array([[-0.6, -0.6], [0.6, -0.5], [0.0, 0.7]])
COST = PureDP(1.0)


def make(n_clusters=3, **parameters):
    return TreeKMeans(n_clusters, **{"epsilon": 5.0, "bounds": (-1, 1), "n_jobs": 1, **parameters})


# -- the questions -------------------------------------------------------------------------------------------------------


def cost_of(row, centers, question):
    """What a row costs, by rational arithmetic, in steps."""
    squares = [sum((Fraction(x) - Fraction(c)) ** 2 for x, c in zip(row, center, strict=True)) for center in centers.tolist()]
    return math.floor(min([*squares, Fraction(question.cap)]) / Fraction(question.unit))


@pytest.mark.parametrize("n_clusters", [1, 2, 5])
@pytest.mark.parametrize("cap", [0.01, 0.3, 16.0])
def test_the_cost_of_a_swap_is_that_of_the_set_after_it(n_clusters, cap, generator):
    table = snap(generator.uniform(-0.5, 0.5, size=(25, 3)))
    centers, others = generator.uniform(-0.5, 0.5, size=(n_clusters, 3)), generator.uniform(-0.5, 0.5, size=(4, 3))
    table[:n_clusters] = snap(centers)  # rows on a centre
    question = SwapCosts(centers=centers, candidates=np.vstack([centers, others]), cap=cap)
    exact = question.exact(table)
    assert exact.shape == (n_clusters, n_clusters + 4)
    for leaves, comes in itertools.product(range(n_clusters), range(n_clusters + 4)):
        after = question.centers.copy()
        after[leaves] = question.candidates[comes]
        assert exact[leaves, comes] == sum(cost_of(row, after, question) for row in table.tolist())
        assert SetCosts(sets=after[None], cap=cap).exact(table)[0] == exact[leaves, comes]


def test_many_rows_and_candidates_are_taken_in_parts(generator):
    table = snap(generator.uniform(-0.5, 0.5, size=(3_000, 2)))
    question = SwapCosts(
        centers=generator.uniform(-0.5, 0.5, size=(7, 2)), candidates=generator.normal(size=(90, 2)) / 4, cap=0.1
    )
    whole = question.exact(table)
    assert np.array_equal(whole, sum(question.exact(part) for part in np.array_split(table, 100)))
    sets = SetCosts(sets=np.stack([question.centers] * 3), cap=0.1)
    assert np.array_equal(sets.exact(table), sum(sets.exact(row[None]) for row in table))


@pytest.mark.parametrize("cap", [0.25, 0.1])
def test_the_span_of_costs_is_attained(cap):
    # A row on one of two centres that are far apart: it pays nothing, or the cap once that centre is gone.
    centers = np.array([[-0.5, 0.0], [0.5, 0.0]])
    question = SwapCosts(centers=centers, candidates=[[0.5, 0.0]], cap=cap)
    here, there = question.exact(snap(centers[:1])).ravel(), question.exact(snap(centers[1:])).ravel()
    assert here.max() - here.min() == question.span_sensitivity(Relation.ADD_REMOVE) == math.floor(cap * 2**20)
    sets = SetCosts(sets=centers[:, None, :], cap=cap)
    moved = sets.exact(snap(centers[:1])) - sets.exact(snap(centers[1:]))
    assert moved.max() - moved.min() == sets.span_sensitivity(Relation.REPLACE) == 2 * math.floor(cap * 2**20)
    assert there.sum() == 0


def test_a_row_lies_in_the_cube_of_its_coordinates_and_the_outer_cubes_are_open():
    question = CubeCounts(corner=[-0.5, -0.5], side=0.5, per_axis=2, cubes=[[1, 1], [0, 0], [1, 0]])
    table = snap([[-0.9, -0.9], [0.0, 0.0], [0.7, -0.1], [0.7, 0.7], [-0.1, 0.1], [0.2, -0.0001]])
    assert question.exact(table).tolist() == [2, 1, 2]
    assert question.shape == (3,)


GIVEN = {
    CubeCounts: {"corner": [0.0], "side": 1.0, "per_axis": 2, "cubes": [[1]]},
    SwapCosts: {"centers": [[0.0]], "candidates": [[0.0]], "cap": 1.0},
    SetCosts: {"sets": [[[0.0]]], "cap": 1.0},
}
REFUSED = [
    (CubeCounts, {"cubes": [[2]]}, r"cubes: expected places within"),
    (CubeCounts, {"cubes": [[-1]]}, r"cubes: expected places within"),
    (CubeCounts, {"cubes": [[1], [1]]}, r"cubes: expected each cube once"),
    (CubeCounts, {"corner": [0.0, 0.0]}, r"corner: expected an array"),
    (CubeCounts, {"side": 0.0}, r"side: expected a finite number above"),
    (CubeCounts, {"corner": [0.0] * 63, "cubes": [[1] * 63]}, r"per_axis: expected a grid"),
    (SwapCosts, {"cap": 0.0}, r"cap: expected a finite number of at least"),
    (SwapCosts, {"candidates": [[0.0, 1.0]]}, r"candidates: expected an array"),
    (SetCosts, {"sets": [[0.0]]}, r"sets: expected an array of three axes"),
    (
        SwapCosts,
        {"centers": np.zeros((2**12, 1)), "candidates": np.zeros((2**11, 1))},
        rf"shape: expected an integer from 1 to {LARGEST_CHOICE}, got {2 * LARGEST_CHOICE}\. Offer fewer",
    ),
]


@pytest.mark.parametrize(("kind", "changed", "message"), REFUSED)
def test_questions_refuse_what_makes_no_sense(kind, changed, message):
    with pytest.raises(ParameterError, match=rf"{kind.__name__}\.{message}"):
        kind(**{**GIVEN[kind], **changed})


# -- the tree ------------------------------------------------------------------------------------------------------------


def grow(rows, generator, *, ask=None, touches=lambda low, high: np.ones(len(low), dtype=bool), depth=3, **changed):
    space = SimpleNamespace(dimension=rows.shape[1], reach=1.0, touches=touches, projection=None)
    return divide_cubes(
        ask or exact_ask(rows), [COST] * depth, space, generator=generator, **{"first": 4, "fewest": 1, **changed}
    )


def test_every_row_is_counted_once_a_level_and_weighs_once(rows, generator):
    questions = []
    tree = grow(rows, generator, ask=exact_ask(rows, questions=questions))
    assert tree.n_levels == len(questions) == 3
    assert tree.counts.sum() == 3 * len(rows)
    assert tree.weights.sum() == len(rows)
    assert [question.side for question in questions] == [0.5, 0.25, 0.125]
    assert len(questions[0].cubes) == 16
    assert all(len(question.cubes) % 4 == 0 for question in questions[1:])


def test_the_candidates_are_near_the_rows_and_nearer_with_every_level(rows, generator):
    for depth in (1, 2, 4):
        tree = grow(rows, generator, depth=depth)
        offsets = np.abs(rows[:, None, :] - tree.points).max(axis=2)
        # The outermost cubes of a shifted grid are up to half a side longer.
        assert offsets.min(axis=1).max() <= 0.5 / 2**depth + 0.25


def test_cubes_outside_the_domain_are_not_asked_for(rows, generator):
    questions = []

    def touches(low, high):
        return low[:, 0] < 0

    grow(rows, generator, ask=exact_ask(rows, questions=questions), touches=touches)
    for question in questions:
        assert (question.corner[0] + question.cubes[:, 0] * question.side < 0).all()
        assert len(question.cubes) < question.per_axis**2


def test_dividing_ends_where_no_cube_holds_enough(generator):
    questions = []
    nobody = np.empty((0, 2))
    tree = grow(nobody, generator, ask=exact_ask(nobody, questions=questions), depth=9, fewest=3)
    assert len(tree.points) == 3  # as many as were wanted, however little they hold
    assert tree.n_levels == len(questions) == 2
    assert not tree.weights.any()


def test_no_level_asks_for_more_cubes_than_allowed(generator, monkeypatch):
    monkeypatch.setattr(tree_room, "LARGEST_LEVEL", 64)
    questions = []
    table = generator.uniform(-1, 1, size=(5_000, 2))
    grow(table, generator, ask=exact_ask(table, questions=questions), depth=5)
    assert max(len(question.cubes) for question in questions) <= 64


# -- the search ----------------------------------------------------------------------------------------------------------


def test_without_noise_every_swap_pays_and_the_best_set_is_chosen(rows, generator):
    candidates = np.vstack([MIDDLES, generator.uniform(-0.9, 0.9, size=(30, 2))])
    found = local_search(
        exact_ask(rows),
        candidates[-3:],
        ball(2),
        candidates=candidates,
        swaps=[COST] * 6,
        choice=COST,
        cap=0.5,
    )
    costs = SetCosts(sets=found.sets, cap=0.5).exact(snap(rows))
    assert (np.diff(costs) <= 0).all()
    assert costs[-1] == costs[-2], "at a local optimum a centre is swapped for itself"
    assert costs[found.chosen] == costs.min()
    assert len(found.sets) == 7
    assert {tuple(center) for center in found.centers} == {tuple(center) for center in snap(MIDDLES)}


def test_averages_are_those_of_the_rows_near_each_point(rows):
    found = noisy_averages(exact_ask(rows), MIDDLES + 0.1, ball(2), counts=COST, sums=COST, radius=1.0)
    means = rows.reshape(3, 100, 2).mean(axis=1)
    assert found.centers == pytest.approx(means, abs=1e-5)
    assert found.counts.tolist() == [100, 100, 100]


def test_projected_points_are_taken_back_to_the_full_space(generator):
    flat = np.array([[1.0], [0.0], [0.0]])
    table = np.repeat([[-0.5, 0.3, 0.1], [0.5, -0.2, 0.4]], 50, axis=0) + 0.01 * generator.normal(size=(100, 3))
    points = np.array([[-0.4], [0.4]])
    found = noisy_averages(exact_ask(table), points, ball(3, flat), counts=COST, sums=COST, radius=1.0)
    assert found.centers == pytest.approx(table.reshape(2, 50, 3).mean(axis=1), abs=1e-5)


# -- a fit ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "bounds"), [("random", (-1, 1)), ("counts", Ball(1.5)), ("random", Box([-1, -2], [1, 1]))], ids=str
)
def test_noise_vanishes_as_epsilon_grows(start, bounds, rows):
    model = make(epsilon=1e6, bounds=bounds, start=start, n_swaps=12 if start == "random" else "auto").fit(rows)
    assert np.linalg.norm(model.cluster_centers_[:, None] - MIDDLES, axis=2).min(axis=0).max() < 0.05
    assert np.sort(model.cluster_counts_) == pytest.approx([100, 100, 100], abs=0.5)
    assert model.n_iter_ == (12 if start == "random" else 0)


def test_the_projection_follows_the_number_of_rows(generator):
    table = generator.uniform(-1, 1, size=(50, 20))
    for n_rows, dimension in ((10, 4), (2**11, 5), (2**14, 7), (2**30, 8)):
        assert make(2, n_rows=n_rows, n_swaps=1).fit(table).search_.centers.shape == (2, dimension)
    assert make(2, projection=3, n_swaps=1).fit(table).search_.centers.shape == (2, 3)
    assert make(2, projection=None, n_swaps=1).fit(table[:, :6]).search_.centers.shape == (2, 6)


def test_a_deep_tree_stays_within_the_numbers_that_cubes_have(generator):
    table = np.full((400, 5), 0.31) + 1e-6 * generator.normal(size=(400, 5))
    model = make(2, epsilon=1e6, depth=60, n_trees=2, start="counts").fit(table)
    assert np.abs(model.cluster_centers_ - 0.31).min(axis=0).max() < 1e-3


def test_several_trees_share_their_part(rows):
    model = make(n_trees=3, depth=2, n_rows=300, missing="middle").fit(rows)
    levels = [event for event in model.privacy_receipt_.events if event.question_name == "cube_counts"]
    assert len(levels) == 6
    assert sum(event.cost.epsilon for event in levels) == pytest.approx(5.0 * 0.2, rel=1e-6)


# -- spending ------------------------------------------------------------------------------------------------------------


def test_delta_is_not_spent(rows):
    ledger = Ledger(epsilon=5.0, delta=1e-6)
    pure, approximate = make(random_state=0).fit(rows), make(random_state=0, delta=1e-6, ledger=ledger).fit(rows)
    assert np.array_equal(pure.cluster_centers_, approximate.cluster_centers_)
    assert ledger.spent.mu == 0.0
    assert "epsilon = 5, delta = 1e-06" in approximate.privacy_receipt_.explain()[0]


# -- refusals ------------------------------------------------------------------------------------------------------------


def test_many_clusters_cannot_all_be_swapped(rows):
    with pytest.raises(
        ParameterError, match=r"n_clusters: expected few enough clusters to try all swaps, got 2048\. Pass start="
    ):
        make(2048).fit(rows)


def test_many_columns_need_a_projection(generator):
    with pytest.raises(ParameterError, match=r"TreeKMeans\.projection: expected an integer from 1 to 12, got 13"):
        make(projection=None).fit(generator.uniform(-1, 1, size=(20, 13)))


# -- what people see -----------------------------------------------------------------------------------------------------


def test_the_report_explains_a_choice(rows):
    page = report_html(make().fit(rows).release_)
    assert "Exponential mechanism" in page
    assert "Which swap of a centre for a candidate costs the rows least" in page
