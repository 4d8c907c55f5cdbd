# SPDX-License-Identifier: Apache-2.0
"""Plant one fault at a time in a copy of the code and see whether the tests that name it fail: ``make mutants``.

Each mutant of ``mutants.toml`` says which statement of which function is replaced by what, which law breaks, and which tests
must fail; the function may move to another file. The named tests pass on the code as it is; with the mutant, one of them must
fail as a test. A mutant that cannot be imported or collected, or that fails for a slip of its own such as an unknown name,
proves nothing and is reported as broken. The working tree stays as it is.
"""

import argparse
import ast
import compileall
import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from py_compile import PycInvalidationMode
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
LIST = Path(__file__).with_name("mutants.toml")
COPIED = ("src", "tests", "benchmarks", "pyproject.toml", "README.md", "docs", "Makefile")
SLIPS = ("AttributeError", "ImportError", "ModuleNotFoundError", "NameError", "SyntaxError", "TypeError", "UnboundLocalError")
PASSED, FAILED = 0, 1  # exit codes of pytest; all others mean that it could not do its work
LONGEST_SECONDS = 600  # a mutant that hangs is no fair catch
WIDEST = 110  # characters of a test's name in the table
GUARD = """
import json, os, pathlib

import cloister
import pytest

here = pathlib.Path(__file__).parent
if here not in pathlib.Path(cloister.__file__).resolve().parents:
    raise RuntimeError(f"tests would import {cloister.__file__}, not the copy")


def pytest_runtest_makereport(item, call):
    if call.excinfo is not None and not call.excinfo.errisinstance(pytest.skip.Exception):
        line = {"test": item.nodeid, "phase": call.when, "error": call.excinfo.type.__name__}
        with open(os.environ["CLOISTER_MUTANT_FAILURES"], "a") as file:
            file.write(json.dumps(line) + "\\n")
"""


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """One planted fault."""

    name: str
    function: str  # "Vault.ask", or "vault.Vault.ask" if need be; "<module>" is what is outside of functions and classes
    statement: str  # consecutive statements or an expression; layout and comments do not matter
    replacement: str
    breaks: str  # the law, in one sentence
    tests: tuple[str, ...]

    def apply(self, code: "Code") -> tuple[str, str]:
        """Return the path and the text of the file with the fault; the function must have the statement exactly once."""
        old, new = ast.parse(self.statement).body, ast.parse(self.replacement).body
        if len(old) == len(new) == 1 and isinstance(old[0], ast.Expr) and isinstance(new[0], ast.Expr):
            old, new = [old[0].value], [new[0].value]
        places = list(code.find(self.function, old))
        if len(places) != 1:
            raise ValueError(f"{self.name}: expected the statement once in {self.function}, found it {len(places)} times.")
        path, node, field, start = places[0]
        kept = getattr(node, field)
        try:
            setattr(node, field, [*kept[:start], *new, *kept[start + len(old) :]] if isinstance(kept, list) else new[0])
            return path, ast.unparse(code.trees[path])
        finally:
            setattr(node, field, kept)


class Code:
    """The modules of the package, parsed."""

    def __init__(self, root: Path) -> None:
        package = root / "src" / "cloister"
        self.trees: dict[str, ast.Module] = {}
        self._scopes: defaultdict[str, list[tuple[str, str, list[ast.AST]]]] = defaultdict(list)  # by the last part of the name
        for file in sorted(package.rglob("*.py")):
            path = str(file.relative_to(root))
            self.trees[path] = ast.parse(file.read_text(encoding="utf-8"))
            self._add(path, "." + ".".join(file.relative_to(package).with_suffix("").parts), self.trees[path])

    def _add(self, path: str, outer: str, scope: Any) -> None:
        """Note the nodes of a module, class or function, and apart from them those of the functions and classes in it."""
        name, nodes, inner = getattr(scope, "name", "<module>"), [scope], []
        for node in nodes:
            for child in ast.iter_child_nodes(node):
                (inner if isinstance(child, DEFINITIONS) else nodes).append(child)
        self._scopes[name].append((path, f"{outer}.{name}", nodes))
        for one in inner:
            self._add(path, outer if isinstance(scope, ast.Module) else f"{outer}.{name}", one)

    def find(self, function: str, wanted: Sequence[ast.AST]) -> Iterator[tuple[str, ast.AST, str, int]]:
        """Yield where the wanted nodes follow one another: file, parent, the parent's field, and the place in it."""
        keys = [(type(node), ast.unparse(node)) for node in wanted]
        for path, name, nodes in self._scopes[function.rpartition(".")[2]]:
            for node in nodes if name.endswith(f".{function}") else ():
                for field, value in ast.iter_fields(node):
                    there = value if isinstance(value, list) else [value]
                    for start in range(len(there) - len(keys) + 1):
                        if all(
                            type(one) is key[0] and ast.unparse(one) == key[1]
                            for one, key in zip(there[start:], keys, strict=False)
                        ):
                            yield path, node, field, start


@dataclass(frozen=True)
class Verdict:
    """What became of one mutant."""

    mutant: Mutant
    word: str  # "caught", "MISSED" or "BROKEN"
    by: str
    seconds: float


def read_mutants(path: Path = LIST) -> list[Mutant]:
    """Return the list, in order."""
    entries = tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]
    return [Mutant(**{**entry, "tests": tuple(entry["tests"])}) for entry in entries]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the mutants; return 0 if all are caught."""
    parser = argparse.ArgumentParser(description="Plant faults, one at a time; every one must be caught by the tests it names.")
    parser.add_argument("--only", metavar="NAME", action="append", help="run this mutant alone (may be repeated)")
    parser.add_argument("--jobs", type=int, default=2, help="copies of the code in which tests run side by side")
    parser.add_argument("--list", action="store_true", help="list names and laws, run nothing")
    options = parser.parse_args(arguments)
    mutants = [one for one in read_mutants() if options.only is None or one.name in options.only]
    unknown = set(options.only or ()) - {one.name for one in mutants}
    if unknown or not mutants:
        parser.error(f"there is no mutant {', '.join(sorted(unknown))}; see --list")
    if options.list:
        print(*(f"{one.name}: {one.breaks}" for one in mutants), sep="\n")
        return 0
    with tempfile.TemporaryDirectory(prefix="cloister-mutants-") as folder:
        return run(mutants, [Path(folder) / str(number) for number in range(max(1, min(options.jobs, len(mutants))))])


def run(mutants: Sequence[Mutant], copies: Sequence[Path]) -> int:
    """Check the tests on clean copies, then run the mutants; print what happened."""
    began = time.monotonic()
    for copy in copies:
        copy_tree(copy)
    failure = check_clean(mutants, copies)
    if failure:
        print(f"The tests fail without any mutant:\n{failure}")
        return 1
    print(f"the named tests pass without a mutant ({time.monotonic() - began:.0f} s)", flush=True)
    verdicts = list(run_all(mutants, copies))
    verdicts.sort(key=lambda one: mutants.index(one.mutant))
    caught = sum(one.word == "caught" for one in verdicts)
    width = max(len(one.mutant.name) for one in verdicts)
    missed = [f"{one.word} {one.mutant.name}: {one.mutant.breaks}" for one in verdicts if one.word != "caught"]
    print("", *(f"{one.mutant.name:<{width}}  {one.word:<6}  {one.by}" for one in verdicts), "", *missed, sep="\n")
    print(f"{caught} of {len(verdicts)} mutants caught in {time.monotonic() - began:.0f} s")
    return 0 if caught == len(verdicts) else 1


def copy_tree(place: Path) -> None:
    """Copy the code, compiled so that a changed file is noticed by its content and not by its date."""
    place.mkdir(parents=True)
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, place / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "mutants"))
        elif source.exists():
            shutil.copy2(source, place / name)
    (place / "mutant_guard.py").write_text(GUARD, encoding="utf-8")
    compileall.compile_dir(place / "src", quiet=2, invalidation_mode=PycInvalidationMode.CHECKED_HASH)


def check_clean(mutants: Sequence[Mutant], copies: Sequence[Path]) -> str:
    """Return what pytest prints if a named test fails on the code as it is, otherwise nothing."""
    tests = sorted({test for mutant in mutants for test in mutant.tests})
    parts = [tests[number :: len(copies)] for number in range(len(copies))]
    with ThreadPoolExecutor(len(copies)) as pool:
        done = list(pool.map(run_tests, copies, parts))
    return "\n".join(one.stdout for part, one in zip(parts, done, strict=True) if part and one.returncode != PASSED)


def run_all(mutants: Sequence[Mutant], copies: Sequence[Path]) -> Iterable[Verdict]:
    """Yield verdicts as they come, one mutant in each copy at a time."""
    code, free = Code(ROOT), queue.SimpleQueue[Path]()
    faults = [mutant.apply(code) for mutant in mutants]
    for copy in copies:
        free.put(copy)

    def one_by_one(mutant: Mutant, fault: tuple[str, str]) -> Verdict:
        copy = free.get()
        try:
            return run_one(mutant, fault, copy)
        finally:
            free.put(copy)

    with ThreadPoolExecutor(len(copies)) as pool:
        pending = [pool.submit(one_by_one, *each) for each in zip(mutants, faults, strict=True)]
        for number, future in enumerate(as_completed(pending), start=1):
            verdict = future.result()
            print(f"[{number}/{len(mutants)}] {verdict.word:<6} {verdict.mutant.name} ({verdict.seconds:.0f} s)", flush=True)
            yield verdict


def run_one(mutant: Mutant, fault: tuple[str, str], copy: Path) -> Verdict:
    """Plant one mutant in a copy, run its tests, take it out again."""
    began, (path, faulty) = time.monotonic(), fault
    clean = (copy / path).read_text(encoding="utf-8")
    try:
        (copy / path).write_text(faulty, encoding="utf-8")
        word, by = judge(run_tests(copy, mutant.tests, seconds=LONGEST_SECONDS), copy)
    except subprocess.TimeoutExpired as error:
        word, by = "BROKEN", str(error)
    finally:
        (copy / path).write_text(clean, encoding="utf-8")
    return Verdict(mutant, word, by, time.monotonic() - began)


def run_tests(copy: Path, tests: Sequence[str], *, seconds: float | None = None) -> subprocess.CompletedProcess[str]:
    """Run some tests of a copy on the code of that copy; stop at the first that fails."""
    (copy / "failures.jsonl").unlink(missing_ok=True)
    ours = {
        "PYTHONPATH": str(copy / "src"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "CLOISTER_MUTANT_FAILURES": str(copy / "failures.jsonl"),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=line", "-p", "no:cacheprovider", "-n", "0"]
    return subprocess.run(
        [*command, "-p", "mutant_guard", *tests],
        cwd=copy,
        env={**os.environ, **ours},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=seconds,
        check=False,
    )


def judge(done: subprocess.CompletedProcess[str], copy: Path) -> tuple[str, str]:
    """Say whether a mutant was caught, and by what."""
    if done.returncode == PASSED:
        return "MISSED", "all named tests pass"
    record = copy / "failures.jsonl"
    if done.returncode != FAILED or not record.exists():
        return "BROKEN", f"pytest ended with code {done.returncode}: {done.stdout.strip().splitlines()[-1:]}"
    first = json.loads(record.read_text(encoding="utf-8").splitlines()[0])
    if first["error"] in SLIPS:
        return "BROKEN", f"{first['error']} in {first['test']}"
    test = first["test"].split("/", 1)[-1]
    return "caught", f"{test if len(test) <= WIDEST else test[:WIDEST] + '...'} ({first['error']})"


if __name__ == "__main__":
    sys.exit(main())
