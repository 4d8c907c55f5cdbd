# SPDX-License-Identifier: Apache-2.0
"""A progress bar on standard error, drawn only when it is wanted. Rounds are public, so showing them costs nothing."""

from types import TracebackType
from typing import Any, Self

__all__ = ["Progress"]


class Progress:
    """Counts rounds; a context manager that stays silent unless enabled. Entered again inside, it goes on as it is."""

    def __init__(self, label: str, *, enabled: bool) -> None:
        self._label = label
        self._enabled = enabled
        self._bar: Any = None
        self._task: Any = None
        self._depth = 0

    def __enter__(self) -> Self:
        self._depth += 1
        if self._enabled and self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            columns = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()]
            self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task(self._label, total=None)
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

    def expect(self, total: int) -> None:
        """Say how many rounds there will be."""
        if self._bar is not None:
            self._bar.update(self._task, total=total)

    def advance(self, *_: object) -> None:
        """One round is done."""
        if self._bar is not None:
            self._bar.advance(self._task)
