# SPDX-License-Identifier: Apache-2.0
"""The page of the source-target benchmark: cost against k, all pairs at a glance, the studies of the appendix, seconds."""

from pathlib import Path
from typing import Any

import numpy as np

from .._page import Block, Check, Figure, Section, Table, say
from .._plots import Panel, draw_panels
from .._results import Results
from .._stats import Estimate, mean_of, ratio_of
from ._base import failures
from ._choosers import ALONE, LIMIT, MAIN, STUDIES, known_methods
from ._pairs import REAL_PAIRS, SHOWN, SYNTHETIC

__all__ = ["write_section"]

LEAD = (
    "Mean distance of a target point to its nearest centre, true source included; data of the synthetic pairs and the "
    "projection of the real ones are drawn anew in every run. ± is half the 95 % interval."
)
RATIO = "cost over that of the target alone, mean over k, of the same draws"
FEWEST_RUNS = 10  # for a check: draws of the data differ a lot


def write_section(title: str, results: Results, folder: Path) -> Section:
    """Return the suite's part of the page, and draw its figures."""
    costs, ratios, order = _costs(results), _ratios(results), [*SYNTHETIC, *REAL_PAIRS]
    groups = sorted({key[:2] for key in costs if key[1]}, key=lambda group: (order.index(group[0]), group[1]))
    panels = [Panel(f"{data}, {guarantee}", _group(costs, data, guarantee)) for data, guarantee in groups]
    draw_panels(folder, "source-target", panels, x="k", y="mean distance")
    shown = [
        _relative_panel(ratios, *group)
        for guarantee in _guarantees(groups)
        for group in groups
        if group[0] in SHOWN and group[1] == guarantee and (group[0], "", ALONE) in ratios
    ]
    figures = [Figure("source-target", "Cost against the number of chosen points; shaded, from 5 repeats on: 95 % interval.")]
    if shown:
        draw_panels(folder, "source-target-real", shown, x="k", y="cost over that of the target alone", a_row=3)
        figures.append(Figure("source-target-real", "The pairs at the bottom of the paper's Figure 3."))
    blocks: list[Block] = [LEAD, *_overviews(ratios, groups), *_studies(ratios, groups), *_seconds(results, order), *figures]
    blocks += [*(_table(costs, *group) for group in groups), *failures(results)]
    return Section(title, blocks, [check for group in groups for check in _checks(costs, *group)])


def _guarantees(groups: list[tuple[str, str]]) -> list[str]:
    return sorted({guarantee for _, guarantee in groups})


Key = tuple[str, str, str]  # data, guarantee, method
Costs = dict[Key, dict[float, Estimate]]


def _costs(results: Results) -> Costs:
    """Return mean costs by data, guarantee and method, then by k."""
    found: dict[Key, dict[float, list[float]]] = {}
    for record in results.good:
        group = found.setdefault(_key(record), {})
        for k, cost in zip(record["settings"]["clusters"], record["costs"], strict=True):
            group.setdefault(float(k), []).append(cost)
    return {key: {k: mean_of(values) for k, values in group.items()} for key, group in found.items()}


def _key(record: dict[str, Any]) -> Key:
    kind = record["settings"]["guarantee"]
    return record["data"], f"{kind} = {record['epsilon']:g}" if kind else "", record["method"]


def _ratios(results: Results) -> Costs:
    """Return costs over those of the target alone in the same draws, by k; their mean over k under 0."""
    alone = {_run(record): record["costs"] for record in results.good if record["method"] == ALONE}
    found: dict[Key, dict[float, list[float]]] = {}
    for record in results.good:
        if _run(record) in alone:
            group, parts = found.setdefault(_key(record), {}), np.divide(record["costs"], alone[_run(record)])
            for k, part in zip((0, *record["settings"]["clusters"]), (np.mean(parts), *parts), strict=True):
                group.setdefault(float(k), []).append(float(part))
    return {key: {k: mean_of(values) for k, values in group.items()} for key, group in found.items()}


def _run(record: dict[str, Any]) -> tuple[str, int, int]:
    return record["data"], record["base_seed"], record["repeat"]


def _relative_panel(ratios: Costs, data: str, guarantee: str) -> Panel:
    curves = {name: {k: one for k, one in curve.items() if k} for name, curve in _group(ratios, data, guarantee).items()}
    return Panel(f"{data}, {guarantee}", curves, margin=1.03)


def _overviews(ratios: Costs, groups: list[tuple[str, str]]) -> list[Table]:
    """Return one table for each guarantee: all pairs, all methods of Figure 3."""
    return [
        _comparison(
            f"All pairs, {guarantee}: {RATIO}", ratios, [data for data, one in groups if one == guarantee], guarantee, MAIN[1:]
        )
        for guarantee in _guarantees(groups)
    ]


def _studies(ratios: Costs, groups: list[tuple[str, str]]) -> list[Table]:
    """Return the studies of the appendix, for the pairs on which all of their methods were run."""
    tables = []
    for title, names in STUDIES.items():
        methods = tuple(name for name in known_methods(names))
        for guarantee in _guarantees(groups):
            data = [
                one
                for one, other in groups
                if other == guarantee and all(_find(ratios, one, guarantee, name) is not None for name in methods)
            ]
            if data:
                tables.append(_comparison(f"{title}, {guarantee}: {RATIO}", ratios, data, guarantee, methods))
    return tables


def _comparison(title: str, ratios: Costs, pairs: list[str], guarantee: str, methods: tuple[str, ...]) -> Table:
    used = [name for name in methods if any(_find(ratios, data, guarantee, name) is not None for data in pairs)]
    rows = [[data, *(_say(_find(ratios, data, guarantee, name)) for name in used)] for data in pairs]
    return Table(title, ["source and target", *used], rows)


def _say(ratio: Estimate | None) -> str:
    if ratio is None:
        return "-"
    half = ratio.half_width
    return f"{ratio.value:.3f}" + ("" if half != half else f" ± {half:.3f}")


def _find(ratios: Costs, data: str, guarantee: str, method: str) -> Estimate | None:
    curve = ratios.get((data, guarantee, method), ratios.get((data, "", method)))
    return None if curve is None else curve[0.0]


def _seconds(results: Results, order: list[str]) -> list[Table]:
    """Return what the paper's C.7 draws: processor seconds of a method on a pair, for all k together."""
    found: dict[tuple[str, str], list[float]] = {}
    for record in results.good:
        found.setdefault((record["data"], record["method"]), []).append(record["cpu_seconds"])
    methods = [name for name in known_methods() if any(name == method for _, method in found)]
    pairs = sorted({data for data, _ in found}, key=order.index)
    cells = {key: mean_of(values) for key, values in found.items()}
    rows = [[data, *(say(cells.get((data, name)), 3) for name in methods)] for data in pairs]
    title = "C.7: processor seconds, all k together, what the target alone decides included"
    return [Table(title, ["source and target", *methods], rows)] if rows else []


def _group(costs: Costs, data: str, guarantee: str) -> dict[str, dict[float, Estimate]]:
    """Return the curves of one plot, those that need no guarantee among them, in the order of the methods."""
    found = {method: costs[key] for key in costs if (method := key[2]) and key[0] == data and key[1] in (guarantee, "")}
    return {method: found[method] for method in MAIN if method in found} or found  # variants alone, where only they were run


def _table(costs: Costs, data: str, guarantee: str) -> Table:
    group = _group(costs, data, guarantee)
    ks = sorted({k for curve in group.values() for k in curve})
    rows = [[method, *(say(curve.get(k), 3) for k in ks)] for method, curve in group.items()]
    return Table(f"{data}, {guarantee}", ["method", *(f"k = {k:g}" for k in ks)], rows)


def _checks(costs: Costs, data: str, guarantee: str) -> list[Check]:
    """NNA must be below the target alone; on real pairs on average over k, where the source may help little."""
    group = _group(costs, data, guarantee)
    if "NNA" not in group or ALONE not in group or min(one.n_runs for one in group["NNA"].values()) < FEWEST_RUNS:
        return []
    nna, alone, name = group["NNA"], group[ALONE], f"{data}, {guarantee}"
    if data not in SYNTHETIC:
        ratio = float(np.mean([nna[k].value / alone[k].value for k in nna]))
        return [Check(f"{name}: NNA over target only, mean over k", f"{ratio:.3f}", "at most 1", ratio <= 1)]
    below, needed = sum(nna[k].value < alone[k].value for k in nna), len(nna) if "rho" in guarantee else len(nna) // 2 + 1
    checks = [Check(f"{name}: k with NNA below target only", f"{below} of {len(nna)}", f"at least {needed}", below >= needed)]
    if data == "synthetic2" and LIMIT in group and 10.0 in nna:
        ratio = ratio_of(nna[10.0], group[LIMIT][10.0]).value
        checks.append(Check(f"{name}: NNA over not private at k = 10", f"{ratio:.3f}", "at most 1.15", ratio <= 1.15))
    return checks
