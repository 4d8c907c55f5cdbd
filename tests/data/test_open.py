# SPDX-License-Identifier: Apache-2.0
"""``open_rows``: what it opens, what it refuses, and that neither a message nor an error depends on the value of a row."""

import pathlib

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from scipy import sparse
from tests.rows import count, read

from cloister import open_rows
from cloister.exceptions import DataError, ParameterError

CANARY = "77.123456789"


# -- types and shapes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (np.array([[1j]]), "expected real numbers, got complex ones"),
        (np.array([["2020-01-01"]], dtype="datetime64[D]"), "expected numbers, got dtype datetime64"),
        (np.zeros(3, dtype=[("a", float)])[:, None], "expected numbers, got dtype"),
        ([1.0, 2.0], r"expected a 2-d table, got 1 dimension\(s\)\. Reshape your data"),
        (3.0, r"expected a 2-d table, got 0 dimension"),
        (np.zeros((2, 2, 2)), r"expected a 2-d table, got 3 dimension"),
        (np.zeros((5, 0)), r"0 feature\(s\)"),
        ([], r"expected a 2-d table, got 1 dimension"),
        ([[], []], r"0 feature\(s\)"),
        (["1.5", "2.5"], r"expected a 2-d table, got 1 dimension"),
        ([{"a": 1}], r"expected a 2-d table, got 1 dimension"),
        ("1.5,2.5", r"there is no file"),
        ({"a": [1]}, r"expected a 2-d table, got 0 dimension"),
        (None, r"expected a 2-d table, got 0 dimension"),
        (sparse.csr_array(np.eye(3)), "expected a dense table, got a sparse matrix"),
        (sparse.eye(3), "expected a dense table, got a sparse matrix"),
        (pd.Series([1.0]), "expected columns of numbers|expected a 2-d table"),
        (pl.Series([1.0]), "expected columns of numbers|expected a 2-d table"),
        (pa.array([1.0]), "expected columns of numbers"),
        (pd.DataFrame(), r"0 feature\(s\)"),
        (pl.DataFrame(), r"0 feature\(s\)"),
    ],
)
def test_what_is_no_table_of_numbers_is_refused(data, message):
    with pytest.raises(DataError, match=f"open_rows: {message}|open_rows: .*{message}"):
        open_rows(data)


@pytest.mark.parametrize(
    "kind",
    ["datetime64[ns]", "timedelta64[ns]", "datetime64[ns, UTC]", "complex128", "category", "Sparse[float64]", "period[D]"]
    + [pd.ArrowDtype(kind) for kind in (pa.list_(pa.int64()), pa.date32())],
)
def test_columns_of_other_types_are_refused_by_name(kind):
    with pytest.raises(DataError, match=r"expected numbers in column 'when', got"):
        open_rows(pd.DataFrame({"age": pd.Series([], dtype=float), "when": pd.Series([], dtype=kind)}))


def test_missing_and_repeated_columns_are_refused_by_name():
    frame = pd.DataFrame([[1.0, 2.0]], columns=["a", "b"])
    for data in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        with pytest.raises(DataError, match=r"column 'c' is not in the table\. The columns are: a, b"):
            open_rows(data, columns=["a", "c"])
        with pytest.raises(DataError, match=r"expected every column once, got one twice"):
            open_rows(data, columns=["a", "a"])
        with pytest.raises(DataError, match=r"0 feature\(s\)"):
            open_rows(data, columns=[])
        with pytest.raises(ParameterError, match=r"open_rows\.columns: expected a list of column names, got 'ab'"):
            open_rows(data, columns="ab")
    twice = pd.DataFrame([[1.0, 2.0, 3.0]], columns=["a", "a", "b"])
    for data in (twice, pa.Table.from_arrays([pa.array([1.0])] * 3, names=["a", "a", "b"])):
        with pytest.raises(DataError, match=r"column 'a' occurs 2 times"):
            open_rows(data)
        assert open_rows(data, columns=["b"]).n_features == 1


def test_columns_need_names():
    with pytest.raises(ParameterError, match=r"open_rows\.columns: expected None for a table without column names"):
        open_rows(np.eye(2), columns=["a"])
    with pytest.raises(ParameterError, match=r"open_rows\.columns: expected None for rows already open"):
        open_rows(open_rows(pd.DataFrame({"a": [1.0]})), columns=["a"])


@pytest.mark.parametrize("n_jobs", [0, 1.5, "all", -10_000])
def test_a_number_of_threads_that_makes_no_sense_is_refused(n_jobs):
    with pytest.raises(ParameterError, match=r"open_rows\.n_jobs: expected"):
        open_rows(np.eye(2), n_jobs=n_jobs)


@pytest.mark.parametrize("n_jobs", [None, 1, -1, 3])
def test_threads_are_counted_as_joblib_does(n_jobs):
    assert open_rows(np.eye(2), n_jobs=n_jobs).fold(count).tolist() == [2]


# -- missing values ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        [[1.0, None], [2.0, 3.0]],
        np.array([[1, None], [2, 3]], dtype=object),
        np.array([[1, pd.NA], [2, 3]], dtype=object),
        np.ma.masked_array([[1, 777], [2, 3]], mask=[[False, True], [False, False]]),
        pd.DataFrame({"a": [1, 2], "b": pd.array([None, 3], dtype="Int64")}),
        pd.DataFrame({"a": [1, 2], "b": pd.array([None, 3], dtype="Float32")}),
        pd.DataFrame({"a": [1, 2], "b": np.array([None, 3], dtype=object)}),
        pl.DataFrame({"a": [1, 2], "b": [None, 3]}),
        pa.table({"a": [1, 2], "b": [None, 3]}),
        pa.table({"a": [1, 2], "b": pa.array([None, 3], pa.decimal128(5, 2))}),
    ],
)
def test_missing_values_of_every_kind_are_missing(data):
    assert np.array_equal(read(data), [[1.0, np.nan], [2.0, 3.0]], equal_nan=True)


def test_a_column_without_any_value_is_missing_throughout():
    for data in (pd.DataFrame({"a": [None, None]}), pl.DataFrame({"a": [None, None]}), pa.table({"a": [None, None]})):
        assert np.isnan(read(data)).all()


def test_truth_values_and_decimals_are_numbers():
    data = pl.DataFrame({"a": [True, False], "b": ["1.25", "-3.50"]}).with_columns(pl.col("b").cast(pl.Decimal(10, 2)))
    assert read(data).tolist() == [[1.0, 1.25], [0.0, -3.5]]


def test_numbers_beyond_a_double_do_not_raise():
    assert read([[10**400, 1]]).tolist() == [[np.inf, 1.0]]
    assert read(np.array([[2**63]], dtype=np.uint64)).tolist() == [[2.0**63]]
    assert read(pa.table({"a": pa.array([2**63], pa.uint64())})).tolist() == [[2.0**63]]


# -- files ---------------------------------------------------------------------------------------------------------------


@pytest.fixture
def good(tmp_path):
    path = tmp_path / "good.parquet"
    pa.parquet.write_table(pa.table({"a": [1.0, 2.0], "b": [3, None], "name": ["x", CANARY]}), path)
    return path


def test_a_path_may_be_text_or_a_path(good):
    for path in (good, str(good), pathlib.PurePath(good)):
        assert np.array_equal(read(path, columns=["b", "a"]), [[3.0, 1.0], [np.nan, 2.0]], equal_nan=True)


def test_a_column_with_a_dot_in_its_name_is_found(tmp_path):
    path = tmp_path / "dots.parquet"
    pa.parquet.write_table(pa.table({"a.b": [1.0], "a": [2.0]}), path)
    assert read(path).tolist() == [[1.0, 2.0]]
    assert read(path, columns=["a.b"]).tolist() == [[1.0]]


def test_a_path_that_leads_nowhere_is_refused_by_its_name(tmp_path):
    with pytest.raises(DataError, match=r"there is no file or folder 'missing\.parquet'\. Check the path") as caught:
        open_rows(tmp_path / "secret-project" / "missing.parquet")
    assert "secret-project" not in str(caught.value)
    with pytest.raises(DataError, match=r"expected a folder with a \.parquet, .* file, .*, got none"):
        open_rows(tmp_path)


def test_every_file_of_a_folder_must_have_the_columns(tmp_path):
    pa.parquet.write_table(pa.table({"a": [1.0], "b": [1.0]}), tmp_path / "1.parquet")
    pa.parquet.write_table(pa.table({"b": [2], "a": [1]}), tmp_path / "2.parquet")
    assert read(tmp_path).tolist() == [[1.0, 1.0], [1.0, 2.0]]
    pa.parquet.write_table(pa.table({"a": [1.0]}), tmp_path / "3.parquet")
    with pytest.raises(DataError, match=r"\(3\.parquet\): column 'b' is not in the table"):
        open_rows(tmp_path)
    pa.parquet.write_table(pa.table({"a": [1.0], "b": ["x"]}), tmp_path / "3.parquet")
    with pytest.raises(DataError, match=r"\(3\.parquet\): expected numbers in column 'b', got string"):
        open_rows(tmp_path)
