# SPDX-License-Identifier: Apache-2.0
"""A run that is killed or stopped at any point goes on where it was: nothing lost, nothing twice, no process left behind."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from benchmarks._jobs import Choice, Context
from benchmarks._store import RESULTS
from benchmarks._worker import measure
from benchmarks.suites import SUITES

from .conftest import alive

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
REPEATS = 20
CHOICE = Choice(datasets=("iris",), methods=("rivals:slow",), epsilons=(0.5, 1.0), repeats=REPEATS)
PATIENCE = 300.0

pytestmark = pytest.mark.slow


@pytest.fixture
def start(tmp_path, rivals):
    """Return a way to start a run as a process of its own group, as a shell does."""
    (tmp_path / "pids").mkdir()
    environment = {
        **os.environ,
        "PYTHONPATH": f"{HERE}{os.pathsep}{ROOT}",
        "RIVALS_PIDS": str(tmp_path / "pids"),
        "PYTHONWARNINGS": "error",
    }
    chosen = ["--datasets", "iris", "--methods", "rivals:slow", "--epsilons", "0.5,1", "--repeats", str(REPEATS)]
    command = [sys.executable, "-m", "benchmarks", "table1", *chosen, "--jobs", "2", "--output", str(tmp_path / "out")]

    def begin():
        return subprocess.Popen(command, cwd=HERE, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True)

    return begin


def wait_for(what, condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


def n_lines(folder):
    path = folder / RESULTS
    return path.read_bytes().count(b"\n") if path.exists() else 0


def finish_and_check(start, folder):
    """Let a run end by itself; its results must be those of jobs that were never disturbed, each once."""
    process = start()
    _, printed = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, printed
    lines = [json.loads(line) for line in (folder / RESULTS).read_bytes().splitlines()]
    plan = SUITES["table1"].plan(CHOICE)
    found = {(one["method"], one["epsilon"], one["repeat"]): one["loss"] for one in lines}
    assert len(lines) == len(found) == len(plan.jobs)
    for job in plan.jobs:
        assert found[job.method, job.epsilon, job.repeat] == measure(job, Context())["loss"]


def test_a_killed_run_goes_on_where_it_was(start, tmp_path):
    folder = tmp_path / "out"
    for wanted in (0, 8, 30):
        process = start()
        wait_for(f"{wanted} results", lambda wanted=wanted: n_lines(folder) >= wanted)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        wait_for("no worker is left behind", lambda: not any(alive(path.name) for path in (tmp_path / "pids").iterdir()))
        if wanted == 8:  # as if the kill had hit the middle of a line
            os.truncate(folder / RESULTS, (folder / RESULTS).stat().st_size - 9)
    finish_and_check(start, folder)


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_says_how_to_go_on(start, tmp_path, sign):
    folder = tmp_path / "out"
    process = start()
    wait_for("5 results", lambda: n_lines(folder) >= 5)
    if sign is signal.SIGINT:
        os.killpg(process.pid, sign)  # Ctrl-C reaches the workers too
    else:
        process.send_signal(sign)
    _, printed = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "are done and kept in" in printed
    assert "Give the same command again to go on." in printed
    assert "Traceback" not in printed
    assert all(json.loads(line) for line in (folder / RESULTS).read_bytes().splitlines())
    wait_for("no worker is left behind", lambda: not any(alive(path.name) for path in (tmp_path / "pids").iterdir()))
    if sign is signal.SIGINT:
        finish_and_check(start, folder)
