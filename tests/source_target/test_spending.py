# SPDX-License-Identifier: Apache-2.0
"""What the published calibration charges and draws, and what the noise of a fit may depend on.

That fits spend their budget and no more is tested for all methods and variants in tests/common/test_budgets.py.
"""

import math

import numpy as np
import pytest

from cloister import GDP, Ball, PureDP
from cloister.audit import share_spent


def draw(generator, n_features):
    """Return a target and a source."""
    return generator.uniform(-1, 1, (2, 50, n_features)) / math.sqrt(n_features)


@pytest.mark.parametrize("n_features", [1, 2, 33])
@pytest.mark.parametrize("guarantee", [PureDP(2.0), GDP(0.7)], ids=lambda one: one.kind)
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_the_paper_charges_between_half_and_all_of_it(make, generator, n_features, guarantee, neighbours):
    target, source = draw(generator, n_features)
    model = make(calibration="paper", guarantee=guarantee, neighbours=neighbours, bounds=Ball(1.0)).fit(target, source=source)
    assert 0.5 <= share_spent(model.privacy_receipt_.events, guarantee) <= 1 + 1e-12


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_the_paper_draws_the_pure_noise_it_states(make, generator, delta):
    target, source = draw(generator, 2)
    model = make(calibration="paper", epsilon=3.0, delta=delta, bounds=Ball(1.0)).fit(target, source=source)
    counts, sums = model.privacy_receipt_.events
    assert counts.mechanism == sums.mechanism == "discrete_laplace"
    # b = (sqrt(d) + 1) / epsilon on counts and, for points of norm at most 1/2, on sums: twice that in the unit ball.
    scale = (math.sqrt(2) + 1) / 3
    assert counts.scale == pytest.approx(scale, rel=1e-6)
    assert sums.scale * sums.unit == pytest.approx(2 * scale, rel=1e-6)


def test_sharp_noise_on_sums_is_smaller_than_the_papers(make, generator):
    target, source = generator.normal(0, 0.1, (200, 2)), generator.normal(0, 0.1, (200, 2))
    sharp, paper = (
        make(20, calibration=name, bounds=Ball(1.0)).fit(target, source=source).privacy_receipt_.events[1]
        for name in ("sharp", "paper")
    )
    assert sharp.scale * 3 < paper.scale


def test_the_radius_is_a_function_of_the_target_alone(make, generator):
    target = generator.normal(size=(80, 2))
    sources = (np.empty((0, 2)), np.full((9, 2), 1e9), generator.normal(size=(500, 2)))
    sums = [make(random_state=1).fit(target, source=source).privacy_receipt_.events[1] for source in sources]
    assert {event.question_name for event in sums} == {"nearest_sums"}
    assert len({event.sensitivity * event.unit for event in sums}) == 1
