# SPDX-License-Identifier: Apache-2.0
"""Made-up neighbouring tables that differ in one hostile row, or in a person with many, and the engines that read them."""

import hashlib
import importlib.util
import os
import shutil
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from cloister.columns import Ball, Box, FloatArray, Relation, Table
from cloister.data import ArrayRows, Block, Rows
from cloister.privacy import Coins

ADD = Relation.ADD_REMOVE
DOMAINS: dict[str, Callable[[int], Table]] = {
    "box": lambda width: Box(-1.0, 1.0).spread(width),
    "ball": lambda width: Ball(1.0).spread(width),
    "far box": lambda width: Box(1e9 - 0.06, 1e9 + 0.07).spread(width),
    "far ball": lambda width: Ball(0.11, 1e9 + 0.1).spread(width),
    "tiny": lambda width: Ball(1e-90, 1e-91).spread(width),
    "uneven box": lambda width: Box(np.zeros(width), 10.0 ** np.arange(-3, width - 3)),
}

# -- rows of numbers -----------------------------------------------------------------------------------------------------

SIGNALLING = np.uint64(0x7FF00000000007A2).view(np.float64)  # the NA of R: a NaN that computing with it reports
FAR = {"infinite": np.inf, "huge": 1e300, "minus huge": -1e300}
HOSTILE = (
    "edge",
    "missing",
    "huge",
    "signalling",
    "tie",
    "outside",
    "infinite",
    "duplicate",
    "axis",
    "minus huge",
    "all missing",
)


def neighbours(
    domain: Table,
    n_features: int,
    *,
    relation: Relation,
    hostile: str,
    generator: np.random.Generator,
    other: str = "edge",
    size: int = 40,
) -> tuple[FloatArray, FloatArray]:
    """Return a table and its neighbour: without the hostile row, or with it replaced by one on the other side."""
    rows = _cluster_rows(domain, n_features, size, generator)
    place = int(generator.integers(len(rows) + 1))
    left = np.insert(rows, place, _hostile_row(domain, rows, hostile, side=1.0), axis=0)
    if relation is ADD:
        return left, rows
    return left, np.insert(rows, place, _hostile_row(domain, rows, other, side=-1.0), axis=0)


def _cluster_rows(domain: Table, n_features: int, size: int, generator: np.random.Generator) -> FloatArray:
    """Return two clusters and a few rows anywhere, in the units of the input."""
    middles = np.repeat([[-0.4], [0.5]], size // 2, axis=0) * np.ones(n_features)
    unit = middles + 0.1 * generator.normal(size=(size, n_features))
    unit[::7] = generator.uniform(-1, 1, size=unit[::7].shape)
    return domain.frame().from_unit(unit / n_features**0.5)


def _hostile_row(domain: Table, rows: FloatArray, kind: str, *, side: float) -> FloatArray:
    frame, width = domain.frame(), rows.shape[1]
    if kind in ("tie", "duplicate"):  # a tie is as far from one row as from another
        return np.array((rows[0] + rows[-1 if kind == "tie" else 0]) / 2 if len(rows) else frame.center)
    direction = np.eye(1, width)[0] if kind == "axis" else np.full(width, width**-0.5)
    row: FloatArray = frame.center + side * (3.0 if kind == "outside" else 1.0) * direction * frame.scale
    if kind == "all missing":
        row[:] = np.nan
    elif kind in ("missing", "signalling"):
        row[0] = SIGNALLING if kind == "signalling" else np.nan
    elif kind in FAR:
        row[0] = side * FAR[kind]
    return row


# -- rows of persons -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PersonTable:
    """Rows, and whose they are."""

    rows: FloatArray
    ids: npt.NDArray[Any]

    def joined(self, rows: FloatArray, ids: Sequence[object], generator: np.random.Generator) -> "PersonTable":
        """Return the table with more rows, anywhere among the others."""
        order = generator.permutation(len(self.rows) + len(rows))
        both = np.concatenate([self.ids, np.array(ids, dtype=self.ids.dtype)])
        return PersonTable(np.concatenate([self.rows, rows])[order], both[order])


def person_neighbours(
    relation: Relation, hostile: str, generator: np.random.Generator, *, many: int = 60, few: int = 8
) -> tuple[PersonTable, PersonTable]:
    """Return a table with a person of many hostile rows, and the one without, or with another person on the other side.

    Who replaces them has fewer rows, so that rows come or go as well.
    """
    domain = DOMAINS["box"](2)
    rows = _cluster_rows(domain, 2, 40, generator)
    others = PersonTable(rows, generator.integers(0, 12, len(rows)))

    def joined(kind: str, side: float, number: int) -> PersonTable:
        return others.joined(np.tile(_hostile_row(domain, rows, kind, side=side), (number, 1)), [99] * number, generator)

    left = joined(hostile, 1.0, many)
    return left, others if relation is ADD else joined("edge", -1.0, int(generator.integers(1, few)))


# -- rows of declared columns --------------------------------------------------------------------------------------------

Row: TypeAlias = tuple[Any, ...]

DECLARED_TYPES = {  # of cells; dates are text, of which not every one is a date
    "age": pa.float64(),
    "income": pa.float64(),
    "smoker": pa.string(),
    "admitted": pa.string(),
    "glucose": pa.float64(),
    "sex": pa.string(),
    "ward": pa.string(),
    "hour": pa.float64(),
    "dose": pa.float64(),
}
DECLARED_ROWS = 400  # of which many miss a value: all that may be asked of missing values is asked
HOSTILE_CELLS: dict[str, Callable[[Row], Row]] = {
    "edge": lambda row: (120.0, 60_000.0, "yes", "2026-12-31", 400.0, "m", "3", 24.0, 10_000.0),
    "missing cell": lambda row: (None, *row[1:]),
    "nothing but missing": lambda row: (None,) * len(row),
    "unknown level": lambda row: (*row[:5], "unheard of", "west", *row[7:]),
    "no word of a flag": lambda row: (*row[:2], "perhaps", *row[3:]),
    "no date": lambda row: (*row[:3], "soon", *row[4:]),
    "far": lambda row: (-1e300, 1e300, row[2], "9999-12-31", float("inf"), *row[5:7], 1e300, -1e300),
    "tiny": lambda row: (5e-324, -5e-324, row[2], "0001-01-01", -0.0, *row[5:7], -5e-324, 5e-324),
}


def declared_neighbours(*, relation: Relation, hostile: str, generator: np.random.Generator) -> tuple[pa.Table, pa.Table]:
    """Return a table of declared columns, and its neighbour without the row of hostile cells, or with a plain one."""
    rows, plain = [declared_row(generator) for _ in range(DECLARED_ROWS)], declared_row(generator)
    place = int(generator.integers(len(rows) + 1))
    other = [] if relation is ADD else [plain]
    left, right = ([*rows[:place], *own, *rows[place:]] for own in ([HOSTILE_CELLS[hostile](plain)], other))
    return declared_table(left), declared_table(right)


def declared_table(rows: list[Row]) -> pa.Table:
    """Return rows as a table."""
    schema = pa.schema(DECLARED_TYPES)
    return pa.Table.from_pylist([dict(zip(schema.names, row, strict=True)) for row in rows], schema=schema)


def declared_row(generator: np.random.Generator) -> Row:
    """Return one made-up person of two groups; two in five miss their age, one in five other values."""
    group = int(generator.integers(2))
    gaps = generator.random(len(DECLARED_TYPES)) < 0.2
    gaps[0] = generator.random() < 0.4
    values = (
        30.0 + 40.0 * group + float(generator.normal(0, 3)),
        2_000.0 + 30_000.0 * group + float(generator.normal(0, 200)),
        "yes" if generator.random() < 0.2 + 0.6 * group else "no",
        f"202{1 + 4 * group}-0{generator.integers(1, 10)}-11",
        90.0 + 60.0 * group + float(generator.normal(0, 5)),
        str(generator.choice(["f", "m"])),
        ("north", "south", "3")[group + int(generator.integers(2))],
        23.0 + 10.0 * group + float(generator.normal(0, 1)),
        10.0 ** (1 + 2 * group + float(generator.normal(0, 0.1))),
    )
    return tuple(None if gap else value for gap, value in zip(gaps, values, strict=True))


# -- engines -------------------------------------------------------------------------------------------------------------

AUDIT_ENGINES = ("numpy", "arrow", "parquet", "csv", "pandas", "polars", "dask", "spark")
DECLARED_ENGINES = ("arrow", "parquet", "csv", "pandas")
WRITERS: dict[str, Callable[[pa.Table, Path], object]] = {"csv": pyarrow.csv.write_csv, "parquet": pyarrow.parquet.write_table}
LIBRARIES = {"pandas": "pandas", "polars": "polars", "dask": "distributed", "spark": "pyspark"}


def installed(engine: str) -> bool:
    """Whether the library behind an engine is there; Spark needs Java, too."""
    found = importlib.util.find_spec(LIBRARIES.get(engine, "numpy")) is not None
    return found and (engine != "spark" or shutil.which("java") is not None)


def as_table(rows: FloatArray | pa.Table, engine: str, folder: Path, name: str) -> Any:
    """Return rows as a table that `engine` reads; an array, Dask and Spark take numbers only."""
    if engine == "numpy":
        return rows
    if engine == "dask":
        import dask.array as da

        return da.from_array(rows, chunks=(17, rows.shape[1]))
    if engine == "spark":
        return _spark(rows)
    table = rows if isinstance(rows, pa.Table) else pa.table({f"c{index}": column for index, column in enumerate(rows.T)})
    if engine == "pandas":
        return table.to_pandas()
    if engine == "polars":
        import polars as pl  # type: ignore[import-not-found,unused-ignore]

        return pl.from_arrow(table)
    if engine == "arrow":
        return table
    file = folder / f"{name}.{engine}"
    WRITERS[engine](table, file)
    return file


def _spark(rows: FloatArray) -> Any:
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers must find the package that is audited
    quiet = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "OFF"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of libraries that are upgraded at their own pace
        session = SparkSession.builder.master("local[2]").config(map=quiet).getOrCreate()
    table = [tuple(None if np.isnan(one) else float(one) for one in row) for row in rows]
    return session.createDataFrame(table, ", ".join(f"c{index} double" for index in range(rows.shape[1]))).coalesce(2)


# -- the rows of a made-up table, whoever holds them ---------------------------------------------------------------------


def all_rows(source: Rows) -> Block:
    """Return the rows themselves, with whatever columns are hidden; of tables that are made up."""
    return np.asarray(source.fold(_AllRows()))


class _AllRows:
    """A kernel that returns the rows themselves."""

    def __call__(self, block: Any) -> Block:
        return np.array(block, dtype=np.float64)

    def merge(self, left: Block, right: Block) -> Block:
        """Join the rows of two blocks."""
        return np.concatenate([left, right])


def sample_coupled(source: Rows, coins: Coins) -> Rows:
    """Return a sample of a made-up table in which rows have the same coins as equal rows of another table.

    A real sample goes by positions, which shift where a row is inserted; its coins are secret and could as well have shifted
    along. Here a row gets its coin by what it holds and by how many equal rows came before it. Among all coins this is as
    likely as any other assignment, and the rows that two tables share have the same coins in both.
    """
    table, seen = np.ascontiguousarray(all_rows(source)), Counter[bytes]()
    kept = []
    for place, row in enumerate(table):
        content = row.tobytes()
        coin = b"cloister/coupled/" + coins.key + seen[content].to_bytes(8, "little") + content
        if int.from_bytes(hashlib.shake_256(coin).digest(8), "little") < coins.share * 2.0**64:
            kept.append(place)
        seen[content] += 1
    return ArrayRows(table[kept], source.schema)
