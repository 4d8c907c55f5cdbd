# SPDX-License-Identifier: Apache-2.0
"""What the vault remembers of rows that stay in memory: less work, the same answers, and nothing that gets out."""

import numpy as np
import pytest

from cloister import GDP, Ball, FastLloyd, KMeans, Ledger, PEMeans
from cloister.data import _numpy, open_rows
from cloister.domain import Frame, Relation
from cloister.privacy import Entropy
from cloister.questions import DistanceHistogram, NearestCounts, NearestQuestion, NearestSums
from cloister.vault import Vault

FRAME = Ball(1.0).spread(2).frame()
POINTS = np.array([[-0.5, 0.0], [0.5, 0.0], [0.0, 0.9]])


@pytest.fixture
def rows(generator):
    return generator.normal(scale=0.4, size=(3000, 2))


def open_vault(rows):
    ledger = Ledger(GDP(100.0))
    account = ledger.reserve(ledger.budget, purpose="test", relation=Relation.ADD_REMOVE)
    return Vault(open_rows(rows, n_jobs=2), frame=FRAME, relation=Relation.ADD_REMOVE, account=account, entropy=Entropy(0))


@pytest.mark.parametrize("estimator", [KMeans, PEMeans, FastLloyd])
def test_answers_are_the_same_with_and_without_it(estimator, rows, monkeypatch):
    fits = []
    for kept in (1 << 29, 0):
        monkeypatch.setattr(_numpy, "KEPT_BYTES", kept)
        fits.append(estimator(4, epsilon=2.0, bounds=(-1, 1), random_state=1, n_jobs=2).fit(rows))
    assert np.array_equal(fits[0].cluster_centers_, fits[1].cluster_centers_)
    assert np.array_equal(fits[0].cluster_counts_, fits[1].cluster_counts_)


def count_calls(monkeypatch, owner, name):
    seen, original = [], getattr(owner, name)

    def spy(self, rows):
        seen.append(len(rows))
        return original(self, rows)

    monkeypatch.setattr(owner, name, spy)
    return seen


@pytest.mark.parametrize(("kept", "passes"), [(1 << 29, 1), (0, 4)])
def test_rows_are_cleaned_once_and_searched_once_for_each_set_of_points(kept, passes, rows, monkeypatch):
    monkeypatch.setattr(_numpy, "KEPT_BYTES", kept)
    cleaned = count_calls(monkeypatch, Frame, "clean")
    searched = count_calls(monkeypatch, NearestQuestion, "labels")
    vault = open_vault(rows)
    vault.ask(DistanceHistogram(edges=[0.5], points=POINTS), GDP(1.0))
    vault.ask([NearestCounts(points=POINTS), NearestSums(points=POINTS, radius=0.5)], [GDP(1.0), GDP(1.0)])
    vault.ask(NearestCounts(points=POINTS), GDP(1.0))
    vault.ask(NearestCounts(points=POINTS[:2]), GDP(1.0))
    assert sum(cleaned) == passes * len(rows)
    assert sum(searched) == min(passes + 1, 4) * len(rows)


def test_points_that_come_back_are_searched_anew(rows):
    vault, clean = open_vault(rows), FRAME.clean(rows)
    for points in (POINTS, POINTS[:2], POINTS, POINTS[::-1]):
        asked = NearestCounts(points=points)
        noise = vault.ask(asked, GDP(1.0)).value - np.bincount(asked.labels(clean), minlength=len(points))
        assert np.abs(noise).max() < 9  # standard deviations; counts of other points are hundreds off


def test_files_are_not_remembered(rows, tmp_path):
    np.savetxt(tmp_path / "rows.csv", rows, delimiter=",", header="x,y", comments="")
    assert not getattr(open_rows(tmp_path / "rows.csv"), "stays", False)
    assert open_rows(rows).stays
