# SPDX-License-Identifier: Apache-2.0
"""CPU seconds of a fit of KMeans beside scikit-learn's KMeans(n_init=1): ``python -m benchmarks.fit_speed``.

Both run on one thread, in turns, several times from other starts: scikit-learn's time depends on how lucky a start is, so every
start counts. Beside the seconds stands the ratio of the losses. A smaller table compares KMeans with PEMeans. With
``--profile`` nothing is compared: one fit of each size is taken apart by step and by kind of work.
"""

import argparse
import gc
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.cluster import KMeans as Reference
from threadpoolctl import threadpool_limits

from cloister import Ball, KMeans, PEMeans

from ._arrays import Array
from ._data import DataSet, load
from ._harness import Report, side_by_side
from ._profile import profiled

Size = tuple[int, int, int]  # rows, columns, clusters
SIZES: dict[Size, float] = {  # and how much of scikit-learn's time a fit may take
    (100_000, 8, 16): 2.0,
    (1_000_000, 8, 32): 0.5,
    (1_000_000, 16, 64): 0.25,
    (10_000_000, 16, 32): 0.15,
}
EPSILON = 1.0
BLOCK = 1 << 16  # rows made at a time


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=_size, nargs="+", default=list(SIZES), metavar="N,D,K", help="rows, columns, clusters")
    parser.add_argument("--repeats", type=int, default=5, help="starts of each")
    parser.add_argument("--profile", action="store_true", help="seconds by step and kind of work, instead of comparing")
    options = parser.parse_args(arguments)
    report = Report("fit_speed", epsilon=EPSILON, repeats=options.repeats, profile=options.profile)
    with threadpool_limits(1):
        if not options.profile:
            _beside_pe_means(report, options.repeats)
        for size in options.sizes:
            data = make(*size)
            if options.profile:
                _profile(report, data)
            else:
                _beside_scikit_learn(report, data, options.repeats, bar=SIZES.get(size))
            del data
            gc.collect()
    return report.finish()


def make(n_rows: int, n_features: int, n_clusters: int) -> DataSet:
    """Return blobs like those of scikit-learn, centred and scaled to the unit ball; made in blocks, to hold them once."""
    generator = np.random.default_rng([n_rows, n_features, n_clusters])
    middles = generator.uniform(-10, 10, (n_clusters, n_features))
    rows: Array = np.empty((n_rows, n_features))
    blocks = [rows[start : start + BLOCK] for start in range(0, n_rows, BLOCK)]
    for block in blocks:
        generator.standard_normal(out=block)
        block += middles[generator.integers(n_clusters, size=len(block))]
    rows -= rows.mean(axis=0)
    rows /= max(np.linalg.norm(block, axis=1).max() for block in blocks)
    return DataSet(f"{n_rows:,} x {n_features}, k {n_clusters}", rows, n_clusters)


def _size(text: str) -> Size:
    n_rows, n_features, n_clusters = (int(float(part)) for part in text.split(","))
    return n_rows, n_features, n_clusters


def _fit(data: DataSet, seed: int) -> KMeans:
    return KMeans(data.n_clusters, **_given(data), random_state=seed).fit(data.rows)


def _given(data: DataSet) -> dict[str, Any]:
    return {"epsilon": EPSILON, "delta": data.delta, "bounds": Ball(1.0), "n_rows": len(data.rows), "n_jobs": 1}


def _beside_scikit_learn(report: Report, data: DataSet, repeats: int, *, bar: float | None) -> None:
    contenders: dict[str, Callable[[int], Any]] = {
        "KMeans": lambda seed: _fit(data, seed),
        "scikit-learn": lambda seed: Reference(data.n_clusters, n_init=1, random_state=seed).fit(data.rows),
    }
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    losses: dict[str, list[float]] = {name: [] for name in contenders}
    for seed in range(repeats):
        for name, fit in contenders.items():
            start = time.process_time()
            model = fit(seed)
            seconds[name].append(time.process_time() - start)
            losses[name].append(data.loss(model.cluster_centers_))
    for name, each in seconds.items():
        listed = ", ".join(f"{one:.2f}" for one in each)
        text = f"   {data.name}: {name} {np.mean(each):.2f} s of CPU ({listed}), loss {np.mean(losses[name]):.6g}"
        report.line(text, size=data.name, name=name, seconds=each, losses=losses[name])
    ratio = np.mean(losses["KMeans"]) / np.mean(losses["scikit-learn"])
    best = np.min(losses["scikit-learn"])
    report.line(
        f"   {data.name}: loss {ratio:.4f} of scikit-learn's mean, {np.mean(losses['KMeans']) / best:.4f} of its best start",
        size=data.name,
        loss_ratio=ratio,
    )
    spent = float(np.mean(seconds["KMeans"]) / np.mean(seconds["scikit-learn"]))
    if bar is None:
        report.line(f"   {data.name}: {spent:.4g} of scikit-learn's time", size=data.name, time_ratio=spent)
    else:
        report.floor(f"{data.name}: time over scikit-learn's", spent, at_most=bar)


def _beside_pe_means(report: Report, repeats: int) -> None:
    data = load("sklearn_64_16")
    given = _given(data)
    times = side_by_side(
        {
            "KMeans": lambda: KMeans(data.n_clusters, **given).fit(data.rows),
            "PEMeans": lambda: PEMeans(data.n_clusters, **given).fit(data.rows),
        },
        repeats=repeats,
        clock=time.process_time,
    )
    report.line(f"   20,000 x 16, k 64: KMeans {times['KMeans']:.3f} s of CPU, PEMeans {times['PEMeans']:.3f} s", **times)
    report.floor("PEMeans over KMeans", times["PEMeans"] / times["KMeans"], at_least=3.0)


def _profile(report: Report, data: DataSet) -> None:
    _fit(DataSet(data.name, data.rows[:1000], data.n_clusters), 0)  # imports and first calls
    with profiled() as profile:
        _fit(data, 0)
    report.line(f"   {data.name}: {profile.total:.3f} s of CPU", size=data.name, seconds=profile.seconds)
    print("\n".join(profile.lines()), flush=True)


if __name__ == "__main__":
    sys.exit(main())
