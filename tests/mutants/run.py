# SPDX-License-Identifier: Apache-2.0
"""Plant one fault at a time in a copy of the code and see whether the tests that name it fail: ``make mutants``.

Each mutant of ``mutants.toml`` says what is replaced by what, which law breaks, and which tests must fail. The named tests pass
on the code as it is; with the mutant, one of them must fail as a test. A mutant that cannot be imported or collected, or that
fails for a slip of its own such as an unknown name, proves nothing and is reported as broken. The working tree stays as it is.
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
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from py_compile import PycInvalidationMode

__all__ = ["Mutant", "Verdict", "main", "read_mutants"]

ROOT = Path(__file__).resolve().parents[2]
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
    file: str
    text: str
    replacement: str
    breaks: str  # the law, in one sentence
    tests: tuple[str, ...]

    def apply(self, source: str) -> str:
        """Return the source with the fault; the text to replace must be there exactly once."""
        found = source.count(self.text)
        if found != 1:
            raise ValueError(f"{self.name}: expected the text once in {self.file}, found it {found} times. Adapt the list.")
        changed = source.replace(self.text, self.replacement)
        ast.parse(changed)
        return changed


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
        show(f"{one.name}: {one.breaks}" for one in mutants)
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
        show([f"The tests fail without any mutant:\n{failure}"])
        return 1
    show([f"the named tests pass without a mutant ({time.monotonic() - began:.0f} s)"])
    verdicts = list(run_all(mutants, copies))
    verdicts.sort(key=lambda one: mutants.index(one.mutant))
    caught = sum(one.word == "caught" for one in verdicts)
    width = max(len(one.mutant.name) for one in verdicts)
    show(["", *(f"{one.mutant.name:<{width}}  {one.word:<6}  {one.by}" for one in verdicts), ""])
    show(f"{one.word} {one.mutant.name}: {one.mutant.breaks}" for one in verdicts if one.word != "caught")
    show([f"{caught} of {len(verdicts)} mutants caught in {time.monotonic() - began:.0f} s"])
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
    free: queue.SimpleQueue[Path] = queue.SimpleQueue()
    for copy in copies:
        free.put(copy)

    def one_by_one(mutant: Mutant) -> Verdict:
        copy = free.get()
        try:
            return run_one(mutant, copy)
        finally:
            free.put(copy)

    with ThreadPoolExecutor(len(copies)) as pool:
        for number, future in enumerate(as_completed([pool.submit(one_by_one, mutant) for mutant in mutants]), start=1):
            verdict = future.result()
            show([f"[{number}/{len(mutants)}] {verdict.word:<6} {verdict.mutant.name} ({verdict.seconds:.0f} s)"])
            yield verdict


def run_one(mutant: Mutant, copy: Path) -> Verdict:
    """Plant one mutant in a copy, run its tests, take it out again."""
    file, began = copy / mutant.file, time.monotonic()
    clean = file.read_text(encoding="utf-8")
    try:
        file.write_text(mutant.apply(clean), encoding="utf-8")
        done = run_tests(copy, mutant.tests, seconds=LONGEST_SECONDS)
        word, by = judge(done, copy)
    except (ValueError, SyntaxError, subprocess.TimeoutExpired) as error:
        word, by = "BROKEN", str(error).splitlines()[0]
    finally:
        file.write_text(clean, encoding="utf-8")
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


def show(lines: Iterable[str]) -> None:
    """Print lines at once."""
    for line in lines:
        sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
