# SPDX-License-Identifier: Apache-2.0
"""An estimator is added in one module and one entry of the table, and the common suite takes it in hand."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

from cloister import rivals
from cloister.audit import replay

from ._cases import GUARANTEES, RELATIONS, Case, check_fit, same
from ._recipe import METHOD, VoteMeans
from .test_budgets import check_budget
from .test_checks import EXPECTED_FAILURES

ROOT = Path(__file__).parents[2]


@pytest.fixture
def toy(monkeypatch):
    monkeypatch.setattr(rivals, METHOD.name, VoteMeans, raising=False)
    return Case(METHOD)


def test_a_class_declares_its_own_parameters_and_gets_the_others_with_their_documentation():
    names = list(inspect.signature(VoteMeans).parameters)
    assert names[0] == "n_clusters"
    assert {"epsilon", "ledger", "max_candidates", "n_init", "random_state", "scaling"} <= set(names)
    for name in names:
        assert re.search(rf"^(\w+, )*{name}(, \w+)* : ", inspect.getdoc(VoteMeans), flags=re.M), name


def test_a_plan_is_enough_for_steps_receipt_and_release(toy, rows):
    model = toy.fit(rows, random_state=1)
    check_fit(model, toy, 3, 2)
    assert [step.name for step in model.plan_.steps] == [record.name for record in model.release_.steps] == ["vote"]
    assert [event.step for event in model.privacy_receipt_.events] == ["vote"]
    assert same(model, toy.fit(rows[::-1], random_state=1))


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_it_spends_its_budget(toy, guarantee, relation, generator):
    check_budget(toy, GUARANTEES[guarantee], relation, generator, width=2, n_rows=None)


def test_its_neighbours_are_close(toy, generator):
    rows = generator.uniform(-1, 1, size=(20, 2))
    found = replay(lambda table: toy.fit(table, random_state=5), np.vstack([rows, [[np.nan, 9.0]]]), rows)
    assert (found.violations, found.worst) == ((), 1.0)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:SCIPY_ARRAY_API is not set")
def test_scikit_learn_has_no_objection(toy):
    model = VoteMeans(n_clusters=3, epsilon=1e4, bounds=(-3, 3), random_state=0)
    results = check_estimator(model, expected_failed_checks=EXPECTED_FAILURES, on_fail=None, on_skip=None)
    assert [one["check_name"] for one in results if one["status"] == "failed"] == []


@pytest.mark.slow
def test_being_listed_is_being_tested():
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tests.common._recipe", "tests/common"]
    options = ["-k", "VoteMeans and not test_table and not dask and not spark"]
    done = subprocess.run([*command, *options], cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-3000:]
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 80
