# SPDX-License-Identifier: Apache-2.0
"""The page ``docs/methods.md``, made from the table: ``python -m tests.common._methods_page > docs/methods.md``."""

import sys

from cloister.engines import ENGINES
from cloister.methods import FEATURES, METHODS, Method

HEAD = """# Methods

Every estimator of the package, from the one table (`cloister.methods`) that the package, the command line, `compare`, the
audit, the benchmark and the tests read.

| estimator | what it does | from | `cloister` | bounds | delta | columns |
|---|---|---|---|---|---|---|
"""
ABOUT = """
*delta* is the default; 0 is pure noise. """
MATRIX = """
## Guarantees and engines

Every guarantee holds under both relations (one row more or less, one row replaced) and for persons with several rows. Engines
are who reads the rows: numpy is this process, which reads arrays, data frames, Arrow tables, CSV and Parquet files.

"""
FEATURED = """
## What each offers

"""
TRIED = """
Every mark is tried in a test, and so is every dash: `tests/common/test_features.py`, and for guarantees and engines
`test_budgets.py` and `test_engines.py` beside it.
"""
TAIL = """More about each: [KMeans](kmeans.md), [PEMeans](pe-means.md), [grids](grids.md),
[the rivals](rivals.md), [source and target](source-target.md). Which one for your data: `cloister compare`
([before you spend](plan.md)).
"""
GUARANTEES = {"pure": "pure epsilon", "approx": "(epsilon, delta)", "zcdp": "zCDP", "gdp": "Gaussian DP"}
YES, NO = "✓", "—"
COMMANDS = {"synopsis": "`synopsis`", "source-target": "`source-target`"}


def page() -> str:
    """Return the page."""
    overview = HEAD + "".join(_line(method) for method in METHODS.values()) + ABOUT + TAIL
    return overview + MATRIX + _guarantees() + FEATURED + _features() + TRIED


def _guarantees() -> str:
    """Return which guarantees and engines each method takes."""
    head = ["estimator", *GUARANTEES.values(), *(f"{name}: {one.summary}" for name, one in ENGINES.items())]
    lines = [
        [f"`{name}`", *(_mark(one in method.guarantees) for one in GUARANTEES), *(YES for _ in ENGINES)]
        for name, method in METHODS.items()
    ]
    return _table(head, lines)


def _features() -> str:
    """Return what each method offers, one line per feature: there are more of them than methods."""
    lines = [[title, *(_mark(one in method.offers) for method in METHODS.values())] for one, title in FEATURES.items()]
    return _table(["", *(f"`{name}`" for name in METHODS)], lines)


def _table(head: list[str], lines: list[list[str]]) -> str:
    rule = ["---", *(":---:" for _ in head[1:])]
    return "".join(f"| {' | '.join(line)} |\n" for line in (head, rule, *lines))


def _mark(offered: bool) -> str:
    return YES if offered else NO


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
