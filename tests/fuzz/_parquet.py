# SPDX-License-Identifier: Apache-2.0
"""Parquet files and Arrow tables of every type: read or refused by the schema alone, and both in the same way."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from hypothesis import strategies as st
from tests.fuzz._documents import damage
from tests.fuzz._law import Outcome
from tests.fuzz._run import Target, scratch
from tests.fuzz._tables import read

NUMBERS = (pa.int8(), pa.uint8(), pa.int32(), pa.int64(), pa.uint64(), pa.float16(), pa.float32(), pa.float64(), pa.bool_())
TEXTS = (pa.null(), pa.string(), pa.large_string(), pa.binary(), pa.binary(3))
TIMES = (pa.date32(), pa.timestamp("ns"), pa.timestamp("s", "UTC"), pa.time64("us"), pa.duration("ms"))
DECIMALS = (pa.decimal128(5, 2), pa.decimal128(38, 10), pa.decimal256(70, 5))
NESTED = (pa.list_(pa.float64()), pa.struct([("x", pa.float64())]), pa.map_(pa.string(), pa.int8()))
CODED = (pa.dictionary(pa.int8(), pa.float64()), pa.dictionary(pa.int8(), pa.string()))
TYPES: dict[str, pa.DataType] = {str(kind): kind for kind in (*NUMBERS, *TEXTS, *TIMES, *DECIMALS, *NESTED, *CODED)}
NAMES = ["a", "b", "", "a", "é", "x" * 200]


def cases() -> st.SearchStrategy[Any]:
    """Draw types, rows of small numbers (None: a null), one more row, and damage to the file."""
    value = st.one_of(st.none(), st.integers(-3, 100))
    raw = st.tuples(st.sampled_from(["byte", "cut", "remove"]), st.floats(0, 1), st.integers(0, 255)).map(list)

    def of_width(width: int) -> st.SearchStrategy[Any]:
        row = st.lists(value, min_size=width, max_size=width)
        types = st.lists(st.sampled_from(sorted(TYPES)), min_size=width, max_size=width)
        names = st.lists(st.sampled_from(NAMES), min_size=width, max_size=width)
        broken = st.one_of(*3 * [st.none()], st.lists(raw, min_size=1, max_size=2))
        shape = {"types": types, "names": st.one_of(st.none(), st.none(), names), "rows": st.lists(row, max_size=4)}
        return st.fixed_dictionaries({**shape, "extra": row, "damage": broken})

    return st.integers(1, 3).flatmap(of_width)


def law(case: dict[str, Any]) -> str:
    """Return how opening the file ended."""
    tables = [_table(case, rows) for rows in ([], case["rows"], [*case["rows"], case["extra"]])]
    if case["damage"]:  # it is refused, or read without a traceback: of its values nothing is promised
        return f"damaged: {_read_file(tables[-1], case['damage']).label}"
    empty, before, after = map(_read_file, tables)
    assert str(empty.error) == str(before.error) == str(after.error), "values decide between a table and an error"
    memory = list(map(read, tables))
    # Of a table in memory the type of a column may follow from its values: text is read. In a file the type is declared.
    if not any(kind.startswith("dictionary") or "string" in kind or "binary" in kind for kind in case["types"]):
        assert (memory[-1].error is None) == (after.error is None), "a file is read and a table is not, or the other way round"
    assert len({str(one.error) for one in memory}) == 1, "values decide between a table and an error"
    if after.error is None:
        assert np.array_equal(after.value[:-1], before.value), "one more row changes another one"
        assert memory[-1].error or np.array_equal(after.value, memory[-1].value), (
            "a file and a table in memory are read in different ways"
        )
    return after.label


def _read_file(table: pa.Table, edits: Sequence[list[Any]] = ()) -> Outcome:
    path = scratch("parquet") / "table.parquet"
    pyarrow.parquet.write_table(table, path)
    path.write_bytes(damage(path.read_bytes(), list(edits)))
    return read(path)


def _table(case: dict[str, Any], rows: list[list[Any]]) -> pa.Table:
    names = case["names"] or [f"x{index}" for index in range(len(case["types"]))]
    columns = []
    for index, kind in enumerate(TYPES[name] for name in case["types"]):
        values = [None if row[index] is None else _value(kind, row[index]) for row in rows]
        columns.append(pa.array(values, type=kind))
    return pa.Table.from_arrays(columns, names=names)


def _value(kind: pa.DataType, value: int) -> Any:
    """Return a value of the type: a planted one where it can hold it."""
    types = pa.types
    if types.is_dictionary(kind):
        return _value(kind.value_type, value)
    made: dict[Callable[[pa.DataType], bool], Any] = {
        types.is_decimal: Decimal(value).scaleb(-2),
        types.is_float16: np.float16(value),
        types.is_floating: float(value) if value else 77.123456789,
        types.is_boolean: value > 0,
        types.is_null: None,
        **dict.fromkeys((types.is_string, types.is_large_string), f"Zanthoxylum {value}"),
        **dict.fromkeys((types.is_binary, types.is_fixed_size_binary), b"abc"),
        types.is_list: [77.123456789],
        types.is_struct: {"x": 77.123456789},
        types.is_map: [("Zanthoxylum", 1)],
    }
    return next((one for is_of, one in made.items() if is_of(kind)), abs(value))


TARGET = Target("parquet", cases, law, share=0.08)
