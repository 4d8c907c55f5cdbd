# SPDX-License-Identifier: Apache-2.0
"""The search for k medoids beside the optimum and beside ``kmedoids.fasterpam``: ``python -m benchmarks.solver``.

The paper solves the public part with AkM, the Accelerated K-medoids of de Mathelin et al. (2022); our search stands for it.
Small problems with free centres can be solved by trying every choice: that is the truth that it is measured against here.
"""

import argparse
import sys
from itertools import combinations

import numpy as np

from cloister.algorithms import choose_medoids
from cloister.cluster._target import all_pairs

from ._arrays import Array
from ._harness import Report, side_by_side

SIZES, CLUSTERS, STARTS = (12, 14, 16), (2, 3, 4), (1, 3)  # of the small problems
COVERED = 0.5  # part of their points that have a free centre


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=400, help="small ones that are solved by trying every choice")
    parser.add_argument("--points", type=int, default=5000, help="of the problem that FasterPAM solves too")
    options = parser.parse_args(arguments)
    report = Report("source-target-optimum", points=SIZES, k=CLUSTERS, covered=COVERED)
    report.head("starts", "mean cost over the optimum", "worst", "optimum found")
    for starts in STARTS:
        ratios = over_optimum(options.problems, starts)
        figures = {"mean": float(ratios.mean()), "worst": float(ratios.max()), "found": float(np.mean(ratios < 1 + 1e-6))}
        report.row(starts, f"{figures['mean']:.4f}", f"{figures['worst']:.3f}", f"{figures['found']:.0%}", **figures)
    report.floor("mean cost over the optimum, three starts", figures["mean"], at_most=1.01)
    return report.finish() | beside_fasterpam(options.points)


def over_optimum(n_problems: int, starts: int, *, seed: int = 0) -> Array:
    """Return the cost of the search over that of the best of all choices, for random problems with free centres."""
    ratios = []
    for number in range(n_problems):
        generator = np.random.default_rng([seed, number])
        size, k = SIZES[number % len(SIZES)], CLUSTERS[number // len(SIZES) % len(CLUSTERS)]
        pairs = all_pairs(generator.standard_normal((size, 2)), "euclidean")
        caps = np.where(generator.random(size) < COVERED, generator.uniform(0, 1, size), np.inf)
        choices = np.array(list(combinations(range(size), k)))
        best = np.minimum(pairs[choices].min(axis=1), caps).mean(axis=1).min()
        ratios.append(choose_medoids(pairs, k, generator=generator, caps=caps, restarts=starts).cost / best)
    return np.array(ratios)


def beside_fasterpam(n_points: int) -> int:
    """Compare cost and time of plain k-medoids with those of a package that is made for it."""
    import kmedoids

    report = Report("source-target-solver", points=n_points, features=8, k=50)
    rows = np.random.default_rng(0).standard_normal((n_points, 8))
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
