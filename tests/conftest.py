# SPDX-License-Identifier: Apache-2.0
"""One seed for all tests. Any seed must pass: try another with ``pytest --seed 7``.

The fast suite (``-m "not slow"``) tests every law with few cases: of a parametrised test a fixed draw of FEW, of a property
FEW_EXAMPLES. The slow suite (``-m slow``) has the other cases, and all properties again with as many examples as Hypothesis
draws by default. Tests of Dask and Spark are slow, which is where these libraries are installed; what also has cases without
them is marked ``both_suites``. What must hold for every case and is cheap is marked ``every_case``.

What a fit without a seed draws from the operating system comes from a stream of the test's own, so that a test which passed
passes again. A test of the operating system's entropy itself is marked ``os_entropy`` and keeps it.
"""

import os
import sys
import threading
import types
import warnings
import zlib
from collections import defaultdict
from collections.abc import Generator, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import is_hypothesis_test, settings

SEED = 20261115
FEW = 2
FEW_EXAMPLES = 20
CLUSTERS = ("dask", "spark")  # in the name of a case


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--every-case", action="store_true", help="all cases of every law, also in the fast suite")
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


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the fast suite a few cases of each law."""
    laws: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        case = item.nodeid.partition("[")[2]
        if any(engine in case for engine in CLUSTERS):
            item.add_marker("slow")
        elif item.get_closest_marker("slow") is None and item.get_closest_marker("every_case") is None:
            laws[item.nodeid.partition("[")[0]].append(item)
    for cases in laws.values() if not config.getoption("--every-case") else ():
        drawn = sorted(cases, key=lambda item: zlib.crc32(item.nodeid.encode()))
        for item in drawn[FEW:]:
            item.add_marker("slow")
    if config.getoption("markexpr") == "slow":
        for item in items:
            if item.get_closest_marker("both_suites") is not None or is_hypothesis_test(getattr(item, "obj", None)):
                item.add_marker("slow")


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
