# SPDX-License-Identifier: Apache-2.0
"""Worker processes, one job each at a time. A worker that dies or takes too long costs its own job only.

That is why it is not joblib: there a worker that dies, or a job that takes too long, ends the whole run, and which job it
was is not said. The others would be lost, and the next run would meet the same job again.
"""

import contextlib
import multiprocessing
import os
import signal
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from types import TracebackType
from typing import Any, Self

from ._errors import BenchError
from ._jobs import Context, Job
from ._worker import ONE_THREAD, READY, serve

__all__ = ["Pool"]

START_SECONDS = 300.0  # a worker that has not come up by then never will
PATIENCE = 0.25  # seconds between two looks at the clock


@dataclass(eq=False)
class _Worker:
    process: Any
    pipe: Connection
    job: Job | None = None
    since: float = 0.0


class Pool:
    """Runs jobs in `n_workers` processes; a context manager that leaves none behind."""

    def __init__(self, n_workers: int, context: Context, *, timeout: float | None = None) -> None:
        self._size, self._context, self._timeout = n_workers, context, timeout
        self._workers: list[_Worker] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for worker in self._workers:
            worker.process.kill()
        for worker in self._workers:
            worker.process.join()
            worker.pipe.close()
        self._workers = []

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, dict[str, Any]]]:
        """Yield each job with how it ended, as they end."""
        waiting = iter(jobs)
        more = True
        while True:
            while more and (free := self._free()) is not None:
                job = next(waiting, None)
                more = job is not None
                if job is not None:
                    self._give(free, job)
            busy = [worker for worker in self._workers if worker.job is not None]
            if not busy:
                return
            wait([worker.pipe for worker in busy], PATIENCE)
            for worker in busy:
                outcome = self._look(worker)
                if outcome is not None:
                    job, worker.job = worker.job, None
                    assert job is not None
                    yield job, outcome

    def _free(self) -> _Worker | None:
        for worker in self._workers:
            if worker.job is None:
                return worker
        if len(self._workers) < self._size:
            self._workers.append(_start(self._context))
            return self._workers[-1]
        return None

    def _give(self, worker: _Worker, job: Job) -> None:
        with contextlib.suppress(OSError):  # one that died meanwhile is noticed when it is looked at
            worker.pipe.send(job)
        worker.job, worker.since = job, time.monotonic()

    def _look(self, worker: _Worker) -> dict[str, Any] | None:
        try:
            if worker.pipe.poll():
                outcome: dict[str, Any] = worker.pipe.recv()
                return outcome
        except (EOFError, OSError):
            worker.process.join()
            return self._lose(worker, _death(worker.process.exitcode))
        if self._timeout is not None and time.monotonic() - worker.since > self._timeout:
            worker.process.kill()
            worker.process.join()
            return self._lose(worker, f"took longer than {self._timeout:g} s")
        return None

    def _lose(self, worker: _Worker, reason: str) -> dict[str, Any]:
        worker.pipe.close()
        self._workers.remove(worker)
        spent = time.monotonic() - worker.since
        return {"status": "failed", "reason": reason, "seconds": spent, "job_seconds": spent}


def _start(context: Context) -> _Worker:
    """Start a process with one thread that the keyboard cannot interrupt, and wait until it is ready."""
    spawn = multiprocessing.get_context("spawn")
    here, there = spawn.Pipe()
    process = spawn.Process(target=serve, args=(there, context), daemon=True)
    with _one_thread(), _deaf_to_the_keyboard():
        process.start()
    there.close()
    try:
        if not here.poll(START_SECONDS) or here.recv() != READY:
            raise EOFError
    except (EOFError, OSError):
        process.kill()
        raise BenchError("a worker process did not start; its own words are above. Try --jobs 1, or look there.") from None
    return _Worker(process, here)


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextlib.contextmanager
def _deaf_to_the_keyboard() -> Iterator[None]:
    """Let a child inherit that Ctrl-C is ignored: this process alone decides when to stop."""
    try:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    except ValueError:  # not the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _death(code: int | None) -> str:
    if code is not None and code < 0:
        name = signal.Signals(-code).name
        return f"the worker was ended by {name}" + (" (out of memory?)" if name == "SIGKILL" else "")
    return f"the worker ended with exit code {code}"
