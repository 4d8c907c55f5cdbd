# SPDX-License-Identifier: Apache-2.0
"""Rows of a data set by its name: generated exactly, read from the folder of --data or CLOISTER_DATA, or an own realisation.

Besides the 34 names of Table I: ``sklearn_K_D`` for any K and D, and ``blobs_N_D_K`` for N rows of the same kind.
"""

from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import pairwise_distances_argmin_min

from ._arrays import Array
from ._errors import BenchError
from ._generate import scale
from ._sources import find_file, sources

__all__ = ["DataSet", "in_unit_ball", "load", "origin_of", "read_file", "shape_of"]

SAMPLED = {"birch2": 25_000}  # rows that the paper draws from the file
SAMPLE_SEED = 0
LARGEST_CACHE = 1 << 30  # bytes of rows kept in a process


@dataclass(frozen=True, eq=False)
class DataSet:
    """Rows centred and scaled to the unit ball, as the papers do (both taken as public for the comparison)."""

    name: str
    rows: Array
    n_clusters: int

    @property
    def delta(self) -> float:
        """One over N to the power 1.1."""
        return float(len(self.rows) ** -1.1)

    @cached_property
    def reach(self) -> float:
        """The largest absolute coordinate: the box that the papers give to methods which need one."""
        return float(np.abs(self.rows).max())

    def loss(self, centers: Array) -> float:
        """Mean squared distance to the nearest centre."""
        return float(np.mean(pairwise_distances_argmin_min(self.rows, centers)[1] ** 2))


def load(name: str, folder: str | None = None) -> DataSet:
    """Return a data set by its name; what was loaded lately is kept."""
    key = (name, folder)
    if key not in _CACHE:
        _CACHE[key] = _load(name, folder)
        while len(_CACHE) > 1 and sum(data.rows.nbytes for data in _CACHE.values()) > LARGEST_CACHE:
            _CACHE.popitem(last=False)
    _CACHE.move_to_end(key)
    return _CACHE[key]


def shape_of(name: str) -> tuple[int, int, int]:
    """Return rows (about), columns and clusters of a data set, without loading it."""
    source = sources().get(name)
    return _numbers(name) if source is None else (source.n_rows, source.n_features, source.n_clusters)


def origin_of(name: str, folder: str | None = None) -> str:
    """Return how the rows of a data set come about, without loading them; refuse what cannot be had."""
    source = sources().get(name)
    if source is None:
        _numbers(name)
        return "exact"
    origin = source.origin(folder)
    if origin is None:
        raise BenchError(source.missing())
    return origin


_CACHE: OrderedDict[tuple[str, str | None], DataSet] = OrderedDict()


def _load(name: str, folder: str | None) -> DataSet:
    origin, source = origin_of(name, folder), sources().get(name)
    if name == "iris":
        return in_unit_ball(name, load_iris().data, 3)
    if source is None or source.file is None:
        return _blobs(name)
    if origin == "own":
        generator = np.random.default_rng([source.n_clusters, source.n_features])
        return in_unit_ball(name, scale(generator, source.n_clusters, source.n_features), source.n_clusters)
    place = find_file(source.file, folder)
    assert place is not None
    rows = read_file(place)
    source.check(rows.shape, place)
    if name in SAMPLED:
        rows = rows[np.random.default_rng(SAMPLE_SEED).permutation(len(rows))[: SAMPLED[name]]]
    return in_unit_ball(name, rows, source.n_clusters)


def read_file(place: Path) -> Array:
    """Return the rows of a file."""
    try:
        with np.load(place) as stored:
            return np.asarray(stored["X"], dtype=np.float64)
    except (OSError, ValueError, KeyError) as error:
        raise BenchError(f"{place.name}: expected an .npz file with an array X, got {error}. Write it anew.") from None


def _blobs(name: str) -> DataSet:
    n_rows, n_features, n_clusters = _numbers(name)
    rows = make_blobs(n_samples=n_rows, n_features=n_features, centers=n_clusters, random_state=1)[0]
    return in_unit_ball(name, np.round(rows, 4), n_clusters)


def _numbers(name: str) -> tuple[int, int, int]:
    """Return rows, columns and clusters of ``sklearn_K_D`` or ``blobs_N_D_K``."""
    kind, *parts = name.split("_")
    if not all(part.isdigit() and int(part) > 0 for part in parts) or (kind, len(parts)) not in (("sklearn", 2), ("blobs", 3)):
        raise BenchError(f"--datasets: expected names of 'python -m benchmarks list', got {name!r}. Check the spelling.")
    numbers = [int(part) for part in parts]
    return (20_000, numbers[1], numbers[0]) if kind == "sklearn" else (numbers[0], numbers[1], numbers[2])


def in_unit_ball(name: str, rows: Array, n_clusters: int) -> DataSet:
    """Return rows centred and scaled to the unit ball."""
    centred = rows - rows.mean(axis=0)
    return DataSet(name, centred / np.linalg.norm(centred, axis=1).max(), n_clusters)
