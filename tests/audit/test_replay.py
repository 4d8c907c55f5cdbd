# SPDX-License-Identifier: Apache-2.0
"""The contract of replay: given the same answers, no estimator asks its neighbour another question or moves too far."""

import re
import warnings
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cloister
from cloister import KMeans, rivals
from cloister.audit import AUDIT_ENGINES, DECLARED, GUARANTEES, METHODS, Settings, installed, record, replay
from cloister.audit._methods import make_fit
from cloister.audit._replays import ReplayCase, declared_cases, engine_cases, replay_cases, run_case
from cloister.audit._tables import DOMAINS, HOSTILE, HOSTILE_CELLS, declared_neighbours
from cloister.cluster._plan import Planner
from cloister.columns import ColumnFrame, Frame, Relation
from cloister.data import LocalRows
from cloister.questions import NearestSums
from cloister.rivals import LloydKMeans
from cloister.vault import Vault

QUICK, FULL = Settings(quick=True), Settings()


def fit(table: Any, **options: Any) -> KMeans:
    return KMeans(2, epsilon=3.0, bounds=(-1, 1), n_init=1, n_jobs=1, random_state=1, **options).fit(table)


@pytest.fixture
def rows(generator: np.random.Generator) -> np.ndarray:
    return generator.uniform(-1, 1, (30, 2))


def check(case: ReplayCase, seed: int, folder: Path) -> None:
    found = run_case(case, seed=seed, folder=folder)
    assert not found.violations
    assert 0 <= found.worst <= 1 + 1e-12
    assert found.calls


# -- every estimator -----------------------------------------------------------------------------------------------------


def test_every_public_estimator_is_replayed() -> None:
    public = {name for room in (cloister, rivals) for name in room.__all__ if hasattr(getattr(room, name), "fit")}
    assert {variant.method.name for variant in METHODS.values()} | {"PrivateScaler"} == public
    assert set(DECLARED) >= {"KMeans", "LloydKMeans", "PrivateScaler"}
    methods = {case.method for case in replay_cases(QUICK)}
    assert methods == set(METHODS)


@pytest.mark.parametrize("settings", [QUICK, FULL], ids=["quick", "full"])
def test_the_cases_cover_what_an_audit_promises(settings: Settings) -> None:
    cases = replay_cases(settings)
    assert {case.hostile for case in cases} == set(HOSTILE)
    assert {case.table for case in cases} == set(DOMAINS)
    assert {case.kind for case in cases} == set(GUARANTEES)
    for method, one in METHODS.items():
        seen = {(case.relation, case.n_features) for case in cases if case.method == method}
        assert seen == {(relation, width) for relation in Relation for width in one.dimensions}
    if not settings.quick:
        for method in METHODS:
            assert {case.hostile for case in cases if case.method == method} == set(HOSTILE)


@pytest.mark.parametrize("method", ["KMeans, described", "GridSynopsis", "PrivateScaler"])
def test_neighbours_of_declared_columns_stay_within_the_stated_sensitivity(method: str, seed: int, tmp_path: Path) -> None:
    for case in [case for case in declared_cases(QUICK) if case.method == method][::2]:
        check(case, seed, tmp_path)


@pytest.mark.slow
def test_nor_do_they_in_all_cases(seed: int, tmp_path: Path) -> None:
    cases = declared_cases(Settings(scale=5 / len(HOSTILE_CELLS)))  # five turns: every cell for every method
    for method in DECLARED:
        assert {case.hostile for case in cases if case.method == method} == set(HOSTILE_CELLS)
        assert {case.relation for case in cases if case.method == method} == set(Relation)
    for number, case in enumerate(cases):
        check(case, seed + number, tmp_path)


def test_declared_columns_are_asked_all_that_may_be_asked_first(seed: int, generator: np.random.Generator) -> None:
    left, right = declared_neighbours(relation=Relation.REPLACE, hostile="nothing but missing", generator=generator)
    tape = record(make_fit("KMeans, spread", GUARANTEES["gdp"], relation=Relation.REPLACE, seed=seed), left)
    asked = [call.event.question_name for call in tape.calls]
    first = ["row_count", "column_magnitudes", "column_intervals"]
    assert asked[:3] == first
    assert {"cell_states", "nearest_missing"} <= set(asked)
    assert asked[-1] == "nearest_missing"
    assert len(set(map(str, left.to_pylist())) ^ set(map(str, right.to_pylist()))) == 2


def test_described_columns_are_asked_about_last(seed: int, generator: np.random.Generator) -> None:
    left, _ = declared_neighbours(relation=Relation.REPLACE, hostile="unknown level", generator=generator)
    tape = record(make_fit("KMeans, described", GUARANTEES["gdp"], relation=Relation.REPLACE, seed=seed), left)
    assert tape.calls[-1].event.question_name == "nearest_histograms"
    assert tape.calls[-1].event.sensitivity == pytest.approx((2 * left.num_columns) ** 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_neighbours_stay_within_the_stated_sensitivity(method: str, seed: int, tmp_path: Path) -> None:
    for number, case in enumerate(replay_cases(Settings(methods=(method,), scale=0.2))):
        check(case, seed + number, tmp_path)


@pytest.mark.parametrize("engine", [one for one in AUDIT_ENGINES if one not in ("numpy", "spark")])
def test_every_engine_keeps_the_contract(engine: str, seed: int, tmp_path: Path) -> None:
    if not installed(engine):
        pytest.skip(f"{engine} is not installed")
    for case in engine_cases(Settings(quick=True, methods=("GridSynopsis",)), engine):
        check(case, seed, tmp_path)


@pytest.mark.slow
def test_spark_keeps_the_contract(seed: int, spark: Any, tmp_path: Path) -> None:
    for case in engine_cases(Settings(quick=True, scale=0.5), "spark"):
        check(case, seed, tmp_path)


# -- what a replay notices -----------------------------------------------------------------------------------------------


def test_an_honest_fit_reaches_the_sensitivity_and_no_more(rows: np.ndarray) -> None:
    found = replay(fit, np.vstack([rows, [[1.0, 1.0]]]), rows)
    assert found.violations == ()
    assert found.worst == 1  # a row is counted once


def test_a_recording_holds_the_noise(rows: np.ndarray) -> None:
    tape = record(fit, rows)
    assert tape.error == ""
    assert not tape.faults
    assert [call.event for call in tape.calls] == list(tape.model.privacy_receipt_.events)
    assert sum((np.rint(call.value / call.event.unit) != call.exact).any() for call in tape.calls) > len(tape.calls) / 2


def test_two_rows_more_are_noticed(rows: np.ndarray) -> None:
    found = replay(fit, np.vstack([rows, [[1.0, 1.0], [1.0, 1.0]]]), rows)
    assert any("times the sensitivity apart" in words for words in found.violations)
    assert found.worst == pytest.approx(2)


def asks_by_rows(table: np.ndarray) -> LloydKMeans:
    rounds = 2 + len(table) % 2
    return LloydKMeans(2, bounds=(-1, 1), n_rounds=rounds, n_rows=30, n_jobs=1, random_state=1).fit(table)


def fails_alone(table: np.ndarray) -> KMeans:
    if len(table) < 30:
        raise ValueError("a secret")
    return fit(table)


def warns_alone(table: np.ndarray) -> KMeans:
    if len(table) < 30:
        warnings.warn("short", stacklevel=1)
    return fit(table)


def tells_an_exact_number(table: np.ndarray) -> KMeans:
    model = fit(table)
    model.release_.cluster_counts[0] = len(table)
    return model


FAULTY = {
    asks_by_rows: "differs|questions",
    fails_alone: "^the neighbour's fit ends with ValueError$",
    warns_alone: "^the two fits warn differently$",
    tells_an_exact_number: "^the same answers lead to another release_$",
}


@pytest.mark.parametrize(("faulty", "words"), FAULTY.items())
def test_what_depends_on_rows_beyond_the_answers_is_noticed(faulty: Any, words: str, rows: np.ndarray) -> None:
    assert any(re.search(words, one) for one in replay(faulty, rows, rows[1:]).violations)


def test_rows_outside_the_unit_ball_are_noticed(rows: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    clean = Frame.clean
    monkeypatch.setattr(Frame, "clean", lambda frame, block: clean(frame, block) * (1 + 2.0**-20))
    found = replay(fit, np.vstack([rows, [[1.0, 1.0]]]), rows)
    assert any("outside the unit ball" in words for words in found.violations)


def test_rows_of_declared_columns_are_watched_too(
    seed: int, generator: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    clean = ColumnFrame.clean
    monkeypatch.setattr(ColumnFrame, "clean", lambda frame, block: clean(frame, block)[1:])
    left, right = declared_neighbours(relation=Relation.ADD_REMOVE, hostile="edge", generator=generator)
    fit_declared = make_fit("LloydKMeans", GUARANTEES["pure"], relation=Relation.ADD_REMOVE, seed=seed)
    assert any("not one row for each row" in words for words in replay(fit_declared, left, right).violations)


def test_nothing_stays_behind(rows: np.ndarray) -> None:
    before = [vars(owner)[name] for owner, name in ((Vault, "_noisy"), (Frame, "clean"), (LocalRows, "fold"))]
    replay(fit, rows, rows[1:])
    assert [vars(owner)[name] for owner, name in ((Vault, "_noisy"), (Frame, "clean"), (LocalRows, "fold"))] == before
    assert type(NearestSums.l2_sensitivity).__name__ == "function"
    import cloister.cluster._base as base

    assert base.Vault is Vault


# -- samples: rows that both tables have get the same coins ----------------------------------------------------------------


@pytest.fixture
def sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every step of a plan ask a part of the rows; steps take turns."""
    step, shares = Planner.step, cycle([0.5, 0.8, 1.0, 0.4])
    planned: dict[str, float] = {}

    def sampling(self: Planner, name: str, *given: Any, **options: Any) -> Any:
        return step(self, name, *given, **{**options, "row_share": planned.setdefault(name, next(shares))})

    monkeypatch.setattr(Planner, "step", sampling)


@pytest.mark.parametrize("place", [0, 30])
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_a_fit_that_asks_samples_is_replayed(relation: str, place: int, rows: np.ndarray, sampled: None) -> None:
    left = np.insert(rows, place, [1.0, -1.0], axis=0)
    right = rows if relation == "add-remove" else np.insert(rows, place, [np.nan, 0.3], axis=0)
    for one, other in ((left, right), (right, left)):
        found = replay(lambda table: fit(table, neighbours=relation), one, other)
        assert found.violations == ()
        assert 0 < found.worst <= 1 + 1e-12
    assert record(fit, left).coins


def test_coins_that_stay_at_their_positions_would_move_answers_too_far(
    rows: np.ndarray, sampled: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Why coins are secret: under a key that is known, a row at the front changes which of the others are in the sample."""
    monkeypatch.setattr("cloister.audit._replay.sample_coupled", lambda source, coins: source.sample(coins))
    found = replay(fit, rows, np.insert(rows, 0, [1.0, -1.0], axis=0))
    assert any("times the sensitivity apart" in violation for violation in found.violations)
