# SPDX-License-Identifier: Apache-2.0
"""Wrong parameters: one clear error that names the parameter, the rule and the remedy, before a row is read or a coin spent."""

import math

import numpy as np
import pandas as pd
import pytest

from cloister import Ball, Box, Ledger, PEMeans, PureDP
from cloister.exceptions import BudgetExceeded, CloisterError, DataError, LedgerError, ParameterError

NUMBER = r"expected a finite number"
WRONG = [
    ({"n_clusters": 0}, r"PEMeans\.n_clusters: expected an integer from 1 to \d+, got 0\. Pass"),
    ({"n_clusters": 2.5}, r"PEMeans\.n_clusters: expected an integer .*, got 2\.5"),
    ({"n_clusters": "8"}, r"PEMeans\.n_clusters: expected an integer .*, got '8'"),
    ({"n_clusters": None}, r"PEMeans\.n_clusters: expected an integer"),
    ({"n_clusters": True}, r"PEMeans\.n_clusters: expected an integer"),
    ({"n_clusters": 10**9}, r"PEMeans\.n_clusters: expected an integer"),
    ({"epsilon": 0}, rf"PEMeans\.epsilon: {NUMBER} above 0, got 0\. Typical values"),
    ({"epsilon": -1.0}, rf"PEMeans\.epsilon: {NUMBER} above 0, got -1\.0"),
    ({"epsilon": math.nan}, rf"PEMeans\.epsilon: {NUMBER} above 0, got nan"),
    ({"epsilon": math.inf}, rf"PEMeans\.epsilon: {NUMBER} above 0, got inf"),
    ({"epsilon": "1"}, rf"PEMeans\.epsilon: {NUMBER} above 0, got '1'"),
    ({"epsilon": None}, rf"PEMeans\.epsilon: {NUMBER} above 0, got None"),
    ({"epsilon": 10**400}, rf"PEMeans\.epsilon: {NUMBER} above 0"),
    ({"delta": 1}, rf"PEMeans\.delta: {NUMBER} of at least 0 and below 1, got 1\. Use a number well below"),
    ({"delta": -1e-9}, rf"PEMeans\.delta: {NUMBER} .*got -1e-09"),
    ({"delta": math.nan}, rf"PEMeans\.delta: {NUMBER}"),
    ({"delta": None}, rf"PEMeans\.delta: {NUMBER}"),
    ({"guarantee": "pure"}, r"PEMeans\.guarantee: expected PureDP, ApproxDP, ZCDP or GDP, got 'pure'\. Or pass"),
    ({"guarantee": 1.0}, r"PEMeans\.guarantee: expected PureDP"),
    ({"bounds": None}, r"PEMeans\.bounds: expected a domain known without looking at the data, got None\. Pass bounds="),
    ({"bounds": (1, 0)}, r"Box: expected low < high in every column \(column 0\), got \(1\.0, 0\.0\)\. Swap"),
    ({"bounds": ([0, 0, 0], 1)}, r"Box\.low: expected one number or 2, one per column, got 3\. Pass as many"),
    ({"bounds": "0,1"}, r"PEMeans\.bounds: expected a pair \(low, high\), a Box or a Ball, got '0,1'\. Pass"),
    ({"bounds": ("a", "b")}, r"Box\.low: expected a number or one number per column, got 'a'\. Pass numbers"),
    ({"bounds": 1.0}, r"PEMeans\.bounds: expected a pair"),
    ({"bounds": {"x": (0, 1), "y": (0, 1)}}, r"PEMeans\.bounds: expected a pair"),
    ({"bounds": Ball(1.0, [0, 0, 0])}, r"Ball\.center: expected one number or 2"),
    ({"bounds": Box([0] * 5, 1)}, r"Box\.low: expected one number or 2"),
    ({"scaling": "std"}, r"PEMeans\.scaling: expected one of 'bounds', 'none', got 'std'"),
    ({"neighbours": "swap"}, r"PEMeans\.neighbours: expected one of 'add-remove', 'replace', got 'swap'"),
    ({"neighbours": None}, r"PEMeans\.neighbours: expected one of"),
    ({"n_rows": -1}, r"PEMeans\.n_rows: expected an integer from 0 to \d+, got -1\. Pass the number of rows if it is public"),
    ({"n_rows": 1.5}, r"PEMeans\.n_rows: expected an integer"),
    ({"n_rows": "many"}, r"PEMeans\.n_rows: expected an integer"),
    ({"ledger": "budget.sqlite"}, r"PEMeans\.ledger: expected a Ledger or None, got 'budget\.sqlite'\. Use Ledger\.open"),
    ({"ledger": 1.0}, r"PEMeans\.ledger: expected a Ledger or None"),
    ({"random_state": -1}, r"PEMeans\.random_state: expected an integer from 0"),
    ({"random_state": "seed"}, r"PEMeans\.random_state: expected an integer"),
    ({"random_state": np.random.default_rng(0)}, r"PEMeans\.random_state: expected an integer"),
    ({"n_jobs": 0}, r"PEMeans\.n_jobs: expected a number of threads other than 0"),
    ({"n_jobs": "all"}, r"PEMeans\.n_jobs: expected an integer"),
    ({"n_rounds": 0}, r"PEMeans\.n_rounds: expected an integer of at least 1, got 0\. Pass \"auto\" or a whole number"),
    ({"n_rounds": "many"}, r"PEMeans\.n_rounds: expected an integer"),
    ({"n_variations": 0}, r"PEMeans\.n_variations: expected an integer of at least 1"),
    ({"n_variations": None}, r"PEMeans\.n_variations: expected an integer"),
    ({"max_candidates": 0}, r"PEMeans\.max_candidates: expected an integer of at least 1"),
    ({"projection": 0}, r"PEMeans\.projection: expected an integer of at least 1, got 0\. Pass \"auto\", None, or"),
    ({"projection": "pca"}, r"PEMeans\.projection: expected an integer"),
    ({"selection": "best"}, r"PEMeans\.selection: expected one of 'kmeans', 'top-k', got 'best'"),
    ({"adaptive": "yes"}, r"PEMeans\.adaptive: expected True or False"),
    ({"step": 0.0}, rf"PEMeans\.step: {NUMBER} above 0"),
    ({"step": 2.0}, rf"PEMeans\.step: {NUMBER}"),
    ({"levy_exponent": 2.0}, rf"PEMeans\.levy_exponent: {NUMBER}"),
    ({"levy_exponent": 0.0}, rf"PEMeans\.levy_exponent: {NUMBER}"),
    ({"n_rounds": np.array([1, 2])}, r"PEMeans\.n_rounds: expected an integer"),
    ({"n_variations": np.array([1, 2])}, r"PEMeans\.n_variations: expected an integer"),
    ({"projection": np.array([1, 2])}, r"PEMeans\.projection: expected an integer"),
    ({"progress": np.array([])}, r"PEMeans\.progress: expected True or False"),
    ({"n_init": 0}, r"PEMeans\.n_init: expected an integer of at least 1"),
]


class Untouchable:
    """Rows that must not be read."""

    n_features, feature_names = 2, None

    def fold(self, kernel):
        raise AssertionError("a row was read")


@pytest.mark.parametrize(("parameters", "message"), WRONG)
def test_a_wrong_parameter_is_refused_before_anything_is_read_or_spent(parameters, message):
    ledger = Ledger(epsilon=1.0, delta=1e-6)
    model = PEMeans(**{"bounds": (0, 1), "ledger": ledger, **parameters})
    with pytest.raises(ParameterError, match=message):
        model.fit(Untouchable())
    assert len(ledger.lines) == 1, "a budget and nothing else"
    assert ledger.spent.empty
    assert not hasattr(model, "cluster_centers_")


def test_every_parameter_has_a_wrong_value():
    covered = {name for parameters, _ in WRONG for name in parameters}
    assert set(PEMeans().get_params()) <= covered


def test_a_wrong_parameter_is_refused_in_fit_and_not_before():
    PEMeans(n_clusters=0, epsilon="x", bounds=object(), n_rounds=-1)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (pd.DataFrame({"a": [1.0], "name": ["x"]}), r"PEMeans: expected numbers in column 'name', got"),
        (np.array([["a"]]), r"PEMeans: expected numbers, got text"),
        ([1.0, 2.0], r"PEMeans: expected a 2-d table"),
        ("missing.parquet", r"PEMeans: there is no file or folder 'missing\.parquet'"),
        ("missing.csv", r"PEMeans: there is no file or folder 'missing\.csv'"),
    ],
)
def test_a_table_that_cannot_be_opened_costs_nothing(data, message):
    ledger = Ledger(epsilon=1.0, delta=1e-6)
    with pytest.raises(DataError, match=message):
        PEMeans(bounds=(0, 1), ledger=ledger).fit(data)
    assert len(ledger.lines) == 1


def test_columns_named_in_two_ways_cost_nothing():
    ledger = Ledger(epsilon=1.0, delta=1e-6)
    with pytest.raises(TypeError, match="Feature names are only supported if all input features have string names"):
        PEMeans(2, bounds=(0, 1), ledger=ledger).fit(pd.DataFrame([[0.1, 0.2]], columns=["a", 1]))
    assert ledger.spent.empty


def test_a_spent_ledger_refuses_and_says_what_is_left(make, rows):
    ledger = Ledger(epsilon=1.0, delta=1e-6)
    make(epsilon=0.9, ledger=ledger).fit(rows)
    before = ledger.lines
    with pytest.raises(BudgetExceeded, match=r"this fit costs epsilon 0\.9.* but epsilon 0\.\d+ of 1 is left\. Ask"):
        make(epsilon=0.9, ledger=ledger).fit(rows)
    assert ledger.lines == before


def test_a_ledger_of_the_other_relation_refuses(make, rows):
    ledger = Ledger(epsilon=1.0, delta=1e-6, neighbours="replace")
    with pytest.raises(LedgerError, match=r"this ledger is about 'replace' neighbours, the fit about 'add-remove'\. Pass"):
        make(ledger=ledger).fit(rows)
    assert len(ledger.lines) == 1


def test_a_pure_ledger_refuses_gaussian_noise(make, rows):
    ledger = Ledger(PureDP(10.0))
    with pytest.raises(BudgetExceeded, match=r"which Gaussian noise cannot satisfy\. Pass delta=0 to the fit"):
        make(epsilon=1.0, ledger=ledger).fit(rows)
    make(epsilon=1.0, delta=0, ledger=ledger).fit(rows)
    assert ledger.spent.epsilon_sum <= 1.0


@pytest.mark.parametrize("method", ["predict", "transform", "score"])
def test_an_unfitted_model_says_so(method, make, rows):
    with pytest.raises(ValueError, match="not fitted"):
        getattr(make(), method)(rows)


@pytest.mark.parametrize("method", ["predict", "transform", "score"])
def test_other_columns_are_refused(method, make, rows):
    model = make().fit(rows)
    with pytest.raises(ValueError, match=r"X has 3 features, but PEMeans is expecting 2 features as input"):
        getattr(model, method)(np.zeros((4, 3)))


def test_all_errors_share_one_tree():
    assert issubclass(ParameterError, CloisterError)
    assert issubclass(ParameterError, ValueError)
    assert issubclass(BudgetExceeded, LedgerError)
