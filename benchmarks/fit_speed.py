# SPDX-License-Identifier: Apache-2.0
"""How long a fit of KMeans takes beside PEMeans and scikit-learn's KMeans: ``python -m benchmarks.fit_speed``.

All use all processors.
"""

import argparse
import sys

import numpy as np
from sklearn.cluster import KMeans as Reference

from cloister import Ball, KMeans, PEMeans

from ._data import load
from ._harness import Report, side_by_side


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="of the comparison with scikit-learn")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args(arguments)
    report = Report("fit_speed", rows=options.rows, repeats=options.repeats)
    small = load("sklearn_64_16").rows
    given = {"epsilon": 1.0, "bounds": Ball(1.0)}
    times = side_by_side(
        {
            "KMeans": lambda: KMeans(64, **given, n_rows=len(small)).fit(small),
            "PEMeans": lambda: PEMeans(64, **given, n_rows=len(small)).fit(small),
        },
        repeats=options.repeats,
    )
    report.line(f"   20,000 x 16: KMeans {times['KMeans']:.2f} s, PEMeans {times['PEMeans']:.2f} s", **times)
    report.floor("PEMeans over KMeans", times["PEMeans"] / times["KMeans"], at_least=3.0)
    large = load(f"blobs_{options.rows}_16_64").rows
    seconds: dict[str, list[float]] = {"KMeans": [], "scikit-learn": []}
    for seed in range(options.repeats):  # its time depends on how lucky a start is, so every start counts
        for name, one in side_by_side(
            {
                "KMeans": lambda: KMeans(64, **given, n_rows=len(large)).fit(large),
                "scikit-learn": lambda start=seed: Reference(64, n_init=1, random_state=start).fit(large),
            },
            repeats=1,
        ).items():
            seconds[name].append(one)
    for name, all_times in seconds.items():
        listed = ", ".join(f"{one:.2f}" for one in all_times)
        report.line(f"   {options.rows:,} x 16: {name} {listed} s", name=name, seconds=all_times)
    report.floor("KMeans over scikit-learn", float(np.mean(seconds["KMeans"]) / np.mean(seconds["scikit-learn"])), at_most=1.0)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
