# SPDX-License-Identifier: Apache-2.0
"""The list of mutants fits the code it is about. Whether they are caught is found out by ``make mutants``."""

import ast
import functools
import json
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from tests.mutants import run as RUNNER  # noqa: N812

ROOT = Path(__file__).parents[2]


MUTANTS = RUNNER.read_mutants()


@functools.cache
def functions_of(file):
    return {node.name for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.FunctionDef)}


def test_each_has_a_name_of_its_own_and_says_what_breaks():
    assert [name for name, times in Counter(mutant.name for mutant in MUTANTS).items() if times > 1] == []
    assert [mutant.name for mutant in MUTANTS if not mutant.name.replace("-", "").isalnum()] == []
    assert [mutant.name for mutant in MUTANTS if not mutant.breaks.endswith(".") or len(mutant.breaks.split()) < 5] == []


def test_each_changes_the_code_in_one_place():
    code, wrong = RUNNER.Code(ROOT), []
    for mutant in MUTANTS:
        try:
            if mutant.apply(code)[0] and len({ast.dump(ast.parse(one)) for one in (mutant.statement, mutant.replacement)}) == 1:
                wrong.append(f"{mutant.name}: nothing changes")
        except (ValueError, SyntaxError) as error:  # the statement is not there, or not once; or what comes of it is no Python
            wrong.append(f"{mutant.name}: {error}")
    assert wrong == []


def test_the_tests_that_must_fail_exist():
    named = [(mutant.name, *test.partition("::")) for mutant in MUTANTS for test in mutant.tests or ["none::none"]]
    unknown = [
        (mutant, file, test)
        for mutant, file, _, test in named
        if not (ROOT / file).is_file() or test.partition("[")[0].rpartition("::")[2] not in functions_of(ROOT / file)
    ]
    assert unknown == []


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


SOME = {"name": "some", "breaks": "A law.", "tests": ()}


def code_of(folder, source):
    file = folder / "src" / "cloister" / "room" / "_some.py"
    file.parent.mkdir(parents=True)
    file.write_text(source, "utf-8")
    return RUNNER.Code(folder)


def test_layout_comments_and_what_stands_in_inner_functions_do_not_matter(tmp_path):
    code = code_of(tmp_path, "class A:\n  def f(self):  # why\n    def g(): return max(1,2)\n    return max(\n 1, 2)\n")
    path, changed = RUNNER.Mutant(function="A.f", statement="max(1, 2)", replacement="3", **SOME).apply(code)
    assert (path, changed.count("max(1, 2)"), changed.count("return 3")) == ("src/cloister/room/_some.py", 1, 1)
    _, changed = RUNNER.Mutant(
        function="_some.A.f.g", statement="return max(1, 2)", replacement="x = 3\nreturn x", **SOME
    ).apply(code)
    assert (changed.count("return max(1, 2)"), changed.count("return x")) == (1, 1)


@pytest.mark.parametrize("source", ["def f(): return 2", "def f(): return 1 + 1", "def g(): return 1"])
def test_a_statement_that_is_not_there_once_is_refused(source, tmp_path):
    mutant = RUNNER.Mutant(function="f", statement="1", replacement="2", **SOME)
    with pytest.raises(ValueError, match=r"some: expected the statement once in f, found it [02] times"):
        mutant.apply(code_of(tmp_path, source))
