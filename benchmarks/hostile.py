# SPDX-License-Identifier: Apache-2.0
"""Tables that bounds and spreads are hard to find on: ``python -m benchmarks.hostile [--seeds N] [NAMES]``.

Each is fitted with ``bounds="private"`` and, in public bounds that are generous, with ``scaling="spread"``, at epsilon 1. A fit
must not be worse than one centre, the exact mean of all rows, in two geometries: the one that the release states, and columns
divided by their true standard deviations (of values between the 0.1 and the 99.9 % quantile, cells that are missing left out).
Or it is refused, with a remedy, before the main budget is spent.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cloister import KMeans
from cloister.exceptions import CloisterError

from ._arrays import Array
from ._harness import Report, check_names

EPSILON = 1.0
WORST = 1.02  # times the loss of the exact mean
QUANTILES = (0.001, 0.999)
SETTINGS: dict[str, dict[str, Any]] = {"private": {"bounds": "private"}, "spread": {"scaling": "spread"}}


@dataclass(frozen=True, eq=False)
class Hostile:
    """Rows, public bounds of each column that are too wide, and whose rows they are."""

    rows: Array
    bounds: Any
    n_clusters: int = 4
    units: Array | None = None


def blobs(generator: np.random.Generator, n_rows: int, width: int, n_clusters: int = 4, apart: float = 5.0) -> Array:
    """Return unit blobs around random places."""
    places = apart * generator.normal(size=(n_clusters, width))
    return np.asarray(places[generator.integers(n_clusters, size=n_rows)] + generator.normal(size=(n_rows, width)))


def one_of(generator: np.random.Generator, n_rows: int, part: float) -> Array:
    """Return which rows are the few."""
    return np.asarray(generator.random(n_rows) < part)


def _mostly_equal(g: np.random.Generator) -> Hostile:
    odd = np.where(one_of(g, 5000, 0.01), g.uniform(0, 100, 5000), 7.0)
    return Hostile(np.column_stack([odd, 50 + 5 * blobs(g, 5000, 2)]), [(0, 100), (-50, 150), (-50, 150)])


def _mostly_equal_wide(g: np.random.Generator) -> Hostile:
    odd = np.where(one_of(g, 50_000, 0.01), g.uniform(0, 1e6, 50_000), 0.0)
    return Hostile(np.column_stack([odd, 50 + 5 * blobs(g, 50_000, 2)]), [(0, 1e6), (-50, 150), (-50, 150)])


def _all_equal(g: np.random.Generator) -> Hostile:
    return Hostile(np.full((2000, 3), 7.25), [(0, 100)] * 3)


def _partly_constant(g: np.random.Generator) -> Hostile:
    rows = np.column_stack([np.full((3000, 3), [0.0, 1e6, -3.5]), blobs(g, 3000, 3)])
    return Hostile(rows, [(-1, 1), (0, 1e7), (-10, 10), *[(-30, 30)] * 3])


def _zero_inflated(g: np.random.Generator) -> Hostile:
    costs = np.where(g.random((5000, 3)) < 0.8, 0.0, g.lognormal(8, 1.2, (5000, 3)))
    return Hostile(costs, [(0, 1e6)] * 3)


def _unlike_units(g: np.random.Generator) -> Hostile:
    rows = blobs(g, 5000, 4) * [1e-9, 1.0, 1e6, 1e12]
    return Hostile(rows, [(-5e-8, 5e-8), (-50, 50), (-5e7, 5e7), (-5e13, 5e13)])


def _many_columns(g: np.random.Generator) -> Hostile:
    return Hostile(blobs(g, 2000, 60, apart=2.0), (-20, 20))


def _hundred_columns(g: np.random.Generator) -> Hostile:
    units = 10.0 ** g.integers(-4, 5, 100)
    return Hostile(blobs(g, 5000, 100, apart=2.0) * units, list(zip(-20 * units, 20 * units, strict=True)))


def _fifty_rows(g: np.random.Generator) -> Hostile:
    return Hostile(blobs(g, 50, 3), (-30, 30), 3)


def _few_rows(g: np.random.Generator) -> Hostile:
    return Hostile(1e4 * blobs(g, 500, 4), (-1e6, 1e6), 3)


def _cauchy(g: np.random.Generator) -> Hostile:
    return Hostile(g.standard_cauchy((5000, 3)), (-1000, 1000))


def _lognormal(g: np.random.Generator) -> Hostile:
    return Hostile(g.lognormal(3, 3, (10_000, 3)), (0, 1e6))


def _small_and_far(g: np.random.Generator) -> Hostile:
    places = np.vstack([np.zeros((1, 3)), 40 * g.normal(size=(5, 3))])
    labels = g.choice(6, size=20_000, p=[0.9, *[0.02] * 5])
    return Hostile(places[labels] + g.normal(size=(20_000, 3)), (-300, 300), 6)


def _bimodal(g: np.random.Generator) -> Hostile:
    return Hostile(np.where(g.random((5000, 2)) < 0.5, 0.0, 1e8) + g.normal(size=(5000, 2)), (-1e9, 1e9))


def _integers(g: np.random.Generator) -> Hostile:
    return Hostile(g.poisson([0.3, 2.0, 40.0], (5000, 3)).astype(float), (0, 1000))


def _far_from_zero(g: np.random.Generator) -> Hostile:
    return Hostile(1e6 + blobs(g, 5000, 3, apart=1.0), (0, 1e7))


def _huge_outliers(g: np.random.Generator) -> Hostile:
    rows = blobs(g, 5000, 3)
    rows[one_of(g, 5000, 0.005)] = [1e15, -1e15, 1e30]
    return Hostile(rows, (-100, 100))


def _half_missing(g: np.random.Generator) -> Hostile:
    rows = blobs(g, 5000, 4)
    rows[g.random(rows.shape) < 0.5] = np.nan
    return Hostile(rows, (-100, 100))


def _with_ids(g: np.random.Generator) -> Hostile:
    return Hostile(np.column_stack([9e9 + np.arange(5000.0), blobs(g, 5000, 2)]), [(0, 1e10), (-100, 100), (-100, 100)])


def _persons(g: np.random.Generator) -> Hostile:
    units = g.integers(800, size=4000)
    return Hostile(blobs(g, 800, 3)[units] + 0.3 * g.normal(size=(4000, 3)), (-100, 100), units=units.astype(float))


TABLES: dict[str, Callable[[np.random.Generator], Hostile]] = {
    "mostly-equal": _mostly_equal,
    "mostly-equal-wide": _mostly_equal_wide,
    "all-equal": _all_equal,
    "partly-constant": _partly_constant,
    "zero-inflated": _zero_inflated,
    "unlike-units": _unlike_units,
    "many-columns": _many_columns,
    "hundred-columns": _hundred_columns,
    "fifty-rows": _fifty_rows,
    "few-rows": _few_rows,
    "cauchy": _cauchy,
    "lognormal": _lognormal,
    "small-and-far": _small_and_far,
    "bimodal": _bimodal,
    "integers": _integers,
    "far-from-zero": _far_from_zero,
    "huge-outliers": _huge_outliers,
    "half-missing": _half_missing,
    "ids": _with_ids,
    "persons": _persons,
}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", metavar="NAMES", help=f"of tables: {', '.join(TABLES)}; default: all")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args(arguments)
    names = options.tables or list(TABLES)
    check_names(parser, "NAMES", names, TABLES)
    report = Report("hostile", epsilon=EPSILON, seeds=options.seeds)
    report.head("table", "setting", "stated geometry", "true spreads", "cells cut off", "refused", "warnings")
    for name in names:
        for setting in SETTINGS:
            show(report, name, setting, [fit(name, setting, seed) for seed in range(options.seeds)])
    return report.finish()


def show(report: Report, name: str, setting: str, found: Sequence[dict[str, Any]]) -> None:
    """Print the worst of some fits, and hold it to the bar."""
    refused = [one["refused"] for one in found if "refused" in one]
    fitted = [one for one in found if "refused" not in one]
    worst = {key: max((one[key] for one in fitted), default=float("nan")) for key in ("stated", "user", "cut")}
    words = sorted({each for one in fitted for each in one["warnings"]})
    shares = f"{len(refused)} of {len(found)}"
    report.row(name, setting, *worst.values(), shares, "; ".join(words)[:300], table=name, setting=setting, **worst)
    for key in ("stated", "user") if fitted else ():
        report.floor(f"{name}, {setting}, {key}: loss over that of one centre", worst[key], at_most=WORST)
    if refused:
        report.line(f"   refused: {refused[0]}")


def fit(name: str, setting: str, seed: int) -> dict[str, Any]:
    """Return how far a fit of one table is from one centre, or why it was refused."""
    table = TABLES[name](np.random.default_rng([seed, len(name)]))
    options: dict[str, Any] = {"bounds": table.bounds, **SETTINGS[setting]}
    model = KMeans(table.n_clusters, epsilon=EPSILON, random_state=seed, n_jobs=1, **options)
    try:
        model.fit(table.rows, privacy_unit=None if table.units is None else table.units)
    except CloisterError as error:
        return {"refused": str(error)}
    release = model.release_
    frame = release.frame
    points = frame.clean(table.rows)
    low, high = release.domain.ranges
    with np.errstate(invalid="ignore"):
        cut = float(np.mean((table.rows < low) | (table.rows > high)))
    return {
        "stated": over_one_centre(points, frame.to_unit(release.cluster_centers)),
        "user": over_one_centre(*in_true_spreads(table.rows, release.cluster_centers)),
        "cut": cut,
        "warnings": [str(one) for one in getattr(model, "warnings_", ())],
    }


def in_true_spreads(rows: Array, centers: Array) -> tuple[Array, Array]:
    """Return rows and centres, columns divided by their standard deviations between two quantiles; constant ones are left."""
    low, high = np.nanquantile(rows, QUANTILES, axis=0)
    clipped = np.clip(rows, low, high)
    spreads = np.nanstd(clipped, axis=0)
    scale = np.where(spreads > 1e-12 * np.abs(high), spreads, np.inf)
    middle = np.nanmean(clipped, axis=0)
    return (clipped - middle) / scale, (centers - middle) / scale


def over_one_centre(rows: Array, centers: Array) -> float:
    """Return the loss of centres over that of the exact mean; 1 where there is nothing to lose."""
    there = np.isfinite(rows)
    whole = np.where(there, rows, 0.0)
    losses = np.stack([np.where(there, (whole - center) ** 2, 0.0).sum(axis=1) for center in centers])
    mean = whole.sum(axis=0) / np.maximum(there.sum(axis=0), 1)
    single = float(np.where(there, (whole - mean) ** 2, 0.0).sum())
    loss = float(losses.min(axis=0).sum())
    return loss / single if single > 1e-20 * len(rows) else 1.0 + loss / len(rows)


if __name__ == "__main__":
    sys.exit(main())
