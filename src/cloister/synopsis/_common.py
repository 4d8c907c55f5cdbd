# SPDX-License-Identifier: Apache-2.0
"""What all synopses can do, whatever they are made of: a tree of clusters, the loss for any k, and files."""

import math
import os
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cloister import validate
from cloister.algorithms import RESTARTS, KChoice, NoisyPoints, cut_loss, silhouette, ward_tree
from cloister.columns import Domain, FloatArray, Frame
from cloister.files import write_whole
from cloister.privacy import Entropy, Receipt, refuse_seeded
from cloister.release import Release
from cloister.synopsis._files import file_kind
from cloister.synopsis._synthetic import table_of_rows
from cloister.synopsis._views import SynopsisViews

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["LARGEST_N_CLUSTERS", "CommonSynopsis", "LossEstimate", "read_numbers"]

LARGEST_N_CLUSTERS = 1 << 20
LOSS_DRAWS = 30
LOSS_RESTARTS = 5


@dataclass(frozen=True)
class LossEstimate:
    """The mean squared distance of a row to its nearest centre, and its standard error."""

    value: float
    error: float

    def __str__(self) -> str:
        return f"{self.value:.4g} ± {self.error:.2g}"


class CommonSynopsis(SynopsisViews):
    """Base of the synopses: of a grid, and of points."""

    feature_names: tuple[str, ...] | None
    receipt: Receipt

    @property
    @abstractmethod
    def frame(self) -> Frame:
        """The map to the unit ball in which distances are measured."""

    @property
    @abstractmethod
    def table(self) -> Domain:
        """What the columns are."""

    @abstractmethod
    def sample(self, n_rows: int, *, random_state: int | None = None) -> FloatArray:
        """Draw synthetic rows."""

    @abstractmethod
    def cut(self, n_clusters: int, *, n_init: int = RESTARTS, random_state: int | None = None) -> Release:
        """Cluster what was released."""

    @abstractmethod
    def choose_k(self, n_clusters: Iterable[int] | None = None, *, random_state: int | None = None) -> KChoice:
        """Compare numbers of clusters."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the synopsis as plain data."""

    @abstractmethod
    def to_bytes(self, kind: str = "json") -> bytes:
        """Return what a ``"json"`` or ``"parquet"`` file of the synopsis holds."""

    @abstractmethod
    def noisy_points(self, generator: np.random.Generator) -> NoisyPoints:
        """Return weighted points that stand for the rows, a few hundred at most."""

    def tree(self, *, random_state: int | None = None) -> FloatArray:
        """Return how the points are joined to ever fewer clusters (Ward's method), in the format of SciPy's ``linkage``.

        Parameters
        ----------
        random_state : int, optional
            For a grid, whose cells are first put together to at most 256 points.

        Returns
        -------
        array of shape (n_points - 1, 4)
            For ``scipy.cluster.hierarchy.dendrogram`` and ``fcluster``. Heights are in the units in which distances are
            measured: the root of twice what a union adds to the mean squared distance.

        Notes
        -----
        **Privacy.** Post-processing of the synopsis; costs nothing.
        """
        points = self.noisy_points(_generator("tree", random_state)).filled()
        tree = ward_tree(points.points, points.weights / max(points.n_rows, 1.0))
        tree[:, 2] *= self.frame.distance_unit
        return tree

    def tree_points(self, *, random_state: int | None = None) -> NoisyPoints:
        """Return the weighted points that :meth:`tree` joins, in its order: those whose weight the noise does not explain.

        Parameters
        ----------
        random_state : int, optional
            That of the tree.

        Returns
        -------
        NoisyPoints
            In the coordinates in which distances are measured, the unit ball of `frame`.

        Notes
        -----
        **Privacy.** Post-processing of the synopsis; costs nothing.
        """
        return self.noisy_points(_generator("tree_points", random_state)).filled()

    def loss(self, n_clusters: int, *, random_state: int | None = None) -> LossEstimate:
        """Return the mean squared distance of a row to the nearest of `n_clusters` centres, with its error.

        The error covers the noise and the choice among solutions: the points are drawn again with other noise and cut anew.

        Parameters
        ----------
        n_clusters : int
            Any, as often as you like.
        random_state : int, optional
            For restarts and draws.

        Notes
        -----
        **Privacy.** Post-processing of the synopsis; costs nothing.
        """
        count = validate.integer("Synopsis.loss.n_clusters", n_clusters, low=1, high=LARGEST_N_CLUSTERS)
        generator = _generator("loss", random_state)
        points = self.noisy_points(generator)
        value = cut_loss(points.filled(), points.filled().cut(count, generator=generator, restarts=RESTARTS))
        drawn = [points.resample(generator).filled() for _ in range(LOSS_DRAWS)]
        others = [cut_loss(one, one.cut(count, generator=generator, restarts=LOSS_RESTARTS)) for one in drawn]
        unit = self.frame.distance_unit**2
        error = math.hypot(math.sqrt(float(np.mean((np.array(others) - value) ** 2))), points.scatter_error)
        return LossEstimate(unit * value, unit * error)

    def silhouette(self, n_clusters: int, *, random_state: int | None = None) -> float:
        """Return how much nearer rows are to their own centre than to the next one, of `n_clusters` centres: from 0 to 1.

        The mean of ``(b - a) / b``, where a and b are the root mean square distances of the rows of a point from its own centre
        and from the next one; 0 for one cluster.

        Notes
        -----
        **Privacy.** Post-processing of the synopsis; costs nothing.
        """
        count = validate.integer("Synopsis.silhouette.n_clusters", n_clusters, low=1, high=LARGEST_N_CLUSTERS)
        generator = _generator("silhouette", random_state)
        points = self.noisy_points(generator).filled()
        return silhouette(points, points.cut(count, generator=generator, restarts=RESTARTS))

    def sample_table(self, n_rows: int, *, random_state: int | None = None) -> "pa.Table":
        """Draw synthetic rows as an Arrow table with the columns of the original one.

        As :meth:`sample`, but with levels, flags and dates in place of coordinates: the shares of levels at the drawn place
        are chances, from which one is drawn. ``.to_pandas()`` makes a data frame of it.

        Parameters
        ----------
        n_rows : int
            Any number.
        random_state : int, optional
            For the draws.

        Notes
        -----
        **Privacy.** Post-processing of the synopsis; costs nothing.
        """
        rows = self.sample(n_rows, random_state=random_state)
        names = self.feature_names or tuple(f"x{index}" for index in range(self.frame.n_raw))
        other = _generator("sample_table", random_state).spawn(1)[0]  # independent of what chose the rows, also with a seed
        return table_of_rows(rows, self.table, names, other)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False, allow_seeded: bool = False) -> None:
        """Write the synopsis to a ``.json`` or ``.parquet`` file. One that exists is refused, or replaced with `overwrite`.

        A synopsis with seeded noise is refused unless `allow_seeded` is set: it is for tests and benchmarks.
        """
        refuse_seeded("Synopsis.save", seeded=self.receipt.seeded, allow_seeded=allow_seeded)
        kind = file_kind("Synopsis.save.path", Path(path).name)
        write_whole("Synopsis.save", path, self.to_bytes(kind), overwrite=overwrite)

    @classmethod
    @abstractmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Read what ``to_dict`` wrote."""


def read_numbers(where: str, n_clusters: object) -> list[int]:
    """Return numbers of clusters to compare, increasing and each once."""
    given = validate.items(where, n_clusters, rule="a series of integers", remedy="Pass range(1, 13).")
    numbers = sorted({validate.integer(where, count, low=1, high=LARGEST_N_CLUSTERS) for count in given})
    if not numbers:
        validate.refuse(where, "at least one number", numbers, remedy="Pass range(1, 13).")
    return numbers


def _generator(method: str, random_state: int | None) -> np.random.Generator:
    return Entropy(random_state, where=f"Synopsis.{method}.random_state").public_generator()
