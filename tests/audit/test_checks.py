# SPDX-License-Identifier: Apache-2.0
"""Every check of the audit passes on honest code, at any seed, and catches what is planted for it."""

import importlib.util
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cloister import GDP, ZCDP, ApproxDP, Ledger, PureDP
from cloister.audit import CHECKS, FALSE_ALARM, PLANTS, Settings, planted, run_audit, run_plants, share_spent
from cloister.audit._attacks import at_least, at_most
from cloister.audit._findings import Case, Check, CheckResult
from cloister.audit._kills import BUDGET, KILLS, _check_trial
from cloister.audit._plants import wrapped
from cloister.audit._samplers import GAUSSIAN, LAPLACE, binomial_chance, words_below
from cloister.audit._spending import CARRIED
from cloister.exceptions import ParameterError
from cloister.privacy import Entropy, Event
from cloister.privacy._samplers import _whole_thresholds
from cloister.vault import Vault

STOPPED = re.compile("ended with|without a result|stopped by")


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS)
def test_honest_code_passes(check: str, seed: int) -> None:
    found = run_audit(Settings(quick=True, seed=seed, methods=("KMeans",), engines=("numpy", "csv")), checks=[check])
    assert found.passed, found.checks[0].violations
    assert found.checks[0].cases > 1
    assert 0 < found.checks[0].worst <= 1 + 1e-6
    assert found.caught_by == ()


@pytest.mark.parametrize("full", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_honest_receipts_pass_however_rows_are_carried(full: bool, seed: int) -> None:
    methods = ("KMeans", "GridSynopsis", "TreeKMeans")
    found = run_audit(Settings(quick=not full, seed=seed, scale=0.1, methods=methods), checks=["receipts"]).checks[0]
    assert found.violations == []
    assert 0.9 < found.worst <= 1 + 1e-6
    assert found.parts["merges"].cases == (200 if full else 10)
    assert found.parts["scalers"].cases > len(methods) * (len(CARRIED) if full else 1)


@pytest.mark.slow
def test_every_planted_fault_is_caught_and_nothing_else(seed: int) -> None:
    results = run_plants(Settings(seed=seed))
    assert {one.name for one in results if not one.control} == set(PLANTS)
    assert [(one.name, one.violation) for one in results if not one.right or STOPPED.search(one.violation)] == []


def test_plants_name_a_check_and_leave_nothing_behind() -> None:
    assert {plant.check for plant in PLANTS.values()} == set(CHECKS)
    before = dict(vars(Event)), dict(vars(Vault))
    for name in PLANTS:
        with planted(name):
            pass
    assert (dict(vars(Event)), dict(vars(Vault))) == before


# -- what no plant shows: each part of a check finds its own fault -------------------------------------------------------


def cut(sampler):
    return lambda entropy, scale, size: np.clip(sampler(entropy, scale, size), -4.5 * float(scale), 4.5 * float(scale)).astype(
        np.int64
    )


def halved(draw):
    return lambda event, *of: draw(replace(event, scale=event.scale / 2), *of)


def warned(clean):
    def planted_clean(frame, rows):
        with np.errstate(invalid="warn"):
            np.add(rows, 0.0)  # reports a signalling NaN
        return clean(frame, rows)

    return planted_clean


def seeded(init):
    return lambda entropy, state=None, **options: init(entropy, 0 if state is None else state, **options)


SMALL_FAULTS = {
    "gaussian beyond": ("samplers", "cloister.privacy._mechanisms:rounded_gaussian", cut),
    "laplace beyond": ("samplers", "cloister.privacy._samplers:_wholes", lambda old: lambda *of: np.minimum(old(*of), 15)),
    "option": ("samplers", "cloister.privacy:Event.choose", halved),
    "two vaults": (
        "samplers",
        "cloister.privacy:Coins.draw",
        lambda draw: classmethod(lambda cls, entropy, share: draw.__func__(cls, Entropy(0), share)),
    ),
    "without a seed": ("samplers", "cloister.privacy:Entropy.__init__", seeded),
    "drawn was": ("replay", "cloister.privacy:Event.draw", halved),
    "warn differently": ("replay", "cloister.columns:Frame.clean", warned),
    "gave more": ("spending", "cloister.privacy._ledger_state:AccountState.covers", lambda old: lambda *of: True),
    "one by one": ("files", "cloister.data._places:refuse_tables", lambda old: lambda *of: None),
    "events of the scaler": ("receipts", "cloister.data._open:scaled_by", lambda old: lambda values: None),
    "refused before": (
        "receipts",
        "cloister.cluster._base:PrivateEstimator._scaler_receipt",
        lambda old: lambda estimator, rows, near: getattr(rows, "scaled_by", None),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("words", SMALL_FAULTS)
def test_each_part_of_a_check_finds_its_fault(words, seed):
    check, path, fault = SMALL_FAULTS[words]
    with wrapped((path, fault)):
        found = run_audit(
            Settings(quick=True, seed=seed, scale=0.5, methods=("KMeans",), engines=("numpy",)), checks=[check]
        ).checks[0]
    assert any(re.search(words, one) for one in found.violations), found.violations


def test_an_answer_without_a_debit_and_a_ledger_that_does_not_wait_are_found(tmp_path):
    trial = {"kind": "paid", "ledger": str(tmp_path / "budget.sqlite"), "answers": str(tmp_path / "answers")}
    (tmp_path / "answers").write_text('{"asked": "row_count", "scale": 2.0, "size": 1}\n')
    Ledger.create(trial["ledger"], BUDGET).close()

    def unsynced(connect):
        def planted_connect(store):
            connect(store).execute("PRAGMA synchronous = OFF")
            return connect(store)

        return planted_connect

    found = CheckResult("kills", KILLS.title)
    with wrapped(("cloister.privacy._ledger_store:LedgerStore.connect", unsynced)):
        found.run(Case("", "", lambda found: _check_trial(found, trial=trial)))
    assert "1 of 1 answers without a debit on disk" in found.violations
    assert any("does not wait for the disk" in one for one in found.violations)


# -- how an audit is run -------------------------------------------------------------------------------------------------


def test_unknown_names_are_refused() -> None:
    for settings, checks in (
        (Settings(plant="nothing"), []),
        (Settings(methods=("nobody",)), []),
        (Settings(engines=("steam",)), []),
        (Settings(), ["hope"]),
    ):
        with pytest.raises(ParameterError, match="expected one of"):
            run_audit(settings, checks=checks)


def test_engines_that_are_not_installed_are_said_so(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    absent = {"pandas", "polars", "distributed", "pyspark"}
    monkeypatch.setattr("importlib.util.find_spec", lambda name, *rest: None if name in absent else find(name, *rest))
    settings = Settings(quick=True, seed=seed, scale=0.5, methods=("GridSynopsis",))
    found = run_audit(settings, checks=["replay"]).checks[0]
    assert found.violations == []
    assert found.notes == ["pandas: not installed", "polars: not installed", "dask: not installed", "spark: not installed"]


def test_a_check_that_is_stopped_has_found_something(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(found: CheckResult) -> None:
        raise OverflowError("secret")

    check = Check(title="", meaning="", cases=lambda settings, folder: [Case("a case", "a part", broken)])
    monkeypatch.setitem(CHECKS, "spending", check)
    found = run_audit(Settings(quick=True), checks=["spending"])
    assert found.checks[0].violations == ["a case: the check was stopped by OverflowError"]


# -- the arithmetic of the checks ----------------------------------------------------------------------------------------


def test_probabilities_are_exact() -> None:
    assert binomial_chance(0, 10, 0.5) == pytest.approx(2 * 0.5**10)
    assert binomial_chance(10, 10, 0.5) == pytest.approx(2 * 0.5**10)
    assert binomial_chance(5, 10, 0.5) == 1.0
    assert binomial_chance(0, 4_000_000, 6.8e-6) == pytest.approx(2 * math.exp(4_000_000 * math.log1p(-6.8e-6)))
    assert at_least(0, 10, 1e-3) == 0
    assert at_most(10, 10, 1e-3) == 1
    assert at_most(0, 10, 1e-3) == pytest.approx(1 - 1e-3 ** (1 / 10))
    assert at_least(10, 10, 1e-3) == pytest.approx(1e-3 ** (1 / 10))
    assert GAUSSIAN.tail(1, 0.5) == pytest.approx(math.erfc(1 / math.sqrt(2)))
    weights = [math.exp(-abs(y) / 2.0) for y in range(-200, 201)]
    assert LAPLACE.tail(3, 2.0) == pytest.approx(2 * sum(weights[203:]) / sum(weights))
    assert 0 < FALSE_ALARM <= 1e-6


@pytest.mark.parametrize("power", [1, 2])
def test_thresholds_of_whole_parts_agree_with_the_sampler(power: int) -> None:
    assert [words_below(j, power) for j in range(1, 8)] == _whole_thresholds(power, 64)[:7]


def event(kind: str, ratio: float) -> Event:
    return Event(
        mechanism=kind, question_name="a", size=1, scale=1 / ratio, sensitivity=1.0, unit=1.0, relation="replace", seeded=True
    )


def test_spending_is_added_up_from_first_principles() -> None:
    gaussian, pure = event("rounded_gaussian", 0.5), event("discrete_laplace", 0.25)
    assert share_spent([pure, pure], PureDP(1.0)) == pytest.approx(0.5)
    assert share_spent([pure, gaussian], PureDP(1.0)) == math.inf
    assert share_spent([gaussian] * 4, GDP(1.0)) == pytest.approx(1.0)
    assert share_spent([gaussian] * 4, ZCDP(0.5)) == pytest.approx(1.0)
    assert share_spent([gaussian, pure], ZCDP(0.5)) == pytest.approx((0.25 + 0.0625) / 2 / 0.5)
    assert share_spent([pure], ApproxDP(0.25, 1e-6)) == pytest.approx(1.0)
    delta = GDP(1.0).delta_at(1.0)
    assert share_spent([gaussian] * 4, ApproxDP(1.0, delta)) == pytest.approx(1.0)
    assert share_spent([gaussian] * 5, ApproxDP(1.0, delta)) > 1


def test_the_docs_list_every_plant_and_check() -> None:
    text = (Path(__file__).parents[2] / "docs" / "audit.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `([a-z-]+)` \| ([^|]+) \| `([a-z]+)` \|$", text, flags=re.MULTILINE)
    assert listed == [(one.name, one.description, one.check) for one in PLANTS.values()]
    assert len(listed) == 10, "as the page says"
    assert all(f"| `{name}` |" in text for name in CHECKS)
