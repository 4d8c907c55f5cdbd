# SPDX-License-Identifier: Apache-2.0
"""Source-target clustering: Figure 3 of its paper, the pairs of the appendix and its studies.

Cost: mean distance of a target point to its nearest centre among the true source and the chosen points, in the paper's unit
(norms at most 1/2); the algorithms see the sanitised source only. A job is one method on one draw, for all numbers of clusters.
"""

from pathlib import Path
from typing import Any

import numpy as np

from .._errors import BenchError
from .._jobs import Choice, Job, Plan
from .._page import Block, Check, Figure, Section, Table, say
from .._plots import Panel, draw_panels
from .._results import Results
from .._stats import Estimate, mean_of, ratio_of
from ._base import Suite, chosen_names, failures, turn_by_turn
from ._choosers import ALONE, GAN, LIMIT, MAIN, has_gan, known_methods, needs_guarantee
from ._pairs import REAL_PAIRS, SYNTHETIC, pair_missing

__all__ = ["SourceTarget"]

LEAD = (
    "Mean distance of a target point to its nearest centre, true source included; data of the synthetic pairs are drawn anew "
    "in every run. ± is half the 95 % interval."
)
KIND = "source-target"
CLUSTERS = (5, 10, 20, 30, 50)
BUDGET = 3.0  # epsilon, or rho
GUARANTEES = ("epsilon", "rho")
REPEATS = {"quick": 3, "paper": 30}
FEWEST_RUNS = 10  # for a check: draws of the data differ a lot
STUDIED = {  # pairs on which variants of the methods are compared where none are named: the synthetic ones and Figure 3's
    "quick": ("synthetic2",),
    "paper": (*SYNTHETIC, "mnist:6:9", "office:a:w", "superconductivity:h:mh"),
}


class SourceTarget(Suite):
    """Methods that see a private source, those that ignore it, and the limit."""

    name = "source-target"
    kinds = (KIND,)

    @property
    def own_methods(self) -> tuple[str, ...]:
        return tuple(known_methods())

    def plan(self, choice: Choice) -> Plan:
        known = [*SYNTHETIC, *REAL_PAIRS]
        names = chosen_names("--datasets", choice.datasets, known, list(SYNTHETIC) if choice.profile == "quick" else known)
        lacking = {name: words for name in names if (words := pair_missing(name, choice.context.folder)) is not None}
        if choice.datasets is not None and set(lacking) & set(choice.datasets):
            raise BenchError(next(iter(lacking.values())))
        names = [name for name in names if name not in lacking]
        methods = chosen_names("--methods", choice.methods, known_methods(), known_methods())
        if not names:
            raise BenchError(next(iter(lacking.values())))
        jobs = [
            Job(kind=KIND, data=name, method=method, epsilon=budget, repeat=repeat, base_seed=choice.seed, settings=settings)
            for name in names
            for method in methods
            if choice.methods is not None or method in MAIN or name in STUDIED[choice.profile]
            for budget, settings in _settings(choice, method)
            for repeat in range(choice.repeats or REPEATS[choice.profile])
        ]
        gone = [] if has_gan() else [f"{GAN}: no opacus or no torch here. Install cloister[gan]."]
        return Plan(turn_by_turn(jobs), (*lacking.values(), *gone))

    def section(self, results: Results, folder: Path) -> Section:
        costs = _costs(results)
        order = [*SYNTHETIC, *REAL_PAIRS]
        groups = sorted({key[:2] for key in costs if key[1]}, key=lambda group: (order.index(group[0]), group[1]))
        draw_panels(folder, "source-target", [_panel(costs, *group) for group in groups], x="k", y="mean distance")
        blocks: list[Block] = [
            LEAD,
            *(_table(costs, *group) for group in groups),
            Figure("source-target", "Cost against the number of chosen points; shaded, from 5 repeats on: 95 % interval."),
            *failures(results),
        ]
        return Section(self.title, blocks, [check for group in groups for check in _checks(costs, *group)])


def _settings(choice: Choice, method: str) -> list[tuple[float | None, dict[str, Any]]]:
    if not needs_guarantee(method):
        return [(None, {"guarantee": "", "clusters": list(CLUSTERS)})]
    budgets = choice.epsilons or (BUDGET,)
    return [(budget, {"guarantee": one, "clusters": list(CLUSTERS)}) for one in GUARANTEES for budget in budgets]


Costs = dict[tuple[str, str, str], dict[float, Estimate]]


def _costs(results: Results) -> Costs:
    """Return mean costs by data, guarantee and method, then by k."""
    found: dict[tuple[str, str, str], dict[float, list[float]]] = {}
    for record in results.good:
        kind = record["settings"]["guarantee"]
        guarantee = f"{kind} = {record['epsilon']:g}" if kind else ""
        group = found.setdefault((record["data"], guarantee, record["method"]), {})
        for k, cost in zip(record["settings"]["clusters"], record["costs"], strict=True):
            group.setdefault(float(k), []).append(cost)
    return {key: {k: mean_of(values) for k, values in group.items()} for key, group in found.items()}


def _group(costs: Costs, data: str, guarantee: str) -> dict[str, dict[float, Estimate]]:
    """Return the curves of one plot, those that need no guarantee among them, in the order of the methods."""
    found = {method: costs[key] for key in costs if (method := key[2]) and key[0] == data and key[1] in (guarantee, "")}
    return {method: found[method] for method in MAIN if method in found}


def _panel(costs: Costs, data: str, guarantee: str) -> Panel:
    return Panel(f"{data}, {guarantee}", _group(costs, data, guarantee))


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
