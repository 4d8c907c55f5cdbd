# SPDX-License-Identifier: Apache-2.0
"""Other libraries in interpreters of their own: what is sent and received, what is refused, and real fits where they are."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest
from benchmarks._data import load
from benchmarks._errors import BenchError
from benchmarks._foreign import HERE, LIBRARIES, MISSING, VARIABLE, ForeignKMeans, Library, named_pythons, read_pythons
from benchmarks._jobs import Choice, Context, Job
from benchmarks._methods import METHODS, usable
from benchmarks.suites import SUITES
from benchmarks.suites._fit import measure_fit

from benchmarks import rivals_env

from .conftest import alive

NUMBERS = {"n_clusters": 2, "epsilon": 0.5, "delta": 1e-5, "reach": 0.75, "seed": 7}
ROWS = np.array([[0.1, -0.2], [0.3, 0.25], [-0.75, 0.5]])
# A worker that echoes what it is given: the first rows, and the numbers in a file.
ECHO = """
import json, os, sys
sys.path.insert(0, {home!r})
from _serve import serve
def fit(rows, **numbers):
    print("a library that talks")
    os.write(1, b"below Python, too")
    open({notes!r}, "w").write(json.dumps(numbers))
    {action}
    return rows[: numbers["n_clusters"]]
serve({package!r}, fit)
"""


@pytest.fixture
def make(tmp_path):
    """Return a library whose worker is run by this interpreter."""

    def write(action: str = "pass", package: str = "numpy", code: str | None = None) -> Library:
        worker, notes = tmp_path / "worker.py", str(tmp_path / "notes.json")
        worker.write_text(code or ECHO.format(home=str(HERE), notes=notes, action=action, package=package), encoding="utf-8")
        return Library(name="echo", worker=worker, requirements=(), pythons=((3, 0), (3, 99)))

    return write


def test_rows_and_public_numbers_arrive_and_centres_come_back(make, tmp_path):
    model = ForeignKMeans(make(), **NUMBERS).fit(ROWS)
    np.testing.assert_array_equal(model.cluster_centers_, ROWS[:2])
    assert json.loads((tmp_path / "notes.json").read_text(encoding="utf-8")) == NUMBERS
    assert model.versions_["numpy"] == np.__version__
    assert make().lack(sys.executable) is None


def test_a_fit_that_fails_is_quoted(make, tmp_path):
    with pytest.raises(BenchError, match=r"echo: .* ended with code 1: .*ValueError: no room for 2"):
        ForeignKMeans(make("raise ValueError('no room for %d' % numbers['n_clusters'])"), **NUMBERS).fit(ROWS)
    with pytest.raises(BenchError, match="ended with code 5: a library that talks"):
        ForeignKMeans(make("sys.stdout.flush(); os._exit(5)"), **NUMBERS).fit(ROWS)
    for said in ("print('hello')", "pass", "print('PK')"):
        with pytest.raises(BenchError, match=r"echo: expected centres from worker\.py, got"):
            ForeignKMeans(make(code=said), **NUMBERS).fit(ROWS)
    with pytest.raises(BenchError, match=r"cannot be run: .* Check the path"):
        ForeignKMeans(make(), str(tmp_path / "python"), **NUMBERS).fit(ROWS)
    library = make(package="no_such_library")
    with pytest.raises(BenchError, match=r"no_such_library cannot be imported.*rivals_env DIR.*--python echo=PATH.*CLOISTER_R"):
        ForeignKMeans(library, **NUMBERS).fit(ROWS)
    assert "no_such_library cannot be imported" in (library.lack(sys.executable) or "")


def test_interpreters_are_named_by_option_or_environment(run, tmp_path, monkeypatch):
    one, two = tmp_path / "one", tmp_path / "two"
    one.touch()
    two.touch()
    assert read_pythons([f"dpmm={one}"], owner="--python") == {"dpmm": str(one)}
    assert named_pythons({VARIABLE: f"diffprivlib={one}, dpmm={two},"}) == {"diffprivlib": str(one), "dpmm": str(two)}
    assert named_pythons({}) == {}
    for word in (f"sklearn={one}", f"dpmm={tmp_path / 'none'}", "dpmm", "dpmm="):
        with pytest.raises(BenchError, match="CLOISTER_RIVALS: expected diffprivlib=PATH or dpmm=PATH"):
            named_pythons({VARIABLE: word})
    monkeypatch.setattr("benchmarks._methods._broken", lambda name: f"{name} is not installed")
    monkeypatch.delenv(VARIABLE, raising=False)
    assert "(dpmm is not installed)" in run("list").stdout
    assert "dpmm-MST" not in [method.name for method in usable()]
    monkeypatch.setenv(VARIABLE, f"dpmm={one}")
    assert "(dpmm is not installed)" not in run("list").stdout
    assert "dpmm-MST" not in [method.name for method in usable({"dpmm": str(one)})], "which is measured by name"
    plan = SUITES["grids"].plan(Choice(repeats=1, context=Context(pythons={"diffprivlib": str(one)})))
    assert "diffprivlib" in {job.method for job in plan.jobs}


def test_every_library_has_its_worker_and_is_needed_by_a_method(monkeypatch):
    monkeypatch.syspath_prepend(str(HERE))
    import _serve

    assert _serve.MISSING == MISSING, "both sides have the same code"
    assert {method.needs for method in METHODS.values()} - {None} == set(LIBRARIES)
    for library in LIBRARIES.values():
        assert library.worker.is_file()
        assert all("==" in requirement for requirement in library.requirements), "the versions that were measured"


def test_synthetic_rows_lie_in_public_bins(monkeypatch):
    """A synthesiser that returns its table gives the centres of the rows, up to half a bin."""
    seen = {}

    class Mirror:
        def __init__(self, **options):
            seen.update(options)

        def set_random_state(self, state):
            pass

        def fit(self, table):
            self.table = table

        def generate(self, n_records):
            return self.table.iloc[:n_records]

    for name in ("dpmm", "dpmm.models", "dpmm.models.mst"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    sys.modules["dpmm.models.mst"].MSTGM = Mirror
    monkeypatch.syspath_prepend(str(HERE))
    import mst_dpmm

    truth = np.array([[-0.6, 0.6, 0.75], [0.5, -0.75, 0.0]])
    rows = np.repeat(truth, 1000, axis=0)
    centers = mst_dpmm.fit(rows, **NUMBERS)
    n_bins = mst_dpmm.count_bins(2000)
    assert seen["domain"] == dict.fromkeys([f"column {number}" for number in range(3)], n_bins)
    assert (seen["epsilon"], seen["delta"]) == (0.5, 1e-5)
    np.testing.assert_allclose(centers[np.argsort(centers[:, 0])], truth, atol=0.75 / n_bins * 1.0001)
    assert [mst_dpmm.count_bins(n) for n in (10, 1024, 2048, 10_000, 10**6)] == [8, 8, 11, 25, 32]


@pytest.mark.skipif(os.name == "nt", reason="writes a shell script")
def test_environments_that_work_are_left_as_they_are(make, tmp_path):
    library = make()
    python = rivals_env.python_of(tmp_path / "envs" / library.name)
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    assert rivals_env.make_environment(library, tmp_path / "envs") == python


def test_environments_need_a_python_that_the_library_knows(make, tmp_path, capsys, monkeypatch):
    library = replace(make(), pythons=((3, 0), (3, 1)))
    with pytest.raises(BenchError, match=r"echo: expected Python 3.0 to 3.1, got 3.\d+. Pass --base PYTHON"):
        rivals_env.make_environment(library, tmp_path)
    monkeypatch.setattr(rivals_env, "LIBRARIES", {"echo": library})
    assert rivals_env.main([str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith("Error: echo: expected Python")
    with pytest.raises(SystemExit):
        rivals_env.main([str(tmp_path), "nope"])
    assert "expected some of echo, got nope" in capsys.readouterr().err


@pytest.mark.slow
def test_a_fit_ends_with_the_process_that_asked_for_it(make, tmp_path):
    library = make(f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); import time; time.sleep(3600)")
    code = (
        "import numpy as np; from pathlib import *; from benchmarks._foreign import *; "
        f"ForeignKMeans({library!r}, **{NUMBERS!r}).fit(np.ones((3, 2)))"
    )
    root = str(HERE.parents[1])
    asking = subprocess.Popen([sys.executable, "-c", code], cwd=root, env={**os.environ, "PYTHONPATH": root})
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        assert asking.poll() is None
        time.sleep(0.05)
    child = int((tmp_path / "pid").read_text())
    asking.send_signal(signal.SIGKILL)
    asking.wait()
    while alive(child):
        time.sleep(0.1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["diffprivlib", "dpmm-MST"])
def test_real_libraries_find_two_groups(name):
    library = METHODS[name].needs
    pythons = named_pythons()
    if library not in pythons:
        pytest.skip(f"{VARIABLE} names no interpreter for {library}: {LIBRARIES[library].remedy}")
    job = Job(kind="fit", data="blobs_2000_2_2", method=name, epsilon=50.0, repeat=0)
    found = measure_fit(job, Context(pythons=pythons))
    pinned = dict(requirement.split("==") for requirement in LIBRARIES[library].requirements)
    assert {key: found["other_versions"][key] for key in pinned} == pinned
    data = load("blobs_2000_2_2")
    assert 0 < found["loss"] < 0.5 * data.loss(data.rows.mean(axis=0, keepdims=True))


@pytest.mark.slow
def test_one_row_shows_in_what_diffprivlib_releases():
    """The claim of docs/rivals.md: 313 of 3,000 fits against none; of 300, fewer than 5 against 31 has a chance below 1e-9."""
    python = named_pythons().get("diffprivlib")
    if python is None:
        pytest.skip(f"{VARIABLE} names no interpreter for diffprivlib: {LIBRARIES['diffprivlib'].remedy}")
    command = [python, "-W", "ignore", str(HERE / "empty_diffprivlib.py"), "300"]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert found["fits without the row"] == 0
    assert found["fits with the row"] >= 5
