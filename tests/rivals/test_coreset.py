# SPDX-License-Identifier: Apache-2.0
"""CoresetKMeans: what its questions mean, how its tree grows, what a fit spends, and k centres whatever the rows."""

from fractions import Fraction

import numpy as np
import pytest

from cloister import GDP
from cloister.columns import grid_step, snap
from cloister.exceptions import ParameterError
from cloister.rivals import CoresetKMeans, HashCounts, HashSums
from cloister.rivals import _coreset as tree_room
from cloister.rivals._coreset import HashCoreset, cluster_coreset, grow_tree, random_hyperplanes
from cloister.rivals._questions import DEEPEST_HASH

from ..steps import ball, exact_ask


def make(n_clusters=3, **parameters):
    return CoresetKMeans(n_clusters, **{"epsilon": 5.0, "bounds": (-1, 1), "n_init": 1, "n_jobs": 1, **parameters})


# -- the questions -------------------------------------------------------------------------------------------------------


def node_of(row, question):
    """Return the deepest node of a row, by rational arithmetic."""
    number = 1
    for level in range(question.normals.shape[1]):
        product = sum(Fraction(x) * Fraction(w) for x, w in zip(row.tolist(), question.normals[:, level].tolist(), strict=True))
        number = 2 * number + (product >= Fraction(float(question.offsets[level])))
    return number


def planes_of(generator, n_features, n_levels):
    planes = random_hyperplanes(generator, n_features, n_levels, offset=0.4)
    return {"normals": planes.normals, "offsets": planes.offsets}


@pytest.mark.fast("3")
@pytest.mark.parametrize("n_features", [1, 3, 17])
def test_a_row_is_where_rational_arithmetic_puts_it(n_features, generator):
    leaves = [4, 10, 11, 6, 14, 60, 61, 31]
    question = HashCounts(**planes_of(generator, n_features, 6), nodes=leaves)
    rows = snap(generator.normal(size=(60, n_features)) / n_features**0.5)
    for level in range(6):  # rows on a hyperplane, as near as the grid allows, and a step beside it
        normal, offset = question.normals[:, level], question.offsets[level]
        on = snap(rows[:10] - ((rows[:10] @ normal - offset) / (normal @ normal))[:, None] * normal)
        rows = np.vstack([rows, on, on + grid_step(n_features)])
    places = []
    for row in rows:
        numbers = [node_of(row, question) >> shift for shift in range(7)]
        places.append(next((place for place, leaf in enumerate(leaves) if leaf in numbers), -1))
    assert question.labels(rows).tolist() == places
    assert np.concatenate([question.labels(part) for part in np.array_split(rows, 9)]).tolist() == places
    assert question.labels(np.asfortranarray(rows)).tolist() == places
    assert question.exact(rows).tolist() == [places.count(place) for place in range(len(leaves))]


def test_a_row_on_the_hyperplane_goes_right():
    question = HashCounts(normals=[[1.0]], offsets=[0.25], nodes=[2, 3])
    assert question.labels(np.array([[0.25], [0.25 - grid_step(1)], [-0.0], [1.0]])).tolist() == [1, 0, 0, 1]


def test_sums_are_those_of_the_rows_in_each_node(generator):
    planes, leaves = planes_of(generator, 3, 5), [2, 6, 28, 15]
    rows = snap(generator.normal(size=(200, 3)) / 2)
    question = HashSums(**planes, nodes=leaves, radius=0.7)
    numbers = np.array([node_of(row, question) for row in rows])
    clipped = rows * np.minimum(1.0, question.radius / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300))
    inside = [(numbers >> shift) == leaf for leaf, shift in zip(leaves, (4, 3, 1, 2), strict=True)]
    expected = np.array([clipped[members].sum(axis=0) for members in inside])
    assert np.abs(question.exact(rows) * question.unit - expected).max() <= len(rows) * question.unit


FLAT = {"normals": np.eye(2), "offsets": np.zeros(2), "nodes": [1]}
REFUSED = [
    ({"nodes": [2, 4]}, r"HashCounts\.nodes: expected nodes that share no row, got 'nested ones'\. Leave the ancestors out"),
    ({"nodes": [7, 1]}, "share no row"),
    ({"nodes": [5, 5]}, "share no row"),
    ({"nodes": []}, r"HashCounts\.nodes: expected whole numbers from 1 to 7"),
    ({"nodes": [0]}, "whole numbers from 1 to 7"),
    ({"nodes": [8]}, "whole numbers from 1 to 7"),
    ({"nodes": [2.0]}, "whole numbers from 1 to 7"),
    ({"normals": 3 * np.eye(2)}, r"HashCounts\.normals: expected columns of length at most 2"),
    ({"normals": np.ones(2)}, r"HashCounts\.normals: expected columns"),
    ({"normals": [[np.nan, 0.0]]}, r"HashCounts\.normals: expected finite numbers"),
    ({"offsets": [0.0, np.inf]}, r"HashCounts\.offsets: expected finite numbers"),
    ({"offsets": [0.0]}, r"HashCounts\.offsets: expected an array of shape \(2,\), got \(1,\)"),
]


@pytest.mark.parametrize(("wrong", "message"), REFUSED)
def test_public_arrays_that_would_break_the_sensitivity_are_refused(wrong, message):
    with pytest.raises(ParameterError, match=message):
        HashCounts(**{**FLAT, **wrong})


def test_the_deepest_tree_is_exact(generator):
    planes = planes_of(generator, 2, DEEPEST_HASH)
    rows = snap(generator.uniform(-0.7, 0.7, size=(20, 2)))
    root = HashCounts(**planes, nodes=[1])
    deepest, counts = np.unique([node_of(row, root) for row in rows], return_counts=True)
    assert HashCounts(**planes, nodes=deepest).exact(rows).tolist() == counts.tolist()
    with pytest.raises(ParameterError, match="whole numbers"):
        HashCounts(**planes_of(generator, 2, DEEPEST_HASH + 1), nodes=[2 ** (DEEPEST_HASH + 1)])


# -- the tree ------------------------------------------------------------------------------------------------------------


def test_nodes_with_enough_rows_are_split_and_no_others(generator):
    rows = snap(generator.normal(size=(1000, 3)) / 4)
    planes = random_hyperplanes(generator, 3, 8, offset=0.2)
    questions = []
    leaves = grow_tree(exact_ask(rows, questions=questions), [GDP(1.0)] * 8, planes, n_rows=1000.0, min_rows=50.0)
    assert HashCounts(normals=planes.normals, offsets=planes.offsets, nodes=leaves).exact(rows).sum() == 1000
    full = np.array([1])
    for depth, question in enumerate(questions, start=1):
        assert set(question.nodes) == set(2 * full) | set(2 * full + 1)
        assert question.normals.shape == (3, depth)
        full = question.nodes[question.exact(rows) >= 100]
    assert 2 ** len(questions) <= leaves.max() < 2 ** (len(questions) + 1)  # the last level that was asked for has leaves
    assert not full.size or len(questions) == len(planes.offsets)


def test_a_table_too_small_to_split_is_one_leaf(generator):
    planes, questions = random_hyperplanes(generator, 3, 8, offset=0.2), []
    ask = exact_ask(np.empty((0, 3)), questions=questions)
    leaves = grow_tree(ask, [GDP(1.0)] * 8, planes, n_rows=99.0, min_rows=50.0)
    assert (leaves.tolist(), questions) == ([1], [])


def test_a_tree_has_no_more_leaves_than_can_be_noised(generator, monkeypatch):
    monkeypatch.setattr(tree_room, "LARGEST_TREE", 20)
    rows = snap(generator.normal(size=(1000, 3)) / 4)
    planes = random_hyperplanes(generator, 3, 12, offset=0.2)
    assert len(grow_tree(exact_ask(rows), [GDP(1.0)] * 12, planes, n_rows=1000.0, min_rows=1.0)) == 20


def test_hyperplanes_without_offset_go_through_the_centre(generator):
    planes = random_hyperplanes(generator, 5, 100, offset=0.0)
    assert not planes.offsets.any()
    assert np.linalg.norm(planes.normals, axis=0) == pytest.approx(np.ones(100))


# -- fewer leaves than centres: fault 5 ----------------------------------------------------------------------------------


@pytest.mark.parametrize("n_leaves", [1, 5, 6, 30])
def test_there_are_always_k_centres(n_leaves, generator):
    for noisy_counts in (np.full(n_leaves, 100.0), np.full(n_leaves, -3.0), generator.normal(size=n_leaves) * 50):
        points = generator.uniform(-0.5, 0.5, size=(n_leaves, 2))
        coreset = HashCoreset(points, noisy_counts, kept=noisy_counts > 20, count_sigma=1.0, sum_sigma=1.0)
        found = cluster_coreset(coreset, 5, ball(2), generator=generator, restarts=2)
        assert found.centers.shape == found.center_errors.shape == (5, 2)
        assert found.counts.shape == found.count_errors.shape == (5,)
        assert np.isfinite(found.centers).all()
        assert len(np.unique(found.centers, axis=0)) == 5
        assert (found.center_errors > 0).all()
        assert (found.count_errors > 0).all()
        full = noisy_counts >= 1
        if full.sum() <= 5:  # every leaf with rows is a centre of its own
            assert {tuple(point) for point in points[full]} <= {tuple(center) for center in found.centers}


# -- fits ----------------------------------------------------------------------------------------------------------------


def test_noise_vanishes_as_epsilon_grows(rows):
    model = make(epsilon=1e6, n_init=10, max_depth=40, min_rows_per_leaf=5).fit(rows)
    middles = np.array([[-0.6, -0.6], [0.6, -0.5], [0.0, 0.7]])
    assert np.linalg.norm(model.cluster_centers_[:, None] - middles, axis=2).min(axis=0).max() < 0.1
    assert 240 <= model.cluster_counts_.sum() <= 300.5  # all but what fell into leaves too small to be kept


def test_offsets_tell_rows_of_one_direction_apart(generator):
    rows = np.repeat([[-0.9], [-0.3], [0.3], [0.9]], 300, axis=0) + 0.02 * generator.normal(size=(1200, 1))
    through, beside = (make(4, epsilon=1e3, max_depth=48, offset=offset, n_init=10).fit(rows) for offset in (0.0, 0.4))
    assert through.coreset_.kept.sum() <= 2
    assert beside.coreset_.kept.sum() >= 4
    assert through.score(rows) < beside.score(rows)


@pytest.mark.slow
def test_errors_are_those_of_the_noise(generator):
    # One leaf: the centre is a quotient, and 300 draws tell its deviation within 4.1 % (one standard error): 1e-8 false alarms.
    rows = generator.normal([0.3, -0.5], 0.1, size=(200, 2))
    models = [make(1, epsilon=1.0, n_rows=200, min_rows_per_leaf=1000).fit(rows) for _ in range(300)]
    spread = np.std([model.cluster_centers_[0] for model in models], axis=0)
    claimed = np.median([model.release_.center_errors[0] for model in models], axis=0)
    assert spread == pytest.approx(claimed, rel=0.25)
    counts = np.array([model.cluster_counts_[0] for model in models])
    assert counts.std() == pytest.approx(models[0].release_.count_errors[0], rel=0.25)
    assert abs(counts.mean() - 200) < 5 * counts.std() / len(counts) ** 0.5


# -- spending ------------------------------------------------------------------------------------------------------------


def test_levels_that_do_not_grow_leave_their_share_to_the_leaves(rows):
    options = {"guarantee": GDP(0.5), "n_rows": 300, "max_depth": 8, "missing": "middle"}
    for min_rows in (10**6, 100, 1):
        *levels, counts, sums = make(min_rows_per_leaf=min_rows, **options).fit(rows).privacy_receipt_.events
        assert [one.question_name for one in (counts, sums)] == ["hash_counts", "hash_sums"]
        assert bool(levels) == (min_rows < 300)
        grown = sum(one.cost.mu**2 for one in levels)
        assert grown == pytest.approx(0.2 * 0.25 * len(levels) / 8, rel=1e-6)
        assert grown + counts.cost.mu**2 + sums.cost.mu**2 == pytest.approx(0.25, rel=1e-6)
