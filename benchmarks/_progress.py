# SPDX-License-Identifier: Apache-2.0
"""How far a run is and how long it will take, on standard error: a bar in a terminal, a line now and then elsewhere."""

import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import TracebackType
from typing import Any, Self

from ._jobs import Job

__all__ = ["Durations", "Meter", "spell_time"]

LINE_EVERY = 30.0  # seconds, where there is no terminal
BAR_EVERY = 1.0


class Durations:
    """Seconds of jobs that ended, to predict those of the others: by data set, method and epsilon, else by what is nearest."""

    def __init__(self) -> None:
        self._sums: dict[tuple[Any, ...], list[float]] = defaultdict(lambda: [0.0, 0.0])

    def learn(self, record: Mapping[str, Any]) -> None:
        """Take in how long a job took."""
        for key in _levels(record):
            entry = self._sums[key]
            entry[0] += float(record.get("job_seconds", 0.0))
            entry[1] += 1

    def predict(self, jobs: Iterable[Job]) -> float | None:
        """Return how many seconds the jobs will take, one after another; None while nothing is known."""
        if () not in self._sums:
            return None
        return sum(self._one(job.facts()) for job in jobs)

    def _one(self, facts: Mapping[str, Any]) -> float:
        key = next(key for key in _levels(facts) if key in self._sums)
        total, count = self._sums[key]
        return total / count


def _levels(facts: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Yield what a duration depends on, from all of it to nothing."""
    kind, data, method = facts["kind"], facts["data"], facts["method"]
    yield (kind, data, method, facts["epsilon"])
    yield (kind, data, method)
    yield (kind, method)
    yield (kind, data, None, None, None)
    yield ()


class Meter:
    """Shows the progress of a run; a context manager."""

    def __init__(self, label: str, total: int, *, quiet: bool = False) -> None:
        self._label, self._total, self._quiet = label, total, quiet
        self._done = self._failed = 0
        self._bar: Any = None
        self._task: Any = None
        self._said = time.monotonic()

    def __enter__(self) -> Self:
        if not self._quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

            columns = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[left]}")]
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task(self._label, total=self._total, left="")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()

    def step(self, *, failed: bool, left: Callable[[], float | None]) -> None:
        """One more job has ended; `left` returns how long the others will take, and is called now and then."""
        self._done += 1
        self._failed += failed
        if self._bar is not None:
            self._bar.update(self._task, advance=1)
        if self._quiet or time.monotonic() - self._said < (LINE_EVERY if self._bar is None else BAR_EVERY):
            return
        self._said = time.monotonic()
        if self._bar is not None:
            self._bar.update(self._task, left=self._words(left()))
        else:
            print(f"{self._label}: {self._done} of {self._total}, {self._words(left())}", file=sys.stderr, flush=True)

    def _words(self, left: float | None) -> str:
        words = "" if left is None else f"about {spell_time(left)} left"
        return f"{words}, {self._failed} failed" if self._failed else words


def spell_time(seconds: float) -> str:
    """Return a duration as people say it."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
