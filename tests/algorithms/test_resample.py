# SPDX-License-Identifier: Apache-2.0
"""Errors beyond the noise of the last step, how often clusters come back, and which of them stand out of the noise."""

from dataclasses import replace

import numpy as np
import pytest

from cloister.algorithms import LastStep, add_beyond, judge_solution, place_of_rows, stands_out, unknown_errors
from cloister.algorithms import _resample as resample
from cloister.columns import Ball, Box

from .test_points import groups, points_of

FRAME = Box(-1.0, 1.0).spread(2).frame()


def test_one_good_solution_has_no_error_of_choice_and_comes_back(generator):
    found = groups(generator, 4, 3)
    beyond = judge_solution(found, found.cut(4, generator=generator, restarts=10), last=None, generator=generator)
    assert (beyond.center_errors == 0).all()
    assert (beyond.count_errors == 0).all()
    assert (beyond.stability == 1).all()
    assert beyond.loss_error == 0


def test_a_cluster_too_many_does_not_come_back(generator):
    found = groups(generator, 4, 3)
    centers = found.cut(5, generator=generator, restarts=10)
    beyond = judge_solution(found, centers, last=None, generator=generator)
    assert np.sort(beyond.stability)[:2].max() < 0.9
    assert np.sort(beyond.stability)[-1] > 0.5
    assert beyond.center_errors.max() > 0.005


def test_a_poor_start_is_not_another_solution(generator):
    found = groups(generator, 25, 2, each=3, spread=0.01)  # most single starts of k-means miss one of so many
    beyond = judge_solution(found, found.cut(25, generator=generator, restarts=200), last=None, generator=generator)
    assert (beyond.stability == 1).all()
    assert beyond.center_errors.max() < 1e-3


def test_yes_and_no_in_every_column_can_be_cut_in_many_ways(generator):
    corners = 0.5 * generator.choice([-1.0, 1.0], (12, 4))
    flags = replace(points_of(0.4 * corners, np.full(12, 500.0), sigma=5.0, variance=0.0), ends=np.full(4, 0.5))
    flags = replace(flags, variances=0.25 - flags.points**2)
    places = flags.scattered(generator, 400).reshape(12, 400, 4)
    assert set(np.unique(places)) == {-0.5, 0.5}
    assert np.allclose(places.mean(axis=1), flags.points, atol=0.1)
    beyond = judge_solution(flags, flags.cut(4, generator=generator, restarts=10), last=None, generator=generator)
    assert beyond.stability.mean() < 0.8


def test_rows_that_were_clipped_leave_an_error_where_they_lie(generator):
    near = points_of([[-0.5, 0.0], [0.3, 0.0], [0.5, 0.0], [0.5, 0.6]], [3000, 1000, 1000, 400], variance=1e-4)
    centers = np.array([[-0.5, 0.0], [0.417, 0.1]])
    last = LastStep(offsets=np.zeros((2, 2)), errors=np.full(2, 1e-4), errors_before=np.zeros(2))
    whole, clipped = (
        judge_solution(near, centers, last=replace(last, radius=radius), generator=np.random.default_rng(0)).center_errors
        for radius in (np.inf, 0.25)
    )
    assert clipped[1, 1] > whole[1, 1] + 0.01
    assert np.allclose(clipped[0], whole[0], atol=1e-3)


def test_counts_are_those_of_the_clusters_before_the_last_step(generator):
    close = points_of([[-0.05, 0.0], [0.05, 0.0]], [1000, 1000], variance=1e-3)
    last = LastStep(offsets=np.zeros((2, 2)), errors=np.full(2, 1.0), errors_before=np.zeros(2))
    moved = replace(last, offsets=np.full((2, 2), 0.02))
    still, far = (judge_solution(close, close.points, last=one, generator=np.random.default_rng(0)) for one in (last, moved))
    assert np.all(still.count_errors == 0)
    assert np.all(far.count_errors > 20)


def test_a_ring_may_be_cut_anywhere(generator):
    angles = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    found = points_of(0.5 * np.c_[np.cos(angles), np.sin(angles)], np.full(24, 500.0), sigma=10.0, errors=0.002)
    centers = found.cut(3, generator=generator, restarts=10)
    beyond = judge_solution(found, centers, last=None, generator=generator)
    assert beyond.center_errors.mean() > 0.05
    assert beyond.stability.mean() < 0.8


def test_errors_before_the_last_step_are_carried_on_at_borders_only(generator):
    apart = points_of([[-0.6, 0.0], [0.6, 0.0]], [1000, 1000], variance=1e-4)
    close = points_of([[-0.02, 0.0], [0.02, 0.0]], [1000, 1000], variance=1e-3)
    errors = np.full(2, 0.01)
    last = LastStep(offsets=np.zeros((2, 2)), errors=errors, errors_before=errors)
    small, large = (judge_solution(one, one.points, last=last, generator=generator) for one in (apart, close))
    assert small.center_errors.max() == 0
    assert large.center_errors.max() > 0.001
    assert large.count_errors.max() > 5


def test_a_long_last_step_shows_that_centres_were_still_moving(generator):
    close = points_of([[-0.05, 0.0], [0.05, 0.0]], [1000, 1000], variance=1e-3)
    errors = np.full(2, 1e-4)

    def judged(length):
        last = LastStep(offsets=np.array([[length, 0.0], [0.0, 0.0]]), errors=errors, errors_before=errors)
        return judge_solution(close, close.points, last=last, generator=np.random.default_rng(0)).center_errors

    assert judged(0.05)[0, 0] > 10 * judged(1e-4)[0, 0]
    assert judged(0.05)[1, 0] > 10 * judged(1e-4)[1, 0]  # the border is theirs in common
    assert judged(0.05)[:, 1].max() < 0.2 * judged(0.05)[:, 0].min()


def test_the_way_left_is_the_one_that_k_means_would_still_go():
    line = np.linspace(-1, 1, 4001)[:, None]
    rows = resample._Scattered(line, np.ones(len(line)))
    before = np.array([[-0.9], [0.4]])
    centers = rows.step(before)[0]
    last = LastStep(offsets=centers - before, errors=np.zeros(2), errors_before=np.zeros(2))
    way = resample._way_left(rows, centers, last, length=0.1)
    assert np.allclose(centers + way, [[-0.5], [0.5]], atol=0.01)


def test_a_step_as_long_as_its_noise_leaves_no_way():
    line = np.linspace(-1, 1, 101)[:, None]
    last = LastStep(offsets=np.array([[0.05], [-0.05]]), errors=np.full(2, 0.05), errors_before=np.zeros(2))
    rows = resample._Scattered(line, np.ones(len(line)))
    assert not resample._way_left(rows, np.array([[-0.5], [0.5]]), last, length=0.1).any()


def test_many_centres_get_fewer_draws_and_very_many_none():
    usual, many, most = (resample._effort(3 * k, k) for k in (5, 128, 4000))
    assert usual == (resample.DRAWS, resample.RESTARTS)
    assert resample.FEWEST_DRAWS <= many[0] < usual[0]
    assert most[0] == 0


def test_without_draws_nothing_is_said_of_stability(generator):
    found = groups(generator, 3, 2, each=1)
    beyond = judge_solution(found, found.points, last=None, generator=generator)
    assert beyond.stability is None
    assert (beyond.center_errors == 0).all()


def test_rows_at_borders_are_placed_by_their_scatter(generator):
    found = points_of([[-0.1], [0.1]], [1000, 1000], variance=0.04)
    moved = place_of_rows(found, found.points, generator)
    assert abs(moved[0, 0]) > 0.13  # rows beyond the border belong to the other centre


@pytest.mark.parametrize("n_clusters", [1, 3, 30])
def test_noise_alone_stands_out_rarely(n_clusters, generator):
    noise = generator.normal(size=(2000, n_clusters)) * 7.0
    part = np.mean([stands_out(one, np.full(n_clusters, 7.0)).any() for one in noise])
    assert part < 0.04
    assert stands_out(np.full(n_clusters, 40.0), np.full(n_clusters, 7.0)).all()
    assert not stands_out(np.zeros(n_clusters), np.zeros(n_clusters)).any()


def total_errors(n_judged, noise, counts, count_noise, *, hidden, n_rows=900.0):
    """Return total errors of clusters, some of which were judged, all alike."""
    errors = {"center_errors": np.full((n_judged, 2), 0.03), "count_errors": np.full(n_judged, 3.0), "loss_error": 0.1}
    beyond, size = resample.Beyond(**errors, stability=np.ones(n_judged)), len(counts)
    noises = np.full((size, 2), noise), np.array(counts), np.full(size, count_noise)
    return add_beyond(*noises, beyond, n_rows=n_rows, hidden=hidden, frame=FRAME)


def test_errors_add_up_by_squares():
    total = total_errors(2, 0.04, [500.0, 400.0], 4.0, hidden=np.ones(2))
    assert np.allclose(total.centers, 0.05)
    assert np.allclose(total.counts, 5.0)
    assert (total.stability == 1).all()


def test_a_cluster_that_does_not_stand_out_may_be_anywhere_and_its_rows_are_with_the_others():
    total = total_errors(3, 0.04, [500.0, 400.0, 3.0, 0.0], 4.0, hidden=np.full(2, 0.2))
    assert np.allclose(total.centers[2], np.sqrt(0.04**2 + 0.03**2 + 0.2**2))
    assert np.allclose(total.centers[3], np.hypot(0.04, 0.2))
    assert (total.centers[:2] > 0.2).all()
    assert total.stability.tolist() == [1.0, 1.0, 0.0, 0.0]


def test_a_table_that_does_not_stand_out_has_no_cluster_that_does():
    total = total_errors(1, 1e-4, [60.0], 10.0, hidden=unknown_errors(FRAME), n_rows=3.0)
    assert total.stability.tolist() == [0.0]
    assert np.allclose(total.centers, unknown_errors(FRAME))


def test_no_error_is_larger_than_that_of_a_point_anywhere_in_the_domain():
    assert np.allclose(1.96 * unknown_errors(FRAME), 0.95 * FRAME.half_widths)
    assert np.allclose(unknown_errors(Ball(1.0, [0.0] * 7).frame()), 1 / 3)
