# SPDX-License-Identifier: Apache-2.0
"""One PointSynopsis cut at every k beside a fit of KMeans for each: ``python -m benchmarks.every_k [--data DIR] [NAMES]``.

The synopsis has as many points as its own rule gives it for up to 30 clusters. It is fitted once for each repeat and cut at k =
2, 4, 8 and 16; beside it KMeans is fitted for each k, every time with the whole epsilon. Figures are losses of the cuts over
those of the fits, geometric means over the repeats. Bounds are the range of each column and a tenth of it to each side, taken
as public. Tables from files need --data; those that are missing are named and left out.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cloister import KMeans, PointSynopsis, Release

from ._arrays import Array
from ._data import DataSet, read_file
from ._generate import clusters, scale
from ._harness import Report, check_names
from ._sources import find_file
from ._stats import geometric_mean

NUMBERS = (2, 4, 8, 16)
EPSILONS = (0.5, 2.0)
MAX_CLUSTERS = 30
MOST_LOST = 1.02  # geometric mean of the losses
ENOUGH_TABLES = 10
PAD = 0.1  # of the range of a column, to each side
Maker = Callable[[np.random.Generator], Array]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help=f"some of {', '.join(NAMES)}; all of them if left out")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--numbers", type=int, nargs="+", default=list(NUMBERS), metavar="K")
    parser.add_argument("--epsilons", type=float, nargs="+", default=list(EPSILONS))
    parser.add_argument("--data", metavar="DIR", help="folder with the files, or set CLOISTER_DATA")
    options = parser.parse_args(arguments)
    check_names(parser, "names", options.names, NAMES)
    report = Report("every_k", repeats=options.repeats, numbers=options.numbers, epsilons=options.epsilons)
    tables = list(available(report, options.names or NAMES, options.data))
    report.head("table", "rows x columns", "epsilon", "points", *(f"k = {k}" for k in options.numbers))
    ratios: list[float] = []
    asked = Asked()
    for name in tables:
        rows = make(name, options.data)
        for epsilon in options.epsilons:
            ratios += compare(report, name, rows, options.numbers, epsilon=epsilon, repeats=options.repeats, asked=asked)
    if ratios:
        asked.report(report)
        _hold_to_bars(report, ratios, whole=not options.names and len(tables) >= ENOUGH_TABLES)
    return report.finish()


class Asked:
    """What receipts list: events of the synopses, of all that was cut from them, and of the fits they stand in for."""

    def __init__(self) -> None:
        self.by_synopses = self.by_cuts = self.by_fits = self.n_synopses = self.n_cuts = 0

    def add(self, synopsis: PointSynopsis, cuts: Sequence[Release], fits: Sequence[Release]) -> None:
        """Count the events of a synopsis, those that its cuts list besides, and those of the fits."""
        events = synopsis.privacy_receipt_.events
        self.n_synopses += 1
        self.n_cuts += len(cuts)
        self.by_synopses += len(events)
        self.by_cuts += sum(len(one.receipt.events) - len(events) for one in cuts if one.receipt != synopsis.privacy_receipt_)
        self.by_cuts += len(synopsis.synopsis_.receipt.events) - len(events)
        self.by_fits += sum(len(one.receipt.events) for one in fits)

    def report(self, report: Report) -> None:
        """Say how many events there were."""
        report.line(
            f"\n   {self.n_synopses} synopses cut {self.n_cuts} times: {self.by_synopses} events; fits instead: {self.by_fits}",
            n_synopses=self.n_synopses,
            n_cuts=self.n_cuts,
            events=self.by_synopses,
            events_of_fits=self.by_fits,
        )
        report.floor("events that cuts add to the receipt of a synopsis", self.by_cuts, at_most=0)


def available(report: Report, names: Sequence[str], folder: str | None) -> Sequence[str]:
    """Return the tables that can be had; the others are named."""
    missing = [name for name in names if name in FILES and name not in GENERATED and find_file(name, folder) is None]
    if missing:
        report.line(
            f"   left out: {', '.join(f'{name}.npz' for name in missing)}, not in the folder of --data", missing=missing
        )
    return [name for name in names if name not in missing]


def make(name: str, folder: str | None = None) -> Array:
    """Return the rows of a table."""
    place = find_file(name, folder) if name in FILES else None
    return read_file(place) if place is not None else GENERATED[name](np.random.default_rng([*name.encode()]))


def compare(
    report: Report, name: str, rows: Array, numbers: Sequence[int], *, epsilon: float, repeats: int, asked: Asked
) -> list[float]:
    """Print a line, and return the ratio of losses for each number of clusters."""
    low, high = rows.min(axis=0), rows.max(axis=0)
    given: dict[str, Any] = {"epsilon": epsilon, "bounds": (low - PAD * (high - low), high + PAD * (high - low))}
    data: DataSet | None = None
    cut_losses: list[list[float]] = []
    fit_losses: list[list[float]] = []
    n_points = 0
    for seed in range(repeats):
        synopsis = PointSynopsis(max_clusters=MAX_CLUSTERS, **given, random_state=seed).fit(rows)
        n_points = synopsis.synopsis_.n_points
        cuts = [synopsis.synopsis_.cut(k, random_state=seed) for k in numbers]
        fits = [KMeans(k, **given, random_state=seed).fit(rows).release_ for k in numbers]
        data = DataSet(name, cuts[0].frame.clean(rows), max(numbers)) if data is None else data
        cut_losses.append([_loss(data, one) for one in cuts])
        fit_losses.append([_loss(data, one) for one in fits])
        asked.add(synopsis, cuts, fits)
    ratios = np.exp(np.mean(np.log(cut_losses) - np.log(fit_losses), axis=0)).tolist()
    shape = f"{rows.shape[0]:,} x {rows.shape[1]}"
    cells = [f"{ratio:.3f}" for ratio in ratios]
    report.row(name, shape, f"{epsilon:g}", n_points, *cells, name=name, epsilon=epsilon, n_points=n_points, ratios=ratios)
    return list(map(float, ratios))


def _loss(data: DataSet, release: Release) -> float:
    return data.loss(release.frame.to_unit(release.cluster_centers))


def _hold_to_bars(report: Report, ratios: Sequence[float], *, whole: bool) -> None:
    mean = geometric_mean(ratios)
    report.line(f"   worst of {len(ratios)}: {max(ratios):.3f}; best: {min(ratios):.3f}", worst=max(ratios), best=min(ratios))
    if whole:
        report.floor("geometric mean of the loss of a cut over that of a fit", mean, at_most=MOST_LOST)
    else:
        report.line(f"   geometric mean {mean:.4f}", mean=mean)


# -- tables of at least 10,000 rows --------------------------------------------------------------------------------------


def _blobs(n_rows: int, n_features: int, n_clusters: int, reach: float) -> Maker:
    """Return clusters of unit spread, their centres anywhere within a reach."""

    def rows(generator: np.random.Generator) -> Array:
        centers = generator.uniform(-reach, reach, (n_clusters, n_features))
        return np.asarray(
            centers[generator.integers(n_clusters, size=n_rows)] + generator.standard_normal((n_rows, n_features))
        )

    return rows


def _ring(generator: np.random.Generator) -> Array:
    angles, radii = generator.uniform(0, 2 * np.pi, 12_000), 1 + 0.1 * generator.standard_normal(12_000)
    return np.stack([radii * np.cos(angles), radii * np.sin(angles)], axis=1)


GENERATED: dict[str, Maker] = {
    "blobs": _blobs(20_000, 6, 20, 8.0),
    "overlapping": _blobs(15_000, 4, 8, 3.0),
    "unequal": lambda generator: clusters(generator, [300 * size for size in range(1, 11)], 5),
    "normal": lambda generator: generator.standard_normal((12_000, 8)),
    "uniform": lambda generator: generator.uniform(size=(12_000, 3)),
    "lognormal": lambda generator: generator.lognormal(sigma=0.7, size=(15_000, 3)),
    "ring": _ring,
    "scale_16_16": lambda generator: scale(generator, 16, 16),
}
FILES = ("letter", "gas_turbine", "superconductivity", "birch2", "scale_16_16", "adult")
NAMES = tuple(dict.fromkeys([*GENERATED, *FILES]))


if __name__ == "__main__":
    sys.exit(main())
