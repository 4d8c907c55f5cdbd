# SPDX-License-Identifier: Apache-2.0
"""Families of unlike columns: what the tables are, and what is printed of them."""

from functools import partial

import numpy as np
import pytest
from benchmarks._area import Comparison, compare_all
from benchmarks._harness import Report

from benchmarks import families


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.fast("powers-5:1", "mixed-15:1000")
@pytest.mark.parametrize("name", families.TABLES)
def test_every_table_is_the_same_each_time_and_lies_where_it_should(name):
    first, again, other = families.make(name, 3), families.make(name, 3), families.make(name, 4)
    assert np.array_equal(first.rows, again.rows)
    assert first.rows.shape == other.rows.shape
    assert not np.array_equal(first.rows, other.rows)
    assert 5_000 <= len(first.rows) <= 20_000
    assert 5 <= first.n_clusters <= 12
    width = int(name.partition(":")[2])
    middle = first.rows.mean(axis=0)
    assert np.linalg.norm(first.rows, axis=1).max() <= 1 + 1e-12
    assert np.linalg.norm(first.rows - middle, axis=1).max() == pytest.approx(1 / width)
    assert np.linalg.norm(middle) == pytest.approx(0.5 if width > 1 else 0.0, abs=1e-9)


@pytest.mark.parametrize("family", families.FAMILIES)
def test_wider_bounds_change_nothing_but_place_and_size(family):
    near, far = (families.make(f"{family}:{width}", 2).rows for width in (1, 1000))
    assert np.allclose((far - far.mean(axis=0)) * 1000, near, rtol=1e-6, atol=1e-9)


def test_there_are_thirty_tables():
    assert len(families.TABLES) == len(set(families.TABLES)) == 30


@pytest.mark.slow
def test_it_prints_a_line_for_each_table_and_seed(capsys):
    assert families.main(["mixed-15:10", "--repeats", "1", "--methods", "KMeans,FastLloyd", "--seeds", "1", "2"]) == 0
    printed = capsys.readouterr().out
    for part in ("mixed-15:10 seed 1 ", "mixed-15:10 seed 2 ", "FastLloyd      geometric mean", "bounds 10 times: KMeans "):
        assert part in printed
    assert " of 2 tables" in printed
    assert "bar" not in printed  # which is for all tables


@pytest.mark.slow
def test_processes_find_what_one_process_finds():
    tables = [(name, partial(families.make, name, 0)) for name in ("mixed-15:1", "units-8:10")]
    alone, apart = (list(compare_all(tables, ["FastLloyd"], repeats=1, jobs=jobs)) for jobs in (1, 2))
    for one, other in zip(alone, apart, strict=True):
        assert one.name == other.name
        assert one.ratios["FastLloyd"] == pytest.approx(other.ratios["FastLloyd"], rel=1e-9)


def test_over_all_tables_there_are_bars(capsys):
    others = {1: 1.1, 10: 1.3}  # by width
    found = [Comparison(f"line-20:{one} seed 1", 1.0, 5.0, {"KMeans": 1.2, "PEMeans": others[one]}, {}) for one in others]
    report = Report("families")
    families._report_wins(report, found, {"KMeans": 1.2, "PEMeans": 1.2}, whole=True)
    printed = capsys.readouterr().out
    assert "KMeans is below all others on 1 of 2 tables; not on line-20:1 seed 1" in printed
    assert report.missed == ["geometric mean of KMeans", "tables on which another method is as good"]


@pytest.mark.parametrize("name", ["linne-20", "line-20:7"])
def test_a_name_that_is_not_there_is_refused(name, capsys):
    with pytest.raises(SystemExit):
        families.main([name])
    assert f"got {name}" in capsys.readouterr().err
