# SPDX-License-Identifier: Apache-2.0
"""Wrong parameters: one clear error that names the parameter, the rule and the remedy, before a row is read or a coin spent.

A parameter of one name means the same in every estimator, so each has one list of wrong values here.
"""

import math

import numpy as np
import pandas as pd
import pytest
from tests.rows import FewRows
from tests.vaults import refusal

from cloister import Ball, Box, Ledger, PureDP
from cloister.exceptions import BudgetExceeded, CloisterError, DataError, LedgerError, ParameterError

from ._cases import every_clusterer, every_method

NUMBER, INTEGER, COUNT = "expected a finite number", "expected an integer", "expected an integer of at least 1"
WRONG = {
    "n_clusters": [
        (0, r"expected an integer from 1 to \d+, got 0\. Pass"),
        (2.5, rf"{INTEGER} .*, got 2\.5"),
        ("8", rf"{INTEGER} .*, got '8'"),
        *((value, INTEGER) for value in (None, True, 10**9)),
    ],
    "epsilon": [
        (0, rf"{NUMBER} above 0, got 0\. Typical values"),
        (-1.0, rf"{NUMBER} above 0, got -1\.0"),
        (math.nan, rf"{NUMBER} above 0, got nan"),
        (math.inf, rf"{NUMBER} above 0, got inf"),
        ("1", rf"{NUMBER} above 0, got '1'"),
        (None, rf"{NUMBER} above 0, got None"),
        (10**400, rf"{NUMBER} above 0"),
    ],
    "delta": [
        (1, rf"{NUMBER} of at least 0 and below 1, got 1\. Use a number well below"),
        (-1e-9, rf"{NUMBER} .*got -1e-09"),
        *((value, NUMBER) for value in (math.nan, None)),
    ],
    "guarantee": [
        ("pure", r"expected PureDP, ApproxDP, ZCDP or GDP, got 'pure'\. Or pass"),
        (1.0, r"expected PureDP"),
    ],
    "bounds": [
        ("0,1", r"expected a pair \(low, high\), a Box or a Ball, pairs per column, .*, got '0,1'\. Pass"),
        *((value, r"expected a pair \(low, high\), a Box") for value in (1.0, [], (0, 1, 2))),
        ([(0, 1), (2, 3), (4, 5)], r"expected a pair for each of 2 columns, got 3\. Pass"),
        ([[0, 1], [2, 3]], r"expected bounds that can be read in one way only; .*\. Pass a list of tuples"),
        (["private"] * 3, r"expected one entry for each of 2 columns, got 3"),
        ({}, r"expected at least one column, got \{\}\. Pass"),
        ({3: (0, 1), "y": (0, 1)}, r"expected names of columns as keys, got 3"),
        ((1, 0), r"Box: expected low < high in every column \(column 0\), got \(1\.0, 0\.0\)\. Swap"),
        (([0, 0, 0], 1), r"Box\.low: expected one number or 2, one per column, got 3\. Pass as many"),
        (("a", "b"), r"Box\.low: expected a number or one number per column, got 'a'\. Pass numbers"),
        (Box([0] * 5, 1), r"Box\.low: expected one number or 2"),
    ],
    "scaling": [("std", r"expected one of 'auto', 'bounds', 'none', 'spread', got 'std'"), (None, "expected one of")],
    "missing": [("zero", r"expected one of 'mean', 'middle', got 'zero'"), (0.0, "expected one of")],
    "bounds_share": [
        (0, rf"{NUMBER} above 0 and of at most 0\.5, got 0"),
        *((value, NUMBER) for value in (0.6, -0.1, math.nan, "half", None)),
    ],
    "describe": [
        (-0.1, rf"{NUMBER} of at least 0 and of at most 0\.9, got -0\.1\. Pass the part of the budget"),
        *((value, NUMBER) for value in (0.91, math.nan, "all", None, True)),
    ],
    "describe_columns": [
        (["income"], r"expected a mapping of columns to what they are, got \['income'\]\. Pass"),
        ({"income": (0, 1)}, r"expected a share of the budget to describe columns with, got 'describe=0'\. Pass"),
    ],
    "neighbours": [
        ("swap", r"expected one of 'add-remove', 'replace', got 'swap'"),
        (None, r"expected one of"),
    ],
    "privacy_unit": [
        (7, r"expected the name of the column that says whose row it is, got 'int'\. Pass the ids themselves"),
        ("", r"expected the name of the column"),
    ],
    "max_rows_per_unit": [
        (0, rf"{INTEGER} from 1 to 1000, got 0\. Pass \"auto\""),
        *((value, INTEGER) for value in (1001, 2.5, "all", None, True)),
        (3, r"expected privacy_unit with it, got 3\. Pass privacy_unit="),
    ],
    "weighting": [("visit", r"expected one of 'person', 'row', got 'visit'"), ("person", "expected privacy_unit with it")],
    "units_bounded": [("yes", "expected True or False"), (True, "expected privacy_unit with it")],
    "n_rows": [
        (-1, r"expected an integer from 0 to \d+, got -1\. Pass the number of rows if it is public"),
        *((value, INTEGER) for value in (1.5, "many")),
    ],
    "dataset": [
        ("two\nlines", r"expected text of at most 200 characters, in one line .*, got 'two\\nlines'\. Pass a short text"),
        *((value, r"expected text of at most 200 characters") for value in ("x" * 201, "\x1b[31m", None, 3, b"patients")),
    ],
    "purpose": [(value, r"expected text of at most 200 characters") for value in ("x" * 201, "a\x00b", None, ["research"])],
    "ledger": [
        ("budget.sqlite", r"expected a Ledger or None, got 'budget\.sqlite'\. Use Ledger\.open"),
        (1.0, r"expected a Ledger or None"),
    ],
    "random_state": [
        (-1, r"expected an integer from 0"),
        *((value, INTEGER) for value in ("seed", np.random.default_rng(0))),
    ],
    "n_jobs": [(0, r"expected a number of threads other than 0"), ("all", INTEGER)],
    "progress": [(np.array([]), r"expected True or False")],
    "n_init": [(0, COUNT), *((value, INTEGER) for value in (-1, 1.5, "many", None))],
    "max_clusters": [(0, r"expected an integer from 1 to \d+, got 0"), *((value, INTEGER) for value in (1.5, "all", None))],
    "n_points": [
        (0, r"expected an integer from 1 to 4096, got 0\. Pass \"auto\" or a whole number"),
        *((value, INTEGER) for value in ("many", 2.5, 5000)),
    ],
    "n_rounds": [
        (0, r"expected an integer of at least 1, got 0\. Pass \"auto\" or a whole number"),
        *((value, INTEGER) for value in ("many", 2.5, np.array([1, 2]))),
    ],
    "n_variations": [(0, COUNT), *((value, INTEGER) for value in (None, np.array([1, 2])))],
    "max_candidates": [(0, r"expected an integer of at least 1, got 0")],
    "projection": [
        (0, r"expected an integer .*, got 0\. Pass \"auto\", "),
        *((value, INTEGER) for value in ("pca", np.array([1, 2]))),
    ],
    "selection": [("best", r"expected one of 'kmeans', 'kmedians', 'top-k', got 'best'")],
    "vote_rule": [("all", r"expected one of 'cut', 'nonnegative-total', 'threshold', got 'all'")],
    "vote_threshold": [(-1.0, rf"{NUMBER} of at least 0"), *((value, NUMBER) for value in (math.nan, "3 sigma", None))],
    "first_candidates": [("grid", r"expected one of 'packing', 'uniform', got 'grid'")],
    "adaptive": [("yes", r"expected True or False")],
    "step": [(0.0, rf"{NUMBER} above 0"), (2.0, NUMBER)],
    "levy_exponent": [(2.0, NUMBER), (0.0, NUMBER)],
    "rule": [
        (0, r"expected an integer of at least 1, got 0"),
        (2.5, r"expected an integer of at least 1, got 2\.5\. Pass one of adaptive, eugkm, rugnik"),
        ((3, 3, 3), r"expected one number for each of 2 columns, got 3"),
        ("best", r"expected one of 'adaptive', 'eugkm', 'rugnik', got 'best'\. Or pass the number of cells"),
        (10_000, r"expected at most 16,777,216 cells, .* got '10000 x 10000 = 100,000,000'\. Use fewer"),
        ((10_000, 10_000), r"expected at most 16,777,216 cells, .* got '10000 x 10000 = 100,000,000'"),
    ],
    "counts": [("round", r"expected one of 'clip', 'none', 'nonnegative-total'")],
    "representatives": [("corner", r"expected one of")],
    "count_share": [
        (0, rf"{NUMBER} of at least 1e-06 .*, got 0\. Pass \"auto\" or a part"),
        *((value, NUMBER) for value in (1.0, "half", None)),
    ],
    "alpha": [
        *((value, rf"{NUMBER} of at least 0\.001 and .* 2, got") for value in (0.0, -1.0, 2.5, math.nan, "wide", None)),
    ],
    "max_depth": [
        (0, r"expected an integer from 1 to 48, got 0\. Pass \"auto\" or a whole number"),
        (49, r"expected an integer from 1 to 48, got 49"),
        *((value, INTEGER) for value in ("deep", 2.0)),
    ],
    "min_rows_per_leaf": [(0, r"expected an integer of at least 1, got 0\. Pass \"auto\""), (None, INTEGER)],
    "offset": [(-0.1, rf"{NUMBER} of at least 0 and of at most 1, got -0\.1"), (math.nan, NUMBER)],
    "start": [("best", r"expected one of 'counts', 'random', got 'best'")],
    "n_swaps": [
        (-1, r"expected an integer from 0 to 10000, got -1\. Pass \"auto\" or a whole number"),
        ("many", INTEGER),
    ],
    "n_trees": [(0, r"expected an integer from 1 to 1000, got 0")],
    "depth": [(0, r"expected an integer from 1 to 62, got 0")],
    "method": [("mean", r"expected one of 'nas', 'nna', got 'mean'")],
    "calibration": [("rough", r"expected one of 'paper', 'sharp'")],
    "confidence": [(0.4, rf"{NUMBER} of at least 0\.5 and below 1"), (1.0, NUMBER)],
    "n_neighbors": [(0, COUNT)],
    "distance_share": [
        (1.0, rf"{NUMBER} of at least 0 and of at most 0\.9, got 1\.0"),
        (-0.1, NUMBER),
        (0.5, "expected 0 for nna, whose error has no bound, got 0.5"),
    ],
    "coreset_radius": [(-0.1, rf"{NUMBER} of at least 0 and of at most 1")],
    "max_representatives": [(0, COUNT)],
    "metric": [
        *((value, rf"expected a distance that scikit-learn knows, got '{value}'") for value in ("near", "jaccard")),
        ("precomputed", r"expected a distance .* function of two points, got 'precomputed'"),
        *((value, r"expected a distance .* function of two points") for value in ("seuclidean", lambda a, b: 0.0)),
    ],
    "solver": [("best", r"expected one of 'auto', 'exact', 'representatives'")],
}


def refused(case, message, rows=None, *, error=ParameterError, **parameters):
    """Fit with a fresh ledger, which must be refused before anything is read or spent."""
    with refusal(error, message) as ledger:
        model = case.make(**{"ledger": ledger, **parameters})
        case.fit_to(model, FewRows() if rows is None else rows)
    assert not hasattr(model, "privacy_receipt_")


@every_method
def test_a_wrong_parameter_is_refused_before_anything_is_read_or_spent(case):
    for parameter in case.make().get_params():
        rows = np.zeros((1, 2)) if parameter == "n_jobs" else None  # of the reader, which a table already open does not need
        for value, rule in WRONG[parameter]:
            owner = "" if rule.startswith("Box") else rf"{case.name}(\.source)?\.{parameter}: "
            refused(case, owner + rule, rows, **{parameter: value})


@every_method
def test_bounds_are_needed_and_of_a_kind_that_the_method_takes(case):
    if case.kind != "source-target":  # whose default is a ball around the public target
        refused(case, rf"{case.name}\.bounds: expected a domain known without looking at the data, got None\.", bounds=None)
    if "ball" in case.method.domains:
        refused(case, r"Ball\.center: expected one number or 2", bounds=Ball(1.0, [0, 0, 0]))
    else:
        refused(case, rf"{case.name}\.bounds: expected a box", bounds=Ball(1.0))


@every_method
def test_a_wrong_parameter_is_refused_in_fit_and_not_before(case):
    estimator = case.make(n_clusters=0, epsilon="x", bounds=object(), ledger=7)
    assert estimator.set_params(n_clusters=-1).n_clusters == -1


@every_method
def test_the_default_delta_is_that_of_the_table(case):
    assert case.method.estimator().delta == case.method.delta


@every_method
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            pd.DataFrame({"a": [1.0], "when": pd.Series(["2020-01-01"], dtype="datetime64[s]")}),
            r"expected numbers in column 'when', got",
        ),
        (np.array([["2020-01-01"]], dtype="datetime64[D]"), r"expected numbers, got dtype datetime64"),
        ([1.0, 2.0], r"expected a 2-d table"),
        ("missing.parquet", r"there is no file or folder 'missing\.parquet'"),
        ("missing.csv", r"there is no file or folder 'missing\.csv'"),
    ],
    ids=["dates in a column", "dates", "one axis", "no Parquet file", "no CSV file"],
)
def test_a_table_that_cannot_be_opened_costs_nothing(case, data, message):
    refused(case, rf"{case.name}.*: {message}", data, error=DataError)


@every_clusterer
def test_columns_named_in_two_ways_cost_nothing(case):
    ledger = Ledger(epsilon=1.0, delta=1e-6)  # what has been set aside by then is given back
    with pytest.raises(TypeError, match="Feature names are only supported if all input features have string names"):
        case.fit(pd.DataFrame([[0.1, 0.2]], columns=["a", 1]), ledger=ledger)
    assert ledger.spent.empty


@every_method
def test_a_pure_ledger_refuses_gaussian_noise(case, rows):
    ledger = Ledger(PureDP(10.0))
    case.fit(rows, epsilon=1.0, delta=0, ledger=ledger)
    assert ledger.spent.epsilon_sum <= 1.0
    if case.name == "TreeKMeans":  # always pure, whatever delta it is given
        return
    with pytest.raises(BudgetExceeded, match=r"which Gaussian noise cannot satisfy\. Pass delta=0 to the fit"):
        case.fit(rows, epsilon=1.0, delta=1e-6, ledger=ledger)


@every_clusterer
@pytest.mark.parametrize("use", ["predict", "transform", "score"])
def test_unfitted_models_and_other_columns_are_refused(use, case, rows):
    with pytest.raises(ValueError, match="not fitted"):
        getattr(case.make(), use)(rows)
    with pytest.raises(ValueError, match=rf"X has 3 features, but {case.name} is expecting 2 features as input"):
        getattr(case.fit(rows), use)(np.zeros((4, 3)))


def test_all_errors_share_one_tree():
    assert issubclass(ParameterError, CloisterError)
    assert issubclass(ParameterError, ValueError)
    assert issubclass(BudgetExceeded, LedgerError)
