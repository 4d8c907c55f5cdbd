# SPDX-License-Identifier: Apache-2.0
"""Tables for :mod:`benchmarks.choose_k` on which numbers of clusters are hard to tell, and tables without clusters."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist

from cloister import Ball, Category, Flag

from ._arrays import Array

TRIES = 200  # for a centre that is far enough from the others, before the box is made larger
N_ROWS = 20_000
LEVELS = ["a", "b", "c", "d"]


@dataclass(frozen=True, eq=False)
class Table:
    """Rows, public bounds of them, and the number of clusters that were planted."""

    rows: Any
    bounds: Any
    n_clusters: int


def lay_out(generator: np.random.Generator, n_clusters: int, n_features: int, apart: float) -> Array:
    """Return centres in a cube, none closer to another than it should be; the cube grows until they have room."""
    side = apart * max(1.2, 1.6 * n_clusters ** (1 / n_features))
    centers = generator.uniform(0, side, (1, n_features))
    while len(centers) < n_clusters:
        drawn = generator.uniform(0, side, (TRIES, n_features))
        fits = np.flatnonzero(cdist(drawn, centers).min(axis=1) >= apart)
        if len(fits):
            centers = np.vstack([centers, drawn[fits[0]]])
        else:
            side *= 1.1
    return centers


def bounds_of(rows: Array) -> tuple[float, float]:
    """Return the same bounds for all columns, a little wider than the rows."""
    low, high = float(rows.min()), float(rows.max())
    return low - 0.1 * (high - low), high + 0.1 * (high - low)


def _planted(rows: Array, n_clusters: int) -> Table:
    return Table(rows, bounds_of(rows), n_clusters)


def _few(generator: np.random.Generator) -> int:
    return int(generator.choice((2, 3, 5, 8)))


def elongated(generator: np.random.Generator) -> Table:
    """Six clusters, each four times as long as wide, in a direction of its own."""
    n_features = _few(generator)
    centers, labels = lay_out(generator, 6, n_features, 14.0), generator.integers(6, size=N_ROWS)
    rows = generator.standard_normal((N_ROWS, n_features))
    rows[:, 0] *= 4
    for label in range(6):
        turn = np.linalg.qr(generator.standard_normal((n_features, n_features)))[0]
        rows[labels == label] = rows[labels == label] @ turn
    return _planted(centers[labels] + rows, 6)


def background(generator: np.random.Generator) -> Table:
    """Six clusters, and a fifth of the rows spread evenly around and between them."""
    n_features = _few(generator)
    centers = lay_out(generator, 6, n_features, 9.0)
    rows = centers[generator.integers(6, size=N_ROWS)] + generator.standard_normal((N_ROWS, n_features))
    anywhere = generator.random(N_ROWS) < 0.2
    rows[anywhere] = generator.uniform(centers.min(axis=0) - 4, centers.max(axis=0) + 4, (int(anywhere.sum()), n_features))
    return _planted(rows, 6)


def uneven(generator: np.random.Generator) -> Table:
    """Six clusters, the largest with a hundred times as many rows as the smallest."""
    n_features = _few(generator)
    sizes = np.geomspace(1, 0.01, 6)
    labels = generator.choice(6, size=N_ROWS, p=sizes / sizes.sum())
    centers = lay_out(generator, 6, n_features, 9.0)
    return _planted(centers[labels] + generator.standard_normal((N_ROWS, n_features)), 6)


def mixed(generator: np.random.Generator) -> Table:
    """Five groups that differ in two numbers, in how often a flag is set and in the shares of three levels."""
    labels = generator.integers(5, size=N_ROWS)
    rows = lay_out(generator, 5, 2, 6.0)[labels] + generator.standard_normal((N_ROWS, 2))
    shares = generator.dirichlet(np.full(3, 0.3), 5).cumsum(axis=1)[labels]
    levels = np.minimum((generator.random((N_ROWS, 1)) > shares).sum(axis=1), 2)
    flags = generator.random(N_ROWS) < generator.uniform(0.1, 0.9, 5)[labels]
    low, high = bounds_of(rows)
    frame = pd.DataFrame({"age": rows[:, 0], "glucose": rows[:, 1], "ward": np.array(LEVELS)[levels], "insulin": flags})
    ward, insulin = Category(LEVELS[:3], weight=0.25), Flag(weight=0.25)
    return Table(frame, {"age": (low, high), "glucose": (low, high), "ward": ward, "insulin": insulin}, 5)


def topics(generator: np.random.Generator) -> Table:
    """Twenty groups of directions in 256 columns, as embeddings have them."""
    n_features = 256
    sizes = generator.dirichlet(np.full(20, 4.0))
    centers = generator.standard_normal((20, n_features))
    rows = centers[generator.choice(20, size=N_ROWS, p=sizes)] + 1.2 * generator.standard_normal((N_ROWS, n_features))
    return Table(rows / np.linalg.norm(rows, axis=1)[:, None], Ball(1.0), 20)


def _on_sphere(generator: np.random.Generator, n_features: int) -> Array:
    rows = generator.standard_normal((N_ROWS, n_features))
    return np.asarray(rows / np.linalg.norm(rows, axis=1)[:, None])


def _banana(generator: np.random.Generator) -> Array:
    rows = generator.standard_normal((N_ROWS, 2))
    rows[:, 1] += 1.5 * (rows[:, 0] ** 2 - 1)
    return rows


def _ring(generator: np.random.Generator) -> Array:
    return _on_sphere(generator, 2) * (1 + 0.1 * generator.standard_normal((N_ROWS, 1)))


def _correlated(generator: np.random.Generator) -> Array:
    return np.asarray(generator.standard_normal((N_ROWS, 5)) @ generator.standard_normal((5, 5)))


def _yes_no(generator: np.random.Generator) -> Array:
    return (generator.random((N_ROWS, 12)) < generator.uniform(0.2, 0.8, 12)).astype(np.float64)


def _plain(make: Callable[[np.random.Generator], Array]) -> Callable[[np.random.Generator], Table]:
    def table(generator: np.random.Generator) -> Table:
        return _planted(make(generator), 1)

    return table


def _columns(make: Callable[[np.random.Generator], Any], declared: Any, n_columns: int) -> Callable[..., Table]:
    def table(generator: np.random.Generator) -> Table:
        names = [f"c{index}" for index in range(n_columns)]
        return Table(pd.DataFrame({name: make(generator) for name in names}), dict.fromkeys(names, declared), 1)

    return table


def _levels(generator: np.random.Generator) -> Any:
    return np.array(LEVELS)[generator.choice(4, size=N_ROWS, p=generator.dirichlet(np.full(4, 3.0)))]


def _flags(generator: np.random.Generator) -> Any:
    return generator.random(N_ROWS) < generator.uniform(0.2, 0.8)


HARD: dict[str, Callable[[np.random.Generator], Table]] = {
    "elongated": elongated,
    "background": background,
    "sizes 1:100": uneven,
    "mixed columns": mixed,
    "topics": topics,
}
WITHOUT: dict[str, Callable[[np.random.Generator], Table]] = {
    "uniform, 2 columns": _plain(lambda generator: generator.uniform(size=(N_ROWS, 2))),
    "uniform, 8 columns": _plain(lambda generator: generator.uniform(size=(N_ROWS, 8))),
    "flat box": _plain(lambda generator: generator.uniform(size=(N_ROWS, 5)) * [10, 3, 1, 1, 0.1]),
    "triangle": _plain(lambda generator: generator.dirichlet(np.ones(3), N_ROWS)[:, :2]),
    "simplex, 4 columns": _plain(lambda generator: generator.dirichlet(np.ones(5), N_ROWS)[:, :4]),
    "normal, 2 columns": _plain(lambda generator: generator.standard_normal((N_ROWS, 2))),
    "normal, 5 columns": _plain(lambda generator: generator.standard_normal((N_ROWS, 5))),
    "normal, 20 columns": _plain(lambda generator: generator.standard_normal((N_ROWS // 2, 20))),
    "long normal": _plain(lambda generator: generator.standard_normal((N_ROWS, 4)) * [10, 3, 1, 1]),
    "correlated normal": _plain(_correlated),
    "exponential": _plain(lambda generator: generator.exponential(size=(N_ROWS, 3))),
    "lognormal": _plain(lambda generator: generator.lognormal(size=(N_ROWS, 3))),
    "Student t": _plain(lambda generator: generator.standard_t(3, (N_ROWS, 3))),
    "banana": _plain(_banana),
    "arcsine": _plain(lambda generator: generator.beta(0.5, 0.5, (N_ROWS, 3))),
    "surface of a sphere": _plain(lambda generator: _on_sphere(generator, 3)),
    "ring": _plain(_ring),
    "yes and no, 12 columns": _plain(_yes_no),
    "flags, 8 columns": _columns(_flags, Flag(), 8),
    "categories, 6 columns": _columns(_levels, Category(LEVELS), 6),
}
