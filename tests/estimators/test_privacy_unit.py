# SPDX-License-Identifier: Apache-2.0
"""Fits that protect persons: what the parameters mean, what is refused, and what the receipt says."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from tests.vaults import refusal

from cloister import (
    GridSynopsis,
    KMeans,
    Ledger,
    PointSynopsis,
    PrivacyWarning,
    PrivateScaler,
    SourceTargetKMedoids,
    open_rows,
)
from cloister.cluster._privacy_unit import STARTS, choose_max_rows
from cloister.exceptions import DataError, LedgerError, ParameterError
from cloister.privacy import Receipt

PLANTED = np.array([[20.0, 20.0], [20.0, 80.0], [80.0, 20.0], [80.0, 80.0]])


def visits(n_persons=1500, most=20, seed=3):
    """Return rows of persons in four groups, and whose rows they are."""
    generator = np.random.default_rng(seed)
    sizes = generator.integers(1, most + 1, n_persons)
    homes = PLANTED[generator.integers(0, 4, n_persons)] + generator.normal(0, 2, (n_persons, 2))
    ids = generator.permutation(np.repeat(np.arange(n_persons), sizes))
    return homes[ids] + generator.normal(0, 2, (len(ids), 2)), ids


@pytest.fixture(scope="module")
def table():
    rows, ids = visits()
    return pd.DataFrame({"x": rows[:, 0], "patient_id": [f"patient-{one:05}" for one in ids], "y": rows[:, 1]})


def model(kind=KMeans, **options):
    return kind(4, **{"epsilon": 1.0, "bounds": (0, 100), "random_state": 0, **options})


def off_by(centers):
    return np.sqrt(((PLANTED[:, None] - centers) ** 2).sum(axis=2)).min(axis=1).max()


class TestFits:
    @pytest.mark.parametrize("options", [{}, {"max_rows_per_unit": 1}, {"max_rows_per_unit": 5, "weighting": "person"}])
    def test_planted_centres_are_found(self, table, options):
        fitted = model(privacy_unit="patient_id", **options).fit(table)
        assert off_by(fitted.cluster_centers_) < 3
        assert list(fitted.feature_names_in_) == ["x", "y"]

    def test_a_column_and_an_array_of_ids_mean_the_same(self, table):
        by_name = model(privacy_unit="patient_id", max_rows_per_unit=3).fit(table)
        by_array = model(max_rows_per_unit=3).fit(table[["x", "y"]].to_numpy(), privacy_unit=table["patient_id"])
        assert np.array_equal(by_name.cluster_centers_, by_array.cluster_centers_)
        rows, ids = table[["x", "y"]].to_numpy(), table["patient_id"].to_numpy()
        assert np.array_equal(model(max_rows_per_unit=3).fit_predict(rows, privacy_unit=ids), by_array.labels_)
        assert by_array.privacy_receipt_.protects == "one person, with at most 3 rows each"

    def test_counts_are_of_rows_that_are_used_or_of_persons(self, table):
        used = np.minimum(table.groupby("patient_id").size(), 2).sum()
        by_row = model(privacy_unit="patient_id", max_rows_per_unit=2, epsilon=5.0).fit(table)
        assert by_row.cluster_counts_.sum() == pytest.approx(used, rel=0.05)
        by_person = model(privacy_unit="patient_id", max_rows_per_unit=2, weighting="person", epsilon=5.0).fit(table)
        assert by_person.cluster_counts_.sum() == pytest.approx(table["patient_id"].nunique(), rel=0.05)

    def test_one_person_with_very_many_rows_moves_little(self, table):
        crowd = pd.DataFrame({"x": [50.0] * 30_000, "patient_id": "patient-00001", "y": 50.0})
        crowded = pd.concat([table, crowd])
        fitted = model(privacy_unit="patient_id", max_rows_per_unit=2).fit(crowded)
        assert off_by(fitted.cluster_centers_) < 3

    def test_prediction_needs_no_ids_and_minds_none(self, table):
        fitted = model(privacy_unit="patient_id", max_rows_per_unit=2).fit(table)
        labels = fitted.predict(table)
        assert np.array_equal(labels, fitted.predict(table[["x", "y"]]))
        assert np.array_equal(labels, fitted.labels_)
        assert np.array_equal(labels, fitted.predict(open_rows(table, privacy_unit="patient_id")))

    @pytest.mark.parametrize("weighting", ["row", "person"])
    @pytest.mark.parametrize("method", ["nas", "nna"])
    def test_the_source_of_source_target_clustering(self, table, method, weighting):
        options = {"epsilon": 3.0, "method": method, "max_rows_per_unit": 3, "weighting": weighting, "random_state": 0}
        fitted = SourceTargetKMedoids(2, privacy_unit="patient_id", **options)
        fitted.fit(np.repeat(PLANTED, 10, axis=0), source=table)
        assert fitted.release_.receipt.protects == "one patient_id, with at most 3 rows each"
        both = SourceTargetKMedoids(2, **options)
        both.fit(np.repeat(PLANTED, 10, axis=0), source=table[["x", "y"]], privacy_unit=table["patient_id"])
        assert np.array_equal(both.medoid_indices_, fitted.medoid_indices_)

    def test_paper_noise_of_nna_is_that_of_persons(self, table):
        target = np.repeat(PLANTED, 10, axis=0)
        options = {"epsilon": 3.0, "calibration": "paper", "random_state": 0, "max_rows_per_unit": 4}
        fitted = SourceTargetKMedoids(2, privacy_unit="patient_id", **options).fit(target, source=table)
        plain = SourceTargetKMedoids(2, epsilon=3.0, calibration="paper", random_state=0)
        plain.fit(target, source=table[["x", "y"]])
        assert fitted.plan_.threshold - 1 == pytest.approx(4 * (plain.plan_.threshold - 1))

    def test_bounds_and_spreads_are_found_with_persons_as_well(self, table):
        fitted = model(privacy_unit="patient_id", bounds="private", scaling="spread", epsilon=3.0).fit(table)
        assert off_by(fitted.cluster_centers_) < 5


class TestTheNumberOfRowsPerPerson:
    def test_auto_pays_for_a_histogram(self, table):
        receipt = model(privacy_unit="patient_id").fit(table).privacy_receipt_
        first = receipt.events[0]
        assert (first.question_name, first.sensitivity, first.unit) == ("rows_per_unit", 1.0, 1.0)
        assert receipt.privacy_unit.max_rows in STARTS
        assert receipt.spent.fits(receipt.guarantee)

    def test_a_table_without_rows(self):
        empty = pd.DataFrame({"x": np.empty(0), "patient_id": np.empty(0, dtype=object), "y": np.empty(0)})
        assert model(privacy_unit="patient_id").fit(empty).privacy_receipt_.privacy_unit.max_rows == 1

    def test_more_noise_means_fewer_rows_unless_a_person_counts_once(self):
        persons, single = np.full(len(STARTS), 300.0), np.array([500.0, *[0.0] * (len(STARTS) - 1)])
        chosen = [choose_max_rows(persons, noise=noise, weighted=False) for noise in (0.0, 1e4, 1e6, 1e9)]
        assert chosen == sorted(chosen, reverse=True)
        assert chosen[0] > chosen[-1] == 1
        assert choose_max_rows(persons, noise=1e9, weighted=True) > 4
        assert [choose_max_rows(single, noise=10.0, weighted=weighted) for weighted in (False, True)] == [1, 1]
        assert choose_max_rows(0 * single, noise=10.0, weighted=True) > 1


class TestRefusals:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"units_bounded": True}, r"KMeans.units_bounded: expected False unless"),
            ({"units_bounded": True, "max_rows_per_unit": 2, "weighting": "person"}, r"units_bounded: expected False"),
            ({"privacy_unit": "nobody"}, r"column 'nobody' is not in the table"),
        ],
    )
    def test_parameters(self, table, options, message):
        with refusal((ParameterError, DataError), message, unit="person") as ledger:
            model(**{"privacy_unit": "patient_id", "ledger": ledger, **options}).fit(table)

    def test_ids_twice(self, table):
        with pytest.raises(ParameterError, match=r"KMeans.privacy_unit: expected ids once"):
            model(privacy_unit="patient_id").fit(table, privacy_unit=table["patient_id"])

    def test_open_rows_must_have_been_opened_with_the_same(self, table):
        by_id = {"privacy_unit": "patient_id"}
        for given, opened in (
            (by_id, open_rows(table, ["x", "y"])),
            ({}, open_rows(table, **by_id)),
            (by_id, open_rows(table, **by_id, units_bounded=True)),
        ):
            match = "expected privacy_unit and units_bounded as open_rows was given them"
            with refusal(DataError, match, unit="person") as ledger:
                model(**given, ledger=ledger).fit(opened)
        with refusal(DataError, "expected None for rows already open", unit="person") as ledger:
            model(ledger=ledger).fit(open_rows(table, privacy_unit="patient_id"), privacy_unit=table["patient_id"])
        fitted = model(privacy_unit="patient_id").fit(open_rows(table, privacy_unit="patient_id"))
        assert off_by(fitted.cluster_centers_) < 3


class TestLedgers:
    def test_one_budget_knows_persons_by_one_column(self, table):
        """Otherwise a column that gives every row a person of its own would be a way around it."""
        ledger = Ledger(epsilon=5.0, delta=1e-6, unit="person")
        model(ledger=ledger, privacy_unit="patient_id").fit(table)
        n_lines = len(ledger.lines)
        with pytest.raises(LedgerError, match=r"this ledger knows persons by 'patient_id', the fit by 'visit'"):
            model(ledger=ledger, privacy_unit="visit").fit(table.rename(columns={"patient_id": "visit"}))
        assert len(ledger.lines) == n_lines
        model(ledger=ledger, max_rows_per_unit=2).fit(table[["x", "y"]].to_numpy(), privacy_unit=table["patient_id"])


class TestWords:
    def test_the_receipt_names_the_unit(self, table):
        receipt = model(privacy_unit="patient_id", max_rows_per_unit=5).fit(table).privacy_receipt_
        said = "\n".join(receipt.explain())
        assert "Protects one patient_id, with at most 5 rows each." in said
        assert "adding or removing any one patient_id, with all of their rows, can change" in said
        assert Receipt.from_dict(receipt.to_dict()) == receipt

    def test_a_statement_is_called_one(self, table):
        fitted = model(privacy_unit="patient_id", max_rows_per_unit=20, units_bounded=True).fit(table)
        assert "The limit was asserted, not checked." in "\n".join(fitted.privacy_receipt_.explain())

    def test_delta_and_the_number_of_rows_are_about_persons(self, table):
        with pytest.warns(PrivacyWarning, match="publishing a person at random would satisfy it"):
            model(privacy_unit="patient_id", max_rows_per_unit=2, n_rows=1500, delta=1e-3).fit(table)
        by_person = model(privacy_unit="patient_id", max_rows_per_unit=2, n_rows=1500, weighting="person").fit(table)
        assert "row_count" not in {event.question_name for event in by_person.privacy_receipt_.events}
        by_row = model(privacy_unit="patient_id", max_rows_per_unit=2, n_rows=1500).fit(table)
        assert "row_count" in {event.question_name for event in by_row.privacy_receipt_.events}


class TestStatedBounds:
    def test_the_column_is_not_read(self, table):
        odd = table.assign(patient_id="the same")
        options = {"privacy_unit": "patient_id", "max_rows_per_unit": 20, "units_bounded": True}
        assert np.array_equal(model(**options).fit(table).cluster_centers_, model(**options).fit(odd).cluster_centers_)

    def test_noise_is_that_of_as_many_rows(self, table):
        fitted = model(privacy_unit="patient_id", max_rows_per_unit=7, units_bounded=True).fit(table)
        assert fitted.privacy_receipt_.events[0].sensitivity == 7.0


class TestScikitLearn:
    def test_a_pipeline_routes_ids(self, table):
        ledger = Ledger(epsilon=4.0, delta=1e-6, unit="person")
        with sklearn.config_context(enable_metadata_routing=True):
            scaler = PrivateScaler(epsilon=1.0, ledger=ledger, random_state=0)
            last = KMeans(4, epsilon=2.0, ledger=ledger, random_state=0)
            pipeline = make_pipeline(scaler, last).fit(table[["x", "y"]].to_numpy(), privacy_unit=table["patient_id"])
        assert off_by(scaler.inverse_transform(pipeline[-1].cluster_centers_)) < 4

    @pytest.mark.parametrize("routing", [False, True])
    def test_a_search_hands_on_the_ids_of_each_fold(self, table, routing):
        with sklearn.config_context(enable_metadata_routing=routing):
            search = GridSearchCV(model(), {"n_clusters": [4]}, cv=GroupKFold(3), scoring=lambda fitted, rows: 0.0)
            given = {"groups": table["patient_id"], "privacy_unit": table["patient_id"]}
            found = search.fit(table[["x", "y"]].to_numpy(), **given).best_estimator_
        assert found.privacy_receipt_.privacy_unit is not None

    @pytest.mark.parametrize("make", [KMeans, PrivateScaler, GridSynopsis, PointSynopsis, SourceTargetKMedoids])
    def test_the_word_of_splitters_is_refused_with_the_remedy(self, make, table):
        rows, ledger = table[["x", "y"]].to_numpy(), Ledger(epsilon=1.0, delta=1e-6)
        estimator, source = make(ledger=ledger), {"source": rows} if make is SourceTargetKMedoids else {}
        with pytest.raises(
            ParameterError, match=rf"{make.__name__}.fit: expected ids of the rows' owners as privacy_unit=, got 'groups='"
        ):
            estimator.fit(rows, groups=table["patient_id"], **source)
        with pytest.raises(TypeError, match="unexpected argument 'sample_weight'"):
            estimator.fit(rows, sample_weight=np.ones(len(rows)), **source)
        assert len(ledger.lines) == 1

    def test_a_scaler_reads_tables_with_and_without_the_column(self, table):
        scaler = PrivateScaler(epsilon=1.0, privacy_unit="patient_id", random_state=0).fit(table)
        assert np.array_equal(scaler.transform(table), scaler.transform(table[["x", "y"]]))
