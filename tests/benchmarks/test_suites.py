# SPDX-License-Identifier: Apache-2.0
"""The suites themselves, on as little as shows that they work; the vote-splitting figure with its result."""

import json

import numpy as np
import pytest
from benchmarks._jobs import Choice, Context
from benchmarks._page import Figure
from benchmarks._report import make_page
from benchmarks._store import Store
from benchmarks._worker import measure
from benchmarks.suites import SUITES
from benchmarks.suites._tuning import lowess

from .conftest import record_of


def run_here(name, folder, choice, *, keep=lambda job: True):
    """Measure the jobs of a suite in this process, and make its page."""
    with Store(folder) as store:
        store.note_run({"suite": name})
        for job in filter(keep, SUITES[name].plan(choice).jobs):
            store.append({**record_of(job), "suite": name, **measure(job, Context())})
    page = make_page(folder)
    assert not [line for line in (folder / "results.jsonl").read_text().splitlines() if json.loads(line)["status"] != "ok"]
    return page


LITTLE = {
    "table1": Choice(datasets=("iris", "blobs_300_2_2"), methods=("PEMeans", "GridKMeans"), epsilons=(1.0, 2.0), repeats=2),
    "curves": Choice(datasets=("iris", "scale_4_4"), methods=("GridKMeans",), repeats=1),
    "tuning": Choice(datasets=("iris", "blobs_100_2_2"), repeats=1),
    "rounds": Choice(datasets=("iris", "blobs_100_2_2", "blobs_300_40_2"), epsilons=(0.5, 2.0), repeats=1),
    "alternatives": Choice(datasets=("iris", "blobs_100_2_2"), epsilons=(1.0, 2.0), repeats=2),
    "grids": Choice(datasets=("grid_2_2_100",), methods=("RUGNIK", "EUGkM"), repeats=3),
    "source-target": Choice(datasets=("synthetic2",), methods=("NNA", "target only", "not private"), repeats=1),
    "speed": Choice(datasets=("blobs_200_2_2",), methods=("PEMeans",), repeats=2),
    "scaling": Choice(datasets=("blobs_1000_8_16", "blobs_2000_8_16"), methods=("PEMeans",), repeats=1),
}


def _small(job):
    settings = job.settings
    return settings.get("candidates", 0) <= 128 and (job.kind != "tuning" or settings["rounds"] <= 8)


@pytest.mark.slow
@pytest.mark.parametrize("name", LITTLE)
def test_a_suite_measures_and_tells(name, tmp_path):
    page = run_here(name, tmp_path, LITTLE[name], keep=_small)
    (section,) = page.sections
    assert section.title == SUITES[name].title
    figures = [block.name for block in section.blocks if isinstance(block, Figure)]
    assert figures
    for figure in figures:
        assert all((tmp_path / "figures" / f"{figure}.{kind}").stat().st_size > 1000 for kind in ("svg", "png"))


@pytest.mark.slow
def test_top_k_loses_a_cluster_and_weighted_k_means_keeps_all_four(tmp_path):
    page = run_here("vote-splitting", tmp_path, Choice(repeats=20))
    assert len(page.sections[0].checks) == 2
    assert not page.missed
    records = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    kept = {rule: np.array([one["kept"] for one in records if one["method"] == rule]) for rule in ("top-k", "kmeans")}
    assert np.all(kept["kmeans"] == 4), "in every round of every run"
    assert np.mean(kept["top-k"][:, -1] < 4) >= 0.5
    assert (tmp_path / "figures" / "vote-splitting.svg").exists()


def test_both_rules_start_from_the_same_candidates():
    plan = SUITES["vote-splitting"].plan(Choice(repeats=1))
    one, two = (measure(job, Context()) for job in plan.jobs)
    assert one["candidates"][0] == two["candidates"][0]
    assert len(one["kept"]) == len(two["kept"]) == 4


def test_table_three_needs_no_fit():
    from benchmarks.suites._grids import _cells_check

    assert _cells_check().value == "216 of 216"


def test_a_curve_through_points_on_a_line_is_that_line(generator):
    xs = generator.random(30)
    places, fitted = lowess(xs, 3 * xs - 1)
    assert np.allclose(fitted, 3 * places - 1)
