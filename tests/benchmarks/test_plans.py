# SPDX-License-Identifier: Apache-2.0
"""What a suite is going to measure for a choice, and which methods take part."""

import pytest
from benchmarks._jobs import Choice
from benchmarks._methods import LIMIT, METHODS, ONE_START, PE_ALTERNATIVES, Setting, usable
from benchmarks._plots import COLOURS, LINES, MARKERS, styles_of
from benchmarks._progress import Durations, spell_time
from benchmarks._sources import sources
from benchmarks.suites import KINDS, SUITES
from benchmarks.suites._table1 import QUICK_ROWS

import cloister
from cloister.cluster import plan_fit
from cloister.methods import comparable

QUICK = Choice()
VARIANTS = ["KMeans-pure", "PEMeans-plain", "PEMeans-projected", *PE_ALTERNATIVES, "LloydKMeans-pure", "dpmm-MST"]


def facts(plan, name):
    return list(dict.fromkeys(getattr(job, name) for job in plan.jobs))


@pytest.mark.parametrize("suite", SUITES.values(), ids=lambda suite: suite.name)
@pytest.mark.parametrize("profile", ["quick", "paper"])
def test_no_job_is_planned_twice_and_all_are_of_the_suites_kinds(suite, profile):
    plan = suite.plan(Choice(profile=profile, repeats=2))
    assert len({job.key for job in plan.jobs}) == len(plan.jobs) > 0
    assert {job.kind for job in plan.jobs} <= set(suite.kinds) <= set(KINDS)
    assert [job.repeat for job in plan.jobs] == sorted(job.repeat for job in plan.jobs), "turn by turn"


def test_the_quick_profile_is_all_methods_on_few_rows():
    plan = SUITES["table1"].plan(QUICK)
    assert facts(plan, "data") == list(QUICK_ROWS)
    assert set(facts(plan, "method")) == {method.name for method in usable()} | {LIMIT, ONE_START}
    assert max(job.repeat for job in plan.jobs) == 2
    assert not plan.left_out


def test_the_paper_profile_is_all_rows_and_says_what_is_missing():
    plan = SUITES["table1"].plan(Choice(profile="paper"))
    here = [name for name, source in sources().items() if source.origin(None) is not None]
    assert facts(plan, "data") == here
    assert len(plan.left_out) == len(sources()) - len(here) > 0
    assert max(job.repeat for job in plan.jobs) == 49


def test_a_choice_is_followed():
    choice = Choice(datasets=("sklearn_*_4", "iris"), methods=("pemeans",), epsilons=(1.0,), repeats=2, seed=3)
    plan = SUITES["table1"].plan(choice)
    assert set(facts(plan, "data")) == {"sklearn_4_4", "sklearn_16_4", "sklearn_64_4", "iris"}
    assert set(facts(plan, "method")) == {"PEMeans", LIMIT, ONE_START}
    assert set(facts(plan, "epsilon")) == {1.0, None}
    assert facts(plan, "base_seed") == [3]


def test_suites_share_their_fits():
    table = {job.key for job in SUITES["table1"].plan(QUICK).jobs}
    curves = SUITES["curves"].plan(QUICK)
    assert {job.key for job in curves.jobs if job.data == "iris"} <= table
    others = SUITES["alternatives"].plan(Choice(datasets=("iris",), methods=("PEMeans-uniform",), repeats=1))
    assert facts(others, "method") == ["PEMeans", "PEMeans-uniform"], "beside the default"
    assert {job.key for job in others.jobs if job.method == "PEMeans"} <= table


def test_a_grid_is_for_few_columns():
    plan = SUITES["table1"].plan(Choice(datasets=("sklearn_4_4", "sklearn_4_16"), methods=("GridKMeans",), repeats=1))
    assert {job.data for job in plan.jobs if job.method == "GridKMeans"} == {"sklearn_4_4"}


def test_every_method_of_the_table_takes_part():
    assert [method.name for method in usable() if method.needs is None] == list(comparable())
    assert [method.name for method in METHODS.values() if method.private and not method.by_default] == VARIANTS


def test_every_method_is_given_the_same():
    setting = Setting(n_clusters=3, epsilon=0.5, delta=1e-5, n_rows=100, n_features=2, reach=0.7, seed=4)
    model = METHODS["PEMeans"].make(setting)
    names = ("n_clusters", "epsilon", "delta", "n_rows", "random_state", "n_jobs", "neighbours")
    assert [getattr(model, name) for name in names] == [3, 0.5, 1e-5, 100, 4, 1, "add-remove"]
    assert isinstance(model.bounds, cloister.Ball)
    assert model.bounds.radius == 1.0
    assert METHODS["GridKMeans"].make(setting).bounds == (-0.7, 0.7)
    ours = [name for name, method in METHODS.items() if method.private and method.needs is None]
    pure = {name for name in ours if METHODS[name].make(setting).delta == 0.0}
    assert pure == {"GridKMeans", "TreeKMeans", "KMeans-pure", "LloydKMeans-pure"}


def test_methods_answer_to_their_columns():
    assert METHODS["PEMeans"].column_for(16) == "pe_means_auc"
    assert METHODS["PEMeans"].column_for(64) == "hdpe_means_auc"
    assert METHODS["PEMeans-projected"].column_for(64) == "hdpe_means_auc"
    assert METHODS["PEMeans-plain"].column_for(64) == "pe_means_auc"
    assert METHODS["TreeKMeans"].column_for(64) == "icml17_auc"


@pytest.mark.parametrize("n_rows", [100, 1_000_000])
def test_variants_of_pe_means_are_both_sides_of_its_rule(n_rows):
    setting = Setting(n_clusters=3, epsilon=1.0, delta=1e-9, n_rows=n_rows, n_features=40, reach=1.0, seed=4)
    auto, plain, projected = (
        plan_fit(METHODS[name].make(setting), 40) for name in ("PEMeans", "PEMeans-plain", "PEMeans-projected")
    )
    assert plain.dimension == 40
    assert projected.dimension < 40
    assert auto == (plain if n_rows == 100 else projected)
    assert not any(METHODS[name].accepts(32) for name in ("PEMeans-plain", "PEMeans-projected"))


def test_one_of_rounds_and_variations_is_scaled_at_a_time():
    plan = SUITES["rounds"].plan(Choice(datasets=("iris", "blobs_1000_40_2"), epsilons=(4.0,), repeats=1))
    tried = {name: [job.settings for job in plan.jobs if job.data == name] for name in facts(plan, "data")}
    assert [len(found) for found in tried.values()] == [9, 5], "no variations where the table is projected"
    assert all("1" in (one["rounds"], one["variations"]) for one in tried["iris"])


def test_lines_can_be_told_apart_without_colour():
    assert len(set(MARKERS)) == len(set(map(str, LINES))) == len(COLOURS) >= sum(method.private for method in METHODS.values())
    styles = styles_of(["PEMeans", "NNA", "NAS", "target only"])
    assert len({(style["marker"], str(style["linestyle"])) for style in styles.values()}) == 5
    assert styles["PEMeans"] == styles_of(["x", "PEMeans"])["PEMeans"]


def test_time_left_is_predicted_from_what_is_nearest():
    durations = Durations()
    jobs = SUITES["table1"].plan(Choice(datasets=("iris", "sklearn_4_4"), methods=("PEMeans",), repeats=1)).jobs
    assert durations.predict(jobs) is None
    by_name = {(job.data, job.method, job.epsilon): job for job in jobs}
    durations.learn({**by_name["iris", "PEMeans", 1.0].facts(), "job_seconds": 2.0})
    assert durations.predict([by_name["iris", "PEMeans", 4.0]]) == 2.0, "same data and method"
    assert durations.predict([by_name["sklearn_4_4", "PEMeans", 4.0]]) == 2.0, "same method"
    durations.learn({**by_name["sklearn_4_4", "PEMeans", 1.0].facts(), "job_seconds": 6.0})
    assert durations.predict([by_name["iris", "PEMeans", 1.0], by_name["sklearn_4_4", "PEMeans", 2.0]]) == 8.0
    assert (spell_time(50), spell_time(600), spell_time(7200)) == ("50 s", "10 min", "2.0 h")
