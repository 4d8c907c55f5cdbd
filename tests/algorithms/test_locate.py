# SPDX-License-Identifier: Apache-2.0
"""The first half of KMeans: votes that find where rows are."""

import numpy as np
import pytest

from cloister import GDP, PureDP
from cloister.algorithms import LocateSteps, locate
from cloister.algorithms._locate import _vary, find_axes
from cloister.columns import clip_to_unit_ball
from cloister.questions import DistanceHistogram, NearestCounts, NearestSums, SecondMoments

from ..steps import ball, box, step_of

CLEAR = GDP(1e6)
MIDDLES = np.array([[-0.6, -0.4], [0.6, -0.4], [-0.5, 0.6], [0.6, 0.6]])


def run(vault, generator, cost=CLEAR, *, n_rows, space=None, n_votes=3, n_candidates=400, fineness=3, axes=True, dimension=99):
    votes = tuple(step_of(f"vote {index + 1}", cost, "counts", n_points=n_candidates) for index in range(n_votes))
    steps = LocateSteps(
        origin=tuple(step_of(f"mean {index + 1}", cost, "sums", "distances") for index in range(3)),
        axes=step_of("axes", cost, "moments") if axes else None,
        votes=votes,
        fineness=fineness,
        dimension=dimension,
        n_points=12,
    )
    return locate(vault.ask, steps, (space or ball(2)).frame, n_rows=n_rows, generator=generator)


@pytest.fixture
def blobs(generator):
    """Four clusters of unequal size, of which the smallest has a twentieth of the rows."""
    return np.repeat(MIDDLES, (700, 150, 100, 50), axis=0) + 0.02 * generator.normal(size=(1000, 2))


@pytest.mark.parametrize("axes", [True, False])
def test_it_asks_for_the_mean_the_axes_and_the_votes(axes, blobs, generator, vault_of):
    vault = vault_of(blobs)
    located = run(vault, generator, n_rows=1000, axes=axes)
    moments = [SecondMoments] if axes else []
    kinds = [NearestSums, DistanceHistogram, *moments, *[NearestCounts] * 3]
    assert [type(question) for question, _ in vault.asked] == kinds
    names = ["mean 1", "mean 1", *["axes"][: len(moments)], "vote 1", "vote 2", "vote 3"]
    assert [query.step for _, query in vault.asked] == names
    assert [len(question.points) for question, _ in vault.asked if isinstance(question, NearestCounts)] == [400, 400, 400]
    assert located.origin.n_asked == 1


@pytest.mark.parametrize("space", [ball(2), box([0.7, 0.7])], ids=["ball", "box"])
@pytest.mark.parametrize("fineness", [1, 3])
def test_without_noise_every_cluster_has_a_point(space, fineness, blobs, generator, vault_of):
    located = run(vault_of(blobs), generator, n_rows=1000, space=space, fineness=fineness)
    assert located.points.shape == (12, 2)
    assert np.linalg.norm(located.points[:, None] - MIDDLES, axis=2).min(axis=0).max() < 0.4  # clusters are 1 apart
    near = np.linalg.norm(located.candidates[:, None] - MIDDLES, axis=2).min(axis=1) < 0.15
    assert near.mean() > 0.6, "the last candidates stand where the rows are"


def test_the_mean_and_the_lengths_are_those_of_the_rows(blobs, generator, vault_of):
    located = run(vault_of(blobs), generator, n_rows=1000)
    assert np.abs(located.origin.point - blobs.mean(axis=0)).max() < 1e-3
    lengths = np.linalg.norm(blobs - blobs.mean(axis=0), axis=1)
    profile = located.origin.profile
    counts = np.bincount(np.searchsorted(profile.edges, lengths, side="right"), minlength=len(profile.counts))
    assert np.abs(profile.counts - counts).max() < 30  # a row near an edge may change sides with the mean


@pytest.mark.parametrize("axes", [True, False])
def test_in_a_projection_points_lie_where_the_projected_rows_are(axes, generator, vault_of):
    middles = clip_to_unit_ball(generator.normal(size=(3, 30)))
    rows = clip_to_unit_ball(np.repeat(middles, 200, axis=0) + 0.005 * generator.normal(size=(600, 30)))
    vault = vault_of(rows)
    located = run(vault, generator, n_rows=600, space=ball(30), dimension=3, axes=axes)
    projection = located.space.projection
    assert np.allclose(projection.T @ projection, np.eye(projection.shape[1]))
    assert located.points.shape[1] == projection.shape[1] == (2 if axes else 3)  # three points lie in a plane
    assert all(question.projection is not None for question, _ in vault.asked if isinstance(question, NearestCounts))
    assert np.linalg.norm(located.points[:, None] - middles @ projection, axis=2).min(axis=0).max() < 0.1
    lifted = located.space.lift(located.points)
    if axes:
        assert np.linalg.norm(lifted[:, None] - middles, axis=2).min(axis=0).max() < 0.1, "the mean's part is kept"


@pytest.mark.parametrize(("cost", "n_rows", "dimension"), [(GDP(1e-3), 0, 9), (PureDP(1e-3), 1, 1), (GDP(1.0), 20, 2)], ids=str)
def test_whatever_the_noise_points_lie_in_the_domain(cost, n_rows, dimension, generator, vault_of):
    vault = vault_of(clip_to_unit_ball(generator.normal(size=(n_rows, dimension))))
    located = run(vault, generator, cost, n_rows=max(n_rows, 1), space=ball(dimension), n_candidates=30)
    assert 1 <= len(located.points) <= 12
    for points in (located.points, located.candidates, located.origin.point[None]):
        assert np.isfinite(points).all()
        assert np.linalg.norm(points, axis=1).max() <= 1 + 1e-9


def test_bounds_a_thousand_times_too_wide_cost_two_more_steps(generator, vault_of):
    middle = np.array([0.5, -0.3])
    rows = middle + 1e-3 * (np.repeat(MIDDLES, 500, axis=0) + 0.05 * generator.normal(size=(2000, 2)))
    vault = vault_of(rows)
    located = run(vault, generator, GDP(0.3), n_rows=2000)
    assert located.origin.n_asked >= 2
    assert np.linalg.norm(located.origin.point - rows.mean(axis=0)) < 3e-4
    assert np.linalg.norm(located.points[:, None] - (middle + 1e-3 * MIDDLES), axis=2).min(axis=0).max() < 4e-4


def test_candidates_follow_the_axes(generator, vault_of):
    rows = generator.normal(size=(2000, 3)) @ np.diag([0.3, 0.003, 0.003]) @ np.linalg.qr(generator.normal(size=(3, 3)))[0]
    located = run(vault_of(clip_to_unit_ball(rows)), generator, n_rows=2000, n_votes=1, space=ball(3))
    assert located.space.projection is None
    long = np.linalg.eigvalsh(np.cov(located.candidates.T))
    assert long[-1] > 4 * long[-2], "three of four candidates are drawn along the axis"


@pytest.mark.parametrize(("mu", "most"), [(1e-2, 8), (100.0, 0)])
def test_axes_that_noise_hides_are_rarely_seen(mu, most, generator, vault_of):
    """In six dimensions the edge of the noise is not sharp: it lifts an eigenvalue beyond it in one of 20 draws or fewer.

    Nine of 30 draws would then be an event of probability 2e-5.
    """
    vault, wrong = vault_of(clip_to_unit_ball(0.3 * generator.normal(size=(300, 6)))), 0
    for _ in range(30):
        axes = find_axes(vault.ask, GDP(mu), np.zeros(6), radius=1.0, n_rows=300)
        wrong += bool(np.ptp(axes.spreads)) == (mu < 1)  # those that are not seen share what is left
        assert np.isfinite(axes.spreads).all()
        assert (axes.spreads > 0).all()
        assert np.allclose(axes.directions.T @ axes.directions, np.eye(6))
    assert wrong <= most


def test_axes_and_spreads_are_those_of_the_rows(generator, vault_of):
    turn, spreads = np.linalg.qr(generator.normal(size=(5, 5)))[0], np.array([0.2, 0.1, 0.05, 0.02, 0.01])
    rows = generator.normal(size=(20_000, 5)) * spreads @ turn.T
    axes = find_axes(vault_of(rows).ask, GDP(1.0), np.zeros(5), radius=1.0, n_rows=20_000)
    assert np.abs(axes.spreads[:3] / spreads[:3] - 1).max() < 0.1
    assert np.abs((axes.directions * turn).sum(axis=0)[:3]).min() > 0.95


@pytest.mark.parametrize(("sigma", "part"), [(1.0, 0.53), (60.0, 0.1)], ids=["votes stand out", "votes may be noise"])
def test_a_candidate_apart_from_the_others_gets_more_of_the_next_ones(sigma, part, generator):
    crowd = np.column_stack([np.linspace(0.0, 0.1, 90), np.zeros(90)])
    candidates = np.vstack([crowd, [[0.9, 0.0]]])
    mass = np.concatenate([np.full(90, 10.0), [100.0]])
    drawn = _vary(generator, candidates, mass, sigma, 4000)
    assert np.mean(np.linalg.norm(drawn - [0.05, 0.0], axis=1) > 0.06) == pytest.approx(part, abs=0.03)
