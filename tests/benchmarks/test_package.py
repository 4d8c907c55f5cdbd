# SPDX-License-Identifier: Apache-2.0
"""Modules of the benchmark import each other by relative names, and the package imports no rival."""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_modules_import_each_other_by_relative_names():
    for path in (ROOT / "benchmarks").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            assert not [name for name in names if name.split(".")[0] == "benchmarks"], path.name


def test_the_package_itself_never_imports_a_rival():
    for path in (ROOT / "src").rglob("*.py"):
        assert "diffprivlib" not in path.read_text(encoding="utf-8"), path.name
