# SPDX-License-Identifier: Apache-2.0
"""Section IV-C of the PE-means paper: should rounds and variations grow with epsilon, and how fast?

Rounds T = 4 sqrt(d), or variations L = N / (5 k) a centre, are multiplied by a factor of epsilon. Each fit is compared with
one that has no factor, at the same epsilon; the figure is the median over the data sets. Wide tables are projected, where T
leaves two rounds to the way back.
"""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from cloister import Ball, PEMeans

from .._clock import timed
from .._data import load, shape_of
from .._jobs import Choice, Context, Job, Plan
from .._methods import PROJECTED_ABOVE, PROJECTED_TO
from .._page import Block, Figure, Section, Table
from .._plots import Panel, draw_panels
from .._results import Results
from .._stats import Estimate
from ._base import Suite, chosen_data, chosen_names, failures, turn_by_turn

__all__ = ["FACTORS", "Rounds", "measure_rounds"]

KIND, METHOD = "rounds", "PEMeans"
FACTORS: dict[str, Callable[[float], float]] = {
    "1": lambda _: 1.0,
    "epsilon": lambda epsilon: epsilon,
    "epsilon / 2": lambda epsilon: epsilon / 2,
    "2 epsilon": lambda epsilon: 2 * epsilon,
    "sqrt(epsilon)": math.sqrt,
}
NONE = "1"
SCALED = {"rounds": "rounds T", "variations": "variations L"}
QUICK = ("iris", "blobs_400_2_4", "blobs_400_4_4", "blobs_800_4_8", "blobs_800_8_4", "blobs_1000_40_2")
PAPER = (
    "iris",
    *(f"sklearn_{k}_{d}" for d in (4, 16) for k in (4, 16)),
    *(f"blobs_{n}_{d}_8" for n in (400, 1600, 6400) for d in (2, 4, 8)),
    "blobs_4000_64_8",
    "blobs_10000_64_16",
)
EPSILONS = (0.25, 0.5, 2.0, 4.0)  # at 1 most factors are 1
REPEATS = {"quick": 2, "paper": 10}
MOST_CANDIDATES = 1 << 15
LEAD = (
    "Rounds T or variations L times a factor of epsilon, over no factor at the same epsilon; mean losses over the repeats, "
    "then the median over the data sets. Below 1 the factor helps. The adaptive halving of L is on, as in the paper."
)
Key = tuple[str, str, str, float]  # what is scaled, factor, data set, epsilon


class Rounds(Suite):
    """PEMeans with rounds and variations scaled by factors of epsilon."""

    name = "rounds"
    kinds = (KIND,)

    def plan(self, choice: Choice) -> Plan:
        chosen_names("--methods", choice.methods, [METHOD], [METHOD])
        data, left_out = chosen_data(choice, QUICK if choice.profile == "quick" else PAPER)
        jobs = [
            Job(kind=KIND, data=name, origin=origin, method=METHOD, epsilon=epsilon, repeat=repeat, **facts)
            for name, origin in data
            for settings in _settings(name)
            for facts in [{"settings": settings, "base_seed": choice.seed}]
            for epsilon in choice.epsilons or EPSILONS
            for repeat in range(choice.repeats or REPEATS[choice.profile])
        ]
        return Plan(turn_by_turn(jobs), tuple(left_out))

    def section(self, results: Results, folder: Path) -> Section:
        ratios = _ratios(results)
        panels = [panel for group in _groups(ratios) if (panel := _panel(*group)).curves]
        blocks: list[Block] = [LEAD]
        if panels:
            draw_panels(folder, "rounds", panels, x="epsilon", y="loss over that without a factor")
            blocks.append(Figure("rounds", "Medians over the data sets; below 1 the factor helps."))
        blocks += [_table(*group) for group in _groups(ratios)]
        return Section(self.title, [*blocks, *failures(results)])


def measure_rounds(job: Job, context: Context) -> dict[str, Any]:
    """Fit PEMeans with its own rules, each times a factor."""
    data = load(job.data, context.folder)
    n_rows, n_features = data.rows.shape
    assert job.epsilon is not None
    factors = {what: FACTORS[job.settings[what]](job.epsilon) for what in SCALED}
    projected = n_features > PROJECTED_ABOVE
    rounds = factors["rounds"] * int(4 * math.sqrt(PROJECTED_TO if projected else n_features))
    model = PEMeans(
        data.n_clusters,
        epsilon=job.epsilon,
        delta=data.delta,
        bounds=Ball(1.0),
        n_rows=n_rows,
        n_rounds=max(int(rounds) - 2 * projected, 1),
        n_variations=max(int(factors["variations"] * n_rows / (5 * data.n_clusters)), 4),
        max_candidates=MOST_CANDIDATES,
        projection=PROJECTED_TO if projected else None,
        random_state=job.seed,
        n_jobs=1,
    )
    model, spent = timed(lambda: model.fit(data.rows))
    return {"loss": data.loss(model.cluster_centers_), **spent}


def _settings(name: str) -> list[dict[str, str]]:
    """Return the factors to try: one of the two at a time, and only rounds where the table is projected."""
    scaled = ["rounds"] if _projected(name) else list(SCALED)
    plain = dict.fromkeys(SCALED, NONE)
    return [plain, *({**plain, what: factor} for what in scaled for factor in FACTORS if factor != NONE)]


def _projected(name: str) -> bool:
    return bool(shape_of(name)[1] > PROJECTED_ABOVE)


def _ratios(results: Results) -> dict[Key, float]:
    """Return the mean loss with a factor over that without."""
    losses: dict[tuple[str, float, str, str], list[float]] = {}
    for record in results.good:
        settings = record["settings"]
        key = (record["data"], record["epsilon"], settings["rounds"], settings["variations"])
        losses.setdefault(key, []).append(record["loss"])
    means = {key: float(np.mean(found)) for key, found in losses.items()}
    ratios: dict[Key, float] = {}
    for (name, epsilon, rounds, variations), loss in means.items():
        base = means.get((name, epsilon, NONE, NONE))
        if base and (rounds, variations) != (NONE, NONE):
            what, factor = ("rounds", rounds) if variations == NONE else ("variations", variations)
            ratios[what, factor, name, epsilon] = loss / base
    return ratios


def _groups(ratios: dict[Key, float]) -> list[tuple[str, dict[Key, float]]]:
    """Return what is shown side by side: rounds, variations, and rounds in a projection."""
    parts: dict[str, dict[Key, float]] = {}
    for what, words in SCALED.items():
        for wide, where in ((False, ""), (True, ", projected")):
            found = {key: ratio for key, ratio in ratios.items() if key[0] == what and _projected(key[2]) == wide}
            parts[words + where] = found
    return [(title, found) for title, found in parts.items() if found]


def _medians(found: dict[Key, float]) -> dict[str, dict[float, list[float]]]:
    lists: dict[str, dict[float, list[float]]] = {}
    for (_, factor, _, epsilon), ratio in sorted(found.items(), key=lambda item: item[0][3]):
        lists.setdefault(factor, {}).setdefault(epsilon, []).append(ratio)
    return {factor: lists[factor] for factor in FACTORS if factor in lists}


def _panel(title: str, found: dict[Key, float]) -> Panel:
    curves = {
        f"times {factor}": {epsilon: Estimate(float(np.median(ratios))) for epsilon, ratios in by_epsilon.items()}
        for factor, by_epsilon in _medians(found).items()
    }
    without = {epsilon: Estimate(1.0) for curve in curves.values() for epsilon in curve}
    return Panel(title, {"no factor": without, **curves} if curves else {})


def _table(title: str, found: dict[Key, float]) -> Table:
    medians = _medians(found)
    epsilons = sorted({key[3] for key in found})
    rows = []
    for factor, by_epsilon in medians.items():
        cells = [_spell(by_epsilon.get(epsilon, [])) for epsilon in epsilons]
        rows.append([factor, *cells])
    n_data = len({key[2] for key in found})
    note = f"Median over {n_data} data set{'s' * (n_data > 1)} (lowest to highest). Without a factor: 1."
    return Table(f"{title[0].upper()}{title[1:]}", ["times", *(f"epsilon {one:g}" for one in epsilons)], rows, note=note)


def _spell(ratios: list[float]) -> str:
    if not ratios:
        return "-"
    words = f"{np.median(ratios):.3f}"
    return words if len(ratios) == 1 else f"{words} ({min(ratios):.2f} to {max(ratios):.2f})"
