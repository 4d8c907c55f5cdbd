# SPDX-License-Identifier: Apache-2.0
"""k finite centres inside the domain, whatever the rows, the columns, the domain and the guarantee."""

import inspect

import numpy as np
import pandas as pd
import pytest
from tests.vaults import refusal

from cloister import GDP, ZCDP, ApproxDP, Ledger, PureDP
from cloister.exceptions import ParameterError

from ._cases import check_fit, domains_of, every_clusterer, every_method, results, same

TABLES = {
    "no rows": lambda generator: np.empty((0, 2)),
    "one row": lambda generator: np.array([[0.5, -0.5]]),
    "fewer rows than clusters": lambda generator: generator.uniform(-1, 1, size=(3, 2)),
    "constant": lambda generator: np.full((200, 2), 0.25),
    "one constant column": lambda generator: np.stack([np.full(60, 0.25), np.linspace(-1, 1, 60)], axis=1),
    "two points": lambda generator: np.repeat([[0.9, 0.9], [-0.9, -0.9]], 100, axis=0),
    "one column": lambda generator: generator.uniform(-1, 1, size=(100, 1)),
    "everything outside": lambda generator: generator.normal(size=(100, 2)) * 1e6,
    "nothing but missing": lambda generator: np.full((100, 2), np.nan),
    "twelve columns": lambda generator: generator.normal(size=(60, 12)) / 4,
    "a missing row": lambda generator: np.vstack([generator.normal(size=(30, 2)), np.full((1, 2), np.nan)]),
}
OPTIONS = {
    "epsilon and delta": {"epsilon": 1.0, "delta": 1e-6},
    "pure": {"epsilon": 1.0, "delta": 0},
    "PureDP": {"guarantee": PureDP(2.0)},
    "ApproxDP": {"guarantee": ApproxDP(1.0, 1e-5)},
    "ZCDP": {"guarantee": ZCDP(0.5)},
    "GDP": {"guarantee": GDP(1.0)},
    "replace": {"neighbours": "replace"},
    "pure, replace": {"delta": 0, "neighbours": "replace"},
    "public size": {"n_rows": 100},
    "public size zero": {"n_rows": 0},
    "large epsilon": {"epsilon": 1e4},
    "small epsilon": {"epsilon": 1e-3},
}


@pytest.mark.fast("*-KMeans", "*-GridSynopsis", "*-SourceTargetKMedoids")
@every_method
@pytest.mark.parametrize("table", TABLES)
def test_any_table_and_any_budget(case, table, generator):
    rows, budgets = TABLES[table](generator), list(OPTIONS.values())
    for options in ({}, *budgets[list(TABLES).index(table) :: len(TABLES)]):  # every budget meets a table
        check_fit(case.fit(rows, 5, **options), case, 5, rows.shape[1])


@pytest.mark.fast("*-KMeans", "*-GridSynopsis")
@every_method
@pytest.mark.parametrize(("n_clusters", "scaling"), [(1, "none"), (2, "bounds"), (50, "bounds")])
def test_domains_of_every_kind_hold_the_centres(case, n_clusters, scaling, rows):
    if "scaling" not in inspect.signature(case.method.estimator).parameters:
        pytest.skip("it measures in the units of the target")
    for bounds in domains_of(case.method).values():
        model = case.fit(rows, n_clusters, bounds=bounds, scaling=scaling, epsilon=0.3)
        check_fit(model, case, n_clusters, 2)


@pytest.mark.fast("KMeans", "GridSynopsis", "SourceTargetKMedoids")
@every_method
def test_float32_and_integers_are_fitted_as_they_are(case, rows):
    # Fault 15: a fit that breaks on float32.
    for dtype in (np.float32, np.float16, np.int8):
        given = rows.astype(dtype)
        model = case.fit(given, random_state=1)
        assert same(model, case.fit(given.astype(np.float64), random_state=1))
        assert {array.dtype.kind for array in results(model).values()} <= {"f", "i"}


@pytest.mark.fast("KMeans")
@every_clusterer
def test_a_second_fit_may_have_other_bounds_and_other_columns(case, rows, generator):
    # Fault 15: a second fit with other bounds broke.
    model = case.fit(rows)
    model.set_params(bounds=(-10, 10), n_clusters=4).fit(rows * 5)
    check_fit(model, case, 4, 2)
    model.set_params(bounds=(0, 9), **case.method.wide)
    model.fit(pd.DataFrame(generator.uniform(0, 9, size=(50, 3)), columns=list("abc")))
    check_fit(model, case, 4, 3)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    model.fit(generator.uniform(0, 9, size=(50, 5)))
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 5


@every_method
def test_a_refused_fit_leaves_the_fitted_model_as_it_was(case, rows):
    ledger = Ledger(epsilon=5.0, delta=1e-6)
    model = case.fit(rows, ledger=ledger, epsilon=5.0)
    before = results(model)
    with pytest.raises(RuntimeError, match=r"Ledger\.reserve: this fit costs"):
        case.fit_to(model, rows[:, :1], width=1)
    assert all(np.array_equal(before[name], array) for name, array in results(model).items())
    assert model.n_features_in_ == 2


@every_method
@pytest.mark.parametrize("epsilon", [1e-98, 1e-17])
def test_a_budget_whose_noise_cannot_be_drawn_is_refused_before_anything_is_spent(case, epsilon):
    with refusal(ParameterError, r"\.epsilon: expected a budget whose noise can be drawn, got .*\. Spend more\.") as ledger:
        model = case.make(epsilon=epsilon, delta=0.0, ledger=ledger)
        case.fit_to(model, np.zeros((5, 2)))
    assert not hasattr(model, "n_features_in_")
