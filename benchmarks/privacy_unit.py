# SPDX-License-Identifier: Apache-2.0
"""What protecting persons costs: ``python -m benchmarks.privacy_unit [--repeats N] [--tables NAME ...] [--rule N]``.

Each table has persons of four planted groups. Persons scatter about the centre of their group and their rows about the person;
in every column a row has the variance 1 about the centre of its group, half of it between persons. The groups lie at least six
standard deviations apart. Every repeat is a new table. Persons are protected at epsilon 1 and delta 1e-6, with 1, 5 and "auto"
rows of each, where every row counts and where every person does. Beside them: single rows, protected at epsilon and delta over
the largest number of rows that anybody has (what one had to do before; it promises no more than about as much for persons), and
scikit-learn's KMeans without noise, on all rows.

"Loss" is the mean squared distance of all rows from the nearest centre, over that without noise. "Farthest" is the greatest
distance of a planted centre from the nearest one found, in standard deviations of a column: the median of the repeats and the
largest.

``--rule N`` judges how "auto" chooses the number of rows: N tables with 500 to 50,000 persons, 2 to 30 columns, epsilon 0.2 to
3, rows of a person from independent to equal. Every number of a list is tried on each, and "auto", each three times with other
noise, of which the median counts: now and then a group is not found. "Regret" is the loss with "auto" over the least with any
number; as the least of ten noisy figures that one flatters itself.
"""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans as Reference

from cloister import KMeans

from ._arrays import Array
from ._harness import Report
from ._stats import geometric_mean

EPSILON, DELTA = 1.0, 1e-6
N_GROUPS, APART = 4, 6.0  # standard deviations
SIDE = 8.0  # half of that of the cube that the planted centres lie in
BOUNDS = (-12.0, 12.0)  # public
BETWEEN = 0.5  # of the variance of rows about the centre of their group, the part that lies between persons
TAIL, LONGEST = 1.7, 1_000  # exponent and end of the heavy tail
STARTS = 3
REPEATS = 5
FOUND = 1.0  # standard deviations within which a planted centre is found
LIMITS: tuple[Any, ...] = (1, 5, "auto")
TRIED = (1, 2, 3, 5, 8, 11, 15, 21, 29, 41)
RULE_REPEATS = 3
MOST_NUMBERS = 600_000  # of a table on which the rule is judged
FEW_PERCENT = 1.03
HEADINGS = ("table", "protected", "rows per person", "loss", "farthest", "largest", "m used")

Sizes = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Planted:
    """Rows, whose they are, and the centres of the groups."""

    rows: Array
    ids: Sizes
    centers: Array

    @property
    def most(self) -> int:
        """The largest number of rows that anybody has."""
        return int(np.bincount(self.ids).max())


def one_to_fifty(generator: np.random.Generator, n_persons: int) -> Sizes:
    """Return numbers of rows from 1 to 50, all as likely."""
    return generator.integers(1, 51, n_persons)


def heavy_tailed(generator: np.random.Generator, n_persons: int) -> Sizes:
    """Return numbers of rows of which most are small and few are very large."""
    return np.minimum(generator.zipf(TAIL, n_persons), LONGEST)


SIZES: dict[str, Callable[[np.random.Generator, int], Sizes]] = {"1 to 50": one_to_fifty, "heavy tail": heavy_tailed}
TABLES: dict[str, tuple[int, int, str]] = {  # persons, columns, numbers of rows
    "20,000 persons, 2 columns": (20_000, 2, "1 to 50"),
    "20,000 persons, 8 columns": (20_000, 8, "1 to 50"),
    "heavy tail, 2 columns": (20_000, 2, "heavy tail"),
    "heavy tail, 8 columns": (20_000, 8, "heavy tail"),
    "2,000 persons, 2 columns": (2_000, 2, "1 to 50"),
    "2,000 persons, 8 columns": (2_000, 8, "1 to 50"),
}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=REPEATS, help="new tables of each kind")
    parser.add_argument("--tables", nargs="*", choices=[*TABLES], default=[*TABLES], help="only these")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--rule", type=int, metavar="N", default=0, help="judge the choice of the number of rows on N tables instead"
    )
    options = parser.parse_args(arguments)
    report = Report("privacy_unit", epsilon=EPSILON, delta=DELTA, seed=options.seed, repeats=options.repeats)
    if options.rule:
        _judge_rule(report, options.rule, options.seed)
        return report.finish()
    report.head(*HEADINGS)
    for name in options.tables:
        _compare(report, name, options.repeats, options.seed)
    return report.finish()


def planted(
    generator: np.random.Generator, n_persons: int, n_features: int, sizes: str, *, between: float = BETWEEN
) -> Planted:
    """Return a table of persons; some group has each of them."""
    centers = _lay_out(generator, n_features)
    planted = generator.permutation(np.arange(n_persons) % N_GROUPS)
    persons = centers[planted] + between**0.5 * generator.standard_normal((n_persons, n_features))
    ids = np.repeat(np.arange(n_persons), SIZES[sizes](generator, n_persons))
    rows = persons[ids] + (1 - between) ** 0.5 * generator.standard_normal((len(ids), n_features))
    order = generator.permutation(len(ids))
    return Planted(rows[order], ids[order], centers)


def _lay_out(generator: np.random.Generator, n_features: int) -> Array:
    """Return centres in a cube, none closer to another than it should be."""
    while True:
        centers = generator.uniform(-SIDE, SIDE, (N_GROUPS, n_features))
        if cdist(centers, centers)[~np.eye(N_GROUPS, dtype=bool)].min() >= APART:
            return centers


def mean_loss(rows: Array, centers: Array) -> float:
    """Return the mean squared distance of rows from the nearest centre."""
    return float(np.mean(cdist(rows, centers, "sqeuclidean").min(axis=1)))


def farthest(planted_centers: Array, found: Array) -> float:
    """Return the greatest distance of a planted centre from the nearest one found."""
    return float(cdist(planted_centers, found).min(axis=1).max())


def contenders(table: Planted, seed: int) -> dict[tuple[str, str], Callable[[], KMeans]]:
    """Return the private fits, by whom they protect and how many rows they use."""
    given: dict[str, Any] = {"bounds": BOUNDS, "random_state": seed, "n_jobs": 1}

    def by_person(limit: Any, weighting: str) -> KMeans:
        model = KMeans(N_GROUPS, epsilon=EPSILON, delta=DELTA, max_rows_per_unit=limit, weighting=weighting, **given)
        return model.fit(table.rows, privacy_unit=table.ids)

    def by_row() -> KMeans:
        return KMeans(N_GROUPS, epsilon=EPSILON / table.most, delta=DELTA / table.most, **given).fit(table.rows)

    fits: dict[tuple[str, str], Callable[[], KMeans]] = {
        (f"persons, every {weighting} counts", str(limit)): lambda limit=limit, weighting=weighting: by_person(limit, weighting)
        for weighting in ("row", "person")
        for limit in LIMITS
    }
    return {**fits, ("rows, epsilon over the most rows", ""): by_row}


def _compare(report: Report, name: str, repeats: int, seed: int) -> None:
    """Print a row for each contender on one kind of table."""
    n_persons, n_features, sizes = TABLES[name]
    seen: dict[tuple[str, str], list[tuple[float, float, int]]] = {}
    for repeat in range(repeats):
        table = planted(np.random.default_rng([seed, repeat, *name.encode()]), n_persons, n_features, sizes)
        exact = Reference(N_GROUPS, n_init=STARTS, random_state=repeat).fit(table.rows).cluster_centers_
        least = mean_loss(table.rows, exact)
        seen.setdefault(("nobody", "all"), []).append((1.0, farthest(table.centers, exact), table.most))
        for key, fit in contenders(table, seed + repeat).items():
            model = fit()
            privacy_unit = model.privacy_receipt_.privacy_unit
            used = table.most if privacy_unit is None else privacy_unit.max_rows
            loss = mean_loss(table.rows, model.cluster_centers_) / least
            seen.setdefault(key, []).append((loss, farthest(table.centers, model.cluster_centers_), used))
    for (protected, limit), results in seen.items():
        losses, distances, numbers = (np.array(one) for one in zip(*results, strict=True))
        figures = {
            "loss": float(losses.mean()),
            "farthest": float(np.median(distances)),
            "largest": float(distances.max()),
            "m_used": [int(one) for one in numbers],
        }
        words = ", ".join(map(str, sorted(set(figures["m_used"])))) if protected.startswith("persons") else ""
        cells = (f"{figures['loss']:.4f}", f"{figures['farthest']:.3f}", f"{figures['largest']:.3f}", words)
        report.row(name, protected, limit, *cells, table=name, protected=protected, limit=limit, **figures)
        if protected.startswith("persons") and n_persons >= 20_000:
            report_found(report, f"{name}, {protected}, {limit}: farthest planted centre", figures["largest"])


def report_found(report: Report, what: str, distance: float) -> None:
    """Note a planted centre that was not found; say nothing of those that were."""
    if distance > FOUND:
        report.floor(what, distance, at_most=FOUND)


# -- how the number of rows is chosen ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Setting:
    """A table on which the rule is judged, and what is spent on it."""

    n_persons: int
    n_features: int
    epsilon: float
    between: float
    sizes: str
    weighting: str

    @property
    def words(self) -> str:
        """What it is, in words."""
        return f"{self.n_persons:,} x {self.n_features}, {self.sizes}, between {self.between:g}, by {self.weighting}"


def draw_settings(count: int, seed: int) -> list[Setting]:
    """Return settings at random; none has more numbers than fit into little memory."""
    generator = np.random.default_rng([seed, 77])
    found: list[Setting] = []
    while len(found) < count:
        setting = Setting(
            n_persons=int(generator.choice([500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000])),
            n_features=int(generator.choice([2, 4, 8, 15, 30])),
            epsilon=float(generator.choice([0.2, 0.5, 1.0, 3.0])),
            between=float(generator.choice([0.0, 0.5, 0.9, 1.0])),
            sizes=str(generator.choice([*SIZES])),
            weighting=str(generator.choice(["row", "person"])),
        )
        mean = 25.5 if setting.sizes == "1 to 50" else 10.0
        if setting.n_persons * setting.n_features * mean <= MOST_NUMBERS:
            found.append(setting)
    return found


def losses_of(setting: Setting, limits: Sequence[Any], seed: int) -> tuple[dict[Any, float], list[int]]:
    """Return the median loss with each number of rows, over that without noise, and what "auto" chose."""
    generator = np.random.default_rng([seed, 78])
    table = planted(generator, setting.n_persons, setting.n_features, setting.sizes, between=setting.between)
    least = mean_loss(table.rows, Reference(N_GROUPS, n_init=STARTS, random_state=0).fit(table.rows).cluster_centers_)
    found: dict[Any, list[float]] = {limit: [] for limit in limits}
    chosen = []
    for repeat in range(RULE_REPEATS):
        for number, limit in enumerate(limits):
            model = KMeans(
                N_GROUPS,
                epsilon=setting.epsilon,
                delta=DELTA,
                bounds=BOUNDS,
                max_rows_per_unit=limit,
                weighting=setting.weighting,
                random_state=1_000 * repeat + number,
                n_jobs=1,
            ).fit(table.rows, privacy_unit=table.ids)
            found[limit].append(mean_loss(table.rows, model.cluster_centers_) / least)
            if limit == "auto":
                chosen.append(model.privacy_receipt_.privacy_unit.max_rows)
    return {limit: float(np.median(values)) for limit, values in found.items()}, chosen


def _judge_rule(report: Report, count: int, seed: int) -> None:
    """Print how far "auto" is from the best number of rows."""
    report.head("setting", "epsilon", "best m", "its loss", "auto: m", "its loss", "regret", "loss by m")
    regrets = []
    for number, setting in enumerate(draw_settings(count, seed)):
        losses, chosen = losses_of(setting, (*TRIED, "auto"), seed + number)
        fixed = {limit: losses[limit] for limit in TRIED}
        best = min(fixed, key=lambda limit: fixed[limit])
        regret = losses["auto"] / fixed[best]
        regrets.append(regret)
        spelled = ", ".join(f"{limit}: {loss:.3f}" for limit, loss in fixed.items())
        cells: Mapping[str, object] = {"best": best, "best_loss": fixed[best], "auto": chosen, "auto_loss": losses["auto"]}
        report.row(
            setting.words,
            f"{setting.epsilon:g}",
            best,
            f"{fixed[best]:.3f}",
            "/".join(map(str, sorted(set(chosen)))),
            f"{losses['auto']:.3f}",
            f"{regret:.3f}",
            spelled,
            setting=setting.words,
            fixed={str(limit): loss for limit, loss in fixed.items()},
            regret=regret,
            **cells,
        )
    close = float(np.mean(np.array(regrets) <= FEW_PERCENT))
    mean = geometric_mean(regrets)
    words = f"{close:.0%} of {count} settings; geometric mean of the regret {mean:.3f}"
    report.line(f'\n"auto" within {FEW_PERCENT - 1:.0%} of the best number: {words}', close=close, regret=mean)


if __name__ == "__main__":
    sys.exit(main())
