# SPDX-License-Identifier: Apache-2.0
"""One run of a suite: plan, leave out what is done, measure the rest in worker processes, keep every result at once."""

import os
import platform
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cloister.release import library_versions

from ._jobs import Choice, Job, Plan, key_of
from ._pool import Pool
from ._progress import Durations, Meter
from ._store import Store, read_results

__all__ = ["Outcome", "Settings", "find_commit", "n_processors", "run_plan"]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How to measure; none of it is part of a result's name."""

    output: Path
    n_workers: int
    timeout: float | None = None
    retry_failed: bool = False
    quiet: bool = False


@dataclass(frozen=True)
class Outcome:
    """How a run ended."""

    planned: int
    kept: int  # results that were there before
    measured: int
    failed: int
    interrupted: bool
    commits: tuple[str, ...]  # of the results that were there before


def run_plan(suite: str, plan: Plan, choice: Choice, settings: Settings) -> Outcome:
    """Measure what of the plan is not in the output folder yet."""
    stamp = {"commit": find_commit(), "versions": library_versions()}
    with Store(settings.output) as store:
        before = _wanted(read_results(settings.output), plan.jobs)
        done = {key for key, record in before.items() if record["status"] == "ok" or not settings.retry_failed}
        waiting = [job for job in plan.jobs if job.key not in done]
        store.note_run(_facts(suite, plan, choice, stamp))
        durations = Durations()
        for record in before.values():
            durations.learn(record)
        measured, interrupted = _measure(suite, waiting, choice, settings, store, durations, stamp)
        after = _wanted(read_results(settings.output), plan.jobs)
    return Outcome(
        planned=len(plan.jobs),
        kept=len(done),
        measured=measured,
        failed=sum(record["status"] != "ok" for record in after.values()),
        interrupted=interrupted,
        commits=tuple(sorted({record.get("commit", "unknown") for record in before.values()})),
    )


def find_commit() -> str:
    """Return the commit of the code that is measured, with a plus sign if files were changed since."""
    command = ["git", "-C", str(Path(__file__).resolve().parent), "describe", "--always", "--dirty=+", "--exclude=*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip()


def n_processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _wanted(records: list[dict[str, Any]], jobs: tuple[Job, ...]) -> dict[str, dict[str, Any]]:
    keys = {job.key for job in jobs}
    return {key: record for record in records if (key := key_of(record)) in keys}


def _facts(suite: str, plan: Plan, choice: Choice, stamp: dict[str, Any]) -> dict[str, Any]:
    machine = {"system": platform.platform(), "processors": n_processors(), "machine": platform.machine()}
    options = {"profile": choice.profile, "repeats": choice.repeats, "seed": choice.seed}
    return {"suite": suite, "when": _now(), **stamp, **machine, **options, "jobs": len(plan.jobs), "left_out": plan.left_out}


def _measure(
    suite: str,
    waiting: list[Job],
    choice: Choice,
    settings: Settings,
    store: Store,
    durations: Durations,
    stamp: dict[str, Any],
) -> tuple[int, bool]:
    left = {job.key: job for job in waiting}
    n_workers = max(1, min(settings.n_workers, len(waiting)))
    measured = 0
    try:
        with (
            _stoppable(),
            Pool(n_workers, choice.context, timeout=settings.timeout) as pool,
            Meter(suite, len(waiting), quiet=settings.quiet) as meter,
        ):
            for job, ended in pool.run(waiting):
                record = {**job.facts(), "seed": job.seed, **ended, "suite": suite, "when": _now(), **stamp}
                store.append(record)
                measured += 1
                del left[job.key]
                durations.learn(record)
                meter.step(failed=ended["status"] != "ok", left=lambda: _time_left(durations, left, n_workers))
    except KeyboardInterrupt:
        return measured, True
    return measured, False


def _time_left(durations: Durations, left: dict[str, Job], n_workers: int) -> float | None:
    total = durations.predict(left.values())
    return None if total is None else total / n_workers


@contextmanager
def _stoppable() -> Iterator[None]:
    """Let a request to end (SIGTERM) stop a run as Ctrl-C does."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
