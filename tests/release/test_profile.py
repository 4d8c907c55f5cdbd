# SPDX-License-Identifier: Apache-2.0
"""Centres in the columns' own words, as plain data and as data frames; labels of the original table."""

import builtins
import dataclasses
import json
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from tests.releases import COLUMNS, LABELS, PEOPLE, declared_release

from cloister import Box, Release, load_release
from cloister.columns import Date, Table
from cloister.exceptions import DataError, ParameterError


@pytest.fixture
def release() -> Release:
    return declared_release()


def test_each_column_is_told_in_its_own_words(release: Release) -> None:
    first, second = release.profile()
    assert first["label"] == 0
    assert (first["rows"], first["rows_error"]) == (1200.0, 10.0)
    assert list(first["columns"]) == list(COLUMNS)
    assert first["columns"] == {
        "age": {"type": "number", "value": 30.25, "error": 0.5},
        "glucose": {"type": "number", "value": 90.5, "error": 2.0, "missing": [0.125, 0.01]},
        "sex": {"type": "category", "shares": {"f": [0.62, 0.01], "m": [0.38, 0.01]}},
        "ward": {
            "type": "category",
            "shares": {"north": [0.5, 0.02], "south": [0.25, 0.02], "3": [0.125, 0.02]},
            "missing": [0.125, 0.02],
        },
        "smoker": {"type": "flag", "share": 0.34, "error": 0.01},
        "admitted": {"type": "date", "value": "2021-03-04", "error_days": 3.5},
    }
    assert second["columns"]["admitted"]["value"] == "2025-06-07"


def test_numbers_of_a_box_are_told_too(release: Release) -> None:
    plain = dataclasses.replace(
        release,
        domain=Box([0, 0], [120, 400]),
        cluster_centers=release.cluster_centers[:, :2],
        center_errors=release.center_errors[:, :2],
        feature_names=None,
        cells=None,
    )
    assert plain.profile()[0]["columns"] == {
        "x0": {"type": "number", "value": 30.25, "error": 0.5},
        "x1": {"type": "number", "value": 90.5, "error": 2.0},
    }
    assert list(plain.to_frame().columns)[3:] == ["stands_out", "x0", "x0_error", "x1", "x1_error"]


@pytest.mark.parametrize(
    ("low", "high", "days", "told"),
    [
        ("2020-01-01", "2026-12-31", 20000.4, "2024-10-04"),
        ("2020-01-01", "2026-12-31", 20000.6, "2024-10-05"),
        ("2024-10-04T08:00:00", "2024-10-04T20:00:00", 20000.5, "2024-10-04T12:00:00"),
        ("0001-01-01", "9999-12-31", -719162.0, "0001-01-01"),
        ("0001-01-01", "9999-12-31", 2932896.0, "9999-12-31"),
    ],
)
def test_dates_are_days_unless_the_bounds_are_times(low: str, high: str, days: float, told: str) -> None:
    given = {"cells": None, "cluster_counts": np.ones(1), "count_errors": np.ones(1), "center_errors": np.ones((1, 1))}
    domain = Table((Date(low, high),))
    release = declared_release(("day",), domain=domain, cluster_centers=np.array([[days]]), **given)
    assert release.profile()[0]["columns"]["day"]["value"] == told
    assert str(release.to_frame()["day"][0]).replace(" ", "T").removesuffix("T00:00:00") == told
    assert release.to_frame("polars")["day"][0].isoformat().removesuffix("+00:00") == told


# -- frames --------------------------------------------------------------------------------------------------------------

HEADS = [
    *("label", "rows", "rows_error", "stands_out", "age", "age_error", "glucose", "glucose_error"),
    *("glucose is missing", "glucose is missing_error", "sex=f", "sex=f_error", "sex=m", "sex=m_error"),
    *("ward=north", "ward=north_error", "ward=south", "ward=south_error", "ward=3", "ward=3_error"),
    *("ward=(missing)", "ward=(missing)_error", "smoker", "smoker_error", "admitted", "admitted_error"),
]


def test_a_frame_has_one_line_per_cluster(release: Release) -> None:
    frame = release.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == HEADS
    assert frame["label"].tolist() == [0, 1]
    assert frame["sex=m"].tolist() == [0.38, 0.9]
    assert frame["admitted"].dt.strftime("%Y-%m-%d").tolist() == ["2021-03-04", "2025-06-07"]
    assert frame["admitted_error"].tolist() == [3.5, 3.5]
    same = release.to_frame("polars")
    assert isinstance(same, pl.DataFrame)
    assert (same.columns, same["age"].to_list()) == (HEADS, frame["age"].tolist())
    assert same["admitted"].to_list() == [date(2021, 3, 4), date(2025, 6, 7)]


def test_a_name_that_is_taken_gets_an_underscore() -> None:
    columns = ("label", "rows", "a", "a_error", "smoker", "label_error")
    frame = declared_release(columns).to_frame()
    assert len(set(frame.columns)) == len(HEADS)
    assert frame["label"].tolist() == [0, 1]
    assert frame["label_"].tolist() == [30.25, 70.0]


def test_a_library_that_is_missing_or_unknown_is_named(release: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name in ("pandas", "polars"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    for library in ("pandas", "polars"):
        with pytest.raises(ParameterError, match=rf"got '{library}'\. Run 'pip install {library}', or use Release\.profile"):
            release.to_frame(library)
    with pytest.raises(ParameterError, match=r"Release\.to_frame: expected one of 'pandas', 'polars', got 'excel'"):
        release.to_frame("excel")


# -- labels of the original table ------------------------------------------------------------------------------------------


def raw_rows() -> np.ndarray:
    """Return the people as readers deliver them."""
    nan = float("nan")
    days = [18690.0, 20249.0, nan, 20246.0]
    return np.array(
        [[29, 88, 0, 0, 0, days[0]], [71, 190, 1, 2, 1, days[1]], [33, nan, 0, 1, 0, days[2]], [nan, 175, 1, -1, nan, days[3]]]
    )


def test_the_original_table_is_labelled(release: Release, tmp_path: Path) -> None:
    arrow = pa.table(PEOPLE)
    arrow.to_pandas().to_csv(tmp_path / "people.csv", index=False)
    pa.parquet.write_table(arrow, tmp_path / "people.parquet")
    tables = [arrow, arrow.to_pandas(), pd.DataFrame(PEOPLE), pl.DataFrame(arrow), raw_rows()]
    tables += [tmp_path / "people.parquet", str(tmp_path / "people.parquet"), tmp_path / "people.csv"]
    for table in tables:
        assert release.predict(table).tolist() == LABELS, type(table)
    release.save(tmp_path / "release.json")
    again = load_release(tmp_path / "release.json")
    assert again.predict(pd.DataFrame(PEOPLE)).tolist() == LABELS
    assert json.loads(json.dumps(release.profile())) == release.profile() == again.profile()
    assert again.to_dict() == release.to_dict()


def test_other_tables_are_refused(release: Release) -> None:
    with pytest.raises(DataError, match=r"Release\.predict: column 'age' is not in the table"):
        release.predict(pd.DataFrame(PEOPLE).drop(columns="age"))
    with pytest.raises(DataError, match=r"Release\.predict: expected a table with column names"):
        release.predict([[1.0, 2.0]])
    with pytest.raises(DataError, match="expected what can be read as a date in column 'admitted'"):
        release.predict(pd.DataFrame(PEOPLE).assign(admitted=[1, 2, 3, 4]))


def test_a_box_takes_its_columns_by_name_from_a_frame() -> None:
    centers, errors = np.array([[0.1, 1.0], [0.9, 9.0]]), np.ones((2, 2))
    given = {"domain": Box([0, 0], [1, 10]), "cells": None, "cluster_centers": centers, "center_errors": errors}
    release = declared_release(("n", "c"), **given)
    assert release.predict(pd.DataFrame({"id": [7, 8], "c": [8, 2], "n": [0.8, 0.2]})).tolist() == [1, 0]
    assert release.predict(np.array([[0.8, 8], [0.2, 2]])).tolist() == [1, 0]
    nameless = dataclasses.replace(release, feature_names=None)
    assert nameless.predict(np.array([[0.8, 8], [0.2, 2]])).tolist() == [1, 0]
