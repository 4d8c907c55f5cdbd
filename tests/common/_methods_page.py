# SPDX-License-Identifier: Apache-2.0
"""The page ``docs/methods.md``, made from the table: ``python -m tests.common._methods_page > docs/methods.md``."""

import sys

from cloister.methods import METHODS, Method

HEAD = """# Methods

Every estimator of the package, from the one table (`cloister.methods`) that the package, the command line, `compare`, the
audit, the benchmark and the tests read.

| estimator | what it does | from | `cloister` | bounds | delta | columns |
|---|---|---|---|---|---|---|
"""
TAIL = """
Every method takes every guarantee (pure and approximate epsilon, zCDP, Gaussian DP) under both relations. *delta* is the
default; 0 is pure noise. More about each: [KMeans](kmeans.md), [PEMeans](pe-means.md), [grids](grids.md),
[the rivals](rivals.md), [source and target](source-target.md). Which one for your data: `cloister compare`
([before you spend](plan.md)).
"""
COMMANDS = {"synopsis": "`synopsis`", "source-target": "`source-target`"}


def page() -> str:
    """Return the page."""
    return HEAD + "".join(_line(method) for method in METHODS.values()) + TAIL


def _line(method: Method) -> str:
    command = f"`fit --method {method.command}`" if method.command else COMMANDS[method.kind]
    columns = "any" if method.max_features is None else f"up to {method.max_features}"
    parts = [
        f"`{method.name}`",
        method.summary,
        method.origin,
        command,
        ", ".join(method.domains),
        f"{method.delta:g}",
        columns,
    ]
    return f"| {' | '.join(parts)} |\n"


if __name__ == "__main__":
    sys.stdout.write(page())
