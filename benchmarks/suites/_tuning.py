# SPDX-License-Identifier: Apache-2.0
"""Figure 2 of the PE-means paper: the best numbers of candidates and of rounds, against the size and the width of the data.

For each data set every pair of (candidates, rounds) is tried at epsilon = 1; the three with the lowest mean loss are drawn with
a local regression through them (LOWESS) and the rule that the paper reads off. The paper's L counts candidates of all centres
together; a centre has L / k variations.
"""

import itertools
from pathlib import Path
from typing import Any

import numpy as np

from cloister import Ball, PEMeans

from .._arrays import Array
from .._clock import timed
from .._data import load, shape_of
from .._jobs import Choice, Context, Job, Plan
from .._page import Block, Figure, Section, Table, say
from .._plots import new_figure, plain_ticks
from .._results import Results
from .._sources import sources
from .._stats import Estimate, mean_of, slope_of
from ._base import Suite, chosen_data, chosen_names, failures, turn_by_turn

__all__ = ["Tuning", "lowess", "measure_tuning"]

KIND, METHOD = "tuning", "PEMeans"
CANDIDATES = (32, 128, 512, 2048, 8192)
ROUNDS = (2, 4, 8, 16, 32)
# Sizes and widths around those of Table I, small enough to be tried 25 times each.
QUICK = ("iris", *(f"blobs_{n}_4_8" for n in (400, 1600, 6400)), *(f"blobs_1600_{d}_8" for d in (2, 8, 16)))
WIDEST = 32  # beyond it, PEMeans projects to 16 columns
EPSILON = 1.0
REPEATS = {"quick": 3, "paper": 5}
BEST = 3
LEAD = (
    f"Every pair of {len(CANDIDATES)} numbers of candidates and {len(ROUNDS)} of rounds; the adaptive halving of the "
    "candidates is on, as in the paper. Exponents by least squares of the logarithms of the best three."
)
Tried = dict[tuple[int, int], Estimate]  # by candidates and rounds


class Tuning(Suite):
    """PEMeans with many settings."""

    name = "tuning"
    kinds = (KIND,)

    def plan(self, choice: Choice) -> Plan:
        chosen_names("--methods", choice.methods, [METHOD], [METHOD])
        rows = [source.name for source in sources().values() if source.n_features <= WIDEST]
        data, left_out = chosen_data(choice, QUICK if choice.profile == "quick" else [*rows, *QUICK[1:]])
        facts = [{"kind": KIND, "data": name, "origin": origin, "base_seed": choice.seed} for name, origin in data]
        tried = [{"candidates": one, "rounds": other} for one, other in itertools.product(CANDIDATES, ROUNDS)]
        jobs = [
            Job(**one, method=METHOD, epsilon=epsilon, repeat=repeat, settings=settings)
            for one, settings in itertools.product(facts, tried)
            for epsilon in choice.epsilons or (EPSILON,)
            for repeat in range(choice.repeats or REPEATS[choice.profile])
        ]
        return Plan(turn_by_turn(jobs), tuple(left_out))

    def section(self, results: Results, folder: Path) -> Section:
        tried = _tried(results)
        best = {name: sorted(found, key=lambda pair: found[pair].value)[:BEST] for name, found in tried.items()}
        _draw(folder, best)
        blocks: list[Block] = [
            LEAD,
            _exponents(best),
            Figure("tuning", "The three best settings of each data set, LOWESS (solid) and the paper's rule (dashed)."),
            _table(tried, best),
            *failures(results),
        ]
        return Section(self.title, blocks)


def measure_tuning(job: Job, context: Context) -> dict[str, Any]:
    """Fit PEMeans with given numbers of candidates and rounds."""
    data = load(job.data, context.folder)
    model = PEMeans(
        data.n_clusters,
        epsilon=job.epsilon,
        delta=data.delta,
        bounds=Ball(1.0),
        n_rows=len(data.rows),
        n_variations=max(1, round(job.settings["candidates"] / data.n_clusters)),
        max_candidates=2 * max(CANDIDATES),
        n_rounds=job.settings["rounds"],
        random_state=job.seed,
        n_jobs=1,
    )
    model, spent = timed(lambda: model.fit(data.rows))
    return {"loss": data.loss(model.cluster_centers_), **spent}


def lowess(xs: Array, ys: Array, *, share: float = 0.8, points: int = 40) -> tuple[Array, Array]:
    """Return a curve through a cloud: at each place a line through the nearest part of it, weighted by distance."""
    places = np.linspace(xs.min(), xs.max(), points)
    count = max(3, int(np.ceil(share * len(xs))))
    fitted = []
    for place in places:
        gaps = np.abs(xs - place)
        few = np.sort(np.abs(np.unique(xs) - place))[:3].max()  # a line needs places to go through, however many sit on one
        reach = max(float(np.sort(gaps)[min(count, len(gaps)) - 1]), 1.5 * float(few), 1e-12) * 1.001
        weights = np.clip(1 - (gaps / reach) ** 3, 0, None) ** 3
        design = np.stack([np.ones_like(xs), xs - place], axis=1) * np.sqrt(weights)[:, None]
        fitted.append(np.linalg.lstsq(design, ys * np.sqrt(weights), rcond=None)[0][0])
    return places, np.array(fitted)


def _tried(results: Results) -> dict[str, Tried]:
    losses: dict[str, dict[tuple[int, int], list[float]]] = {}
    for record in results.good:
        pair = (record["settings"]["candidates"], record["settings"]["rounds"])
        losses.setdefault(record["data"], {}).setdefault(pair, []).append(record["loss"])
    return {name: {pair: mean_of(values) for pair, values in found.items()} for name, found in losses.items()}


def _rules(n_rows: float, n_features: float) -> tuple[float, float]:
    """Return what the paper's heuristics give: candidates and rounds."""
    return n_rows / 5, 4 * n_features**0.5


def _points(best: dict[str, list[tuple[int, int]]], of: int, against: int) -> tuple[Array, Array]:
    pairs = [(shape_of(name)[against], pair[of]) for name, found in best.items() for pair in found]
    return np.array([one for one, _ in pairs], dtype=float), np.array([two for _, two in pairs], dtype=float)


PLOTS = (("L", "d", 0, 1), ("L", "N", 0, 0), ("T", "d", 1, 1), ("T", "N", 1, 0))


def _exponents(best: dict[str, list[tuple[int, int]]]) -> Table:
    rules = {("L", "N"): "1", ("T", "d"): "0.5"}
    rows = []
    for what, against, of, axis in PLOTS:
        slope = slope_of(*_points(best, of, axis))
        rows.append([f"{what} against {against}", rules.get((what, against), "0"), say(slope, 3)])
    return Table("Exponents", ["", "paper's rule", "here"], rows)


def _table(tried: dict[str, Tried], best: dict[str, list[tuple[int, int]]]) -> Table:
    rows = []
    for name, found in best.items():
        n, d, k = shape_of(name)
        rule = _rules(n, d)
        words = [f"{pair[0]}, {pair[1]}: {say(tried[name][pair])}" for pair in found]
        worst = max(one.value for one in tried[name].values())
        rows.append([name, f"{n:,}", str(d), str(k), f"{rule[0]:.0f}, {rule[1]:.0f}", *words, f"{worst:.4g}"])
    columns = ["data", "N", "d", "k", "paper's rule", *(("best", "second", "third")[:BEST]), "worst"]
    return Table("Settings L, T and their loss", columns, rows)


def _draw(folder: Path, best: dict[str, list[tuple[int, int]]]) -> None:
    names = {"L": "candidates L", "T": "rounds T", "N": "rows N", "d": "columns d"}
    with new_figure(folder, "tuning", (8.5, 6.5)) as figure:
        axes = figure.subplots(2, 2)
        for axis, (what, against, of, kind) in zip(axes.flat, PLOTS, strict=True):
            xs, ys = _points(best, of, kind)
            counts = np.array([np.sum((xs == x) & (ys == y)) for x, y in zip(xs, ys, strict=True)])
            axis.scatter(xs, ys, s=14 + 14 * counts, color="#0b3c5d", alpha=0.45, linewidths=0)
            axis.set(xscale="log", yscale="log", xlabel=names[against], ylabel=names[what])
            if len(set(xs)) > 2:
                places, fitted = lowess(np.log(xs), np.log(ys))
                axis.plot(np.exp(places), np.exp(fitted), color="#d55e00", linewidth=1.6, label="LOWESS")
            if (what, against) in (("L", "N"), ("T", "d")):
                ends = np.array([xs.min(), xs.max()])
                rule = ends / 5 if what == "L" else 4 * np.sqrt(ends)
                axis.plot(
                    ends, rule, color="black", linestyle="--", linewidth=1.1, label="N / 5" if what == "L" else "4 sqrt(d)"
                )
            if axis.get_legend_handles_labels()[0]:
                axis.legend(frameon=False)
            plain_ticks(axis.xaxis)
            plain_ticks(axis.yaxis)
