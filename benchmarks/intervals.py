# SPDX-License-Identifier: Apache-2.0
"""Does every number with a ± tell the truth? ``python -m benchmarks.intervals [--fits N] [--epsilons E ...] [NAMES]``.

One `KMeans` with ``describe=0.15`` per fit, and one `GridSynopsis` of two numbers where a table has so many. Counted is how
often a true value lies within 1.96 stated errors:

centres, levels   coordinates of centres that are numbers, and shares of levels and flags, against the best of 20 starts of
                  k-means without noise in the same coordinates; values that are missing are left out of its means
counts            rows of the matched clusters of that k-means
rows              the number of all rows, in which the clusters' counts are added up
missing           what part of each column is missing, of those that have any
loss              the mean squared distance of a row to the nearest released centre
means, sds, quantiles
                  of the rows nearest to each released centre, clipped to the bounds, as profiles tell them; means are those of
                  copies of two columns that are only described, since the mean of another column is its centre
ranges            rows in 40 boxes with borders at values of rows drawn at random: from low up to, but not at, high

"Width" is the median of stated over true errors, as a normal distribution has it: 0.6745 over the median of deviations in
stated errors. Most rules were chosen without these tables; docs/results.md says which were not. ``--data`` adds some of the
papers'.
"""

import argparse
import sys
import warnings
import zlib
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.cluster import KMeans as Reference
from threadpoolctl import threadpool_limits

from cloister import Category, Flag, GridSynopsis, KMeans, Number, Release
from cloister.exceptions import AccuracyWarning, PrivacyWarning

from ._arrays import Array
from ._data import load
from ._harness import Report, check_names
from .errors import REACH, STARTS, match

N_ROWS = 10_000
EPSILONS = (0.5, 1.0, 2.0)
N_FITS = 12
DESCRIBE = 0.15
QUANTILES = (0.25, 0.5, 0.75)
BOXES = 40
COPY = " again"
LEAST, MOST, FLOOR, WIDEST = 0.90, 0.99, 0.80, 2.5
GOOD_CELLS = 0.9
QUANTITIES = ("centres", "levels", "counts", "rows", "missing", "loss", "means", "sds", "quantiles", "ranges")
Found = dict[str, list[Array]]  # deviations in stated errors, by quantity


@dataclass(frozen=True, eq=False)
class Table:
    """A table with its declared columns."""

    frame: pd.DataFrame
    columns: dict[str, Any]
    n_clusters: int

    @property
    def numbers(self) -> list[str]:
        """Names of the columns that are numbers."""
        return [name for name, one in self.columns.items() if not isinstance(one, Category | Flag)]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help=f"some of {', '.join((*FAMILIES, *PAPERS))}")
    parser.add_argument("--fits", type=int, default=N_FITS, help=f"of each table at each epsilon; default {N_FITS}")
    parser.add_argument("--epsilons", type=float, nargs="+", default=list(EPSILONS))
    parser.add_argument("--seed", type=int, default=500, help="of generated rows")
    parser.add_argument("--jobs", type=int, default=1, help="processes, one table and one thread each")
    parser.add_argument("--data", help="folder of the papers' data sets, which are measured too")
    options = parser.parse_args(arguments)
    check_names(parser, "names", options.names, (*FAMILIES, *PAPERS))
    names = options.names or [*FAMILIES, *(PAPERS if options.data else ())]
    report = Report("intervals", fits=options.fits, epsilons=options.epsilons, seed=options.seed)
    report.head("table", "epsilon", *QUANTITIES)
    cells: dict[str, list[tuple[float, float]]] = defaultdict(list)
    work = (delayed(_measure)(name, options.epsilons, options.fits, options.seed, options.data) for name in names)
    for name, found in zip(names, Parallel(n_jobs=options.jobs, return_as="generator")(work), strict=True):
        for epsilon, one in zip(options.epsilons, found, strict=True):
            figures = {quantity: _figures(one[quantity]) for quantity in QUANTITIES if one[quantity]}
            for quantity, figure in figures.items():
                cells[quantity].append(figure)
            shown = [f"{figures[one][0]:.2f} ({figures[one][1]:.1f})" if one in figures else "" for one in QUANTITIES]
            report.row(name, f"{epsilon:g}", *shown, name=name, epsilon=epsilon, figures=figures)
    _hold_to_bars(report, cells)
    return report.finish()


def _figures(deviations: list[Array]) -> tuple[float, float]:
    """Return coverage and width."""
    away = np.concatenate([np.ravel(one) for one in deviations])
    return float(np.mean(away <= REACH)), float(0.6745 / max(float(np.median(away)), 1e-3))


def _hold_to_bars(report: Report, cells: dict[str, list[tuple[float, float]]]) -> None:
    for quantity in QUANTITIES:
        if not cells[quantity]:
            continue
        coverage, widths = np.array(cells[quantity]).T
        good = float(np.mean((coverage >= LEAST) & (coverage <= MOST)))
        covered = float(np.mean(coverage >= LEAST))
        report.line(f"   {quantity}: coverage {coverage.mean():.3f}; at least {LEAST} in {covered:.2f} of the cells")
        report.floor(f"{quantity}: cells within {LEAST} and {MOST}", good, at_least=GOOD_CELLS)
        report.floor(f"{quantity}: lowest coverage", float(coverage.min()), at_least=FLOOR)
        report.floor(f"{quantity}: median width", float(np.median(widths)), at_most=WIDEST)


def _measure(name: str, epsilons: Sequence[float], fits: int, seed: int, folder: str | None) -> list[Found]:
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        warnings.simplefilter("ignore", AccuracyWarning)
        table = make(name, seed, folder)
        first = zlib.crc32(name.encode())
        return [_fits(table, epsilon, fits, first=first) for epsilon in epsilons]


def _fits(table: Table, epsilon: float, fits: int, *, first: int) -> Found:
    """Compare several fits; seeds begin at `first`, so that tables do not share their noise."""
    found: Found = defaultdict(list)
    generator, solved = np.random.default_rng([fits, 3]), list[tuple[Any, Any]]()
    for seed in range(fits):
        options: dict[str, Any] = {"epsilon": epsilon, "bounds": table.columns, "random_state": first + seed, "n_jobs": 1}
        copies = {f"{name}{COPY}": table.columns[name] for name in table.numbers[:2]}
        rows = table.frame.assign(**{copy: table.frame[copy.removesuffix(COPY)] for copy in copies})
        release = KMeans(table.n_clusters, describe=DESCRIBE, describe_columns=copies or None, **options).fit(rows).release_
        key = release.frame
        if not solved or solved[-1][0] != key:
            solved.append((key, _solve(table, release)))
        _compare_centers(found, table, release, solved[-1][1])
        _compare_profiles(found, table, release)
        numbers = [name for name in table.numbers if not isinstance(table.columns[name], Number)][:2]
        if len(numbers) == 2 and not table.frame[numbers].isna().any(axis=None):
            _compare_ranges(found, table, numbers, epsilon, first + seed, generator)
    return found


def _solve(table: Table, release: Release) -> tuple[Array, Array, Array]:
    """Return centres of k-means without noise in the ball and as published, and numbers of rows."""
    frame = release.frame
    rows = frame.clean(_coded(table))
    model = Reference(table.n_clusters, n_init=STARTS, random_state=1).fit(rows)
    counts = np.bincount(model.labels_, minlength=table.n_clusters).astype(np.float64)
    unit = np.asarray(model.cluster_centers_, dtype=np.float64)
    published = frame.from_unit(unit)
    for index, cut in enumerate(release.domain.slices()):
        name = list(table.columns)[index]
        values = table.frame[name]
        if name in table.numbers and values.isna().any():
            clipped = _clipped(table, name)
            means = clipped.groupby(model.labels_).mean()
            published[:, cut.start] = means.reindex(range(table.n_clusters)).to_numpy()
    return unit, published, counts


def _coded(table: Table) -> Array:
    """Return the rows as the door reads them: levels by their position, flags as 0 and 1."""
    columns = []
    for name, one in table.columns.items():
        values = table.frame[name]
        if isinstance(one, Category):
            places = values.map({level: index for index, level in enumerate(one.levels)})
            columns.append(places.to_numpy(dtype=np.float64, na_value=np.nan))
        else:
            columns.append(values.astype(np.float64).to_numpy())
    return np.stack(columns, axis=1)


def _clipped(table: Table, name: str) -> "pd.Series[float]":
    one = table.columns[name]
    low, high = (one.low, one.high) if isinstance(one, Number) else one
    return table.frame[name].clip(low, high)


def _compare_centers(found: Found, table: Table, release: Release, solution: tuple[Array, Array, Array]) -> None:
    unit, published, counts = solution
    matched = match(release.frame.to_unit(release.cluster_centers), unit)
    away = np.abs(release.cluster_centers - published[matched]) / np.maximum(release.center_errors, 1e-300)
    for (name, one), cut in zip(table.columns.items(), release.domain.slices(), strict=True):
        found["levels" if isinstance(one, Category | Flag) else "centres"].append(away[:, cut])
        if release.cells is not None and release.cells.missing is not None and table.frame[name].isna().any():
            place = list(table.columns).index(name)
            part = abs(release.cells.missing[place] - table.frame[name].isna().mean())
            found["missing"].append(np.array([part / max(release.cells.error, 1e-300)]))
    found["counts"].append(np.abs(release.cluster_counts - counts[matched]) / release.count_errors)
    found["rows"].append(np.array([abs(release.n_rows - len(table.frame)) / release.n_rows_error]))
    rows = release.frame.clean(_coded(table))
    centers = release.frame.to_unit(release.cluster_centers)
    if not table.frame.isna().any(axis=None):
        squares = ((rows[:, None, :] - centers[None]) ** 2).sum(axis=2).min(axis=1)
        loss = float(squares.mean()) * release.frame.distance_unit**2
        found["loss"].append(np.array([abs(release.details["loss"] - loss) / release.details["loss_error"]]))


def _compare_profiles(found: Found, table: Table, release: Release) -> None:
    assert release.profiles is not None
    rows, centers = release.frame.clean(_coded(table)), release.frame.to_unit(release.cluster_centers)
    labels = np.argmin(((rows[:, None] - centers) ** 2).sum(axis=2), axis=1)  # with gaps where the fit placed them
    for shown in release.profiles.names:
        name, profile = shown.removesuffix(COPY), release.profiles[shown]
        if name not in table.numbers:
            continue
        values = _clipped(table, name)
        groups = [values[labels == label].dropna().to_numpy() for label in range(table.n_clusters)]
        truths = {"sds": (profile.spread(), [one.std() if one.size else np.nan for one in groups])}
        if shown != name:
            truths["means"] = profile.mean(), [one.mean() if one.size else np.nan for one in groups]
        for quantity, (stated, true) in truths.items():
            away = np.abs(stated.value - true) / stated.error
            found[quantity].append(away[np.isfinite(away)])
        stated = profile.quantiles(QUANTILES)
        for label, one in enumerate(groups):
            if one.size and np.isfinite(stated.value[label]).all():
                away = np.abs(stated.value[label] - np.quantile(one, QUANTILES)) / np.maximum(stated.error[label], 1e-300)
                found["quantiles"].append(away)


def _compare_ranges(
    found: Found, table: Table, names: list[str], epsilon: float, seed: int, generator: np.random.Generator
) -> None:
    rows = table.frame[names].to_numpy(dtype=np.float64)
    bounds = {name: table.columns[name] for name in names}
    ends = np.array([high for _, high in bounds.values()])  # whose rows belong to the last cell
    model = GridSynopsis(table.n_clusters, epsilon=epsilon, bounds=bounds, random_state=seed, n_jobs=1)
    synopsis = model.fit(table.frame[names]).synopsis_
    for _ in range(BOXES):
        low, high = np.sort(rows[generator.integers(len(rows), size=2)], axis=0)
        if (low < high).all():
            stated = synopsis.count((low, high))
            true = np.count_nonzero(((rows >= low) & ((rows < high) | (high >= ends))).all(axis=1))
            found["ranges"].append(np.array([abs(stated.value - true) / stated.standard_error]))


def make(name: str, seed: int, folder: str | None = None) -> Table:
    """Return a table by its name; the same rows for the same seed."""
    if name in PAPERS:
        data = load(name, folder)
        return _numbers(data.rows, data.n_clusters, (-1.0, 1.0))
    return FAMILIES[name](np.random.default_rng([seed, *name.encode()]))


# -- tables --------------------------------------------------------------------------------------------------------------


def _numbers(rows: Array, n_clusters: int, bounds: Any) -> Table:
    """Return a table of numbers with common bounds, or with one pair for each column."""
    names = [f"x{index}" for index in range(rows.shape[1])]
    pairs = [bounds] * len(names) if isinstance(bounds, tuple) else bounds
    return Table(pd.DataFrame(rows, columns=names), dict(zip(names, pairs, strict=True)), n_clusters)


def _groups(generator: np.random.Generator, n_groups: int, sizes: Array | None = None, n_rows: int = N_ROWS) -> Array:
    parts = np.ones(n_groups) if sizes is None else sizes
    return np.asarray(generator.choice(n_groups, size=n_rows, p=parts / parts.sum()))


def _gamma_costs(generator: np.random.Generator) -> Table:
    labels = _groups(generator, 4, np.array([6.0, 3, 2, 1]))
    cost = generator.gamma(1.2, np.array([300.0, 900, 2500, 9000])[labels])
    stay = generator.gamma(np.array([1.0, 3, 6, 12])[labels], 1.5)
    age = generator.normal(np.array([35.0, 50, 60, 72])[labels], 9)
    return Table(
        pd.DataFrame({"cost": cost, "stay": stay, "age": age}), {"cost": (0, 100_000), "stay": (0, 90), "age": (0, 110)}, 4
    )


def _lognormal_costs(generator: np.random.Generator) -> Table:
    labels = _groups(generator, 3)
    cost = generator.lognormal(np.array([8.0, 9, 10])[labels], 0.9)
    visits = generator.lognormal(np.array([0.5, 1.5, 2.5])[labels], 0.5)
    return Table(pd.DataFrame({"cost": cost, "visits": visits}), {"cost": (0, 1_000_000), "visits": (0, 200)}, 4)


def _log_scale(generator: np.random.Generator) -> Table:
    labels = _groups(generator, 4)
    income = generator.lognormal(np.array([9.0, 9.8, 10.5, 11.5])[labels], 0.35)
    age = generator.normal(np.array([25.0, 60, 40, 50])[labels], 6)
    return Table(
        pd.DataFrame({"age": age, "income": income}), {"age": (0, 110), "income": Number(100, 10_000_000, scale="log")}, 4
    )


def _poisson(generator: np.random.Generator) -> Table:
    rates = generator.uniform(0.3, 8, (5, 4))
    return _numbers(generator.poisson(rates[_groups(generator, 5)]).astype(float), 5, (0, 30))


def _likert(generator: np.random.Generator) -> Table:
    middles = generator.uniform(1, 5, (4, 6))
    rows = np.clip(np.rint(middles[_groups(generator, 4)] + 0.8 * generator.standard_normal((N_ROWS, 6))), 1, 5)
    return _numbers(rows, 4, (1, 5))


def _zero_inflated(generator: np.random.Generator) -> Table:
    amounts = generator.gamma(2.0, [40.0, 15, 8], (N_ROWS, 3)) * (generator.random((N_ROWS, 3)) < [0.3, 0.15, 0.5])
    return _numbers(amounts, 5, (0, 1000))


def _flags(generator: np.random.Generator) -> Table:
    shares = generator.uniform(0.05, 0.95, (4, 8))
    rows = generator.random((N_ROWS, 8)) < shares[_groups(generator, 4)]
    frame = pd.DataFrame(rows, columns=[f"f{index}" for index in range(8)])
    return Table(frame, {name: Flag() for name in frame.columns}, 4)


def _zeros_and_ones(generator: np.random.Generator) -> Table:
    shares = generator.choice([0.1, 0.8], (5, 10))
    return _numbers((generator.random((N_ROWS, 10)) < shares[_groups(generator, 5)]).astype(float), 5, (0, 1))


def _rare_flags(generator: np.random.Generator) -> Table:
    labels = _groups(generator, 3)
    frame = pd.DataFrame({"age": generator.normal(np.array([30.0, 50, 75])[labels], 5)})
    for index, share in enumerate((0.01, 0.03, 0.06, 0.1)):
        frame[f"f{index}"] = generator.random(N_ROWS) < share * (1 + labels) / 2
    return Table(frame, {"age": (0, 110), **{name: Flag(weight=0.25) for name in frame.columns[1:]}}, 3)


def _mixed(generator: np.random.Generator) -> Table:
    labels = _groups(generator, 4)
    wards = np.array(["a", "b", "c", "d"])
    frame = pd.DataFrame(
        {
            "age": generator.normal(np.array([25.0, 45, 65, 80])[labels], 6),
            "pressure": generator.normal(np.array([118.0, 140, 155, 130])[labels], 10),
            "ward": wards[np.where(generator.random(N_ROWS) < 0.7, labels, generator.integers(4, size=N_ROWS))],
            "insulin": generator.random(N_ROWS) < np.array([0.05, 0.3, 0.6, 0.1])[labels],
        }
    )
    columns = {
        "age": (0, 110),
        "pressure": (60, 240),
        "ward": Category([*wards.tolist()], weight=0.5),
        "insulin": Flag(weight=0.5),
    }
    return Table(frame, columns, 4)


def _missing(generator: np.random.Generator) -> Table:
    labels = _groups(generator, 3)
    rows = generator.normal(np.array([[20.0, 100, 5], [50, 180, 20], [70, 120, 35]])[labels], [5.0, 15, 3])
    rows[generator.random(N_ROWS) < 0.1, 1] = np.nan
    rows[generator.random(N_ROWS) < 0.3, 2] = np.nan
    return _numbers(rows, 3, [(0, 110), (40, 300), (0, 60)])


def _zipf(generator: np.random.Generator) -> Table:
    centers = generator.uniform(0, 100, (8, 3))
    labels = _groups(generator, 8, 1 / np.arange(1, 9) ** 1.3)
    return _numbers(centers[labels] + 3 * generator.standard_normal((N_ROWS, 3)), 8, (-20, 120))


def _student_groups(generator: np.random.Generator) -> Table:
    centers = generator.uniform(-20, 20, (5, 3))
    return _numbers(centers[_groups(generator, 5)] + generator.standard_t(3, (N_ROWS, 3)), 5, (-60, 60))


def _cauchy(generator: np.random.Generator) -> Table:
    return _numbers(generator.standard_t(1.5, (N_ROWS, 3)), 4, (-50, 50))


def _elongated(generator: np.random.Generator) -> Table:
    centers, rows = generator.uniform(-30, 30, (5, 4)), np.empty((N_ROWS, 4))
    labels = _groups(generator, 5)
    for label in range(5):
        axes = np.linalg.qr(generator.standard_normal((4, 4)))[0] * [8.0, 2, 1, 0.6]
        chosen = labels == label
        rows[chosen] = centers[label] + generator.standard_normal((int(chosen.sum()), 4)) @ axes.T
    return _numbers(rows, 5, (-70, 70))


def _background(generator: np.random.Generator) -> Table:
    centers = generator.uniform(10, 90, (5, 3))
    rows = centers[_groups(generator, 5)] + 2.5 * generator.standard_normal((N_ROWS, 3))
    noise = generator.random(N_ROWS) < 0.2
    rows[noise] = generator.uniform(0, 100, (int(noise.sum()), 3))
    return _numbers(rows, 5, (0, 100))


def _uniform_4(generator: np.random.Generator) -> Table:
    return _numbers(generator.uniform(size=(N_ROWS, 4)), 6, (0, 1))


def _banana(generator: np.random.Generator) -> Table:
    first = 3 * generator.standard_normal(N_ROWS)
    return _numbers(np.stack([first, 0.2 * first**2 + generator.standard_normal(N_ROWS)], axis=1), 4, (-15, 30))


def _arcsine(generator: np.random.Generator) -> Table:
    return _numbers(generator.beta(0.5, 0.5, (N_ROWS, 3)), 5, (0, 1))


def _weibull(generator: np.random.Generator) -> Table:
    return _numbers(generator.weibull(0.8, (N_ROWS, 2)) * [10.0, 3], 5, [(0, 200), (0, 60)])


def _small_far(generator: np.random.Generator) -> Table:
    labels = _groups(generator, 4, np.array([70.0, 25, 4, 1]))
    centers = np.array([[10.0, 10, 10], [30, 20, 10], [80, 80, 20], [20, 90, 90]])
    return _numbers(centers[labels] + 4 * generator.standard_normal((N_ROWS, 3)), 4, (0, 110))


def _overlapping_10(generator: np.random.Generator) -> Table:
    centers = generator.normal(0, 1.2, (6, 10))
    return _numbers(centers[_groups(generator, 6)] + generator.standard_normal((N_ROWS, 10)), 6, (-8, 8))


def _pareto(generator: np.random.Generator) -> Table:
    return _numbers(generator.pareto(2.2, (N_ROWS, 2)) * [100.0, 20], 4, [(0, 5000), (0, 1000)])


def _rounded(generator: np.random.Generator) -> Table:
    labels = _groups(generator, 5)
    age = 5 * np.rint(generator.normal(np.array([20.0, 35, 50, 65, 80])[labels], 5) / 5)
    income = 1000 * np.rint(generator.normal(np.array([12.0, 40, 55, 30, 20])[labels], 6))
    return Table(pd.DataFrame({"age": age, "income": income}), {"age": (0, 110), "income": (0, 120_000)}, 5)


def _sphere(generator: np.random.Generator) -> Table:
    rows = generator.standard_normal((N_ROWS, 3))
    return _numbers(rows / np.linalg.norm(rows, axis=1, keepdims=True), 6, (-1, 1))


def _correlated(generator: np.random.Generator) -> Table:
    factors = generator.standard_normal((N_ROWS, 2))
    return _numbers(factors @ generator.standard_normal((2, 6)) + 0.5 * generator.standard_normal((N_ROWS, 6)), 4, (-12, 12))


def _few(generator: np.random.Generator) -> Table:
    labels = _groups(generator, 3, n_rows=1200)
    centers = generator.uniform(10, 40, (3, 3))
    return _numbers(centers[labels] + 3 * generator.standard_normal((1200, 3)), 3, (0, 50))


def _outliers(generator: np.random.Generator) -> Table:
    labels = _groups(generator, 4)
    centers = generator.uniform(20, 60, (4, 4))
    rows = centers[labels] + 3 * generator.standard_normal((N_ROWS, 4))
    far = generator.random(N_ROWS) < 0.01
    rows[far] += generator.exponential(150, (int(far.sum()), 4))
    return _numbers(rows, 4, (0, 500))


FAMILIES: dict[str, Callable[[np.random.Generator], Table]] = {
    "gamma-costs": _gamma_costs,
    "lognormal-costs": _lognormal_costs,
    "log-incomes": _log_scale,
    "poisson": _poisson,
    "likert": _likert,
    "zero-inflated": _zero_inflated,
    "flags": _flags,
    "zeros-and-ones": _zeros_and_ones,
    "rare-flags": _rare_flags,
    "mixed": _mixed,
    "missing": _missing,
    "zipf": _zipf,
    "student-groups": _student_groups,
    "cauchy": _cauchy,
    "elongated": _elongated,
    "background": _background,
    "uniform-4": _uniform_4,
    "banana": _banana,
    "arcsine": _arcsine,
    "weibull": _weibull,
    "small-far": _small_far,
    "overlapping-10": _overlapping_10,
    "pareto": _pareto,
    "rounded": _rounded,
    "sphere": _sphere,
    "correlated": _correlated,
    "few": _few,
    "outliers": _outliers,
}
PAPERS = ("iris", "sklearn_16_4", "adult", "letter", "gas")


if __name__ == "__main__":
    sys.exit(main())
