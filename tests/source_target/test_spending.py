# SPDX-License-Identifier: Apache-2.0
"""All that a fit spends, added up from noise and sensitivity by an independent sum: the budget, and at most 0.1 % less."""

import math

import numpy as np
import pytest

from cloister import GDP, ZCDP, Ball, Ledger, PureDP

LEAST = 1 - 1e-3


def ratio(event, n_features, radius, n_neighbors):
    """How far the answer can move over the scale of its noise, from first principles."""
    pure, replaced = event.mechanism == "discrete_laplace", event.relation == "replace"
    spread = math.sqrt(n_features) if pure else 1.0  # l1 over l2 norm of one vector, at most
    if event.question_name == "row_count":
        return 1 / event.scale
    if event.question_name == "nearest_counts":
        return (2.0 if pure else math.sqrt(2)) / event.scale if replaced else 1 / event.scale
    if event.question_name == "nearest_sums":
        steps = math.floor(radius / event.unit)  # offsets are clipped to whole steps of the grid
        return spread * (2 if replaced else 1) * steps / event.scale
    n_points = event.size // n_features
    assert event.question_name == "neighbour_means"
    # One row moves every one of n means by the diameter over t.
    return spread * (n_points if pure else math.sqrt(n_points)) * 2.0 / n_neighbors / event.unit / event.scale


def share(model, guarantee, n_features, *, radius=1.0, n_neighbors=5):
    ratios = [ratio(event, n_features, radius, n_neighbors) for event in model.privacy_receipt_.events]
    if isinstance(guarantee, PureDP):
        return math.fsum(ratios) / guarantee.epsilon
    mu = math.sqrt(math.fsum(one**2 for one in ratios))
    return mu**2 / 2 / guarantee.rho if isinstance(guarantee, ZCDP) else mu / guarantee.mu


@pytest.fixture
def tables(generator):
    def draw(n_features):
        target, source = (generator.uniform(-1, 1, (50, n_features)) / math.sqrt(n_features) for _ in range(2))
        return target, source

    return draw


GUARANTEES = [PureDP(2.0), ZCDP(0.3), GDP(0.7)]


@pytest.mark.fast("nna-add-remove-pure-2", "nna-replace-zcdp-33", "nas-*-gdp-8")
@pytest.mark.parametrize("n_features", [1, 2, 8, 33])
@pytest.mark.parametrize("guarantee", GUARANTEES, ids=lambda one: one.kind)
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("method", ["nna", "nas"])
def test_a_fit_spends_its_budget(make, tables, n_features, guarantee, neighbours, method, plans):
    target, source = tables(n_features)
    ledger = Ledger(guarantee, neighbours=neighbours)
    model = make(
        method=method, guarantee=guarantee, neighbours=neighbours, bounds=Ball(1.0), ledger=ledger, n_rows=50, n_neighbors=5
    ).fit(target, source=source)
    spent = share(model, guarantee, n_features, radius=plans[0].radius)
    # Grid steps are counted in the sensitivity of NAS, on top of the diameter.
    assert LEAST <= spent <= 1 + 1e-12
    assert not ledger.spent.empty


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_an_unknown_size_is_paid_for(make, tables, neighbours):
    target, source = tables(3)
    model = make(method="nas", guarantee=PureDP(2.0), neighbours=neighbours, bounds=Ball(1.0), n_neighbors=1).fit(
        target, source=source
    )
    assert LEAST <= share(model, PureDP(2.0), 3, n_neighbors=1) <= 1 + 1e-12


@pytest.mark.parametrize("n_features", [1, 2, 8, 33])
@pytest.mark.parametrize("guarantee", [PureDP(2.0), GDP(0.7)], ids=lambda one: one.kind)
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_the_paper_charges_between_half_and_all_of_it(make, tables, n_features, guarantee, neighbours):
    target, source = tables(n_features)
    model = make(calibration="paper", guarantee=guarantee, neighbours=neighbours, bounds=Ball(1.0)).fit(target, source=source)
    assert 0.5 <= share(model, guarantee, n_features) <= 1 + 1e-12


def test_the_paper_draws_the_noise_it_states(make, tables):
    target, source = tables(2)
    counts, sums = make(calibration="paper", epsilon=3.0, bounds=Ball(1.0)).fit(target, source=source).privacy_receipt_.events
    # b = (sqrt(d) + 1) / epsilon on counts and, for points of norm at most 1/2, on sums: twice that in the unit ball.
    scale = (math.sqrt(2) + 1) / 3
    assert counts.scale == pytest.approx(scale, rel=1e-6)
    assert sums.scale * sums.unit == pytest.approx(2 * scale, rel=1e-6)


def test_every_number_has_a_draw_of_its_own(make, tables):
    target, source = tables(4)
    counts, sums = make(coreset_radius=0.0).fit(target, source=source).privacy_receipt_.events
    assert (counts.size, sums.size) == (50, 200)


def test_sharp_noise_on_sums_is_smaller_than_the_papers(make, generator):
    target, source = generator.normal(0, 0.1, (200, 2)), generator.normal(0, 0.1, (200, 2))
    sharp, paper = (
        make(20, calibration=name, bounds=Ball(1.0)).fit(target, source=source).privacy_receipt_.events[1]
        for name in ("sharp", "paper")
    )
    assert sharp.scale * 3 < paper.scale


def test_the_radius_is_a_function_of_the_target_alone(make, generator, plans):
    target = generator.normal(size=(80, 2))
    for source in (np.empty((0, 2)), np.full((9, 2), 1e9), generator.normal(size=(500, 2))):
        make(random_state=1).fit(target, source=source)
    assert len({plan.radius for plan in plans}) == 1
