# SPDX-License-Identifier: Apache-2.0
"""The fault behind published figures, simulated: what it hides of the loss, and what it gives away."""

import numpy as np
import pytest
from benchmarks._data import load
from benchmarks.shared_noise import LIFTS, attack, lift_centers, simulate

CLIPPED, STATED, SHARED, _ = LIFTS


def test_a_shared_draw_leaves_differences_of_coordinates_as_they_are(generator):
    sums, counts = generator.normal(size=(5, 8)), np.full(5, 100)
    centers = lift_centers(sums, counts, SHARED, budget=1e-3, rng=generator)
    ratios = np.diff(centers, axis=1) / np.diff(sums, axis=1)
    assert np.allclose(ratios, ratios[:, :1])
    other = lift_centers(sums, counts, STATED, budget=1e-3, rng=generator)
    assert not np.allclose(np.diff(other, axis=1), np.diff(centers, axis=1))


@pytest.mark.parametrize("epsilon", [0.01, 1.0])
def test_a_row_is_read_from_a_shared_draw_and_from_no_other(epsilon, seed):
    read = attack(SHARED, epsilon=epsilon, seed=seed, runs=400)
    assert read.error < 1e-9
    assert read.told_apart == 1.0
    blind = attack(STATED, epsilon=epsilon, seed=seed, runs=400)
    assert blind.error > 1.0
    assert blind.told_apart < blind.most + 6 * (0.25 / 400) ** 0.5  # false alarm below 1e-8


@pytest.mark.slow
def test_a_shared_draw_hides_part_of_the_loss(seed):
    data = load("blobs_2000_64_16")
    found = [simulate(data, epsilon=0.25, seed=seed + repeat) for repeat in range(4)]
    means = {lift: np.mean([losses[lift] for losses in found]) for lift in LIFTS}
    assert max(means[SHARED], means[CLIPPED]) < 0.8 * means[STATED]
