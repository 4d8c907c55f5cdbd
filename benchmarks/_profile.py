# SPDX-License-Identifier: Apache-2.0
"""Where the CPU seconds of a fit go: by step of its plan and by kind of work, all of them.

Functions of the package are wrapped while a block runs. A wrapped function that calls another one is charged for its own part
only, so the figures add up to the whole. Fits must run on one thread: ``n_jobs=1``, and one thread of BLAS.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from typing import Any
from unittest import mock

from cloister import vault
from cloister.cluster import _clusterer
from cloister.columns import ColumnFrame, Frame
from cloister.privacy import Account, Event, Ledger, Query
from cloister.questions import Nearest

__all__ = ["KINDS", "Profile", "profiled"]

# Reading and cleaning rows; drawing a sample of them; searching nearest points; the rest of an answer; noise; pricing and the
# ledger; and what is not wrapped: arithmetic on public numbers.
READ, SAMPLE, SEARCH, ANSWER, NOISE, LEDGER, PUBLIC = KINDS = (
    "read",
    "sample",
    "search",
    "answer",
    "noise",
    "ledger",
    "public",
)
FIRST, LABELS, LAST = "start", "labels", "end"  # before the first question; labels of the rows; after the vault is closed
WRAPPED = (  # what is charged with which kind of work
    (vault.Vault, "_fold", READ),  # its own part is getting blocks and adding integers
    (vault.Vault, "_sample", SAMPLE),
    (vault._Kernel, "__call__", ANSWER),
    (Frame, "clean", READ),
    (ColumnFrame, "clean", READ),
    (Nearest, "__init__", SEARCH),
    (Nearest, "__call__", SEARCH),
    (Event, "draw", NOISE),
    (Event, "choose", NOISE),
    (vault.Vault, "_pay", LEDGER),
    (Account, "close", LEDGER),
    (Ledger, "reserve", LEDGER),
)


class Profile:
    """CPU seconds by step and kind of work. What is not wrapped is arithmetic on public numbers, of the step asked last."""

    def __init__(self) -> None:
        self.seconds: dict[str, dict[str, float]] = {}
        self._kinds = [PUBLIC]
        self._step = FIRST
        self._since = time.process_time()

    @property
    def total(self) -> float:
        """All seconds."""
        return sum(self.by_kind().values())

    def by_kind(self) -> dict[str, float]:
        """Return the seconds of each kind of work in all steps."""
        return {kind: sum(step.get(kind, 0.0) for step in self.seconds.values()) for kind in KINDS}

    def lines(self) -> Iterator[str]:
        """Yield a table: steps in their order, kinds of work beside each other."""
        yield f"   {'step':<20}" + "".join(f"{kind:>9}" for kind in (*KINDS, "all"))
        for step, spent in [*self.seconds.items(), ("all", self.by_kind())]:
            figures = [*(spent.get(kind, 0.0) for kind in KINDS), sum(spent.values())]
            yield f"   {step:<20}" + "".join(f"{figure:9.3f}" for figure in figures)

    def charge(self) -> None:
        """Charge the time since the last charge to what is going on."""
        now = time.process_time()
        step = self.seconds.setdefault(self._step, {})
        step[self._kinds[-1]] = step.get(self._kinds[-1], 0.0) + now - self._since
        self._since = now

    def enter(self, step: str) -> None:
        """Charge from now on another step."""
        self.charge()
        self._step = step

    @contextmanager
    def within(self, kind: str) -> Iterator[None]:
        """Charge a block with a kind of work."""
        self.charge()
        self._kinds.append(kind)
        try:
            yield
        finally:
            self.charge()
            self._kinds.pop()

    def wrap(self, function: Callable[..., Any], kind: str) -> Callable[..., Any]:
        """Return the function, charged with a kind of work while the vault answers or pays; public uses stay public."""

        @wraps(function)
        def wrapped(*arguments: Any, **options: Any) -> Any:
            if kind in (READ, SEARCH, ANSWER) and len(self._kinds) == 1:
                return function(*arguments, **options)
            with self.within(kind):
                return function(*arguments, **options)

        return wrapped

    def wrap_ask(self, ask: Callable[..., Any]) -> Callable[..., Any]:
        """Return ``Vault.ask``, which says which step is going on."""

        @wraps(ask)
        def wrapped(room: vault.Vault, question: Any, cost: Any) -> Any:
            first = cost[0] if isinstance(cost, (list, tuple)) else cost
            self.enter(first.step if isinstance(first, Query) else "")
            with self.within(ANSWER):
                return ask(room, question, cost)

        return wrapped

    def wrap_step(self, function: Callable[..., Any], step: str, kind: str) -> Callable[..., Any]:
        """Return the function as a step of its own; what comes after it is of the last step."""

        @wraps(function)
        def wrapped(*arguments: Any, **options: Any) -> Any:
            self.enter(step)
            with self.within(kind):
                result = function(*arguments, **options)
            self.enter(LAST)
            return result

        return wrapped


@contextmanager
def profiled() -> Iterator[Profile]:
    """Profile the fits of a block."""
    with ExitStack() as stack:
        profile = Profile()
        for owner, name, kind in WRAPPED:
            stack.enter_context(mock.patch.object(owner, name, profile.wrap(getattr(owner, name), kind)))
        patches = (
            (vault.Vault, "ask", profile.wrap_ask(vault.Vault.ask)),
            (vault.Vault, "close", profile.wrap_step(vault.Vault.close, LAST, PUBLIC)),
            (_clusterer, "_find_labels", profile.wrap_step(_clusterer._find_labels, LABELS, READ)),
        )
        for owner, name, changed in patches:
            stack.enter_context(mock.patch.object(owner, name, changed))
        profile.enter(FIRST)
        profile.seconds.clear()  # of the wrapping itself
        yield profile
        profile.charge()
