# SPDX-License-Identifier: Apache-2.0
"""From one array to a cluster, side by side: ``python -m benchmarks.scale_out engines``, ``... files`` and ``... model``.

``engines`` fits the same Parquet files, and the same rows in memory, with NumPy on two threads, a Dask cluster of two worker
processes and Spark on two cores; centres from files must be equal to the last bit. ``files`` fits growing folders of Parquet
files with the rows read in batches, and measures seconds and resident memory. Every measurement is a process of its own; what
is timed is ``fit``, once everything has been started and has answered a small question. ``model`` times single questions about
rows that workers hold, for several numbers of rows and partitions, fits what a question, a partition and a row cost, and
forecasts.
"""

import argparse
import contextlib
import hashlib
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from scipy.optimize import nnls

PART_ROWS = 1_000_000  # of a file, at most
FEWEST_PARTS = 8
GROUP_ROWS = 1 << 18  # of a row group
ASKED = 5  # times, of which the fastest counts
BARS = {"dask": 1.3, "spark": 1.5}
RESIDENT_BAR = 2e9
EXPONENT_BAR = 1.1
WORKERS = 2
FORECAST_ROWS = 1e10
FORECASTS = ((1000, 2000), (1000, 10_000), (100, 1000))  # workers and partitions


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    engines = commands.add_parser("engines", help="NumPy, Dask and Spark on the same rows")
    engines.add_argument("--rows", type=float, default=1e7)
    engines.add_argument("--features", type=int, default=16)
    engines.add_argument("--engines", nargs="+", default=["numpy", "dask", "spark"], choices=["numpy", "dask", "spark"])
    engines.add_argument("--held", nargs="+", default=["memory", "files"], choices=["memory", "files"])
    engines.add_argument("--repeats", type=int, default=2)
    files = commands.add_parser("files", help="folders of Parquet files larger than memory")
    files.add_argument("--rows", type=float, nargs="+", default=[1e6, 1e7, 1e8])
    files.add_argument("--features", type=int, default=8)
    model = commands.add_parser("model", help="what a question costs, fitted to measurements, and a forecast")
    model.add_argument("--engines", nargs="+", default=["dask", "spark"], choices=["dask", "spark"])
    model.add_argument("--rows", type=float, nargs="+", default=[5e5, 2e6, 8e6])
    model.add_argument("--partitions", type=int, nargs="+", default=[4, 16, 64])
    model.add_argument("--features", type=int, default=8)
    for one in (engines, files, model):
        one.add_argument("--clusters", type=int, default=32)
        one.add_argument("--estimator", default=_default_estimator(), help="any estimator of cloister, by name")
        one.add_argument("--scratch", type=Path, default=Path(tempfile.gettempdir()) / "cloister-scale", help="for the rows")
        one.add_argument("--keep", action="store_true", help="keep the rows for another run")
    job = commands.add_parser("job")
    job.add_argument("what", type=json.loads)
    options = parser.parse_args(arguments)
    if options.command == "job":
        what = _ask if options.what.pop("ask", False) else _job
        print(json.dumps(what(**options.what)))
        return 0
    try:
        return {"engines": _engines, "files": _files, "model": _model}[options.command](options)
    finally:
        if not options.keep:
            shutil.rmtree(options.scratch, ignore_errors=True)


# -- the two tables ----------------------------------------------------------------------------------------------------------


def _engines(options: argparse.Namespace) -> int:
    folder = _write(options.scratch, int(options.rows), options.features, options.clusters)
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for _ in range(options.repeats):  # taking turns, so that a busy machine hits all alike
        for held in options.held:
            for engine in options.engines:
                job = {"engine": engine, "held": held, "folder": str(folder), **_what(options)}
                found.setdefault((held, engine), []).append(_measure("engines", job, rows=int(options.rows)))
    missed = []
    print(f"\n{options.estimator}, {options.rows:,.0f} rows of {options.features} columns, {options.clusters} clusters")
    for held in options.held:
        base = min(one["seconds"] for one in found.get((held, "numpy"), [{"seconds": float("nan")}]))
        for engine in options.engines:
            seconds = min(one["seconds"] for one in found[held, engine])
            busy = min(one["processor_seconds"] for one in found[held, engine])
            what = f"{engine:<6} rows in {held:<6} {seconds:8.2f} s, {busy:8.2f} s of processors"
            missed += _tell(what, seconds / base, BARS.get(engine), "times NumPy")
    # A sample's coins belong to partitions: files are cut alike for all engines, tables in memory are not.
    digests = {one["digest"] for (held, _), runs in found.items() if held == "files" for one in runs}
    print(f"   centres from files are {'equal' if len(digests) <= 1 else 'NOT EQUAL'}")
    return int(bool(missed) or len(digests) > 1)


def _files(options: argparse.Namespace) -> int:
    missed = []
    for estimator in (options.estimator, "GridSynopsis"):
        seconds: dict[int, float] = {}
        print(f"\n{estimator}, {options.features} columns, {options.clusters} clusters, rows read from Parquet")
        for rows in map(int, options.rows):
            folder = _write(options.scratch, rows, options.features, options.clusters)
            job = {"engine": "numpy", "held": "files", "folder": str(folder), **_what(options), "estimator": estimator}
            one = _measure("files", job, rows=rows)
            seconds[rows] = one["seconds"]
            print(f"   {rows:>13,d} rows {one['seconds']:9.2f} s {one['seconds'] / rows * 1e9:8.0f} ns a row", flush=True)
            missed += _tell(f"{rows:>13,d} rows resident", one["resident"] / 1e6, RESIDENT_BAR / 1e6, "MB")
        first, last = min(seconds), max(seconds)
        if first < last:
            exponent = float(np.log(seconds[last] / seconds[first]) / np.log(last / first))
            missed += _tell("exponent of the time in the rows", exponent, EXPONENT_BAR, "")
    return int(bool(missed))


def _model(options: argparse.Namespace) -> int:
    """Fit seconds = fixed + per_partition * partitions + per_row * rows / workers: workers are taken to share rows alone."""
    for engine in options.engines:
        job = {"engine": engine, "n_clusters": options.clusters, "n_features": options.features}
        job |= {"rows": [int(number) for number in options.rows], "partitions": options.partitions}
        points = _measure("model", {"ask": True, **job}, rows=int(max(options.rows)))["points"]
        table = np.array([[1.0, point["partitions"], point["rows"] / WORKERS] for point in points])
        seconds = np.array([point["seconds"] for point in points])
        # Relative errors count, so that small and large tables have the same say.
        fixed, per_partition, per_row = nnls(table / seconds[:, None], np.ones(len(seconds)))[0]
        off = np.abs(table @ [fixed, per_partition, per_row] / seconds - 1)
        print(f"\n{engine}, {options.features} columns, {options.clusters} points, rows kept by {WORKERS} workers")
        for point, wrong in zip(points, off, strict=True):
            size = f"{point['rows']:>10,d} rows {point['partitions']:>4d} partitions"
            print(f"   {size} {point['seconds']:7.3f} s, model off {wrong:4.0%}")
        print(
            f"   a question {fixed:.3f} s, a partition {per_partition * 1e3:.2f} ms, a row {per_row * 1e9:.0f} ns of a worker"
        )
        for n_workers, n_partitions in FORECASTS:
            total = fixed + per_partition * n_partitions + per_row * FORECAST_ROWS / n_workers
            what = f"{FORECAST_ROWS:.0e} rows on {n_workers:,} workers in {n_partitions:,} partitions"
            print(f"   FORECAST, not measured: {what}: {total:.1f} s a question")
    return 0


def _what(options: argparse.Namespace) -> dict[str, Any]:
    return {"estimator": options.estimator, "n_clusters": options.clusters}


def _tell(what: str, value: float, bar: float | None, unit: str) -> list[str]:
    good = bar is None or value <= bar
    limit = "" if bar is None else f" (bar {bar:g})"
    print(f"   {'ok  ' if good else 'MISS'} {what} {value:8.2f} {unit}{limit}", flush=True)
    return [] if good else [what]


def _measure(table: str, job: dict[str, Any], *, rows: int) -> dict[str, Any]:
    """Run one measurement in a process of its own and write it down."""
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-m", "benchmarks.scale_out", "job", json.dumps(job)]
    done = subprocess.run(command, stdout=subprocess.PIPE, env=environment, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    said = {name: value for name, value in job.items() if name != "folder"}
    entry = {"table": table, "when": datetime.now(UTC).isoformat(timespec="seconds"), "rows": rows, **said, **found}
    entry["machine"] = {"processors": os.cpu_count(), "python": platform.python_version(), "load": os.getloadavg()[0]}
    results = Path("benchmark-results")
    results.mkdir(exist_ok=True)
    with (results / "scale_out.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")
    return found


# -- one measurement -------------------------------------------------------------------------------------------------------


def _ask(*, engine: str, rows: list[int], partitions: list[int], n_features: int, n_clusters: int) -> dict[str, Any]:
    """Time questions about rows that the workers hold."""
    from cloister import GDP, Ball, Ledger
    from cloister.columns import Relation
    from cloister.data import open_rows
    from cloister.privacy import Entropy
    from cloister.questions import NearestCounts
    from cloister.vault import Vault

    frame = Ball(1.0).spread(n_features).frame()
    points = np.random.default_rng(0).uniform(-0.3, 0.3, (n_clusters, n_features))
    found = []
    with _started(engine) as table:
        for n_rows in rows:
            for number in partitions:
                ledger = Ledger(GDP(1e3))
                account = ledger.reserve(ledger.budget, purpose="model", relation=Relation.ADD_REMOVE)
                held = open_rows(table(f"{n_rows}x{n_features}/{number}", "made"))
                vault = Vault(held, frame=frame, relation=Relation.ADD_REMOVE, account=account, entropy=Entropy(0))
                times = []
                for _ in range(3 + ASKED):
                    start = time.perf_counter()
                    vault.ask(NearestCounts(points=points), GDP(1.0))
                    times.append(time.perf_counter() - start)
                found.append({"rows": n_rows, "partitions": number, "seconds": min(times[3:])})
    return {"points": found}


def _job(*, engine: str, held: str, folder: str, estimator: str, n_clusters: int) -> dict[str, Any]:
    with _started(engine) as table:
        small = table(str(sorted(Path(folder).glob("*.parquet"))[0]), held)
        _fit(estimator, n_clusters, small)
        rows = table(folder, held)
        start, processor = time.perf_counter(), _processor_seconds()
        model = _fit(estimator, n_clusters, rows)
        seconds, busy = time.perf_counter() - start, _processor_seconds() - processor
    centers = model.synopsis_.noisy_counts if hasattr(model, "synopsis_") else model.cluster_centers_
    return {
        "seconds": seconds,
        "processor_seconds": busy,
        "resident": _resident_bytes(),
        "questions": len(model.privacy_receipt_.events),
        "digest": hashlib.sha256(np.ascontiguousarray(centers).tobytes()).hexdigest()[:12],
    }


def _processor_seconds() -> float:
    """Return the processor time of this process and of all it has started, so far."""
    import psutil

    own = psutil.Process()
    times = [process.cpu_times() for process in (own, *own.children(recursive=True))]
    return sum(one.user + one.system for one in times)


def _resident_bytes() -> int:
    """Return the most memory that this process has held; ``getrusage`` would count what its parent held before."""
    with contextlib.suppress(OSError, StopIteration):
        lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
        return 1024 * int(next(line for line in lines if line.startswith("VmHWM:")).split()[1])
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _fit(estimator: str, n_clusters: int, rows: Any) -> Any:
    import cloister

    few = {"n_rounds": 8, "max_candidates": 1024} if estimator == "PEMeans" else {}
    if estimator == "GridSynopsis":
        few = {"rule": 4}
    model = getattr(cloister, estimator)
    return model(n_clusters, epsilon=1.0, bounds=(-1, 1), random_state=0, n_jobs=WORKERS, **few).fit(rows)


@contextlib.contextmanager
def _started(engine: str) -> Iterator[Callable[[str, str], Any]]:
    """Start the engine; yield what opens a folder with it, with the rows held in memory or in files."""
    with {"numpy": _numpy, "dask": _dask, "spark": _spark}[engine]() as table:
        yield table


@contextlib.contextmanager
def _numpy() -> Iterator[Callable[[str, str], Any]]:
    from cloister import open_rows

    def table(path: str, held: str) -> Any:
        if held == "files":
            return open_rows(path, n_jobs=WORKERS)
        files = sorted(Path(path).glob("*.parquet")) if Path(path).is_dir() else [Path(path)]
        parts = [pa.parquet.read_table(file) for file in files]
        return open_rows(
            np.concatenate([np.column_stack([c.to_numpy() for c in part.columns]) for part in parts]), n_jobs=WORKERS
        )

    yield table


@contextlib.contextmanager
def _dask() -> Iterator[Callable[[str, str], Any]]:
    import dask.array as da
    import dask.dataframe as dd
    from distributed import Client, LocalCluster, wait

    from cloister import open_rows

    cluster = LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=":0", memory_limit="4GB")
    with cluster, Client(cluster):

        def table(path: str, held: str) -> Any:
            if held == "files":
                return open_rows(path, engine="dask")
            if held == "made":
                n_rows, n_features, parts = map(int, path.replace("x", "/").split("/"))
                return da.random.default_rng(0).uniform(-1, 1, (n_rows, n_features), chunks=(-(-n_rows // parts), n_features))
            array = dd.read_parquet(path).to_dask_array(lengths=True).persist()
            wait(array)
            return array

        yield table


@contextlib.contextmanager
def _spark() -> Iterator[Callable[[str, str], Any]]:
    from pyspark.sql import SparkSession

    from cloister import open_rows

    os.environ["PYSPARK_PYTHON"] = sys.executable
    quiet = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
    settings = {**quiet, "spark.driver.memory": "6g"}
    session = SparkSession.builder.master(f"local[{WORKERS}]").config(map=settings).getOrCreate()

    def table(path: str, held: str) -> Any:
        if held != "made":
            return open_rows(path, engine="spark") if held == "files" else session.read.parquet(path)
        n_rows, n_features, parts = map(int, path.replace("x", "/").split("/"))
        columns = [f"rand({index}) * 2 - 1 as x{index}" for index in range(n_features)]
        return session.range(0, n_rows, 1, parts).selectExpr(*columns)

    yield table
    session.stop()


# -- rows ------------------------------------------------------------------------------------------------------------------


def _write(scratch: Path, n_rows: int, n_features: int, n_clusters: int) -> Path:
    """Write Gaussian clusters in [-1, 1]^d as Parquet files of a million rows; a folder that is complete is used again."""
    folder = scratch / f"{n_rows}x{n_features}-{n_clusters}"
    if (folder / "_SUCCESS").exists():
        return folder
    need, free = n_rows * n_features * 8, shutil.disk_usage(_existing(scratch)).free
    if need > 0.8 * free:
        raise SystemExit(f"{need / 1e9:.1f} GB of rows do not fit into {free / 1e9:.1f} GB; pass another --scratch")
    folder.mkdir(parents=True, exist_ok=True)
    middles = np.random.default_rng(0).uniform(-0.7, 0.7, (n_clusters, n_features))
    per_part = min(PART_ROWS, -(-n_rows // FEWEST_PARTS))
    for number, start in enumerate(range(0, n_rows, per_part)):
        generator = np.random.default_rng([1, number])
        size = min(per_part, n_rows - start)
        rows = middles[generator.integers(n_clusters, size=size)] + 0.05 * generator.standard_normal((size, n_features))
        table = pa.table({f"x{index}": rows[:, index] for index in range(n_features)})
        path = folder / f"{number:05d}.parquet"
        pa.parquet.write_table(table, path, row_group_size=GROUP_ROWS, compression="none", use_dictionary=False)
    (folder / "_SUCCESS").touch()
    return folder


def _existing(path: Path) -> Path:
    return path if path.exists() else _existing(path.parent)


def _default_estimator() -> str:
    import cloister

    return "KMeans" if "KMeans" in cloister.__all__ else "PEMeans"


if __name__ == "__main__":
    sys.exit(main())
