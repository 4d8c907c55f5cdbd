# SPDX-License-Identifier: Apache-2.0
"""A small private table with a canary in it, and a way to run the command line in this process."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import click
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from click.testing import CliRunner, Result

from cloister.cli import main

CANARY = 77.123456789

Run = Callable[..., Result]


@pytest.fixture
def run() -> Run:
    return runner(main)


def runner(command: click.Command, **options: Any) -> Run:
    """Return a way to run a command in this process, which must end with a code (any for None) and show these words."""

    def invoke(*arguments: object, stdin: bytes | None = None, code: int | None = 0, shows: Iterable[str] = ()) -> Result:
        result = CliRunner().invoke(command, [*map(str, arguments)], input=stdin, **options)
        assert code in (None, result.exit_code), result.output
        assert [words for words in shows if words not in result.stdout] == [], result.stdout
        return result

    return invoke


@pytest.fixture
def refused(run: Run) -> Run:
    """Run a command that must end with exit code 2, one line on standard error and nothing on standard output."""

    def invoke(*arguments: object, match: str) -> Result:
        result = run(*arguments, code=2)
        assert result.stdout == ""
        assert result.stderr.startswith("Error: ")
        assert result.stderr.count("\n") == 1
        assert match in result.stderr
        return result

    return invoke


@pytest.fixture
def free(refused: Run, ledger: Path, tmp_path: Path) -> Run:
    """Run a fit with a ledger that must be refused in one line, before anything is spent or written."""

    def invoke(*arguments: object, match: str) -> Result:
        before = contents(tmp_path)
        result = refused(*arguments, "--ledger", ledger, match=match)
        assert contents(tmp_path) == before
        return result

    return invoke


def contents(folder: Path) -> dict[Path, bytes]:
    """Return what is in the files of a folder."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def words(options: Mapping[str, object]) -> list[object]:
    """Return options as the words of a command line; one that is None is left out, one with a list is repeated."""
    given = [(name, one) for name, value in options.items() for one in (value if isinstance(value, list) else [value])]
    return [word for name, value in given if value is not None for word in (name, value)]


@pytest.fixture
def table(tmp_path: Path, generator: np.random.Generator) -> Path:
    """Two groups of people: age, weight, and a text column."""
    rows = np.concatenate([generator.normal([30, 60], 3, (300, 2)), generator.normal([70, 90], 3, (300, 2))])
    rows[7] = CANARY
    columns = {"age": rows[:, 0], "weight": rows[:, 1], "town": ["x"] * len(rows)}
    pa.parquet.write_table(pa.table(columns), tmp_path / "people.parquet")
    return tmp_path / "people.parquet"


@pytest.fixture
def release(tmp_path: Path, table: Path, run: Run) -> Path:
    run("fit", table, "-k", 2, "--epsilon", 5, "--bounds", "age=0:120,weight=20:200", "-o", tmp_path / "release.json", "-q")
    return tmp_path / "release.json"


@pytest.fixture
def ledger(tmp_path: Path, run: Run) -> Path:
    run("ledger", "create", tmp_path / "budget.sqlite", "--epsilon", 2, "--name", "people")
    return tmp_path / "budget.sqlite"
