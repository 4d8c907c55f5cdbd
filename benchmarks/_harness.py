# SPDX-License-Identifier: Apache-2.0
"""What the small side-by-side comparisons share: a record of what was measured, timing in turns, floors that fail loudly."""

import argparse
import json
import sys
import time
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cloister.release import library_versions

from ._run import find_commit

RESULTS = Path("benchmark-results")


class Report:
    """Prints figures, appends them to a JSON-lines file, and remembers which floors were missed."""

    def __init__(self, name: str, **parameters: Any) -> None:
        self.name = name
        self.parameters = parameters
        self.missed: list[str] = []
        RESULTS.mkdir(exist_ok=True)
        print(f"\n== {name} " + " ".join(f"{key}={value}" for key, value in parameters.items()))

    def line(self, text: str, **figures: Any) -> None:
        """Print one figure and keep it."""
        print(text, flush=True)
        entry = {
            "benchmark": self.name,
            "when": datetime.now(UTC).isoformat(timespec="seconds"),
            "commit": find_commit(),
            "versions": library_versions(),
            "parameters": self.parameters,
            **figures,
        }
        with (RESULTS / f"{self.name}.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry, default=str) + "\n")

    def head(self, *names: str) -> None:
        """Begin a Markdown table."""
        print("\n| " + " | ".join(names) + " |\n|" + "---|" * len(names), flush=True)

    def row(self, *cells: object, **figures: Any) -> None:
        """Print one row of a Markdown table and keep its figures; numbers have two digits after the point."""
        texts = [f"{cell:.2f}" if isinstance(cell, float) else str(cell) for cell in cells]
        self.line("| " + " | ".join(texts) + " |", **figures)

    def floor(self, what: str, value: float, *, at_least: float | None = None, at_most: float | None = None) -> None:
        """Compare a figure with its bar."""
        good = (at_least is None or value >= at_least) and (at_most is None or value <= at_most)
        bar = f">= {at_least:g}" if at_least is not None else f"<= {at_most:g}"
        self.line(f"   {'ok  ' if good else 'MISS'} {what}: {value:.4g} (bar {bar})", what=what, value=value, bar=bar, ok=good)
        if not good:
            self.missed.append(what)

    def finish(self) -> int:
        """Return the exit code."""
        if self.missed:
            print(f"{self.name}: missed {', '.join(self.missed)}", file=sys.stderr)
        return int(bool(self.missed))


def check_names(parser: argparse.ArgumentParser, what: str, names: Collection[str], known: Collection[str]) -> None:
    """End the command where a name is none of those that are known."""
    unknown = [name for name in names if name not in known]
    if unknown:
        parser.error(f"{what}: expected some of {', '.join(known)}, got {', '.join(unknown)}. Check the spelling.")


def side_by_side(
    contenders: dict[str, Callable[[], Any]], *, repeats: int = 3, clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """Return the best time of each contender in seconds, taking turns so that a busy machine hits all alike."""
    best = dict.fromkeys(contenders, float("inf"))
    for _ in range(repeats):
        for name, work in contenders.items():
            start = clock()
            work()
            best[name] = min(best[name], clock() - start)
    return best
