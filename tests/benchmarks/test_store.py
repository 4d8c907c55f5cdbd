# SPDX-License-Identifier: Apache-2.0
"""Results are whole or not there, one for each job, written by one process at a time."""

import json

import pytest
from benchmarks._errors import BenchError
from benchmarks._jobs import Job, key_of
from benchmarks._store import RESULTS, Store, read_results, read_runs

from .conftest import record_of


def job(repeat=0, **facts):
    return Job(**{"kind": "fit", "data": "iris", "method": "PEMeans", "epsilon": 1.0, "repeat": repeat, **facts})


@pytest.fixture
def folder(tmp_path):
    with Store(tmp_path / "run") as store:
        for repeat in range(3):
            store.append(record_of(job(repeat), loss=float(repeat)))
    return tmp_path / "run"


def test_what_is_written_is_read_again_and_a_second_line_for_a_job_replaces_the_first(folder, tmp_path):
    assert [key_of(record) for record in read_results(folder)] == [job(repeat).key for repeat in range(3)]
    with Store(folder) as store:
        store.append(record_of(job(1), loss=7.0))
    assert [record["loss"] for record in read_results(folder)] == [0.0, 7.0, 2.0]
    assert read_results(tmp_path) == read_runs(tmp_path) == []


@pytest.mark.parametrize("cut", [-1, *range(-2, -60, -9)])
def test_a_torn_last_line_is_dropped_and_its_job_done_anew(folder, cut):
    path = folder / RESULTS
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines)[:cut])
    assert [record["loss"] for record in read_results(folder)][:2] == [0.0, 1.0]
    with Store(folder) as store:
        assert path.read_bytes() == b"".join(lines[:2]), "a writer cuts it off"
        store.append(record_of(job(2), loss=2.0))
    assert [record["loss"] for record in read_results(folder)] == [0.0, 1.0, 2.0]
    assert all(json.loads(line) for line in path.read_bytes().splitlines())


def test_garbage_after_the_last_line_is_cut_off(folder):
    path = folder / RESULTS
    whole = path.read_bytes()
    path.write_bytes(whole + b"\0\0\0\n{]\n")
    with Store(folder):
        pass
    assert path.read_bytes() == whole


def test_two_runs_in_one_folder_are_refused(folder):
    with Store(folder), pytest.raises(BenchError, match=r"another run \(process \d+\) works in"), Store(folder):
        pass
    with Store(folder):
        pass  # and free again afterwards


def test_a_result_that_is_no_number_is_never_written(folder):
    with Store(folder) as store, pytest.raises(ValueError, match="not JSON compliant"):
        store.append(record_of(job(9), loss=float("nan")))
    assert len(read_results(folder)) == 3


def test_a_key_says_what_and_not_when():
    one = record_of(job(), loss=1.0)
    assert key_of(one) == key_of({**one, "commit": "other", "versions": {}, "loss": 2.0, "when": "later"}) == job().key
    others = (job(1), job(epsilon=2.0), job(origin="own"), job(settings={"rounds": 2}), job(base_seed=1))
    assert len({one.key for one in (job(), *others)}) == 6


def test_seeds_are_shared_by_methods_and_by_nothing_else():
    assert job().seed == job(method="FastLloyd").seed
    assert len({job().seed, job(1).seed, job(epsilon=2.0).seed, job(data="letter").seed, job(base_seed=1).seed}) == 5
