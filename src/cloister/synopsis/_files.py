# SPDX-License-Identifier: Apache-2.0
"""A synopsis as a file: JSON, or Parquet with one row per cell or point and the rest in its metadata."""

import json
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from cloister import validate
from cloister.algorithms import COUNT_RULES, LARGEST_FACTOR, GridSplit
from cloister.columns import Box, Frame, domain_from_dict
from cloister.questions import LARGEST_GRID
from cloister.release import CellSummary, read_shared
from cloister.synopsis._grid import Grid
from cloister.synopsis._points import LARGEST_N_CLUSTERS, Places

if TYPE_CHECKING:
    import pyarrow as pa

    from cloister.synopsis._synopsis import Synopsis

FORMAT = "cloister.synopsis"
GRID, POINTS = "grid", "points"  # the kinds
ARRAYS = ("unit_points", "unit_errors", "unit_variances")
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

    head = json.dumps({**data, "noisy_counts": None}, allow_nan=False)
    sink = pa.BufferOutputStream()
    pyarrow.parquet.write_table(make_table().replace_schema_metadata({FORMAT: head}), sink)
    return bytes(sink.getvalue())


def decode(content: bytes) -> Any:
    """Return what a file holds as plain data."""
    if not content.startswith(PARQUET):
        return json.loads(content)
    import pyarrow as pa
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(pa.BufferReader(content))
    head = json.loads((table.schema.metadata or {}).get(FORMAT.encode(), b"{}"))
    return {**head, "noisy_counts": table.column("noisy_count").to_numpy()} if "noisy_counts" in head else head


def plain_fields(synopsis: "Synopsis") -> dict[str, Any]:
    """Return the points or the grid of a synopsis as plain data."""
    counted = {"noisy_counts": synopsis.noisy_counts.tolist(), "sigma": synopsis.sigma, "total": synopsis.total}
    if synopsis.places is not None:
        arrays = {name: getattr(synopsis.places, name).tolist() for name in ARRAYS}
        scatter = {"scatter_error": synopsis.places.scatter_error, "max_clusters": synopsis.max_clusters}
        return {"kind": POINTS, **counted, **arrays, **scatter}
    assert synopsis.grid is not None
    split = synopsis.grid.split
    found = {"kind": GRID, **counted, "cells": list(synopsis.grid.cells), "counts": synopsis.grid.counts}
    if split is not None:
        found["split"] = {"factors": split.factors.ravel().tolist(), "coarse": list(split.coarse), "sigma": split.sigma}
    return found


def read_fields(data: Any) -> dict[str, Any]:
    """Return the fields of a synopsis."""
    validate.one_of("load_synopsis.kind", data["kind"], (GRID, POINTS))
    domain, cells = domain_from_dict(data["domain"]), data["column_cells"]
    cells = None if cells is None else CellSummary.from_dict(cells, domain)
    frame = domain.frame(scaling=str(data["scaling"]), missing=None if cells is None else cells.places)
    return {
        "noisy_counts": np.array(data["noisy_counts"], dtype=np.float64),
        "sigma": float(data["sigma"]),
        "total": None if data["total"] is None else float(data["total"]),
        "frame": frame,
        "column_cells": cells,
        **read_shared(data),
        **(_read_grid(data, frame) if data["kind"] == GRID else _read_places(data)),
    }


def _read_places(data: Any) -> dict[str, Any]:
    arrays = {name: np.array(data[name], dtype=np.float64) for name in ARRAYS}
    most = validate.integer("load_synopsis.max_clusters", data["max_clusters"], low=1, high=LARGEST_N_CLUSTERS)
    return {"places": Places(**arrays, scatter_error=float(data["scatter_error"])), "max_clusters": most}


def _read_grid(data: Any, frame: Frame) -> dict[str, Any]:
    if frame.half_widths is None or data["scaling"] not in ("bounds", "none"):
        raise ValueError("domain")
    cells = tuple(validate.integer("load_synopsis.cells", count, low=1, high=LARGEST_GRID) for count in data["cells"])
    counts = validate.one_of("load_synopsis.counts", data["counts"], COUNT_RULES)
    split = None if data.get("split") is None else _read_split(data["split"], cells)
    return {"grid": Grid(box=Box(*frame.domain.ranges), cells=cells, counts=counts, split=split)}


def _read_split(data: Any, cells: tuple[int, ...]) -> GridSplit:
    """Read how cells are split; factors must be powers of two that make the finest grid."""
    factors = np.array(data["factors"])
    if factors.dtype.kind != "i" or not factors.size or factors.min() < 1 or factors.max() > LARGEST_FACTOR:
        raise ValueError("factors")
    split = GridSplit(factors.astype(np.int64).reshape(data["coarse"]), float(data["sigma"]))
    if (factors & (factors - 1)).any() or split.cells != cells or math.prod(split.cells) > LARGEST_GRID:
        raise ValueError("factors")
    if not 1 / LARGEST_COUNT <= split.sigma <= LARGEST_COUNT:
        raise ValueError("sigma")
    return split


def refuse_misfit(synopsis: "Synopsis") -> None:
    """Refuse numbers that do not belong together, and numbers that are none."""
    counts, total, names, places = synopsis.noisy_counts, synopsis.total, synopsis.feature_names, synopsis.places
    n_features = synopsis.frame.n_features
    fits = {
        "noisy_counts": counts.ndim == 1 and counts.size > 0 and (np.abs(counts) <= LARGEST_COUNT).all(),
        "feature_names": names is None or len(names) == synopsis.frame.n_raw,
        "sigma": 1 / LARGEST_COUNT <= synopsis.sigma <= LARGEST_COUNT,
        "total": total is None or 0 <= total <= LARGEST_COUNT,
    }
    if synopsis.grid is not None:
        fits["cells"] = len(synopsis.grid.cells) == n_features and synopsis.grid.n_cells == counts.size
        fits["columns"] = len(set(synopsis.columns)) == n_features
    if places is not None:
        shape = (counts.size, n_features)
        for name, expected in (("unit_points", shape), ("unit_errors", shape[:1]), ("unit_variances", shape)):
            array, (lowest, highest) = getattr(places, name), (-2.0, 2.0) if name == "unit_points" else (0.0, LARGEST_COUNT)
            fits[name] = array.shape == expected and ((lowest <= array) & (array <= highest)).all()
        fits["scatter_error"] = total is not None and 0 <= places.scatter_error <= LARGEST_COUNT
    for name, one in fits.items():
        if not one:
            raise ValueError(name)
