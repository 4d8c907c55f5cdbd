# SPDX-License-Identifier: Apache-2.0
"""A warning where there are fewer cells than clusters: of public numbers alone, and after what was paid for is stored."""

import numpy as np
import pytest

from cloister import AccuracyWarning, GridKMeans, GridSynopsis

strict = pytest.mark.filterwarnings("error::cloister.exceptions.AccuracyWarning")


def test_more_clusters_than_cells_are_warned_of(by_hand):
    synopsis = by_hand(np.ones((8, 8)))
    words = r"Synopsis\.cut\.n_clusters: 65 clusters of 64 cells: .* Ask for at most 64, or fit a finer grid, such as rule=17\."
    with pytest.warns(AccuracyWarning, match=words):
        assert synopsis.cut(65, n_init=1).n_clusters == 65
    with pytest.warns(AccuracyWarning, match=r"2 clusters of 1 cell: "):
        by_hand(np.ones((1, 1))).cut(2)


def test_a_centre_beyond_the_cells_may_be_anywhere(by_hand):
    with pytest.warns(AccuracyWarning, match="3 clusters of 1 cell"):
        release = by_hand(np.full((1, 1), 500.0)).cut(3, random_state=0)
    assert release.errors_are_total
    assert release.stands_out.sum() == 1
    assert release.center_errors[~release.stands_out].min() > 0.2  # of bounds from 0 to 1


@strict
def test_as_many_cells_are_enough(by_hand):
    assert by_hand(np.ones((8, 8))).cut(64, n_init=1).n_clusters == 64
    assert by_hand(np.ones((17, 17))).cut(65, n_init=1).n_clusters == 65  # as the warning recommends
    GridKMeans(4, bounds=(0, 1), rule=2).fit(np.zeros((10, 2)))


@strict
def test_an_estimator_keeps_what_it_paid_for(generator):
    rows = generator.random((50, 2))
    with pytest.warns(AccuracyWarning, match=r"GridKMeans\.n_clusters: 10 clusters of 9 cells"):
        GridKMeans(10, bounds=(0, 1), rule=3).fit(rows)
    model = GridKMeans(10, bounds=(0, 1), rule=3)
    with pytest.raises(AccuracyWarning):
        model.fit(rows)
    assert model.release_.n_clusters == model.synopsis_.noisy_counts.size + 1


def test_rows_do_not_change_the_warning(generator):
    said = set()
    for rows in (np.empty((0, 2)), generator.random((1, 2)), generator.random((500, 2))):
        with pytest.warns(AccuracyWarning) as caught:
            GridSynopsis(20, bounds=(0, 1), rule=4).fit(rows).synopsis_.cut(20)
        said |= {str(one.message) for one in caught if one.category is AccuracyWarning}
    assert len(said) == 1
