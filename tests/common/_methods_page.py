# SPDX-License-Identifier: Apache-2.0
"""The page ``docs/methods.md``, made from the table: ``python -m tests.common._methods_page > docs/methods.md``."""

import sys

from cloister.engines import DEFAULT_ENGINE, ENGINES
from cloister.methods import FEATURES, METHODS, Method

HEAD = """# Methods

Every estimator of the package, from the one table (`cloister.methods`) that the package, the command line, `compare`, the
audit, the benchmark and the tests read.

| estimator | what it does | from | `cloister` |
|---|---|---|---|
"""
MATRIX = """
## Guarantees and engines

Guarantees are pure epsilon, (epsilon, delta), zero-concentrated and Gaussian differential privacy
([what they mean](understand/epsilon.md)). Every one holds under both relations (one row more or less, one row replaced) and
for persons with several rows. *delta* is the default; 0 is pure noise. Engines are who reads the rows:
{engines}. This process reads
arrays, data frames, Arrow tables, CSV and Parquet files.

"""
FEATURED = """
## What each offers

One synopsis answers for [any k](synopsis.md). Total error bars also tell [the choice among solutions](errors.md), others the
noise. Some methods [describe clusters](profiles.md) by distributions of their columns. Tables may have
[columns of any kind](columns.md), unknown bounds and missing values, and [several rows per person](privacy-unit.md).

"""
TRIED = """
Every mark is tried in a test, and so is every dash: `tests/common/test_features.py`, and for guarantees and engines
`test_budgets.py` and `test_engines.py` beside it.
"""
TAIL = """
More about each: [KMeans](kmeans.md), [PEMeans](pe-means.md), [grids](grids.md),
[the rivals](rivals.md), [source and target](source-target.md). Which one for your data: `cloister compare`
([before you spend](plan.md)).
"""
GUARANTEES = {"pure": "pure", "approx": "approx", "zcdp": "zCDP", "gdp": "GDP"}
MARKS = {True: "✓", False: "—"}
COMMANDS = {"synopsis": "`synopsis`", "source-target": "`source-target`"}


def page() -> str:
    """Return the page."""
    overview = HEAD + "".join(_line(method) for method in METHODS.values()) + TAIL
    engines = [DEFAULT_ENGINE, *(name for name in ENGINES if name != DEFAULT_ENGINE)]  # that of this process first
    matrix = MATRIX.format(engines=", ".join(f"`{name}` ({ENGINES[name].summary})" for name in engines))
    return overview + matrix + _guarantees(engines) + FEATURED + _features() + TRIED


def _guarantees(engines: list[str]) -> str:
    """Return which guarantees and engines each method takes."""
    head = ["estimator", *GUARANTEES.values(), *(f"`{name}`" for name in engines), "delta", "bounds", "columns"]
    lines = []
    for name, method in METHODS.items():
        columns = "any" if method.max_features is None else f"up to {method.max_features}"
        marks = [MARKS[one in method.guarantees] for one in GUARANTEES] + [MARKS[True]] * len(engines)
        lines.append([f"`{name}`", *marks, f"{method.delta:g}", ", ".join(method.domains), columns])
    return _table(head, lines)


def _features() -> str:
    """Return what each method offers, one line per feature; methods that offer the same share a column."""
    columns: dict[tuple[str, ...], list[str]] = {}
    for name, method in METHODS.items():
        columns.setdefault(method.offers, []).append(f"`{name}`")
    lines = [[title, *(MARKS[one in offers] for offers in columns)] for one, title in FEATURES.items()]
    return _table(["", *("<br>".join(names) for names in columns.values())], lines)


def _table(head: list[str], lines: list[list[str]]) -> str:
    rule = ["---", *(":---:" for _ in head[1:])]
    return "".join(f"| {' | '.join(line)} |\n" for line in (head, rule, *lines))


def _line(method: Method) -> str:
    command = f"`fit --method {method.word}`" if method.kind == "centers" else COMMANDS[method.kind]
    return f"| `{method.name}` | {method.summary} | {method.origin} | {command} |\n"


if __name__ == "__main__":
    sys.stdout.write(page())
