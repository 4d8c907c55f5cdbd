# SPDX-License-Identifier: Apache-2.0
"""One seed for all tests. Any seed must pass: try another with ``pytest --seed 7``.

The fast suite (``-m "not slow"``) tests every law. Where the cases of a law take long together, a mark names those that are
in it, with ``*`` for any text: ``@pytest.mark.fast("KMeans-*", "GridSynopsis-csv")``; the others are slow. The slow suite
(``-m slow``) has these, and all properties again with as many examples as Hypothesis draws by default (the fast one draws
FEW_EXAMPLES). Cases of Dask and Spark are slow, which is where these libraries are installed; what also has cases without them
is marked ``both_suites``.

What a fit without a seed draws from the operating system comes from a stream of the test's own, so that a test which passed
passes again. A test of the operating system's entropy itself is marked ``os_entropy`` and keeps it.
"""

# ruff: noqa: E402
import os

# Workers share the cores, where threads of BLAS and OpenMP would busily wait for each other. Read when NumPy is imported.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import sys
import threading
import types
import warnings
import zlib
from collections.abc import Generator, Iterator
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import pytest
from hypothesis import is_hypothesis_test, settings

SEED = 20261115
FEW_EXAMPLES = 20
CLUSTERS = ("dask", "spark")  # in the name of a case
TOGETHER = (*CLUSTERS, "site_in_a_browser", "in_a_browser", "test_wheel")  # in names of tests that make the same thing first


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seed", type=int, default=SEED, help="seed of every test that draws at random")


def pytest_configure(config: pytest.Config) -> None:
    """No wall-clock limits on a shared machine; the usual seed repeats the usual examples, any other one looks for new ones."""
    usual = config.getoption("--seed") == SEED
    settings.register_profile("all", deadline=None, derandomize=usual)
    settings.register_profile("few", deadline=None, derandomize=usual, max_examples=FEW_EXAMPLES)
    settings.load_profile("few" if config.getoption("markexpr") == "not slow" else "all")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for doctests in the package alone: every test module would be read twice."""
    found = yield
    return [one for one in found if type(one).__name__ != "DoctestModule"]


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makeitem(collector: pytest.Module | pytest.Class) -> Generator[None, Any, Any]:
    """Mark the cases of a law as slow that its mark ``fast`` does not name."""
    found = yield
    for item in found if isinstance(found, list) else ():
        if any(engine in case_of(item) for engine in CLUSTERS):
            item.add_marker("slow")
    if isinstance(found, list) and found and (mark := found[0].get_closest_marker("fast")) is not None:
        named = {pattern: [item for item in found if matches(item, pattern)] for pattern in mark.args}
        for pattern, cases in named.items():
            if not cases:
                raise collector.CollectError(f"{found[0].originalname}: the mark fast names no case with {pattern!r}.")
        for item in found:
            if not any(item in cases for cases in named.values()):
                item.add_marker("slow")
    return found


def case_of(item: pytest.Function) -> str:
    """Return what a test's name has in brackets."""
    return item.name.partition("[")[2].removesuffix("]")


def matches(item: pytest.Function, pattern: str) -> bool:
    return fnmatchcase(case_of(item), pattern.replace("[", "[[]"))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Have what is in both suites in the slow one, too."""
    if config.getoption("markexpr") == "slow":
        for item in items:
            if item.get_closest_marker("both_suites") is not None or is_hypothesis_test(getattr(item, "obj", None)):
                item.add_marker("slow")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With ``--dist loadgroup``, give the tests of a cluster, of the site or the wheel to one process, which makes it once."""
    if config.getoption("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class Grouped(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return next((name for name in TOGETHER if name in nodeid), nodeid)

    return Grouped(config, log)


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    return int(request.config.getoption("--seed"))


@pytest.fixture
def generator(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.fixture(autouse=True)
def repeatable_entropy(request: pytest.FixtureRequest, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.node.get_closest_marker("os_entropy") is not None:
        return
    stream = np.random.default_rng([seed, zlib.crc32(request.node.nodeid.encode())])
    lock = threading.Lock()

    def urandom(size: int) -> bytes:
        with lock:
            return stream.bytes(size)

    monkeypatch.setattr("cloister.privacy._entropy.os", types.SimpleNamespace(urandom=urandom))


@pytest.fixture(autouse=True)
def no_fit_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests share a process: without this, which test gets the warning of the 10th fit would depend on their order."""
    monkeypatch.setattr("cloister.privacy.PROCESS._uncounted", 0)


@pytest.fixture(scope="session")
def dask_client() -> Iterator[Any]:
    """A Dask cluster of two worker processes, and a client that is not the default one: ``with client.as_current()``."""
    from distributed import Client, LocalCluster

    cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=True, memory_limit="1GiB", dashboard_address=":0")
    with cluster, Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A Spark session on two cores in which a task may fail three times; started once."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.memory": "1g",
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = SparkSession.builder.master("local[2,4]").config(map=settings).getOrCreate()
    yield session
    session.stop()
