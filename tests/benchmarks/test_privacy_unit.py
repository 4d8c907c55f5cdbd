# SPDX-License-Identifier: Apache-2.0
"""Tables of persons, and what protecting them costs, in a small form."""

import json

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from benchmarks import privacy_unit


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("sizes", privacy_unit.SIZES)
@pytest.mark.parametrize("between", [0.0, 0.5, 1.0])
def test_persons_are_planted_as_stated(sizes, between, generator):
    table = privacy_unit.planted(generator, 4_000, 3, sizes, between=between)
    assert np.bincount(table.ids, minlength=4_000).min() >= 1
    assert table.most <= (50 if sizes == "1 to 50" else privacy_unit.LONGEST)
    assert pdist(table.centers).min() >= privacy_unit.APART
    owners = np.argmin(np.linalg.norm(table.rows[:, None] - table.centers, axis=2), axis=1)
    offsets = table.rows - table.centers[owners]
    if sizes == "1 to 50":  # of a heavy tail, few persons have most rows
        assert offsets.var() == pytest.approx(1.0, rel=0.1)
    if between == 1.0:
        first = np.unique(table.ids, return_index=True)[1]
        assert np.array_equal(table.rows, table.rows[first][table.ids])


def test_losses_and_distances():
    rows, centers = np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([[0.0, 0.0]])
    assert privacy_unit.mean_loss(rows, centers) == 12.5
    assert privacy_unit.farthest(rows, centers) == 5.0


def test_settings_fit_into_memory_and_repeat():
    settings = privacy_unit.draw_settings(30, 1)
    assert settings == privacy_unit.draw_settings(30, 1)
    assert len({one.words for one in settings}) > 20
    assert {one.weighting for one in settings} == {"row", "person"}


def test_it_prints_a_row_for_each_contender(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(privacy_unit, "TABLES", {"few": (150, 2, "1 to 50")})
    assert privacy_unit.main(["--repeats", "1", "--tables", "few"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("\n| few | ") == 8
    assert "| few | persons, every person counts | auto | " in printed
    lines = [json.loads(line) for line in (tmp_path / "benchmark-results" / "privacy_unit.jsonl").read_text().splitlines()]
    assert [line["loss"] for line in lines if line["protected"] == "nobody"] == [1.0]
    assert all(line["loss"] > 0.9 for line in lines)


@pytest.mark.slow
def test_the_rule_is_judged(capsys, monkeypatch):
    monkeypatch.setattr(privacy_unit, "TRIED", (1, 5))
    monkeypatch.setattr(privacy_unit, "RULE_REPEATS", 1)
    monkeypatch.setattr(
        privacy_unit, "draw_settings", lambda count, seed: [privacy_unit.Setting(300, 2, 1.0, 0.5, "1 to 50", "row")] * count
    )
    assert privacy_unit.main(["--rule", "2"]) == 0
    assert "geometric mean of the regret" in capsys.readouterr().out
