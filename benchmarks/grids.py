# SPDX-License-Identifier: Apache-2.0
"""Table II of the RUGNIK paper on own data, as a CSV and a plot: ``python -m benchmarks.grids --repeats 200``.

Data: K Gaussian clusters of N/K rows in [-1, 1]^d with a separation in [0.16, 0.26], ten tables per configuration. Figure: sum
of squared distances to the nearest centre, divided by K, mean over the repeats. diffprivlib joins if it is installed.
"""

import argparse
import csv
import importlib.util
import itertools
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.cluster import KMeans

from benchmarks._data import Array
from benchmarks._generate import clusters
from benchmarks._harness import RESULTS, Report, side_by_side
from cloister import Box, GridKMeans
from cloister.data import open_rows
from cloister.questions import GridCounts

CLUSTERS, ROWS_PER_CLUSTER, FEATURES = (2, 4, 8), (50, 100, 200), (2, 3)
EPSILONS = (0.1, 0.15, 0.25, 0.4, 0.6, 1.0)
TABLES = 10


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--counts", default="nonnegative-total")
    parser.add_argument("--representatives", default="center")
    options = parser.parse_args(arguments)
    return _table(options) | _speed()


def _table(options: argparse.Namespace) -> int:
    report = Report("grids", repeats=options.repeats, counts=options.counts, representatives=options.representatives)
    methods: dict[str, Callable[[Array, int, float, int], Array]] = {
        rule: _Grid(rule, options.counts, options.representatives) for rule in ("eugkm", "rugnik")
    }
    if importlib.util.find_spec("diffprivlib"):
        methods["diffprivlib"] = _diffprivlib
    configurations = [(d, k, q) for d in FEATURES for k in CLUSTERS for q in ROWS_PER_CLUSTER]
    started = time.perf_counter()
    rows: list[dict[str, Any]] = []
    work = (delayed(_losses)(methods, configuration, options.repeats) for configuration in configurations)
    for done, part in enumerate(Parallel(options.jobs, return_as="generator")(work), 1):
        rows += part
        left = (time.perf_counter() - started) / done * (len(configurations) - done)
        print(f"   {done}/{len(configurations)} configurations, about {left:.0f} s left", file=sys.stderr, flush=True)
    _write(options.output, rows)
    _judge(report, rows)
    _plot(options.output / "grids.svg", rows)
    return report.finish()


class _Grid:
    def __init__(self, rule: str, counts: str, representatives: str) -> None:
        self.rule, self.counts, self.representatives = rule, counts, representatives

    def __call__(self, rows: Array, k: int, epsilon: float, seed: int) -> Array:
        model = GridKMeans(
            k,
            epsilon=epsilon,
            bounds=(-1, 1),
            n_rows=len(rows),
            rule=self.rule,
            counts=self.counts,
            representatives=self.representatives,
            random_state=seed,
            n_jobs=1,
        )
        return model.fit(rows).cluster_centers_


def _diffprivlib(rows: Array, k: int, epsilon: float, seed: int) -> Array:
    from diffprivlib.models import KMeans as Rival

    bounds = (np.full(rows.shape[1], -1.0), np.full(rows.shape[1], 1.0))
    return np.asarray(Rival(k, epsilon=epsilon, bounds=bounds, random_state=seed).fit(rows).cluster_centers_)


def _losses(
    methods: dict[str, Callable[[Array, int, float, int], Array]], configuration: tuple[int, int, int], repeats: int
) -> list[dict[str, Any]]:
    d, k, per_cluster = configuration
    tables = [clusters(np.random.default_rng([d, k, per_cluster, one]), [per_cluster] * k, d) for one in range(TABLES)]
    limits = [_loss(table, KMeans(k, n_init=10, random_state=0).fit(table).cluster_centers_) for table in tables]
    lines = []
    for epsilon, (name, method) in itertools.product(EPSILONS, methods.items()):
        values = [_loss(tables[seed % TABLES], method(tables[seed % TABLES], k, epsilon, seed)) for seed in range(repeats)]
        lines.append(
            {
                "d": d,
                "k": k,
                "n": k * per_cluster,
                "epsilon": epsilon,
                "method": name,
                "wcss": float(np.mean(values)),
                "standard_error": float(np.std(values) / repeats**0.5),
                "limit": float(np.mean(limits)),
            }
        )
    return lines


def _loss(rows: Array, centers: Array) -> float:
    squares = np.min(((rows[:, None, :] - centers) ** 2).sum(axis=2), axis=1)
    return float(squares.sum() / len(centers))


def _write(folder: Path, rows: list[dict[str, Any]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "grids.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def _judge(report: Report, rows: list[dict[str, Any]]) -> None:
    cell = {(line["d"], line["k"], line["n"], line["epsilon"], line["method"]): line["wcss"] for line in rows}
    keys = [key[:4] for key in cell if key[4] == "rugnik"]
    ratios = {key: cell[(*key, "rugnik")] / cell[(*key, "eugkm")] for key in keys}
    wins = [key for key, ratio in ratios.items() if ratio > 1]
    report.line(
        f"   EUGkM wins in {len(wins)} of {len(keys)}: " + "; ".join(f"{key} {ratios[key]:.2f}" for key in wins), wins=wins
    )
    report.floor("geometric mean RUGNIK / EUGkM", float(np.exp(np.mean(np.log(list(ratios.values()))))), at_most=0.80)
    tight = max(ratio for key, ratio in ratios.items() if key[3] <= 0.25)
    report.floor("largest RUGNIK / EUGkM at epsilon <= 0.25", tight, at_most=1.05)


def _plot(path: Path, rows: list[dict[str, Any]]) -> None:
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    styles = {"eugkm": ("s", "--"), "rugnik": ("o", "-"), "diffprivlib": ("^", ":")}
    figure, axes = pyplot.subplots(len(FEATURES), len(CLUSTERS), figsize=(11, 6), sharex=True, squeeze=False)
    for row, d in enumerate(FEATURES):
        for column, k in enumerate(CLUSTERS):
            axis = axes[row][column]
            mine = [line for line in rows if line["d"] == d and line["k"] == k and line["n"] == k * ROWS_PER_CLUSTER[1]]
            for name in dict.fromkeys(line["method"] for line in mine):
                marker, style = styles[name]
                points = [line for line in mine if line["method"] == name]
                axis.errorbar(
                    [line["epsilon"] for line in points],
                    [line["wcss"] for line in points],
                    [2 * line["standard_error"] for line in points],
                    marker=marker,
                    linestyle=style,
                    label={"eugkm": "EUGkM", "rugnik": "RUGNIK"}.get(name, name),
                )
            axis.axhline(mine[0]["limit"], color="grey", linewidth=0.8, label="not private")
            axis.set(title=f"d = {d}, K = {k}, N = {mine[0]['n']}", xscale="log", yscale="log")
    axes[0][0].legend(frameon=False)
    figure.supxlabel("epsilon")
    figure.supylabel("WCSS / K")
    figure.tight_layout()
    figure.savefig(path)
    pyplot.close(figure)


def _speed() -> int:
    report = Report("grids-speed", rows=1_000_000, features=3)
    rows = np.random.default_rng(0).random((1_000_000, 3))
    frame = Box(0, 1).spread(3).frame()
    assert frame.half_widths is not None
    for cells in (10, 40):
        question = GridCounts(half_widths=frame.half_widths, cells=(cells,) * 3)
        source = open_rows(rows, n_jobs=1)
        best = side_by_side(
            {
                "cloister": lambda source=source, question=question: source.fold(
                    lambda block: question.exact(frame.clean(block))
                ),
                "histogramdd": lambda cells=cells: np.histogramdd(rows, bins=cells, range=[(0, 1)] * 3),
            }
        )
        report.line(f"   {cells}^3 cells, one thread: {best}", seconds=best)
        report.floor(f"{cells}^3 cells: times the speed of histogramdd", best["histogramdd"] / best["cloister"], at_least=0.5)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
