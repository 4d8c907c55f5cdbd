# SPDX-License-Identifier: Apache-2.0
"""What the matrix in docs/methods.md says of every method: each claim is tried, and so is each claim that is not made."""

import pytest

from cloister.audit import AUDIT_ENGINES
from cloister.engines import ENGINES
from cloister.exceptions import DataError, ParameterError
from cloister.methods import FEATURES, GUARANTEES, METHODS

from . import _cases
from ._cases import PLAIN
from ._features import TRIALS, Trial

REFUSED = (ParameterError, DataError, AttributeError, TypeError)  # the last two where there is no such method or parameter


def trials(*, offered):
    """Return pairs of a method and a feature that it offers, or does not."""
    pairs = [(case, feature) for case in PLAIN for feature in FEATURES if (feature in case.method.offers) is offered]
    return [pytest.param(case, feature, id=f"{case}, {feature}") for case, feature in pairs]


def test_every_claim_is_about_a_feature():
    for method in METHODS.values():
        assert [one for one in FEATURES if one in method.offers] == list(method.offers)
        assert method.finds_number <= ("choose_k" in method.offers), "whoever finds the number of clusters says so"


@pytest.mark.fast("KMeans, *", "GridSynopsis, *", "SourceTargetKMedoids, persons")
@pytest.mark.parametrize(("case", "feature"), trials(offered=True))
def test_what_a_method_offers_works(case, feature, tmp_path):
    TRIALS[feature](Trial(case, tmp_path))


@pytest.mark.parametrize(("case", "feature"), trials(offered=False))
def test_what_it_does_not_offer_does_not(case, feature, tmp_path):
    with pytest.raises(AssertionError if feature == "errors" else REFUSED):  # other errors are stated by every release
        TRIALS[feature](Trial(case, tmp_path))


def test_every_guarantee_and_every_engine_is_tried_with_every_method():
    """In test_budgets.py and in test_engines.py, by these lists."""
    assert set(_cases.GUARANTEES) == set(GUARANTEES)
    assert set(ENGINES) <= set(AUDIT_ENGINES)
    assert all(method.guarantees == GUARANTEES for method in METHODS.values())
