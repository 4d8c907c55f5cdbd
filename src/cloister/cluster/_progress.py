# SPDX-License-Identifier: Apache-2.0
"""A progress bar on standard error, drawn only when it is wanted. It follows the steps of a plan, which are public.

A pass over many rows gets a line of its own. It shows a percentage and the time left, which are as public as the time a fit
takes, and never how many rows there are.
"""

import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

from cloister.privacy import Step

LONG_PASS_SECONDS = 2.0  # a shorter pass is not worth a line


class Progress:
    """Counts steps; a context manager that stays silent unless enabled. Re-entrant: nested use shares one bar."""

    def __init__(self, label: str, *, enabled: bool) -> None:
        self._label = label
        self._enabled = enabled
        self._bar: Any = None
        self._task: Any = None
        self._pass: Any = None
        self._part = 1.0  # of the pass
        self._began = 0.0
        self._depth = 0
        self._purposes: dict[str, str] = {}  # of the steps that are followed
        self._step = ""

    def __enter__(self) -> Self:
        self._depth += 1
        if self._enabled and self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            words, done = TextColumn("{task.description}"), TextColumn("{task.fields[done]}")
            self._bar = Bar(words, BarColumn(), done, TimeRemainingColumn(), console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task(self._label, total=None, done="")
            self._pass = self._bar.add_task("this pass over the rows", total=1.0, visible=False, done="")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._depth -= 1
        if self._bar is not None and not self._depth:
            self._bar.stop()
            self._bar = None

    def say(self, words: str) -> None:
        """Say what is going on; public facts only."""
        if self._bar is not None:
            self._bar.update(self._task, description=f"{self._label}: {words}")

    def follow(self, steps: Sequence[Step]) -> None:
        """Say which steps there will be."""
        self._purposes = {step.name: step.purpose for step in steps}
        self.expect(len(steps))

    def enter(self, step: str) -> None:
        """Say which step is going on; the one before it is done."""
        if step == self._step:
            return
        if self._step:
            self.advance()
        self._step = step
        self.say(self._purposes.get(step, step))

    def finish(self) -> None:
        """Say that the last step is done."""
        if self._step:
            self.advance()
        self._step = ""

    def expect(self, total: int) -> None:
        """Say how many steps there will be."""
        if self._bar is not None:
            self._bar.update(self._task, total=total)
            self._count()

    def advance(self, *_: object) -> None:
        """One step is done."""
        if self._bar is not None:
            self._bar.advance(self._task)
            self._bar.update(self._pass, visible=False)
            self._count()

    def within(self, part: float) -> None:
        """Say which part of a pass over the rows is done; a pass begins where the part falls."""
        if self._bar is None:
            return
        if part < self._part:
            self._began = time.monotonic()
            self._bar.reset(self._pass, visible=False, done="")
        self._part = part
        long = time.monotonic() - self._began > LONG_PASS_SECONDS
        self._bar.update(self._pass, completed=part, visible=long, done=f"{part:.0%}")

    def _count(self) -> None:
        task = next(task for task in self._bar.tasks if task.id == self._task)
        self._bar.update(self._task, done=f"{task.completed:.0f}/{'?' if task.total is None else format(task.total, '.0f')}")
