# SPDX-License-Identifier: Apache-2.0
"""The first half of KMeans: votes that find where rows are."""

from types import SimpleNamespace

import numpy as np
import pytest

from cloister import GDP, PureDP
from cloister.algorithms import LocateSteps, locate, orthonormal_projection
from cloister.questions import DistanceHistogram, NearestCounts, NearestSums

from ..steps import ball, box, step_of

CLEAR = GDP(1e6)
MIDDLES = np.array([[-0.6, -0.4], [0.6, -0.4], [-0.5, 0.6], [0.6, 0.6]])


def clip(points):
    return points / np.maximum(np.linalg.norm(points, axis=1, keepdims=True), 1.0)


def run(vault, generator, cost=CLEAR, *, n_rows, space=None, n_votes=3, n_candidates=400, fineness=3):
    votes = tuple(step_of(f"vote {index + 1}", cost, "counts", n_points=n_candidates) for index in range(n_votes))
    mean, spread = step_of("mean", cost, "sums"), step_of("spread", cost, "distances")
    steps = LocateSteps(mean=mean, spread=spread, votes=votes, fineness=fineness, n_points=12)
    return locate(vault.ask, steps, space or ball(2), n_rows=n_rows, generator=generator)


@pytest.fixture
def blobs(generator):
    """Four clusters of unequal size, of which the smallest has a twentieth of the rows."""
    return np.repeat(MIDDLES, (700, 150, 100, 50), axis=0) + 0.02 * generator.normal(size=(1000, 2))


def test_it_asks_for_the_mean_the_scale_and_the_votes(blobs, generator, vault_of):
    vault = vault_of(blobs)
    run(vault, generator, n_rows=1000)
    assert [type(question) for question, _ in vault.asked] == [NearestSums, DistanceHistogram, *[NearestCounts] * 3]
    assert [query.step for _, query in vault.asked] == ["mean", "spread", "vote 1", "vote 2", "vote 3"]
    assert [len(question.points) for question, _ in vault.asked] == [1, 1, 400, 400, 400]


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
    assert np.abs(located.origin - blobs.mean(axis=0)).max() < 1e-3
    lengths = np.linalg.norm(blobs - blobs.mean(axis=0), axis=1)
    counts = np.bincount(np.searchsorted(located.profile.edges, lengths, side="right"), minlength=len(located.profile.counts))
    assert np.abs(located.profile.counts - counts).max() < 30  # a row near an edge may change sides with the mean


def test_rows_much_closer_together_than_the_domain_is_wide_are_found(generator, vault_of):
    rows = np.array([0.7, 0.1]) + 0.003 * (
        np.repeat([[-1.0, 0.0], [1.0, 0.0]], 500, axis=0) + 0.1 * generator.normal(size=(1000, 2))
    )
    located = run(vault_of(rows), generator, n_rows=1000)
    for middle in ([0.697, 0.1], [0.703, 0.1]):
        assert np.linalg.norm(located.points - middle, axis=1).min() < 0.001


def test_in_a_projection_points_lie_where_the_projected_rows_are(generator, vault_of):
    middles = clip(generator.normal(size=(3, 30)))
    rows = clip(np.repeat(middles, 200, axis=0) + 0.005 * generator.normal(size=(600, 30)))
    projection = orthonormal_projection(generator, 30, 3)
    vault = vault_of(rows)
    located = run(vault, generator, n_rows=600, space=ball(30, projection))
    assert located.points.shape[1] == 3
    assert all(question.projection is not None for question, _ in vault.asked)
    assert np.linalg.norm(located.points[:, None] - middles @ projection, axis=2).min(axis=0).max() < 0.1
    assert np.abs(located.origin - rows.mean(axis=0) @ projection).max() < 1e-3


def test_a_projection_is_orthonormal_and_random(generator):
    one, two = (orthonormal_projection(generator, 40, 8) for _ in range(2))
    assert np.allclose(one.T @ one, np.eye(8))
    assert np.abs(one - two).max() > 0.01


@pytest.mark.parametrize("cost", [GDP(1e-3), PureDP(1e-3), GDP(1.0)], ids=str)
@pytest.mark.parametrize("n_rows", [0, 1, 20])
@pytest.mark.parametrize("dimension", [1, 2, 9])
def test_whatever_the_noise_points_lie_in_the_domain(cost, n_rows, dimension, generator, vault_of):
    vault = vault_of(clip(generator.normal(size=(n_rows, dimension))))
    located = run(vault, generator, cost, n_rows=max(n_rows, 1), space=ball(dimension), n_candidates=30)
    assert 1 <= len(located.points) <= 12
    for points in (located.points, located.candidates, located.origin[None]):
        assert np.isfinite(points).all()
        assert np.linalg.norm(points, axis=1).max() <= 1 + 1e-9


@pytest.mark.parametrize("mu", [1e-3, 1e-2])
def test_a_mean_that_drowns_in_noise_stays_in_the_middle(mu, generator, vault_of):
    vault = vault_of(np.zeros((50, 4)))
    origins = [run(vault, generator, GDP(mu), n_rows=50, space=ball(4)).origin for _ in range(20)]
    assert np.mean(np.linalg.norm(origins, axis=1)) < 0.25


def test_candidates_that_all_fall_together_are_no_trouble(generator, vault_of):
    nowhere = SimpleNamespace(
        **dict.fromkeys(("projection", "half_widths")), dimension=2, clip=np.zeros_like, draw=ball(2).draw
    )
    located = run(vault_of(np.zeros((100, 2))), generator, n_rows=100, space=nowhere)
    assert not located.points.any()
