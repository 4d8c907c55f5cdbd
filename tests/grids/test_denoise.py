# SPDX-License-Identifier: Apache-2.0
"""From noisy counts to weights: the projection is the nearest point that it claims to be."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cloister.algorithms import denoise_counts, project_to_total
from cloister.exceptions import ParameterError

COUNTS = hnp.arrays(np.float64, hnp.array_shapes(min_dims=1, max_dims=3, max_side=5), elements=st.floats(-1000, 1000))


@settings(deadline=None)
@given(values=COUNTS, total=st.floats(0, 5000))
def test_the_projection_is_the_nearest_point(values, total):
    found = project_to_total(values, total)
    assert found.shape == values.shape
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(total, rel=1e-9, abs=1e-6)
    # The conditions of Karush, Kuhn and Tucker: what is kept moved by one amount, what was cut would have moved no further.
    shift = values - found
    if total > 1e-3:
        kept = found > 0
        assert np.ptp(shift[kept]) <= 1e-6
        assert (values[~kept] <= shift[kept].max() + 1e-6).all()


def test_a_sum_that_is_nothing_beside_a_value_is_kept():
    assert project_to_total(np.array([2.0**63, 3.0, 2.0**63]), 5.0).tolist() == [2.5, 0, 2.5]


@given(values=COUNTS)
def test_totals_that_are_no_number_of_rows_leave_nothing(values):
    for total in (0.0, -7.0):
        assert denoise_counts(values, "nonnegative-total", total=total).sum() == pytest.approx(0.0, abs=1e-9)


@given(values=COUNTS, total=st.floats(0, 100))
def test_clip_and_none(values, total):
    assert np.array_equal(denoise_counts(values, "clip", total=total), np.maximum(values, 0))
    assert np.array_equal(denoise_counts(values, "none", total=total), values)


def test_other_rules_are_refused():
    with pytest.raises(ParameterError, match="counts: expected one of 'clip', 'none', 'nonnegative-total', got 'round'"):
        denoise_counts(np.ones(3), "round", total=3)
