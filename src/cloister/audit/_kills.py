# SPDX-License-Identifier: Apache-2.0
"""A ledger in a file while the processes that use it are killed, and while two of them race for the last of the budget.

Each trial is a process of its own that fits with the ledger and writes down every answer at the moment it exists. Every answer
that a killed process had written down must be covered by a debit on disk, the chain of digests must be intact, and debits
together with open reservations must stay within the budget; once accounts are settled, debits alone must count. The file is
read with SQLite and arithmetic of our own.
"""

import contextlib
import hashlib
import json
import math
import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from cloister.audit._findings import Case, Check, CheckResult, Settings
from cloister.audit._plants import planted, swapped
from cloister.cluster import KMeans
from cloister.columns import IntArray
from cloister.exceptions import BudgetExceeded, CloisterError
from cloister.privacy import GDP, Entropy, Event, Ledger
from cloister.questions import Answer, Question, Spend
from cloister.vault import Vault

BUDGET, EACH = GDP(2.0), GDP(0.9)  # four fits fit, the fifth is refused
LONGEST = 0.25  # seconds after the first answer within which a process is killed
FULL_SYNC = 2  # of SQLite: a commit is on the disk when it returns
SLACK = 1e-12
KINDS = {
    "paid": "killed at a debit",
    "answer": "killed at an answer",
    "random": "killed at a random moment",
    "race": "race of two processes",
}
TIMEOUT = 300.0  # seconds
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)


def _cases(settings: Settings, folder: Path) -> Iterator[Case]:
    trials = kill_trials(settings, folder)
    yield Case("processes", "processes", partial(_start, trials=trials, plant=settings.plant))
    for trial in trials:
        yield Case(KINDS[trial["kind"]], KINDS[trial["kind"]], partial(_check_trial, trial=trial))


KILLS = Check(
    title="The ledger under kills and races",
    meaning="Processes are killed in the middle of fits, and two race for one budget. Every answer they gave must be covered "
    "by a debit on disk, and what counts must stay within the budget.",
    cases=_cases,
)


def kill_trials(settings: Settings, folder: Path) -> list[dict[str, Any]]:
    """Return the trials: killed at the n-th debit, at the n-th answer, at a random moment; and races of two."""
    generator = Entropy(settings.seed).public_generator()
    kinds = ["answer", "paid", "random"] * settings.amount(5, 40) + ["race"] * settings.amount(3, 12)
    return [
        {
            "kind": kind,
            "at": int(generator.integers(1, 40)),
            "delay": float(generator.uniform(0, LONGEST)),
            "processes": 2 if kind == "race" else 1,
            "fits": 5 if kind != "race" else 3,
            "seed": settings.seed + 1000 * number,
            "ledger": str(folder / f"budget-{number}.sqlite"),
            "answers": str(folder / f"answers-{number}.jsonl"),
        }
        for number, kind in enumerate(kinds)
    ]


def _start(found: CheckResult, *, trials: Sequence[dict[str, Any]], plant: str) -> None:
    """Run trials, each with a new ledger, from a process that has no threads and may therefore fork."""
    for trial in trials:
        Ledger.create(trial["ledger"], BUDGET).close()
    command = [sys.executable, "-c", "from cloister.audit._kills import run_trials; run_trials()"]
    quiet = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    plan = json.dumps([plant, trials]).encode()
    try:  # our own interpreter
        ended = subprocess.run(command, input=plan, capture_output=True, timeout=TIMEOUT, env=quiet)  # noqa: S603
    except subprocess.TimeoutExpired:
        found.violation(f"they did not end within {TIMEOUT:g} seconds")
        return
    if ended.returncode:
        found.violation(f"the process that starts others ended with code {ended.returncode}")


def _check_trial(found: CheckResult, *, trial: dict[str, Any]) -> None:
    """Check what a trial left behind: answers, lines of the ledger, and what an opened ledger says."""
    place = Path(trial["answers"])
    text = place.read_text(encoding="utf-8") if place.exists() else ""
    answers = [json.loads(line) for line in text.splitlines() if line.endswith("}")]
    lines = _lines(found, Path(trial["ledger"]))
    debits = [line for line in lines if line["kind"] == "debit"]
    paid, given = (Counter(map(itemgetter("asked", "scale", "size"), some)) for some in (debits, answers))
    missing = sum((given - paid).values())
    if missing:
        found.violation(f"{missing} of {len(answers)} answers without a debit on disk")
    if (not answers and trial["kind"] != "paid") or (trial["kind"] == "answer" and len(answers) != trial["at"]):
        found.violation("the process ended before it was killed")
    found.check_limit(_counts_as(lines), BUDGET.mu, "mu that counts against the budget", slack=SLACK)
    owed = math.sqrt(_debited(debits))
    try:
        with Ledger.open(trial["ledger"]) as ledger:
            found.check_limit(owed, ledger.spent.mu, "debits, beside what the ledger says", slack=SLACK)
            sync = ledger._store.connect().execute("PRAGMA synchronous").fetchone()[0]
            if sync < FULL_SYNC:
                found.violation("the ledger does not wait for the disk: a debit could be lost in a power failure")
            ledger.settle()
            settled = ledger.spent.mu
            found.check_limit(owed, settled, "debits, beside what settled accounts count as", slack=SLACK)
            if settled > owed * (1 + SLACK):
                found.violation("the account of a process that is gone was not settled")
    except CloisterError as error:
        found.violation(f"the ledger cannot be opened ({type(error).__name__})")


def _lines(found: CheckResult, path: Path) -> list[dict[str, Any]]:
    """Read the lines with SQLite alone and check their digests."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT line, digest FROM ledger ORDER BY id").fetchall()
    digest = ""
    for text, stated in rows:
        digest = hashlib.sha256(f"{digest}\n{text}".encode()).hexdigest()
        if digest != stated:
            found.violation("the chain of digests is broken")
    return [json.loads(text) for text, _ in rows]


def _debited(lines: Sequence[dict[str, Any]]) -> float:
    return math.fsum((line["sensitivity"] / line["scale"]) ** 2 for line in lines)


def _counts_as(lines: Sequence[dict[str, Any]]) -> float:
    """Return the mu that counts: debits of closed accounts, and all that open ones reserved."""
    closed = {line["account"] for line in lines if line["kind"] == "close"}
    opened = sum(line["account"] not in closed for line in lines if line["kind"] == "reserve")
    debits = [line for line in lines if line["kind"] == "debit" and line["account"] in closed]
    return math.sqrt(_debited(debits) + opened * EACH.mu**2)


# -- in the process that is killed ---------------------------------------------------------------------------------------


def run_trials() -> None:
    """Run the trials that standard input lists, each in one or two processes: forked, or on Windows spawned."""
    plant, trials = json.load(sys.stdin)
    context: Any = multiprocessing.get_context("fork" if hasattr(os, "fork") else "spawn")
    for trial in trials:
        ready = context.Barrier(trial["processes"])
        given = [(plant, trial, number, ready) for number in range(trial["processes"])]
        children = [context.Process(target=_fit_until_refused, args=each) for each in given]
        for child in children:
            child.start()
        if trial["kind"] == "random":
            answers, until = Path(trial["answers"]), time.monotonic() + 20
            while not (answers.exists() and answers.stat().st_size) and time.monotonic() < until:
                time.sleep(0.001)
            time.sleep(trial["delay"])
            os.kill(children[0].pid, KILL)
        for child in children:
            child.join()


def _fit_until_refused(plant: str, trial: dict[str, Any], number: int, ready: Any) -> None:
    rows = np.linspace(-0.9, 0.9, 60).reshape(-1, 2)
    ready.wait()  # all start at the same moment
    with (
        planted(plant),
        Ledger.open(trial["ledger"]) as ledger,
        open(trial["answers"], "ab", buffering=0) as answers,
        swapped("cloister.cluster._base:Vault", _reporting(answers.write, trial)),
        contextlib.suppress(BudgetExceeded),
    ):
        for turn in range(trial["fits"]):
            seed = trial["seed"] + 100 * number + turn
            KMeans(2, guarantee=EACH, bounds=(-1, 1), ledger=ledger, random_state=seed, n_init=1, n_jobs=1).fit(rows)


def _reporting(write: Callable[[bytes], Any], trial: dict[str, Any]) -> type[Vault]:
    """Return a vault that writes every answer down at once, and dies where the trial says so."""
    seen = {"paid": 0, "answer": 0}

    def reach(point: str) -> None:
        seen[point] += 1
        if trial["kind"] == point and seen[point] == trial["at"]:
            os.kill(os.getpid(), KILL)

    class Reporting(Vault):
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
