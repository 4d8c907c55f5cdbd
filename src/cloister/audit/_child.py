# SPDX-License-Identifier: Apache-2.0
"""The process that is killed: fits with a ledger in a file and writes down every answer at the moment it exists.

Its plan is a JSON file with the trials. Each trial is a process of its own that kills itself at a given point, is killed at a
random moment, or races another one.
"""

import contextlib
import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from cloister.audit._plants import planted, swapped
from cloister.cluster import KMeans
from cloister.columns import IntArray
from cloister.exceptions import BudgetExceeded
from cloister.privacy import GDP, Event, Ledger
from cloister.questions import Answer, Question, Spend
from cloister.vault import Vault

__all__ = ["BUDGET", "EACH", "main"]

BUDGET, EACH = GDP(2.0), GDP(0.9)  # four fits fit, the fifth is refused
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)


def main(plan: str) -> None:
    """Run all trials of a plan."""
    read = json.loads(Path(plan).read_text(encoding="utf-8"))
    with planted(read["plant"]):
        for trial in read["trials"]:
            _run(trial)


def _run(trial: dict[str, Any]) -> None:
    if not hasattr(os, "fork"):  # the trial ends this process
        _fit_until_refused(trial, 0)
        return
    start, go = os.pipe()
    children = [_fork(trial, number, start, go) for number in range(trial["processes"])]
    os.close(start)
    os.close(go)  # all start at the same moment
    if trial["kind"] == "random":
        _wait_for_answer(Path(trial["answers"]))
        time.sleep(trial["delay"])
        os.kill(children[0], KILL)
    for child in children:
        os.waitpid(child, 0)


def _fork(trial: dict[str, Any], number: int, start: int, go: int) -> int:
    child = os.fork()
    if child:
        return child
    try:
        os.close(go)
        os.read(start, 1)
        _fit_until_refused(trial, number)
    finally:
        os._exit(0)


def _wait_for_answer(answers: Path) -> None:
    until = time.monotonic() + 20
    while not (answers.exists() and answers.stat().st_size) and time.monotonic() < until:
        time.sleep(0.001)


def _fit_until_refused(trial: dict[str, Any], number: int) -> None:
    rows = np.linspace(-0.9, 0.9, 60).reshape(-1, 2)
    with (
        Ledger.open(trial["ledger"]) as ledger,
        open(trial["answers"], "ab", buffering=0) as answers,
        swapped("cloister.cluster._base:Vault", _reporting(answers.write, trial)),
        contextlib.suppress(BudgetExceeded),
    ):
        for turn in range(trial["fits"]):
            seed = trial["seed"] + 100 * number + turn
            KMeans(2, guarantee=EACH, bounds=(-1, 1), ledger=ledger, random_state=seed, n_init=1, n_jobs=1).fit(rows)


def _reporting(write: Callable[[bytes], Any], trial: dict[str, Any]) -> type[Vault]:
    seen = {"paid": 0, "answer": 0}

    def reach(point: str) -> None:
        seen[point] += 1
        if trial["kind"] == point and seen[point] == trial["at"]:
            os.kill(os.getpid(), KILL)

    class Reporting(Vault):
        """Writes every answer down at once, and dies where the trial says so."""

        def _pay(self, question: Question, cost: Spend) -> Event:
            event = super()._pay(question, cost)
            reach("paid")
            return event

        def _noisy(self, question: Question, exact: IntArray, event: Event) -> Answer:
            answer = super()._noisy(question, exact, event)
            write(json.dumps({"asked": event.question_name, "scale": event.scale, "size": event.size}).encode() + b"\n")
            reach("answer")
            return answer

    return Reporting
