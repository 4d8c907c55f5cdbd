# SPDX-License-Identifier: Apache-2.0
"""The second half of KMeans: how much to believe, where to clip, how far rows lie, and the rounds as a whole."""

import hypothesis.extra.numpy as arrays
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloister import GDP
from cloister.algorithms import Lengths, Round, choose_radius, mean_square, quantile, refine
from cloister.algorithms._refine import shrinkage
from cloister.columns import clip_to_unit_ball
from cloister.questions import DistanceHistogram, NearestCounts, NearestSums

from ..steps import ball, step_of

EDGES = 2.0 ** (np.arange(-9, 4) / 3)


def lengths_at(distance, n_rows=1000.0):
    counts = np.zeros(len(EDGES) + 1)
    counts[np.searchsorted(EDGES, distance, side="right")] = n_rows
    return Lengths(EDGES, counts, 1.0)


# -- how much to believe -------------------------------------------------------------------------------------------------


@given(
    offsets=arrays.arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=st.floats(-1e3, 1e3)),
    scale=st.floats(-12, 12),
    spread=st.floats(1, 100),
    longest=st.sampled_from([1e-3, 1.0, np.inf]),
)
def test_a_gain_is_a_part(offsets, scale, spread, longest):
    variances = 10.0**scale * np.geomspace(1, spread, len(offsets))
    part = shrinkage(offsets, variances, longest=longest)
    assert part.shape == (len(offsets),)
    assert ((part >= 0) & (part <= 1)).all()


@pytest.mark.parametrize("n_features", [1, 2, 16])
def test_noise_is_never_taken_for_more_than_an_offset_can_be(n_features, generator):
    # One number in the unit ball under noise a hundred times its size: what is believed is a hundredth of the noise.
    seen = 100.0 * generator.normal(size=(1000, 1, n_features))
    steps = [shrinkage(one, np.array([1e4]), longest=1.0)[0] * np.linalg.norm(one) for one in seen]
    assert max(steps) < 0.1


def test_offsets_far_above_the_noise_are_believed(generator):
    part = shrinkage(100 * generator.normal(size=(20, 5)), np.full(20, 0.01))
    assert part.min() > 0.99
    assert part.max() <= 1


def test_one_centre_that_moves_is_believed_among_many_that_do_not(generator):
    offsets = 0.1 * generator.normal(size=(50, 8))
    offsets[7] += 5.0
    part = shrinkage(offsets, np.full(50, 0.01))
    assert part[7] > 0.99


def test_shrinking_beats_believing(generator):
    truth = 0.3 * generator.normal(size=(300, 12))
    seen = truth + generator.normal(size=truth.shape)
    shrunk = shrinkage(seen, np.ones(300))[:, None] * seen
    assert np.sum((shrunk - truth) ** 2) < 0.3 * np.sum((seen - truth) ** 2)


# -- where to clip, and how far rows lie ---------------------------------------------------------------------------------


@pytest.mark.parametrize("n_features", [1, 4, 64])
def test_the_radius_shrinks_as_the_noise_grows(n_features):
    counts = np.append(np.full(len(EDGES), 50.0), 0.0)
    radii = [
        choose_radius(Lengths(EDGES, counts, 1.0), n_rows=650, noise=noise, n_features=n_features)[0]
        for noise in (1e-6, 0.01, 0.1, 1.0, 10.0)
    ]
    assert radii == sorted(radii, reverse=True)
    assert radii[0] == EDGES[-1]


def test_clipping_is_made_good():
    radius, phi = choose_radius(lengths_at(0.9), n_rows=1000, noise=10.0, n_features=50)
    assert 0 < phi <= 1
    middle = lengths_at(0.9).middle[np.searchsorted(EDGES, 0.9, side="right")]
    assert phi == pytest.approx(1.0 if radius >= middle else (1 - 1 / 50) * radius / middle)


def test_moments_of_a_histogram():
    told = lengths_at(0.5)
    middle = told.middle[np.searchsorted(EDGES, 0.5, side="right")]
    assert mean_square(told, n_rows=1000, longest=2.0).value == pytest.approx(middle**2)
    assert mean_square(told, n_rows=1000, longest=0.1).value == pytest.approx(0.01)
    assert 0.5 <= quantile(told, n_rows=1000, part=0.5) <= 0.5 * 2 ** (1 / 3) * 1.001


@given(
    counts=arrays.arrays(np.float64, len(EDGES) + 1, elements=st.integers(-(10**6), 10**6).map(float)),
    n_rows=st.sampled_from([1.0, 57.0, 1e5]),
    noise=st.floats(1e-9, 1e9),
    n_features=st.integers(1, 1000),
)
def test_no_histogram_is_too_noisy_to_read(counts, n_rows, noise, n_features):
    lengths = Lengths(EDGES, counts, 10.0)
    radius, phi = choose_radius(lengths, n_rows=n_rows, noise=noise, n_features=n_features)
    assert radius in EDGES
    assert 0 < phi <= 1 + 1e-12
    assert lengths.parts(n_rows).min() >= 0
    assert lengths.parts(n_rows).sum() == pytest.approx(1)
    assert quantile(lengths, n_rows=n_rows, part=0.9) in EDGES
    told = mean_square(lengths, n_rows=n_rows, longest=1.0)
    assert 0 <= told.value <= 1
    assert told.error > 0


# -- rounds --------------------------------------------------------------------------------------------------------------

MIDDLES = np.array([[-0.5, -0.3], [0.5, -0.4], [0.1, 0.6]])


def rounds_of(mu, lefts, *, projected=0):
    questions = ("distances", "counts", "sums")
    return [
        Round(step=step_of(f"round {index + 1}", GDP(mu), *questions, sigma=1 / mu), n_left=left, projected=index < projected)
        for index, left in enumerate(lefts)
    ]


def run(vault, rounds, centers, generator, *, n_rows, projection=None):
    space = ball(centers.shape[1], projection)
    return refine(vault.ask, rounds, centers, space, n_rows=n_rows, length=0.5, generator=generator, restarts=3)


@pytest.fixture
def blobs(generator):
    return np.repeat(MIDDLES, 400, axis=0) + 0.05 * generator.normal(size=(1200, 2))


def test_centres_move_to_the_means_of_their_rows(blobs, generator, vault_of):
    refined = run(vault_of(blobs), rounds_of(1e5, [3, 3, 3]), MIDDLES + 0.1, generator, n_rows=1200)
    means = blobs.reshape(3, 400, 2).mean(axis=1)
    assert np.abs(refined.centers - means).max() < 0.005
    assert np.abs(refined.last.counts - 400).max() < 1
    assert len(refined.moves) == 3
    true = np.mean(np.sum((blobs.reshape(3, 400, 2) - means[:, None]) ** 2, axis=2))
    assert mean_square(refined.lengths, n_rows=1200, longest=2.0).value - refined.last.gained == pytest.approx(true, rel=0.1)


def test_extra_centres_are_joined_on_the_way(blobs, generator, vault_of):
    start = clip_to_unit_ball(generator.uniform(-0.7, 0.7, size=(12, 2)))
    vault = vault_of(blobs)
    refined = run(vault, rounds_of(100.0, [8, 5, 3, 3]), start, generator, n_rows=1200)
    assert [len(centers) for centers in (move.centers for move in refined.moves)] == [8, 5, 3, 3]
    assert len(refined.centers) == len(refined.last.counts) == len(refined.last.errors) == 3
    found = np.linalg.norm(refined.centers[:, None] - MIDDLES, axis=2).min(axis=0)
    assert found.max() < 0.05
    assert [len(question.points) for question, _ in vault.asked if isinstance(question, NearestSums)] == [12, 8, 5, 3]


def test_a_round_asks_for_distances_then_counts_and_sums_of_the_same_points(blobs, generator, vault_of):
    vault, rounds = vault_of(blobs), rounds_of(3.0, [3, 3])
    run(vault, rounds, MIDDLES, generator, n_rows=1200)
    assert [type(question) for question, _ in vault.asked] == [DistanceHistogram, NearestCounts, NearestSums] * 2
    for first in (0, 3):
        histogram, counts, sums = (question for question, _ in vault.asked[first : first + 3])
        assert counts.same_labels(sums)
        assert counts.same_labels(histogram)


def test_in_a_projection_rows_belong_where_votes_were_cast_and_centres_move_in_full(generator, vault_of):
    middles = clip_to_unit_ball(generator.normal(size=(3, 20)))
    rows = clip_to_unit_ball(np.repeat(middles, 300, axis=0) + 0.01 * generator.normal(size=(900, 20)))
    projection = np.linalg.qr(generator.normal(size=(20, 4)))[0]
    vault = vault_of(rows)
    start = middles @ projection @ projection.T
    refined = run(vault, rounds_of(1e4, [3, 3], projected=1), start, generator, n_rows=900, projection=projection)
    views = [question.projection is not None for question, _ in vault.asked]
    assert views == [True] * 3 + [False] * 3
    assert np.abs(refined.centers - rows.reshape(3, 300, 20).mean(axis=1)).max() < 0.005


# -- settling ------------------------------------------------------------------------------------------------------------


def settling_rounds(mu, n_settling, n_left):
    first, last = rounds_of(mu, [n_left, n_left])
    steps = [step_of(f"settling {index + 1}", GDP(mu), "counts", "sums", sigma=1 / mu) for index in range(n_settling)]
    return [first, *(Round(step=step, n_left=n_left, projected=False, settling=True) for step in steps), last]


def asked_by_step(vault):
    names = {}
    for question, query in vault.asked:
        names.setdefault(query.step, []).append(type(question))
    return names


def test_centres_of_rows_without_clusters_settle(generator, vault_of):
    rows = np.column_stack([np.linspace(-0.8, 0.8, 2001), np.zeros(2001)])
    start = np.column_stack([np.linspace(-0.8, -0.4, 6), np.zeros(6)])
    best = 1.6**2 / 12 / 6**2  # of six pieces of a line

    def loss(n_settling):
        vault = vault_of(rows)
        refined = run(vault, settling_rounds(1e5, n_settling, 6), start, generator, n_rows=2001)
        between = list(asked_by_step(vault).values())[1:-1]
        assert between == [[NearestCounts, NearestSums]] * len(between)
        assert min(n_settling, 8) <= len(between) <= n_settling
        assert [move.step for move in refined.moves] == list(asked_by_step(vault))
        return np.min((rows[:, None] - refined.centers) ** 2 @ np.ones(2), axis=1).mean() / best

    assert loss(0) > 2.0
    assert loss(12) < 0.5 * loss(0)
    assert loss(40) < 1.2


def test_settled_centres_leave_their_budget_to_the_last_round(blobs, generator, vault_of):
    vault, rounds = vault_of(blobs), settling_rounds(1e3, 9, 3)
    refined = run(vault, rounds, blobs.reshape(3, 400, 2).mean(axis=1), generator, n_rows=1200)
    assert [move.step for move in refined.moves] == ["round 1", "settling 1", "round 2"]
    spent = sum(query.share for _, query in vault.asked)
    assert spent == pytest.approx(sum(one.step.share for one in rounds))
    assert vault.asked[-1][1].share == pytest.approx(0.1 * (1 + 8 * 2 / 3))


def test_bins_that_hold_no_more_than_noise_do_not_add_to_the_mean_square(generator):
    """All rows lie near 0.2: noise in 20 farther bins, projected to what is not negative, would multiply the loss."""
    edges = 2.0 ** (np.arange(-15, 7) / 3)
    found = []
    for _ in range(200):
        counts = 20.0 * generator.standard_normal(len(edges) + 1)
        counts[np.searchsorted(edges, 0.2)] += 2000
        found.append(mean_square(Lengths(edges, counts, 20.0), n_rows=2000, longest=4.0))
    middle = lengths_of(edges).middle[np.searchsorted(edges, 0.2)] ** 2
    assert np.median([one.value for one in found]) == pytest.approx(middle, rel=0.35)
    assert np.mean([abs(one.value - 0.04) < 1.96 * one.error for one in found]) > 0.9


@pytest.mark.parametrize("power", [2.5, 3.0, 5.0])
def test_rows_beyond_the_last_bin_that_is_seen_go_on_becoming_fewer(power):
    edges = 2.0 ** (np.arange(-12, 4) / 3)
    beyond = np.minimum(1.0, (edges / 0.1) ** -power)
    counts = 1e5 * -np.diff(np.concatenate([[1.0], beyond, [0.0]]))
    found = mean_square(Lengths(edges, counts, 300.0), n_rows=1e5, longest=2.0)
    truth = 0.01 * (1 + 2 * (1 - 20.0 ** (2 - power)) / (power - 2))
    assert abs(found.value - truth) < 1.96 * found.error
    assert found.value == pytest.approx(truth, rel=0.25)


def lengths_of(edges):
    return Lengths(edges, np.zeros(len(edges) + 1), 1.0)
