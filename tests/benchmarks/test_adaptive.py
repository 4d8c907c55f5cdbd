# SPDX-License-Identifier: Apache-2.0
"""Adaptive grids beside RUGNIK, small."""

import numpy as np

from benchmarks import adaptive


def test_the_skewed_tables_are_twenty_and_within_their_box():
    cases = adaptive.skewed_cases()
    assert len(cases) == 20
    assert {case.n_features for case in cases} == {2, 3}
    assert len({(case.n_clusters, case.n_rows, case.epsilon) for case in cases}) > 10
    for number, case in enumerate(cases):
        rows = case.make(np.random.default_rng([1, number]), 300, case.n_features, case.n_clusters)
        assert rows.shape == (300, case.n_features)
        assert np.abs(rows).max() <= 1


def test_an_adaptive_grid_is_better_on_a_skewed_table():
    case = adaptive.Case("exponential", adaptive.exponential, 2, 4, 4000, 0.5)
    assert adaptive.measure(case, seed=3, number=0, repeats=3) < 1.0


def test_the_command_prints_the_ratios(capsys, monkeypatch):
    monkeypatch.setattr(adaptive, "measure", lambda *given, **named: 0.8)
    assert adaptive.main(["--tables", "2"]) == 0
    assert "20 skewed tables: geometric mean 0.800, largest 0.800" in capsys.readouterr().out
    monkeypatch.setattr(adaptive, "measure", lambda *given, **named: 1.2)
    assert adaptive.main(["--tables", "2"]) == 1
