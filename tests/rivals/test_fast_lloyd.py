# SPDX-License-Identifier: Apache-2.0
"""FastLloyd's own parts: offsets from the centres, rows beyond the radius left out, centres folded back into the domain."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from tests.examples import examples

from cloister import GDP, Ball, PureDP
from cloister.exceptions import ParameterError
from cloister.rivals import BoundedCounts, BoundedSums, FastLloyd, LloydKMeans
from cloister.rivals._fast_lloyd import fold

# -- the radius ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_clusters", "n_features"), [(1, 1), (8, 1), (64, 4), (26, 16)])
def test_the_radius_is_a_fraction_of_half_the_diagonal_of_a_part(n_clusters, n_features):
    side = 2 / math.sqrt(n_features)  # of the cube in the unit ball
    part = side / n_clusters ** (1 / n_features)
    assert FastLloyd(alpha=0.8)._radius(n_clusters, n_features) == pytest.approx(0.8 * part * math.sqrt(n_features) / 2)


@pytest.mark.parametrize(("neighbours", "guarantee"), [("add-remove", GDP(1.0)), ("replace", PureDP(1.0))], ids=str)
def test_noise_shrinks_to_the_radius_after_the_first_round(neighbours, guarantee, generator):
    rows = generator.uniform(-0.5, 0.5, size=(50, 3))
    model = FastLloyd(27, bounds=Ball(1.0), alpha=0.6, guarantee=guarantee, neighbours=neighbours).fit(rows)
    first, *later = model.rounds_
    assert len(later) == 5
    assert first.radius == 1.0
    for one in later:
        assert one.radius == pytest.approx(0.6 / 3)
        assert one.sum_sigma == pytest.approx(0.2 * first.sum_sigma, rel=1e-5)
        assert one.count_sigma == pytest.approx(first.count_sigma, rel=1e-9)
    names = [event.question_name for event in model.privacy_receipt_.events]
    assert names == ["nearest_counts", "nearest_sums", *["bounded_counts", "bounded_sums"] * 5]


def test_one_round_is_a_round_of_lloyd(generator):
    rows = generator.uniform(-1, 1, size=(200, 2)) / 2
    fast, plain = (kind(3, bounds=Ball(1.0), n_rounds=1, random_state=5).fit(rows) for kind in (FastLloyd, LloydKMeans))
    assert np.allclose(fast.cluster_centers_, plain.cluster_centers_)


def test_the_number_of_rows_is_asked_for_by_the_rule_alone(generator):
    rows = generator.uniform(-1, 1, size=(50, 2))
    for n_rounds, times in ((6, 0), ("auto", 1)):
        events = FastLloyd(3, bounds=(-1, 1), n_rounds=n_rounds).fit(rows).privacy_receipt_.events
        assert [event.question_name for event in events].count("row_count") == times


# -- what is computed ----------------------------------------------------------------------------------------------------


@examples(40)
@given(seed=st.integers(0, 2**20), n_features=st.integers(1, 6), radius=st.sampled_from([1e-6, 0.25, 0.3, 0.5, 1.0, 3.0]))
def test_both_questions_leave_the_same_rows_out(seed, n_features, radius):
    # Rows on a coarse lattice lie exactly on the border of some radii.
    generator = np.random.default_rng(seed)
    points = generator.integers(-1, 2, size=(3, n_features)) / 2
    rows = generator.integers(-4, 5, size=(12, n_features)) / 4
    counts, sums = BoundedCounts(points=points, radius=radius), BoundedSums(points=points, radius=radius)
    assert counts.radius == sums.radius <= radius
    nearest = cdist(rows, points).min(axis=1)
    for row, distance in zip(rows, nearest, strict=True):
        near = distance <= counts.radius + 1e-12
        assert counts.exact(row[None]).sum() == near
        assert sums.exact(row[None]).any() == (near and distance > 0)


@pytest.mark.parametrize("kind", [BoundedCounts, BoundedSums])
@pytest.mark.parametrize("radius", [0.0, 5.0, math.nan])
def test_a_radius_is_a_distance_in_the_ball(kind, radius):
    with pytest.raises(ParameterError, match=r"s\.radius: expected a finite number above 0 and of at most 4, got"):
        kind(points=np.zeros((1, 2)), radius=radius)


# -- folding -------------------------------------------------------------------------------------------------------------

POINTS = st.lists(st.lists(st.floats(-50, 50), min_size=3, max_size=3), min_size=1, max_size=4).map(np.array)


@given(points=POINTS)
def test_folded_points_lie_in_the_ball_on_their_line(points):
    folded = fold(points)
    assert np.linalg.norm(folded, axis=1).max() <= 1 + 1e-12
    lengths = np.linalg.norm(points, axis=1)
    inside = lengths <= 1
    assert np.array_equal(folded[inside], points[inside])
    for before, after, length in zip(points, folded, lengths, strict=True):
        assert abs(before @ after) == pytest.approx(length * np.linalg.norm(after), abs=1e-9)
        if 1 < length <= 2:  # as far inside the sphere as it was outside
            assert np.linalg.norm(after) == pytest.approx(2 - length, abs=1e-9)


@given(points=POINTS, widths=st.lists(st.floats(0.05, 1.0), min_size=3, max_size=3).map(np.array))
def test_folded_points_lie_in_the_box_as_far_inside_as_they_were_outside(points, widths):
    folded = fold(points, widths)
    assert np.all(np.abs(folded) <= widths * (1 + 1e-12))
    inside = np.abs(points) <= widths
    assert np.array_equal(folded[inside], points[inside])
    over = np.abs(points) - widths
    once = (over > 0) & (over <= 2 * widths)
    assert np.allclose((widths - np.sign(points) * folded)[once], over[once], atol=1e-9)


def test_noise_far_beyond_the_domain_is_folded_and_not_piled_up_on_its_boundary(generator):
    model = FastLloyd(200, bounds=(-1, 1), epsilon=0.01, n_rounds=2).fit(generator.uniform(-1, 1, size=(2000, 2)))
    on_the_boundary = np.isclose(np.abs(model.cluster_centers_), 1.0, atol=1e-9).any(axis=1)
    assert on_the_boundary.mean() < 0.05
    clipped = LloydKMeans(200, bounds=(-1, 1), epsilon=0.01, n_rounds=2).fit(generator.uniform(-1, 1, size=(2000, 2)))
    assert np.isclose(np.abs(clipped.cluster_centers_), 1.0, atol=1e-9).any(axis=1).mean() > 0.2
