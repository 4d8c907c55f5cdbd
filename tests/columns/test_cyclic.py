# SPDX-License-Identifier: Apache-2.0
"""Columns on a circle: the first value follows the last one, in distances, histograms, words and files."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from cloister import KMeans, PointSynopsis, Release, json_schema
from cloister.cli._bounds import read_bounds
from cloister.columns import Cyclic, Number, Table, declare_columns, domain_from_dict
from cloister.data import open_rows
from cloister.exceptions import DataError, ParameterError
from cloister.release import ColumnProfile, column_words
from cloister.report import write_report

CLOCK = Cyclic(24)


def patients(generator, n_rows=2000):
    """Two groups: one of the night, around a quarter past midnight, one of the morning; some without an hour."""
    hour = np.concatenate([generator.normal(0.25, 0.5, n_rows), generator.normal(10, 0.5, n_rows)]) % 24
    hour[::9] = np.nan
    return pd.DataFrame({"hour": hour, "age": np.repeat([30.0, 60.0], n_rows)})


def place(value, **options):
    frame = Table((Cyclic(24, **options),)).frame()
    return frame.clean([[value]])[0] * frame.distance_unit


@given(st.floats(-1e6, 1e6), st.integers(-5, 5))
def test_values_that_differ_by_a_period_are_one(value, turns):
    assert np.allclose(place(value), place(value + 24 * turns), atol=1e-5)


def test_opposite_values_and_a_place_of_its_own_lie_as_far_apart_as_the_ends_of_a_number_times_the_weights():
    for weight in (0.5, 1.0, 3.0):
        assert np.linalg.norm(place(5, weight=weight) - place(17, weight=weight)) == pytest.approx(2 * weight, rel=1e-5)
    assert np.linalg.norm(place(23.9) - place(0.1)) == pytest.approx(2 * math.sin(math.pi * 0.2 / 24), rel=1e-4)
    frame = Table((CLOCK, Number(0, 10))).frame(scaling="none")
    one, other = frame.clean([[0.05, 5.0], [23.95, 5.0]]) * frame.distance_unit
    assert np.linalg.norm(one - other) == pytest.approx(0.1, rel=1e-3)  # in their own units, as they differ
    gone = place(math.nan, missing="own")
    assert [np.linalg.norm(gone - place(hour, missing="own")) for hour in range(24)] == pytest.approx([2.0] * 24, rel=1e-5)


def test_tables_of_every_form_are_read_modulo_the_period(tmp_path):
    frame = pd.DataFrame({"hour": [25.0, -1.0, 12.0, np.inf, np.nan]})
    frame.to_csv(tmp_path / "hours.csv", index=False)
    frame.to_parquet(tmp_path / "hours.parquet")
    words = pd.DataFrame({"hour": ["25", " 23", "12.0", "noon", ""]})
    for table in (frame, words, tmp_path / "hours.csv", tmp_path / "hours.parquet"):
        hours = np.concatenate(list(open_rows(table, {"hour": CLOCK}).blocks()))[:, 0]
        assert hours.tolist() == pytest.approx([1, 23, 12, np.nan, np.nan], nan_ok=True)


def test_arrays_times_and_a_period_that_is_not_positive_are_refused():
    with pytest.raises(ParameterError, match=r"expected numbers in a list of columns, got Cyclic\(24.0\)"):
        KMeans(2, bounds=[CLOCK, (0, 1)]).fit(np.zeros((9, 2)))
    with pytest.raises(DataError, match="expected what can be read as a cyclic in column 'hour'"):
        open_rows(pd.DataFrame({"hour": pd.to_datetime(["2020-01-01"])}), {"hour": CLOCK})
    with pytest.raises(ParameterError, match=r"^Cyclic.period: expected .* of at least 1e-100 .* such as 24 for hours"):
        Cyclic(0)


@pytest.mark.parametrize("missing", ["mean", "own"])
def test_a_fit_tells_hours_across_midnight(missing, generator, tmp_path):
    table = patients(generator)
    bounds = {"hour": Cyclic(24, missing=missing), "age": (0, 120)}
    model = KMeans(2, epsilon=50.0, bounds=bounds, describe=0.3, random_state=0).fit(table)
    release = model.release_
    night, morning = sorted(release.profile(), key=lambda one: one["columns"]["age"]["value"])
    assert (night["columns"]["hour"]["value"] + 12) % 24 == pytest.approx(12.25, abs=0.3)
    assert morning["columns"]["hour"]["value"] == pytest.approx(10, abs=0.3)
    mean = night["distributions"]["hour"]["mean"]
    assert (mean + 12) % 24 == pytest.approx(12.25, abs=0.3)
    assert night["distributions"]["hour"]["spread"] < 1
    assert release.columns[:2] == ("hour (cos)", "hour (sin)")
    frame = release.to_frame()
    assert {"hour", "hour_error", "hour (cos)", "hour_spread"} <= set(frame.columns)
    labels = release.predict(table)
    known = table["hour"].notna().to_numpy()
    assert len(set(labels[:2000][known[:2000]])) == len(set(labels[2000:][known[2000:]])) == 1
    again = Release.from_dict(json.loads(release.to_json()))
    assert again.to_json() == release.to_json()
    assert (again.predict(table) == labels).all()
    Draft202012Validator(json_schema("release")).validate(json.loads(release.to_json()))
    write_report(release, tmp_path / "report.html", allow_seeded=True)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "0 to 24, a circle" in page
    assert "nan" not in page.lower().replace("financ", "")


def test_a_synopsis_draws_hours(generator):
    synopsis = PointSynopsis(epsilon=20.0, bounds={"hour": CLOCK, "age": (0, 120)}, random_state=0).fit(patients(generator))
    hours = synopsis.synopsis_.sample_table(2000, random_state=0)["hour"].to_numpy()
    assert ((hours >= 0) & (hours < 24)).all()
    assert np.mean(np.abs((hours + 12) % 24 - 12.25) < 3) > 0.3
    Draft202012Validator(json_schema("synopsis")).validate(synopsis.synopsis_.to_dict())


def test_a_centre_in_the_middle_of_the_circle_has_no_preferred_value():
    told = CLOCK.told([0.01, -0.02], [0.01, 0.01])
    assert (told["value"], told["error"]) == (None, None)
    assert column_words(told) == "no preferred value"
    assert column_words(CLOCK.told([-0.9, 0.0], [0.01, 0.01])) == "12.000 ± 0.042"
    values, errors = CLOCK.on_axis(np.array([[0.0, 1.0], [0.02, 0.0]]), np.full((2, 2), 0.01))
    assert values.tolist() == pytest.approx([6, np.nan], nan_ok=True)
    assert errors[0] == pytest.approx(0.01 * 24 / (2 * math.pi))


@given(st.integers(0, 23))
def test_histograms_do_not_depend_on_where_the_circle_is_cut(turn):
    counts = np.zeros(24)
    counts[[22, 23, 0, 1, 2]] = [100, 200, 400, 200, 100]
    profile = ColumnProfile(
        name="hour", kind="cyclic", edges=np.arange(25), noisy_counts=[[*np.roll(counts, turn), 0.0]], sigma=1.0
    )
    assert (profile.mean().value[0] - turn) % 24 == pytest.approx(0.5, abs=0.01)
    assert profile.spread().value[0] == pytest.approx(math.sqrt(1.2), abs=0.1)
    low, middle, high = ((profile.quantiles().value[0] - turn - 0.5 + 12) % 24 - 12).tolist()
    assert middle == pytest.approx(0, abs=0.01)
    assert -2 < low < 0 < high < 2


def test_files_and_the_command_line_name_it():
    assert declare_columns("bounds", {"hour": {"type": "cyclic", "period": 24, "missing": 30}})["hour"] == Cyclic(24, missing=6)
    assert read_bounds(["hour=cyclic:24, age=0:120"]).named == {"hour": CLOCK, "age": (0.0, 120.0)}
    domain = Table((Cyclic(360, missing="own", weight=2), Number(0, 1)))
    assert domain_from_dict(json.loads(json.dumps(domain.to_dict()))).columns == domain.columns
    with pytest.raises(ParameterError, match=r"expected hour=cyclic:PERIOD, got 2 values"):
        read_bounds(["hour=cyclic:24:3"])
