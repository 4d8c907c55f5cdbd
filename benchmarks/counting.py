# SPDX-License-Identifier: Apache-2.0
"""Counting rows into the cells of a grid, beside ``numpy.histogramdd``: ``python -m benchmarks.counting``."""

import argparse
import sys

import numpy as np

from cloister import Box
from cloister.data import open_rows
from cloister.questions import GridCounts

from ._harness import Report, side_by_side


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    count = parser.parse_args(arguments).rows
    report = Report("grids-speed", rows=count, features=3)
    rows = np.random.default_rng(0).random((count, 3))
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
