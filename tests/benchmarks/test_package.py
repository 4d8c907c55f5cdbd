# SPDX-License-Identifier: Apache-2.0
"""The benchmark is installed beside the package, under another name: what is listed is there, and imports do not mind."""

import ast
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted((ROOT / "benchmarks").rglob("*.py"))
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]


def packages(folder, name):
    found = [path.parent.relative_to(folder) for path in folder.rglob("__init__.py")]
    return {".".join((name, *part.parts)) for part in found}


def _folder(package):
    first, *rest = package.split(".")
    return {"cloister": ROOT / "src" / "cloister", "cloister_bench": ROOT / "benchmarks"}[first].joinpath(*rest)


def test_every_folder_is_installed():
    folders = packages(ROOT / "src" / "cloister", "cloister") | packages(ROOT / "benchmarks", "cloister_bench")
    assert set(SETTINGS["packages"]) == folders
    assert SETTINGS["package-dir"]["cloister_bench"] == "benchmarks"


def test_data_files_are_installed():
    listed = {
        path
        for package, patterns in SETTINGS["package-data"].items()
        for pattern in patterns
        for path in _folder(package).glob(pattern)
    }
    folders = (ROOT / "benchmarks", ROOT / "src" / "cloister")
    assert listed == {
        path for folder in folders for kind in ("*.csv", "*.css", "*.html", "py.typed") for path in folder.rglob(kind)
    }


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_modules_import_each_other_by_relative_names(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
        assert not [name for name in names if name.split(".")[0] in ("benchmarks", "cloister_bench")], path.name


def test_the_package_itself_never_imports_a_rival():
    for path in (ROOT / "src").rglob("*.py"):
        assert "diffprivlib" not in path.read_text(encoding="utf-8"), path.name
