# SPDX-License-Identifier: Apache-2.0
"""docs/papers.md: its files and names exist, and every command of it runs; benchmarks on their smallest data."""

import re
import shlex
import shutil
import subprocess
import sys
from contextlib import chdir
from pathlib import Path

import pytest
from benchmarks.suites import SUITES
from click.testing import CliRunner

import cloister
from cloister import demo
from cloister.cli import main

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
ROWS = [line[1:-1].split("|") for line in PAGE.splitlines() if line.startswith("| ")]
SMALLEST = {  # options that make a suite small enough for a test
    "table1": ("--datasets", "iris", "--epsilons", "1", "--methods", "PEMeans,KMeans"),
    "curves": ("--datasets", "iris", "--epsilons", "1,2", "--methods", "PEMeans,KMeans"),
    "tuning": ("--datasets", "iris"),
    "grids": ("--datasets", "grid_2_2_100", "--epsilons", "1", "--methods", "EUGkM,RUGNIK"),
    "source-target": ("--datasets", "synthetic2", "--methods", "NNA", "--methods", "target only"),
    "rounds": ("--datasets", "iris"),
    "alternatives": ("--datasets", "iris", "--epsilons", "1"),
}


def commands() -> list[str]:
    found = re.findall(r"`((?:cloister|python -m) [^`]*)`", PAGE)
    return sorted(set(found) - {"cloister bench all"})


def test_every_table_has_four_cells_in_a_row() -> None:
    assert len(ROWS) > 35
    assert {len(row) for row in ROWS} == {4}


def test_every_paper_is_complete() -> None:
    named = [*(f"Algorithm {number}" for number in (1, 2, 3)), "Figure 1", "Figure 2", "Figures 3 and 4", "IV-C", "Table I"]
    named += [
        "Theorem III.1",
        "Theorem III.2",
        "Theorem 2",
        "Proposition 1",
        "Remark 1",
        "Table II",
        "Table III",
        "h(m)",
        "E[nu]",
    ]
    named += [
        "Observation 4.1",
        "4.2",
        "5.1",
        "5.8",
        "5.3",
        "5.5",
        "5.10",
        "5.11",
        "5.12",
        "5.13",
        "Corollary B.1",
        "Delta_t(S)",
    ]
    named += ["C.1", "C.2", "C.3", "C.4", "C.5", "C.6", "C.7", "AkM", "Figure 3, bottom"]
    assert [name for name in named if name not in PAGE] == []
    assert [name for name in SUITES if name not in ("speed", "scaling") and f"cloister bench {name}`" not in PAGE] == []


def test_every_file_and_name_exists() -> None:
    files = re.findall(r"`((?:src|benchmarks)/[^`]*)`", PAGE)
    assert len(files) > 15
    assert [file for file in files if not (ROOT / file).exists()] == []
    for name in re.findall(r"`cloister\.([a-z_]+)`", PAGE):
        assert name in cloister.__all__
    for name, parameter in re.findall(r"`([A-Z]\w+)\((\w+)=", PAGE):
        assert parameter in getattr(cloister, name)().get_params()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What ``make demo`` writes, with fewer patients."""
    folder = tmp_path_factory.mktemp("demo") / "demo-output"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo.make_patients, "__defaults__", (1000,))
        demo.main([str(folder)])
    with chdir(folder):
        for line in re.findall(r"^    cloister (.*)$", PAGE, re.MULTILINE):
            assert CliRunner().invoke(main, shlex.split(line)).exit_code == 0, line
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("command", commands())
def test_every_command_runs(command: str, folder: Path, tmp_path: Path) -> None:
    words = shlex.split(command)
    here = shutil.copytree(folder, tmp_path / "demo-output")
    if words[0] == "python":
        done = subprocess.run([sys.executable, *words[1:]], cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return
    if words[1] == "bench":
        given = () if "--methods" in words else SMALLEST.get(words[2], ())
        words += [*given, "--repeats", "1", "--jobs", "1", "--output", str(tmp_path / "out")]
    with chdir(here):
        result = CliRunner().invoke(main, words[1:])
    allowed = (0, 1) if words[1] == "bench" else (0,)  # a bar may be missed by a single repeat
    assert result.exit_code in allowed, f"{command}\n{result.output}"
    if words[1] == "bench":
        assert (tmp_path / "out" / "page.html").stat().st_size > 1000
