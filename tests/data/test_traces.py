# SPDX-License-Identifier: Apache-2.0
"""What a cluster keeps of rows besides its memory: logs, pages, event logs and files, searched for a planted row.

docs/scale.md states what these tests find.
"""

import base64
import contextlib
import json
import os
import re
import struct
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from tests.optional import da, dask

from cloister import PEMeans, open_rows
from cloister.data import BlockCache
from cloister.privacy import Coins

pytestmark = pytest.mark.slow

CANARY = 77.123456789
KEY = b"the secret key of a sample, 1234"  # and what it may look like
KEYS = (KEY, KEY.hex().encode(), base64.b64encode(KEY)[:40], str(list(KEY)).encode())
TRACES = (b"77.12345", struct.pack("<d", CANARY), struct.pack(">d", CANARY))


def holds(content, traces=(*TRACES, *KEYS)):
    return any(trace in (content.encode() if isinstance(content, str) else content) for trace in traces)


def holding(folder):
    """Return the files in a folder that hold the canary; some come and go."""
    found = []
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):
            if path.is_file() and holds(path.read_bytes()):
                found.append(path)
    return found


@pytest.fixture
def table(generator):
    rows = generator.uniform(-1, 1, size=(40_000, 4))
    rows[1234] = CANARY
    return rows


@pytest.fixture
def files(table, tmp_path):
    path = tmp_path / "rows.parquet"
    pa.parquet.write_table(pa.table({f"c{i}": table[:, i] for i in range(4)}), path, row_group_size=2000)
    return path


def test_the_search_finds_a_row(table, files):
    assert holds(table.tobytes())
    assert holds(str(table[1234]))
    assert holding(files.parent) == [files]


# -- Dask --------------------------------------------------------------------------------------------------------------------

PAGES = ("/status", "/tasks", "/info/main/workers.html", "/info/logs.html", "/health", "/metrics", "/sitemap.json")


def pages(client):
    """Return what the dashboard serves, following its links, and its page about every task."""
    base = client.dashboard_link.rsplit("/", 1)[0]
    keys = client.run_on_scheduler(lambda dask_scheduler: [str(key) for key in dask_scheduler.tasks])
    waiting = [*PAGES, *(f"/info/task/{urllib.parse.quote(key, safe='')}.html" for key in keys)]
    seen = {}
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen[path] = b""
            with contextlib.suppress(urllib.error.HTTPError):
                seen[path] = urllib.request.urlopen(base + path, timeout=60).read()
            linked = [link.decode() for link in re.findall(rb'href="([^"#]+)"', seen[path])]
            waiting += [f"/info/{link.lstrip('./')}" for link in linked if link.startswith("../")]
    return seen


@pytest.mark.parametrize("spills", [True, False])
def test_dask_holds_rows_in_memory_and_in_spilled_files_only(spills, table, files, tmp_path):
    from distributed import Client, LocalCluster

    memory = {"target": 0.0001, "spill": 0.9} if spills else {"target": False, "spill": False}
    with dask.config.set({f"distributed.worker.memory.{name}": value for name, value in memory.items()}):
        cluster = LocalCluster(
            n_workers=1, threads_per_worker=1, memory_limit="2GiB", local_directory=tmp_path / "work", dashboard_address=":0"
        )
    with cluster, Client(cluster, set_as_default=False) as client:
        opened = open_rows(files, engine="dask", scheduler=client.scheduler.address)
        PEMeans(3, epsilon=5.0, bounds=(-1, 1), n_rounds=2).fit(opened)
        with client.as_current():
            rows = open_rows(da.from_array(table, chunks=(10_000, 4)))
            rows.fold(lambda block: np.array([len(block)]), cache=BlockCache(np.asarray))
            sample = rows.sample(Coins(KEY, 0.9))
            sample.fold(lambda block: np.array([len(block)]))
        assert bool(holding(tmp_path / "work")) == spills
        found = pages(client)
        assert len(found) > len(PAGES)
        assert any(found.values())
        logs = [client.get_worker_logs(), client.get_scheduler_logs(), client.get_events(), client.scheduler_info()]
        client.dump_cluster_state(str(tmp_path / "state"), format="yaml")
        assert not [path for path, content in found.items() if holds(content)]
        assert not holds(str(logs) + str(client.get_task_stream()) + (tmp_path / "state.yaml").read_text())


# -- Spark -------------------------------------------------------------------------------------------------------------------

SPARK = """
import json, sys, urllib.request
from pathlib import Path
from pyspark.sql import SparkSession
from cloister import PEMeans, open_rows
from cloister.privacy import Coins

root, settings = Path(sys.argv[1]), json.loads(sys.argv[2])
spark = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
fit = PEMeans(3, epsilon=5.0, bounds=(-1, 1), n_rounds=2).fit
frame = spark.read.parquet(str(root / "rows.parquet"))
if settings["spark.io.encryption.enabled"] == "false":
    fit(frame)
    fit(open_rows(root / "rows.parquet", engine="spark"))
    for rows in (open_rows(frame), open_rows(root / "rows.parquet", engine="spark")):
        sample = rows.sample(Coins(b"the secret key of a sample, 1234", 0.9))
        sample.fold(lambda block: block[:0].astype(int).sum(axis=0))


def copy(name):
    for number, path in enumerate(path for path in (root / "local").rglob("*") if path.is_file()):
        (root / name).mkdir(exist_ok=True)
        (root / name / str(number)).write_bytes(path.read_bytes())


copy("before")
fit(frame.repartition(20))
copy("after")
api = f"{spark.sparkContext.uiWebUrl}/api/v1/applications/{spark.sparkContext.applicationId}"
found = ["jobs", "stages", "executors", "storage/rdd", "sql?details=true&planDescription=true&length=1000", "environment"]
for place in [*(f"{api}/{name}" for name in found), f"{spark.sparkContext.uiWebUrl}/storage/"]:
    with (root / "ui.txt").open("ab") as file:
        file.write(urllib.request.urlopen(place, timeout=60).read())
spark.stop()
"""


@pytest.mark.parametrize("encrypted", [False, True])
def test_spark_holds_rows_in_memory_and_in_shuffled_files_only(encrypted, files):
    root = files.parent
    for name in ("local", "events"):
        (root / name).mkdir()
    settings = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": str(root / "events"),
        "spark.eventLog.compress": "false",
        "spark.io.encryption.enabled": json.dumps(encrypted),
        "spark.local.dir": str(root / "local"),
        "spark.log.level": "INFO",
        "spark.shuffle.compress": "false",  # so that the canary can be seen
        "spark.ui.port": "0",
    }
    command = [sys.executable, "-c", SPARK, str(root), json.dumps(settings)]
    done = subprocess.run(command, capture_output=True, check=False, env=os.environ | {"PYSPARK_PYTHON": sys.executable})
    assert done.returncode == 0, done.stderr[-2000:]
    assert not holds(done.stdout + done.stderr)
    assert not holding(root / "events")
    assert (root / "ui.txt").stat().st_size > 10_000
    assert not holds((root / "ui.txt").read_bytes())
    assert not (root / "before").exists() or not holding(root / "before"), "a fit writes no row to disk by itself"
    assert bool(holding(root / "after")) != encrypted, "a repartition by the owner does"
