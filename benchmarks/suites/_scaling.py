# SPDX-License-Identifier: Apache-2.0
"""Time and memory of a fit against rows, columns and clusters, one of them at a time; round blobs, epsilon 1."""

from pathlib import Path

from .._data import shape_of
from .._jobs import Choice, Plan
from .._methods import LIMIT, ONE_START
from .._page import Block, Check, Figure, Section, Table, say
from .._plots import Panel, draw_panels
from .._results import Results
from .._stats import Estimate, mean_of, slope_of
from ._base import Suite, chosen_data, chosen_methods, failures, turn_by_turn
from ._fit import fit_jobs

__all__ = ["Scaling"]

KIND = "scaling"
USUAL = (10_000, 8, 16)  # rows, columns, clusters
AXES = {
    "quick": ((1_000, 10_000, 100_000), (2, 8, 32), (4, 16, 64)),
    "paper": ((1_000, 10_000, 100_000, 1_000_000), (2, 4, 8, 16, 32, 64, 128), (2, 4, 8, 16, 32, 64, 128)),
}
AXIS_NAMES = ("rows", "columns", "clusters")
EPSILON = 1.0
REPEATS = {"quick": 1, "paper": 3}
STEEPEST = 1.1
LARGE = 100_000  # rows: PEMeans has reached its largest number of candidates, so its cost should grow as they do


class Scaling(Suite):
    """How cost grows."""

    name = "scaling"
    kinds = (KIND,)
    alone = True

    def plan(self, choice: Choice) -> Plan:
        names = [_name(axis, value) for axis, values in enumerate(AXES[choice.profile]) for value in values]
        data, left_out = chosen_data(choice, list(dict.fromkeys(names)))
        repeats, epsilons = choice.repeats or REPEATS[choice.profile], choice.epsilons or (EPSILON,)
        jobs = fit_jobs(choice, data, chosen_methods(choice), epsilons, repeats, kind=KIND)
        return Plan(turn_by_turn(job for job in jobs if job.method != ONE_START), tuple(left_out))

    def section(self, results: Results, folder: Path) -> Section:
        seconds, memory = _curves(results, "cpu_seconds"), _curves(results, "memory_mb")
        panels = [
            Panel(f"{what}, against {AXIS_NAMES[axis]}", found)
            for what, curves in (("processor seconds", seconds), ("MB on top of the rows", memory))
            for axis in range(3)
            if (found := curves[axis])
        ]
        draw_panels(folder, "scaling", panels, x="rows, columns or clusters", y="cost", a_row=3)
        usual = ", ".join(f"{value:,} {name}" for value, name in zip(USUAL, AXIS_NAMES, strict=True))
        blocks: list[Block] = [
            f"One thread, one fit at a time; {usual} unless varied. Memory is the rise of the process's peak during the fit.",
            *(_table(axis, seconds[axis], memory[axis]) for axis in range(3) if seconds[axis]),
            Figure("scaling", "Processor seconds (above) and megabytes (below) against rows, columns and clusters."),
            _exponents(seconds, memory),
            *failures(results),
        ]
        return Section(self.title, blocks, _checks(seconds))


Curves = dict[str, dict[float, Estimate]]


def _name(axis: int, value: int) -> str:
    shape = [*USUAL[:axis], value, *USUAL[axis + 1 :]]
    return "blobs_" + "_".join(map(str, shape))


def _curves(results: Results, fact: str) -> list[Curves]:
    """Return, for each axis, the cost by method and value; a table belongs to an axis if it is usual in the others."""
    curves: list[Curves] = []
    for axis in range(3):
        values: dict[str, dict[float, list[float]]] = {}
        for record in results.good:
            shape = shape_of(record["data"])
            if all(shape[other] == USUAL[other] for other in range(3) if other != axis):
                cost = max(record[fact], 0.01)
                values.setdefault(record["method"], {}).setdefault(float(shape[axis]), []).append(cost)
        curves.append({method: {x: mean_of(costs) for x, costs in found.items()} for method, found in values.items()})
    return [curve if any(len(found) > 1 for found in curve.values()) else {} for curve in curves]


def _table(axis: int, seconds: Curves, memory: Curves) -> Table:
    values = sorted({value for found in seconds.values() for value in found})
    rows = [
        [
            method,
            *(
                f"{found[value].value:.3g} s, {memory[method][value].value:.3g} MB" if value in found else "-"
                for value in values
            ),
        ]
        for method, found in seconds.items()
    ]
    return Table(f"Against {AXIS_NAMES[axis]}", ["method", *(f"{value:,.0f}" for value in values)], rows)


def _exponents(seconds: list[Curves], memory: list[Curves]) -> Table:
    methods = list(dict.fromkeys(method for curves in seconds for method in curves))
    rows = []
    for method in methods:
        found = [curves[axis].get(method, {}) for curves in (seconds, memory) for axis in range(3)]
        rows.append(
            [
                method,
                *("-" if len(one) < 2 else say(slope_of(list(one), [cost.value for cost in one.values()]), 2) for one in found),
            ]
        )
    columns = ["method", *(f"{what}, {axis}" for what in ("time", "memory") for axis in AXIS_NAMES)]
    return Table("Exponents: cost grows as this power", columns, rows)


def _checks(seconds: list[Curves]) -> list[Check]:
    checks = []
    for method, found in seconds[0].items():
        large = {rows: cost.value for rows, cost in found.items() if rows >= LARGE}
        if method != LIMIT and ":" not in method and len(large) > 1:
            slope = slope_of(list(large), list(large.values()))
            what = f"{method}: exponent of the time in the rows, from {LARGE:,} on"
            checks.append(Check(what, f"{slope.value:.2f}", f"at most {STEEPEST:g}", slope.value <= STEEPEST))
    return checks
