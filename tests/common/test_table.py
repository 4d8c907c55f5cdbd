# SPDX-License-Identifier: Apache-2.0
"""A method of the table is everywhere: package, command line, comparison, audit, benchmark, documentation, fuzzing."""

import inspect
import sys
from importlib import import_module
from pathlib import Path

import click
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from tests.fuzz import _parameters

import cloister
from cloister import audit, compare, load_release, rivals
from cloister.cli import main
from cloister.cluster import PrivateEstimator
from cloister.methods import METHODS, commands, comparable, find_method

from ._cases import every_method
from ._methods_page import page

ROOT = Path(__file__).parents[2]


def test_every_estimator_of_the_package_is_in_the_table():
    public = {one for room in (cloister, rivals) for name in room.__all__ if inspect.isclass(one := getattr(room, name))}
    estimators = {one.__name__ for one in public if issubclass(one, PrivateEstimator)}
    assert estimators == {*METHODS, "PrivateScaler"}, "a scaler clusters nothing"


@every_method
def test_it_is_everywhere(case, monkeypatch):
    """The package, the command line, the audit, the benchmarks, fuzzing and the readme have every method."""
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks._methods import METHODS as MEASURED
    from benchmarks.suites import SUITES

    room = import_module(case.method.room)
    assert case.name in room.__all__
    assert getattr(room, case.name) is case.method.estimator
    assert find_method(case.name.upper()) is case.method
    assert {case.name, *(f"{case.name}, {variant}" for variant in case.method.variants)} <= set(audit.METHODS)
    assert case.name in _parameters._owners()
    assert f"`{case.name}`" in (ROOT / "README.md").read_text(encoding="utf-8")
    if case.kind != "centers":  # with a command and a suite of its own
        assert case.kind in main.commands
        assert {"synopsis": "grids", "source-target": "source-target"}[case.kind] in SUITES
        return
    assert commands()[case.method.word] is case.method
    (option,) = [one for one in main.commands["fit"].params if one.name == "method"]
    assert isinstance(option.type, click.Choice)
    assert case.method.word in option.type.choices
    assert case.name in MEASURED


@pytest.mark.parametrize("command", commands())
def test_the_command_line_fits_it(command, rows, tmp_path):
    table, output = tmp_path / "rows.csv", tmp_path / "release.json"
    pd.DataFrame(rows, columns=["a", "b"]).to_csv(table, index=False)
    options = ["-k", "3", "--epsilon", "5", "--bounds=-1,1", "--method", command, "-o", str(output), "-q"]
    done = CliRunner().invoke(main, ["fit", str(table), *options])
    assert done.exit_code == 0, done.output
    assert load_release(output).method == commands()[command].name


def test_all_that_find_centres_are_compared(rows):
    found = compare(np.asarray(rows), n_clusters=2, bounds=(-1, 1), repeats=1)
    assert {one.method for one in found.contenders} == set(comparable())
    assert [one.failure for one in found.contenders if one.failure] == []


def test_the_page_of_methods_is_up_to_date():
    written = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")
    assert written == page(), f"run {Path(sys.executable).name} -m tests.common._methods_page > docs/methods.md"
