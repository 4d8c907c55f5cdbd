# SPDX-License-Identifier: Apache-2.0
"""docs/cli.md writes bounds as they are read, docs/benchmarks.md names every suite and option."""

import re
import shlex
from contextlib import chdir
from pathlib import Path

import click
from benchmarks._cli import bench
from click.testing import CliRunner

from cloister.cli import main

from ._pages import ROOT

REFERENCE = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")


def test_bounds_are_read_as_the_page_writes_them(folder: Path) -> None:
    found = re.findall(r"^    (--bounds .*?)(?:  +#.*)?$", REFERENCE, re.MULTILINE)
    assert found
    with chdir(folder):
        Path("bounds.json").write_text('{"age": [0, 120], "body_mass_index": [10, 60]}')
        Path("bounds.csv").write_text("column,low,high\nage,0,120\nbody_mass_index,10,60\n")
        for words in found:
            result = CliRunner().invoke(
                main, ["fit", "patients.parquet", "-k", "2", "--epsilon", "1", "-q", *shlex.split(words)]
            )
            assert result.exit_code == 0, f"{words}\n{result.output}"


def test_the_page_of_the_benchmark_names_every_suite_and_option() -> None:
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    for name, suite in bench.commands.items():
        assert f"`{name}`" in page or f"python -m benchmarks {name}" in page, name
        for option in suite.params:
            if isinstance(option, click.Option):
                assert any(f"`{word}" in page for word in option.opts) or name in ("list", "report", "compare"), option.opts
