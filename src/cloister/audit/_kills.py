# SPDX-License-Identifier: Apache-2.0
"""A ledger in a file while the processes that use it are killed, and while two of them race for the last of the budget.

Every answer that a killed process had written down must be covered by a debit on disk, the chain of digests must be intact, and
debits together with open reservations must stay within the budget; once accounts are settled, debits alone must count. The file
is read with SQLite and arithmetic of our own.
"""

import hashlib
import json
import math
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from cloister.audit._child import BUDGET, EACH
from cloister.audit._findings import CheckResult, Findings, Settings, Step
from cloister.exceptions import CloisterError
from cloister.privacy import Entropy, Ledger

__all__ = ["check_kills", "kill_trials"]

TITLE = "The ledger under kills and races"
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


def check_kills(settings: Settings, step: Step) -> CheckResult:
    """Kill processes in the middle of fits and check what they leave behind."""
    found = Findings("kills", TITLE, step, settings.first)
    with tempfile.TemporaryDirectory() as folder:
        trials = kill_trials(settings, Path(folder))
        for trial in trials:
            _create(Path(trial["ledger"])).close()
        for part in [trials] if hasattr(os, "fork") else [[trial] for trial in trials]:
            _start(found, part, settings.plant, Path(folder))
        for trial in trials:
            found.begin(f"after: {KINDS[trial['kind']]}", part=KINDS[trial["kind"]])
            _check_trial(found, trial)
    return found.result()


def _create(path: Path) -> Ledger:
    return Ledger.create(path, BUDGET)


def kill_trials(settings: Settings, folder: Path) -> list[dict[str, Any]]:
    """Return the trials: killed at the n-th debit, at the n-th answer, at a random moment; and races of two.

    A process that cannot fork, as on Windows, can only kill itself: there the last two kinds are left out.
    """
    generator = Entropy(settings.seed).public_generator()
    kinds = ["answer", "paid", "random"] * settings.amount(5, 40) + ["race"] * settings.amount(3, 12)
    trials = [
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
    return trials if hasattr(os, "fork") else [trial for trial in trials if trial["kind"] in ("answer", "paid")]


def _start(found: Findings, trials: Sequence[dict[str, Any]], plant: str, folder: Path) -> None:
    """Run trials in a process of their own, which has no threads and may therefore fork."""
    plan = folder / "plan.json"
    plan.write_text(json.dumps({"plant": plant, "trials": list(trials)}), encoding="utf-8")
    command = [sys.executable, "-c", f"from cloister.audit._child import main; main({str(plan)!r})"]
    quiet = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    try:
        ended = subprocess.run(command, capture_output=True, timeout=TIMEOUT, env=quiet)  # noqa: S603 - our own interpreter
    except subprocess.TimeoutExpired:
        found.violation(f"processes did not end within {TIMEOUT:g} seconds")
        return
    if ended.returncode and hasattr(os, "fork"):
        found.violation(f"the process that starts others ended with code {ended.returncode}")


def _check_trial(found: Findings, trial: dict[str, Any]) -> None:
    """Check what a trial left behind: answers, lines of the ledger, and what an opened ledger says."""
    place = Path(trial["answers"])
    answers = (
        [json.loads(line) for line in place.read_text(encoding="utf-8").splitlines() if line.endswith("}")]
        if place.exists()
        else []
    )
    lines = _lines(found, Path(trial["ledger"]))
    debits = [line for line in lines if line["kind"] == "debit"]
    paid, given = Counter(map(_key, debits)), Counter(map(_key, answers))
    missing = sum((given - paid).values())
    message = KINDS[trial["kind"]]
    if missing:
        found.violation(f"{message}: {missing} of {len(answers)} answers without a debit on disk")
    if (not answers and trial["kind"] != "paid") or (trial["kind"] == "answer" and len(answers) != trial["at"]):
        found.violation(f"{message}: the process ended before it was killed")
    found.check_limit(_counts_as(lines), BUDGET.mu, f"{message}: mu that counts against the budget", slack=SLACK)
    try:
        with Ledger.open(trial["ledger"]) as ledger:
            found.check_limit(
                math.sqrt(_debited(debits)), ledger.spent.mu, f"{message}: debits, beside what the ledger says", slack=SLACK
            )
            sync = ledger._store.connect().execute("PRAGMA synchronous").fetchone()[0]
            if sync < FULL_SYNC:
                found.violation("the ledger does not wait for the disk: a debit could be lost in a power failure")
            ledger.settle()
            settled, owed = ledger.spent.mu, math.sqrt(_debited(debits))
            found.check_limit(owed, settled, f"{message}: debits, beside what settled accounts count as", slack=SLACK)
            if settled > owed * (1 + SLACK):
                found.violation(f"{message}: the account of a process that is gone was not settled")
    except CloisterError as error:
        found.violation(f"{message}: the ledger cannot be opened ({type(error).__name__})")


def _lines(found: Findings, path: Path) -> list[dict[str, Any]]:
    """Read the lines with SQLite alone and check their digests."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT line, digest FROM ledger ORDER BY id").fetchall()
    digest = ""
    for text, stated in rows:
        digest = hashlib.sha256(f"{digest}\n{text}".encode()).hexdigest()
        if digest != stated:
            found.violation("the chain of digests is broken")
    return [json.loads(text) for text, _ in rows]


def _key(line: dict[str, Any]) -> tuple[Any, ...]:
    return line["asked"], line["scale"], line["size"]


def _debited(lines: Sequence[dict[str, Any]]) -> float:
    return math.fsum((line["sensitivity"] / line["scale"]) ** 2 for line in lines)


def _counts_as(lines: Sequence[dict[str, Any]]) -> float:
    """Return the mu that counts: debits of closed accounts, and all that open ones reserved."""
    closed = {line["account"] for line in lines if line["kind"] == "close"}
    opened = sum(line["account"] not in closed for line in lines if line["kind"] == "reserve")
    debits = [line for line in lines if line["kind"] == "debit" and line["account"] in closed]
    return math.sqrt(_debited(debits) + opened * EACH.mu**2)
