# SPDX-License-Identifier: Apache-2.0
"""Times beside scikit-learn's, and a profile whose parts add up to the whole."""

import time

import numpy as np
import pytest
from benchmarks._profile import KINDS, profiled

from benchmarks import _profile, fit_speed
from cloister.privacy import Event
from cloister.questions import Nearest
from cloister.vault import Vault

SIZE = (3000, 4, 3)


@pytest.mark.slow
def test_seconds_losses_and_bars_are_printed(capsys, monkeypatch):
    monkeypatch.setattr(fit_speed, "_beside_pe_means", lambda *_: None)
    monkeypatch.setattr(fit_speed, "SIZES", {SIZE: 1e-9})
    assert fit_speed.main(["--sizes", "3000,4,3", "2e3,4,3", "--repeats", "2"]) == 1
    printed = capsys.readouterr().out
    assert "3,000 x 4, k 3: scikit-learn 0." in printed
    assert "of scikit-learn's mean" in printed
    assert "MISS 3,000 x 4, k 3: time over scikit-learn's" in printed
    assert "2,000 x 4, k 3: loss" in printed


def test_all_costs_are_counted_once():
    data = fit_speed.make(*SIZE)
    plain = fit_speed._fit(data, 1)
    start = time.process_time()
    with profiled() as profile:
        model = fit_speed._fit(data, 1)
    spent = time.process_time() - start
    assert np.array_equal(model.cluster_centers_, plain.cluster_centers_)
    assert 0.5 * spent < profile.total <= spent  # the rest is wrapping
    assert profile.total == pytest.approx(sum(sum(step.values()) for step in profile.seconds.values()))
    steps = [step.name for step in model.plan_.steps]
    assert [step for step in profile.seconds if step in steps] == [step for step in steps if step in profile.seconds]
    assert set(profile.seconds) - set(steps) <= {"start", "end", "labels", *(one.name for one in model.plan_.all_steps)}
    assert {kind for step in profile.seconds.values() for kind in step} <= set(KINDS)
    assert profile.by_kind()["search"] > 0 < profile.by_kind()["noise"]


def test_what_was_wrapped_is_as_before():
    wrapped = [(owner, name, getattr(owner, name)) for owner, name, _ in _profile.WRAPPED]
    asked = Vault.ask
    with profiled():
        assert Vault.ask is not asked
        assert Event.draw is not wrapped[[name for _, name, _ in wrapped].index("draw")][2]
        assert Nearest(np.zeros((1, 2)))(np.zeros((3, 2))).tolist() == [0, 0, 0]
    assert Vault.ask is asked
    assert all(getattr(owner, name) is function for owner, name, function in wrapped)


def test_nested_work_is_charged_to_the_inner_kind(monkeypatch):
    clock = iter(range(100))
    monkeypatch.setattr(_profile.time, "process_time", lambda: float(next(clock)))
    profile = _profile.Profile()  # 0
    profile.enter("vote")  # 1
    with profile.within("read"):  # 2
        with profile.within("search"):  # 3
            pass  # 4
        profile.charge()  # 5
    assert profile.seconds == {"start": {"public": 1.0}, "vote": {"public": 1.0, "read": 3.0, "search": 1.0}}
    assert profile.total == 6.0
    assert [line.split()[0] for line in profile.lines()] == ["step", "start", "vote", "all"]
