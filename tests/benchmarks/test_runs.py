# SPDX-License-Identifier: Apache-2.0
"""Real runs in worker processes: failures are kept with their reasons, and what is done is not done again."""

import json

import pytest
from benchmarks._jobs import Choice
from benchmarks._run import Settings, run_plan
from benchmarks._store import RESULTS, read_runs
from benchmarks.suites import SUITES


@pytest.fixture
def go(rivals, tmp_path):
    """Run a few methods from outside on iris, and return how that ended."""

    def start(*names, repeats=1, epsilons=(0.5, 1.0), seed=0, **settings):
        methods = tuple(f"{rivals}:{name}" for name in names)
        choice = Choice(datasets=("iris",), methods=methods, epsilons=epsilons, repeats=repeats, seed=seed)
        how = Settings(**{"output": tmp_path / "out", "n_workers": 1, "quiet": True, **settings})
        return run_plan("table1", SUITES["table1"].plan(choice), choice, how)

    return start


def lines(folder):
    return [json.loads(line) for line in (folder / RESULTS).read_bytes().splitlines()]


@pytest.mark.slow
def test_a_method_that_fails_is_told_with_its_reason_and_the_rest_goes_on(run, rivals, tmp_path):
    names, folder = ("broken", "dies", "not_a_number", "endless", "good"), tmp_path / "out"
    methods = ",".join(f"{rivals}:{name}" for name in names)
    chosen = ("--datasets", "iris", "--epsilons", "1", "--methods", methods, "--repeats", 1, "--timeout", 2)
    run("table1", *chosen, "--jobs", 2, "--output", folder)
    found = {one["method"].rpartition(":")[2]: one for one in lines(folder) if one["method"].startswith(rivals)}
    assert set(found) == set(names)
    assert found["good"]["status"] == "ok"
    assert found["good"]["loss"] > 0
    assert found["broken"]["reason"].startswith("ValueError: no idea for 3 clusters (")
    assert found["dies"]["reason"] == "the worker was ended by SIGKILL (out of memory?)"
    assert found["endless"]["reason"] == "took longer than 2 s"
    page = (folder / "page.md").read_text()
    assert all(words in page for words in ("no idea for 3 clusters", "ended by SIGKILL", "the loss is", "took longer"))


@pytest.mark.slow
def test_what_is_done_is_kept_and_only_the_rest_is_measured(go, tmp_path):
    first = go("good", repeats=1, seed=5)
    before = lines(tmp_path / "out")
    second = go("good", repeats=3, seed=5)
    after = lines(tmp_path / "out")
    assert (first.kept, first.measured, second.kept, second.measured) == (0, 4, 4, 6)
    assert after[:4] == before
    keys = [json.dumps([one["method"], one["epsilon"], one["repeat"]]) for one in after]
    assert len(keys) == len(set(keys)) == 1 + 3 + 2 * 3, "one best fit, single starts, and the method"
    for one in after:
        assert {"seed", "seconds", "cpu_seconds", "memory_mb", "loss", "status", "commit", "versions", "when"} <= set(one)
        assert one["base_seed"] == 5
        assert {"cloister", "numpy", "scikit-learn"} <= set(one["versions"])
    failed = [*after[:-1], {**after[-1], "status": "failed", "reason": "out of memory"}]
    (tmp_path / "out" / RESULTS).write_text("".join(json.dumps(one) + "\n" for one in failed))
    again = go("good", repeats=3, seed=5)
    assert (again.measured, again.failed) == (0, 1), "failed jobs are tried again on demand only"
    again = go("good", repeats=3, seed=5, retry_failed=True)
    assert (again.measured, again.failed) == (1, 0)
    assert [one["jobs"] for one in read_runs(tmp_path / "out")] == [4, 10, 10, 10]
