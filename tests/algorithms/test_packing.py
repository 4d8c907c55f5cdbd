# SPDX-License-Identifier: Apache-2.0
"""Sphere packing: the first candidates lie in the ball and keep their distance."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from cloister.algorithms import pack_sphere, uniform


@pytest.mark.parametrize("dimension", [1, 3, 128])
@pytest.mark.parametrize("size", [1, 2, 400])
def test_points_lie_in_the_ball_and_apart(size, dimension, generator):
    points = pack_sphere(generator, size, dimension)
    assert points.shape == (size, dimension)
    norms = np.linalg.norm(points, axis=1)
    assert (norms <= 1).all()
    if size == 1:
        return
    spacing = pdist(points).min()
    assert spacing > 0
    # The last radius is a power of one half, and whoever is kept is twice that from the others and that from the boundary.
    radius = min(0.5, 2.0 ** np.floor(np.log2(spacing / 2)))
    assert norms.max() <= 1 - radius / 2 + 1e-12 or norms.max() <= 1 - radius + 1e-12


def test_a_large_radius_is_halved_until_all_points_fit(generator):
    few, many = (pdist(pack_sphere(generator, size, 2)).min() for size in (3, 300))
    assert many < few
    assert many > 0.01, "three hundred points fit into the disc with more room than this"


@pytest.mark.parametrize("dimension", [1, 2, 8])
def test_points_drawn_from_the_ball_follow_its_volume(dimension, generator):
    # P(|x| <= r) = r^d; 20,000 draws leave a deviation above 0.03 a chance below 1e-15 (Hoeffding).
    norms = np.linalg.norm(uniform(generator, 20_000, dimension), axis=1)
    assert norms.max() <= 1
    for part in (0.25, 0.5, 0.75):
        assert abs(np.mean(norms**dimension <= part) - part) < 0.03
