# SPDX-License-Identifier: Apache-2.0
"""What the clusters look like: noisy histograms of every column in every cluster, and what follows from them.

Arithmetic on published numbers. Errors are those that the noise of the histograms makes, and that of not knowing where in a bin
a value lies; how rows scatter is what the histograms tell.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from cloister import validate
from cloister.columns import KINDS, Coordinate, Declaration, FloatArray
from cloister.release._shares import Shares
from cloister.release._within import Within

ABOVE_NOISE = 2.0  # standard deviations of its total from which on something is said of a cluster
FULL = 5.0  # standard deviations of its noise above which one bin alone shows that a cluster has rows
LEAST_ROWS = 1e-9  # of all clusters together, for a mean of their centres
LARGEST = 1e120  # of a count: its square is finite
LOG = "log"
OTHER, MISSING = "(other)", "(missing)"
QUARTILES = (0.25, 0.5, 0.75)


@dataclass(frozen=True, eq=False)
class Estimate:
    """Numbers and their standard errors, of equal shape; NaN where nothing stands out of the noise."""

    value: FloatArray
    error: FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class ColumnProfile:
    """One column in every cluster: noisy counts of its bins.

    Parameters
    ----------
    name : str
        The column.
    kind : str
        What it is: "number", "date", "category", "flag". Dates are in days since 1970-01-01.
    clustered : bool
        Whether clusters were found by it.
    edges : array of shape (n_bins + 1,), optional
        Of a number or a date: where bins begin and end. What lay outside the bounds is in the first and the last one.
    log : bool, default=False
        Whether the column is a number on a logarithmic scale. Its bins are placed on that scale; means and spreads are those of
        the numbers themselves.
    levels : tuple of str, optional
        Of a category or a flag: what the bins stand for.
    noisy_counts : array of shape (n_clusters, n_bins + 1 or n_levels + 2)
        Rows by bin. The last bin is for missing values; of levels, the last but one for values that are none of them.
    sigma : float
        Standard deviation of the noise on each count.
    centers : Estimate, optional
        Of a column that clusters were found by: the centres, which are its means. Not part of the document: a release, which
        has them, fills them in.

    Notes
    -----
    **Privacy.** Post-processing of a noisy answer that the receipt lists. All methods are arithmetic on it and cost nothing.

    Examples
    --------
    >>> counts = [[10.0, 80.0, 10.0, 0.0], [0.0, 10.0, 90.0, 0.0]]
    >>> age = ColumnProfile(name="age", kind="number", edges=[0, 30, 60, 90], noisy_counts=counts, sigma=1.0)
    >>> age.mean().value.round(1).tolist()
    [45.0, 76.9]
    """

    name: str
    kind: str
    noisy_counts: FloatArray
    sigma: float
    clustered: bool = True
    edges: FloatArray | None = None
    levels: tuple[str, ...] | None = None
    log: bool = False
    centers: Estimate | None = None

    def __post_init__(self) -> None:
        counts = np.array(self.noisy_counts, dtype=np.float64)
        edges = None if self.edges is None else np.array(self.edges, dtype=np.float64)
        for name, value in (("noisy_counts", counts), ("edges", edges)):
            if value is not None:
                value.setflags(write=False)
            object.__setattr__(self, name, value)
        if self.levels is not None:
            object.__setattr__(self, "levels", tuple(map(str, self.levels)))
        n_bins = _n_bins(self)
        fits = counts.ndim == 2 and len(counts) and counts.shape[1] == n_bins and (np.abs(counts) <= LARGEST).all()
        if not (n_bins and fits and 0 <= self.sigma <= LARGEST):
            raise ValueError(f"profile of {self.name!r}")

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.noisy_counts)

    @property
    def bins(self) -> tuple[str, ...]:
        """Names of the bins of a category or a flag, in order; of a number or a date, that of missing values alone."""
        return (MISSING,) if self.levels is None else (*self.levels, OTHER, MISSING)

    @property
    def axis(self) -> Coordinate:
        """How values of a number or a date are written, and from where to where the bins reach."""
        assert self.edges is not None
        return self._column.axis(self.name, float(self.edges[0]), float(self.edges[-1]))

    @property
    def totals(self) -> Estimate:
        """Noisy number of rows in each cluster, as this column's bins add up to it."""
        error = self.sigma * math.sqrt(self.noisy_counts.shape[1])
        return Estimate(self.noisy_counts.sum(axis=1), np.full(self.n_clusters, error))

    @property
    def above_noise(self) -> npt.NDArray[np.bool_]:
        """Whether the rows of each cluster stand out of the noise; where they do not, nothing is said of the cluster."""
        totals = self.totals
        # Of many bins the noise of the total is large: one bin that is full for certain will do.
        full = self.noisy_counts.max(axis=1) > max(FULL * self.sigma, 0.0)
        return np.asarray((totals.value > ABOVE_NOISE * totals.error) | (full & (totals.value > 0)))

    def whole(self) -> "ColumnProfile":
        """Return the column in all clusters together, as one."""
        counts = self.noisy_counts.sum(axis=0, keepdims=True)
        whole = replace(self, noisy_counts=counts, sigma=self.sigma * math.sqrt(self.n_clusters), centers=None)
        if self.centers is None or self.edges is None:
            return whole
        # The mean of the centres by their rows, so that differences between clusters and the whole are those of the centres.
        rows = np.where(self.above_noise, np.maximum(self.noisy_counts[:, :-1].sum(axis=1), 0.0), 0.0)
        own = self.mean()
        rows[~np.isfinite(own.value)] = 0.0
        total = float(rows.sum())
        if total < LEAST_ROWS:
            return whole
        weights, start = rows / total, float(whole.mean().value[0])
        away = np.where(weights > 0, self._column.difference(own.value, start, self.edges), 0.0)
        shift, noise = float(weights @ away), self.totals.error / total
        errors = np.where(weights > 0, weights * own.error, 0.0)
        error = np.linalg.norm([*errors, *(noise * (away - shift) * (weights > 0))])
        value = self._column.wrap(start + shift, self.edges)
        return replace(whole, centers=Estimate(np.array([value]), np.array([float(error)])))

    def shares(self) -> Estimate:
        """Return the share of every bin in each cluster: none negative, one in all; missing values are a bin, too.

        Returns
        -------
        Estimate
            Of shape (n_clusters, n_bins). The nearest shares to the noisy ones; one that is cut to zero has the error of a
            single count.
        """
        value, error = np.full((2, *self.noisy_counts.shape), np.nan)
        for label in np.flatnonzero(self.above_noise):
            one = Shares.of(self.noisy_counts[label], self.sigma, ordered=self.edges is not None)
            if one is not None:
                value[label], error[label] = one.values, one.errors()
        return Estimate(value, error)

    def missing(self) -> Estimate:
        """Return the share of missing values in each cluster."""
        found = self.shares()
        return Estimate(found.value[:, -1], found.error[:, -1])

    def mean(self) -> Estimate:
        """Return the mean of what is not missing in each cluster; of numbers and dates.

        That is the mean of the rows whose nearest centre is that of the cluster, of values moved into the bounds.

        Of a column that clusters were found by, its value is the centre: one number for one thing. The error of a centre tells
        how far k-means without noise may be from it. That of this mean is smaller where the histogram shows that the rows of
        the cluster are not as far away. A centre on a logarithmic scale is a geometric mean; this one is that of the numbers
        themselves.
        """
        found = self._estimate(Within.mean, wraps=True)
        if self.centers is None or self.edges is None:
            return found
        known, apart = self.above_noise, self._column.difference(self.centers.value, found.value, self.edges)
        error = np.fmin(self.centers.error, np.hypot(found.error, apart))
        return Estimate(np.where(known, self.centers.value, np.nan), np.where(known, error, np.nan))

    def spread(self) -> Estimate:
        """Return the standard deviation of what is not missing in each cluster; of numbers and dates.

        Notes
        -----
        Where in its bin a value lies, neighbouring bins say as far as they can; the error allows for what they do not. Of a
        cluster narrower than a bin, the spread is about that of values spread evenly over the bin, and the error as large.
        """
        return self._estimate(Within.spread)

    def quantiles(self, parts: Sequence[float] = QUARTILES) -> Estimate:
        """Return quantiles of what is not missing; of numbers and dates.

        The errors allow for half of a bin where its neighbours do not explain what it holds, as where many rows share a value.

        Parameters
        ----------
        parts : sequence of float, default=(0.25, 0.5, 0.75)
            From 0 to 1.

        Returns
        -------
        Estimate
            Of shape (n_clusters, n_parts).
        """
        wanted = [validate.number("ColumnProfile.quantiles", part, low=0.0, high=1.0) for part in parts]
        found = [self._estimate(partial(Within.quantile, part=part), wraps=True) for part in wanted]
        pairs = np.array([(one.value, one.error) for one in found]).reshape(len(wanted), 2, self.n_clusters)
        return Estimate(pairs[:, 0].T, pairs[:, 1].T)

    def difference(self) -> Estimate:
        """Return how each cluster differs from the whole table.

        Returns
        -------
        Estimate
            Of numbers and dates an effect size: the mean less that of all rows, in standard deviations of all rows. Of levels
            the share less that of all rows, for every bin. The errors take the noise of both as independent, which states them
            a little too large.
        """
        whole = self.whole()
        if self.edges is not None:
            own, all_rows, spread = self.mean(), whole.mean(), whole.spread().value[0]
            error = np.hypot(own.error, all_rows.error[0]) / spread
            return Estimate(self._column.difference(own.value, all_rows.value[0], self.edges) / spread, error)
        own, all_rows = self.shares(), whole.shares()
        return Estimate(own.value - all_rows.value[0], np.hypot(own.error, all_rows.error[0]))

    def to_dict(self) -> dict[str, Any]:
        """Return the column as plain data."""
        found: dict[str, Any] = {"name": self.name, "kind": self.kind, "clustered": self.clustered}
        if self.edges is not None:
            found["edges"] = self.edges.tolist()
        if self.log:
            found["scale"] = LOG
        if self.levels is not None:
            found["levels"] = list(self.levels)
        return {**found, "noisy_counts": self.noisy_counts.tolist(), "sigma": self.sigma}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "ColumnProfile":
        """Read what ``to_dict`` wrote."""
        return cls(
            name=str(data["name"]),
            kind=str(data["kind"]),
            clustered=validate.boolean("ColumnProfile.clustered", data["clustered"]),
            edges=data.get("edges"),
            levels=data.get("levels"),
            log=data.get("scale") == LOG,
            noisy_counts=data["noisy_counts"],
            sigma=float(data["sigma"]),
        )

    # -- one cluster at a time -------------------------------------------------------------------------------------------

    @property
    def _column(self) -> type[Declaration]:
        return KINDS[self.kind]

    def _estimate(self, of: Callable[[Within], tuple[float, float]], *, wraps: bool = False) -> Estimate:
        """Return a number of each cluster; NaN where nothing is known of it. One that `wraps` is a value of the column."""
        if self.edges is None:
            remedy = "Ask for its shares."
            validate.refuse(f"ColumnProfile[{self.name!r}]", "a number or a date", self.kind, remedy=remedy)
        found = np.full((self.n_clusters, 2), np.nan)
        for label in np.flatnonzero(self.above_noise):
            edges, ordered = self._column.unroll(self.edges, self.noisy_counts[label])
            cluster = Shares.of(ordered, self.sigma, ordered=True)
            if cluster is not None and cluster.counts[cluster.kept[:-1]].sum() > 0:
                value, error = of(Within.of(cluster, edges))
                found[label] = self._column.wrap(value, edges) if wraps else value, error
        return Estimate(found[:, 0], found[:, 1])


@dataclass(frozen=True, kw_only=True, eq=False)
class Profiles:
    """What the clusters look like: noisy histograms of every column that was described, by cluster.

    Parameters
    ----------
    columns : tuple of ColumnProfile
        Those that clusters were found by first, in their order.

    Notes
    -----
    **Privacy.** One noisy answer that the receipt lists: a row adds one to one bin of each column, at its own cluster. Of d
    columns the l2 sensitivity is sqrt(d) when a row is added or removed, sqrt(2 d) when one is replaced.

    Examples
    --------
    >>> import numpy as np
    >>> from cloister import KMeans
    >>> rows = np.random.default_rng(0).normal([[20.0], [60.0]], 4.0, size=(2, 2000)).reshape(-1, 1)
    >>> model = KMeans(2, epsilon=2.0, bounds=(0, 100), describe=0.2, random_state=0).fit(rows)
    >>> np.sort(model.release_.profiles["x0"].mean().value).round(-1).tolist()
    [20.0, 60.0]
    """

    columns: tuple[ColumnProfile, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        if not self.columns or len({one.n_clusters for one in self.columns}) > 1:
            raise ValueError("profiles")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(one.name for one in self.columns)

    def __getitem__(self, name: str) -> ColumnProfile:
        return {one.name: one for one in reversed(self.columns)}[name]  # those of an edited file may share a name

    def __iter__(self) -> Iterator[ColumnProfile]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def to_dict(self) -> dict[str, Any]:
        """Return the profiles as plain data."""
        return {"columns": [one.to_dict() for one in self.columns]}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Profiles":
        """Read what ``to_dict`` wrote."""
        return cls(columns=tuple(ColumnProfile.from_dict(one) for one in data["columns"]))


def _n_bins(profile: ColumnProfile) -> int:
    """Return how many bins a column must have; 0 where it is none that there are."""
    edges, levels, column = profile.edges, profile.levels, KINDS.get(profile.kind)
    if column is None or (edges is None) != column.has_levels or (levels is None) == column.has_levels:
        return 0
    if levels is not None:
        return 0 if column.n_levels not in (None, len(levels)) else len(levels) + 2
    assert edges is not None
    low, high = column.edge_limits
    is_axis = edges.ndim == 1 and len(edges) >= 2 and ((edges >= low) & (edges <= high)).all() and (np.diff(edges) > 0).all()
    return len(edges) if is_axis else 0
