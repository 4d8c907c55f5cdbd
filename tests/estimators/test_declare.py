# SPDX-License-Identifier: Apache-2.0
"""A parameter of all estimators is declared in one class and documented in one place."""

import dataclasses
import inspect
import re

import pytest

from cloister.cluster import PrivateClusterer, PrivateEstimator, estimator
from cloister.methods import METHODS

ESTIMATORS = [method.estimator for method in METHODS.values()]
BASES = [PrivateEstimator, PrivateClusterer, *(base for base in PrivateClusterer.__mro__ if base.__name__ == "ScaledEstimator")]
READERS = [base for base in PrivateEstimator.__mro__ if base.__name__ == "PersonParameters"]  # read parameters, declare none
OWN_DEFAULT = {"delta"}  # a method that is pure by nature has another default


def shared():
    return [name for base in BASES for name in vars(base).get("__annotations__", {}) if not name.startswith("_")]


@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_no_estimator_declares_again_what_all_have(kind):
    own = {name for base in kind.__mro__ if base not in BASES + READERS for name in vars(base).get("__annotations__", {})}
    assert own & set(shared()) <= OWN_DEFAULT
    assert "__init__" not in inspect.getsource(kind), "the constructor is written from the fields"


@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_docstrings_are_complete_and_refer_to_no_other_class(kind):
    doc = inspect.getdoc(kind)
    assert "As for" not in doc
    for name in (*inspect.signature(kind).parameters, "plan_", "privacy_receipt_", "n_features_in_"):
        assert len(re.findall(rf"^(?:\w+, )*{name}(?:, \w+)* : ", doc, flags=re.M)) == 1, name


def test_an_option_for_all_is_one_field_and_one_entry():
    @estimator
    class Base(PrivateClusterer):
        """Base of some estimators.

        Parameters
        ----------
        note : str, default="none"
            Kept with the release.
        """

        note: str = "none"

    @estimator
    class Method(Base):
        """A method.

        Parameters
        ----------
        n_rounds : int, default=3
            Of its own.
        """

        n_rounds: int = 3
        note: str = "other"

    assert Method(4, note="mine").get_params()["note"] == "mine"
    assert Method().n_rounds == 3
    assert 'note : str, default="other"\n    Kept with the release.\nn_rounds' in inspect.getdoc(Method)
    assert [field.name for field in dataclasses.fields(Method)][-2:] == ["note", "n_rounds"]


def test_a_docstring_without_sections_stays_as_it_is():
    @estimator
    class Bare(PrivateClusterer):
        """Nothing to add to."""

    assert inspect.cleandoc(Bare.__doc__) == "Nothing to add to."
