# SPDX-License-Identifier: Apache-2.0
"""Points with noisy numbers of rows, what every method yields, and everything that can be read off them at no cost.

They need no receipt: that, names and steps belong to the document around them, the synopsis.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np

from cloister import validate
from cloister.algorithms import RESTARTS, CellNoise, KChoice, NoisyPoints, compare_numbers, cut_loss, silhouette, ward_tree
from cloister.columns import FloatArray, Frame
from cloister.privacy import Entropy
from cloister.synopsis._cut import Cut, cut, loss_of, put_together
from cloister.synopsis._grid import Grid, refuse_slope
from cloister.synopsis._range import RangeCount

LARGEST_N_CLUSTERS = 1 << 20
LOSS_DRAWS = 30
LOSS_RESTARTS = 5
SEEN = 8.0  # standard deviations of noise: from so many rows on the points tell where rows lie


@dataclass(frozen=True)
class LossEstimate:
    """The mean squared distance of a row to its nearest centre, and its standard error."""

    value: float
    error: float

    def __str__(self) -> str:
        return f"{self.value:.4g} ± {self.error:.2g}"


@dataclass(frozen=True, kw_only=True, eq=False)
class Places:
    """Where the rows of points lie that are no cells of a grid, in the coordinates of the unit ball.

    Parameters
    ----------
    unit_points : array of shape (n_points, n_features)
        Where the rows of each point lie on average.
    unit_errors : array of shape (n_points,)
        Standard error of each coordinate of a point.
    unit_variances : array of shape (n_points, n_features)
        How far the rows of a point scatter around it.
    scatter_error : float
        Standard error that noise gives the mean squared distance of a row from its point.
    """

    unit_points: FloatArray
    unit_errors: FloatArray
    unit_variances: FloatArray
    scatter_error: float


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Points:
    """Points with noisy numbers of rows that stand for a table: at places of their own, or the cells of a grid.

    Parameters
    ----------
    frame : Frame
        The map to the unit ball in which distances are measured.
    noisy_counts : array of shape (n_points,)
        As released, some of them negative.
    sigma : float
        Standard deviation of the noise of each count; of an adaptive grid, of each cell that is not split.
    total : float, optional
        The number of rows, public or counted by itself; of a grid, what that count and the sum of all cells say together. None:
        the noisy counts are added up.
    max_clusters : int, default=12
        How many clusters the points were made for: a hint, no limit.
    places : Places, optional
        Of points that are no cells.
    grid : Grid, optional
        The index of cells, without which ranges cannot be counted.

    Notes
    -----
    **Privacy.** Numbers that were released: all methods are post-processing and cost nothing.
    """

    frame: Frame
    noisy_counts: FloatArray
    sigma: float
    total: float | None = None
    max_clusters: int = 12
    places: Places | None = None
    grid: Grid | None = None

    @property
    def n_points(self) -> int:
        """Number of points; of a grid, of cells or leaves."""
        return len(self.noisy_counts)

    @property
    def noise(self) -> CellNoise:
        """The noise of the counts."""
        return CellNoise(self.sigma, None if self.grid is None else self.grid.split)

    @property
    def sum_error(self) -> float:
        """Standard deviation of the noise of the sum of all counts."""
        return float(self.noise.of_sums(np.ones(self.n_points))[0])

    @property
    def n_rows(self) -> float:
        """The number of rows, or of persons where every person counts 1, as well as it is known."""
        return max(0.0, float(self.noisy_counts.sum())) if self.total is None else self.total

    @property
    def total_error(self) -> float:
        """Standard deviation of the noise of the answer that counted the rows by itself; 0 where nothing tells it."""
        return 0.0

    @property
    def n_rows_error(self) -> float:
        """Its error: of the answers that counted the rows, or none if the number is public."""
        if self.total is None:
            return self.sum_error
        if self.grid is None or not self.total_error:
            return self.total_error
        return self.total_error * self.sum_error / math.hypot(self.total_error, self.sum_error)

    @property
    def stand_out(self) -> bool:
        """Whether there are more rows than noise could be taken for: that of a count, or of all cells that the rows fill."""
        return max(self.n_rows, 1.0) >= SEEN * (self.sigma if self.grid is None else self.sum_error)

    @cached_property
    def weights(self) -> FloatArray:
        """The counts as weights: not negative, adding up to the number of rows; of a grid, by its rule `counts`."""
        if self.grid is None:
            return self.cloud().weights
        return self.grid.weights(self.noisy_counts, self.noise, total=self.n_rows)

    def cloud(self, representatives: str = "center") -> NoisyPoints:
        """Return all points as plain numbers, with their errors; cells with their middles and the scatter of even rows."""
        given: dict[str, Any] = {"counts": self.noisy_counts, "n_rows": max(self.n_rows, 1.0)}
        if self.places is not None:
            if representatives != "center":
                refuse_slope("points", "they have no neighbours", representatives)
            return NoisyPoints(
                points=self.places.unit_points,
                errors=self.places.unit_errors,
                count_errors=np.full(self.n_points, self.sigma),
                variances=self.places.unit_variances,
                scatter_error=self.places.scatter_error,
                **given,
            )
        grid, half_widths = self._index("cut"), self.frame.half_widths
        assert half_widths is not None
        places = grid.places(half_widths, self.weights, sigma=self.sigma, representatives=representatives)
        cells = NoisyPoints(
            points=places,
            errors=np.zeros(self.n_points),
            count_errors=np.broadcast_to(self.noise.of_each, self.n_points),
            variances=np.broadcast_to((grid.widths * half_widths) ** 2 / 3, places.shape),
            given=np.maximum(self.weights, 0.0),
            **given,
        )
        return replace(cells, resolution=3 * cells.scatter)  # the square of half a cell

    def few(self, generator: np.random.Generator) -> NoisyPoints:
        """Return the points; those of a grid put together to at most 256."""
        return self.cloud() if self.grid is None else put_together(self.cloud(), self.noise, generator)

    def solve(
        self, n_clusters: int, *, n_init: int = RESTARTS, representatives: str = "center", random_state: int | None = None
    ) -> Cut:
        """Cluster the points, weighted by their counts; see ``Synopsis.cut``."""
        count = validate.integer("Synopsis.cut.n_clusters", n_clusters, low=1, high=LARGEST_N_CLUSTERS)
        restarts = validate.integer("Synopsis.cut.n_init", n_init, low=1)
        generator = _generator("cut", random_state)
        return cut(self, count, n_init=restarts, representatives=representatives, generator=generator)

    def choose_k(self, n_clusters: Iterable[int] | None = None, *, random_state: int | None = None) -> KChoice:
        """Compare numbers of clusters with what they achieve on rows without clusters.

        A further cluster lowers the loss of any rows, so losses are compared with those of rows that are spread evenly along
        the same principal axes, and of rows whose columns are independent. Centres are fitted to one half of the noise and
        judged on the other. Clusters with no gap between them count as one. The cells of a grid are first put together to at
        most 256 points.

        Parameters
        ----------
        n_clusters : iterable of int, optional
            Numbers to compare; by default 1 to `max_clusters`.
        random_state : int, optional
            For restarts, for splitting the noise and for rows without clusters. By default a number made of the released
            counts: the same synopsis gives the same answer, also when it is read from a file.

        Returns
        -------
        KChoice
            `best` is 1 where nothing speaks for clusters; `as_good` lists the numbers that stand out about as well.
        """
        where, asked = "Synopsis.choose_k.n_clusters", range(1, self.max_clusters + 1) if n_clusters is None else n_clusters
        given = validate.items(where, asked, rule="a series of integers", remedy="Pass range(1, 13).")
        numbers = sorted({validate.integer(where, count, low=1, high=LARGEST_N_CLUSTERS) for count in given})
        if not numbers:
            validate.refuse(where, "at least one number", numbers, remedy="Pass range(1, 13).")
        seed = (
            int.from_bytes(sha256(self.noisy_counts.astype("<f8").tobytes()).digest()[:8])
            if random_state is None
            else random_state
        )
        generator = _generator("choose_k", seed)
        choice = compare_numbers(numbers, self.few(generator), corners=self.frame.corners, generator=generator)
        return (choice if self.stand_out else choice.without_clusters()).scaled(self.frame.distance_unit**2)

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
        """
        points = self.tree_points(random_state=random_state)
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
        """
        return self.few(_generator("tree", random_state)).filled()

    def loss(self, n_clusters: int, *, random_state: int | None = None) -> LossEstimate:
        """Return the mean squared distance of a row to the nearest of `n_clusters` centres, with its error.

        The error covers the noise and the choice among solutions: the points are drawn again with other noise and cut anew.

        Parameters
        ----------
        n_clusters : int
            Any, as often as you like.
        random_state : int, optional
            For restarts and draws.
        """
        count = validate.integer("Synopsis.loss.n_clusters", n_clusters, low=1, high=LARGEST_N_CLUSTERS)
        generator = _generator("loss", random_state)
        points = self.few(generator)
        centers = points.filled().cut(count, generator=generator, restarts=RESTARTS)
        value = cut_loss(points.filled(), centers)
        drawn = [points.resample(generator).filled() for _ in range(LOSS_DRAWS)]
        others = [cut_loss(one, one.cut(count, generator=generator, restarts=LOSS_RESTARTS)) for one in drawn]
        unit = self.frame.distance_unit**2
        error = math.hypot(math.sqrt(float(np.mean((np.array(others) - value) ** 2))), points.scatter_error)
        return LossEstimate(unit * (value if self.grid is None else loss_of(self, self.cloud(), centers)), unit * error)

    def silhouette(self, n_clusters: int, *, random_state: int | None = None) -> float:
        """Return how much nearer rows are to their own centre than to the next one, of `n_clusters` centres: from 0 to 1.

        The mean of ``(b - a) / b``, where a and b are the root mean square distances of the rows of a point from its own centre
        and from the next one; 0 for one cluster.
        """
        count = validate.integer("Synopsis.silhouette.n_clusters", n_clusters, low=1, high=LARGEST_N_CLUSTERS)
        generator = _generator("silhouette", random_state)
        points = self.few(generator).filled()
        return silhouette(points, points.cut(count, generator=generator, restarts=RESTARTS))

    def sample(self, n_rows: int, *, random_state: int | None = None) -> FloatArray:
        """Draw synthetic rows: a point in proportion to its count, then a place around it, or in its cell.

        Returns
        -------
        array of shape (n_rows, n_features)
            In the units of the input and inside the domain, with the coordinates of centres: of a category one share for
            each level. ``Synopsis.sample_table`` draws levels, flags and dates instead.
        """
        size = validate.integer("Synopsis.sample.n_rows", n_rows, low=0)
        generator = _generator("sample", random_state)
        mass = np.maximum(self.weights, 0.0)
        mass = mass if mass.sum() > 0 else np.ones_like(mass)
        chosen = generator.choice(self.n_points, size=size, p=mass / mass.sum())
        if self.grid is not None:
            return self.grid.sample(chosen, generator)
        cloud = self.cloud()
        offsets = np.sqrt(cloud.variances)[chosen] * generator.standard_normal((size, cloud.points.shape[1]))
        return self.frame.from_unit(self.frame.clip_unit(cloud.points[chosen] + offsets))

    def count(self, box: Any) -> RangeCount:
        """Return the noisy number of rows in a box given as (low, high) or Box, in the units of the input.

        A row on the upper border of the box is outside, but for the upper bound of a column, as in the cells of the grid. Cells
        that the box cuts through count with a part, as the cells beside them tell; its error is ``edge_error``. The outermost
        cells hold rows outside the bounds, too. Points that are no cells are refused.
        """
        return self._index("count").count(box, self.noisy_counts, self.noise)

    def _index(self, method: str) -> Grid:
        """Return the index of the grid, or refuse points that have none."""
        if self.grid is None:
            rule, remedy = "a synopsis of a grid", "Fit a GridSynopsis: points have no cells."
            validate.refuse(f"Synopsis.{method}", rule, "one of points", remedy=remedy)
        return self.grid


def _generator(method: str, random_state: int | None) -> np.random.Generator:
    return Entropy(random_state, where=f"Synopsis.{method}.random_state").public_generator()
