# SPDX-License-Identifier: Apache-2.0
"""Plain k-medoids beside ``kmedoids.fasterpam``: ``python -m benchmarks.solver``."""

import sys

import kmedoids
import numpy as np

from cloister.algorithms import choose_medoids
from cloister.cluster._target import all_pairs

from ._harness import Report, side_by_side


def main() -> int:
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
