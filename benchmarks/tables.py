# SPDX-License-Identifier: Apache-2.0
"""Tables as people have them: ``python -m benchmarks.tables [--seeds N] [missing mixed product private spread plain real]``.

missing   two groups with 15 % of a column missing: where the groups are found, with two and three centres
mixed     three numbers, two categories and a flag, four groups: adjusted Rand index, and error of the published shares
product   the same table: the product of intervals and simplices, against a box around the same columns as numbers 0 and 1
private   ten tables: loss with private bounds over the loss with bounds known to a factor of 1.5; columns of unlike units
spread    the same tables in unlike units: loss with scaling="spread" over that of rows that were scaled beforehand
real      private bounds on ten of the papers' tables, columns divided by their ranges: needs the folder of CLOISTER_DATA
plain     what asking about missing values costs a table without any: loss and time, with missing="mean" and "middle"
"""

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans as Reference
from sklearn.metrics import adjusted_rand_score, pairwise_distances_argmin_min

from cloister import Box, Category, Flag, KMeans, Number

from ._arrays import Array
from ._harness import Report, check_names
from ._sources import find_file
from ._stats import geometric_mean

N_ROWS = 20_000
WIDTHS = (1e-3, 1.0, 40.0, 1e4, 1e6, 1e9)  # of columns of unlike units
OFFSETS = (0.0, 3.0, -50.0)  # of columns, in widths


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=[part for part in PARTS if part != "real"])
    parser.add_argument("--seeds", type=int, default=10)
    options = parser.parse_args(arguments)
    check_names(parser, "parts", options.parts, PARTS)
    report = Report("tables", seeds=options.seeds)
    for part in options.parts:
        PARTS[part](report, range(options.seeds))
    return report.finish()


# -- missing values -------------------------------------------------------------------------------------------------------


def two_groups(seed: int) -> tuple[pd.DataFrame, Array]:
    """Return patients of two groups, 15 % of whose glucose is missing, and the true centres."""
    generator = np.random.default_rng([1, seed])
    truth = np.array([[35.0, 95.0], [70.0, 180.0]])
    group = generator.integers(0, 2, N_ROWS)
    rows = generator.normal(truth[group], [4.0, 8.0])
    rows[generator.random(N_ROWS) < 0.15, 1] = np.nan
    return pd.DataFrame(rows, columns=["age", "glucose"]), truth


def missing(report: Report, seeds: range) -> None:
    bounds = {"age": (0, 120), "glucose": Number(40, 400)}
    for n_clusters in (2, 3):
        nearest, middle = [], []
        for seed in seeds:
            table, truth = two_groups(seed)
            centers = KMeans(n_clusters, epsilon=1.0, bounds=bounds, random_state=seed).fit(table).cluster_centers_
            nearest.append(max(float(np.abs(centers - group).max(axis=1).min()) for group in truth))
            middle.append(float(np.abs(centers[:, 1] - 220.0).min()) / 360)
        worst, closest = max(nearest), min(middle)
        report.line(
            f"   missing, k = {n_clusters}: groups found within {worst:.2f} units (worst of {len(seeds)}); no centre closer "
            f"than {closest:.0%} of the bounds to their middle",
            part="missing",
            n_clusters=n_clusters,
            worst=worst,
            middle=closest,
        )


# -- categories -----------------------------------------------------------------------------------------------------------

LEVELS = {"ward": ["a", "b", "c"], "region": ["n", "e", "s", "w", "m"]}
MIXED = {
    "age": (0, 100),
    "pressure": (60, 220),
    "glucose": (40, 400),
    "ward": Category(LEVELS["ward"]),
    "region": Category(LEVELS["region"]),
    "smoker": Flag(),
}


def four_groups(seed: int, size: int = 5000) -> tuple[pd.DataFrame, Array, Array]:
    """Return a mixed table of four groups, the group of each row, and the share of each level in each group."""
    generator = np.random.default_rng([2, seed])
    group = np.repeat(np.arange(4), size)
    means = np.array([[15, 80, 80], [85, 90, 360], [20, 200, 340], [80, 205, 90]])
    likely = np.array([[0, 0], [1, 1], [2, 2], [1, 4]])  # level of either category
    shares = [np.full((4, 3), 0.05), np.full((4, 5), 0.025)]
    for each, level in zip(shares, likely.T, strict=True):
        each[np.arange(4), level] = 0.9
    smokers = np.array([[0.05], [0.95], [0.9], [0.1]])
    table = pd.DataFrame(generator.normal(means[group], [4.0, 5.0, 12.0]), columns=["age", "pressure", "glucose"])
    for name, each in zip(LEVELS, shares, strict=True):
        drawn = (generator.random((len(group), 1)) > each[group].cumsum(axis=1)).sum(axis=1)
        table[name] = np.array(LEVELS[name])[np.minimum(drawn, each.shape[1] - 1)]
    table["smoker"] = generator.random(len(group)) < smokers[group, 0]
    return table, group, np.hstack([*shares, smokers])


def mixed(report: Report, seeds: range) -> None:
    scores, errors = [], []
    for seed in seeds:
        table, group, shares = four_groups(seed)
        model = KMeans(4, epsilon=1.0, bounds=MIXED, random_state=seed).fit(table)
        scores.append(float(adjusted_rand_score(group, model.predict(table))))
        told = model.cluster_centers_[:, 3:]
        errors.append(max(float(np.abs(told - one).max(axis=1).min()) for one in shares))
    report.line(
        f"   mixed: adjusted Rand index {np.mean(scores):.3f} (worst {min(scores):.3f}), shares within {max(errors):.3f} "
        f"(mean {np.mean(errors):.3f})",
        part="mixed",
        score=float(np.mean(scores)),
        worst=min(scores),
        shares=max(errors),
    )


def as_numbers(table: pd.DataFrame) -> tuple[Array, Box]:
    """Return the table as numbers at the distances that declared columns have, a column for each level, and its box."""
    columns, ends = [], []
    for name, declared in MIXED.items():
        if isinstance(declared, tuple):
            low, high = declared
            columns.append((np.asarray(table[name], dtype=float) - low) / (high - low) * 2 - 1)
            ends.append((-1.0, 1.0))
        elif isinstance(declared, Category):
            columns.extend(2**0.5 * np.asarray(table[name] == level, dtype=float) for level in declared.levels)
            ends.extend([(0.0, 2**0.5)] * len(declared.levels))
        else:
            columns.append(np.asarray(table[name], dtype=float) * 2 - 1)
            ends.append((-1.0, 1.0))
    low, high = zip(*ends, strict=True)
    return np.column_stack(columns), Box(low, high)


def product(report: Report, seeds: range) -> None:
    for size in (500, 5000):
        ours, boxed, limits = [], [], []
        for seed in seeds:
            table, _, _ = four_groups(seed, size)
            rows, box = as_numbers(table)
            limits.append(Reference(4, n_init=10, random_state=0).fit(rows).inertia_ / len(rows))
            model = KMeans(4, epsilon=0.25, bounds=MIXED, scaling="bounds", random_state=seed).fit(table)
            ours.append(loss(rows, _scaled(model.cluster_centers_)))
            plain = KMeans(4, epsilon=0.25, bounds=box, scaling="none", random_state=seed).fit(rows)
            boxed.append(loss(rows, plain.cluster_centers_))
        here, there, limit = (float(np.mean(each)) for each in (ours, boxed, limits))
        report.line(
            f"   product, 4 groups of {size}, epsilon 0.25: loss {here:.4f}, in a box around the same columns {there:.4f}, "
            f"limit {limit:.4f}: {(here - limit) / (there - limit):.2f} of the excess",
            part="product",
            size=size,
            ours=here,
            boxed=there,
            limit=limit,
        )


def _scaled(centers: Array) -> Array:
    """Return published centres at the distances of `as_numbers`."""
    low, high = np.array([pair for pair in MIXED.values() if isinstance(pair, tuple)], dtype=float).T
    return np.hstack([(centers[:, :3] - low) / (high - low) * 2 - 1, 2**0.5 * centers[:, 3:11], centers[:, 11:] * 2 - 1])


def loss(rows: Array, centers: Array) -> float:
    """Return the mean squared distance to the nearest centre."""
    return float(np.mean(pairwise_distances_argmin_min(rows, centers)[1] ** 2))


# -- bounds and units -----------------------------------------------------------------------------------------------------


def tables() -> Iterator[tuple[str, int, Array]]:
    """Yield ten tables with columns of like units: a name, a number of clusters, rows."""
    generator = np.random.default_rng(3)

    def blobs(n_rows: int, n_columns: int, k: int, spread: float) -> Array:
        middles = generator.uniform(-1, 1, (k, n_columns))
        return middles[generator.integers(0, k, n_rows)] + spread * generator.standard_normal((n_rows, n_columns))

    yield "blobs 2", 8, blobs(10_000, 2, 8, 0.08)
    yield "blobs 4", 5, blobs(12_000, 4, 5, 0.15)
    yield "blobs 8", 16, blobs(40_000, 8, 16, 0.1)
    yield "blobs 16", 10, blobs(30_000, 16, 10, 0.15)
    yield "blobs 6 wide", 6, blobs(20_000, 6, 6, 0.4)
    yield "one normal", 4, generator.standard_normal((15_000, 3))
    yield "uniform", 6, generator.random((20_000, 5))
    yield "lognormal", 5, generator.lognormal(0, 0.7, (25_000, 4))
    yield "long tails", 4, generator.standard_t(4, (20_000, 4)) + 4 * generator.integers(0, 2, (20_000, 1))
    yield "unequal", 6, blobs(20_000, 5, 6, 0.05) ** 3


def unlike(rows: Array) -> tuple[Array, Array, Array]:
    """Return the rows with columns from 1e-3 to 1e9 wide, some of them far from zero, with factors and offsets."""
    width = np.ptp(rows, axis=0)
    factors = np.resize(WIDTHS, rows.shape[1]) / width
    offsets = np.resize(OFFSETS, rows.shape[1]) * width * factors
    return rows * factors + offsets, factors, offsets


def private(report: Report, seeds: range) -> None:
    """Three figures for each table: in like units without scaling, in unlike units, and whether all bounds were found."""
    like, other = [], []
    for name, k, rows in tables():
        low, high = rows.min(axis=0), rows.max(axis=0)
        middle, half = (low + high) / 2, 0.75 * (high - low)
        far, factors, offsets = unlike(rows)
        losses: dict[str, list[float]] = {"known": [], "private": [], "unlike": [], "unlike known": []}
        found = 0
        for seed in seeds:
            settings: dict[str, Any] = {"epsilon": 1.0, "random_state": seed}
            known = KMeans(k, bounds=Box(middle - half, middle + half), scaling="none", **settings).fit(rows)
            losses["known"].append(loss(rows, known.cluster_centers_))
            fitted = KMeans(k, bounds="private", scaling="none", **settings).fit(rows)
            losses["private"].append(loss(rows, fitted.cluster_centers_))
            box = Box((middle - half) * factors + offsets, (middle + half) * factors + offsets)
            scaled = rows / half
            fitted = KMeans(k, bounds=box, **settings).fit(far)
            losses["unlike known"].append(loss(scaled, (fitted.cluster_centers_ - offsets) / factors / half))
            fitted = KMeans(k, bounds="private", **settings).fit(far)
            losses["unlike"].append(loss(scaled, (fitted.cluster_centers_ - offsets) / factors / half))
            ends = np.array([(one.low, one.high) for one in fitted.release_.domain.columns])
            inside = np.mean((far >= ends[:, 0]) & (far <= ends[:, 1]), axis=0)
            width = (ends[:, 1] - ends[:, 0]) / np.ptp(far, axis=0)
            found += int((inside > 0.9).all() and (width < 10).all())
        mean = {key: float(np.mean(each)) for key, each in losses.items()}
        like.append(mean["private"] / mean["known"])
        other.append(mean["unlike"] / mean["unlike known"])
        report.line(
            f"   private, {name:<13} {rows.shape[0]:>6} x {rows.shape[1]:<3} like units {like[-1]:.3f}  "
            f"unlike units {other[-1]:.3f}  all bounds found in {found} of {len(seeds)}",
            part="private",
            name=name,
            like=like[-1],
            unlike=other[-1],
            found=found,
        )
    means = [geometric_mean(ratios) for ratios in (like, other)]
    report.line(
        f"   private, geometric mean: like units {means[0]:.3f}, unlike units {means[1]:.3f}", part="private", means=means
    )


def spread(report: Report, seeds: range) -> None:
    ratios = []
    for name, k, rows in tables():
        far, factors, offsets = unlike(rows)
        scaled = rows / rows.std(axis=0)
        ours, before = [], []
        for seed in seeds:
            settings: dict[str, Any] = {"epsilon": 1.0, "random_state": seed}
            fitted = KMeans(k, bounds="private", scaling="spread", **settings).fit(far)
            ours.append(loss(scaled, (fitted.cluster_centers_ - offsets) / factors / rows.std(axis=0)))
            low, high = scaled.min(axis=0), scaled.max(axis=0)
            middle, half = (low + high) / 2, 0.75 * (high - low)
            known = KMeans(k, bounds=Box(middle - half, middle + half), scaling="none", **settings).fit(scaled)
            before.append(loss(scaled, known.cluster_centers_))
        ratios.append(float(np.mean(ours) / np.mean(before)))
        report.line(f"   spread,  {name:<13} {ratios[-1]:.3f}", part="spread", name=name, ratio=ratios[-1])
    mean = geometric_mean(ratios)
    report.line(f"   spread, geometric mean {mean:.3f}", part="spread", mean=mean)


REAL = {
    "adult": 3,
    "birch2": 100,
    "gas_turbine": 6,
    "letter": 26,
    "superconductivity": 8,
    "mnist_lenet84": 10,
    "scale_16_16": 16,
    "scale_4_4": 4,
    "scale_16_4": 16,
    "scale_64_16": 64,
}


def real(report: Report, seeds: range) -> None:
    like, scaled = [], []
    for name, k in REAL.items():
        file = find_file(name, None)
        if file is None:
            report.line(f"   real,    {name}: no {name}.npz in the folder of CLOISTER_DATA", part="real", name=name)
            continue
        rows = np.load(file)["X"].astype(float)[:60_000]
        rows = rows[:, np.ptp(rows, axis=0) > 0]
        rows = (rows - rows.min(axis=0)) / np.ptp(rows, axis=0)
        box = Box(-0.25, 1.25).spread(rows.shape[1])
        losses: dict[str, list[float]] = {"known": [], "none": [], "auto": []}
        for seed in seeds:
            settings: dict[str, Any] = {"epsilon": 1.0, "random_state": seed}
            losses["known"].append(loss(rows, KMeans(k, bounds=box, **settings).fit(rows).cluster_centers_))
            for scaling in ("none", "auto"):
                model = KMeans(k, bounds="private", scaling=scaling, **settings).fit(rows)
                losses[scaling].append(loss(rows, model.cluster_centers_))
        mean = {key: float(np.mean(each)) for key, each in losses.items()}
        like.append(mean["none"] / mean["known"])
        scaled.append(mean["auto"] / mean["known"])
        report.line(
            f"   real,    {name:<18} same distances {like[-1]:.3f}  scaled by the bounds found {scaled[-1]:.3f}",
            part="real",
            name=name,
            like=like[-1],
            scaled=scaled[-1],
        )
    if like:
        means = [geometric_mean(ratios) for ratios in (like, scaled)]
        words = f"   real, geometric mean: same distances {means[0]:.3f}, scaled by the bounds found {means[1]:.3f}"
        report.line(words, part="real", means=means)


# -- what it costs a plain table ------------------------------------------------------------------------------------------


def plain(report: Report, seeds: range) -> None:
    losses, times = [], []
    for name, k, rows in tables():
        box = Box(rows.min(axis=0), rows.max(axis=0))
        found: dict[str, list[float]] = {"mean": [], "middle": []}
        seconds: dict[str, list[float]] = {"mean": [], "middle": []}
        for seed in seeds:
            for kind in ("mean", "middle"):
                model = KMeans(k, epsilon=1.0, bounds=box, scaling="none", missing=kind, random_state=seed, n_jobs=1)
                start = time.process_time()
                model.fit(rows)
                seconds[kind].append(time.process_time() - start)
                found[kind].append(loss(rows, model.cluster_centers_))
        losses.append(float(np.mean(found["mean"]) / np.mean(found["middle"])))
        times.append(min(seconds["mean"]) / min(seconds["middle"]))
        report.line(
            f"   plain,   {name:<13} loss {losses[-1]:.4f}  time {times[-1]:.3f}", part="plain", name=name, loss=losses[-1]
        )
    means = [geometric_mean(ratios) for ratios in (losses, times)]
    report.line(f"   plain, geometric mean: loss {means[0]:.4f}, time {means[1]:.3f}", part="plain", means=means)


PARTS: dict[str, Callable[[Report, range], None]] = {
    "missing": missing,
    "mixed": mixed,
    "product": product,
    "private": private,
    "spread": spread,
    "plain": plain,
    "real": real,
}

if __name__ == "__main__":
    raise SystemExit(main())
