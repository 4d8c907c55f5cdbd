# SPDX-License-Identifier: Apache-2.0
"""Which data Table II of the RUGNIK paper is of: k-means without privacy on rows made in several ways, beside its last lines.

    python -m benchmarks.grid_data --tables 10

The paper says only that its data follow Su et al. (2017): Gaussian clusters of N/K rows, separation 0.16 to 0.26, in [-1, 1]^d.
Each trial lays out the means, draws the clusters and puts a box around them in another way, and prints the mean over tables of
the sum of squares divided by K, as a multiple of the printed one: the geometric mean over the 18 configurations, the largest
deviation from 1, and how it changes from N/K = 50 to 200 (a box around the rows grows with their number, the printed one does
not).
"""

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.cluster import KMeans

from . import _generate as make
from ._arrays import Array
from ._papers import wcss_printed

__all__ = ["TRIALS", "Trial", "measure", "printed_limits"]

SEPARATION = (0.16, 0.26)
Shape = tuple[int, int, int]  # columns, clusters, rows
Box = Callable[[Array, Array], Array]


@dataclass(frozen=True)
class Trial:
    """One way to make the rows."""

    layout: str  # of the means: "spread", "chain" (the R package's simplexes) or "uniform"
    box: str  # a key of BOXES
    separation: tuple[float, float] = SEPARATION

    def rows(self, generator: np.random.Generator, shape: Shape) -> Array:
        """Return one table in [-1, 1]^d."""
        d, k, n = shape
        means, covariances = LAYOUTS[self.layout](generator, k, d), make._covariances(generator, k, d)
        goal = generator.uniform(*self.separation)
        rows = make._draw(generator, means, covariances, [n // k] * k, goal=goal)
        return BOXES[self.box](rows, means * make._factor(means, covariances, goal))


def measure(trial: Trial, shapes: list[Shape], *, tables: int) -> dict[Shape, float]:
    """Return the sum of squares of k-means over K, over what is printed."""
    found = {}
    for shape in shapes:
        losses = []
        for number in range(tables):
            rows = trial.rows(np.random.default_rng([*shape, number]), shape)
            losses.append(KMeans(shape[1], n_init=4, random_state=0).fit(rows).inertia_ / shape[1])
        found[shape] = float(np.mean(losses)) / printed_limits()[shape]
    return found


def printed_limits() -> dict[Shape, float]:
    """Return the lines "no privacy" of Table II."""
    return {(d, k, n): wcss for (d, k, n, method, _), wcss in wcss_printed().items() if method == "nonprivate"}


def _around_rows(rows: Array, means: Array) -> Array:
    """Cut every column to the rows' own range."""
    low, high = rows.min(axis=0), rows.max(axis=0)
    return (2 * rows - low - high) / (high - low)


def _cube_around_rows(rows: Array, means: Array) -> Array:
    low, high = rows.min(axis=0), rows.max(axis=0)
    return (2 * rows - low - high) / (high - low).max()


def _from_the_origin(rows: Array, means: Array) -> Array:
    """Divide by the largest absolute value, wherever the rows lie."""
    return rows / np.abs(rows).max()


def _largest_norm(rows: Array, means: Array) -> Array:
    centred = rows - rows.mean(axis=0)
    return centred / np.sqrt(np.sum(centred**2, axis=1)).max()


def _outliers(rows: Array, means: Array) -> Array:
    """Take the box in which the R package places outliers: four standard deviations of all rows, column by column."""
    return (rows - rows.mean(axis=0)) / (make.OUTLIER_REACH * rows.std(axis=0))


def _public(rows: Array, means: Array) -> Array:
    middle, half = make.public_box(means)
    return (rows - middle) / half


def _public_cube(rows: Array, means: Array) -> Array:
    middle, half = make.public_box(means)
    return (rows - middle) / half.max()


BOXES: dict[str, Box] = {
    "rows, each column": _around_rows,
    "rows, one cube": _cube_around_rows,
    "largest value": _from_the_origin,
    "largest norm": _largest_norm,
    "outliers": _outliers,
    "public, each column": _public,
    "public, one cube": _public_cube,
}
LAYOUTS: dict[str, Callable[[np.random.Generator, int, int], Array]] = {
    "spread": make._spread,
    "chain": lambda generator, k, d: make._chain(k, d) @ make._rotation(generator, d),
    "uniform": lambda generator, k, d: generator.uniform(-1, 1, (k, d)),
}
TRIALS = [
    *(Trial(layout, box) for box in BOXES for layout in LAYOUTS),
    Trial("spread", "rows, each column", (0.34, 0.34)),
    Trial("spread", "rows, one cube", (0.34, 0.34)),
    Trial("spread", "rows, one cube", (0.5, 0.5)),
]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=10)
    parser.add_argument("--trials", type=int, default=len(TRIALS))
    chosen = parser.parse_args(arguments)
    shapes = list(printed_limits())
    print("| means | box | separation | geometric mean | smallest | largest | from 50 to 200 rows a cluster |")
    print("|---|---|---|---|---|---|---|")
    for trial in TRIALS[: chosen.trials]:
        found = measure(trial, shapes, tables=chosen.tables)
        ratios = np.array(list(found.values()))
        few, many = (np.log([found[s] for s in shapes if s[2] == size * s[1]]).mean() for size in (50, 200))
        words = " to ".join(f"{one:g}" for one in sorted(set(trial.separation)))
        figures = (np.exp(np.log(ratios).mean()), ratios.min(), ratios.max(), np.exp(many - few))
        print(f"| {trial.layout} | {trial.box} | {words} | " + " | ".join(f"{one:.2f}" for one in figures) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
