# SPDX-License-Identifier: Apache-2.0
"""Data sets: exact ones, files with the right shape, own realisations; and the papers' figures."""

import numpy as np
import pytest
from benchmarks._data import load, origin_of, shape_of
from benchmarks._errors import BenchError
from benchmarks._generate import REACH, clusters, scale
from benchmarks._papers import Row, cells_printed, table1, wcss_printed
from benchmarks._sources import sources
from sklearn.datasets import make_blobs


def separation(one, two):
    """Return the separation of two clusters by trying many directions: an independent and slower way."""
    gap, s, t = one.mean(axis=0) - two.mean(axis=0), np.cov(one.T), np.cov(two.T)
    directions = np.random.default_rng(0).standard_normal((4000, len(gap)))
    directions = np.vstack([directions, *(np.linalg.solve(w * s + (1 - w) * t, gap) for w in np.linspace(0.02, 0.98, 50))])
    deviations = np.sqrt(np.einsum("pi,ij,pj->p", directions, s, directions)) + np.sqrt(
        np.einsum("pi,ij,pj->p", directions, t, directions)
    )
    ratio = np.max(np.abs(directions @ gap) / deviations)
    return (ratio - REACH) / (ratio + REACH)


def test_there_are_34_data_sets_and_their_figures():
    assert len(sources()) == len(table1()) == 34
    assert table1()["iris"].areas["pe_means_auc"] == 0.2894
    assert table1()["iris"].area("best") == 0.2894
    assert table1()["g2_4"].area("best") == 0.4666, "FastLloyd wins there"
    assert table1()["g2_128"].area("hdpe_means_auc") == 1.4055
    assert table1()["iris"].area("hdpe_means_auc") is None
    assert Row.band(0.0003) == pytest.approx((0.00025, 0.00035))


def test_the_grid_papers_figures_are_whole():
    assert len(cells_printed()) == 216
    assert len(wcss_printed()) == 4 * 108 + 18
    assert wcss_printed()[2, 2, 100, "rugnik", 0.1] == 6.114
    assert cells_printed()[3, 8, 1600, "rugnik", 1.0] == 729


def test_blobs_are_generated_exactly():
    found = load("sklearn_4_4")
    rows = np.round(make_blobs(n_samples=20_000, n_features=4, centers=4, random_state=1)[0], 4)
    rows -= rows.mean(axis=0)
    assert np.allclose(found.rows, rows / np.linalg.norm(rows, axis=1).max())
    assert found.delta == 20_000**-1.1
    assert load("sklearn_4_4") is found, "kept"


def test_a_loss_is_a_mean_squared_distance():
    data = load("iris")
    assert data.loss(np.zeros((1, 4))) == pytest.approx(np.mean(np.sum(data.rows**2, axis=1)))
    assert np.linalg.norm(data.rows, axis=1).max() == pytest.approx(1.0)


def test_shapes_are_known_before_loading():
    assert shape_of("sklearn_16_64") == (20_000, 64, 16)
    assert shape_of("blobs_500_3_7") == (500, 3, 7)
    assert load("blobs_500_3_7").rows.shape == (500, 3)
    for name in ("blobs_500_3", "sklearn_0_4", "sklearn_a_b", "nothing"):
        with pytest.raises(BenchError, match="python -m benchmarks list"):
            shape_of(name)


def test_files_come_first_and_must_have_the_right_shape(tmp_path, monkeypatch, generator):
    folder = str(tmp_path)
    with pytest.raises(BenchError, match=r"letter.npz is missing. Pass --data DIR .* 20,000 x 16, from UCI"):
        origin_of("letter", folder)
    assert origin_of("scale_4_4", folder) == "own"
    np.savez(tmp_path / "letter.npz", X=np.zeros((20_000, 15)))
    with pytest.raises(BenchError, match=r"expected 20,000 rows x 16 columns in letter\.npz, got 20,000 x 15"):
        load("letter", folder)
    np.savez(tmp_path / "adult.npz", rows=np.zeros((3, 2)))
    with pytest.raises(BenchError, match=r"expected an \.npz file with an array X"):
        load("adult", folder)
    np.savez(tmp_path / "birch2.npz", X=generator.integers(0, 1000, (100_000, 2)).astype(np.int32))
    assert load("birch2", folder).rows.shape == (25_000, 2), "the paper draws a sample"
    np.savez(tmp_path / "scale_4_4.npz", X=generator.random((10_000, 4)))
    assert origin_of("scale_4_4", folder) == "file"
    assert not np.array_equal(load("scale_4_4", folder).rows[:5], load("scale_4_4").rows[:5])
    monkeypatch.setenv("CLOISTER_DATA", folder)
    assert origin_of("birch2") == "file"


@pytest.mark.fast("4-4")
@pytest.mark.parametrize(("k", "d"), [(4, 4), (16, 4), (5, 16)])
def test_the_scale_family_is_the_same_for_the_same_seed(k, d):
    rows = scale(np.random.default_rng(7), k, d)
    assert abs(len(rows) - 10_000) <= k
    assert rows.shape[1] == d
    assert np.array_equal(rows, scale(np.random.default_rng(7), k, d))


def test_the_closest_clusters_have_the_separation_that_was_asked_for(generator):
    sizes = [3000] * 4
    rows = clusters(generator, sizes, 3, separation=(0.2, 0.2))
    parts = np.split(rows, np.cumsum(sizes)[:-1])
    found = [separation(parts[i], parts[j]) for i in range(4) for j in range(i)]
    assert min(found) == pytest.approx(0.2, abs=0.03), "up to the draw of the rows"
    assert np.abs(rows).max() == pytest.approx(1.0)
