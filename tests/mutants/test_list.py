# SPDX-License-Identifier: Apache-2.0
"""The list of mutants fits the code it is about. Whether they are caught is found out by ``make mutants``."""

import ast
import importlib.util
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


MUTANTS = load_runner().read_mutants()


def functions_of(file):
    return {node.name for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.FunctionDef)}


def test_there_are_enough_of_them_and_each_has_its_name():
    assert len(MUTANTS) >= FEWEST
    assert [name for name, times in Counter(mutant.name for mutant in MUTANTS).items() if times > 1] == []
    assert [mutant.name for mutant in MUTANTS if not mutant.name.replace("-", "").isalnum()] == []


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_changes_the_code_in_one_place_and_says_what_breaks(mutant):
    source = (ROOT / mutant.file).read_text("utf-8")
    assert mutant.file.startswith("src/cloister/")
    changed = mutant.apply(source)  # the text is there once, and what comes of it is Python
    assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(source))
    assert mutant.breaks.endswith(".")
    assert len(mutant.breaks.split()) > 4


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_tests_that_must_fail_exist(mutant):
    assert mutant.tests
    for test in mutant.tests:
        file, _, name = test.partition("::")
        assert (ROOT / file).is_file()
        assert name.partition("[")[0] in functions_of(ROOT / file)
