# SPDX-License-Identifier: Apache-2.0
"""Tables of declared columns, from the estimator to the release: what is read, told and refused."""

import numpy as np
import pandas as pd
import pytest

from cloister import Category, Date, Flag, GridKMeans, GridSynopsis, KMeans, Number, load_release, load_synopsis, open_rows
from cloister.exceptions import DataError, ParameterError

N_ROWS = 4000
MIXED = {"x": (0, 100), "c": Category([1, 2, 3])}


@pytest.fixture
def table(generator):
    late = generator.random(N_ROWS) < 0.5
    return pd.DataFrame(
        {
            "x": generator.normal(50, 10, N_ROWS),
            "c": generator.integers(1, 4, N_ROWS),
            "day": pd.Timestamp("2021-01-01") + pd.to_timedelta(np.where(late, 10, 900), unit="D"),
            "flag": generator.random(N_ROWS) < 0.3,
        }
    )


@pytest.mark.parametrize("declared", [Category([1, 2, 3]), Flag(), Date("2020-01-01", "2021-01-01")])
def test_a_list_of_bounds_is_for_numbers(declared, table):
    with pytest.raises(ParameterError, match=r"KMeans.bounds: expected numbers in a list of columns, got .* Pass a mapping"):
        KMeans(1, bounds=[(0, 100), declared]).fit(table[["x", "c"]])


@pytest.mark.parametrize(
    ("columns", "bounds"),
    [
        (["x", "c"], MIXED),
        ({"x": (0, 100), "c": Category([3, 1, 2])}, MIXED),
        (MIXED, (0, 100)),
        (MIXED, {"x": (0, 100), "c": (1, 3)}),
        (["x", "c"], {"c": (1, 3), "x": (0, 100)}),
    ],
)
def test_rows_that_were_read_otherwise_are_refused(columns, bounds, table):
    with pytest.raises(DataError, match=r"expected the (declarations that open_rows was given|columns of the rows, in order)"):
        KMeans(1, bounds=bounds).fit(open_rows(table, columns))


def test_rows_that_were_read_alike_are_taken(table):
    for columns, bounds in (
        (MIXED, MIXED),
        (["x"], {"x": (0, 100)}),
        ({"x": (0, 100)}, {"x": (10, 90)}),
        ({"x": (0, 9)}, (0, 100)),
    ):
        model = KMeans(1, epsilon=4.0, bounds=bounds, random_state=0).fit(open_rows(table, columns))
        assert 40 < model.cluster_centers_[0, 0] < 60


def test_a_grid_tells_dates_and_flags_and_predicts_from_its_file(table, tmp_path):
    bounds = {"x": "private", "day": Date("2020-01-01", "2026-12-31"), "flag": Flag()}
    settings = {"epsilon": 4.0, "bounds": bounds, "rule": 6, "n_rows": N_ROWS, "random_state": 0}
    model = GridKMeans(2, **settings).fit(table)
    model.release_.save(tmp_path / "release.json", allow_seeded=True)
    again = load_release(tmp_path / "release.json")
    assert np.array_equal(model.predict(table), again.predict(table))
    assert again.domain.found == ("noise", "", "")
    told = again.profile()[0]["columns"]
    assert [told[name]["type"] for name in bounds] == ["number", "date", "flag"]
    synopsis = GridSynopsis(2, **settings).fit(table).synopsis_
    for name in ("synopsis.json", "synopsis.parquet"):
        synopsis.save(tmp_path / name, allow_seeded=True)
        read = load_synopsis(tmp_path / name)
        assert read.domain.found == ("noise", "", "")
        assert read.cut(2, random_state=0).profile()[0]["columns"]["day"]["type"] == "date"
        assert read.marginal(["flag", "x"]).domain.columns[0] == Flag()


def test_the_type_that_pandas_took_from_rows_decides_nothing():
    whole = pd.DataFrame({"a": [1, 2, 3]})
    gap = pd.DataFrame({"a": [1, 2, None]})
    assert whole["a"].dtype != gap["a"].dtype
    assert open_rows(whole).nullable == open_rows(gap).nullable == (True,)
    assert open_rows(whole.to_numpy()).nullable == (True,)


@pytest.mark.parametrize("missing", ["own", "mean"])
def test_errors_grow_with_what_is_missing(missing, generator):
    def error(part):
        rows = generator.normal([30.0, 50.0], 5.0, size=(20_000, 2))
        rows[generator.random(len(rows)) < part, 1] = np.nan
        bounds = {"x": (0, 100), "y": Number(0, 200, missing=missing)}
        model = KMeans(1, epsilon=1.0, bounds=bounds, random_state=0).fit(pd.DataFrame(rows, columns=["x", "y"]))
        assert abs(model.cluster_centers_[0, 1] - 50) < 6 * model.release_.center_errors[0, 1]
        return model.release_.center_errors[0, 1]

    assert error(0.9) > 3 * error(0.3)
