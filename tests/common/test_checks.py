# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's own checks, on instances with bounds and so large an epsilon that noise does not matter.

They call ``fit(X)``, so a method that needs a second table beside it is left out.
"""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from cloister import PrivateScaler

from ._cases import PLAIN

EXPECTED_FAILURES = {
    "check_estimators_empty_data_messages": "a table without rows must not raise: an error would tell that it is empty",
    "check_dtype_object": "a dict among numbers is a missing value: an error would tell that it is there",
}
# A check is about clusters that must be found: what makes a fit of this method short and no longer good is put back.
CAREFUL = {
    "KMeans": {"n_init": 2},
    "LloydKMeans": {"n_rounds": "auto"},
    "PEMeans": {"bounds": (-20, 20), "n_rounds": 3, "n_variations": 20},
}
FAST = "KMeans"
# These differ from LloydKMeans in their plan and its steps alone, which the other tests of this folder see.
ALIKE = {"FastLloyd", "CoresetKMeans", "TreeKMeans"}


def checks(*, fast):
    cases = [case for case in PLAIN if case.kind != "source-target" and case.name not in ALIKE and (case.name == FAST) == fast]
    shared = {"epsilon": 1e4, "bounds": (-3, 3), "n_jobs": None, "random_state": 0}
    models = [case.make(width=3, **{**shared, **CAREFUL.get(case.name, {})}) for case in cases]
    models += [PrivateScaler(epsilon=1e4, bounds=(-3, 3), scaling="bounds", random_state=0)] * fast
    return parametrize_with_checks(models, expected_failed_checks=lambda estimator: EXPECTED_FAILURES)


silent = pytest.mark.filterwarnings("ignore:SCIPY_ARRAY_API is not set")


@silent
@checks(fast=True)
def test_scikit_learn_has_no_objection(estimator, check):
    check(estimator)


@pytest.mark.slow
@silent
@checks(fast=False)
def test_scikit_learn_has_no_objection_to_the_others(estimator, check):
    check(estimator)
