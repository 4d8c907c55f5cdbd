# SPDX-License-Identifier: Apache-2.0
"""Rows of two columns as a table of Arrow and as a file of any kind, and how often they are worked on."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

WRITERS = {
    "parquet": lambda table, path: pa.parquet.write_table(table, path, row_group_size=700),
    "csv": pa.csv.write_csv,
    "csv.gz": lambda table, path: table.to_pandas().to_csv(path, index=False),
    "jsonl": lambda table, path: path.write_text("".join(f"{json.dumps(row)}\n" for row in table.to_pylist())),
    "feather": pa.feather.write_feather,
}


def arrow(rows: np.ndarray) -> pa.Table:
    return pa.table({"x": rows[:, 0], "y": rows[:, 1]})


def written(rows: np.ndarray, folder: Path, kind: str) -> Path:
    """Return the path of a file that holds the rows."""
    WRITERS[kind](arrow(rows), folder / f"rows.{kind}")
    return folder / f"rows.{kind}"


def count_calls(monkeypatch, owner, name):
    """Return a list to which each call of a method adds how many rows it was passed."""
    seen, original = [], getattr(owner, name)
    monkeypatch.setattr(owner, name, lambda self, rows: seen.append(len(rows)) or original(self, rows))
    return seen
