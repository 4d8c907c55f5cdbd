# SPDX-License-Identifier: Apache-2.0
"""Neighbouring tables that differ in one hostile row, and the engines that read them."""

import importlib.util
import os
import shutil
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cloister.columns import Domain, FloatArray, Relation

__all__ = ["AUDIT_ENGINES", "HOSTILE", "Neighbours", "PersonTable", "as_table", "installed", "neighbours"]

AUDIT_ENGINES = ("numpy", "arrow", "parquet", "csv", "pandas", "polars", "dask", "spark")
LIBRARIES = {"pandas": "pandas", "polars": "polars", "dask": "distributed", "spark": "pyspark"}
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
SIGNALLING = np.uint64(0x7FF00000000007A2).view(np.float64)  # the NA of R: a NaN that computing with it reports


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Two tables that are neighbours under a relation."""

    left: FloatArray
    right: FloatArray


@dataclass(frozen=True, eq=False)
class PersonTable:
    """Rows, and whose they are."""

    rows: FloatArray
    ids: npt.NDArray[Any]

    def joined(self, rows: FloatArray, who: object, generator: np.random.Generator) -> "PersonTable":
        """Return the table with the rows of one more person, anywhere among the others."""
        order = generator.permutation(len(self.rows) + len(rows))
        ids = np.concatenate([self.ids, np.full(len(rows), who, dtype=self.ids.dtype)])
        return PersonTable(np.concatenate([self.rows, rows])[order], ids[order])


def neighbours(
    domain: Domain,
    n_features: int,
    *,
    relation: Relation,
    hostile: str,
    generator: np.random.Generator,
    other: str = "edge",
    size: int = 40,
) -> Neighbours:
    """Return a made-up table and its neighbour: without the hostile row, or with it replaced by one on the other side."""
    rows = _cluster_rows(domain, n_features, size, generator)
    one = _hostile_row(domain, rows, hostile, side=1.0)
    place = int(generator.integers(len(rows) + 1))
    left = np.insert(rows, place, one, axis=0)
    if relation is Relation.ADD_REMOVE:
        return Neighbours(left, rows)
    return Neighbours(left, np.insert(rows, place, _hostile_row(domain, rows, other, side=-1.0), axis=0))


def installed(engine: str) -> bool:
    """Whether the library behind an engine is there; Spark needs Java, too."""
    library = LIBRARIES.get(engine)
    if library is not None and importlib.util.find_spec(library) is None:
        return False
    return engine != "spark" or shutil.which("java") is not None


def as_table(rows: FloatArray, engine: str, folder: Path, name: str) -> Any:
    """Return rows as a table that `engine` reads."""
    return _MAKERS[engine](rows, folder / name)


def _cluster_rows(domain: Domain, n_features: int, size: int, generator: np.random.Generator) -> FloatArray:
    """Return two clusters and a few rows anywhere, in the units of the input."""
    middles = np.repeat([[-0.4], [0.5]], size // 2, axis=0) * np.ones(n_features)
    unit = middles + 0.1 * generator.normal(size=(size, n_features))
    unit[::7] = generator.uniform(-1, 1, size=unit[::7].shape)
    return domain.frame().from_unit(unit / n_features**0.5)


def _hostile_row(domain: Domain, rows: FloatArray, kind: str, *, side: float) -> FloatArray:
    frame, width = domain.frame(), rows.shape[1]
    center, reach = frame.center, frame.scale
    edge = np.ones(width) / width**0.5
    if kind in ("edge", "outside"):
        return np.asarray(center + side * (1.0 if kind == "edge" else 3.0) * edge * reach)
    if kind == "axis":
        return np.asarray(center + side * np.eye(1, width)[0] * reach)
    if kind == "tie":  # as far from one row as from another
        return np.asarray((rows[0] + rows[-1]) / 2) if len(rows) else center.copy()
    if kind == "duplicate":
        return np.array(rows[0] if len(rows) else center)
    row: FloatArray = center + side * edge * reach
    if kind == "all missing":
        return np.full(width, np.nan)
    far = {"infinite": np.inf, "huge": 1e300, "minus huge": -1e300}
    row[0] = side * far[kind] if kind in far else {"missing": np.nan, "signalling": SIGNALLING}[kind]
    return row


def _columns(rows: FloatArray) -> dict[str, FloatArray]:
    return {f"c{index}": np.ascontiguousarray(rows[:, index]) for index in range(rows.shape[1])}


def _arrow(rows: FloatArray, path: Path) -> Any:
    import pyarrow as pa

    return pa.table(_columns(rows))


def _parquet(rows: FloatArray, path: Path) -> Any:
    import pyarrow.parquet as pq

    file = path.with_suffix(".parquet")
    pq.write_table(_arrow(rows, path), file)
    return file


def _csv(rows: FloatArray, path: Path) -> Any:
    file = path.with_suffix(".csv")
    lines = [",".join(_columns(rows)), *(",".join("" if np.isnan(one) else repr(float(one)) for one in row) for row in rows)]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def _pandas(rows: FloatArray, path: Path) -> Any:
    import pandas as pd

    return pd.DataFrame(_columns(rows))


def _polars(rows: FloatArray, path: Path) -> Any:
    import polars as pl  # type: ignore[import-not-found,unused-ignore]

    return pl.DataFrame(_columns(rows))


def _dask(rows: FloatArray, path: Path) -> Any:
    import dask.array as da

    return da.from_array(rows, chunks=(17, rows.shape[1]))


def _spark(rows: FloatArray, path: Path) -> Any:
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers must find the package that is audited
    quiet = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "OFF"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of libraries that are upgraded at their own pace
        session = SparkSession.builder.master("local[2]").config(map=quiet).getOrCreate()
    table = [tuple(None if np.isnan(one) else float(one) for one in row) for row in rows]
    return session.createDataFrame(table, ", ".join(f"{name} double" for name in _columns(rows))).coalesce(2)


_MAKERS: dict[str, Callable[[FloatArray, Path], Any]] = {
    "numpy": lambda rows, path: rows,
    "arrow": _arrow,
    "parquet": _parquet,
    "csv": _csv,
    "pandas": _pandas,
    "polars": _polars,
    "dask": _dask,
    "spark": _spark,
}
