# SPDX-License-Identifier: Apache-2.0
"""What a suite is, and how it reads the user's choice."""

import fnmatch
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

from .._data import origin_of, shape_of
from .._errors import BenchError
from .._jobs import Choice, Context, Job, Plan
from .._methods import Method, find_method, usable
from .._page import Section, Table
from .._results import Results
from .._sources import sources

__all__ = ["Measure", "Suite", "chosen_data", "chosen_methods", "chosen_names", "failures", "turn_by_turn"]

Measure = Callable[[Job, Context], dict[str, Any]]
WORDS: dict[str, tuple[str, str]] = {  # title on the page and one line of help, by name
    "table1": (
        "Table I: area under the loss",
        "area under the loss over five epsilons, all methods, 34 data sets (PE-means, Table I)",
    ),
    "curves": (
        "Figures 3 and 4: loss against epsilon and against the number of clusters",
        "loss against epsilon on real data, and against the number of clusters (PE-means, Figures 3 and 4)",
    ),
    "vote-splitting": (
        "Figure 1: vote splitting",
        "top-k selection loses clusters, weighted k-means keeps them (PE-means, Figure 1)",
    ),
    "tuning": (
        "Figure 2: how many candidates and rounds",
        "best candidates L and rounds T against rows N and columns d (PE-means, Figure 2)",
    ),
    "rounds": (
        "Section IV-C: rounds and variations against epsilon",
        "rounds T and variations L times factors of epsilon (PE-means, Section IV-C)",
    ),
    "alternatives": (
        "Alternatives within PE-means",
        "PEMeans with k-medians, other rules for votes, uniform first candidates, over its default",
    ),
    "grids": (
        "Uniform grids: Tables II and III",
        "RUGNIK beside EUGkM and others on 18 small configurations (optimal grids, Tables II and III)",
    ),
    "source-target": (
        "Source-target clustering: Figure 3 and the appendix pairs",
        "cost against k for NNA, NAS and others (source-target clustering, Figure 3 and appendix)",
    ),
    "speed": (
        "Speed: seconds a fit",
        "seconds a fit, one thread, and PEMeans beside a direct transcription of its paper",
    ),
    "scaling": (
        "Scaling: time and memory",
        "time and memory of a fit against rows, columns and clusters",
    ),
}


class Suite(ABC):
    """A question that the benchmark answers: which jobs, and what to show of their results."""

    name: ClassVar[str]
    kinds: ClassVar[tuple[str, ...]]  # of the jobs whose results it shows
    alone: ClassVar[bool] = False  # whether jobs run one at a time, because time is what is measured

    @property
    def title(self) -> str:
        """The heading of its section."""
        return WORDS[self.name][0]

    @property
    def about(self) -> str:
        """What it answers, in one line."""
        return WORDS[self.name][1]

    @property
    def own_methods(self) -> tuple[str, ...]:
        """Methods that take part here alone, besides those that all suites know."""
        return ()

    @abstractmethod
    def plan(self, choice: Choice) -> Plan:
        """Return the jobs of a choice."""

    @abstractmethod
    def section(self, results: Results, folder: Path) -> Section:
        """Return this suite's part of the page, and draw its figures."""


def chosen_data(choice: Choice, default: Sequence[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """Return data sets of Table I (or of its kind) with their origins, and what is left out.

    A default that is not available is left out; one that was named is refused.
    """
    found, left_out, folder = [], [], choice.context.folder
    named = choice.datasets is not None
    for name in _expand(choice.datasets, list(sources())) if named else default:
        try:
            found.append((name, origin_of(name, folder)))
        except BenchError as error:
            if named and not any(fnmatch.fnmatch(name, pattern) for pattern in choice.datasets or () if "*" in pattern):
                raise
            left_out.append(str(error))
    if not found:
        raise BenchError(
            "--datasets: " + (left_out[0] if left_out else "nothing fits. 'python -m benchmarks list' prints the names.")
        )
    return found, left_out


def chosen_methods(choice: Choice, default: Callable[[Method], bool] = lambda method: True) -> list[Method]:
    """Return the private methods of a choice; refuse one that was named and cannot run."""
    if choice.methods is None:
        return [method for method in usable(choice.context.pythons) if default(method)]
    methods = [find_method(name) for name in choice.methods]
    for method in methods:
        reason = method.missing(choice.context.pythons)
        if reason is not None:
            raise BenchError(f"--methods: {method.name} cannot run here: {reason}.")
    return list(dict.fromkeys(methods))


def chosen_names(option: str, given: Sequence[str] | None, known: Sequence[str], default: Sequence[str]) -> list[str]:
    """Return names of a suite's own, in its order; patterns are allowed."""
    if given is None:
        return list(default)
    for name in given:
        if not fnmatch.filter(known, name):
            raise BenchError(f"{option}: expected some of {', '.join(known)}, got {name!r}. Check the spelling.")
    return [name for name in known if any(fnmatch.fnmatch(name, pattern) for pattern in given)]


def turn_by_turn(jobs: Iterable[Job]) -> tuple[Job, ...]:
    """Return the jobs, first all of the first repeat: a run that is stopped early is still balanced."""
    return tuple(sorted(jobs, key=lambda job: job.repeat))


def failures(results: Results) -> list[Table]:
    """Return what failed and why, as a table; nothing if nothing did."""
    found: dict[tuple[str, str, str], list[Any]] = {}
    for record in results.failed:
        found.setdefault((record["method"], record["data"], record.get("reason", "unknown")), []).append(record["epsilon"])
    if not found:
        return []
    rows = []
    for (method, data, reason), epsilons in found.items():
        known = sorted({epsilon for epsilon in epsilons if epsilon is not None})
        rows.append([method, data, str(len(epsilons)), ", ".join(f"{epsilon:g}" for epsilon in known), reason])
    return [Table("Failed", ["method", "data", "runs", "epsilon", "reason"], rows, words=(0, 1, 4))]


def _expand(names: Sequence[str] | None, known: Sequence[str]) -> list[str]:
    """Replace patterns by the names that they stand for."""
    found: list[str] = []
    for name in names or ():
        found += fnmatch.filter(known, name) if "*" in name else [name]
    for name in found:
        shape_of(name)
    return list(dict.fromkeys(found))
