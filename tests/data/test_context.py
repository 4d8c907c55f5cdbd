# SPDX-License-Identifier: Apache-2.0
"""What an error carries with it: no value of a row, neither in its text nor in what it was raised from."""

import csv
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from tests.optional import da, dd
from tests.rows import count

from cloister import KMeans, load_release, open_rows
from cloister.exceptions import CloisterError, DataError
from cloister.synopsis import load_synopsis

CANARY = "77.123456789"


def chain(error):
    """Yield an error and everything that was being handled when it was raised, to the end."""
    seen = []
    waiting = [error]
    while waiting:
        one = waiting.pop()
        if one is not None and one not in seen:
            seen.append(one)
            waiting += [one.__cause__, one.__context__, *getattr(one, "exceptions", ())]
    return seen


def all_text(error):
    return " ".join(f"{one!s} {one!r} {one.args!r} {getattr(one, '__notes__', '')}" for one in chain(error))


def refused(act, *, error=CloisterError):
    with pytest.raises(error) as caught:
        act()
    assert CANARY not in all_text(caught.value)
    assert chain(caught.value) == [caught.value], "nothing is hidden behind it"


class Breaks:
    """Quotes a value when it is converted."""

    def __init__(self, names):
        self._names = names

    def __getattr__(self, name):
        if name in self._names:
            return self._fail
        raise AttributeError(name)

    @staticmethod
    def _fail(*_, **__):
        raise ValueError(f"cannot convert {CANARY}")


class BreaksAsArray:
    def __array__(self, *_, **__):
        raise ValueError(f"cannot convert {CANARY}")


@pytest.mark.parametrize("data", [BreaksAsArray(), Breaks(["__arrow_c_stream__"]), Breaks(["__arrow_c_array__"])])
def test_a_table_that_cannot_be_converted(data):
    refused(lambda: open_rows(data))
    refused(lambda: KMeans(2, bounds=(0, 1)).fit(data))


def broken_stream():
    schema = pa.schema([("a", pa.float64())])

    def batches():
        yield pa.record_batch([pa.array([1.0])], schema)
        raise ValueError(f"cannot read {CANARY}")

    return pa.RecordBatchReader.from_batches(schema, batches())


def test_a_stream_that_breaks():
    refused(lambda: open_rows(broken_stream()))


@pytest.mark.parametrize(
    "data",
    [
        np.array([[complex(CANARY)]]),
        pd.DataFrame({"a": [complex(CANARY)]}),
        pd.DataFrame({"a": pd.Categorical([float(CANARY)])}),
        pa.table({"a": [[CANARY]]}),
        [float(CANARY)],
        [CANARY],
        {"a": [float(CANARY)]},
    ],
    ids=lambda data: type(data).__module__.split(".")[0] + "-" + type(data).__name__,
)
def test_a_type_or_a_shape_that_is_refused(data):
    refused(lambda: open_rows(data), error=DataError)


@pytest.mark.slow
def test_a_type_that_is_refused_of_dask():
    array = da.from_array(np.array([[complex(CANARY)]]))
    frame = dd.from_pandas(pd.DataFrame({"a": [complex(CANARY)]}), npartitions=1)
    refused(lambda: open_rows(array), error=DataError)
    refused(lambda: open_rows(frame), error=DataError)


@pytest.mark.parametrize("first", [f"{CANARY},2", f"{CANARY},", f"x;{CANARY}", f"{CANARY}\r1", f"{CANARY}," + "9" * 200_000])
def test_a_first_line_that_holds_no_names(first, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(f"{first}\n1,2\n".encode())
    refused(lambda: open_rows(path), error=DataError)
    assert csv.field_size_limit() < 200_000


@pytest.mark.parametrize("engine", [None, "dask"])
def test_files_that_cannot_be_read(engine, tmp_path):
    path = tmp_path / "rows.parquet"
    path.write_bytes(CANARY.encode())
    refused(lambda: open_rows(path), error=DataError)
    pa.parquet.write_table(pa.table({"a": [float(CANARY)] * 5000}), path, compression="gzip", use_dictionary=False)
    content = bytearray(path.read_bytes())
    content[40:120] = bytes(80)
    path.write_bytes(content)
    rows = open_rows(path, engine=engine)
    refused(lambda: rows.fold(count), error=DataError)


@pytest.mark.parametrize("load", [load_release, load_synopsis])
@pytest.mark.parametrize("content", [f"{CANARY},x", json.dumps([CANARY]), json.dumps({"format": CANARY})])
def test_a_table_that_is_loaded_as_a_release(load, content, tmp_path):
    path = tmp_path / "rows.json"
    path.write_text(content)
    refused(lambda: load(path))


def test_the_walk_finds_what_is_hidden():
    def hide():
        try:
            float(f"x{CANARY}")
        except ValueError:
            raise DataError("nothing to see") from None

    with pytest.raises(DataError) as caught:
        hide()
    assert CANARY in all_text(caught.value)
