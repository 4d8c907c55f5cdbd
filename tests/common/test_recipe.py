# SPDX-License-Identifier: Apache-2.0
"""An estimator is added in one module and one entry of the table, and the common suite takes it in hand."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from cloister import rivals

from ._cases import Case, check_fit, same
from ._recipe import METHOD, VoteMeans

ROOT = Path(__file__).parents[2]


@pytest.fixture
def toy(monkeypatch):
    monkeypatch.setattr(rivals, METHOD.name, VoteMeans, raising=False)
    return Case(METHOD)


def test_a_plan_is_enough_for_steps_receipt_and_release(toy, rows):
    model = toy.fit(rows, random_state=1)
    check_fit(model, toy, 3, 2)
    assert [step.name for step in model.plan_.steps] == [record.name for record in model.release_.steps] == ["vote"]
    assert [event.step for event in model.privacy_receipt_.events] == ["vote"]
    assert same(model, toy.fit(rows[::-1], random_state=1))


@pytest.mark.slow
def test_being_listed_is_being_tested():
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "-p", "tests.common._recipe", "tests/common"]
    options = ["-k", "VoteMeans and not test_table and not dask and not spark"]
    done = subprocess.run([*command, *options], cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-3000:]
    for law in ("test_a_fit_spends_its_budget", "test_one_row_moves_no_answer", "test_scikit_learn_has_no_objection"):
        assert re.search(rf"{law}\w*\[.*VoteMeans", done.stdout), law
