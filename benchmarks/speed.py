# SPDX-License-Identifier: Apache-2.0
"""PEMeans beside a direct transcription of the paper, and its cost against the rows: ``python -m benchmarks.speed``."""

import argparse
import sys
import time

import numpy as np
from joblib import Parallel, delayed
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from benchmarks._data import DataSet, load
from benchmarks._harness import Report, side_by_side
from benchmarks._transcription import pe_means
from cloister import Ball, PEMeans


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--repeats", type=int, default=8)
    options = parser.parse_args(arguments)
    return _transcription(options.repeats) | _rows(options.rows)


def _transcription(repeats: int) -> int:
    report = Report("speed-transcription", data="sklearn_64_16", epsilon=1.0, repeats=repeats)
    data = load("sklearn_64_16")
    best = side_by_side(
        {"library": lambda: _library(data, epsilon=1.0), "transcription": lambda: pe_means(data, epsilon=1.0, seed=0)},
        repeats=2,
    )
    report.line(f"   seconds {best}", seconds=best)
    report.floor("times faster than the transcription", best["transcription"] / best["library"], at_least=3)
    ours = Parallel(2)(delayed(_library_loss)(data, seed) for seed in range(repeats))
    theirs = Parallel(2)(delayed(_transcription_loss)(data, seed) for seed in range(repeats))
    report.line(
        f"   loss {np.mean(ours):.4f}, transcription {np.mean(theirs):.4f}, standard error of each about "
        f"{np.std(theirs) / repeats**0.5:.4f}",
        losses={"library": ours, "transcription": theirs},
    )
    report.floor("loss over the transcription's", float(np.mean(ours) / np.mean(theirs)), at_most=1.05)
    return report.finish()


def _library_loss(data: DataSet, seed: int) -> float:
    return data.loss(_library(data, epsilon=1.0, seed=seed, n_jobs=1).cluster_centers_)


def _transcription_loss(data: DataSet, seed: int) -> float:
    return data.loss(pe_means(data, epsilon=1.0, seed=seed))


def _rows(counts: list[int]) -> int:
    report = Report("speed-rows", features=8, clusters=16, epsilon=1.0)
    seconds: dict[int, float] = {}
    for count in counts:
        rows = make_blobs(n_samples=count, n_features=8, centers=16, random_state=1)[0]
        rows -= rows.mean(axis=0)
        rows /= np.linalg.norm(rows, axis=1).max()
        data = DataSet(f"blobs_{count}", rows, 16)
        start = time.perf_counter()
        model = _library(data, epsilon=1.0)
        seconds[count] = time.perf_counter() - start
        limit = data.loss(KMeans(16, n_init=3, random_state=0).fit(rows[:20_000]).cluster_centers_)
        loss = data.loss(model.cluster_centers_)
        report.line(
            f"   {count:>9,d} rows: {seconds[count]:7.2f} s, {seconds[count] / count * 1e6:6.2f} us a row, "
            f"loss / k-means {loss / limit:.3f}",
            rows=count,
            seconds=seconds[count],
            loss=loss,
            limit=limit,
        )
    first, last = counts[-2], counts[-1]
    growth = np.log(seconds[last] / seconds[first]) / np.log(last / first)
    report.floor(f"exponent of the cost in the rows, {first:,} to {last:,}", float(growth), at_most=1.1)
    return report.finish()


def _library(data: DataSet, *, epsilon: float, seed: int | None = None, n_jobs: int | None = None) -> PEMeans:
    model = PEMeans(
        data.n_clusters,
        epsilon=epsilon,
        delta=data.delta,
        bounds=Ball(1.0),
        n_rows=len(data.rows),
        random_state=seed,
        n_jobs=n_jobs,
    )
    return model.fit(data.rows)


if __name__ == "__main__":
    sys.exit(main())
