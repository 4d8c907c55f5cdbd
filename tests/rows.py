# SPDX-License-Identifier: Apache-2.0
"""Rows that tests derive theirs from where only some of the protocol matters, and rows as they are read."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from tests.optional import da, dask, dd, synchronous

from cloister.data import Rows, Schema, open_rows


class FewRows(Rows):
    """Rows with two columns that are not to be read, sampled or bounded, unless a test says how."""

    def __init__(self, n_features=2):
        super().__init__(Schema(n_features))

    def fold(self, kernel, *, watch=None, cache=None):
        raise AssertionError("a row was read")

    def sample(self, coins, *, watch=None):
        raise AssertionError("a row was drawn")

    def bounded(self, bounding, *, watch=None):
        raise AssertionError("a row was chosen")


class StreamOnly:
    """The least an Arrow producer can be."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


class Bits:
    """The rows themselves, in order, as integers: missing values all alike, everything else to the last bit."""

    def __call__(self, block):
        doubles = np.asarray(block, dtype=np.float64)
        return np.where(np.isnan(doubles), np.nan, doubles).view(np.int64)

    def merge(self, left, right):
        return np.concatenate([left, right])


def bits(data: Any, columns: Any = None, **options: Any) -> npt.NDArray[np.int64]:
    """Return rows as they are read by a fold, here or by Dask in this thread."""
    with synchronous():
        return open_rows(data, columns, n_jobs=1, **options).fold(Bits())


def read(data: Any, columns: Any = None, **options: Any) -> npt.NDArray[np.float64]:
    return bits(data, columns, **options).view(np.float64)


def count(block: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """A kernel that counts rows."""
    return np.array([len(block)])


def objects(rows: Any) -> npt.NDArray[np.object_]:
    """Return rows of two values, whatever they are, as an array of Python objects."""
    array = np.empty((len(rows), 2), dtype=object)
    for place in np.ndindex(array.shape):
        array[place] = rows[place[0]][place[1]]
    return array


def object_frame(rows: Any) -> pd.DataFrame:
    """Return the same as a frame with the columns a and b, in which pandas infers nothing."""
    array = objects(rows)
    return pd.DataFrame({"a": pd.Series(array[:, 0], dtype=object), "b": pd.Series(array[:, 1], dtype=object)})


def dask_columns(rows: Any) -> Any:
    with dask.config.set({"dataframe.convert-string": False}):
        return dd.from_pandas(object_frame(rows), npartitions=2)


OF_OBJECTS = {  # ways to hold rows of two values, whatever they are
    "array": objects,
    "fortran": lambda rows: np.asfortranarray(objects(rows)),
    "masked": lambda rows: np.ma.masked_array(objects(rows), mask=np.zeros((len(rows), 2), dtype=bool)),
    "lists": lambda rows: [list(row) for row in rows],
    "tuples": lambda rows: tuple(map(tuple, rows)),
    "list-of-arrays": lambda rows: list(objects(rows)),
    "pandas": object_frame,
    "dask-array": lambda rows: da.from_array(objects(rows), chunks=(2, 1), name=False),
    "dask-frame": dask_columns,
}

# Computing with a signalling NaN makes the processor report an invalid operation, which NumPy turns into a warning.
PATTERNS = {  # signalling NaNs by their bits: with the smallest payload, with a sign and the largest one, and the NA of R
    16: (0x7C01, 0xFDFF),
    32: (0x7F800001, 0xFFBFFFFF),
    64: (0x7FF0000000000001, 0xFFF7FFFFFFFFFFFF, 0x7FF00000000007A2),
}


def signalling(bits, pattern, order="="):
    """Return an array with this one number."""
    return np.array([pattern], f"{order}u{bits // 8}").view(f"{order}f{bits // 8}")


def plant(table, bits, pattern, places, order="="):
    """Return a table of numbers of so many bits, with a signalling NaN in some places."""
    found = table.astype(f"{order}f{bits // 8}")
    for place in places:
        found.view(f"{order}u{bits // 8}")[place] = pattern
    return found
