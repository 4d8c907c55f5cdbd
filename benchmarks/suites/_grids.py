# SPDX-License-Identifier: Apache-2.0
"""Tables II and III of the RUGNIK paper: losses on own data, and cells per rule, which must be equal to the printed ones.

Data: K Gaussian clusters of N/K rows with a separation in [0.16, 0.26], ten tables a configuration, in a box [-1, 1]^d that is
larger than the rows (``python -m benchmarks.grid_data`` says why). Figure: sum of squared distances to the nearest centre,
divided by K. Pure epsilon, but for CoresetKMeans (delta = 1e-6).
"""

import itertools
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from cloister import GridKMeans
from cloister.grids import cells_per_axis

from .._clock import timed
from .._data import DataSet
from .._errors import BenchError
from .._generate import clusters_in_a_public_box
from .._jobs import Choice, Context, Job, Plan
from .._methods import LIMIT, LIMITS, METHODS, find_method
from .._page import Block, Check, Figure, Section, Table, say, say_ratio
from .._papers import cells_printed, wcss_printed
from .._plots import Panel, draw_panels
from .._ranking import TIMES, Ranking, rank_methods
from .._results import Cell, Results
from .._stats import Estimate, geometric_mean, ratio_of
from ._base import Suite, chosen_names, failures, turn_by_turn
from ._fit import run_method

__all__ = ["Grids", "measure_grid"]

KIND = "grid"
CLUSTERS, ROWS_PER_CLUSTER, FEATURES = (2, 4, 8), (50, 100, 200), (2, 3)
EPSILONS = (0.1, 0.15, 0.25, 0.4, 0.6, 1.0)
TABLES = 10
REPEATS = {"quick": 20, "paper": 200}
# Rules and their options; the first two are the paper's comparison.
RULES: dict[str, dict[str, Any]] = {
    "EUGkM": {"rule": "eugkm"},
    "RUGNIK": {"rule": "rugnik"},
    "RUGNIK-clip": {"rule": "rugnik", "counts": "clip"},
    "RUGNIK-slope": {"rule": "rugnik", "representatives": "slope"},
}
COLUMNS = {
    "EUGkM": "eugkm",
    "RUGNIK": "rugnik",
    "LloydKMeans-pure": "diffprivlib",
    "diffprivlib": "diffprivlib",
    "CoresetKMeans": "google_coreset",
    LIMIT: "nonprivate",
}
OTHERS = ("LloydKMeans-pure", "CoresetKMeans", "diffprivlib")
CORESET_DELTA = 1e-6
LEAD = (
    "Sum of squared distances divided by K, rows in [-1, 1]^d, pure epsilon; own data made as the paper describes, so that "
    "figures stand beside the paper's and are not the same. ± is half the 95 % interval."
)
Shape = tuple[int, int, int]  # columns, clusters, rows


class Grids(Suite):
    """Two rules for the number of cells, and rivals where they are installed."""

    name = "grids"
    kinds = (KIND,)

    @property
    def own_methods(self) -> tuple[str, ...]:
        return tuple(RULES)

    def plan(self, choice: Choice) -> Plan:
        every = [f"grid_{d}_{k}_{k * q}" for d in FEATURES for k in CLUSTERS for q in ROWS_PER_CLUSTER]
        few = [f"grid_{d}_{k}_{k * 100}" for d in FEATURES for k in CLUSTERS]
        names = chosen_names("--datasets", choice.datasets, every, few if choice.profile == "quick" else every)
        others = [name for name in OTHERS if METHODS[name].missing(choice.context.pythons) is None]
        methods = chosen_names("--methods", choice.methods, [*RULES, *others], [*list(RULES)[:2], *others])
        repeats = choice.repeats or REPEATS[choice.profile]
        jobs = [
            Job(kind=KIND, data=name, method=LIMIT, epsilon=None, repeat=repeat, base_seed=choice.seed, origin="own")
            for name in names
            for repeat in range(min(repeats, TABLES))
        ]
        jobs += [
            Job(kind=KIND, data=name, method=method, epsilon=epsilon, repeat=repeat, base_seed=choice.seed, origin="own")
            for name, method, epsilon in itertools.product(names, methods, choice.epsilons or EPSILONS)
            for repeat in range(repeats)
        ]
        return Plan(turn_by_turn(jobs))

    def section(self, results: Results, folder: Path) -> Section:
        cells = {(name, method): cell for (name, _, method), cell in results.cells().items()}
        shapes = {name: _shape(name) for name in sorted(results.names("data"), key=_shape)}
        draw_panels(folder, "grids", _panels(cells, shapes), x="epsilon", y="WCSS / K", a_row=3)
        ratios = _ratios(cells)
        blocks: list[Block] = [
            LEAD,
            *([_means(ratios)] if ratios else []),
            Figure("grids", "Loss against epsilon; shaded, from 5 repeats on: 95 % interval; dotted: without privacy."),
            *(
                _beside_paper(cells, shapes, method)
                for method in results.names("method")
                if method in COLUMNS and method != LIMIT
            ),
            _eugkm_wins(ratios),
            *failures(results),
        ]
        return Section(self.title, blocks, [_cells_check(), *_loss_checks(ratios)], _ranking(cells))


def measure_grid(job: Job, context: Context) -> dict[str, Any]:
    """Fit a rule or a rival to one of the ten tables of a configuration."""
    data = _table(job.data, job.base_seed, job.repeat % TABLES)
    n_rows, unit = len(data.rows), len(data.rows) / data.n_clusters
    if job.method in RULES:
        model = GridKMeans(
            data.n_clusters,
            epsilon=job.epsilon,
            bounds=(-1, 1),
            n_rows=n_rows,
            random_state=job.seed,
            n_jobs=1,
            **RULES[job.method],
        )
        model, figures = timed(lambda: model.fit(data.rows))
        figures["loss"] = data.loss(model.cluster_centers_)
    else:
        delta = CORESET_DELTA if job.method == "CoresetKMeans" else 0.0
        figures = run_method(find_method(job.method), data, job, context, delta=delta, box=True)
    return {**figures, "loss": figures["loss"] * unit}


@lru_cache(maxsize=256)
def _table(name: str, base_seed: int, number: int) -> DataSet:
    d, k, n = _shape(name)
    seeds = [d, k, n // k, number] if base_seed == 0 else [d, k, n // k, number, base_seed]
    return DataSet(name, clusters_in_a_public_box(np.random.default_rng(seeds), [n // k] * k, d), k)


def _shape(name: str) -> Shape:
    try:
        d, k, n = (int(part) for part in name.split("_")[1:])
    except ValueError:
        raise BenchError(f"--datasets: expected a name such as grid_2_4_400 (columns, clusters, rows), got {name!r}.") from None
    return d, k, n


def _ratios(cells: dict[tuple[str, str], Cell]) -> dict[tuple[Shape, float], Estimate]:
    """Return RUGNIK over EUGkM for each configuration and epsilon."""
    found = {}
    for (name, method), cell in cells.items():
        rival = cells.get((name, "EUGkM"))
        if method == "RUGNIK" and rival is not None:
            for epsilon in cell.epsilons:
                if epsilon in rival.losses:
                    found[_shape(name), epsilon] = ratio_of(cell.at(epsilon), rival.at(epsilon))
    return found


def _ranking(cells: dict[tuple[str, str], Cell]) -> Ranking | None:
    figures = {
        ((name, epsilon), method): cell.at(epsilon).value / cells[name, LIMIT].at(None).value
        for (name, method), cell in cells.items()
        if method not in LIMITS and (name, LIMIT) in cells
        for epsilon in cell.epsilons
    }
    what = "Loss relative to k-means without privacy"
    return rank_methods(figures, what=what, cases="configurations and epsilons", unit=TIMES, base=1.0)


def _means(ratios: dict[tuple[Shape, float], Estimate]) -> Table:
    printed = wcss_printed()
    rows = []
    for epsilon in [*sorted({epsilon for _, epsilon in ratios}), None]:
        keys = [key for key in ratios if epsilon in (None, key[1])]
        known = [(*shape, one) for shape, one in keys if (*shape, "rugnik", one) in printed]
        paper = [printed[d, k, n, "rugnik", one] / printed[d, k, n, "eugkm", one] for d, k, n, one in known]
        ours = geometric_mean([ratios[key].value for key in keys])
        name = "all" if epsilon is None else f"{epsilon:g}"
        rows.append([name, str(len(keys)), f"{geometric_mean(paper):.3f}" if paper else "-", f"{ours:.3f}"])
    return Table("RUGNIK over EUGkM, geometric mean", ["epsilon", "configurations", "paper", "here"], rows)


def _beside_paper(cells: dict[tuple[str, str], Cell], shapes: dict[str, Shape], method: str) -> Table:
    printed, rows = wcss_printed(), []
    for name, (d, k, n) in shapes.items():
        cell, limit = cells.get((name, method)), cells.get((name, LIMIT))
        theirs = printed.get((d, k, n, "nonprivate", None))
        for epsilon in cell.epsilons if cell is not None else ():
            paper = printed.get((d, k, n, COLUMNS[method], epsilon))
            ours = cell.at(epsilon) if cell is not None else None
            ratio = ours.times(1 / paper) if paper and ours else None
            over = f"{ours.value / limit.at(None).value:.2f}" if limit is not None and ours else "-"
            rows.append(
                [
                    f"d = {d}, K = {k}, N = {n}",
                    f"{epsilon:g}",
                    f"{paper:.3f}" if paper else "-",
                    say(ours),
                    say_ratio(ratio),
                    f"{paper / theirs:.2f}" if paper and theirs else "-",
                    over,
                ]
            )
    columns = ["configuration", "epsilon", "paper", "here", "ratio (95 %)", "paper / limit", "here / limit"]
    return Table(f"{method} beside the paper", columns, rows)


def _eugkm_wins(ratios: dict[tuple[Shape, float], Estimate]) -> str:
    wins = [(key, ratio) for key, ratio in ratios.items() if ratio.value > 1]
    words = "; ".join(f"d = {d}, K = {k}, N = {n}, epsilon {one:g}: {ratio.value:.2f}" for ((d, k, n), one), ratio in wins)
    return f"EUGkM has the lower loss in {len(wins)} of {len(ratios)} configurations{': ' if wins else '.'}{words}"


def _panels(cells: dict[tuple[str, str], Cell], shapes: dict[str, Shape]) -> list[Panel]:
    listed = [name for name, (_, k, n) in shapes.items() if n == 100 * k] or list(shapes)
    panels = []
    for name in listed:
        d, k, n = shapes[name]
        mine = {method: cell for (one, method), cell in cells.items() if one == name and method != LIMIT}
        limit = cells.get((name, LIMIT))
        curves = {method: {epsilon: cell.at(epsilon) for epsilon in cell.epsilons} for method, cell in mine.items()}
        panels.append(Panel(f"d = {d}, K = {k}, N = {n}", curves, None if limit is None else limit.at(None).value))
    return panels


def _cells_check() -> Check:
    """Compare the number of cells of both rules with Table III: no fit is needed for that."""
    printed = cells_printed()
    right = sum(
        cells_per_axis(rule, n_rows=n, n_features=d, n_clusters=k, epsilon=epsilon) ** d == count
        for (d, k, n, rule, epsilon), count in printed.items()
    )
    return Check("Table III: numbers of cells that are equal", f"{right} of {len(printed)}", "all", right == len(printed))


def _loss_checks(ratios: dict[tuple[Shape, float], Estimate]) -> list[Check]:
    checks = []
    if ratios:
        mean = geometric_mean([ratio.value for ratio in ratios.values()])
        checks.append(Check("RUGNIK over EUGkM, geometric mean", f"{mean:.3f}", "at most 0.80", mean <= 0.80))
    tight = [ratio for (shape, epsilon), ratio in ratios.items() if epsilon <= 0.25 and _eugkm_cells(shape, epsilon) > 1]
    if tight:
        worst = max(tight, key=lambda ratio: ratio.value)
        bar = "at most 1.05"
        checks.append(
            Check(
                "RUGNIK over EUGkM, largest at epsilon <= 0.25 but for grids of one cell",
                say_ratio(worst),
                bar,
                worst.low <= 1.05,
            )
        )
    return checks


def _eugkm_cells(shape: Shape, epsilon: float) -> int:
    d, k, n = shape
    return cells_per_axis("eugkm", n_rows=n, n_features=d, n_clusters=k, epsilon=epsilon) ** d
