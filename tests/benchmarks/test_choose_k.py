# SPDX-License-Identifier: Apache-2.0
"""The choice of k where it is known, and clusters that are split."""

from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks._harness import Report
from benchmarks.choose_k_tables import Table

from benchmarks import choose_k


def test_the_yardstick_finds_what_is_plain():
    rows = np.random.default_rng(0).normal(np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 100, axis=0))
    assert choose_k.best_silhouette(rows) == 3


def released(centers, stability, counts):
    return SimpleNamespace(cluster_centers=np.array(centers), stability=np.array(stability), cluster_counts=np.array(counts))


def test_pieces_are_told_from_clusters_that_stay_whole():
    centers = np.array([[0.0, 0.0], [10.0, 0.0]])
    right = released(centers + 0.1, [1.0, 0.9], [100.0, 100.0])
    one_more = released([[-1.0, 0.0], [10.0, 0.0], [1.0, 0.0]], [0.1, 1.0, 0.2], [60.0, 100.0, 40.0])
    stability = choose_k.Stability()
    stability.add(right, one_more, centers)
    assert stability.planted == [1.0, 0.9]
    assert stability.pieces == [0.1, 0.2]
    assert stability.others == [1.0]
    lost = released(centers[[0, 0]], [0.0, 0.0], [50.0, 50.0])
    nothing = released([[-1.0, 0.0], [10.0, 0.0], [1.0, 0.0]], [0.8, 0.7, 0.0], [99.0, 100.0, -3.0])
    stability.add(lost, nothing, centers)
    assert stability.planted == [1.0, 0.9]  # a cluster that was not found is not a planted one
    assert stability.pieces == [0.1, 0.2, 0.0]  # nor is one split by a centre without rows
    assert stability.others == [1.0, 0.8, 0.7]


@pytest.mark.slow
def test_it_prints_tables_and_bars(capsys, monkeypatch):
    flat = {"flat": lambda generator: Table(generator.uniform(size=(5_000, 2)), (0, 1), 1)}
    monkeypatch.setattr(choose_k, "WITHOUT", flat)
    monkeypatch.setattr(choose_k, "HARD", flat)
    monkeypatch.setattr(choose_k, "YARDSTICK_NUMBERS", range(2, 4))
    code = choose_k.main(["--tables", "2", "--seeds", "0", "--yardstick"])
    printed = capsys.readouterr().out
    assert code == int("MISS" in printed)
    assert printed.count("\n| 0 | ") == 4
    parts = ("planted k found by PointSynopsis, part of 2 tables", "pieces, k one too large", "| 0 | flat | 1 | ")
    assert all(part in printed for part in (*parts, choose_k.YARDSTICK))


def test_a_number_that_is_too_far_off_is_a_miss(monkeypatch):
    choice = SimpleNamespace(best=3, as_good=(3, 4))
    monkeypatch.setattr(choose_k, "_choose", lambda *_: (None, {"PointSynopsis": choice, 'KMeans("auto")': choice}))
    for planted, off, near in [(1, 0, False), (1, 1, False), (2, 1, True), (3, 0, True)]:
        makers = {"made": lambda generator, k=planted: Table(None, None, k)}
        assert choose_k._other_tables(Report("choose_k"), [0], makers, off=off) == [near] * 2
    assert choose_k._words(3, (3, 4), 1) == "**3** (4)"
    assert choose_k._words(3, (), 3) == "3"
