# SPDX-License-Identifier: Apache-2.0
"""Private evolution, told by a fake ``ask`` that keeps the rows to itself."""

import itertools

import numpy as np
import pytest
from scipy import stats
from scipy.special import gamma

from cloister import GDP
from cloister.algorithms import EvolutionSettings, evolve, lift, random_projection
from cloister.algorithms._evolution import levy_flight
from cloister.columns import clip_to_unit_ball, snap
from cloister.questions import NearestCounts, NearestSums

from ..steps import ball, step_of

COST = GDP(1e6)


def run(vault, generator, *, n_clusters=4, n_rows=1000, cost=COST, n_rounds=6, **settings):
    return evolve(
        vault.ask,
        [cost] * n_rounds,
        ball(2),
        n_clusters=n_clusters,
        n_rows=n_rows,
        settings=EvolutionSettings(**{"n_variations": 20, "n_init": 2, **settings}),
        generator=generator,
    )


@pytest.fixture
def blobs(generator):
    """Four well separated clusters of unequal size in the plane."""
    middles = np.array([[-0.6, -0.4], [0.6, -0.4], [-0.5, 0.6], [0.6, 0.6]])
    sizes = (700, 150, 100, 50)
    return np.vstack([mid + 0.02 * generator.normal(size=(size, 2)) for mid, size in zip(middles, sizes, strict=True)]), middles


def test_one_vote_a_round_on_the_centres_before_and_variations_of_them(blobs, generator, vault_of):
    # (L + 1) k candidates at first, then the k centres and k L variations of them (facts.md).
    vault = vault_of(blobs[0])
    generations = run(vault, generator, adaptive=False)
    assert [type(question) for question, _ in vault.asked] == [NearestCounts] * 6
    assert {cost for _, cost in vault.asked} == {COST}
    assert [len(one.candidates) for one in generations] == [21 * 4] * 6
    for before, after in itertools.pairwise(generations):
        assert np.array_equal(after.candidates[:4], before.centers)


def test_candidates_stay_in_the_domain(blobs, generator, vault_of):
    vault = vault_of(blobs[0])
    for generation in run(vault, generator, step=0.9, levy_exponent=0.5):
        assert (np.linalg.norm(generation.candidates, axis=1) <= 1 + 1e-9).all()
        assert (np.linalg.norm(generation.centers, axis=1) <= 1 + 1e-9).all()
        assert generation.centers.shape == (4, 2)


def test_variations_are_halved_while_noise_is_louder_than_votes(blobs, generator, vault_of):
    vault = vault_of(blobs[0])
    run(vault, generator, cost=GDP(1e-4), n_variations=40)
    sizes = [len(question.points) for question, _ in vault.asked]
    assert sizes[0] == 41 * 4
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 5 * 4, "no fewer than four variations of each centre"
    loud = vault_of(blobs[0])
    run(loud, generator, n_variations=40)
    assert {len(question.points) for question, _ in loud.asked} == {41 * 4}


def test_k_means_keeps_every_cluster_where_the_older_rule_splits_votes(blobs, generator, vault_of):
    # Figure 1 of the paper: candidates crowd around the large cluster and share its votes; still each of them has more votes
    # than the only candidate near a small cluster, so the k most voted all end up in the large one.
    rows, middles = blobs

    def clusters_found(selection):
        vault = vault_of(rows)
        centers = run(vault, generator, selection=selection, n_rounds=10, n_variations=40)[-1].centers
        distance = np.linalg.norm(centers[:, None] - middles, axis=2)
        return len(set(distance.argmin(axis=1)[distance.min(axis=1) < 0.2])), distance.min(axis=0).max()

    found, worst = clusters_found("kmeans")
    assert found == 4
    assert worst < 0.1
    assert clusters_found("top-k")[0] < 4


@pytest.mark.parametrize("options", [{"selection": "kmedians"}, {"vote_rule": "nonnegative-total"}, {"vote_rule": "threshold"}])
@pytest.mark.parametrize("first_candidates", ["packing", "uniform"])
def test_every_other_rule_finds_the_clusters_too(options, first_candidates, blobs, generator, vault_of):
    rows, middles = blobs
    vault = vault_of(rows)
    centers = run(vault, generator, first_candidates=first_candidates, n_variations=60, n_rounds=10, **options)[-1].centers
    assert np.linalg.norm(centers[:, None] - middles, axis=2).min(axis=0).max() < 0.15
    assert [type(question) for question, _ in vault.asked] == [NearestCounts] * 10


def test_a_threshold_is_in_standard_deviations_of_the_noise(blobs, generator, vault_of):
    cost = GDP(0.5)  # 2 votes
    for generation in run(vault_of(blobs[0]), generator, cost=cost, vote_rule="threshold", vote_threshold=5.0):
        assert generation.sigma == pytest.approx(2.0, rel=0.01)
        assert not ((generation.votes > 0) & (generation.votes < 5 * generation.sigma)).any()


# -- the high-dimensional variant ----------------------------------------------------------------------------------------


def test_lifting_asks_two_questions_and_averages(generator, vault_of):
    flat = random_projection(generator, 40, 2)
    one, other = np.linalg.qr(flat)[0].T  # what the projection sees: middles that lie far apart there, for any seed
    middles = 0.9 * np.array([one, other, -(one + other) / 2**0.5])
    rows = clip_to_unit_ball(np.repeat(middles, 200, axis=0) + 0.01 * generator.normal(size=(600, 40)))
    vault = vault_of(rows)
    question = NearestCounts(points=np.zeros((1, 2)), projection=flat)
    seen = question.view(snap(middles))
    found = lift(vault.ask, step_of("average", COST, "counts", "sums"), seen, ball(40, flat))
    centers, counts, errors = found.centers, found.counts, found.errors
    assert [type(asked) for asked, _ in vault.asked] == [NearestCounts, NearestSums]
    assert all(np.array_equal(asked.projection, question.projection) for asked, _ in vault.asked)
    assert np.abs(np.sort(counts) - 200).max() < 5
    assert np.abs(centers - middles).max() < 0.02
    assert errors.shape == centers.shape


def test_a_projection_keeps_squared_norms_on_average(generator):
    # |G x|^2 is chi-square with p degrees of freedom, divided by p; the mean of 4,000 has deviation sqrt(2 / (16 * 4000)).
    norms = [np.sum((np.eye(1, 30) @ random_projection(generator, 30, 16)) ** 2) for _ in range(4000)]
    assert abs(np.mean(norms) - 1) < 8 * (2 / (16 * 4000)) ** 0.5


# -- variations ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("exponent", [0.5, 1.0, 1.5, 1.75, 1.99])
def test_levy_steps_follow_mantegnas_law(exponent, generator):
    # A step is u / |v|^(1/beta) with u ~ N(0, scale^2) and v ~ N(0, 1). At beta = 1 that is u / |v|: Cauchy times the scale.
    numerator = gamma(1 + exponent) * np.sin(np.pi * exponent / 2)
    scale = (numerator / (gamma((1 + exponent) / 2) * exponent * 2 ** ((exponent - 1) / 2))) ** (1 / exponent)
    steps = levy_flight(generator, (10_000, 2), exponent).ravel()
    assert len(np.unique(steps)) == steps.size  # every coordinate takes its own
    u, v = np.random.default_rng(1).standard_normal((2, 200_000))
    law = scale * u / np.abs(v) ** (1 / exponent)
    assert stats.ks_2samp(steps, law).pvalue > 1e-9
    assert abs(np.mean(steps > 0) - 0.5) < 0.03
    if exponent == 1.0:
        assert scale == pytest.approx(1.0)
        assert stats.kstest(steps, stats.cauchy.cdf).pvalue > 1e-9


def test_lifted_centres_of_nobody_are_finite(generator, vault_of):
    points, flat = clip_to_unit_ball(generator.normal(size=(5, 2))), ball(40, random_projection(generator, 40, 2))
    found = lift(vault_of(np.empty((0, 40))).ask, step_of("average", GDP(0.5), "counts", "sums"), points, flat)
    assert found.centers.shape == (5, 40)
    assert np.isfinite(found.centers).all()
