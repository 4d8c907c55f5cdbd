# SPDX-License-Identifier: Apache-2.0
"""Every command and every block of Python in README.md and docs/cli.md runs, in the folder that ``make demo`` writes."""

import re
import shlex
import shutil
from contextlib import chdir
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from cloister import demo
from cloister.cli import main

ROOT = Path(__file__).parents[2]
README, REFERENCE = (ROOT / "README.md").read_text(encoding="utf-8"), (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
LONG = ("cloister audit", "cloister bench")  # have tests of their own; here their options are read


@pytest.fixture(scope="session")
def demo_output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What ``make demo`` writes, with fewer patients."""
    folder = tmp_path_factory.mktemp("demo") / "demo-output"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo.make_patients, "__defaults__", (2000,))
        demo.main([str(folder)])
    return folder


@pytest.fixture
def folder(demo_output: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(demo_output, tmp_path / "demo-output"))


def commands(page: str) -> list[str]:
    """Return the commands of the indented blocks, continued lines joined and comments left out."""
    lines = re.sub(r" \\\n\s+", " ", page).splitlines()
    indented = [line.strip() for line in lines if line.startswith("    ")]
    return [shlex.join(shlex.split(line, comments=True)) for line in indented if line.startswith(("cloister ", "make "))]


def python_blocks(page: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)


def read_options(words: list[str]) -> None:
    """Have a command read its options without running it."""
    command: click.Command = main
    context = main.make_context("cloister", list(words))
    while isinstance(command, click.Group):
        name, found, words = command.resolve_command(context, words)
        assert found is not None
        command, context = found, found.make_context(name, list(words), parent=context)


@pytest.mark.slow
def test_every_command_runs(folder: Path) -> None:
    found = [*commands(README), *commands(REFERENCE)]
    assert len(found) > 30
    with chdir(folder):
        for line in found:
            words = shlex.split(line)[1:]
            if line.startswith("make "):
                assert re.search(rf"^{words[0]}:", (ROOT / "Makefile").read_text(), re.MULTILINE), line
            elif line.startswith(LONG):
                read_options(words)
            else:
                result = CliRunner().invoke(main, words)
                assert result.exit_code == 0, f"{line}\n{result.output}"


def test_every_block_of_python_runs(folder: Path) -> None:
    found = python_blocks(README)
    assert len(found) == 5
    with chdir(folder):
        for block in found:
            exec(compile(block, "README.md", "exec"), {})
    assert (folder / "model.json").exists()


def test_bounds_are_read_as_the_page_writes_them(folder: Path) -> None:
    found = re.findall(r"^    (--bounds .*?)(?:  +#.*)?$", REFERENCE, re.MULTILINE)
    assert len(found) == 10
    with chdir(folder):
        Path("bounds.json").write_text('{"age": [0, 120], "body_mass_index": [10, 60]}')
        Path("bounds.csv").write_text("column,low,high\nage,0,120\nbody_mass_index,10,60\n")
        for words in found:
            result = CliRunner().invoke(
                main, ["fit", "patients.parquet", "-k", "2", "--epsilon", "1", "-q", *shlex.split(words)]
            )
            assert result.exit_code == 0, f"{words}\n{result.output}"
