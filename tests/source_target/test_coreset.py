# SPDX-License-Identifier: Apache-2.0
"""The coreset of the target: every point near its representative, every point counted once."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

from cloister.algorithms import tree_coreset


@examples(80)
@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.integers(1, 200),
    width=st.integers(1, 4),
    radius=st.sampled_from([0.0, 0.01, 0.3, 5.0]),
    most=st.sampled_from([1, 2, 7, 1000]),
    ticks=st.sampled_from([None, 3]),
)
def test_every_point_has_a_representative_within_the_radius(seed, size, width, radius, most, ticks):
    generator = np.random.default_rng(seed)
    points = generator.normal(size=(size, width)) if ticks is None else generator.integers(0, ticks, (size, width)) / 1.0
    found = tree_coreset(points, radius, max_size=most)
    distances = np.linalg.norm(points - points[found.indices[found.owner]], axis=1)
    assert distances.max() <= found.radius + 1e-12
    assert found.radius <= radius or len(found.indices) == most
    assert len(found.indices) <= (1 if (points == points[0]).all() else most)
    assert found.indices.tolist() == sorted(set(found.indices.tolist()))
    assert found.weights.sum() == size
    assert (found.weights > 0).all()
    assert (found.owner[found.indices] == np.arange(len(found.indices))).all()


def test_a_larger_radius_needs_fewer(generator):
    points = generator.uniform(-1, 1, (500, 2))
    sizes = [len(tree_coreset(points, radius, max_size=1000).indices) for radius in (0.0, 0.05, 0.2, 3.0)]
    assert sizes == sorted(sizes, reverse=True)
    assert (sizes[0], sizes[-1]) == (500, 1)
