# SPDX-License-Identifier: Apache-2.0
"""Is the planted number of clusters found, and how stable are clusters? ``python -m benchmarks.choose_k [--seeds S ...]``.

Each seed makes 20 tables: 2 to 20 clusters in 2 to 50 columns, 5,000 to 20,000 rows, in turns of equal sizes, of uneven sizes
and of unequal spreads. Centres lie anywhere in a box, at least 5 to 9 standard deviations from each other (in many columns that
makes them lie further apart); with ``--layout tight`` the nearest two lie exactly so far apart, which is harder. One
PointSynopsis at epsilon 1 chooses k, and so does KMeans(n_clusters="auto") with another draw of the noise. Then come five hard
tables for each seed (long clusters, background, sizes 1:100, mixed columns, topics in 256 columns), where numbers next to the
planted one count, too, and tables without clusters, where the answer must be 1. The stability of clusters is read off cuts of
the synopsis and off fits of KMeans: of planted clusters at the planted k and, with one centre too many, of pieces (less than
three quarters of the rows of a planted cluster) and of the others.
"""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans as Reference
from sklearn.metrics import silhouette_score

from cloister import KMeans, PointSynopsis, Release, Synopsis
from cloister.synopsis import KChoice

from ._arrays import Array
from ._harness import Report
from .choose_k_tables import HARD, WITHOUT, Table, bounds_of, lay_out

EPSILON = 1.0
N_TABLES = 20  # with one seed
MOST_CLUSTERS = 20
COLUMNS = (2, 3, 5, 8, 12, 20, 30, 50)
ROWS = (5_000, 10_000, 20_000)
KINDS = ("equal", "uneven sizes", "unequal spreads")
APART = (5.0, 9.0)  # standard deviations between nearest centres, at least
LAYOUTS = ("box", "tight")
SPREADS = (0.5, 1.2)  # where they are unequal
EVENNESS = 4.0  # of a Dirichlet distribution, where sizes are uneven
STABLE = 0.9
WHOLE = 0.75  # part of the rows of a planted cluster: a centre with fewer has a piece of it
LEAST_FOUND = 0.9  # part of the planted tables
LEAST_NEAR = 0.85  # part of the hard tables on which the number is the planted one or next to it
LEAST_ONE = 0.9  # part of the tables without clusters
YARDSTICK = "silhouette, no noise"
YARDSTICK_ROWS = 2_000  # that it is computed on
YARDSTICK_NUMBERS = range(2, 26)


@dataclass(frozen=True, eq=False)
class Planted:
    """Rows with their true clusters."""

    words: str
    rows: Array
    centers: Array

    @property
    def n_clusters(self) -> int:
        """How many there are."""
        return len(self.centers)


@dataclass(eq=False)
class Stability:
    """Stability of clusters: where k is right, and where there is a centre too many."""

    planted: list[float] = field(default_factory=list)
    pieces: list[float] = field(default_factory=list)
    others: list[float] = field(default_factory=list)

    def add(self, right: Release, one_more: Release, centers: Array) -> None:
        """Sort the clusters of two releases, the second with one more centre than there are true ones."""
        if right.stability is None or one_more.stability is None:
            return
        owners = nearest(right.cluster_centers, centers)
        if len(set(owners)) == len(centers):  # else some were not found at all
            self.planted += right.stability.tolist()
        owners, counts = nearest(one_more.cluster_centers, centers), np.maximum(one_more.cluster_counts, 0.0)
        together = np.bincount(owners, weights=counts, minlength=len(centers))
        if together.min() > 0:
            split = counts < WHOLE * together[owners]
            self.pieces += one_more.stability[split].tolist()
            self.others += one_more.stability[~split].tolist()

    def report(self, report: Report, source: str) -> None:
        """Print a row for each kind of cluster."""
        kinds = {
            "planted, k right": self.planted,
            "pieces, k one too large": self.pieces,
            "others, k one too large": self.others,
        }
        for kind, values in kinds.items():
            if values:
                above = float(np.mean(np.array(values) > STABLE))
                figures = {"n": len(values), "mean": float(np.mean(values)), "above": above}
                report.row(source, kind, len(values), figures["mean"], above, source=source, kind=kind, **figures)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help=f"{N_TABLES} planted tables for each")
    parser.add_argument("--tables", type=int, default=N_TABLES, help="only the first so many of each seed")
    parser.add_argument("--layout", choices=LAYOUTS, default=LAYOUTS[0], help="of the planted centres")
    parser.add_argument("--yardstick", action="store_true", help=f"also choose k without noise, {YARDSTICK}")
    options = parser.parse_args(arguments)
    report = Report("choose_k", epsilon=EPSILON, seeds=options.seeds, tables=options.tables, layout=options.layout)
    cuts, fits = Stability(), Stability()
    yardstick = best_silhouette if options.yardstick else None
    tables = [(seed, index) for seed in options.seeds for index in range(options.tables)]
    found = _planted_tables(report, tables, options.layout, cuts, fits, yardstick)
    near = _other_tables(report, options.seeds, HARD, off=1)
    one = _other_tables(report, options.seeds, WITHOUT, off=0)
    report.head("stability", "clusters", "number", "mean", f"part above {STABLE:g}")
    cuts.report(report, "PointSynopsis")
    fits.report(report, "KMeans")
    report.line("")
    for name, hits in found.items():
        what = f"planted k found by {name}, part of {len(hits)} tables"
        if name == YARDSTICK:
            report.line(f"   {what}: {np.mean(hits):.4g}", what=what, value=float(np.mean(hits)))
        else:
            report.floor(what, float(np.mean(hits)), at_least=LEAST_FOUND)
    report.floor("hard tables, the planted k or one next to it, part", float(np.mean(near)), at_least=LEAST_NEAR)
    report.floor("tables without clusters, 1 found, part", float(np.mean(one)), at_least=LEAST_ONE)
    return report.finish()


def planted(seed: int, index: int, layout: str = LAYOUTS[0]) -> Planted:
    """Return one of the tables of a seed."""
    generator = np.random.default_rng([seed, index])
    # Every number from 2 to 20 once in 19 tables.
    n_clusters = 2 + int(np.random.default_rng(seed).permutation(N_TABLES)[index % N_TABLES]) % (MOST_CLUSTERS - 1)
    n_features, n_rows, kind = int(generator.choice(COLUMNS)), int(generator.choice(ROWS)), KINDS[index % len(KINDS)]
    apart = float(generator.uniform(*APART))
    centers = lay_out(generator, n_clusters, n_features, apart)
    if layout == "tight":
        centers *= apart / _gaps(centers).min()
    sizes = np.full(n_clusters, 1 / n_clusters) if kind != KINDS[1] else generator.dirichlet(np.full(n_clusters, EVENNESS))
    spreads = np.ones(n_clusters) if kind != KINDS[2] else generator.uniform(*SPREADS, n_clusters)
    labels = generator.choice(n_clusters, size=n_rows, p=sizes)
    rows = centers[labels] + spreads[labels][:, None] * generator.standard_normal((n_rows, n_features))
    words = f"{kind}, {n_rows:,} x {n_features}, nearest {_gaps(centers).min():.1f} apart"
    return Planted(words, rows, centers)


def best_silhouette(rows: Array) -> int:
    """Return the number of clusters with the largest silhouette, by scikit-learn's KMeans on some of the rows."""
    some = rows[:YARDSTICK_ROWS]
    labels = {k: Reference(k, n_init=5, random_state=0).fit(some).labels_ for k in YARDSTICK_NUMBERS}
    return max(labels, key=lambda k: silhouette_score(some, labels[k]))


def nearest(places: Array, centers: Array) -> np.ndarray[Any, np.dtype[np.intp]]:
    """Return the index of the centre that is nearest to each place."""
    return np.asarray(np.argmin(cdist(places, centers), axis=1))


def _gaps(centers: Array) -> Array:
    """Return the distance of each centre from the nearest other one."""
    distances = cdist(centers, centers)
    np.fill_diagonal(distances, np.inf)
    return np.asarray(distances.min(axis=1))


def _planted_tables(
    report: Report,
    tables: Sequence[tuple[int, int]],
    layout: str,
    cuts: Stability,
    fits: Stability,
    yardstick: Callable[[Array], int] | None,
) -> dict[str, list[bool]]:
    """Print what is found where clusters were planted, and return on which tables it is the planted number."""
    names = ["PointSynopsis", 'KMeans("auto")', *([YARDSTICK] if yardstick else [])]
    report.head("seed", "planted table", "planted k", *names)
    found: dict[str, list[bool]] = {name: [] for name in names}
    for seed, index in tables:
        table = planted(seed, index, layout)
        k = table.n_clusters
        given: dict[str, Any] = {"epsilon": EPSILON, "bounds": bounds_of(table.rows)}
        synopsis, choices = _choose(table.rows, given, index)
        words = [_words(choice.best, choice.as_good, k) for choice in choices.values()]
        best = {name: choice.best for name, choice in choices.items()}
        if yardstick:
            best[YARDSTICK] = yardstick(table.rows)
            words.append(_words(best[YARDSTICK], (), k))
        for name in names:
            found[name].append(best[name] == k)
        report.row(seed, table.words, k, *words, seed=seed, table=table.words, planted=k, best=best)
        cuts.add(synopsis.cut(k, random_state=0), synopsis.cut(k + 1, random_state=0), table.centers)
        right, one_more = (KMeans(n, **given, random_state=index).fit(table.rows).release_ for n in (k, k + 1))
        fits.add(right, one_more, table.centers)
    return found


def _other_tables(
    report: Report, seeds: Sequence[int], makers: Mapping[str, Callable[[np.random.Generator], Table]], *, off: int
) -> list[bool]:
    """Print what is found on other tables, and return whether the number is off by no more than so many."""
    report.head("seed", "table", "planted k", "PointSynopsis", 'KMeans("auto")')
    near = []
    for seed in seeds:
        for name, make in makers.items():
            table = make(np.random.default_rng([seed, *name.encode()]))
            k, given = table.n_clusters, {"epsilon": EPSILON, "bounds": table.bounds}
            best = {one: choice.best for one, choice in _choose(table.rows, given, seed)[1].items()}
            near += [abs(one - k) <= off for one in best.values()]
            report.row(seed, name, k, *(_words(one, (), k) for one in best.values()), seed=seed, table=name, best=best)
    return near


def _choose(rows: Any, given: Mapping[str, Any], seed: int) -> tuple[Synopsis, dict[str, KChoice]]:
    synopsis = PointSynopsis(**given, random_state=seed).fit(rows).synopsis_
    automatic = KMeans("auto", **given, random_state=seed + 1000).fit(rows)
    return synopsis, {"PointSynopsis": synopsis.choose_k(random_state=seed), 'KMeans("auto")': automatic.choice_}


def _words(best: int, as_good: Sequence[int], wanted: int) -> str:
    """Return the number found, and the others that are as good; in bold where it is not the planted one."""
    others = [str(count) for count in as_good if count != best]
    return (str(best) if best == wanted else f"**{best}**") + (f" ({', '.join(others)})" if others else "")


if __name__ == "__main__":
    sys.exit(main())
