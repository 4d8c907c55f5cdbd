# SPDX-License-Identifier: Apache-2.0
"""Data sets of the papers: generated exactly, or read from a folder given by --data or CLOISTER_DATA."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import pairwise_distances_argmin_min

Array = npt.NDArray[np.float64]
EPSILONS = (0.25, 0.5, 1.0, 2.0, 4.0)
FILES = {
    "adult": ("adult", 3),
    "letter": ("letter", 26),
    "gas": ("gas_turbine", 6),
    "mnist": ("mnist_lenet84", 10),
    "g2_4": ("g2_4_50", 2),
    "g2_16": ("g2_16_50", 2),
    "g2_64": ("g2_64_50", 2),
    "g2_128": ("g2_128_50", 2),
}


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

    def loss(self, centers: Array) -> float:
        """Mean squared distance to the nearest centre."""
        return float(np.mean(pairwise_distances_argmin_min(self.rows, centers)[1] ** 2))


def load(name: str, folder: str | None = None) -> DataSet:
    """Return a data set by its name in Table I."""
    if name == "iris":
        return _prepare(name, load_iris().data, 3)
    if name.startswith("sklearn_"):
        clusters, features = (int(part) for part in name.split("_")[1:])
        rows = make_blobs(n_samples=20_000, n_features=features, centers=clusters, random_state=1)[0]
        return _prepare(name, np.round(rows, 4), clusters)
    if name.startswith("scale_"):
        file, clusters = name, int(name.split("_")[1])
    elif name in FILES:
        file, clusters = FILES[name]
    else:
        raise SystemExit(f"unknown data set {name!r}: iris, sklearn_K_D, scale_K_D, {', '.join(FILES)}")
    place = Path(folder or os.environ.get("CLOISTER_DATA", "")) / f"{file}.npz"
    if not place.is_file():
        raise SystemExit(f"{name}: {place.name} is missing. Pass --data DIR or set CLOISTER_DATA to the folder that holds it.")
    return _prepare(name, np.load(place)["X"].astype(np.float64), clusters)


def area(losses: dict[float, float]) -> float:
    """Area under the loss over epsilon, by trapezoids."""
    epsilons = sorted(losses)
    return float(np.trapezoid([losses[epsilon] for epsilon in epsilons], epsilons))


def _prepare(name: str, rows: Array, n_clusters: int) -> DataSet:
    centred = rows - rows.mean(axis=0)
    return DataSet(name, centred / np.linalg.norm(centred, axis=1).max(), n_clusters)


if __name__ == "__main__":
    for one in sys.argv[1:]:
        print(one, load(one).rows.shape)
