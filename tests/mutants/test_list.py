# SPDX-License-Identifier: Apache-2.0
"""The list of mutants fits the code it is about. Whether they are caught is found out by ``make mutants``."""

import ast
import functools
import importlib.util
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
FEWEST = 38


def load_runner():
    name = "cloister_mutants_run"
    spec = importlib.util.spec_from_file_location(name, FOLDER / "run.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


RUNNER = load_runner()
MUTANTS = RUNNER.read_mutants()


@functools.cache
def functions_of(file):
    return {node.name for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.FunctionDef)}


@functools.cache
def structure_of(source):
    return ast.dump(ast.parse(source))


def test_there_are_enough_of_them_and_each_has_its_name():
    assert len(MUTANTS) >= FEWEST
    assert [name for name, times in Counter(mutant.name for mutant in MUTANTS).items() if times > 1] == []
    assert [mutant.name for mutant in MUTANTS if not mutant.name.replace("-", "").isalnum()] == []


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_changes_the_code_in_one_place_and_says_what_breaks(mutant):
    source = (ROOT / mutant.file).read_text("utf-8")
    assert mutant.file.startswith("src/cloister/")
    changed = mutant.apply(source)  # the text is there once, and what comes of it is Python
    assert structure_of(changed) != structure_of(source)
    assert mutant.breaks.endswith(".")
    assert len(mutant.breaks.split()) > 4


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_tests_that_must_fail_exist(mutant):
    assert mutant.tests
    for test in mutant.tests:
        file, _, name = test.partition("::")
        assert (ROOT / file).is_file()
        assert name.partition("[")[0].rpartition("::")[2] in functions_of(ROOT / file)


@pytest.mark.parametrize(
    ("code", "failure", "word"),
    [
        (0, None, "MISSED"),
        (1, "AssertionError", "caught"),
        (1, "Failed", "caught"),
        (1, "BudgetExceeded", "caught"),
        (1, "NameError", "BROKEN"),
        (1, None, "BROKEN"),
        (2, None, "BROKEN"),
        (4, "AssertionError", "BROKEN"),
        (5, None, "BROKEN"),
    ],
)
def test_only_a_test_that_fails_is_a_catch(code, failure, word, tmp_path):
    if failure is not None:
        line = {"test": "tests/test_some.py::test_law", "phase": "call", "error": failure}
        (tmp_path / "failures.jsonl").write_text(json.dumps(line) + "\n", "utf-8")
    done = subprocess.CompletedProcess([], code, stdout="some output\n")
    assert RUNNER.judge(done, tmp_path)[0] == word


def test_a_text_that_is_not_there_once_is_refused():
    mutant = RUNNER.Mutant(name="some", file="some.py", text="1", replacement="2", breaks="A law.", tests=())
    for source in ("", "a = 1 + 1"):
        with pytest.raises(ValueError, match=r"some: expected the text once in some\.py, found it [02] times"):
            mutant.apply(source)
