# SPDX-License-Identifier: Apache-2.0
"""KMeans of few rows: which noise it draws, what that costs, and that a grid is left where bounds are far too wide."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from cloister import GDP, ApproxDP, Ball, KMeans, Ledger, PrivateScaler, PureDP, plan
from cloister.cluster import FewRowsPlan, KMeansPlan
from cloister.privacy import PROCESS, SAME, Receipt

N_ROWS = 100


def few(*, reach=0.8, seed=0):
    rows = make_blobs(N_ROWS, centers=4, random_state=seed)[0]
    rows -= (rows.min(axis=0) + rows.max(axis=0)) / 2
    return reach * rows / np.abs(rows).max(axis=0)


def fit(rows, **options):
    return KMeans(4, **{"bounds": (-1, 1), "n_rows": N_ROWS, **options}).fit(rows)


def steps_of(model):
    return [event.step for event in model.privacy_receipt_.events]


@pytest.mark.parametrize("reach", [0.8, 0.01])
def test_a_fit_alone_spends_its_epsilon_on_pure_answers_and_no_delta(reach):
    receipt = fit(few(reach=reach)).privacy_receipt_
    assert receipt.guarantee == ApproxDP(1.0, 1e-6)
    assert {event.mechanism for event in receipt.events} == {"discrete_laplace"}
    (spent,) = receipt.spent.tallies
    assert spent.mu_squared == 0
    assert 0.99 < spent.epsilon_sum <= 1 + 1e-9
    assert spent.delta_at(1.0 + 1e-9) == 0.0


def test_two_fits_alone_are_covered_by_twice_the_epsilon_not_by_less():
    """As Gaussian fits they would be covered by epsilon 1.5: what a receipt promises must follow from what was asked."""
    receipts = [fit(few()).privacy_receipt_ for _ in range(2)]
    covered = Receipt.cover(receipts, SAME)
    assert covered.guarantee.epsilon == pytest.approx(2.0)


def test_a_shared_ledger_pays_for_gaussian_answers_where_pure_ones_are_dearer():
    ledger = Ledger(epsilon=2.0, delta=1e-6)
    models = [fit(few(), ledger=ledger) for _ in range(2)]
    assert all(isinstance(event.cost, GDP) for model in models for event in model.privacy_receipt_.events)
    assert ledger.spent.epsilon_at(1e-6) < 1.5


def test_the_default_ledger_is_a_shared_one(monkeypatch):
    monkeypatch.setattr(PROCESS, "default", Ledger(epsilon=2.0, delta=1e-6))
    assert isinstance(fit(few()).privacy_receipt_.events[0].cost, GDP)


@pytest.mark.parametrize(
    "options",
    [
        {"guarantee": GDP(0.24)},
        {"describe": 0.1},
        {"bounds": "private", "epsilon": 8.0},
        {"n_rows": None},
        {"n_clusters": "auto"},
    ],
    ids=lambda options: next(iter(options)),
)
def test_a_fit_that_asks_more_or_promises_something_else_draws_gaussian_noise(options):
    model = KMeans(**{"n_clusters": 4, "bounds": (-1, 1), "n_rows": N_ROWS, **options}).fit(few())
    assert all(isinstance(event.cost, GDP) for event in model.privacy_receipt_.events)


def test_rows_behind_a_scaler_share_their_guarantee():
    scaled = PrivateScaler(bounds=(-1, 1), epsilon=0.5).fit(few()).transform(few())
    model = KMeans(4, n_rows=N_ROWS, epsilon=0.5).fit(scaled)
    assert all(isinstance(event.cost, GDP) for event in model.privacy_receipt_.own_events)


@pytest.mark.slow
def test_a_grid_serves_rows_that_fill_their_bounds_and_votes_the_others():
    grids = [steps_of(fit(few(), random_state=seed)) for seed in range(20)]
    votes = [steps_of(fit(few(reach=0.01), random_state=seed)) for seed in range(20)]
    assert sum(steps == ["coarse grid", "grid"] for steps in grids) >= 17
    assert sum("vote 1" in steps for steps in votes) >= 17


def test_the_kind_of_plan_follows_from_public_numbers():
    model = fit(few())
    assert isinstance(model.plan_, FewRowsPlan)
    assert model.plan_ == plan(N_ROWS, 2, 4).plan
    assert isinstance(fit(few(), n_rows=5000).plan_, KMeansPlan)
    assert isinstance(fit(few(), bounds=Ball(1.5)).plan_, KMeansPlan)
    assert model.plan_.coarse.share + model.plan_.grid.share == pytest.approx(1.0)
    assert model.plan_.coarse.share + sum(step.share for step in model.plan_.otherwise.steps) == pytest.approx(1.0)


@pytest.mark.parametrize("n_rows", [0, 1, 100])
def test_a_table_without_the_stated_rows_is_answered_all_the_same(n_rows):
    model = KMeans(4, bounds=(-1, 1), n_rows=N_ROWS).fit(few()[:n_rows])
    assert np.isfinite(model.cluster_centers_).all()
    assert np.abs(model.cluster_centers_).max() <= 1
    assert np.isfinite(model.loss_)


def test_the_release_states_total_errors_stability_and_the_error_of_the_loss():
    model = next(model for seed in range(20) if "grid" in steps_of(model := fit(few(), random_state=seed)))
    release = model.release_
    assert (release.center_errors >= release.center_noise - 1e-12).all()
    assert (release.count_errors >= release.count_noise - 1e-12).all()
    assert release.stability.shape == (4,)
    assert {"loss", "loss_error", "loss_of_one_centre"} <= release.details.keys()


@pytest.mark.slow
@pytest.mark.parametrize(("n_rows", "most"), [(50, 12.0), (100, 3.0)])
def test_blobs_of_few_rows_are_found(n_rows, most):
    """Votes under Gaussian noise end at 20 and 9 times the loss without noise in the geometric mean."""
    ratios = []
    for seed in range(10):
        rows, labels = make_blobs(n_rows, centers=4, random_state=seed)
        least = np.mean([np.sum((rows[label == labels] - rows[label == labels].mean(axis=0)) ** 2) for label in range(4)])
        low, high = rows.min(axis=0) - 2, rows.max(axis=0) + 2
        model = KMeans(4, bounds=list(zip(low, high, strict=True)), n_rows=n_rows, scaling="none", random_state=seed).fit(rows)
        ratios.append(-model.score(rows) / (4 * least))
    assert np.exp(np.mean(np.log(ratios))) < most


def test_a_pure_fit_needs_no_public_number_of_rows():
    model = KMeans(4, bounds=(-1, 1), epsilon=2.0, delta=0.0).fit(few())
    assert model.privacy_receipt_.guarantee == PureDP(2.0)
    assert model.cluster_centers_.shape == (4, 2)
