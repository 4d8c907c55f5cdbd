# SPDX-License-Identifier: Apache-2.0
"""Methods on families of unlike columns, with bounds that are too wide.

    python -m benchmarks.families [--repeats N] [--seeds A B ...] [--methods A,B] [--jobs N] [NAMES]

Ten families: columns whose units differ by orders of magnitude, lognormal columns, heavy tails, mixtures on a line or a plane,
a table with counts, amounts and flags. Each is scaled into the unit ball as the papers do, and into a ball 10 and 1000 times
smaller that lies half way to the edge, as where bounds were declared too wide: 30 tables for each seed. Names are families
(``lognormal-6``) or single tables (``lognormal-6:1000``). Rows are generated from the seed. Constants may be chosen on seeds
below 100; figures are reported for others. What the figures mean is said in ``_area.py``.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from sklearn.datasets import make_blobs

from ._area import Comparison, Table, compare_all, summarize
from ._arrays import Array
from ._data import DataSet
from ._harness import Report, check_names
from ._stats import geometric_mean

METHODS = ("KMeans", "PEMeans", "CoresetKMeans", "FastLloyd")
WIDTHS = (1, 10, 1000)  # times too wide
LARGEST_MEAN = 1.10  # of KMeans, geometric
Maker = Callable[[np.random.Generator, int], Array]  # rows from a generator and the number of clusters


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="families or tables; all of them if left out")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="of the rows: one set of tables for each")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--jobs", type=int, default=1, help="processes, one table and one thread each")
    options = parser.parse_args(arguments)
    names = [table for name in options.names or FAMILIES for table in _tables_of(name)]
    check_names(parser, "names", names, TABLES)
    methods = options.methods.split(",")
    report = Report("families", repeats=options.repeats, seeds=options.seeds, methods=options.methods)
    tables: list[Table] = [(f"{name} seed {seed}", partial(make, name, seed)) for seed in options.seeds for name in names]
    found = []
    for one in compare_all(tables, methods, repeats=options.repeats, jobs=options.jobs):
        report.line(one.text(26), name=one.name, limit=one.limit, one_centre=one.one_centre, ratios=one.ratios, first=one.first)
        found.append(one)
    means = summarize(report, found)
    for width in WIDTHS:
        _report_part(report, f"bounds {width} times", [one for one in found if f":{width} " in one.name])
    _report_wins(report, found, means, whole=not options.names)
    return report.finish()


def make(name: str, seed: int) -> DataSet:
    """Return a table by its name, such as ``line-20:10``: the same rows for the same seed."""
    family, _, width = name.partition(":")
    n_clusters, maker = FAMILIES[family]
    rows = maker(np.random.default_rng([seed, *family.encode()]), n_clusters)
    centred = rows - rows.mean(axis=0)
    rows = centred / np.linalg.norm(centred, axis=1).max() / int(width)
    if int(width) > 1:
        direction = np.random.default_rng([seed, *name.encode()]).normal(size=rows.shape[1])
        rows += 0.5 * direction / np.linalg.norm(direction)
    return DataSet(name, rows, n_clusters)


def _tables_of(name: str) -> list[str]:
    return [f"{name}:{width}" for width in WIDTHS] if name in FAMILIES else [name]


def _report_part(report: Report, part: str, found: Sequence[Comparison]) -> None:
    if found:
        means = {method: geometric_mean([one.ratios[method] for one in found]) for method in found[0].ratios}
        listed = ", ".join(f"{method} {mean:.3f}" for method, mean in means.items())
        report.line(f"   {part}: {listed}", part=part, means=means)


def _report_wins(report: Report, found: Sequence[Comparison], means: dict[str, float], *, whole: bool) -> None:
    """Say on how many tables KMeans is below all others; over all tables there are bars."""
    if "KMeans" not in means:
        return
    others = [method for method in means if method != "KMeans"]
    lost = [one.name for one in found if any(one.ratios["KMeans"] >= one.ratios[other] for other in others)]
    if others:
        but = f"; not on {', '.join(lost)}" if lost else ""
        report.line(f"   KMeans is below all others on {len(found) - len(lost)} of {len(found)} tables{but}", lost=lost)
    if whole:
        report.floor("geometric mean of KMeans", means["KMeans"], at_most=LARGEST_MEAN)
        report.floor("tables on which another method is as good", len(lost), at_most=0)


# -- families ------------------------------------------------------------------------------------------------------------


def _blobs(generator: np.random.Generator, n_rows: int, n_features: int, n_clusters: int) -> Array:
    seed = int(generator.integers(1 << 31))
    return np.asarray(make_blobs(n_rows, n_features=n_features, centers=n_clusters, random_state=seed)[0])


def _powers(n_rows: int, n_features: int, *, columns_per_decade: int) -> Maker:
    """Return blobs whose columns are multiplied by falling powers of ten."""
    factors = 10.0 ** (-np.arange(n_features) / columns_per_decade)
    return lambda generator, n_clusters: _blobs(generator, n_rows, n_features, n_clusters) * factors


def _lognormal(n_rows: int, sigmas: Array) -> Maker:
    return lambda generator, _: generator.lognormal(sigma=sigmas, size=(n_rows, len(sigmas)))


def _units(n_rows: int, n_features: int) -> Maker:
    """Return blobs whose columns have units drawn over three decades."""
    return lambda generator, n_clusters: (
        _blobs(generator, n_rows, n_features, n_clusters) * 10 ** generator.uniform(0, 3, n_features)
    )


def _flat(n_rows: int, n_features: int, dimension: int) -> Maker:
    """Return Gaussian clusters of unequal size in a subspace, a little noise around it."""

    def rows(generator: np.random.Generator, n_clusters: int) -> Array:
        labels = generator.choice(n_clusters, size=n_rows, p=generator.dirichlet(np.full(n_clusters, 3.0)))
        inside = generator.uniform(-1, 1, (n_clusters, dimension))[labels] + 0.04 * generator.normal(size=(n_rows, dimension))
        axes = np.linalg.qr(generator.normal(size=(n_features, dimension)))[0]
        return np.asarray(inside @ axes.T + 0.01 * generator.normal(size=(n_rows, n_features)))

    return rows


def _student(n_rows: int, n_features: int) -> Maker:
    return lambda generator, _: generator.standard_t(3, size=(n_rows, n_features)) * 10 ** generator.uniform(0, 2, n_features)


def _mixed(n_rows: int) -> Maker:
    """Return counts, amounts and flags, unscaled, that depend on a group which is not in the table."""

    def rows(generator: np.random.Generator, n_clusters: int) -> Array:
        groups = generator.choice(n_clusters, size=n_rows, p=generator.dirichlet(np.full(n_clusters, 2.0)))
        means = 10 ** generator.uniform(0, 2.5, 5) * generator.lognormal(sigma=0.7, size=(n_clusters, 5))
        counts = generator.poisson(means[groups] * generator.gamma(2, 0.5, size=(n_rows, 5)))
        medians = generator.uniform(0, 3, 5) * np.log(10) + 0.7 * generator.normal(size=(n_clusters, 5))
        amounts = np.exp(medians[groups] + generator.uniform(0.4, 1.0, 5) * generator.normal(size=(n_rows, 5)))
        flags = generator.random((n_rows, 5)) < generator.random((n_clusters, 5))[groups]
        return np.hstack([counts, amounts, flags])

    return rows


FAMILIES: dict[str, tuple[int, Maker]] = {
    "powers-5": (8, _powers(10_000, 5, columns_per_decade=1)),
    "powers-16": (10, _powers(15_000, 16, columns_per_decade=4)),
    "lognormal-6": (8, _lognormal(12_000, np.ones(6))),
    "lognormal-12": (10, _lognormal(20_000, np.linspace(0.3, 1.5, 12))),
    "units-8": (7, _units(8_000, 8)),
    "units-24": (12, _units(20_000, 24)),
    "line-20": (9, _flat(10_000, 20, 1)),
    "plane-20": (12, _flat(15_000, 20, 2)),
    "student-10": (6, _student(10_000, 10)),
    "mixed-15": (5, _mixed(5_000)),
}
TABLES = tuple(table for family in FAMILIES for table in _tables_of(family))


if __name__ == "__main__":
    sys.exit(main())
