# SPDX-License-Identifier: Apache-2.0
"""Source and target of the source-target paper: three synthetic pairs, drawn anew in each run, and pairs of real data."""

import numpy as np

from .._arrays import Array
from .._errors import BenchError
from .._sources import find_file

__all__ = ["REAL_PAIRS", "SHOWN", "SYNTHETIC", "load_pair", "pair_missing"]

DIMENSION = 8  # wider data are projected to so many at random
MOST_TARGETS = 2000
# name of the file, array that splits it, the values in the order of the names below, where it comes from
FILES = {
    "mnist": ("mnist_lenet84", "y", "0123456789", "MNIST, 84 features of a LeNet-5"),
    "office": ("office10_googlenet_rp64", "domain", "awd", "Office-10, GoogLeNet features: amazon, webcam, dslr"),
    "superconductivity": ("superconductivity", "domain", ("l", "ml", "mh", "h"), "UCI 464, Superconductivity, in four domains"),
}


def _ordered_pairs(kind: str) -> list[str]:
    parts = FILES[kind][2]
    return [f"{kind}:{one}:{two}" for one in parts for two in parts if one != two]


# Source, then target. Digits as in the paper, both ways; all pairs of the others.
REAL_PAIRS = (
    *(f"mnist:{one}:{two}" for one, two in ("17", "71", "52", "25", "96", "69")),
    *_ordered_pairs("office"),
    *_ordered_pairs("superconductivity"),
)
SHOWN = ("mnist:6:9", "office:a:w", "superconductivity:h:mh")  # at the bottom of Figure 3


def load_pair(name: str, folder: str | None, run: int) -> tuple[Array, Array]:
    """Return source and target, scaled together into the unit ball, in at most 8 dimensions."""
    generator = np.random.default_rng(run)
    source, target = SYNTHETIC[name](generator) if name in SYNTHETIC else _real(name, folder)
    if source.shape[1] > DIMENSION:
        projection = generator.standard_normal((source.shape[1], DIMENSION)) / DIMENSION**0.5
        source, target = source @ projection, target @ projection
    both = np.vstack([source, target])
    center = (both.max(axis=0) + both.min(axis=0)) / 2
    scale = np.linalg.norm(both - center, axis=1).max()
    return (source - center) / scale, (target - center) / scale


def pair_missing(name: str, folder: str | None) -> str | None:
    """Say what a pair lacks, or None."""
    if name in SYNTHETIC:
        return None
    file, _, _, comes_from = FILES[name.split(":")[0]]
    if find_file(file, folder) is None:
        remedy = f"Pass --data DIR (or set CLOISTER_DATA) with a folder that holds it, from {comes_from}."
        return f"{name}: {file}.npz is missing. {remedy}"
    return None


def _synthetic1(generator: np.random.Generator) -> tuple[Array, Array]:
    return generator.normal(0.15, 0.4**0.5, (1000, 2)), generator.normal(0.95, 0.4**0.5, (1000, 2))


def _synthetic2(generator: np.random.Generator) -> tuple[Array, Array]:
    grid = np.array([[x, y] for x in range(3) for y in range(3)]) * 0.1
    top = np.vstack([grid + np.array([0.1, 0.7]), grid + np.array([0.6, 0.7])])
    left, right = grid + np.array([0.1, 0.1]), grid + np.array([0.6, 0.1])
    return _blobs(generator, np.vstack([top, right]), 0.01, 100), _blobs(generator, np.vstack([left, right]), 0.01, 50)


def _synthetic3(generator: np.random.Generator) -> tuple[Array, Array]:
    return _blobs(generator, generator.random((6, 2)), 0.03, 200), _blobs(generator, generator.random((12, 2)), 0.01, 80)


SYNTHETIC = {"synthetic1": _synthetic1, "synthetic2": _synthetic2, "synthetic3": _synthetic3}


def _blobs(generator: np.random.Generator, means: Array, deviation: float, size: int) -> Array:
    return np.asarray(np.repeat(means, size, axis=0) + generator.normal(0, deviation, (len(means) * size, means.shape[1])))


def _real(name: str, folder: str | None) -> tuple[Array, Array]:
    kind, *sides = name.split(":")
    file, split, parts, _ = FILES[kind]
    missing = pair_missing(name, folder)
    place = find_file(file, folder)
    if missing is not None or place is None:
        raise BenchError(missing or name)
    with np.load(place) as stored:
        rows, labels = stored["X"].astype(np.float64), stored[split]
    if kind == "superconductivity":
        rows = (rows - rows.mean(axis=0)) / np.maximum(rows.std(axis=0), 1e-9)
    source, target = (rows[labels == list(parts).index(side)] for side in sides)
    return source, target[np.random.default_rng(1).permutation(len(target))[:MOST_TARGETS]]
