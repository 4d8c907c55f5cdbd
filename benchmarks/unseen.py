# SPDX-License-Identifier: Apache-2.0
"""Methods on 20 tables that are in no paper's list: ``python -m benchmarks.unseen [--repeats N] [--methods A,B] [NAMES]``.

The tables that come with scikit-learn, and odd shapes made here: no clusters at all, heavy tails, one-hot columns, clusters of
very unequal size or width, a domain fifty times too wide, 200 columns. No constant of any method was chosen on them. The
figures are those of ``_area.py``: the area under the loss over that of the limit and, in brackets, the loss at epsilon 0.25.
"""

import argparse
import sys
from collections.abc import Callable
from functools import partial

import numpy as np
from sklearn import datasets

from ._area import compare_all, summarize
from ._arrays import Array
from ._data import DataSet, in_unit_ball
from ._harness import Report, check_names

METHODS = ("KMeans", "PEMeans", "FastLloyd", "CoresetKMeans")
Maker = Callable[[np.random.Generator], Array]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=list(TABLES))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--jobs", type=int, default=1, help="processes, one table and one thread each")
    options = parser.parse_args(arguments)
    check_names(parser, "names", options.names, TABLES)
    methods = options.methods.split(",")
    report = Report("unseen", repeats=options.repeats, methods=options.methods)
    found = []
    tables = [(name, partial(make, name)) for name in options.names]
    for one in compare_all(tables, methods, repeats=options.repeats, jobs=options.jobs):
        report.line(one.text(12), name=one.name, limit=one.limit, one_centre=one.one_centre, ratios=one.ratios)
        found.append(one)
    summarize(report, found)
    return report.finish()


def make(name: str) -> DataSet:
    """Return a table by its name: the same rows every time."""
    n_clusters, maker = TABLES[name]
    rows = maker(np.random.default_rng([5, *name.encode()]))
    return DataSet(name, rows, n_clusters) if name == "far-domain" else in_unit_ball(name, rows, n_clusters)


def _blobs(n_rows: int, n_features: int, centers: int, **options: object) -> Maker:
    return lambda _: datasets.make_blobs(n_rows, n_features=n_features, centers=centers, random_state=4, **options)[0]


def _far(_: np.random.Generator) -> Array:
    """Return clusters in a fiftieth of the domain, half way to its edge."""
    rows = datasets.make_blobs(10_000, n_features=5, centers=10, random_state=4)[0]
    centred = rows - rows.mean(axis=0)
    return np.asarray(0.02 * centred / np.linalg.norm(centred, axis=1).max() + 0.5 / 5**0.5)


def _unequal(generator: np.random.Generator) -> Array:
    sizes = generator.dirichlet(np.full(20, 0.5))
    middles = generator.normal(size=(20, 20))[generator.choice(20, p=sizes, size=20_000)]
    return np.asarray(middles + 0.2 * generator.normal(size=(20_000, 20)))


def _one_hot(generator: np.random.Generator) -> Array:
    return np.hstack([np.eye(size)[generator.integers(size, size=10_000)] for size in (3, 4, 5, 2)])


def _yes_no(generator: np.random.Generator) -> Array:
    chances = np.repeat(generator.random((6, 30)), (8000, 5000, 3000, 2000, 1500, 500), axis=0)
    return np.asarray(generator.random(chances.shape) < chances, dtype=np.float64)


def _outliers(generator: np.random.Generator) -> Array:
    inside = datasets.make_blobs(9000, n_features=8, centers=6, random_state=3)[0]
    return np.vstack([inside, generator.uniform(-10, 10, (1000, 8))])


def _slanted(generator: np.random.Generator) -> Array:
    return np.asarray(
        datasets.make_blobs(15_000, n_features=16, centers=12, random_state=3)[0] @ generator.normal(size=(16, 16))
    )


def _line(generator: np.random.Generator) -> Array:
    return np.asarray(np.linspace(0, 1, 8000)[:, None] ** 2 + 0.01 * generator.normal(size=(8000, 7)))


def _standard(rows: Array) -> Array:
    return np.asarray((rows - rows.mean(axis=0)) / rows.std(axis=0))


TABLES: dict[str, tuple[int, Maker]] = {
    "digits": (10, lambda _: datasets.load_digits().data),
    "wine": (3, lambda _: _standard(datasets.load_wine().data)),
    "cancer": (5, lambda _: _standard(datasets.load_breast_cancer().data)),
    "moons": (8, lambda _: datasets.make_moons(5000, noise=0.1, random_state=0)[0]),
    "roll": (12, lambda _: datasets.make_swiss_roll(10_000, random_state=0)[0]),
    "uniform": (20, lambda generator: generator.uniform(size=(20_000, 10))),
    "normal": (15, lambda generator: generator.normal(size=(10_000, 3))),
    "lognormal": (10, lambda generator: generator.lognormal(size=(15_000, 6))),
    "student": (8, lambda generator: generator.standard_t(2.5, size=(10_000, 5))),
    "widths": (25, _blobs(12_000, 12, 25, cluster_std=np.linspace(0.3, 4, 25))),
    "unequal": (20, _unequal),
    "one-hot": (10, _one_hot),
    "yes-no": (6, _yes_no),
    "far-domain": (10, _far),
    "hundred": (100, _blobs(5000, 2, 100, cluster_std=0.2)),
    "wide": (6, _blobs(3000, 200, 6)),
    "few-rows": (4, _blobs(400, 6, 4)),
    "outliers": (6, _outliers),
    "slanted": (12, _slanted),
    "line": (10, _line),
}


if __name__ == "__main__":
    sys.exit(main())
