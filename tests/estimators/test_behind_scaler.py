# SPDX-License-Identifier: Apache-2.0
"""What is fitted behind a PrivateScaler states both: its domain was found in the same rows."""

import copy
import json
import math
import pickle
from statistics import NormalDist

import joblib
import numpy as np
import pyarrow as pa
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from tests.schemas.checker import check
from tests.vaults import refusal

from cloister import GridSynopsis, KMeans, Ledger, PointSynopsis, PrivateScaler, Release, SourceTargetKMedoids, open_rows
from cloister.data import ScaledRows
from cloister.exceptions import DataError, LedgerError, PrivacyWarning
from cloister.privacy import ApproxDP, PureDP
from cloister.report import report_html, summary

FITS = {
    "KMeans": lambda scaled, **options: KMeans(2, **options).fit(scaled),
    "GridSynopsis": lambda scaled, **options: GridSynopsis(2, rule=4, **options).fit(scaled),
    "PointSynopsis": lambda scaled, **options: PointSynopsis(max_clusters=4, **options).fit(scaled),
    "PrivateScaler": lambda scaled, **options: PrivateScaler(**options).fit(scaled),
    "SourceTargetKMedoids": lambda scaled, **options: SourceTargetKMedoids(2, bounds=scaled.bounds, **options).fit(
        np.random.default_rng(0).normal(size=(20, 2)), source=scaled
    ),
}


@pytest.fixture
def rows(generator):
    return generator.normal([[20.0, 3e6], [60.0, 9e6]], [[2.0, 1e5]] * 2, size=(500, 2, 2)).reshape(-1, 2)


@pytest.fixture
def scaler(rows):
    return PrivateScaler(epsilon=3.0, random_state=0).fit(rows)


def mu_of(*receipts):
    """Add up events from their raw fields; a pure one counts as its tight Gaussian cost."""
    ratios = [(event.mechanism, event.sensitivity / event.scale) for receipt in receipts for event in receipt.events]
    normal = NormalDist()
    return math.hypot(
        *(one if kind == "rounded_gaussian" else 2 * normal.inv_cdf(1 / (1 + math.exp(-one))) for kind, one in ratios)
    )


@pytest.mark.parametrize("name", FITS)
def test_the_receipt_covers_scaler_and_fit(name, rows, scaler):
    ledger = Ledger(epsilon=1.0, delta=1e-6)
    model = FITS[name](scaler.transform(rows), epsilon=0.5, delta=1e-6, ledger=ledger, random_state=0)
    receipt = model.privacy_receipt_
    own, before = receipt.fits
    assert before.guarantee == scaler.privacy_receipt_.guarantee
    assert [event.cost for event in before.events] == [event.cost for event in scaler.privacy_receipt_.events]
    assert receipt.spent.all_mu == pytest.approx(mu_of(own, scaler.privacy_receipt_), rel=1e-6)
    assert receipt.guarantee == ApproxDP(receipt.guarantee.epsilon, 1e-6)
    assert 3.0 < receipt.guarantee.epsilon < 3.5
    assert receipt.promised.fits(receipt.guarantee)
    # The scaler has paid for itself: the ledger of the fit is debited for the fit alone.
    assert ledger.spent.all_mu == pytest.approx(mu_of(own), rel=1e-6)
    assert "Covers the fit and the scaler in front of it, whose costs add up" in " ".join(receipt.explain())


def test_a_pipeline_states_the_sum_that_its_ledger_has(rows):
    ledger = Ledger(epsilon=1.0, delta=1e-6)
    steps = (PrivateScaler(epsilon=0.3, ledger=ledger), KMeans(2, epsilon=0.6, ledger=ledger))
    model = make_pipeline(*steps).fit(rows)[-1]
    assert np.array_equal(model.release_.domain.high, steps[0].bounds_.high)  # it needs no bounds of its own
    assert model.privacy_receipt_.spent.all_mu == pytest.approx(ledger.spent.all_mu, rel=1e-9)
    assert ledger.spent.epsilon_at(1e-6) < model.privacy_receipt_.guarantee.epsilon < 0.3 + 0.6  # squares add up


def test_files_and_pages_show_the_total(rows, scaler):
    release = KMeans(2, epsilon=0.1, random_state=0).fit(scaler.transform(rows)).release_
    assert release.receipt.guarantee.epsilon > 2.9
    data = json.loads(json.dumps(release.to_dict()))
    check("release", data)
    assert Release.from_dict(data).receipt == release.receipt
    shown = summary(release)["receipt"]
    assert shown["spent"] == f"epsilon {release.receipt.spent.epsilon_at(1e-6):.4g} at delta 1e-06"
    assert release.receipt.spent.epsilon_at(1e-6) > 2
    assert shown["meaning"]["mu"] == pytest.approx(release.receipt.spent.all_mu)
    assert {line["step"].startswith("scaler: ") for line in shown["events"] if line["fit"] == 2} == {True}
    page = report_html(release)
    assert "Covers the fit and the scaler in front of it" in page
    assert "scaler: magnitudes" in page
    assert "epsilon = 3.0" in repr(release)


def test_steps_and_errors_are_those_of_the_fit(rows, scaler):
    release = KMeans(2, epsilon=1.0, random_state=0).fit(scaler.transform(rows)).release_
    for step in release.steps:
        assert all(event in release.receipt.fits[0].events for event in release.events_of(step))
    synopsis = PointSynopsis(max_clusters=4, epsilon=1.0, random_state=0).fit(scaler.transform(rows)).synopsis_
    counted = [event for event in synopsis.receipt.fits[0].events if event.question_name == "row_count"]
    assert synopsis.n_rows_error == pytest.approx(math.hypot(*(event.standard_deviation for event in counted)))


@pytest.mark.parametrize("name", FITS)
def test_another_relation_or_unit_is_refused_before_anything_is_spent(name, rows, scaler):
    ids, scaled = np.arange(len(rows)) // 2, scaler.transform(rows)
    message = rf"{name}.neighbours: expected 'add-remove', as the scaler of these rows has it, got 'replace'\. Pass the same"
    with refusal(DataError, message, neighbours="replace") as ledger:
        FITS[name](scaled, ledger=ledger, neighbours="replace")
    persons = PrivateScaler(epsilon=3.0, random_state=0).fit(rows, privacy_unit=ids).transform(rows)
    with refusal(DataError, rf"{name}.privacy_unit: expected rows that were scaled under the same unit") as ledger:
        FITS[name](persons, ledger=ledger)
    if name == "KMeans":
        with refusal(DataError, "KMeans.privacy_unit: expected rows that were scaled under the same", unit="person") as ledger:
            KMeans(2, ledger=ledger).fit(scaled, privacy_unit=ids)


def test_persons_of_both(rows):
    ids = np.arange(len(rows)) // 2
    with sklearn.config_context(enable_metadata_routing=True):
        steps = (
            PrivateScaler(epsilon=3.0, max_rows_per_unit=5, random_state=0),
            KMeans(2, max_rows_per_unit=2, weighting="person", random_state=0),
        )
        model = make_pipeline(*steps).fit(rows, privacy_unit=ids)[-1]
    receipt = model.privacy_receipt_
    assert receipt.protects == "one person, with at most 5 rows each"
    assert receipt.counted == "persons"
    assert [fit.privacy_unit.max_rows for fit in receipt.fits] == [2, 5]
    stated = PrivateScaler(epsilon=3.0, max_rows_per_unit=2, units_bounded=True, random_state=0).fit(rows, privacy_unit=ids)
    model = KMeans(2, max_rows_per_unit=5, random_state=0).fit(stated.transform(rows), privacy_unit=ids)
    assert model.privacy_receipt_.privacy_unit.max_rows == 2  # whom the statement of the scaler is about
    assert model.privacy_receipt_.privacy_unit.stated


def test_a_weak_scaler_is_warned_of(rows):
    with pytest.warns(PrivacyWarning, match=r"PrivateScaler.epsilon: 20 promises little"):
        scaled = PrivateScaler(epsilon=20.0, random_state=0).fit_transform(rows)
    with pytest.warns(PrivacyWarning, match=r"KMeans.epsilon: 2\d(\.\d+)?, with the scaler in front of it, promises little"):
        model = KMeans(2, epsilon=0.1, random_state=0).fit(scaled)
    assert model.release_.receipt.guarantee.epsilon > 19.9


def test_pure_fits_add_up_and_mixed_ones_are_covered(rows):
    scaled = PrivateScaler(epsilon=2.0, delta=0.0, random_state=0).fit_transform(rows)
    pure = KMeans(2, epsilon=1.0, delta=0.0, random_state=0).fit(scaled).privacy_receipt_
    assert isinstance(pure.guarantee, PureDP)
    assert pure.guarantee.epsilon == pytest.approx(3.0, rel=1e-6)
    mixed = KMeans(2, epsilon=1.0, random_state=0).fit(scaled).privacy_receipt_
    assert mixed.spent.fits(mixed.guarantee)
    gaussian = PrivateScaler(epsilon=2.0, random_state=0).fit_transform(rows)
    both = KMeans(2, epsilon=1.0, delta=0.0, random_state=0).fit(gaussian).privacy_receipt_
    assert not both.guarantee.is_pure
    assert both.spent.fits(both.guarantee)


# -- rows on their way ---------------------------------------------------------------------------------------------------

WAYS = {
    "slice": lambda scaled: scaled[10:],
    "rows": lambda scaled: scaled[np.arange(30)],
    "mask": lambda scaled: scaled[np.ones(len(scaled), dtype=bool)],
    "take": lambda scaled: np.take(scaled, [1, 2, 3], axis=0),
    "copy": lambda scaled: scaled.copy(),
    "copy module": copy.copy,
    "deep copy": copy.deepcopy,
    "pickle": lambda scaled: pickle.loads(pickle.dumps(scaled)),
    "moved": lambda scaled: scaled * 2 + 1,
    "single precision": lambda scaled: scaled.astype(np.float32),
    "stacked": lambda scaled: np.vstack([np.zeros((1, 2)), scaled]),
    "beside": lambda scaled: np.hstack([scaled, np.zeros((len(scaled), 1))]),
    "where": lambda scaled: np.where(scaled > 0, scaled, 0.0),
    "log": np.log1p,
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_no_way_of_numpy_loses_the_events(way, rows, scaler):
    scaled = scaler.transform(rows)
    moved = way(scaled)
    assert moved.receipt == scaled.receipt
    if way is WAYS["pickle"]:
        assert moved.bounds.to_dict() == scaled.bounds.to_dict()
    model = KMeans(2, bounds=(-20, 20), random_state=0).fit(moved)
    assert len(model.privacy_receipt_.fits) == 2


def test_a_search_keeps_the_events_of_its_rows(rows, scaler):
    model = KMeans(2, bounds=scaler.bounds_, random_state=0)
    search = GridSearchCV(model, {"n_clusters": [2, 3]}, cv=2, scoring=lambda fitted, table: -fitted.n_clusters)
    found = search.fit(scaler.transform(rows)).best_estimator_
    assert len(found.privacy_receipt_.fits) == 2
    pipeline = make_pipeline(clone(scaler), KMeans(2, random_state=0))
    search = GridSearchCV(pipeline, {"kmeans__n_clusters": [2]}, cv=2, scoring=lambda fitted, table: 0.0)
    assert len(search.fit(rows).best_estimator_[-1].privacy_receipt_.fits) == 2


def test_a_cache_keeps_the_events(rows, tmp_path):
    for _ in range(2):
        steps = (PrivateScaler(epsilon=1.0, random_state=0), KMeans(2, random_state=0))
        model = make_pipeline(*steps, memory=joblib.Memory(tmp_path, verbose=0)).fit(rows)[-1]
        assert len(model.privacy_receipt_.fits) == 2


def test_scalers_of_several_columns_all_count(rows):
    scalers = [(f"of {index}", PrivateScaler(epsilon=1.0, random_state=index), [index]) for index in range(2)]
    scaled = ColumnTransformer(scalers).fit_transform(rows)
    receipt = KMeans(2, epsilon=1.0, bounds=(-20, 20), random_state=0).fit(scaled).privacy_receipt_
    assert len(receipt.fits) == 3
    twice = np.hstack([scaled[:, :1], scaled])  # of the same two scalers
    assert isinstance(twice, ScaledRows)
    assert len(twice.receipt.fits) == 2


@pytest.mark.parametrize("join", [np.add, np.maximum, lambda one, other: np.add(one, other, out=one.copy())])
def test_what_is_computed_from_two_scalers_has_the_events_of_both(join, rows, scaler):
    other = PrivateScaler(epsilon=1.0, random_state=1).fit(rows)
    scaled, receipts = scaler.transform(rows), [one.transform(rows).receipt for one in (scaler, other)]
    both = join(scaled, other.transform(rows))
    assert list(both.receipt.fits) == receipts
    again = np.hstack([scaled[:, :1], np.hstack([both, other.transform(rows)])])
    assert list(again.receipt.fits) == receipts  # each was asked once, and is counted once


@pytest.mark.parametrize("held", [list, tuple, np.ma.masked_array, open_rows])
def test_what_holds_scaled_rows_brings_their_events(held, rows, scaler):
    model = KMeans(2, bounds=(-20, 20), random_state=0).fit(held(scaler.transform(rows)))
    assert len(model.privacy_receipt_.fits) == 2


def test_rows_scaled_under_different_ids_are_not_joined(rows):
    def scaled(unit):
        table = {"x": rows[:, 0], "y": rows[:, 1], "patient": np.arange(len(rows)), "ward": np.arange(len(rows)) % 9}
        if unit:
            options = {"bounds": {"x": (-100, 100), "y": (-100, 100)}, "privacy_unit": unit}
            return PrivateScaler(epsilon=1.0, random_state=0, **options).fit_transform(pa.table(table))
        return PrivateScaler(epsilon=1.0, random_state=0).fit(rows, privacy_unit=table["patient"]).transform(rows)

    unnamed = np.concatenate([scaled(""), scaled("patient")])
    assert unnamed.receipt.privacy_unit.name == "patient"
    with pytest.raises(LedgerError, match="parts protect different units"):
        np.concatenate([unnamed, scaled("ward")])


def test_a_scaler_behind_a_scaler(rows, scaler):
    second = PrivateScaler(epsilon=1.0, random_state=1).fit(scaler.transform(rows))
    receipt = KMeans(2, random_state=0).fit(second.transform(scaler.transform(rows))).privacy_receipt_
    assert len(receipt.fits) == 3
    assert not any(event.step.startswith("scaler: scaler: ") for event in receipt.events)
    assert "Covers 3 fits of the same rows" in " ".join(receipt.explain())


def test_no_data_frame_comes_out(rows, scaler):
    with sklearn.config_context(transform_output="pandas"):
        assert isinstance(scaler.transform(rows), ScaledRows)
    assert not hasattr(scaler, "set_output")


def test_rows_without_a_scaler_have_the_receipt_of_one_fit(rows):
    assert KMeans(2, bounds=[(0, 100), (0, 2e7)], random_state=0).fit(rows).privacy_receipt_.parts == ()
