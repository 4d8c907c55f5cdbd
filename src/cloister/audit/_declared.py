# SPDX-License-Identifier: Apache-2.0
"""Neighbouring tables of declared columns: one row differs in a missing cell, an unknown level, a date that is none."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from cloister import PrivateScaler, methods
from cloister.audit._methods import METHODS
from cloister.columns import Category, Date, Flag, Number, Relation
from cloister.privacy import Guarantee

__all__ = ["DECLARED", "DECLARED_ENGINES", "HOSTILE_CELLS", "declared_fit", "declared_neighbours", "declared_table"]

Row: TypeAlias = tuple[Any, ...]

INTERVALS: dict[str, Any] = {
    "age": (0, 120),
    "income": "private",
    "smoker": Flag(),
    "admitted": Date("2020-01-01", "2026-12-31"),
}
PEOPLE: dict[str, Any] = {
    **INTERVALS,
    "glucose": Number(40, 400, missing="own"),
    "sex": Category(["f", "m"]),
    "ward": Category(["north", "south", "3"], missing="own", weight=2),
}
NAMES = tuple(PEOPLE)
CLUSTERED = ("age", "income", "glucose", "sex")
DESCRIBED: dict[str, Any] = {
    "bounds": {name: PEOPLE[name] for name in CLUSTERED},
    "describe": 0.3,
    "describe_columns": {name: one for name, one in PEOPLE.items() if name not in CLUSTERED},
}
SIZE = 400  # rows, of which many miss a value: all that may be asked of missing values is asked
DECLARED: dict[str, tuple[str, Mapping[str, Any]]] = {  # how each is fitted: the estimator and its options
    "KMeans": ("KMeans", {"bounds": PEOPLE, "n_init": 2}),
    "KMeans, spread": ("KMeans", {"bounds": PEOPLE, "scaling": "spread", "bounds_share": 0.2, "n_init": 2}),
    "KMeans, described": ("KMeans", {**DESCRIBED, "n_init": 2}),
    "LloydKMeans": ("LloydKMeans", {"bounds": PEOPLE, "n_rounds": 2}),
    "TreeKMeans": ("TreeKMeans", {"bounds": PEOPLE, **METHODS["TreeKMeans"].options}),
    "GridSynopsis": ("GridSynopsis", {"bounds": INTERVALS, "rule": 2}),
    "PrivateScaler": ("PrivateScaler", {"bounds": PEOPLE}),
}
HOSTILE_CELLS: dict[str, Callable[[Row], Row]] = {
    "edge": lambda row: (120.0, 60_000.0, "yes", "2026-12-31", 400.0, "m", "3"),
    "missing cell": lambda row: (None, *row[1:]),
    "nothing but missing": lambda row: (None,) * len(row),
    "unknown level": lambda row: (*row[:5], "unheard of", "west"),
    "no word of a flag": lambda row: (*row[:2], "perhaps", *row[3:]),
    "no date": lambda row: (*row[:3], "soon", *row[4:]),
    "far": lambda row: (-1e300, 1e300, row[2], "9999-12-31", float("inf"), *row[5:]),
    "tiny": lambda row: (5e-324, -5e-324, row[2], "0001-01-01", -0.0, *row[5:]),
}
DECLARED_ENGINES = ("arrow", "parquet", "csv", "pandas")


def declared_neighbours(
    *, relation: Relation, hostile: str, generator: np.random.Generator, size: int = SIZE
) -> tuple[list[Row], list[Row]]:
    """Return the rows of a made-up table and of its neighbour."""
    rows = [_row(generator) for _ in range(size)]
    place, plain = int(generator.integers(size + 1)), _row(generator)
    left = [*rows[:place], HOSTILE_CELLS[hostile](plain), *rows[place:]]
    return left, rows if relation is Relation.ADD_REMOVE else [*rows[:place], plain, *rows[place:]]


def declared_fit(
    name: str, guarantee: Guarantee, *, relation: Relation, seed: int, n_rows: int | None = None
) -> Callable[[Any], Any]:
    """Return a function that fits a fresh estimator to a table."""
    estimator, options = DECLARED[name]
    k = () if estimator == "PrivateScaler" else (2,)
    given = {"guarantee": guarantee, "neighbours": relation.value, "random_state": seed, "n_rows": n_rows, "n_jobs": 1}
    kind = methods.METHODS[estimator].estimator if k else PrivateScaler
    return lambda table: kind(*k, **{**options, **given}).fit(table)


def declared_table(rows: list[Row], engine: str, folder: Path, name: str) -> Any:
    """Return rows as a table that `engine` reads; dates are text, of which not every one is a date."""
    import pyarrow as pa

    words = {"smoker", "admitted", "sex", "ward"}
    columns = {
        one: pa.array([row[index] for row in rows], type=pa.string() if one in words else pa.float64())
        for index, one in enumerate(NAMES)
    }
    table = pa.table(columns)
    if engine == "pandas":
        return table.to_pandas()
    if engine in ("parquet", "csv"):
        return _file(table, folder / f"{name}.{engine}", engine)
    return table


def _file(table: Any, path: Path, engine: str) -> Path:
    if engine == "csv":
        from pyarrow import csv

        csv.write_csv(table, path)
    else:
        import pyarrow.parquet as pq

        pq.write_table(table, path)
    return path


def _row(generator: np.random.Generator) -> Row:
    """Return one made-up person of two groups; two in five miss their age, one in five other values."""
    group = int(generator.integers(2))
    gaps = generator.random(len(NAMES)) < 0.2
    gaps[0] = generator.random() < 0.4
    values = (
        30.0 + 40.0 * group + float(generator.normal(0, 3)),
        2_000.0 + 30_000.0 * group + float(generator.normal(0, 200)),
        "yes" if generator.random() < 0.2 + 0.6 * group else "no",
        f"202{1 + 4 * group}-0{generator.integers(1, 10)}-11",
        90.0 + 60.0 * group + float(generator.normal(0, 5)),
        str(generator.choice(["f", "m"])),
        ("north", "south", "3")[group + int(generator.integers(2))],
    )
    return tuple(None if gap else value for gap, value in zip(gaps, values, strict=True))
