# SPDX-License-Identifier: Apache-2.0
"""One small checker per kind of rule: what it takes, what it refuses, and in which words."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from cloister import validate
from cloister.exceptions import ParameterError


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3)])
def test_integers_of_any_kind_become_python_integers(value):
    assert validate.integer("Owner.name", value, low=1) == 3
    assert type(validate.integer("Owner.name", value, low=1)) is int


@pytest.mark.parametrize("value", [0, -1, 2.0, 2.5, "2", None, True, math.nan, np.float64(2), [2], 11, np.timedelta64(3, "s")])
def test_what_is_no_integer_in_range_is_refused(value):
    with pytest.raises(ParameterError, match=r"Owner\.name: expected an integer from 1 to 10, got .*\. Pass an integer"):
        validate.integer("Owner.name", value, low=1, high=10)


@pytest.mark.parametrize("value", [0.5, np.float32(0.5), Fraction(1, 2)])
def test_real_numbers_become_floats(value):
    assert validate.number("Owner.name", value, low=0.0) == 0.5
    assert type(validate.number("Owner.name", value)) is float


NO_NUMBERS = [0, 1, -1, math.nan, math.inf, "0.5", None, True, 1j, Decimal("0.5"), 10**400, [0.5], np.timedelta64(1, "s")]


@pytest.mark.parametrize("value", NO_NUMBERS)
def test_what_is_no_number_in_range_is_refused(value):
    with pytest.raises(ParameterError, match=r"Owner\.name: expected a finite number above 0 and below 1, got .*\. Pass"):
        validate.number("Owner.name", value, low=0.0, high=1.0, open_low=True, open_high=True)


def test_closed_ends_belong_to_the_range_and_without_ends_a_number_only_has_to_be_finite():
    assert validate.number("Owner.name", 0, low=0.0, high=1.0) == 0.0
    assert validate.number("Owner.name", 1, low=0.0, high=1.0) == 1.0
    assert validate.number("Owner.name", -1e300) == -1e300
    with pytest.raises(ParameterError, match=r"expected a finite number, got nan"):
        validate.number("Owner.name", math.nan)


@pytest.mark.parametrize("value", ["c", None, 1, ["a"], b"a"])
def test_only_the_allowed_words_pass(value):
    assert validate.one_of("Owner.name", "a", ("b", "a")) == "a"
    with pytest.raises(ParameterError, match=r"Owner\.name: expected one of 'a', 'b', got .*\. Pass one of these words"):
        validate.one_of("Owner.name", value, ("b", "a"))


@pytest.mark.parametrize("value", [(1, 2), [1, 2], np.array([1, 2]), range(1, 3), (number for number in (1, 2))])
def test_a_series_of_any_kind_becomes_a_list(value):
    assert validate.items("Owner.name", value, rule="a list", remedy="Pass a list.") == [1, 2]


@pytest.mark.parametrize("value", [None, 1, "12", b"12", {1: 2}, np.array(1), int])
def test_what_is_no_series_is_refused(value):
    with pytest.raises(ParameterError, match=r"Owner\.name: expected a list, got .*\. Pass a list\."):
        validate.items("Owner.name", value, rule="a list", remedy="Pass a list.")


@pytest.mark.parametrize("value", ["b", None, b"a", np.array(["a"]), np.array([])])
def test_a_word_is_that_word_and_nothing_else(value):
    assert validate.is_word("a", "a")
    assert validate.is_word(value, "a") is False


@pytest.mark.parametrize("value", [0, 1, None, "True", np.array(True)])
def test_only_truth_values_are_truth_values(value):
    assert validate.boolean("Owner.name", True) is True
    with pytest.raises(ParameterError, match=r"Owner\.name: expected True or False, got"):
        validate.boolean("Owner.name", value)


def test_a_value_that_cannot_be_written_is_named_by_its_type_and_a_long_one_is_shortened():
    with pytest.raises(ParameterError, match=r"expected an integer from 1 to 10, got a value of type int\. Pass"):
        validate.integer("Owner.name", 10**5000, low=1, high=10)  # more digits than Python writes
    with pytest.raises(ParameterError, match=r"^.{,200}$"):
        validate.integer("Owner.name", list(range(10_000)), low=0)
