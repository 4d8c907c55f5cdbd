# SPDX-License-Identifier: Apache-2.0
"""A synopsis as a file: JSON, or Parquet with one row per cell and the rest in its metadata."""

import json
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from cloister import validate
from cloister.algorithms import COUNT_RULES, LARGEST_FACTOR, GridSplit
from cloister.columns import Box, ColumnDomain
from cloister.privacy import Receipt
from cloister.questions import LARGEST_GRID
from cloister.release import CellSummary, read_steps, refuse_odd_values

if TYPE_CHECKING:
    import pyarrow as pa

    from cloister.synopsis._synopsis import Synopsis

__all__ = [
    "FORMAT",
    "LARGEST_COUNT",
    "VERSION",
    "decode",
    "encode",
    "file_kind",
    "read_fields",
    "refuse_misfit",
    "split_fields",
]

FORMAT = "cloister.synopsis"
VERSION = 1
FILES = ("json", "parquet")
PARQUET = b"PAR1"
LARGEST_COUNT = 1e100  # its square is finite


def file_kind(where: str, name: str) -> str:
    """Return the kind of file that a name asks for, or refuse it."""
    kind = name.lower().rpartition(".")[2]
    if kind not in FILES:
        validate.refuse(where, "a .json or .parquet file", name, remedy="Choose one of these endings.")
    return kind


def encode(data: dict[str, Any], make_table: "Callable[[], pa.Table]", kind: str) -> bytes:
    """Return what a file of the kind holds; of Parquet the table, and all that is not in it as metadata."""
    validate.one_of("Synopsis.to_bytes.kind", kind, FILES)
    if kind == "json":
        return (json.dumps(data, allow_nan=False) + "\n").encode()
    import pyarrow as pa
    import pyarrow.parquet

    head = json.dumps({**data, "noisy_counts": None} if "cells" in data else data, allow_nan=False)
    sink = pa.BufferOutputStream()
    pyarrow.parquet.write_table(make_table().replace_schema_metadata({FORMAT: head}), sink)
    return bytes(sink.getvalue())


def decode(content: bytes) -> Any:
    """Return what a file holds as plain data."""
    return _read_parquet(content) if content.startswith(PARQUET) else json.loads(content)


def read_fields(data: Any) -> dict[str, Any]:
    """Return the fields of a synopsis."""
    refuse_odd_values({name: value for name, value in data.items() if name != "noisy_counts"})
    names, domain, cells = data["feature_names"], data["domain"], data["cells"]
    split = None if data.get("split") is None else _read_split(data["split"], cells)
    counts = np.array(data["noisy_counts"], dtype=np.float64)
    if split is not None and counts.shape != (split.n_leaves,):
        raise ValueError("split")
    counts = counts.reshape(cells) if split is None else split.spread(counts)
    if list(counts.shape) != list(cells):
        raise ValueError("cells")
    return {
        "noisy_counts": counts,
        "split": split,
        "domain": Box(domain["low"], domain["high"]),
        "scaling": str(data["scaling"]),
        "sigma": float(data["sigma"]),
        "counts": validate.one_of("load_synopsis.counts", data["counts"], COUNT_RULES),
        "receipt": Receipt.from_dict(data["receipt"]),
        "total": None if data["total"] is None else float(data["total"]),
        "feature_names": None if names is None else tuple(map(str, names)),
        "steps": read_steps(data["steps"]),
        "versions": dict(data["versions"]),
        "declared": None if data["declared"] is None else ColumnDomain.from_dict(data["declared"]),
        "column_cells": None if data["column_cells"] is None else _read_cells(data["column_cells"], len(cells)),
    }


def split_fields(split: GridSplit) -> dict[str, Any]:
    """Return a split as plain data."""
    return {"factors": split.factors.ravel().tolist(), "coarse": list(split.coarse), "sigma": split.sigma}


def _read_split(data: Any, cells: Any) -> GridSplit:
    """Read what ``split_fields`` wrote; factors must be powers of two that make the finest grid."""
    factors = np.array(data["factors"])
    if factors.dtype.kind != "i" or not factors.size or factors.min() < 1 or factors.max() > LARGEST_FACTOR:
        raise ValueError("factors")
    split = GridSplit(factors.astype(np.int64).reshape(data["coarse"]), float(data["sigma"]))
    if (factors & (factors - 1)).any() or list(split.cells) != list(cells) or math.prod(split.cells) > LARGEST_GRID:
        raise ValueError("factors")
    if not 1 / LARGEST_COUNT <= split.sigma <= LARGEST_COUNT:
        raise ValueError("sigma")
    return split


def _read_cells(data: Any, n_columns: int) -> CellSummary:
    return CellSummary.from_dict(data, n_columns=n_columns, n_published=n_columns)


def refuse_misfit(synopsis: "Synopsis") -> None:
    """Refuse numbers that do not belong together, and numbers that are none."""
    counts, n_features = synopsis.noisy_counts, synopsis.n_features
    if not counts.size or not n_features or not (np.abs(counts) <= LARGEST_COUNT).all():
        raise ValueError("noisy_counts")
    if synopsis.scaling not in ("bounds", "none") or synopsis.frame.n_features != n_features:
        raise ValueError("domain")
    if synopsis.declared is not None and synopsis.declared.n_columns != n_features:
        raise ValueError("declared")
    if len(synopsis.columns) != n_features or len(set(synopsis.columns)) != n_features:
        raise ValueError("feature_names")
    if not (1 / LARGEST_COUNT <= synopsis.sigma <= LARGEST_COUNT):
        raise ValueError("sigma")
    if not (synopsis.total is None or 0 <= synopsis.total <= LARGEST_COUNT):
        raise ValueError("total")


def _read_parquet(content: bytes) -> dict[str, Any]:
    import pyarrow as pa
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(pa.BufferReader(content))
    head = json.loads((table.schema.metadata or {}).get(FORMAT.encode(), b"{}"))
    return {**head, "noisy_counts": table.column("noisy_count").to_numpy()} if "cells" in head else head
