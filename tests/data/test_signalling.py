# SPDX-License-Identifier: Apache-2.0
"""A signalling NaN is a missing value by every reader: no warning shows that a row is there. Warnings are errors."""

from contextlib import suppress

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from tests.optional import da, dd, without_missing
from tests.rows import PATTERNS, plant, read, signalling

from cloister import KMeans, PrivateScaler
from cloister.columns import Category, Flag, Number
from cloister.exceptions import BoundsError

pytestmark = pytest.mark.both_suites  # tables of Dask are among them where it is installed

PLACES = [(7, 0), (9, 1)]
CASES = [(bits, pattern) for bits, patterns in PATTERNS.items() for pattern in patterns]
NAMELESS = {
    "array": lambda table: table,
    "fortran": np.asfortranarray,
    "masked": lambda table: np.ma.masked_array(table, mask=table != table),
    "masked-elsewhere": lambda table: np.ma.masked_array(table, mask=np.zeros(table.shape, dtype=bool)),
    "objects": lambda table: np.array([list(row) for row in table], dtype=object),
    "lists": lambda table: [list(row) for row in table],
    "dask-array": lambda table: da.from_array(table, chunks=(17, 2)),
}
NAMED = {
    "pandas": lambda table: pd.DataFrame(columns(table)),
    "pandas-objects": lambda table: pd.DataFrame({name: list(one) for name, one in columns(table).items()}, dtype=object),
    "nullable": lambda table: pd.DataFrame({name: nullable(one) for name, one in columns(table).items()}),
    "pandas-arrow": lambda table: arrow(table).to_pandas(types_mapper=pd.ArrowDtype),
    "arrow": lambda table: arrow(table),
    "polars": lambda table: pl.DataFrame(arrow(table)),
    "dask-frame": lambda table: dd.from_pandas(pd.DataFrame(columns(table)), npartitions=3),
}
MAKERS = {**NAMELESS, **NAMED}
OF_NUMPY = [*NAMELESS, "pandas", "pandas-objects"]  # Arrow has one order of bytes


def columns(table):
    return {name: np.ascontiguousarray(table[:, index]) for index, name in enumerate("ab")}


def nullable(column):
    """Return a column of the nullable type that pandas has for it: of 16 bits it has none."""
    return pd.arrays.FloatingArray(column, np.zeros(len(column), bool)) if column.itemsize > 2 else column


def arrow(table):
    return pa.table({name: pa.array(one) for name, one in columns(table).items()})


def planted(generator, bits, pattern):
    """Return two columns of numbers with two signalling NaNs."""
    return plant(generator.uniform(size=(40, 2)), bits, pattern, PLACES)


@pytest.fixture(params=[64, 32, 16])
def table(request, generator):
    return planted(generator, request.param, PATTERNS[request.param][0])


def held(make, table):
    """Return a table as a library holds it; what that warns of is no business of ours."""
    with np.errstate(all="ignore"):
        return make(table)


def quiet_model(**parameters):
    return KMeans(2, epsilon=5.0, random_state=0, **{"bounds": (0, 1), "n_jobs": 2, "n_init": 1, **parameters})


@pytest.mark.parametrize(("bits", "pattern"), CASES)
def test_it_is_read_as_missing(bits, pattern, generator):
    table = planted(generator, bits, pattern)
    for name, make in without_missing(MAKERS).items():
        for order in "<>" if name in OF_NUMPY else "<":
            kind = table.dtype.newbyteorder(order)
            found = read(held(make, (table if order == "<" else table.byteswap()).view(kind)))
            assert list(zip(*np.nonzero(np.isnan(found)), strict=True)) == PLACES, (name, order)


@pytest.mark.fast("64-array", "32-polars", "16-pandas-objects")
@pytest.mark.parametrize("name", ["array", "lists", "pandas", "pandas-objects", "nullable", "arrow", "polars"])
def test_fits_take_it(name, table):
    data = held(MAKERS[name], table)
    quiet_model().fit(data, privacy_unit=np.repeat(np.arange(10), 4))
    with suppress(BoundsError):  # so few rows
        quiet_model(bounds="private").fit(data)
    if name in NAMED:
        quiet_model(bounds={"a": Number(0, 1), "b": Category([0, 1])}).fit(data)
        quiet_model(bounds={"a": Flag(), "b": Number(0, 1)}).fit(data)
        quiet_model(bounds={"a": (0, 1)}, privacy_unit="b").fit(data)
    PrivateScaler(epsilon=5.0, bounds=(0, 1), random_state=0).fit(data).transform(data)
    model = quiet_model().fit(data)
    assert model.predict(data).shape == model.release_.predict(data).shape == (40,)
    assert np.isfinite(model.transform(data)).all()
    assert np.isfinite(model.score(data))


def test_it_is_a_missing_id(table):
    column = np.ascontiguousarray(table[:, 0])
    with np.errstate(all="ignore"):
        given = [column, list(column), pd.Series(column), pd.Series(nullable(column)), pa.array(column)]
    for ids in given:
        lanes = read(np.zeros((40, 1)), privacy_unit=ids)[:, 1:]
        assert np.flatnonzero(~lanes.any(axis=1)).tolist() == [7]


@pytest.mark.parametrize("kind", ["parquet", "feather", "csv"])
def test_files_take_it(kind, table, tmp_path):
    file = tmp_path / f"rows.{kind}"
    if kind == "parquet":
        pa.parquet.write_table(arrow(table), file)
    elif kind == "feather":
        pa.feather.write_feather(arrow(table), file)
    else:
        file.write_text("a,b\n" + "".join(f"{row[0]!r},snan\n" for row in table.tolist()))
    assert np.isnan(read(file)[7, 0])
    quiet_model(bounds={"a": (0, 1)}, privacy_unit="b").fit(file)


def test_a_pattern_signals_here():
    # What the other tests stand on: without care, a cast warns.
    with pytest.warns(RuntimeWarning, match="invalid value"):
        signalling(32, PATTERNS[32][0]).astype(np.float64)
