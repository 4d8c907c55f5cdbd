# SPDX-License-Identifier: Apache-2.0
"""Which search is fastest for which dimension and number of points: ``python -m benchmarks.nearest``.

Every engine returns the same, exact answer; the table shows times of one thread relative to the engine that is chosen. Points
lie as in a round of private evolution: tight groups around k centres.
"""

import argparse
import sys

import numpy as np
from threadpoolctl import threadpool_limits

from cloister.columns import snap
from cloister.questions import SEARCH_ENGINES, Nearest, choose_engine

from ._harness import Report, side_by_side
from ._stats import geometric_mean

ROWS = 20_000


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dimensions", type=int, nargs="+", default=[1, 2, 3, 4, 6, 8, 16, 64])
    parser.add_argument("--points", type=int, nargs="+", default=[16, 64, 256, 1024, 4096, 8192])
    options = parser.parse_args(arguments)
    report = Report("nearest", rows=ROWS, engines=SEARCH_ENGINES)
    generator = np.random.default_rng(0)
    slowdowns = []
    with threadpool_limits(1):
        for dimension in options.dimensions:
            for count in options.points:
                slowdowns.append(_compare(report, generator, dimension, count))
    report.floor("geometric mean of chosen / fastest", geometric_mean(slowdowns), at_most=1.25)
    return report.finish()


def _compare(report: Report, generator: np.random.Generator, dimension: int, count: int) -> float:
    centers = generator.standard_normal((16, dimension)) * 0.3 / np.sqrt(dimension)
    near = lambda size, step: centers[generator.integers(16, size=size)] + step * generator.standard_normal((size, dimension))  # noqa: E731
    rows, points = snap(np.clip(near(ROWS, 0.05), -1, 1)), snap(np.clip(near(count, 0.02), -1, 1))
    used = [name for name in SEARCH_ENGINES if not (name == "tree" and dimension > 16)]
    found = {name: Nearest(points, engine=name)(rows) for name in used}
    assert all(np.array_equal(found[name], found["exact"]) for name in used), "engines disagree"
    best = side_by_side({name: (lambda name=name: Nearest(points, engine=name)(rows)) for name in used}, repeats=3)
    chosen, fastest = choose_engine(count, dimension), min(best, key=lambda name: best[name])
    ratio = best[chosen] / best[fastest]
    times = "  ".join(f"{name} {best[name] * 1e3:7.1f}" for name in used)
    report.line(
        f"   d={dimension:<3d} m={count:<5d} ms: {times}   chosen {chosen}, fastest {fastest} ({ratio:.2f})",
        dimension=dimension,
        points=count,
        seconds=best,
        chosen=chosen,
        fastest=fastest,
    )
    return ratio


if __name__ == "__main__":
    sys.exit(main())
