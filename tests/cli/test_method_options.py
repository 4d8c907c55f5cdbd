# SPDX-License-Identifier: Apache-2.0
"""Every parameter of a method's own can be set by the command line: by fit, by plan and by compare."""

import inspect
import json
from pathlib import Path

import pytest

from cloister import PEMeans, compare, plan
from cloister.cli._options import OPTIONS
from cloister.cluster import PrivateEstimator
from cloister.exceptions import ParameterError
from cloister.methods import METHODS

from .conftest import Run

SHARED = set(inspect.signature(METHODS["LloydKMeans"].estimator).parameters) - {"n_rounds", "count_share"}
ELSEWHERE = {"max_clusters"}  # an option of fit that goes with '-k auto'


@pytest.mark.parametrize("name", METHODS)
def test_every_parameter_of_a_methods_own_is_in_the_table_and_has_an_option(name: str) -> None:
    method = METHODS[name]
    assert issubclass(method.estimator, PrivateEstimator)
    own = [one for one in inspect.signature(method.estimator).parameters if one not in SHARED]
    assert sorted(own) == sorted(method.parameters)
    if method.kind == "centers":
        assert set(own) - {one.parameter for one in OPTIONS} <= ELSEWHERE


GIVEN = {
    "pe-means": (
        ("--rounds", 2, "--variations", 3, "--projection", "none", "--selection", "top-k", "--no-adaptive"),
        {"n_rounds": 2, "n_variations": 3, "projection": None, "selection": "top-k", "adaptive": False},
    ),
    "grid": (
        ("--rule", "6,5", "--counts", "none", "--representatives", "slope", "--n-init", 1),
        {"counts": "none", "representatives": "slope"},
    ),
    "tree": (
        ("--projection", "none", "--swaps", "auto", "--start", "counts"),
        {"projection": None, "n_swaps": "auto", "start": "counts"},
    ),
}


@pytest.mark.parametrize("command", GIVEN)
def test_a_fit_has_the_parameters_that_are_given(run: Run, table: Path, tmp_path: Path, command: str) -> None:
    output, (given, wanted) = tmp_path / "release.json", GIVEN[command]
    options = ("-k", 2, "--epsilon", 5, "--bounds", "age=0:120,weight=20:200", "-q", "-o", output, "--method", command)
    run("fit", table, *options, *given)
    kept = json.loads(output.read_text())["parameters"]
    assert {name: kept.get(name) for name in wanted} == wanted


def test_an_option_of_another_method_is_refused(refused: Run, table: Path) -> None:
    words = "Error: --rounds: is for pe-means, lloyd, fast-lloyd, got --method kmeans. Leave it out."
    refused("fit", table, "-k", 2, "--epsilon", 1, "--bounds", "0,1", "--rounds", 3, match=words)
    refused("plan", "--n-rows", 9, "--features", 2, "-k", 2, "--epsilon", 1, "--rounds", 3, match=words)


def test_plan_follows_the_options(run: Run) -> None:
    shape = ("--n-rows", 5000, "--features", 3, "-k", 4, "--epsilon", 1, "--json")
    votes = json.loads(run("plan", *shape, "--method", "pe-means", "--rounds", 3).stdout)
    assert [step["name"] for step in votes["steps"] if step["name"].startswith("vote")] == ["vote 1", "vote 2", "vote 3"]
    grid = json.loads(run("plan", *shape, "--method", "grid-synopsis", "--rule", 4).stdout)
    assert grid["method"] == "GridSynopsis"
    assert grid["steps"][-1]["n_points"] == 64


def test_plan_refuses_what_is_no_option_of_the_method() -> None:
    with pytest.raises(ParameterError, match=r"plan\.options: expected one of .*'n_rounds'.*, got 'rounds'"):
        plan(1000, 2, 3, method="PEMeans", options={"rounds": 3})


def test_compare_takes_variants(run: Run) -> None:
    shape = ("--n-rows", 500, "--features", 2, "-k", 2, "--epsilon", 5, "--repeats", 1, "--json")
    result = run("compare", *shape, "--methods", "pe-means:rounds=2:adaptive=no, pe-means:rounds=3, grid-synopsis")
    found = {one["method"] for one in json.loads(result.stdout)["contenders"]}
    assert found == {"PEMeans(n_rounds=2, adaptive=False)", "PEMeans(n_rounds=3)", "GridSynopsis"}


@pytest.mark.parametrize(
    ("methods", "words"),
    [
        ("pe-means:swaps=3", "--methods: expected pe-means:NAME=VALUE with NAME one of"),
        ("pe-means:rounds", "--methods: expected pe-means:NAME=VALUE"),
        ("pe-means:rounds=many", "--rounds: 'many' is no whole number, nor auto."),
        ("source-target", "compare.methods: expected one of"),
    ],
)
def test_compare_refuses_what_is_no_variant(refused: Run, methods: str, words: str) -> None:
    refused("compare", "--n-rows", 500, "--features", 2, "-k", 2, "--epsilon", 5, "--methods", methods, match=words)


def test_compare_takes_estimators_that_set_their_own_parameters_alone() -> None:
    found = compare(n_clusters=2, n_rows=300, n_features=2, methods=[PEMeans(n_rounds=2), "GridSynopsis"], repeats=1)
    assert {one.method for one in found.contenders} == {"PEMeans(n_rounds=2)", "GridSynopsis"}
    with pytest.raises(ParameterError, match=r"expected estimators that set parameters of their own alone, got 'epsilon'"):
        compare(n_clusters=2, n_rows=300, n_features=2, methods=[PEMeans(epsilon=2.0)])


def test_a_synopsis_takes_a_rule_for_its_counts(run: Run, refused: Run, table: Path, tmp_path: Path) -> None:
    options = ("--epsilon", 5, "--bounds", "age=0:120,weight=20:200", "-q", "-o", tmp_path / "synopsis.json")
    refused(
        "synopsis", "fit", table, *options, "--counts", "clip", "--points", 4, match="--points: is for points, and --counts"
    )
    run("synopsis", "fit", table, *options, "--counts", "clip")
    assert '"clip"' in (tmp_path / "synopsis.json").read_text()


def test_plan_says_where_the_plan_of_source_target_clustering_is(run: Run) -> None:
    result = run("plan", "--n-rows", 5000, "--features", 2, "-k", 4, "--epsilon", 1, "--method", "source-target")
    words = " ".join(result.stdout.split())
    assert "'cloister source-target TARGET --plan', says it" in words
    assert "GridSynopsis" not in words
