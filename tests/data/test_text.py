# SPDX-License-Identifier: Apache-2.0
"""One cell of text makes a column of text in memory: its numbers are read value by value, as those of a CSV file."""

import io
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from tests.optional import da, dask, dd, without_missing
from tests.rows import read

from cloister import KMeans, PrivateScaler, open_rows
from cloister.columns import Date, Number
from cloister.exceptions import DataError

pytestmark = pytest.mark.both_suites  # tables of Dask are among them where it is installed

CANARY = "SECRET-77.123456789"
WORDS = ["0.5", "1", " 0.25 ", "-3e1", "", "nan", "inf", "-Infinity", "1_0", "0,5", CANARY, "1e400"]
BESIDE = [float(number) for number in range(len(WORDS))]


def as_csv():
    return io.StringIO("".join(f'"{word}",{number}\n' for word, number in zip(["a", *WORDS], ["b", *BESIDE], strict=True)))


def frame():
    """Return what pandas makes of a file with one cell that is no number."""
    return pd.read_csv(as_csv(), keep_default_na=False)


def wide(kind):
    return np.array([[word, str(number)] for word, number in zip(WORDS, BESIDE, strict=True)]).astype(kind)


def in_dask(kind):
    with dask.config.set({"dataframe.convert-string": kind == "string"}):
        return dd.from_pandas(frame().astype({"a": object}), npartitions=3)


NAMED = {
    "read_csv": frame,
    "string": lambda: frame().astype({"a": "string"}),
    "objects": lambda: frame().astype({"a": object}),
    "arrow-backed": lambda: frame().astype({"a": pd.ArrowDtype(pa.string())}),
    "arrow": lambda: pa.table({"a": WORDS, "b": BESIDE}),
    "large": lambda: pa.table({"a": pa.array(WORDS, pa.large_string()), "b": BESIDE}),
    "dictionary": lambda: pa.table({"a": pa.array(WORDS).dictionary_encode(), "b": BESIDE}),
    "polars": lambda: pl.DataFrame({"a": WORDS, "b": BESIDE}),
    "dask-string": lambda: in_dask("string"),
    "dask-object": lambda: in_dask("object"),
}
NAMELESS = {
    "text": lambda: wide("U"),
    "bytes": lambda: wide("S"),
    "StringDType": lambda: wide(np.dtypes.StringDType()),
    "masked": lambda: np.ma.masked_array(wide("U"), mask=False),
    "objects": lambda: wide("O"),
    "lists": lambda: wide("U").tolist(),
    "dask-array": lambda: da.from_array(wide("U"), chunks=(4, 1)),
}
COLUMNS = {"undeclared": None, "named": ["a", "b"], "declared": {"a": Number(0, 1), "b": Number(0, 9)}}


def expected():
    def number(word):
        try:
            return float(word)
        except ValueError:
            return math.nan

    return np.array([[number(word), beside] for word, beside in zip(WORDS, BESIDE, strict=True)])


@pytest.mark.parametrize("columns", COLUMNS)
def test_a_column_of_text_is_read_value_by_value(columns):
    for name, make in without_missing(NAMED).items():
        assert np.array_equal(read(make(), COLUMNS[columns]), expected(), equal_nan=True), name


def test_an_array_of_text_is_read_value_by_value():
    for name, make in without_missing(NAMELESS).items():
        assert np.array_equal(read(make()), expected(), equal_nan=True), name


def test_a_csv_file_is_read_alike(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(as_csv().getvalue())
    assert np.array_equal(read(path), expected(), equal_nan=True)


@pytest.mark.parametrize("name", ["read_csv", "arrow", "polars", "bytes", "lists"])
def test_one_cell_decides_no_error(name):
    # All is done as it would be without the cell: fits of all kinds, labels, the scaler, ids of text.
    data, n_rows = {**NAMELESS, **NAMED}[name](), len(WORDS)
    model = KMeans(2, epsilon=5.0, bounds=[(0, 1), (0, 9)], random_state=0).fit(data)
    if name in NAMED:
        KMeans(2, epsilon=5.0, bounds={"a": (0, 1), "b": (0, 9)}, random_state=0).fit(data)
        KMeans(2, epsilon=5.0, bounds={"b": (0, 9)}, privacy_unit="a", random_state=0).fit(data)
    assert model.predict(data).shape == model.release_.predict(data).shape == model.labels_.shape == (n_rows,)
    assert model.transform(data).shape == (n_rows, 2)
    assert PrivateScaler(epsilon=5.0, bounds=[(0, 1), (0, 9)], random_state=0).fit(data).transform(data).shape == (n_rows, 2)
    KMeans(2, epsilon=5.0, bounds=(0, 1), random_state=0).fit(np.ones((n_rows, 2)), privacy_unit=WORDS)


def test_a_model_of_numbers_takes_a_column_of_text():
    numbers = pd.DataFrame({"a": [0.5] * 9, "b": [1.0] * 9})
    model = KMeans(2, epsilon=5.0, bounds=(0, 9), random_state=0).fit(numbers)
    assert model.predict(frame()).shape == (len(WORDS),)


def test_a_column_of_dates_may_be_nothing_but_gaps():
    # pandas holds such a column as floats, and one with a single date as text.
    gaps, one = (pd.DataFrame({"when": [np.nan, cell]}) for cell in (np.nan, "2020-01-02"))
    columns = {"when": Date("2020-01-01", "2021-01-01")}
    assert np.isnan(read(gaps, columns)).all()
    assert np.isnan(read(one, columns)).tolist() == [[True], [False]]


def test_text_in_a_file_with_a_schema_is_refused_by_name(tmp_path):
    # What its columns hold is public. No cell is quoted.
    path = tmp_path / "rows.parquet"
    pa.parquet.write_table(pa.table({"a": WORDS, "b": BESIDE}), path)
    with pytest.raises(DataError, match=r"expected numbers in column 'a', got string") as caught:
        open_rows(path)
    assert CANARY not in str(caught.value)
    assert np.array_equal(read(path, COLUMNS["declared"]), expected(), equal_nan=True)
