# SPDX-License-Identifier: Apache-2.0
"""What it costs to protect persons: ``python -m benchmarks.privacy_unit_speed``.

Rows of many persons are written to Parquet files. Each engine answers the same questions, and fits KMeans, on all rows and on
at most so many rows of each person. Every measurement is a process of its own. Its seconds begin once the engine has answered a
small question; its memory is the sum over the process and all that it has started, Java included. With persons, the integers of
all engines must be equal. ``dask`` runs in threads, ``dask-cluster`` in two worker processes. A fit with persons
chooses their rows itself, so that its seconds are all of it.
"""

import argparse
import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from ._harness import Report

ENGINES = ("numpy", "dask", "dask-cluster", "spark")
PERSON = "person"
N_FEATURES, N_CLUSTERS = 8, 32
WORKERS = 2
FILE_ROWS, GROUP_ROWS = 1_000_000, 1 << 18
KEY = bytes(range(32))  # of ids and of the choice: the same for all engines
SPARK = {"spark.driver.memory": "512m"}  # the default is 1g; Java takes what it may have before it looks for garbage
LOOK_SECONDS = 0.05
TIME_BAR, MEMORY_BAR = 3.0, 2000.0  # times a fit without persons, megabytes


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--persons", type=float, default=1e6)
    parser.add_argument("--limit", type=int, default=5, help="rows of a person that are used")
    parser.add_argument("--ids", choices=["text", "integer"], default="text")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=["numpy", "dask", "spark"])
    parser.add_argument(
        "--scratch", type=Path, default=Path(tempfile.gettempdir()) / "cloister-privacy-unit", help="for the rows"
    )
    parser.add_argument("--keep", action="store_true", help="keep the rows for another run")
    parser.add_argument("--job", type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.job is not None:
        print(json.dumps(_job(**options.job)))
        return 0
    try:
        return _compare(options)
    finally:
        if not options.keep:
            shutil.rmtree(options.scratch, ignore_errors=True)


def _compare(options: argparse.Namespace) -> int:
    size = {"rows": int(options.rows), "persons": int(options.persons)}
    folder = write(options.scratch, **size, ids=options.ids)
    report = Report("privacy_unit_speed", **size, ids=options.ids, limit=options.limit)
    report.head("engine", "what", "s to bound", "s to ask or fit", "CPU s", "MB at most")
    integers = {}
    for engine in options.engines:
        found = {}
        for what, limit in ((what, limit) for what in ("ask", "fit") for limit in (None, options.limit)):
            found[what, limit] = one = _measure({"engine": engine, "folder": str(folder), "what": what, "limit": limit})
            cells = (one["bound"], one["seconds"], one["processor"], round(one["megabytes"]))
            whom = "rows" if limit is None else "persons"
            report.row(engine, f"{what}, {whom}", *cells, engine=engine, measured=what, unit=whom, **one)
        integers[engine] = found["ask", options.limit]["digest"]
        rows, persons = found["fit", None], found["fit", options.limit]
        ratio = (persons["bound"] + persons["seconds"]) / (rows["bound"] + rows["seconds"])
        report.floor(f"{engine}: a fit with persons over one without", ratio, at_most=TIME_BAR)
        report.floor(f"{engine}: megabytes with persons", persons["megabytes"], at_most=MEMORY_BAR)
    report.floor("different integers of engines with persons", len(set(integers.values())), at_most=1)
    return report.finish()


def write(scratch: Path, *, rows: int, persons: int, ids: str) -> Path:
    """Write Gaussian clusters in [-1, 1]^d, each row of a random person; a folder that is complete is used again."""
    folder = scratch / f"{rows}-{persons}-{ids}"
    if (folder / "_SUCCESS").exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    middles = np.random.default_rng(0).uniform(-0.7, 0.7, (N_CLUSTERS, N_FEATURES))
    for number, start in enumerate(range(0, rows, FILE_ROWS)):
        generator, size = np.random.default_rng([1, number]), min(FILE_ROWS, rows - start)
        table = middles[generator.integers(N_CLUSTERS, size=size)] + 0.05 * generator.standard_normal((size, N_FEATURES))
        whose = pa.array(generator.integers(persons, size=size))
        named = pa.compute.binary_join_element_wise("patient", whose.cast(pa.string()), "-") if ids == "text" else whose
        columns = {f"x{index}": table[:, index] for index in range(N_FEATURES)}
        path = folder / f"{number:05d}.parquet"
        pa.parquet.write_table(pa.table({PERSON: named, **columns}), path, row_group_size=GROUP_ROWS, compression="none")
    (folder / "_SUCCESS").touch()
    return folder


def _measure(job: dict[str, Any]) -> dict[str, Any]:
    """Run one measurement in a process of its own, and look at the memory of all its processes meanwhile."""
    command = [sys.executable, "-m", "benchmarks.privacy_unit_speed", "--job", json.dumps(job)]
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    peak = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as process:
        while process.poll() is None:
            peak = max(peak, sum(_each(process.pid, _resident)))
            time.sleep(LOOK_SECONDS)
        assert process.stdout is not None
        said = process.stdout.read()
    if process.returncode:
        raise SystemExit(f"the measurement {job} failed")
    found: dict[str, Any] = json.loads(said.splitlines()[-1])
    return {**found, "megabytes": peak / 1e6}


# -- one measurement -------------------------------------------------------------------------------------------------------


def _job(*, engine: str, folder: str, what: str, limit: int | None) -> dict[str, Any]:
    with _started(engine) as options:
        _ask(_open(sorted(Path(folder).glob("*.parquet"))[0], options, limit))
        processor, start = _processor_seconds(), time.perf_counter()
        rows = _open(folder, options, limit, bounds=what != "fit")
        bound = time.perf_counter() - start
        answer = _fit(rows, limit) if what == "fit" else _ask(rows)
        seconds = time.perf_counter() - start - bound
        busy = _processor_seconds() - processor
    digest = hashlib.sha256(np.ascontiguousarray(answer).tobytes()).hexdigest()[:12]
    return {"bound": bound, "seconds": seconds, "processor": busy, "digest": digest}


def _open(path: Any, options: dict[str, Any], limit: int | None, *, bounds: bool = True) -> Any:
    """Open rows: all of them without their persons, or at most `limit` of each; a fit chooses these itself."""
    from cloister.data import Bounding, open_rows

    columns = [f"x{index}" for index in range(N_FEATURES)]
    if limit is None:
        return open_rows(path, columns, **options)
    rows = open_rows(path, columns, privacy_unit=PERSON, unit_key=KEY, **options)
    return rows.bounded(Bounding(KEY, limit)) if bounds else rows


def _ask(rows: Any) -> Any:
    """Return the integers of two questions about all rows."""
    from cloister.columns import Box
    from cloister.questions import NearestCounts, NearestSums

    frame = Box(-1.0, 1.0).spread(N_FEATURES).frame()
    points = np.random.default_rng(2).uniform(-0.5, 0.5, (N_CLUSTERS, N_FEATURES))
    questions = NearestCounts(points=points), NearestSums(points=points, radius=0.5)
    return np.concatenate(
        [rows.fold(lambda block, one=one: one.exact(frame.clean(block[:, :N_FEATURES]))).ravel() for one in questions]
    )


def _fit(rows: Any, limit: int | None) -> Any:
    from cloister import KMeans

    persons = {} if limit is None else {"privacy_unit": PERSON, "max_rows_per_unit": limit}
    return KMeans(N_CLUSTERS, epsilon=1.0, bounds=(-1, 1), random_state=0, n_jobs=WORKERS, **persons).fit(rows).cluster_centers_


@contextlib.contextmanager
def _started(engine: str) -> Iterator[dict[str, Any]]:
    """Start the engine; yield what files are opened with."""
    if engine == "numpy":
        yield {"n_jobs": WORKERS}
    elif engine == "spark":
        from pyspark.sql import SparkSession

        os.environ["PYSPARK_PYTHON"] = sys.executable
        quiet = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
        session = SparkSession.builder.master(f"local[{WORKERS}]").config(map={**quiet, **SPARK}).getOrCreate()
        yield {"engine": "spark"}
        session.stop()
    elif engine == "dask":
        yield {"engine": "dask", "n_jobs": WORKERS}
    else:
        from distributed import Client, LocalCluster

        cluster = LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=":0", memory_limit="1.5GB")
        with cluster, Client(cluster):
            yield {"engine": "dask"}


def _processor_seconds() -> float:
    """Return the processor time of this process and of all it has started."""
    return sum(_each(os.getpid(), lambda one: one.cpu_times().user + one.cpu_times().system))


def _resident(process: Any) -> float:
    return float(process.memory_info().rss)  # what processes share counts for each of them


def _each(process_id: int, look: Any) -> list[float]:
    """Return what is seen of a process and of all it has started, as far as they are still there."""
    import psutil

    found = []
    with contextlib.suppress(psutil.Error):
        own = psutil.Process(process_id)
        for one in (own, *own.children(recursive=True)):
            with contextlib.suppress(psutil.Error):
                found.append(look(one))
    return found


if __name__ == "__main__":
    sys.exit(main())
