# SPDX-License-Identifier: Apache-2.0
"""Targets, their corpus, and running many cases of them.

A target draws cases, which are plain data, and holds each of them to a law. The corpus is one file of JSON lines per target:
a case for every outcome that was seen, and the smallest case of every finding. It is played before new cases are drawn.
"""

import atexit
import json
import os
import shutil
import signal
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis.strategies import SearchStrategy

CORPUS = Path(__file__).parent / "corpus"
CPU_SECONDS = 60  # of one case: none should need one of them
LONGEST_LINE = 3000  # of the corpus
MOST_KINDS = 20  # of findings in one batch


@dataclass(frozen=True)
class Target:
    """What is attacked: a way to draw cases, and the law that each of them must obey."""

    name: str
    cases: Callable[[], SearchStrategy[Any]]
    law: Callable[[Any], str]  # returns the outcome in a few words; an AssertionError is a finding
    share: float  # of all cases

    def corpus(self) -> list[Any]:
        """Return the cases that are kept."""
        file = CORPUS / f"{self.name}.jsonl"
        return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []

    def keep(self, cases: list[Any]) -> None:
        """Add cases to the corpus, each once."""
        lines = [json.dumps(case) for case in self.corpus()]
        lines += [line for line in dict.fromkeys(map(json.dumps, cases)) if line not in lines and len(line) <= LONGEST_LINE]
        CORPUS.mkdir(exist_ok=True)
        if lines:
            (CORPUS / f"{self.name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


@dataclass
class Tally:
    """What a run has seen of one target."""

    cases: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    examples: dict[str, Any] = field(default_factory=dict)  # the first, and then the shortest, case of every outcome
    findings: list[tuple[Any, str]] = field(default_factory=list)  # the smallest case, and what went wrong

    def note(self, outcome: str, case: Any) -> None:
        """Count a case that obeyed the law."""
        self.cases += 1
        self.outcomes[outcome] += 1
        known = self.examples.get(outcome)
        if known is None or len(json.dumps(case)) < len(json.dumps(known)):
            self.examples[outcome] = case

    def add(self, other: "Tally") -> None:
        """Take another run of the same target into account."""
        self.cases += other.cases
        self.outcomes += other.outcomes
        self.examples = {**other.examples, **self.examples}
        self.findings += [one for one in other.findings if one[1] not in [text for _, text in self.findings]]


def replay(target: Target) -> Tally:
    """Hold the corpus of a target to its law."""
    tally = Tally()
    for case in target.corpus():
        try:
            with _limited():
                tally.note(target.law(case), case)
        except AssertionError as error:
            tally.cases += 1
            tally.findings.append((case, _describe(error)))
    return tally


def draw(target: Target, *, cases: int, seed: int) -> Tally:
    """Draw new cases of a target; of every kind of finding the smallest case is reported."""
    tally, known = Tally(), set[str]()
    for again in range(MOST_KINDS):
        smallest: list[Any] = []
        try:
            _search(target, tally, known, smallest, cases=cases, seed=seed + again)
        except Exception as error:
            known.add(_place(error))
            tally.findings.append((smallest[-1], _describe(error)))
        if tally.cases >= cases or not smallest:
            break
    return tally


def _search(target: Target, tally: Tally, known: set[str], last: list[Any], *, cases: int, seed: int) -> None:
    def fuzz(case: Any) -> None:
        last[:] = [case]
        try:
            with _limited():
                tally.note(target.law(case), case)
        except Exception as error:
            if _place(error) not in known:
                raise
            tally.note("a finding, again", case)

    run = settings(
        max_examples=max(cases - tally.cases, 1),
        database=None,  # the corpus is text that can be read and reviewed
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
        report_multiple_bugs=False,
        print_blob=False,
    )(seeded(seed)(given(target.cases())(fuzz)))
    run()


@cache
def scratch(name: str) -> Path:
    """Return a folder for the files of a target, in memory if there is such a place; it is removed at the end."""
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix=f"cloister-fuzz-{name}-", dir=memory if os.access(memory, os.W_OK) else None))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@contextmanager
def _limited() -> Iterator[None]:
    """Raise where one case takes a minute of processor time: a hang is a finding, too."""

    def stop(*_: object) -> None:
        raise AssertionError(f"more than {CPU_SECONDS} seconds of processor time")

    previous = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)


def _place(error: BaseException) -> str:
    """Return where the first cause of an error was raised: findings from one place are of one kind."""
    while error.__cause__ is not None:
        error = error.__cause__
    frames = traceback.extract_tb(error.__traceback__)
    return f"{type(error).__name__} {frames[-1].filename}:{frames[-1].lineno}"


def _describe(error: BaseException) -> str:
    """Say what went wrong and where, without the frames of the tools."""
    steps = []
    one: BaseException | None = error
    while one is not None:
        frames = [frame for frame in traceback.extract_tb(one.__traceback__) if "site-packages" not in frame.filename]
        place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
        steps.append(f"{type(one).__name__}: {str(one)[:300]}{place}")
        one = one.__cause__
    return " <- ".join(steps)
