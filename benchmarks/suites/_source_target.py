# SPDX-License-Identifier: Apache-2.0
"""Source-target clustering: Figure 3 of its paper, the pairs of the appendix and its studies.

Cost: mean distance of a target point to its nearest centre among the true source and the chosen points, in the paper's unit
(norms at most 1/2); the algorithms see the sanitised source only. A job is one method on one draw, for all numbers of clusters.
"""

from pathlib import Path
from typing import Any

from .._errors import BenchError
from .._jobs import Choice, Job, Plan
from .._page import Section
from .._results import Results
from ._base import Suite, chosen_names, turn_by_turn
from ._choosers import GAN, MAIN, has_gan, known_methods, needs_guarantee
from ._pairs import REAL_PAIRS, SHOWN, SYNTHETIC, pair_missing
from ._source_target_page import write_section

__all__ = ["SourceTarget"]

KIND = "source-target"
CLUSTERS = (5, 10, 20, 30, 50)
BUDGET = 3.0  # epsilon, or rho
GUARANTEES = ("epsilon", "rho")
REPEATS = {"quick": 3, "paper": 30}
STUDIED = {  # pairs on which variants of the methods are compared where none are named: the synthetic ones and Figure 3's
    "quick": ("synthetic2",),
    "paper": (*SYNTHETIC, *SHOWN),
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
        gone = [] if has_gan() else [f"{GAN}: no opacus or no torch here. Run pip install opacus torch."]
        return Plan(turn_by_turn(jobs), (*lacking.values(), *gone))

    def section(self, results: Results, folder: Path) -> Section:
        return write_section(self.title, results, folder)


def _settings(choice: Choice, method: str) -> list[tuple[float | None, dict[str, Any]]]:
    if not needs_guarantee(method):
        return [(None, {"guarantee": "", "clusters": list(CLUSTERS)})]
    budgets = choice.epsilons or (BUDGET,)
    return [(budget, {"guarantee": one, "clusters": list(CLUSTERS)}) for one in GUARANTEES for budget in budgets]
