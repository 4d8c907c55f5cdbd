# SPDX-License-Identifier: Apache-2.0
"""The benchmark is in the repository and not in the wheel; its modules import each other by relative names."""

import ast
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted((ROOT / "benchmarks").rglob("*.py"))
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]


def test_packages_are_found_below_src_and_nowhere_else():
    assert SETTINGS["packages"]["find"] == {"where": ["src"], "namespaces": False}
    assert "package-dir" not in SETTINGS
    folders = {path.parent for path in (ROOT / "src" / "cloister").rglob("*.py")}
    assert all((folder / "__init__.py").is_file() for folder in folders)


def test_data_files_are_installed():
    package = ROOT / "src" / "cloister"
    listed = {
        path
        for name, patterns in SETTINGS["package-data"].items()
        for pattern in patterns
        for path in package.joinpath(*name.split(".")[1:]).glob(pattern)
    }
    others = {path for path in package.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")}
    assert listed == others


@pytest.mark.slow
def test_a_wheel_holds_the_package_and_nothing_of_the_benchmark(tmp_path):
    for part in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / part, tmp_path)
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path / "wheels"), "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    if "No matching distribution found for setuptools" in done.stderr or "ConnectionError" in done.stderr:
        pytest.skip("the build tools cannot be fetched")
    assert done.returncode == 0, done.stderr
    (wheel,) = (tmp_path / "wheels").glob("cloister-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    inside = {path.relative_to(tmp_path / "installed") for path in (tmp_path / "installed").rglob("*") if path.is_file()}
    source = {path.relative_to(ROOT / "src") for path in (ROOT / "src" / "cloister").rglob("*") if path.is_file()}
    wanted = {path for path in source if path.suffix != ".pyc"}
    assert {path for path in inside if ".dist-info" not in path.parts[0]} == wanted


def test_modules_import_each_other_by_relative_names():
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            assert not [name for name in names if name.split(".")[0] == "benchmarks"], path.name


def test_the_package_itself_never_imports_a_rival():
    for path in (ROOT / "src").rglob("*.py"):
        assert "diffprivlib" not in path.read_text(encoding="utf-8"), path.name
