# SPDX-License-Identifier: Apache-2.0
"""What a worker process does: measure one job after another, on one thread, and say how each ended."""

import math
import os
import threading
import time
import traceback
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from typing import Any

from ._jobs import Context, Job

__all__ = ["ONE_THREAD", "READY", "measure", "serve"]

READY = "ready"
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"
)
LONGEST_REASON = 300


def serve(pipe: Connection, context: Context) -> None:
    """Measure what comes through the pipe until it closes."""
    from threadpoolctl import threadpool_limits

    from .suites import KINDS  # noqa: F401 - loaded before the first job is timed

    threading.Thread(target=_leave_with_parent, daemon=True).start()
    with threadpool_limits(1):
        pipe.send(READY)
        while True:
            try:
                job = pipe.recv()
            except (EOFError, OSError):
                return
            pipe.send(measure(job, context))


def measure(job: Job, context: Context) -> dict[str, Any]:
    """Return how a job ended: its figures, or why it failed."""
    from .suites import KINDS

    start = time.perf_counter()
    try:
        figures = KINDS[job.kind](job, context)
        _check(figures)
    except Exception as error:
        spent = time.perf_counter() - start
        return {"status": "failed", "reason": _reason(error), "seconds": spent, "job_seconds": spent}
    return {"status": "ok", **figures, "job_seconds": time.perf_counter() - start}


def _check(figures: dict[str, Any]) -> None:
    loss = figures.get("loss", 0.0)
    if not math.isfinite(loss):
        raise ValueError(f"the loss is {loss}")


def _reason(error: Exception) -> str:
    """Return the error and where it arose, on one line."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:LONGEST_REASON] + place


def _leave_with_parent() -> None:
    """End this process when its parent has ended, even in the middle of a job."""
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
