# SPDX-License-Identifier: Apache-2.0
"""PrivateScaler: pays, hands its bounds on, and treats every row by itself."""

import numpy as np
import pytest

from cloister import Category, Number, PrivateScaler
from cloister.exceptions import DataError, ParameterError


@pytest.fixture
def rows(generator):
    return generator.normal([10.0, 1e6, -3e-3], [2.0, 2e5, 1e-4], size=(20_000, 3))


def test_columns_of_unlike_units_come_out_alike(rows):
    scaler = PrivateScaler(epsilon=2.0, random_state=0).fit(rows)
    scaled = np.asarray(scaler.transform(rows))
    assert np.allclose(scaled.std(axis=0), 1.0, rtol=0.15)
    assert np.allclose(scaler.scale_, rows.std(axis=0), rtol=0.15)


def test_the_output_lies_in_the_bounds_that_are_handed_on(rows):
    rows[0] = [np.nan, np.inf, 1e300]
    scaler = PrivateScaler(epsilon=1.0, random_state=1).fit(rows)
    scaled = scaler.transform(rows)
    box = scaler.bounds_
    assert scaled.bounds is box
    assert ((scaled >= box.low - 1e-9) & (scaled <= box.high + 1e-9)).all()
    assert (scaled + 1).bounds is None  # lies elsewhere


def test_what_it_spends_is_no_more_than_it_was_given(rows):
    for delta in (0.0, 1e-6):
        receipt = PrivateScaler(epsilon=0.5, delta=delta, random_state=0).fit(rows).privacy_receipt_
        assert receipt.guarantee.epsilon == 0.5
        assert {event.question_name for event in receipt.events} <= {
            "row_count",
            "column_magnitudes",
            "column_intervals",
            "cell_states",
            "nearest_sums",
        }


def test_there_and_back_again(rows):
    scaler = PrivateScaler(epsilon=2.0, random_state=0).fit(rows)
    inside = rows[np.all((rows > scaler.center_ - 2 * scaler.scale_) & (rows < scaler.center_ + 2 * scaler.scale_), axis=1)]
    assert np.allclose(scaler.inverse_transform(scaler.transform(inside)), inside, rtol=1e-5)
    with pytest.raises(DataError, match="expected a table of 3 columns"):
        scaler.inverse_transform(rows[:, :2])


def test_declared_columns_are_scaled_as_distances_see_them(rows):
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"a": rows[:, 0], "sex": np.where(rows[:, 1] > 1e6, "f", "m")})
    scaler = PrivateScaler(epsilon=2.0, bounds={"a": Number("private"), "sex": Category(["f", "m"])}, random_state=0).fit(table)
    scaled = np.asarray(scaler.transform(table))
    assert scaled.shape == (len(table), 2)
    assert np.ptp(scaled[:, 1]) == pytest.approx(2.0, abs=1e-5)  # two levels lie two apart


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"scaling": "none"}, r"PrivateScaler.scaling: expected one of 'bounds', 'spread', got 'none'"),
        ({"epsilon": 0}, r"PrivateScaler.* expected"),
        ({"bounds": None}, r"PrivateScaler.bounds: expected a domain known without looking at the data, got None"),
        ({"bounds": "secret"}, r"PrivateScaler.bounds: expected a pair"),
    ],
)
def test_bad_parameters_are_refused_under_its_own_name(parameters, message, rows):
    with pytest.raises(ParameterError, match=message):
        PrivateScaler(**{"epsilon": 1.0, **parameters}).fit(rows)
