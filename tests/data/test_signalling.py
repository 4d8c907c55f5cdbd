# SPDX-License-Identifier: Apache-2.0
"""A signalling NaN is a missing value by every reader: no warning shows that a row is there. Warnings are errors."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from tests.optional import HAS_DASK, da, dd, synchronous
from tests.signalling import PATTERNS, plant, signalling

from cloister import KMeans, PrivateScaler, open_rows
from cloister.columns import Category, Flag, Number

PLACES = [(7, 0), (9, 1)]
CASES = [(bits, pattern) for bits, patterns in PATTERNS.items() for pattern in patterns]
NAMELESS = {
    "array": lambda table: table,
    "fortran": np.asfortranarray,
    "masked": lambda table: np.ma.masked_array(table, mask=table != table),
    "masked-elsewhere": lambda table: np.ma.masked_array(table, mask=np.zeros(table.shape, dtype=bool)),
    "objects": lambda table: np.array([list(row) for row in table], dtype=object),
    "lists": lambda table: [list(row) for row in table],
    **({"dask-array": lambda table: da.from_array(table, chunks=(17, 2))} if HAS_DASK else {}),
}
NAMED = {
    "pandas": lambda table: pd.DataFrame(columns(table)),
    "pandas-objects": lambda table: pd.DataFrame({name: list(one) for name, one in columns(table).items()}, dtype=object),
    "nullable": lambda table: pd.DataFrame({name: nullable(one) for name, one in columns(table).items()}),
    "pandas-arrow": lambda table: arrow(table).to_pandas(types_mapper=pd.ArrowDtype),
    "arrow": lambda table: arrow(table),
    "polars": lambda table: pl.DataFrame(arrow(table)),
    **({"dask-frame": lambda table: dd.from_pandas(pd.DataFrame(columns(table)), npartitions=3)} if HAS_DASK else {}),
}
MAKERS = {**NAMELESS, **NAMED}
OF_NUMPY = [*NAMELESS, "pandas", "pandas-objects"]  # Arrow has one order of bytes
HERE = [name for name in MAKERS if not name.startswith("dask")]  # labels are for rows of this machine


def columns(table):
    return {name: np.ascontiguousarray(table[:, index]) for index, name in enumerate("ab")}


def nullable(column):
    """Return a column of the nullable type that pandas has for it: of 16 bits it has none."""
    return pd.arrays.FloatingArray(column, np.zeros(len(column), bool)) if column.itemsize > 2 else column


def arrow(table):
    return pa.table({name: pa.array(one) for name, one in columns(table).items()})


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0]}-{case[1]:x}")
def table(request, generator):
    """Return two columns of numbers with two signalling NaNs."""
    bits, pattern = request.param
    return plant(generator.uniform(size=(40, 2)), bits, pattern, PLACES)


def held(make, table):
    """Return a table as a library holds it; what that warns of is no business of ours."""
    with np.errstate(all="ignore"):
        return make(table)


class Missing:
    """Which entries are missing, in order."""

    def __call__(self, block):
        return np.isnan(block).astype(np.int64)

    def merge(self, left, right):
        return np.concatenate([left, right])


def quiet_model(**parameters):
    return KMeans(2, epsilon=5.0, random_state=0, **{"bounds": (0, 1), "n_jobs": 2, "n_init": 1, **parameters})


@pytest.mark.fast("64-7ff0000000000001-*", "16-fdff-array-*")
@pytest.mark.parametrize(("name", "order"), [*((name, "<") for name in MAKERS), *((name, ">") for name in OF_NUMPY)])
def test_it_is_read_as_missing(name, order, table):
    make = MAKERS[name]
    turned = (
        table.view(table.dtype.newbyteorder(order)) if order == "<" else table.byteswap().view(table.dtype.newbyteorder(">"))
    )
    with synchronous():
        found = open_rows(held(make, turned), n_jobs=1).fold(Missing())
    assert list(zip(*np.nonzero(found), strict=True)) == PLACES


@pytest.mark.fast("64-7ff0000000000001-array", "32-ffbfffff-polars", "16-7c01-pandas-objects")
@pytest.mark.parametrize("name", MAKERS)
def test_fits_take_it(name, table):
    data = held(MAKERS[name], table)
    with synchronous():
        quiet_model().fit(data)
        quiet_model(bounds="private").fit(data)
        if name != "dask-frame":
            ids = np.repeat(np.arange(10), 4)
            quiet_model().fit(data, privacy_unit=da.from_array(ids, chunks=17) if name == "dask-array" else ids)
        if name in NAMED:
            quiet_model(bounds={"a": Number(0, 1), "b": Category([0, 1])}).fit(data)
            quiet_model(bounds={"a": Flag(), "b": Number(0, 1)}, privacy_unit=None).fit(data)
            quiet_model(bounds={"a": (0, 1)}, privacy_unit="b").fit(data)
        if not name.startswith("dask"):
            PrivateScaler(epsilon=5.0, random_state=0).fit(data).transform(data)


@pytest.mark.fast("64-7ff0000000000001-array", "32-ffbfffff-polars", "16-7c01-pandas-objects")
@pytest.mark.parametrize("name", HERE)
def test_predictions_take_it(name, table):
    zeros = np.zeros((9, 2))
    model = quiet_model().fit(pd.DataFrame(zeros, columns=["a", "b"]) if name in NAMED else zeros)
    data = held(MAKERS[name], table)
    assert model.predict(data).shape == model.release_.predict(data).shape == (40,)
    assert np.isfinite(model.transform(data)).all()
    assert np.isfinite(model.score(data))


@pytest.mark.fast("64-7ff0000000000001-*", "32-ffbfffff-series")
@pytest.mark.parametrize("name", ["array", "lists", "series", "nullable", "arrow"])
def test_it_is_a_missing_id(name, table, generator):
    column = np.ascontiguousarray(table[:, 0])
    makers = {
        "array": lambda: column,
        "lists": lambda: list(column),
        "series": lambda: pd.Series(column),
        "nullable": lambda: pd.Series(
            pd.arrays.FloatingArray(column, np.zeros(40, bool)) if table.dtype != np.float16 else column
        ),
        "arrow": lambda: pa.array(column),
    }
    with np.errstate(all="ignore"):
        ids = makers[name]()
    quiet_model().fit(generator.uniform(size=(40, 2)), privacy_unit=ids)


@pytest.mark.fast("64-7ff0000000000001-csv", "32-ffbfffff-parquet")
@pytest.mark.parametrize("kind", ["parquet", "feather", "csv"])
def test_files_take_it(kind, table, tmp_path):
    file = tmp_path / f"rows.{kind}"
    if kind == "parquet":
        pa.parquet.write_table(arrow(table), file)
    elif kind == "feather":
        pa.feather.write_feather(arrow(table), file)
    else:
        file.write_text("a,b\n" + "".join(f"{row[0]!r},snan\n" for row in table.tolist()))
    quiet_model().fit(file)
    quiet_model(bounds={"a": (0, 1)}, privacy_unit="b").fit(file)


def test_a_pattern_signals_here():
    # What the other tests stand on: without care, a cast warns.
    with pytest.warns(RuntimeWarning, match="invalid value"):
        signalling(32, PATTERNS[32][0]).astype(np.float64)
