# SPDX-License-Identifier: Apache-2.0
"""The reference, the pages of papers, benchmarks and the command line, and those of docs/understand have what the code has."""

import inspect
import re
import shlex
from contextlib import chdir
from pathlib import Path

import click
import pytest
from benchmarks._cli import bench
from benchmarks.suites import SUITES
from click.testing import CliRunner

import cloister
from cloister import exceptions
from cloister.cli import main

from ._outputs import PAGES as UNDERSTAND
from ._outputs import with_outputs
from ._pages import ROOT

DOCS = ROOT / "docs"
PAGES = {page.stem: page.read_text(encoding="utf-8") for page in sorted((DOCS / "reference" / "python").glob("*.md"))}
SUMMARY = re.compile(r"^\.\. autosummary::\n(?:   :\S.*\n)*\n((?:   \S+\n)+)", re.MULTILINE)
COMMANDS = (DOCS / "cli.md").read_text(encoding="utf-8")
PAPERS = (DOCS / "papers.md").read_text(encoding="utf-8")


def listed() -> list[str]:
    """Return the names that the reference makes pages or entries of, as they are imported from the package."""
    names = [name for page in PAGES.values() for block in SUMMARY.findall(page) for name in block.split()]
    names += re.findall(r"^\.\. autoexception:: (\S+)$", PAGES["errors"], re.MULTILINE)
    return names + re.findall(r"^\.\. py:data:: cloister\.(\S+)$", PAGES["index"], re.MULTILINE)


def test_every_public_name_is_in_the_reference_once() -> None:
    names = listed()
    assert [name for name in cloister.__all__ if names.count(name) != 1] == []


def test_what_else_is_in_the_reference_exists_and_is_documented() -> None:
    for name in set(listed()) - set(cloister.__all__):
        home, _, last = name.rpartition(".")
        module = __import__(f"cloister.{home}" if home else "cloister.exceptions", fromlist=[last])
        assert last in module.__all__, name
        assert inspect.getdoc(getattr(module, last)), name


def test_the_tree_of_errors_is_that_of_the_code() -> None:
    tree = re.findall(r"^    (.*[A-Z]\w+ .*|CloisterError)$", inspect.getdoc(exceptions) or "", re.MULTILINE)
    assert len(tree) == len(exceptions.__all__)
    for line in tree:
        assert f"    {line}\n" in PAGES["errors"]
    assert set(exceptions.__all__) <= set(listed())


def test_every_group_of_commands_has_a_part_of_their_page_which_the_reference_has() -> None:
    titles = " ".join(re.findall(r"^#+ (.*)$", COMMANDS, re.MULTILINE))
    assert [name for name in main.commands if f"`{name}`" not in titles] == []
    assert re.search(r"^\.\./cli$", (DOCS / "reference" / "index.md").read_text(encoding="utf-8"), re.MULTILINE)


# -- commands ----------------------------------------------------------------------------------------------------------


def test_bounds_are_read_as_the_page_writes_them(folder: Path) -> None:
    found = re.findall(r"^    (--bounds .*?)(?:  +#.*)?$", COMMANDS, re.MULTILINE)
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
    page = (DOCS / "benchmarks.md").read_text(encoding="utf-8")
    for name, suite in bench.commands.items():
        assert f"`{name}`" in page or f"python -m benchmarks {name}" in page, name
        for option in suite.params:
            if isinstance(option, click.Option):
                assert any(f"`{word}" in page for word in option.opts) or name in ("list", "report", "compare"), option.opts


# -- papers ------------------------------------------------------------------------------------------------------------


def test_every_paper_is_complete() -> None:
    named = [*(f"Algorithm {number}" for number in (1, 2, 3)), "Figure 1", "Figure 2", "Figures 3 and 4", "IV-C", "Table I"]
    named += ["Theorem III.1", "Theorem III.2", "Theorem 2", "Proposition 1", "Remark 1", "Table II", "Table III", "h(m)"]
    named += ["E[nu]", "Observation 4.1", "4.2", "5.1", "5.8", "5.3", "5.5", "5.10", "5.11", "5.12", "5.13", "Corollary B.1"]
    named += ["Delta_t(S)", "C.1", "C.2", "C.3", "C.4", "C.5", "C.6", "C.7", "AkM", "Figure 3, bottom"]
    assert [name for name in named if name not in PAPERS] == []
    assert {line.count("|") for line in PAPERS.splitlines() if line.startswith("| ")} == {5}, "four cells in a row"
    assert [name for name in SUITES if name not in ("speed", "scaling") and f"python -m benchmarks {name}`" not in PAPERS] == []


def test_every_file_and_name_exists() -> None:
    files = re.findall(r"`((?:src|benchmarks)/[^`]*)`", PAPERS)
    assert [file for file in files if not (ROOT / file).exists()] == []
    for name in re.findall(r"`cloister\.([a-z_]+)`", PAPERS):
        assert name in cloister.__all__
    for name, parameter in re.findall(r"`([A-Z]\w+)\((\w+)=", PAPERS):
        assert parameter in getattr(cloister, name)().get_params()


# -- docs/understand ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", UNDERSTAND)
def test_blocks_print_what_the_page_shows(name: str) -> None:
    text = UNDERSTAND[name].read_text(encoding="utf-8")
    assert with_outputs(text) == text, "run python -m tests.docs._outputs"


def test_the_index_leads_to_every_page() -> None:
    index = UNDERSTAND["index.md"].read_text(encoding="utf-8")
    entries = {entry for block in re.findall(r"```\{toctree\}\n.*?\n\n(.*?)```", index, re.DOTALL) for entry in block.split()}
    assert {name.removesuffix(".md") for name in UNDERSTAND} - {"index"} <= entries
    assert all((UNDERSTAND["index.md"].parent / f"{entry}.md").exists() for entry in entries)
