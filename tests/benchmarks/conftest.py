# SPDX-License-Identifier: Apache-2.0
"""The benchmark lives outside the package: these tests take it from the repository, and run it in a folder of their own."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks._cli import PROGRAM, bench  # noqa: E402
from benchmarks._jobs import Job  # noqa: E402
from benchmarks._methods import LIMIT, ONE_START  # noqa: E402
from benchmarks._stats import EPSILONS  # noqa: E402
from benchmarks._store import Store  # noqa: E402
from tests.cli.conftest import Run, refused, runner  # noqa: E402, F401

# Times the limit, by method: who wins is known.
LEVELS = {"PEMeans": 1.02, "GridKMeans": 1.5, "FastLloyd": 3.0}
LIMITS = {"iris": 0.0357, "sklearn_4_4": 0.0207}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what is measured out of the repository, and look for no files of the developer's."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CLOISTER_DATA", raising=False)


@pytest.fixture
def run() -> Run:
    return runner(bench, prog_name=PROGRAM)


@pytest.fixture
def rivals(monkeypatch: pytest.MonkeyPatch) -> str:
    """Let methods from outside be found by this process and by its workers."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    return "rivals"


def record_of(job: Job, **ended: Any) -> dict[str, Any]:
    spent = {"seconds": 0.5, "cpu_seconds": 0.4, "memory_mb": 3.0, "job_seconds": 0.6}
    stamp = {"seed": job.seed, "suite": "table1", "when": "2026-01-01T00:00:00+00:00", "commit": "abc"}
    return {**job.facts(), "status": "ok", **spent, **stamp, "versions": {"cloister": "0"}, **ended}


@pytest.fixture(scope="module")
def made_up(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Write results of Table I with known areas, and one failure: with another factor, the same draws."""
    seed = int(request.config.getoption("--seed"))

    def write(*, factor: float = 1.0, n_repeats: int = 4) -> Path:
        generator = np.random.default_rng(seed)
        folder = tmp_path_factory.mktemp("made-up") / "table1-quick"
        with Store(folder) as store:
            store.note_run({"suite": "table1", "left_out": ["adult: adult.npz is missing."]})
            for data, limit in LIMITS.items():
                facts = {"kind": "fit", "data": data}
                store.append(record_of(Job(**facts, method=LIMIT, epsilon=None, repeat=0), loss=limit))
                for repeat in range(n_repeats):
                    store.append(record_of(Job(**facts, method=ONE_START, epsilon=None, repeat=repeat), loss=limit * 1.01))
                    for method, level in LEVELS.items():
                        for epsilon in EPSILONS:
                            loss = limit * level * factor * float(generator.uniform(0.99, 1.01))
                            store.append(record_of(Job(**facts, method=method, epsilon=epsilon, repeat=repeat), loss=loss))
            broken = Job(kind="fit", data="iris", method="TreeKMeans", epsilon=0.25, repeat=0)
            store.append(record_of(broken, status="failed", reason="ValueError: no <cubes> left"))
        return folder

    return write


def alive(pid: int | str) -> bool:
    """Whether a process runs."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False
