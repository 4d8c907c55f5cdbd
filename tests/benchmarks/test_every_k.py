# SPDX-License-Identifier: Apache-2.0
"""One synopsis beside a fit for each k."""

from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks._errors import BenchError
from benchmarks._harness import Report

from benchmarks import every_k


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CLOISTER_DATA", raising=False)


@pytest.mark.parametrize("name", every_k.GENERATED)
def test_generated_tables_are_the_same_each_time_and_large(name):
    first, again = every_k.make(name), every_k.make(name)
    assert np.array_equal(first, again)
    assert np.isfinite(first).all()
    assert len(first) >= 9_900  # sizes of the scale family are rounded


def test_with_files_there_are_more_than_ten_tables():
    assert len(every_k.NAMES) == len(set(every_k.NAMES)) == 13


def test_it_prints_ratios_and_counts_events(capsys):
    assert every_k.main(["ring", "--repeats", "1", "--numbers", "2", "4", "--epsilons", "2"]) == 0
    printed = capsys.readouterr().out
    row = next(line for line in printed.splitlines() if line.startswith("| ring"))
    ratios = [float(cell) for cell in row.strip("| ").split(" | ")[4:]]
    assert len(ratios) == 2
    assert all(0.8 < ratio < 1.5 for ratio in ratios)
    assert "1 synopses cut 2 times" in printed
    assert "ok   events that cuts add to the receipt of a synopsis: 0 " in printed
    assert "geometric mean" in printed


def test_an_event_that_a_cut_adds_is_seen(capsys):
    def listing(*events):
        return SimpleNamespace(receipt=SimpleNamespace(events=events))

    receipt = listing("votes", "sums").receipt
    synopsis = SimpleNamespace(privacy_receipt_=receipt, synopsis_=SimpleNamespace(receipt=receipt))
    asked, report = every_k.Asked(), Report("every_k")
    asked.add(synopsis, [SimpleNamespace(receipt=receipt), listing("votes", "sums", "more")], [listing("votes", "sums")])
    asked.report(report)
    assert (asked.by_synopses, asked.by_cuts, asked.by_fits) == (2, 1, 2)
    assert report.missed == ["events that cuts add to the receipt of a synopsis"]


def test_files_are_read_and_missing_ones_are_named(capsys, tmp_path, monkeypatch):
    folder = tmp_path / "data"
    folder.mkdir()
    rows = np.arange(12).reshape(6, 2)
    np.savez(folder / "letter.npz", X=rows)
    np.savez(folder / "adult.npz", Y=rows)
    assert np.array_equal(every_k.make("letter", str(folder)), rows)
    with pytest.raises(BenchError, match=r"expected an \.npz file with an array X"):
        every_k.make("adult", str(folder))
    names = every_k.available(Report("every_k"), ["ring", "letter", "birch2", "scale_16_16"], str(folder))
    assert names == ["ring", "letter", "scale_16_16"]
    assert "left out: birch2.npz" in capsys.readouterr().out


def test_the_bar_holds_for_all_tables_only(capsys):
    report = Report("every_k")
    every_k._hold_to_bars(report, [1.0, 1.2], whole=False)
    assert report.missed == []
    every_k._hold_to_bars(report, [1.0, 1.2], whole=True)
    assert len(report.missed) == 1


def test_a_name_that_is_not_there_is_refused(capsys):
    with pytest.raises(SystemExit):
        every_k.main(["rings"])
    assert "got rings" in capsys.readouterr().err
