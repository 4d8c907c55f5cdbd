# SPDX-License-Identifier: Apache-2.0
"""The plane in which points are drawn."""

import numpy as np
import pytest

from cloister.algorithms import plane_of


@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (2, 1), (2, 5), (7, 2), (40, 6)])
def test_a_plane_is_orthonormal_and_its_signs_are_fixed(shape: tuple[int, int], generator: np.random.Generator) -> None:
    points = generator.normal(size=shape)
    plane, mirrored = plane_of(points), plane_of(-points)
    n_axes = min(2, shape[1])
    assert np.allclose(plane.axes.T @ plane.axes, np.diag([1.0] * n_axes + [0.0] * (2 - n_axes)))
    assert np.allclose(plane.project(points[:1]), -mirrored.project(-points[:1])) or min(shape) < 3
    assert (np.abs(plane.axes).max(axis=0) == plane.axes.max(axis=0)).all()
    assert sum(plane.shares) <= 1 + 1e-9


def test_a_plane_keeps_the_distances_of_three_points(generator: np.random.Generator) -> None:
    points = generator.normal(size=(3, 8))
    plane = plane_of(points)
    drawn = plane.project(points)
    for one, other in ((0, 1), (0, 2), (1, 2)):
        assert np.linalg.norm(drawn[one] - drawn[other]) == pytest.approx(np.linalg.norm(points[one] - points[other]))
    assert sum(plane.shares) == pytest.approx(1)
    assert plane.place(points) == np.round(drawn, 5).tolist()


def test_points_in_one_place_have_no_spread() -> None:
    assert plane_of(np.ones((4, 3))).shares == (0.0, 0.0)
    assert plane_of(np.ones((1, 3))).project(np.array([[2.0, 1.0, 1.0]])).tolist() == [[1.0, 0.0]]
