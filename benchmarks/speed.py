# SPDX-License-Identifier: Apache-2.0
"""PEMeans beside a direct transcription of the paper, and its cost against the rows: ``python -m benchmarks.speed``."""

import argparse
import sys
import time

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from benchmarks._data import DataSet, load
from benchmarks._harness import Report, side_by_side
from benchmarks._transcription import pe_means
from cloister import Ball, PEMeans


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--repeats", type=int, default=2)
    options = parser.parse_args(arguments)
    return _transcription(options.repeats) | _rows(options.rows)


def _transcription(repeats: int) -> int:
    report = Report("speed-transcription", data="sklearn_64_16", epsilon=1.0, repeats=repeats)
    data = load("sklearn_64_16")
    losses: dict[str, list[float]] = {"library": [], "transcription": []}
    contenders = {
        "library": lambda: losses["library"].append(data.loss(_library(data, epsilon=1.0).cluster_centers_)),
        "transcription": lambda: losses["transcription"].append(
            data.loss(pe_means(data, epsilon=1.0, seed=len(losses["transcription"])))
        ),
    }
    best = side_by_side(contenders, repeats=repeats)
    means = {name: float(np.mean(values)) for name, values in losses.items()}
    report.line(f"   seconds {best}   loss {means}", seconds=best, losses=losses)
    report.floor("times faster than the transcription", best["transcription"] / best["library"], at_least=3)
    report.floor("loss over the transcription's", means["library"] / means["transcription"], at_most=1.05)
    return report.finish()


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


def _library(data: DataSet, *, epsilon: float) -> PEMeans:
    model = PEMeans(data.n_clusters, epsilon=epsilon, delta=data.delta, bounds=Ball(1.0), n_rows=len(data.rows))
    return model.fit(data.rows)


if __name__ == "__main__":
    sys.exit(main())
