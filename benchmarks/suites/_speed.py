# SPDX-License-Identifier: Apache-2.0
"""How long a fit takes, one thread, one fit at a time, methods taking turns; and PEMeans beside a direct transcription."""

from pathlib import Path
from typing import Any

from .._clock import timed
from .._data import load
from .._jobs import Choice, Context, Job, Plan
from .._methods import LIMITS, ONE_START
from .._page import Block, Check, Figure, Section, Table, say, say_ratio
from .._plots import draw_marks
from .._ranking import rank_methods
from .._results import Results
from .._stats import mean_of, ratio_of
from .._transcription import pe_means
from ._base import Suite, chosen_data, chosen_methods, failures, turn_by_turn
from ._fit import fit_jobs, measure_cost

__all__ = ["Speed", "measure_speed"]

KIND, TRANSCRIPTION = "speed", "transcription"
BESIDE = "sklearn_64_16"  # where PEMeans is measured beside the transcription
DATA = {
    "quick": ("sklearn_16_4", BESIDE),
    "paper": ("iris", "letter", "sklearn_16_4", "sklearn_16_16", BESIDE, "sklearn_16_64"),
}
EPSILON = 1.0
REPEATS = {"quick": 2, "paper": 8}
FASTER, LOSS = 3.0, 1.05


class Speed(Suite):
    """Seconds of a fit."""

    name = "speed"
    kinds = (KIND,)
    alone = True

    @property
    def own_methods(self) -> tuple[str, ...]:
        return (TRANSCRIPTION,)

    def plan(self, choice: Choice) -> Plan:
        data, left_out = chosen_data(choice, DATA[choice.profile])
        repeats, epsilons = choice.repeats or REPEATS[choice.profile], choice.epsilons or (EPSILON,)
        named = [name for name in choice.methods or () if name != TRANSCRIPTION]
        if choice.methods is None or named:
            methods = chosen_methods(Choice(methods=None if choice.methods is None else tuple(named), context=choice.context))
        else:
            methods = []
        jobs = [job for job in fit_jobs(choice, data, methods, epsilons, repeats, kind=KIND) if job.method != ONE_START]
        if choice.methods is None or TRANSCRIPTION in choice.methods:
            jobs += [
                Job(kind=KIND, data=BESIDE, method=TRANSCRIPTION, epsilon=epsilon, repeat=repeat, base_seed=choice.seed)
                for epsilon in epsilons
                for repeat in range(repeats)
                if BESIDE in (name for name, _ in data)
            ]
        return Plan(turn_by_turn(jobs), tuple(left_out))

    def section(self, results: Results, folder: Path) -> Section:
        seconds = _seconds(results)
        methods = list(dict.fromkeys(method for _, method in seconds))
        data = list(dict.fromkeys(name for name, _ in seconds))
        marks = {
            method: {name: mean_of(seconds[name, method]) for name in data if (name, method) in seconds} for method in methods
        }
        draw_marks(folder, "speed", data, marks, y="processor seconds", line=None)
        rows = [
            [name, *(f"{min(seconds[name, one]):.3g}" if (name, one) in seconds else "-" for one in methods)] for name in data
        ]
        losses = results.cells()
        worth = [
            [name, *(say(_loss(losses, name, method)) if (name, method) in seconds else "-" for method in methods)]
            for name in data
        ]
        blocks: list[Block] = [
            "Processor seconds, the best of the repeats; one thread, one fit at a time, methods taking turns.",
            Table("Seconds a fit", ["data", *methods], rows),
            Figure("speed", "Processor seconds of a fit, mean and 95 % interval."),
            Table(f"Loss of these fits, epsilon {EPSILON:g}", ["data", *methods], worth),
            *failures(results),
        ]
        private = {key: min(spent) for key, spent in seconds.items() if key[1] not in LIMITS}
        ranking = rank_methods(private, what="Processor seconds of a fit", unit=" s")
        return Section(self.title, blocks, _checks(results, seconds), ranking)


def measure_speed(job: Job, context: Context) -> dict[str, Any]:
    """Fit, on rows that are loaded before the clock starts."""
    if job.method != TRANSCRIPTION:
        return measure_cost(job, context)
    data = load(job.data, context.folder)
    assert job.epsilon is not None
    centers, spent = timed(lambda: pe_means(data, epsilon=job.epsilon or 1.0, seed=job.seed))
    return {"loss": data.loss(centers), **spent}


def _seconds(results: Results) -> dict[tuple[str, str], list[float]]:
    found: dict[tuple[str, str], list[float]] = {}
    for record in results.good:
        found.setdefault((record["data"], record["method"]), []).append(record["cpu_seconds"])
    return found


def _loss(cells: dict[tuple[str, str, str], Any], name: str, method: str) -> Any:
    cell = next(cell for (data, _, one), cell in cells.items() if (data, one) == (name, method))
    return cell.at(None if method in LIMITS else EPSILON if EPSILON in cell.losses else cell.epsilons[0])


def _checks(results: Results, seconds: dict[tuple[str, str], list[float]]) -> list[Check]:
    ours, theirs = seconds.get((BESIDE, "PEMeans")), seconds.get((BESIDE, TRANSCRIPTION))
    if not ours or not theirs:
        return []
    faster, cells = min(theirs) / min(ours), results.cells()
    worse = ratio_of(_loss(cells, BESIDE, "PEMeans"), _loss(cells, BESIDE, TRANSCRIPTION))
    return [
        Check("PEMeans: times faster than the transcription", f"{faster:.1f}", f"at least {FASTER:g}", faster >= FASTER),
        Check("PEMeans: loss over the transcription's", say_ratio(worse), f"at most {LOSS:g}", worse.low <= LOSS),
    ]
