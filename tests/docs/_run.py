# SPDX-License-Identifier: Apache-2.0
"""Runs the blocks of a page as a reader would: one after the other, in one namespace, in the folder that ``make demo`` writes.

Benchmarks and audits are run at the smallest size they have. What cannot be run in a test has its options read, and stands in
`ONLY_READ` with the reason.
"""

import argparse
import importlib
import re
import shlex
import subprocess
import sys
import tomllib
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import click
import pytest
from benchmarks._cli import PROGRAM, bench
from click.testing import CliRunner

from cloister.cli import main

from ._pages import ROOT, Block

ONLY_READ = {  # patterns of commands that are not run here, and why
    r"cloister audit --plant": "runs for minutes; tests/audit/test_checks.py plants every fault",
    r"python -m benchmarks all": "every suite; each of them is run by itself",
    r"python -m benchmarks (speed|scaling)": "measures time, for minutes; tests/benchmarks/test_suites.py makes its plan",
    r"python -m benchmarks .*--methods \S*(diffprivlib|dpmm)": "tests/benchmarks/test_foreign.py, with their interpreters",
    r"python -m benchmarks\.choose_k": "half a minute at any size; tests/benchmarks/test_choose_k.py runs it",
    r"python -m benchmarks\.privacy_unit_speed": "starts a process for each of its measurements, half a minute at any size",
    r"python -m benchmarks\.rivals_env": "installs 0.8 GB of other libraries; tests/benchmarks/test_foreign.py",
    r"python -m benchmarks\.scoreboard --store": "reads runs of an hour; tests/benchmarks/test_scoreboard.py has a few",
    r"python -m benchmarks\.shared_noise": "a minute at any size; tests/benchmarks/test_scripts.py runs its parts",
    r"python -m benchmarks\.scale_out": "starts a process or a cluster for each of its measurements",
    r"python -m benchmarks\.quote": "writes into these pages; tests/benchmarks/test_scripts.py runs it on a copy",
    r"python -m tests\.": "writes a page of docs/; a test compares the page with what would be written",
    r"pytest ": "a test that `make slow` runs anyway",
}
SMALLEST = {  # options that make a command small enough for a test; later ones replace earlier ones
    "cloister compare": "--repeats 1",
    "cloister audit": "--quick --check spending --method KMeans --engine numpy --seed 1",
    "python -m benchmarks table1": "--datasets iris --epsilons 1 --methods PEMeans,KMeans",
    "python -m benchmarks curves": "--datasets iris --epsilons 1,2 --methods PEMeans,KMeans",
    "python -m benchmarks tuning": "--datasets iris",
    "python -m benchmarks grids": "--datasets grid_2_2_100 --epsilons 1 --methods EUGkM,RUGNIK",
    "python -m benchmarks source-target": "--datasets synthetic2 --methods NNA --methods 'target only'",
    "python -m benchmarks rounds": "--datasets iris",
    "python -m benchmarks alternatives": "--datasets iris --epsilons 1",
    "python -m benchmarks.ablation": "iris --repeats 1",
    "python -m benchmarks.adaptive": "--tables 1 --repeats 1",
    "python -m benchmarks.counting": "--rows 20000",
    "python -m benchmarks.csv_reader": "--rows 2000",
    "python -m benchmarks.errors": "iris --fits 1 --epsilons 2",
    "python -m benchmarks.every_k": "ring --repeats 1 --numbers 2 --epsilons 2",
    "python -m benchmarks.families": "mixed-15:10 --repeats 1 --seeds 1",
    "python -m benchmarks.fit_speed": "--sizes 2000,4,3 --repeats 1",
    "python -m benchmarks.grid_data": "--tables 1 --trials 1",
    "python -m benchmarks.privacy_unit": "--rule 1",
    "python -m benchmarks.nearest": "--dimensions 2 --points 16",
    "python -m benchmarks.noise": "--numbers 2000",
    "python -m benchmarks.solver": "--problems 9 --points 300",
    "python -m benchmarks.tables": "missing --seeds 1",
    "python -m benchmarks.unseen": "wine --repeats 1",
}
KEPT = ("--methods", "--method", "--check")  # what the page says of these holds, instead of the smallest
REPLACED = ("--datasets", "--epsilons", "--repeats", "--jobs")
BENCH = PROGRAM.split()
STEPS = ("git", "cd", "export", "source")  # how a reader gets to the folder in which the rest runs
MISSING = (click.MissingParameter, click.exceptions.NoArgsIsHelpError)
PLACEHOLDER = re.compile(r"\.\.\.$|^[A-Z][A-Z_]+$")


class Reader:
    """Somebody who follows a page in a folder."""

    done: set[str] = set()  # noqa: RUF012 - benchmarks and audits that were run, by any reader: they need no folder

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: dict[str, Any] = {"__name__": "page"}

    def follow(self, block: Block) -> str:
        """Run a block and return what it printed; an assertion fails where it does not work."""
        with chdir(self.folder):
            return self._python(block) if block.kind == "python" else self._command(block)

    def _python(self, block: Block) -> str:
        printed, file = StringIO(), re.match(r"# (\w+\.py)\n", block.text)
        if file is not None:  # a file that the page has its reader write
            Path(file[1]).write_text(block.text, encoding="utf-8")
            return ""
        with redirect_stdout(printed):
            # Pasted as it stands: lines of a traceback are those of the page.
            exec(compile("\n" * (block.line - 1) + block.text, block.page, "exec"), self.names)
        return printed.getvalue()

    def _command(self, block: Block) -> str:
        return "".join(self._part(part, block) for part in parts(block.text))

    def _part(self, text: str, block: Block) -> str:
        words = shlex.split(text, comments=True)
        where = f"{block.place}: {text}"
        if block.inline and any(PLACEHOLDER.search(word) for word in _without(words, "--data")):
            return read_options(without_dots(words), where, mention=True)
        if any(re.match(pattern, text) for pattern in ONLY_READ):
            return read_options(_without(words, "--data"), where, mention=block.inline)
        match words[0]:
            case _ if is_clicked(words):
                return self._clicked(words, text, where, mention=block.inline)
            case "python":
                return self._script(words, where)
            case "make":
                return check_target(words[1], where)
            case "pip":
                return check_extras(words, where)
            case "mkdir" | "cat":
                done = subprocess.run(text, shell=True, cwd=self.folder, capture_output=True, text=True, check=False)
                assert done.returncode == 0, f"{where}\n{done.stderr}"
            case first:
                assert first in STEPS, f"{where}: no rule how to run {first!r}"
        return ""

    def _clicked(self, words: list[str], text: str, where: str, *, mention: bool) -> str:
        if mention and isinstance(read_command(words), MISSING):
            return ""
        words = smallest(words)
        command, given = program(words)
        measures = command is bench and given[0] not in ("compare", "report")
        if (measures or given[0] == "audit") and "--output" not in words:
            if shlex.join(words) in self.done:
                return ""
            self.done.add(shlex.join(words))
        result = CliRunner().invoke(command, given)
        stated = re.search(r"# exit code (\d)", text)
        allowed = {int(stated[1])} if stated else {0}
        allowed |= {1} if command is bench else set()  # a bar may be missed by a single repeat
        assert result.exit_code in allowed, f"{where}\n{result.output}\n{result.exception!r}"
        return result.output

    def _script(self, words: list[str], where: str) -> str:
        """Run ``python -m benchmarks.NAME`` in this process."""
        words, said = smallest(words), StringIO()
        if shlex.join(words) in self.done:
            return ""
        self.done.add(shlex.join(words))
        with redirect_stdout(said), redirect_stderr(said):
            try:
                code = importlib.import_module(words[2]).main(words[3:])
            except SystemExit as end:
                code = end.code
        assert code in (None, 0, 1), f"{where}: exit code {code}\n{said.getvalue()}"  # 1: a bar may be missed at this size
        return said.getvalue()


def parts(text: str) -> list[str]:
    """Return the commands of a line: those one after the other, and those that ``cloister`` reads the output of."""
    return [part.strip() for part in re.split(r" && | \| (?=cloister )", text)]


def smallest(words: list[str]) -> list[str]:
    """Return a command at its smallest size, without the folder of data sets that are not shipped."""
    words = _without(words, "--data")
    text = shlex.join(words)
    head = next((head for head in SMALLEST if text == head or text.startswith(f"{head} ")), "")
    given = shlex.split(SMALLEST.get(head, ""))
    if words[:3] == BENCH and words[3] not in ("list", "report", "compare"):
        given += ["--repeats", "1", "--jobs", "1"]
    for option in KEPT:
        given = _without(given, option) if option in words else given
    if head == "cloister audit" and "--list-plants" in words:
        return words
    if head == "python -m benchmarks.tables" and any(word.isalpha() for word in words[3:]):
        given.remove("missing")
    for option in [word for word in given if word in REPLACED]:
        words = _without(words, option)
    return [*words, *given]


def without_dots(words: list[str]) -> list[str]:
    """Return the words without dots that stand for further ones; after an option they stand for its value."""
    return [word for before, word in zip(["", *words], words, strict=False) if word != "..." or before.startswith("-")]


def _without(words: list[str], option: str) -> list[str]:
    """Return the words without an option and its value, however often it is given."""
    return [word for before, word in zip(["", *words], words, strict=False) if option not in (word, before)]


def is_clicked(words: list[str]) -> bool:
    """Say whether words are a command of ``cloister`` or of ``python -m benchmarks``."""
    return words[0] == "cloister" or words[:3] == BENCH


def program(words: list[str]) -> tuple[click.Command, list[str]]:
    """Return the program that words begin with, and what it is given."""
    return (main, words[1:]) if words[0] == "cloister" else (bench, words[3:])


class _Parsed(Exception):  # noqa: N818 - no error: the options have been read
    """Raised in place of a run."""


def read_options(words: list[str], where: str, *, mention: bool) -> str:
    """Have a command read its options without running it. A mention may leave out what is required."""
    if words[0] == "python" and words[2].startswith("benchmarks."):
        _read_script(words, where)
    elif words[0] == "python" and not is_clicked(words):
        assert (ROOT / f"{words[2].replace('.', '/')}.py").is_file(), f"{where}: there is no such module"
    elif words[0] == "pytest":
        for path in [word for word in words[1:] if "/" in word]:
            assert (ROOT / path).exists(), f"{where}: there is no {path}"
    else:
        error = read_command(words)
        if error is not None and not (mention and isinstance(error, MISSING)):
            pytest.fail(f"{where}: {error.format_message()}")
    return ""


def read_command(words: list[str]) -> click.ClickException | None:
    """Have a command read its options, and run nothing; return what is wrong with them."""
    command, words = program(words)
    try:
        context = command.make_context("program", list(words))
        while isinstance(command, click.Group):
            name, found, words = command.resolve_command(context, words)
            command = found or command
            context = command.make_context(name, list(words), parent=context)
    except click.ClickException as error:
        return error
    except click.exceptions.Exit:  # it says something and ends, as --version does
        pass
    return None


def _read_script(words: list[str], where: str) -> None:
    module = importlib.import_module(words[2])
    parse = argparse.ArgumentParser.parse_args

    def stop(parser: argparse.ArgumentParser, *given: Any) -> None:
        parse(parser, *given)
        raise _Parsed

    said = StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stderr(said):
        patch.setattr(sys, "argv", words[2:])
        patch.setattr(argparse.ArgumentParser, "parse_args", stop)
        try:
            module.main()
        except _Parsed:
            return
        except SystemExit:
            pytest.fail(f"{where}: {said.getvalue()}")
    pytest.fail(f"{where}: reads no options")


def check_target(target: str, where: str) -> str:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(rf"^{re.escape(target)}:", makefile, re.MULTILINE), f"{where}: the Makefile has no {target!r}"
    return ""


def check_extras(words: list[str], where: str) -> str:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert words[1] == "install", where
    for extra in re.findall(r"\[([^\]]*)\]", " ".join(words)):
        for name in extra.split(","):
            assert name in project["optional-dependencies"], f"{where}: there is no extra {name!r}"
    return ""
