# SPDX-License-Identifier: Apache-2.0
"""``python -m benchmarks`` on the command line: what it lists, what it refuses, and how."""

import ast
import builtins

import pytest
from benchmarks._cli import _method_names
from benchmarks._methods import METHODS
from benchmarks._sources import sources
from benchmarks.suites import SUITES

from .conftest import ROOT


def test_list_names_everything(run, monkeypatch):
    monkeypatch.delenv("CLOISTER_DATA", raising=False)
    printed = run("list").stdout
    for name in (*SUITES, *METHODS, *sources()):
        assert f"  {name} " in printed
    assert "missing: birch2.npz in --data DIR, from Birch2 of the SIPU" in printed
    assert "own realisation" in printed
    assert "--python diffprivlib=PATH" in printed or "diffprivlib              yes" in printed


@pytest.mark.parametrize("arguments", [(), ("list",), ("report",), ("compare",), ("all",), *((name,) for name in SUITES)])
def test_every_command_has_help(run, arguments):
    result = run(*arguments, "--help")
    assert result.stdout.startswith(" ".join(("Usage: python -m benchmarks", *arguments)))


def test_what_cannot_be_done_is_one_line(refused, tmp_path, monkeypatch):
    monkeypatch.delenv("CLOISTER_DATA", raising=False)
    refused("table2", match="No such command 'table2'")
    refused("table1", "--datasets", "irish", match="got 'irish'. Check the spelling")
    refused("table1", "--datasets", "adult", match="adult.npz is missing. Pass --data DIR")
    refused("table1", "--methods", "MyMeans", match="expected some of KMeans, PEMeans, GridKMeans")
    refused("table1", "--epsilons", "1,many", match="expected numbers above 0")
    refused("table1", "--epsilons", "-1", match="expected numbers above 0")
    refused("table1", "--repeats", "0", match="--repeats")
    refused("table1", "--data", tmp_path / "none", match="--data: expected a folder")
    refused("table1", "--python", "diffprivlib=/none", match="expected diffprivlib=PATH")
    refused("grids", "--datasets", "iris", match="expected some of grid_2_2_100")
    refused("source-target", "--datasets", "mnist:1:7", match="mnist_lenet84.npz is missing")
    refused("report", tmp_path, match="holds no results")
    refused("compare", tmp_path, tmp_path, match="holds no results")


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (["NNA,NAS", "target only"], ["NNA", "NAS", "target only"]),
        (["NNA, paper's noise, NAS not private"], ["NNA, paper's noise", "NAS", "not private"]),
        (["NNA, papers noise mine:make"], ["NNA", "papers", "noise", "mine:make"]),
        ([""], None),
    ],
)
def test_names_of_methods_may_hold_spaces_and_commas(given, found):
    assert _method_names(None, None, given) == (None if found is None else tuple(found))


@pytest.mark.slow
def test_all_runs_every_suite_and_makes_every_page(run, tmp_path, monkeypatch):
    few = {name: SUITES[name] for name in ("vote-splitting", "grids")}
    monkeypatch.setattr("benchmarks._cli.SUITES", few)
    monkeypatch.setattr("benchmarks.suites._grids.CLUSTERS", (2,))
    monkeypatch.setattr("benchmarks.suites._grids.EPSILONS", (1.0,))
    result = run("all", "--repeats", 1, "--jobs", 1, "--output", tmp_path / "out", code=None)
    assert result.exit_code in (0, 1), result.output
    for name in few:
        page = (tmp_path / "out" / name / "page.html").read_text(encoding="utf-8")
        assert all(f"../{other}/page.html" in page for other in few if other != name)
    again = run("all", "--repeats", 1, "--jobs", 1, "--output", tmp_path / "out", code=result.exit_code)
    assert "0 measured" in again.stderr
    assert "2 suites in" in again.stderr


def test_a_method_that_is_not_installed_is_refused_with_the_reason(refused, monkeypatch):
    monkeypatch.setattr("benchmarks._methods._broken", lambda name: f"{name} is not installed")
    refused("table1", "--methods", "diffprivlib", match="diffprivlib cannot run here")


def test_without_matplotlib_nothing_is_measured(refused, monkeypatch, tmp_path):
    real = builtins.__import__

    def lacking(name, *rest):
        if name == "matplotlib":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", lacking)
    refused("table1", "--output", tmp_path / "out", match="Run pip install 'cloister[plot]'.")
    assert not (tmp_path / "out").exists()


def test_modules_import_each_other_by_relative_names():
    for path in (ROOT / "benchmarks").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            assert not [name for name in names if name.split(".")[0] == "benchmarks"], path.name


def test_the_package_itself_never_imports_a_rival():
    for path in (ROOT / "src").rglob("*.py"):
        assert "diffprivlib" not in path.read_text(encoding="utf-8"), path.name
