# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's own checks, on an instance with bounds and so large an epsilon that noise does not matter."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from cloister import CoresetKMeans, FastLloyd, GridKMeans, GridSynopsis, KMeans, LloydKMeans, PEMeans, TreeKMeans

EXPECTED_FAILURES = {
    "check_estimators_empty_data_messages": "a table without rows must not raise: an error would tell that it is empty",
    "check_dtype_object": "a dict among numbers is a missing value: an error would tell that it is there",
}


silent = pytest.mark.filterwarnings("ignore:SCIPY_ARRAY_API is not set")


@silent
@parametrize_with_checks(
    [
        PEMeans(n_clusters=3, epsilon=1e4, bounds=(-20, 20), n_rounds=3, n_init=1, n_variations=20, random_state=0),
        GridKMeans(n_clusters=3, epsilon=1e4, bounds=(-3, 3), rule=3, n_init=1, random_state=0),
        GridSynopsis(n_clusters=3, epsilon=1e4, bounds=(-3, 3), rule=3, random_state=0),
        KMeans(n_clusters=3, epsilon=1e4, bounds=(-3, 3), n_init=2, random_state=0),
    ],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
def test_scikit_learn_has_no_objection(estimator, check):
    check(estimator)


@pytest.mark.slow
@silent
@parametrize_with_checks(
    [
        CoresetKMeans(n_clusters=3, epsilon=1e4, bounds=(-3, 3), min_rows_per_leaf=2, n_init=1, random_state=0),
        LloydKMeans(n_clusters=3, epsilon=1e4, bounds=(-3, 3), random_state=0),
        FastLloyd(n_clusters=3, epsilon=1e4, bounds=(-3, 3), random_state=0),
        TreeKMeans(n_clusters=3, epsilon=1e4, bounds=(-3, 3), n_swaps=6, random_state=0),
    ],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
def test_scikit_learn_has_no_objection_to_the_rivals(estimator, check):
    check(estimator)
