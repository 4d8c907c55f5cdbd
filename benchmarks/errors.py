# SPDX-License-Identifier: Apache-2.0
"""Do 95 % intervals hold what they promise? ``python -m benchmarks.errors [--fits N] [--epsilons E ...] [NAMES]``.

Released centres, plus and minus 1.96 times their stated errors, against scikit-learn's KMeans on the same rows: the best of 20
starts, in the coordinates in which distances are measured. Centres are matched so that squared distances are least in all.
Every table is fitted N times at each epsilon; the rows stay, but those of "three-rows" are new for each fit.

Two columns say whether errors are wider than need be. "Stated / true": the true error of a coordinate is the root mean square
of its deviations over the fits, the stated one the median over the fits; the median of their ratio over all coordinates.
"Stated / deviation": the median over all coordinates of all fits. Where errors are normal and exactly known, the first is 1,
the second 1.48, and the root mean square of deviation over stated error 1.

Ten tables are held to bars. Those of ``--further`` are not: they show where errors are too wide or too narrow.
"""

import argparse
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from sklearn import datasets
from sklearn.cluster import KMeans as Reference

from cloister import KMeans, Release
from cloister.exceptions import PrivacyWarning

from ._arrays import Array
from ._harness import Report, check_names

N_ROWS = 20_000
EPSILONS = (0.5, 2.0)
N_FITS = 40
STARTS = 20
REACH = 1.96  # standard errors to each side
LEAST, MOST = 0.90, 0.99  # coverage
WIDEST = 2.0  # median of stated over true error
HEADINGS = (
    "table",
    "epsilon",
    "coverage",
    "with the noise alone",
    "stated / true",
    "stated / deviation",
    "rms deviation / stated",
    "coverage of counts",
    "stand out",
    "stability",
)


@dataclass(frozen=True, eq=False)
class Table:
    """Rows, number of clusters, and bounds that are taken as public."""

    rows: Array
    n_clusters: int
    bounds: Any


@dataclass(frozen=True, eq=False)
class Solution:
    """What k-means without noise finds, in the units of the input."""

    centers: Array
    counts: Array


@dataclass(eq=False)
class Tally:
    """Deviations of released centres and counts from those of k-means on the rows, over stated errors, of several fits."""

    away: list[Array] = field(default_factory=list)  # in the units of the input, in the order of the true centres
    stated: list[Array] = field(default_factory=list)
    total: list[Array] = field(default_factory=list)
    noise: list[Array] = field(default_factory=list)
    counts: list[Array] = field(default_factory=list)
    stands_out: list[Array] = field(default_factory=list)
    stability: list[Array] = field(default_factory=list)

    def add(self, release: Release, truth: Solution) -> None:
        """Compare one fit."""
        assert release.center_noise is not None
        scale = release.frame.scale
        matched = match(release.cluster_centers / scale, truth.centers / scale)
        away = np.abs(release.cluster_centers - truth.centers[matched])
        in_order = np.argsort(matched)
        self.away.append(away[in_order])
        self.stated.append(release.center_errors[in_order])
        self.total.append(_in_errors(away, release.center_errors))
        self.noise.append(_in_errors(away, release.center_noise))
        self.counts.append(_in_errors(np.abs(release.cluster_counts - truth.counts[matched]), release.count_errors))
        self.stands_out.append(release.stands_out.astype(np.float64))
        if release.stability is not None:
            self.stability.append(release.stability)

    def figures(self) -> dict[str, float]:
        """Return what is printed, in order."""
        total = np.concatenate(self.total)
        return {
            "coverage": _covered(self.total),
            "coverage_of_noise": _covered(self.noise),
            "stated_over_true": self._stated_over_true(),
            "stated_over_deviation": float(np.median(1 / np.maximum(total, 1e-12))),
            "rms": float(np.sqrt(np.mean(total**2))),
            "coverage_of_counts": _covered(self.counts),
            "stands_out": float(np.mean(np.concatenate(self.stands_out))),
            "stability": float(np.mean(np.concatenate(self.stability))) if self.stability else float("nan"),
        }

    def _stated_over_true(self) -> float:
        true = np.sqrt(np.mean(np.square(self.away), axis=0))
        return float(np.median(np.median(self.stated, axis=0) / np.maximum(true, 1e-300)))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help=f"some of {', '.join(ALL)}; the first {len(TABLES)} if left out")
    parser.add_argument("--further", action="store_true", help=f"those that are held to no bar: {', '.join(FURTHER)}")
    parser.add_argument("--fits", type=int, default=N_FITS, help=f"of each table at each epsilon; default {N_FITS}")
    parser.add_argument("--epsilons", type=float, nargs="+", default=list(EPSILONS))
    parser.add_argument("--seed", type=int, default=0, help="of generated rows")
    options = parser.parse_args(arguments)
    check_names(parser, "names", options.names, ALL)
    names = options.names or list(FURTHER if options.further else TABLES)
    report = Report("errors", fits=options.fits, epsilons=options.epsilons, seed=options.seed)
    report.head(*HEADINGS)
    found = []
    for name in names:
        for epsilon in options.epsilons:
            figures = measure(name, epsilon, range(options.fits), seed=options.seed).figures()
            report.row(name, f"{epsilon:g}", *figures.values(), name=name, epsilon=epsilon, **figures)
            found.append(figures)
    if names == list(TABLES):
        _hold_to_bars(report, found)
    return report.finish()


def measure(name: str, epsilon: float, fits: Sequence[int], *, seed: int) -> Tally:
    """Fit a table several times, each with its own draw of the noise, and compare with k-means on the same rows."""
    tally, truth, table = Tally(), None, make(name, seed)
    for fit in fits:
        if name in NEW_EACH_TIME:
            table, truth = make(name, seed + fit), None
        release = _fit(table, epsilon, fit)
        truth = solve(table, release) if truth is None else truth
        tally.add(release, truth)
    return tally


def make(name: str, seed: int) -> Table:
    """Return a table by its name; the same rows for the same seed."""
    return ALL[name](np.random.default_rng([seed, *name.encode()]))


def solve(table: Table, release: Release) -> Solution:
    """Return the best of many starts of k-means, in the coordinates in which distances were measured."""
    frame = release.frame
    model = Reference(table.n_clusters, n_init=STARTS, random_state=1).fit(frame.clean(table.rows))
    counts = np.bincount(model.labels_, minlength=table.n_clusters).astype(np.float64)
    return Solution(frame.from_unit(np.asarray(model.cluster_centers_, dtype=np.float64)), counts)


def match(centers: Array, others: Array) -> np.ndarray[Any, np.dtype[np.intp]]:
    """Return, for each centre, the index of the one that belongs to it, so that squared distances are least in all."""
    return np.asarray(linear_sum_assignment(cdist(centers, others, "sqeuclidean"))[1])


def _fit(table: Table, epsilon: float, seed: int) -> Release:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)  # delta of three rows
        model = KMeans(table.n_clusters, epsilon=epsilon, bounds=table.bounds, random_state=seed)
        return model.fit(table.rows).release_


def _in_errors(away: Array, errors: Array) -> Array:
    return np.ravel(away / np.maximum(errors, 1e-300))


def _covered(deviations: list[Array]) -> float:
    return float(np.mean(np.concatenate(deviations) <= REACH))


def _hold_to_bars(report: Report, found: list[dict[str, float]]) -> None:
    coverages = [figures["coverage"] for figures in found]
    report.floor("lowest coverage", min(coverages), at_least=LEAST)
    report.floor("highest coverage", max(coverages), at_most=MOST)
    report.floor("largest median of stated over true error", max(one["stated_over_true"] for one in found), at_most=WIDEST)


# -- tables --------------------------------------------------------------------------------------------------------------


def _blobs(reach: float, bound: float) -> Callable[[np.random.Generator], Table]:
    """Return a maker of five clusters of unit spread in four columns, their centres anywhere within a reach."""

    def make_table(generator: np.random.Generator) -> Table:
        centers = generator.uniform(-reach, reach, (5, 4))
        rows = centers[generator.integers(5, size=N_ROWS)] + generator.standard_normal((N_ROWS, 4))
        return Table(rows, 5, (-bound, bound))

    return make_table


def _uniform(generator: np.random.Generator) -> Table:
    return Table(generator.uniform(size=(N_ROWS, 2)), 5, (0, 1))


def _normal(generator: np.random.Generator) -> Table:
    return Table(generator.standard_normal((N_ROWS, 3)), 4, (-5, 5))


def _lognormal(generator: np.random.Generator) -> Table:
    return Table(generator.lognormal(size=(N_ROWS, 2)), 3, (0, 50))


def _ring(generator: np.random.Generator) -> Table:
    angles, radii = generator.uniform(0, 2 * np.pi, N_ROWS), 1 + 0.1 * generator.standard_normal(N_ROWS)
    return Table(np.stack([radii * np.cos(angles), radii * np.sin(angles)], axis=1), 4, (-1.6, 1.6))


def _iris(_: np.random.Generator) -> Table:
    return Table(np.asarray(datasets.load_iris().data), 3, ([4, 2, 1, 0], [8, 4.5, 7, 2.6]))


def _wine(_: np.random.Generator) -> Table:
    rows = np.asarray(datasets.load_wine().data)
    low, high = rows.min(axis=0), rows.max(axis=0)
    return Table(rows, 3, (low - 0.1 * (high - low), high + 0.1 * (high - low)))


def _digits(_: np.random.Generator) -> Table:
    return Table(np.asarray(datasets.load_digits().data), 10, (0, 16))


def _three(generator: np.random.Generator) -> Table:
    return Table(generator.uniform(0, 100, (3, 2)), 3, (0, 100))


def _exponential(generator: np.random.Generator) -> Table:
    return Table(generator.exponential(size=(N_ROWS, 3)), 4, (0, 20))


def _student(generator: np.random.Generator) -> Table:
    return Table(generator.standard_t(3, size=(N_ROWS, 2)), 4, (-30, 30))


def _moons(generator: np.random.Generator) -> Table:
    rows, _ = datasets.make_moons(N_ROWS // 2, noise=0.1, random_state=int(generator.integers(2**31)))
    return Table(rows, 4, (-3, 4))


def _unequal(generator: np.random.Generator) -> Table:
    """Return six clusters of 2 to 50 % of the rows, whose spreads differ up to sixfold."""
    centers, spreads = generator.uniform(0, 100, (6, 3)), generator.uniform(2, 12, 6)
    labels = generator.choice(6, size=N_ROWS, p=[0.5, 0.2, 0.15, 0.08, 0.05, 0.02])
    return Table(centers[labels] + spreads[labels][:, None] * generator.standard_normal((N_ROWS, 3)), 6, (-50, 150))


def _uniform_6(generator: np.random.Generator) -> Table:
    return Table(generator.uniform(size=(N_ROWS, 6)), 8, (-0.5, 1.5))


def _wrong_k(n_planted: int, n_clusters: int) -> Callable[[np.random.Generator], Table]:
    """Return a maker of clusters of unit spread in three columns, to be fitted with another number of them."""

    def make_table(generator: np.random.Generator) -> Table:
        centers = generator.uniform(-10, 10, (n_planted, 3))
        rows = centers[generator.integers(n_planted, size=N_ROWS)] + generator.standard_normal((N_ROWS, 3))
        return Table(rows, n_clusters, (-20, 20))

    return make_table


TABLES: dict[str, Callable[[np.random.Generator], Table]] = {
    "blobs": _blobs(10, 14),
    "overlapping": _blobs(2.5, 7),
    "uniform": _uniform,
    "normal": _normal,
    "lognormal": _lognormal,
    "ring": _ring,
    "iris": _iris,
    "wine": _wine,
    "digits": _digits,
    "three-rows": _three,
}
FURTHER: dict[str, Callable[[np.random.Generator], Table]] = {
    "exponential": _exponential,
    "student": _student,
    "moons": _moons,
    "unequal": _unequal,
    "uniform-6": _uniform_6,
    "k-too-small": _wrong_k(6, 4),
    "k-too-large": _wrong_k(4, 6),
}
ALL = TABLES | FURTHER
NEW_EACH_TIME = ("three-rows",)


if __name__ == "__main__":
    sys.exit(main())
