# SPDX-License-Identifier: Apache-2.0
"""The files of the package, each parsed once."""

import ast
from functools import cache
from pathlib import Path

import cloister

SOURCE = Path(cloister.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))
OPTIONAL = {"pandas", "polars", "dask", "pyspark", "matplotlib"}


def place(path):
    """Return where a file is in the package."""
    return path.relative_to(SOURCE).as_posix()


@cache
def tree(path):
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes(path):
    return tuple(ast.walk(tree(path)))
