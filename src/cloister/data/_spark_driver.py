# SPDX-License-Identifier: Apache-2.0
"""The driver's side of Spark: starting a session, watching a job, and saying what went wrong. Imported by the Spark backend."""

import os
import re
import socket
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from itertools import count
from time import monotonic
from typing import Any

from cloister.data._backend import Watch, explained
from cloister.exceptions import DataError

CONNECT_SECONDS = 10.0
PATIENCE_SECONDS = 120.0  # without a task at work
LOOK_SECONDS = 0.5
GROUPS = count()
POOL = "spark.scheduler.pool"


def start_session(where: str, master: str, *, running: Any) -> Any:
    """Start a Spark session of our own."""
    from pyspark.sql import SparkSession

    if running is not None:
        raise DataError(
            f"{where}: expected the Spark master {master!r}, but a session of {running.sparkContext.master!r} is running. "
            "Stop it first, or leave the address out."
        )
    _refuse_silent(where, master)
    if master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    quiet = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
    builder = SparkSession.builder.master(master).appName("cloister").config(map=quiet)
    return explained(
        builder.getOrCreate,
        lambda error: f"{where}: Spark cannot start at {master!r} ({type(error).__name__}). Check the address and Java.",
    )


def _refuse_silent(where: str, master: str) -> None:
    """Refuse the address of a standalone master that does not answer; Spark itself would try for a minute."""
    if not master.startswith("spark://"):
        return
    for address in master.removeprefix("spark://").split(","):
        host, _, port = address.rpartition(":")
        with suppress(OSError, ValueError), socket.create_connection((host, int(port)), timeout=CONNECT_SECONDS):
            return
    raise DataError(f"{where}: no Spark master answers at {master!r}. Check the address.")


def run_job(where: str, context: Any, watch: Watch | None, work: Callable[[], Any]) -> Any:
    """Return what work of Spark's returns, run in another thread: report progress, and give up where nobody takes a task."""
    group = f"cloister-{os.getpid()}-{next(GROUPS)}"
    share = context.getLocalProperty(POOL)  # properties belong to threads

    def grouped() -> Any:
        context.setLocalProperty(POOL, share)
        context.setJobGroup(group, "cloister: one question", interruptOnCancel=True)
        return work()

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(grouped)
        try:
            busy = monotonic()
            while not wait([future], timeout=LOOK_SECONDS).done:
                stages = _stages(context, group)
                if not stages or any(stage.numActiveTasks for stage in stages):
                    busy = monotonic()
                elif monotonic() - busy > PATIENCE_SECONDS:
                    raise DataError(
                        f"{where}: no Spark executor took a task for {PATIENCE_SECONDS:g} seconds. Check that the cluster has "
                        "workers with free cores."
                    )
                if stages and watch is not None:
                    watch(sum(stage.numCompletedTasks for stage in stages) / sum(stage.numTasks for stage in stages))
            return future.result()
        except BaseException:
            with suppress(Exception):
                context.cancelJobGroup(group)
            raise


def _stages(context: Any, group: str) -> list[Any]:
    tracker = context.statusTracker()
    jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
    stages = [tracker.getStageInfo(stage) for job in jobs if job is not None for stage in job.stageIds]
    return [stage for stage in stages if stage is not None]


def explain(where: str, error: Exception) -> str:
    """Say what went wrong without a value: engines quote what they were working on."""
    text = str(error)
    ours = re.search(r"cloister\.exceptions\.DataError: (.+)", text)
    if ours is not None:
        return ours.group(1).strip()
    if re.search(r"FileNotFound|FAILED_READ_FILE|PATH_NOT_FOUND|does not exist", text):
        return f"{where}: a file of the Spark table can no longer be read. Check that it was not replaced or moved."
    if isinstance(error, OSError) or type(error).__name__ == "Py4JNetworkError" or "SparkContext was shut down" in text:
        return f"{where}: the Spark session is gone ({type(error).__name__}). Start it again."
    return (
        f"{where}: Spark cannot compute a partition ({type(error).__name__}). Check that the table can still be read, and that "
        "executors have the same versions installed."
    )
