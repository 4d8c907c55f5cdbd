# SPDX-License-Identifier: Apache-2.0
"""Coverage of stated errors: what is compared with what, and what is printed of it."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks import errors
from cloister import KMeans


@pytest.fixture(scope="module")
def fitted():
    table = errors.make("iris", 0)
    release = KMeans(3, epsilon=2.0, bounds=table.bounds, random_state=0).fit(table.rows).release_
    return release, errors.solve(table, release)


def test_truth_is_k_means_in_the_coordinates_of_the_fit(fitted):
    release, truth = fitted
    unit = release.frame.clean(errors.make("iris", 0).rows)
    centers = release.frame.to_unit(truth.centers)
    owners = np.argmin(((unit[:, None] - centers) ** 2).sum(axis=2), axis=1)
    assert np.array_equal(np.bincount(owners), truth.counts)
    for label in range(3):
        assert centers[label] == pytest.approx(unit[owners == label].mean(axis=0), abs=1e-3)


def test_centres_are_matched_whatever_their_order(fitted):
    release, truth = fitted
    assert errors.match(truth.centers[[2, 0, 1]], truth.centers).tolist() == [2, 0, 1]
    turned = errors.Solution(truth.centers[::-1], truth.counts[::-1])
    figures = []
    for one in (truth, turned):
        tally = errors.Tally()
        tally.add(release, one)
        figures.append(tally.figures())
    assert figures[0] == pytest.approx(figures[1])


def test_figures_are_those_of_known_deviations(fitted):
    release, truth = fitted
    shifts = np.array([0.5, 1.0, 3.0])[:, None]  # in stated errors, by cluster
    given = np.full(truth.centers.shape, 0.01)
    exact = replace(
        release,
        cluster_centers=truth.centers + shifts * given,
        center_errors=given,
        center_noise=given / 3,
        cluster_counts=truth.counts + np.array([0, 0, 30]),
        count_errors=np.full(3, 10.0),
    )
    tally = errors.Tally()
    tally.add(exact, truth)
    figures = tally.figures()
    assert figures["coverage"] == pytest.approx(2 / 3)
    assert figures["coverage_of_noise"] == pytest.approx(1 / 3)
    assert figures["stated_over_true"] == figures["stated_over_deviation"] == pytest.approx(1.0)
    assert figures["rms"] == pytest.approx(np.sqrt((0.25 + 1 + 9) / 3))
    assert figures["coverage_of_counts"] == pytest.approx(2 / 3)


def test_it_prints_a_row_for_each_table_and_epsilon_and_no_bar_for_a_part(capsys):
    assert errors.main(["iris", "three-rows", "--fits", "2", "--epsilons", "2"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert [line.split(" | ")[0] for line in lines[2:]] == ["| iris", "| three-rows"]
    assert {line.count("|") for line in lines} == {len(errors.HEADINGS) + 1}


def test_over_all_tables_there_are_bars(capsys):
    report = errors.Report("errors")
    good = {"coverage": 0.95, "stated_over_true": 1.2}
    errors._hold_to_bars(report, [good, good])
    assert report.missed == []
    errors._hold_to_bars(report, [good, {"coverage": 0.85, "stated_over_true": 2.5}])
    assert report.missed == ["lowest coverage", "largest median of stated over true error"]
    errors._hold_to_bars(report, [good, {"coverage": 1.0, "stated_over_true": 1.0}])
    assert report.missed[-1] == "highest coverage"
    assert "MISS lowest coverage: 0.85" in capsys.readouterr().out
