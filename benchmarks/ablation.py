# SPDX-License-Identifier: Apache-2.0
"""What each ingredient of KMeans is worth: ``python -m benchmarks.ablation [--data DIR] [--repeats N] [NAMES]``.

Every variant is the estimator with one ingredient switched off, on the same data and seeds. The figure is the area under the
loss (Table I protocol) relative to that of the full method; above 1 the ingredient helps. Constants were chosen on the data
sets in TUNED; HELD_OUT and the generated families with other seeds were looked at only afterwards.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np
from sklearn.datasets import make_blobs

from cloister import Ball, KMeans
from cloister.cluster import _kmeans_plan as recipes

from ._data import DataSet, in_unit_ball, load
from ._generate import clusters
from ._harness import Report
from ._stats import EPSILONS, area, geometric_mean
from .families import make

TUNED = ("iris", "birch2", "letter", "sklearn_64_4", "sklearn_16_16", "sklearn_64_16", "sklearn_64_64", "sklearn_16_64")
TUNED += ("scale_16_4", "scale_64_4", "scale_64_16", "scale_16_64")
HELD_OUT = ("adult", "gas", "g2_4", "g2_16", "g2_64", "g2_128", "sklearn_4_4", "sklearn_16_4", "sklearn_4_16", "sklearn_4_64")
HELD_OUT += ("sklearn_4_128", "sklearn_16_128", "sklearn_64_128", "scale_4_4", "scale_4_16", "scale_16_16", "scale_4_64")
HELD_OUT += ("scale_4_128", "scale_16_128", "mnist")
GENERATED = ("blobs-10-8", "blobs-30-12", "blobs-50-32", "separated-8-3", "separated-20-6", "separated-12-24")
FAMILY_SEED = 101  # of the tables of benchmarks.families
EVERYTHING = 10**9

Variant = Callable[[], Any]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=["iris", "sklearn_64_16", *GENERATED], help="also such as powers-5:10")
    parser.add_argument("--data")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args(arguments)
    report = Report("ablation", repeats=options.repeats)
    ratios: dict[str, list[float]] = {name: [] for name in VARIANTS}
    for name in options.names:
        data = make(name, FAMILY_SEED) if ":" in name else generated(name) if name in GENERATED else load(name, options.data)
        whole = _area(data, options.repeats)
        for variant, switch in VARIANTS.items():
            with switch():
                ratios[variant].append(_area(data, options.repeats) / whole)
        figures = "  ".join(f"{variant} {values[-1]:.3f}" for variant, values in ratios.items())
        report.line(f"   {name:16s} {figures}", name=name, whole=whole, ratios={key: one[-1] for key, one in ratios.items()})
    for variant, values in ratios.items():
        mean = geometric_mean(values)
        report.line(f"   {variant:34s} {mean:.3f} times the area, worst {max(values):.3f}", variant=variant, mean=mean)
    return report.finish()


def generated(name: str) -> DataSet:
    """Return a table of a family with a seed of its own: ``blobs-K-D`` (as scikit-learn makes them) or ``separated-K-D``."""
    kind, n_clusters, n_features = name.split("-")
    k, d = int(n_clusters), int(n_features)
    if kind == "blobs":
        rows = make_blobs(n_samples=15_000, n_features=d, centers=k, cluster_std=1.5, random_state=100 + k)[0]
    else:
        rows = clusters(np.random.default_rng([k, d]), [12_000 // k] * k, d)
    return in_unit_ball(name, rows, k)


def _area(data: DataSet, repeats: int) -> float:
    losses = {epsilon: np.mean([_loss(data, epsilon, seed) for seed in range(repeats)]) for epsilon in EPSILONS}
    return area({epsilon: float(loss) for epsilon, loss in losses.items()})


def _loss(data: DataSet, epsilon: float, seed: int) -> float:
    model = KMeans(
        data.n_clusters,
        epsilon=epsilon,
        delta=data.delta,
        bounds=Ball(1.0),
        n_rows=len(data.rows),
        random_state=1000 * seed + int(100 * epsilon),
    )
    return data.loss(model.fit(data.rows).cluster_centers_)


def _recipe(**changes: Any) -> Variant:
    return lambda: mock.patch.object(recipes, "GAUSSIAN", replace(recipes.GAUSSIAN, **changes))


@contextmanager
def _shrink_nothing() -> Iterator[None]:
    with mock.patch("cloister.algorithms._refine.shrinkage", lambda offsets, variances, **_: np.ones(len(offsets))):
        yield


@contextmanager
def _candidates_alike() -> Iterator[None]:
    with mock.patch("cloister.algorithms._locate.ROUND_PART", 1.0):
        yield


@contextmanager
def _candidates_by_mass() -> Iterator[None]:
    with mock.patch("cloister.algorithms._locate._for_least_loss", lambda counts, _: counts):
        yield


@contextmanager
def _clip_nothing() -> Iterator[None]:
    with mock.patch("cloister.algorithms._refine.choose_radius", lambda lengths, **_: (float(lengths.edges[-1]), 1.0)):
        yield


VARIANTS: dict[str, Variant] = {
    "no shrinkage": _shrink_nothing,
    "clip nothing": _clip_nothing,
    "no extra starting centres": _recipe(extra_start=1.0),
    "one round of sums": _recipe(n_rounds_low=1, n_rounds_high=1, n_settling=0, extra_start=1.0),
    "two rounds of sums": _recipe(n_rounds_high=2, n_settling=0),
    "no settling": _recipe(n_settling=0),
    "one round of votes": _recipe(n_votes=1),
    "a quarter of the candidates": _recipe(density=1.0),
    "no axes": _recipe(axes_edge_most=1e-9),
    "no stretched candidates": _candidates_alike,
    "candidates where the rows are": _candidates_by_mass,
    "no projection": _recipe(project_above=EVERYTHING),
    "equal shares": _recipe(growth=1.0),
}


if __name__ == "__main__":
    sys.exit(main())
