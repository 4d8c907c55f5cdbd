# SPDX-License-Identifier: Apache-2.0
"""Methods on tables of 50 to 1,000 rows: ``python -m benchmarks.few_rows [--seeds A B ...] [--methods A,B] [NAMES]``.

Sixteen kinds of tables of 2 to 8 columns: blobs, clusters of unequal sizes, stretched or overlapping ones, and rows without any
clusters. Their rows are drawn from the seed; bounds are the range of each column and a part of it, drawn too, to each side: up
to half of it ("snug"), or one to three times as much ("wide"). They are taken as public, and so is the number of rows. Delta is
1e-6. Figures are mean losses over the loss of the best of ten starts of
scikit-learn's KMeans, geometric means over the tables; "one centre" is KMeans(n_clusters=1) with the same budget. Constants may
be chosen on seeds below 100; figures are reported for others.
"""

import argparse
import sys
import warnings
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
from sklearn.cluster import KMeans as Reference
from sklearn.datasets import make_blobs

from cloister import Box
from cloister.exceptions import AccuracyWarning
from cloister.methods import METHODS

from ._arrays import Array
from ._data import DataSet
from ._harness import Report, check_names
from ._stats import geometric_mean

SIZES = (50, 100, 200, 500, 1000)
EPSILONS = (1.0,)
KMEANS, ONE_CENTRE = "KMeans", "one centre"
CONTENDERS = (
    KMEANS,
    "GridKMeans",
    "GridKMeans-gaussian",
    "PEMeans",
    "LloydKMeans",
    "FastLloyd",
    "CoresetKMeans",
    "TreeKMeans",
)
PURE = ("GridKMeans", "TreeKMeans")
CLOSE = 1.05  # of the lowest of the other methods, and of one centre
DELTA = 1e-6
PADS = {"snug": (0.05, 0.5), "wide": (1.0, 3.0)}  # of the range of a column, to each side: least and most
Maker = Callable[[np.random.Generator, int], Array]  # rows, from a generator and their number


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help=f"some of {', '.join(KINDS)}; all of them if left out")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="numbers of rows")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="of the rows: one set of tables for each")
    parser.add_argument("--bounds", nargs="+", choices=PADS, default=list(PADS))
    parser.add_argument("--epsilons", type=float, nargs="+", default=list(EPSILONS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--methods", default=",".join(CONTENDERS))
    options = parser.parse_args(arguments)
    check_names(parser, "names", options.names, KINDS)
    methods = [*options.methods.split(","), ONE_CENTRE]
    report = Report("few_rows", repeats=options.repeats, seeds=options.seeds, methods=options.methods)
    warnings.simplefilter("ignore", AccuracyWarning)
    for bounds, epsilon, n_rows in product(options.bounds, options.epsilons, options.sizes):
        found: dict[str, list[float]] = {method: [] for method in methods}
        given = {"bounds": bounds, "epsilon": epsilon, "n_rows": n_rows}
        for seed, name in product(options.seeds, options.names or KINDS):
            ratios = compare(name, methods, seed=seed, repeats=options.repeats, **given)
            text = "  ".join(f"{method} {ratio:.2f}" for method, ratio in ratios.items())
            label = f"{name} seed {seed}"
            report.line(f"   {label:<20} {text}", name=name, seed=seed, ratios=ratios, **given)
            for method, ratio in ratios.items():
                found[method].append(ratio)
        _summarize(report, found, f"{n_rows} rows, epsilon {epsilon:g}, {bounds} bounds", whole=not options.names)
    return report.finish()


def compare(
    name: str, methods: Sequence[str], *, n_rows: int, seed: int, epsilon: float, repeats: int, bounds: str
) -> dict[str, float]:
    """Return the mean loss of each method over the limit."""
    n_clusters, maker = KINDS[name]
    generator = np.random.default_rng([seed, n_rows, *name.encode()])
    rows = maker(generator, n_rows)
    low, high = rows.min(axis=0), rows.max(axis=0)
    pads = generator.uniform(*PADS[bounds], size=(2, len(low))) * (high - low)
    box = Box(low - pads[0], high + pads[1])
    data = DataSet(name, rows, n_clusters)
    limit = float(Reference(n_clusters, n_init=10, random_state=0).fit(rows).inertia_ / n_rows)
    losses = {}
    for method in methods:
        given: dict[str, Any] = {"epsilon": epsilon, "delta": 0.0 if method in PURE else DELTA, "n_rows": n_rows, "n_jobs": 1}
        word = KMEANS if method == ONE_CENTRE else method.removesuffix("-gaussian")
        estimator, k = METHODS[word].estimator, 1 if method == ONE_CENTRE else n_clusters
        models = [
            estimator(k, bounds=box, **_plain_distances(estimator), **given, random_state=one).fit(rows)
            for one in range(repeats)
        ]
        losses[method] = float(np.mean([data.loss(model.cluster_centers_) for model in models])) / limit
    return losses


def _plain_distances(estimator: Any) -> dict[str, Any]:
    """Return the option to measure distances as the rows are, which not all methods have."""
    return {"scaling": "none"} if "scaling" in estimator().get_params() else {}


def _summarize(report: Report, found: dict[str, list[float]], what: str, *, whole: bool) -> None:
    means = {method: geometric_mean(ratios) for method, ratios in found.items()}
    text = ", ".join(f"{method} {mean:.3f}" for method, mean in means.items())
    report.line(f"-- {what}: {text}", what=what, means=means)
    if KMEANS not in means:
        return
    worse = [own / one for own, one in zip(found[KMEANS], found[ONE_CENTRE], strict=True)]
    others = [mean for method, mean in means.items() if method not in (KMEANS, ONE_CENTRE)]
    if others and whole:
        report.floor(f"KMeans over the best other method, {what}", means[KMEANS] / min(others), at_most=CLOSE)
    report.floor(f"KMeans over one centre on the worst table, {what}", max(worse), at_most=CLOSE)


# -- tables --------------------------------------------------------------------------------------------------------------


def _blobs(n_features: int, n_clusters: int, spread: float = 1.0) -> tuple[int, Maker]:
    def rows(generator: np.random.Generator, n_rows: int) -> Array:
        seed = int(generator.integers(1 << 31))
        given: dict[str, Any] = {"n_features": n_features, "centers": n_clusters, "cluster_std": spread}
        return np.asarray(make_blobs(n_rows, **given, random_state=seed)[0])

    return n_clusters, rows


def _unequal(n_features: int, n_clusters: int) -> tuple[int, Maker]:
    """Return clusters whose sizes fall as one over their rank."""

    def rows(generator: np.random.Generator, n_rows: int) -> Array:
        sizes = 1 / np.arange(1, n_clusters + 1)
        labels = generator.choice(n_clusters, size=n_rows, p=sizes / sizes.sum())
        centers = generator.uniform(-1, 1, (n_clusters, n_features))
        return np.asarray(centers[labels] + 0.1 * generator.normal(size=(n_rows, n_features)))

    return n_clusters, rows


def _stretched(n_features: int, n_clusters: int) -> tuple[int, Maker]:
    """Return clusters that are five times as long as wide, each in a direction of its own."""

    def rows(generator: np.random.Generator, n_rows: int) -> Array:
        labels = generator.integers(n_clusters, size=n_rows)
        centers = generator.uniform(-1, 1, (n_clusters, n_features))
        directions = generator.normal(size=(n_clusters, n_features))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        along = 0.4 * generator.normal(size=(n_rows, 1)) * directions[labels]
        return np.asarray(centers[labels] + along + 0.08 * generator.normal(size=(n_rows, n_features)))

    return n_clusters, rows


def _flowers(generator: np.random.Generator, n_rows: int) -> Array:
    """Return three groups of measurements that grow together, two of which overlap."""
    sizes = np.array([1.0, 3.0, 4.0])[generator.integers(3, size=n_rows)] + 0.35 * generator.normal(size=n_rows)
    factors = generator.uniform(0.2, 1.2, 4)
    return np.asarray(sizes[:, None] * factors + 0.3 * generator.normal(size=(n_rows, 4)))


def _bottles(generator: np.random.Generator, n_rows: int) -> Array:
    """Return three groups in eight columns of unit spread, each column telling a little."""
    means = generator.normal(size=(3, 8))
    rows = means[generator.integers(3, size=n_rows)] + generator.normal(size=(n_rows, 8))
    return np.asarray(rows / rows.std(axis=0))


KINDS: dict[str, tuple[int, Maker]] = {
    "blobs-2-2": _blobs(2, 2),
    "blobs-2-4": _blobs(2, 4),
    "blobs-2-6": _blobs(2, 6, 0.5),
    "blobs-3-3": _blobs(3, 3),
    "blobs-3-5": _blobs(3, 5, 2.0),
    "blobs-4-4": _blobs(4, 4),
    "blobs-6-4": _blobs(6, 4),
    "blobs-8-3": _blobs(8, 3),
    "unequal-2-4": _unequal(2, 4),
    "stretched-2-3": _stretched(2, 3),
    "stretched-3-4": _stretched(3, 4),
    "flowers": (3, _flowers),
    "bottles": (3, _bottles),
    "uniform-2": (4, lambda generator, n_rows: generator.uniform(size=(n_rows, 2))),
    "uniform-5": (3, lambda generator, n_rows: generator.uniform(size=(n_rows, 5))),
    "lognormal-3": (4, lambda generator, n_rows: generator.lognormal(sigma=0.7, size=(n_rows, 3))),
}


if __name__ == "__main__":
    sys.exit(main())
