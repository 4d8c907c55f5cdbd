# SPDX-License-Identifier: Apache-2.0
"""Tables of every kind in memory: read or refused by shape and type alone; a row decides nothing, and nothing is quoted."""

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from hypothesis import strategies as st
from tests.fuzz._law import Outcome, attempt, refuse_quotes_in
from tests.fuzz._run import Target
from tests.fuzz._values import build, decimals, numbers, scalars

from cloister import GridSynopsis, Ledger
from cloister.data import open_rows
from cloister.exceptions import DataError

FEWEST_ROWS = 3  # of one length: the width of a list of rows is that of most of them
ARRAYS = (
    *("float16", "float32", "float64", "longdouble", "int8", "uint8", "int64", "uint64"),
    *("bool", "complex64", "U8", "S4", "M8[s]", "m8[s]"),
)
PANDAS = (
    *("float64", "float32", "int8", "uint64", "bool", "object", "Int64", "Float32", "boolean", "category", "string"),
    *("complex128", "datetime64[ns]", "timedelta64[ns]", "double[pyarrow]", "int8[pyarrow]", "string[pyarrow]"),
    *("bool[pyarrow]", "Sparse[float64]"),
)
POLARS = {
    **{name: getattr(pl, name) for name in ("Float64", "Float32", "Int8", "UInt64", "Boolean", "String", "Binary")},
    **{name: getattr(pl, name) for name in ("Null", "Object", "Date", "Datetime", "Duration", "Categorical")},
    "Decimal": pl.Decimal(20, 4),
    "List": pl.List(pl.Float64),
}
OBJECTS = ("lists", "tuples", "objects", "fortran", "masked", "list of arrays", "pandas objects")
PRECISE = ("decimal", "fine decimal", "fraction", "long double", "large integer")  # numbers that a type for all would round
OTHERS: dict[str, Callable[[], Any]] = {
    "none": lambda: None,
    "number": lambda: 77.123456789,
    "text": lambda: "missing.csv",
    "bytes": lambda: b"Zanthoxylum",
    "flat": lambda: [77.123456789, 1.0],
    "cube": lambda: np.full((2, 2, 2), 77.123456789),
    "no columns": lambda: np.empty((3, 0)),
    "no rows": lambda: np.empty((0, 2)),
    "empty list": list,
    "dict": lambda: {"a": [77.123456789]},
    "set": lambda: {77.123456789},
    "generator": lambda: (row for row in [[77.123456789]]),
    "structured": lambda: np.array([(77.123456789, 1.0)], dtype=[("a", float), ("b", float)]),
    "matrix": lambda: np.asmatrix([[77.123456789, 1.0]]),
    "series": lambda: pd.Series([77.123456789, 1.0]),
    "polars series": lambda: pl.Series([77.123456789, 1.0]),
    "class": lambda: list,
    "memory": lambda: memoryview(b"Zanthoxylum"),
    "mixed names": lambda: pd.DataFrame([[77.123456789, 1.0]], columns=["a", 1]),
    "same names": lambda: pd.DataFrame([[77.123456789, 1.0]], columns=["a", "a"]),
    "levels": lambda: pd.DataFrame([[77.123456789, 1.0]], columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])),
    "empty frame": pd.DataFrame,
    "empty polars": pl.DataFrame,
}


def cases() -> st.SearchStrategy[Any]:
    """Draw a table, one more row, and where it stands."""
    mixed = st.one_of(st.sampled_from([{"is": name} for name in PRECISE]), st.floats(0, 1), scalars())
    objects = [_tables(OBJECTS, values) for values in (scalars(), mixed, decimals())]
    return st.one_of(*objects, _typed(), _typed(), st.sampled_from([{"other": name} for name in OTHERS]))


def law(case: dict[str, Any]) -> str:
    """Return how opening the table ended."""
    if "other" in case:
        found = read(_made(OTHERS[case["other"]]))
        return f"{case['other']}: {found.label}"
    rows, more = _rows(case, extra=False), _rows(case, extra=True)
    before, after = (read(_made(lambda rows=rows: _make(case, rows))) for rows in (rows, more))
    assert str(before.error) == str(after.error), "one more row decides between a table and an error, or between two errors"
    if before.error is None:
        assert after.value.shape == (len(more), before.value.shape[1]), "rows are lost"
        assert np.array_equal(before.value, np.delete(after.value, case["place"], axis=0)), "one more row changes another one"
    if case["fit"]:
        _fit(_made(lambda: _make(case, more)), refused=before.error is not None)
    return f"{case['kind']}: {before.label}"


def bits(rows: Any) -> Any:
    """Return raw rows as integers: missing values all alike, everything else to the last bit."""
    blocks = [np.asarray(block, dtype=np.float64) for block in rows.blocks()]
    doubles = np.concatenate([np.empty((0, rows.n_features)), *blocks])
    return np.where(np.isnan(doubles), math.nan, doubles).view(np.int64)


def read(table: Any, columns: Any = None, **source: Any) -> Outcome:
    """Open a table and read it to the last bit; an error is one of data, and quotes nothing."""
    found = attempt(lambda: bits(open_rows(table, columns, n_jobs=1, **source)))
    refuse_quotes_in(found.error)
    assert found.error is None or isinstance(found.error, DataError)
    return found


def _made(make: Callable[[], Any]) -> Any:
    """Make a table; what its library warns of then is not our business."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return make()


def _fit(table: Any, *, refused: bool) -> None:
    ledger = Ledger(epsilon=5.0)
    found = attempt(lambda: GridSynopsis(2, rule=2, bounds=(0, 100), n_jobs=1, ledger=ledger).fit(table))
    refuse_quotes_in(found.error)
    assert (found.error is not None) == refused, f"opened, but not fitted: {found.error}"
    assert len(ledger.lines) == 1 or not refused, "a refused table costs something"


def _tables(kinds: tuple[str, ...], values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    def of_width(width: int) -> st.SearchStrategy[Any]:
        row = st.lists(values, min_size=width, max_size=width)
        parts = {
            "kind": st.sampled_from(kinds),
            "rows": st.lists(row, min_size=FEWEST_ROWS, max_size=5),
            "fit": st.sampled_from([False] * 5 + [True]),
        }
        odd = st.one_of(row, row, st.lists(values, max_size=4))
        return st.fixed_dictionaries({**parts, "extra": odd, "place": st.integers(0, FEWEST_ROWS)})

    return st.integers(1, 3).flatmap(of_width)


def _typed() -> st.SearchStrategy[Any]:
    kinds = [
        *(f"array {name}" for name in ARRAYS),
        *(f"pandas {name}" for name in PANDAS),
        *(f"polars {name}" for name in POLARS),
    ]
    return _tables(tuple(kinds), numbers())


def _rows(case: dict[str, Any], *, extra: bool) -> list[list[Any]]:
    rows = [build(row) for row in case["rows"]]
    if extra:
        added = build(case["extra"])
        if case["kind"] not in ("lists", "tuples"):  # these may have rows of another length
            added = (added + [None] * len(rows[0]))[: len(rows[0])]
        rows.insert(case["place"], added)
    return rows


def _make(case: dict[str, Any], rows: list[list[Any]]) -> Any:
    kind, _, dtype = case["kind"].partition(" ")
    if kind == "lists":
        return rows
    if kind == "tuples":
        return tuple(map(tuple, rows))
    objects = np.empty((len(rows), len(rows[0])), dtype=object)
    for place in np.ndindex(objects.shape):
        objects[place] = rows[place[0]][place[1]]
    if kind == "array":
        return np.array([[_typed_value(value, dtype) for value in row] for row in rows]).astype(dtype)
    if case["kind"] == "pandas objects":
        return pd.DataFrame({str(index): pd.Series(column, dtype=object) for index, column in enumerate(objects.T)})
    if kind == "pandas":
        return pd.DataFrame({str(index): _pandas_column(column, dtype) for index, column in enumerate(objects.T)})
    if kind == "polars":
        return pl.DataFrame([_polars_column(str(index), column, dtype) for index, column in enumerate(objects.T)])
    if kind == "fortran":
        return np.asfortranarray(objects)
    if kind == "masked":
        return np.ma.masked_array(objects, mask=[[True, *[False] * (len(rows[0]) - 1)]] * len(rows))
    return list(objects) if kind == "list" else objects


def _typed_value(value: Any, dtype: str) -> Any:
    """Return a number as one that the type holds: not every one does, and making the table is not what is tested."""
    number = float(value) if isinstance(value, int | float) and abs(value) < 1e308 else math.nan
    if dtype.lower().startswith(("f", "c", "l", "double", "sparse")) and dtype not in ("category", "List", "Categorical"):
        return number
    return int(number) % (2 if "bool" in dtype.lower() else 100) if math.isfinite(number) else 1


def _pandas_column(column: Any, dtype: str) -> pd.Series:
    small = [_typed_value(value, dtype) for value in column]
    if dtype.startswith("string"):
        small = [str(value) for value in small]
    return pd.Series(small).astype(dtype)


def _polars_column(name: str, column: Any, dtype: str) -> pl.Series:
    small = [_typed_value(value, dtype) for value in column]
    if dtype in ("String", "Categorical"):
        small = [str(value) for value in small]
    elif dtype == "Binary":
        small = [str(value).encode() for value in small]
    elif dtype == "Null":
        small = [None] * len(small)
    elif dtype == "List":
        small = [[float(value)] for value in small]
    elif dtype == "Object":
        return pl.Series(name, small, dtype=pl.Object)
    elif dtype in ("Date", "Datetime", "Duration"):
        return pl.Series(name, small, dtype=pl.Int32 if dtype == "Date" else pl.Int64).cast(POLARS[dtype])
    return pl.Series(name, small, dtype=POLARS[dtype], strict=False)


TARGET = Target("tables", cases, law, share=0.2)
