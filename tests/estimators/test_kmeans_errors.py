# SPDX-License-Identifier: Apache-2.0
"""Errors of KMeans: how rows scatter around the points that stand for them, and what part of the truth intervals cover."""

import numpy as np
import pytest

from benchmarks import errors
from cloister import Category, Flag, KMeans, Number
from cloister.cluster._kmeans_errors import divide_scatter
from cloister.columns import Box, Table


def test_yes_and_no_and_levels_scatter_as_their_shares_say():
    frame = Table((Number(0, 10), Flag(), Category(["a", "b", "c"]))).frame(scaling="bounds")
    generator = np.random.default_rng(3)
    raw = np.column_stack([generator.normal(5, 1, 50_000), generator.random(50_000) < 0.1, generator.choice(3, 50_000)])
    rows = frame.clean(raw)
    found = divide_scatter(float(rows.var(axis=0).sum()), rows.mean(axis=0)[None], np.ones(1), frame)[0]
    assert found[:2] == pytest.approx(rows.var(axis=0)[:2], rel=0.03)
    assert found[2:].sum() == pytest.approx(rows.var(axis=0)[2:].sum(), rel=0.03)


def test_no_column_scatters_farther_than_its_ends_allow_and_the_rest_is_shared():
    frame = Box(-1.0, 1.0).spread(3).frame()
    half = frame.half_widths
    points = np.array([[0.95, 0.0, 0.0], [0.0, -0.99, 0.0]]) * half
    found = divide_scatter(0.3, points, np.array([3.0, 1.0]), frame)
    assert np.all(found <= half**2 - points**2 + 1e-12)
    assert np.average(found.sum(axis=1), weights=[3.0, 1.0]) == pytest.approx(0.3, rel=1e-3)
    assert found[0, 1] == pytest.approx(found[1, 2])


def _yes_no(generator):
    shares = generator.uniform(0.05, 0.95, (4, 8))
    return errors.Table((generator.random((10_000, 8)) < shares[generator.integers(4, size=10_000)]).astype(float), 4, (0, 1))


def _ratings(generator):
    rows = np.rint(
        generator.uniform(0, 5, (4, 4))[generator.integers(4, size=10_000)] + 0.8 * generator.normal(size=(10_000, 4))
    )
    return errors.Table(np.clip(rows, 0, 5), 4, (0, 5))


def _tails(generator):
    return errors.Table(generator.exponential(size=(10_000, 3)), 4, (0, 15))


def _sizes(generator):
    sizes = 1 / np.arange(1, 9)
    owners = generator.choice(8, size=10_000, p=sizes / sizes.sum())
    return errors.Table(generator.uniform(-20, 20, (8, 3))[owners] + 1.5 * generator.normal(size=(10_000, 3)), 8, (-30, 30))


@pytest.mark.slow
@pytest.mark.parametrize(("make", "widest"), [(_yes_no, 2.5), (_ratings, 4.0), (_tails, 3.0), (_sizes, 2.5)])
def test_intervals_cover_k_means_on_the_rows(make, widest):
    tallies = []
    for seed in range(6):
        table, tally = make(np.random.default_rng(seed)), errors.Tally()
        truth = None
        for fit in range(3):
            release = KMeans(table.n_clusters, epsilon=1.0, bounds=table.bounds, random_state=fit).fit(table.rows).release_
            truth = errors.solve(table, release) if truth is None else truth
            tally.add(release, truth)
        tallies.append(tally.figures())
    coverages, counts, ratios = (
        np.array([one[name] for one in tallies]) for name in ("coverage", "coverage_of_counts", "stated_over_true")
    )
    assert coverages.mean() >= 0.85
    assert counts.mean() >= 0.85
    assert np.median(ratios) <= widest
