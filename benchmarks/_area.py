# SPDX-License-Identifier: Apache-2.0
"""Methods on a table by the protocol of Table I: the area under the loss, from epsilon 0.25 to 4, over that of the limit.

Delta is N^-1.1, N is public, rows lie in the unit ball. The limit is the best of ten starts of scikit-learn's KMeans; "one
centre" is what a single centre at the mean would get; in brackets stands the loss at the smallest epsilon over the limit.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from sklearn.cluster import KMeans as Reference
from threadpoolctl import threadpool_limits

import cloister
from cloister.methods import METHODS

from ._data import DataSet
from ._harness import Report
from ._stats import EPSILONS, area, geometric_mean

__all__ = ["Comparison", "Table", "compare", "compare_all", "summarize"]

Table = tuple[str, Callable[[], DataSet]]  # how it is called, and what makes it; sent to a process as it is


@dataclass(frozen=True)
class Comparison:
    """What became of one table."""

    name: str
    limit: float
    one_centre: float
    ratios: dict[str, float]  # area over that of the limit, by method
    first: dict[str, float]  # loss over the limit at the smallest epsilon, by method

    def text(self, width: int) -> str:
        """Return one line, names padded to a width."""
        methods = "".join(f"  {method} {ratio:.3f} ({self.first[method]:.2f})" for method, ratio in self.ratios.items())
        return f"   {self.name:<{width}} one centre {self.one_centre:8.2f}{methods}"


def compare_all(
    tables: Sequence[Table], methods: Sequence[str], *, repeats: int, first_seed: int = 0, jobs: int = 1
) -> Iterator[Comparison]:
    """Yield tables in order; with several jobs each is in a process of its own, on one thread."""
    if jobs == 1:
        for name, make in tables:
            yield compare(name, make(), methods, repeats=repeats, first_seed=first_seed)
        return
    work = (delayed(_alone)(*table, methods, repeats, first_seed) for table in tables)
    yield from Parallel(n_jobs=jobs, return_as="generator")(work)


def compare(
    name: str, data: DataSet, methods: Sequence[str], *, repeats: int, first_seed: int = 0, n_jobs: int | None = None
) -> Comparison:
    """Fit every method, `repeats` times at each epsilon."""
    limit = Reference(data.n_clusters, n_init=10, random_state=0).fit(data.rows).inertia_ / len(data.rows)
    ratios, first = {}, {}
    for method in methods:
        losses = {
            epsilon: _loss(method, data, epsilon, range(first_seed, first_seed + repeats), n_jobs) / limit
            for epsilon in EPSILONS
        }
        ratios[method], first[method] = area(losses) / (EPSILONS[-1] - EPSILONS[0]), losses[EPSILONS[0]]
    single = data.loss(data.rows.mean(axis=0, keepdims=True)) / limit
    return Comparison(name, float(limit), float(single), ratios, first)


def summarize(report: Report, found: Sequence[Comparison]) -> dict[str, float]:
    """Report, and return, the geometric mean of each method over all tables."""
    means = {}
    for method in found[0].ratios:
        ratios = [one.ratios[method] for one in found]
        means[method] = geometric_mean(ratios)
        report.line(
            f"   {method:<14} geometric mean {means[method]:.3f}, worst {max(ratios):.3f}", method=method, mean=means[method]
        )
    return means


def _alone(name: str, make: Callable[[], DataSet], methods: Sequence[str], repeats: int, first_seed: int) -> Comparison:
    with threadpool_limits(1):
        return compare(name, make(), methods, repeats=repeats, first_seed=first_seed, n_jobs=1)


def _loss(method: str, data: DataSet, epsilon: float, seeds: range, n_jobs: int | None) -> float:
    given = {"epsilon": epsilon, "delta": data.delta, "bounds": cloister.Ball(1.0), "n_rows": len(data.rows), "n_jobs": n_jobs}
    models = [METHODS[method].estimator(data.n_clusters, **given, random_state=seed) for seed in seeds]
    return float(np.mean([data.loss(model.fit(data.rows).cluster_centers_) for model in models]))
