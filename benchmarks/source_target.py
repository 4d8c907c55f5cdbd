# SPDX-License-Identifier: Apache-2.0
"""Source-target clustering, Figure 3 and the appendix pairs: ``python -m benchmarks.source_target --runs 30``.

Cost: mean distance of a target point to its nearest centre among the true source and the chosen points; the algorithms see only
the sanitised source. Methods: the target alone, NNA, NAS, 100 private centres of the source by PEMeans, 100 samples of a
DP-GAN (with the extra ``gan``), and the limit that is not private. Points are scaled into the unit ball here (norm at most 1/2
in the paper; costs are given in the paper's unit).
"""

import argparse
import csv
import importlib.util
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.spatial import cKDTree

from benchmarks._data import Array
from benchmarks._harness import RESULTS, Report, side_by_side
from cloister import ZCDP, Ball, PEMeans, PureDP, SourceTargetKMedoids
from cloister.algorithms import choose_medoids
from cloister.cluster._target import all_pairs

CLUSTERS = (5, 10, 20, 30, 50)
LABELS = {
    "alone": "target only",
    "nna": "NNA",
    "nna-paper": "NNA, paper's noise",
    "nas": "NAS",
    "pe": "private k-means",
    "dp-gan": "DP-GAN",
    "limit": "not private",
}
ABSENT = [name for name in ("opacus", "torch") if importlib.util.find_spec(name) is None]
METHODS = [method for method in LABELS if method != "dp-gan" or not ABSENT]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=["synthetic1", "synthetic2", "synthetic3"])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--clusters", type=int, nargs="+", default=list(CLUSTERS))
    parser.add_argument("--data", help="folder with the real data sets; CLOISTER_DATA by default")
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--solver", action="store_true", help="only compare the solver with kmedoids.fasterpam")
    options = parser.parse_args(arguments)
    return _solver() if options.solver else _figure(options)


def _figure(options: argparse.Namespace) -> int:
    report = Report("source-target", runs=options.runs, names=options.names)
    if ABSENT:
        print(f"   dp-gan is left out: no {' and no '.join(ABSENT)} here. Install cloister[gan].")
    guarantees = {"epsilon = 3": PureDP(3.0), "rho = 3": ZCDP(3.0)}
    rows: list[dict[str, Any]] = []
    for name in options.names:
        source, target = load_pair(name, options.data, 0)
        work = [(label, guarantee, run) for label, guarantee in guarantees.items() for run in range(options.runs)]
        started = time.perf_counter()
        parts = Parallel(options.jobs)(
            delayed(_run)(*load_pair(name, options.data, run), guarantee, options.clusters, run) for _, guarantee, run in work
        )
        print(
            f"   {name}: {len(source)} source, {len(target)} target points, {time.perf_counter() - started:.0f} s", flush=True
        )
        for label in guarantees:
            mine = [part for part, (one, _, _) in zip(parts, work, strict=True) if one == label]
            rows += _summarise(name, label, mine, options.clusters)
    _write(options.output, rows)
    _print(report, rows, options.clusters)
    _plot(options.output / "source-target.svg", rows)
    return report.finish()


def _run(source: Array, target: Array, guarantee: Any, clusters: list[int], run: int) -> dict[tuple[str, int], float]:
    tree = cKDTree(source)
    true_caps = tree.query(target)[0]
    pairs = all_pairs(target, "euclidean")
    costs = {}

    def cost(chosen: Any) -> float:
        return float(np.mean(np.minimum(pairs[chosen].min(axis=0), true_caps)) / 2)

    def solve(caps: Any, k: int) -> float:
        return cost(choose_medoids(pairs, k, generator=np.random.default_rng(run), caps=caps, restarts=2).indices)

    epsilon = guarantee.epsilon if isinstance(guarantee, PureDP) else (guarantee.rho * 2) ** 0.5
    private = PEMeans(100, guarantee=PureDP(epsilon), bounds=Ball(1.0), n_rows=len(source), random_state=run, n_jobs=1)
    centers = private.fit(source).cluster_centers_
    stand_ins = {"pe": cKDTree(centers).query(target)[0]}
    if "dp-gan" in METHODS:
        from benchmarks._dpgan import draw_source

        stand_ins["dp-gan"] = cKDTree(draw_source(source, guarantee, size=100, seed=run)).query(target)[0]
    for k in clusters:
        costs["alone", k] = solve(None, k)
        costs["limit", k] = solve(true_caps, k)
        for label, caps in stand_ins.items():
            costs[label, k] = solve(caps, k)
        for label, settings in {
            "nna": {"method": "nna"},
            "nna-paper": {"method": "nna", "calibration": "paper"},
            "nas": {"method": "nas"},
        }.items():
            model = SourceTargetKMedoids(
                k, guarantee=guarantee, bounds=Ball(1.0), n_rows=len(source), random_state=run, n_jobs=1, n_init=2, **settings
            )
            costs[label, k] = cost(model.fit(target, source=source).medoid_indices_)
    return costs


def load_pair(name: str, folder: str | None, run: int) -> tuple[Array, Array]:
    """Return source and target, scaled together into the unit ball, in at most 8 dimensions; synthetic ones anew each run."""
    generator = np.random.default_rng(run)
    if name.startswith("synthetic"):
        source, target = SYNTHETIC[name](generator)
    else:
        source, target = _real(name, folder)
    if source.shape[1] > 8:
        projection = generator.standard_normal((source.shape[1], 8)) / 8**0.5
        source, target = source @ projection, target @ projection
    both = np.vstack([source, target])
    center = (both.max(axis=0) + both.min(axis=0)) / 2
    scale = np.linalg.norm(both - center, axis=1).max()
    return (source - center) / scale, (target - center) / scale


def _synthetic1(generator: np.random.Generator) -> tuple[Array, Array]:
    return generator.normal(0.15, 0.4**0.5, (1000, 2)), generator.normal(0.95, 0.4**0.5, (1000, 2))


def _synthetic2(generator: np.random.Generator) -> tuple[Array, Array]:
    grid = np.array([[x, y] for x in range(3) for y in range(3)]) * 0.1
    top = np.vstack([grid + np.array([0.1, 0.7]), grid + np.array([0.6, 0.7])])
    left, right = grid + np.array([0.1, 0.1]), grid + np.array([0.6, 0.1])
    return _blobs(generator, np.vstack([top, right]), 0.01, 100), _blobs(generator, np.vstack([left, right]), 0.01, 50)


def _synthetic3(generator: np.random.Generator) -> tuple[Array, Array]:
    return _blobs(generator, generator.random((6, 2)), 0.03, 200), _blobs(generator, generator.random((12, 2)), 0.01, 80)


SYNTHETIC = {"synthetic1": _synthetic1, "synthetic2": _synthetic2, "synthetic3": _synthetic3}


def _blobs(generator: np.random.Generator, means: Array, deviation: float, size: int) -> Array:
    return np.asarray(np.repeat(means, size, axis=0) + generator.normal(0, deviation, (len(means) * size, means.shape[1])))


def _real(name: str, folder: str | None) -> tuple[Array, Array]:
    """Read ``mnist:1:7``, ``superconductivity:3:2`` or ``office:0:1`` (source:target)."""
    files = {
        "mnist": ("mnist_lenet84", "y"),
        "superconductivity": ("superconductivity", "domain"),
        "office": ("office10_googlenet_rp64", "domain"),
    }
    kind, source, target = name.split(":")
    place = Path(folder or os.environ.get("CLOISTER_DATA", "")) / f"{files[kind][0]}.npz"
    if not place.is_file():
        raise SystemExit(f"{name}: {place.name} is missing. Pass --data DIR or set CLOISTER_DATA to the folder that holds it.")
    stored = np.load(place)
    rows, labels = stored["X"].astype(np.float64), stored[files[kind][1]]
    rows = (rows - rows.mean(axis=0)) / np.maximum(rows.std(axis=0), 1e-9) if kind == "superconductivity" else rows
    generator = np.random.default_rng(1)
    parts = [rows[labels == int(one)] for one in (source, target)]
    return parts[0], parts[1][generator.permutation(len(parts[1]))[:2000]]


def _summarise(name: str, label: str, parts: list[dict[tuple[str, int], float]], clusters: list[int]) -> list[dict[str, Any]]:
    return [
        {
            "data": name,
            "guarantee": label,
            "method": method,
            "k": k,
            "cost": float(np.mean([part[method, k] for part in parts])),
            "standard_error": float(np.std([part[method, k] for part in parts]) / len(parts) ** 0.5),
        }
        for method in METHODS
        for k in clusters
    ]


def _write(folder: Path, rows: list[dict[str, Any]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "source-target.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def _print(report: Report, rows: list[dict[str, Any]], clusters: list[int]) -> None:
    for name, label in dict.fromkeys((row["data"], row["guarantee"]) for row in rows):
        cost = {(row["method"], row["k"]): row["cost"] for row in rows if (row["data"], row["guarantee"]) == (name, label)}
        report.line(f"   {name}, {label}: cost at k = {clusters}", data=name, guarantee=label, costs=str(cost))
        for method in METHODS:
            print(f"      {LABELS[method]:20s} " + " ".join(f"{cost[method, k]:.4f}" for k in clusters))
        if name.startswith("synthetic"):
            below = sum(cost["nna", k] < cost["alone", k] for k in clusters)
            needed = len(clusters) if label.startswith("rho") else len(clusters) // 2 + 1
            report.floor(f"{name}, {label}: k with NNA below target only", below, at_least=needed)
        else:
            ratio = float(np.mean([cost["nna", k] / cost["alone", k] for k in clusters]))
            report.floor(f"{name}, {label}: NNA over target only, mean over k", ratio, at_most=1.0)
        if name == "synthetic2" and ("nna", 10) in cost:
            report.floor(f"{name}, {label}: NNA over not private at k = 10", cost["nna", 10] / cost["limit", 10], at_most=1.15)


def _plot(path: Path, rows: list[dict[str, Any]]) -> None:
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    names, labels = list(dict.fromkeys(row["data"] for row in rows)), list(dict.fromkeys(row["guarantee"] for row in rows))
    markers = dict(zip(LABELS, "sovd^*x", strict=True))
    figure, axes = pyplot.subplots(len(labels), len(names), figsize=(4 * len(names), 3.2 * len(labels)), squeeze=False)
    for line, label in enumerate(labels):
        for column, name in enumerate(names):
            axis = axes[line][column]
            for method in METHODS:
                points = [row for row in rows if (row["data"], row["guarantee"], row["method"]) == (name, label, method)]
                errors = [2 * row["standard_error"] for row in points]
                style = {"marker": markers[method], "label": LABELS[method]}
                axis.errorbar([row["k"] for row in points], [row["cost"] for row in points], errors, **style)
            axis.set(title=f"{name}, {label}", xlabel="k", ylabel="mean distance")
    axes[0][0].legend(frameon=False, fontsize="small")
    figure.tight_layout()
    figure.savefig(path)
    pyplot.close(figure)


def _solver() -> int:
    import kmedoids

    report = Report("source-target-solver", points=5000, features=8, k=50)
    rows = np.random.default_rng(0).standard_normal((5000, 8))
    pairs = all_pairs(rows, "euclidean")
    costs: dict[str, list[float]] = {"cloister": [], "fasterpam": []}

    def ours() -> None:
        found = choose_medoids(pairs, 50, generator=np.random.default_rng(len(costs["cloister"])), restarts=2)
        costs["cloister"].append(found.cost)

    def theirs() -> None:
        found = kmedoids.fasterpam(pairs, 50, random_state=len(costs["fasterpam"]), n_cpu=1)
        costs["fasterpam"].append(float(found.loss) / len(rows))

    best = side_by_side({"cloister": ours, "fasterpam": theirs}, repeats=5)
    means = {name: float(np.mean(values)) for name, values in costs.items()}
    report.line(f"   seconds {best}   mean cost {means}", seconds=best, costs=costs)
    report.floor("cost over fasterpam's", means["cloister"] / means["fasterpam"], at_most=1.0)
    report.floor("time over fasterpam's", best["cloister"] / best["fasterpam"], at_most=3.0)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
